"""Sources of examples, one file for each kind."""

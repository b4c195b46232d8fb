"""Large scale multiple kernel learning."""

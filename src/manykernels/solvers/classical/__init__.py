"""The solvers of the papers, kept for comparison; "auto" uses some of them if the default ones stall."""

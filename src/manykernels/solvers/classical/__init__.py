"""The solvers of the papers, kept for comparison; "auto" takes some of them where the default ones stall."""

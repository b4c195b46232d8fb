"""ℓp-norm multiple kernel learning."""

PAPER = {
    "title": "ℓp-norm multiple kernel learning",
    "reference": "M. Kloft, U. Brefeld, S. Sonnenburg, A. Zien: *ℓp-Norm Multiple Kernel Learning*, JMLR 12, 2011.",
    "picture": "kloft2011_figure3",
}
EXPERIMENTS = ("figure3", "bounds", "table1", "figure4", "table2", "figure7")

"""Large scale multiple kernel learning."""

PAPER = {
    "title": "Large scale multiple kernel learning",
    "reference": "S. Sonnenburg, G. Rätsch, C. Schäfer, B. Schölkopf: *Large Scale Multiple Kernel Learning*, JMLR 7, "
    "2006.",
    "picture": "sonnenburg2006_figure2",
}
EXPERIMENTS = ("figure2", "figure3", "figure4", "figure5", "figure6", "table1", "table2", "table3", "table4")

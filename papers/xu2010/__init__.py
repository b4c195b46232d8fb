"""Smooth optimization for effective multiple kernel learning."""

PAPER = {
    "title": "Smooth optimization for effective multiple kernel learning",
    "reference": "Z. Xu, R. Jin, S. Zhu, M. R. Lyu, I. King: *Smooth Optimization for Effective Multiple Kernel "
    "Learning*, AAAI 2010.",
    "picture": "xu2010_figure1",
}
EXPERIMENTS = ("figure1", "table2", "table3", "newsgroups")

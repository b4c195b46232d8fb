"""Efficient sparse generalized multiple kernel learning."""

PAPER = {
    "title": "Efficient sparse generalized multiple kernel learning",
    "reference": "H. Yang, Z. Xu, J. Ye, I. King, M. R. Lyu: *Efficient Sparse Generalized Multiple Kernel "
    "Learning*, IEEE "
    "Transactions on Neural Networks 22, 2011.",
    "picture": "yang2011_figure1",
}
EXPERIMENTS = ("table4", "theorem3", "table5", "table6")

"""Efficient sparse generalized multiple kernel learning."""

PAPER = {
    "title": "Efficient sparse generalized multiple kernel learning",
    "reference": "H. Yang, Z. Xu, J. Ye, I. King, M. R. Lyu: *Efficient Sparse Generalized Multiple Kernel "
    "Learning*, IEEE "
    "Transactions on Neural Networks 22, 2011.",
    "picture": "yang2011_figure1",
}
EXPERIMENTS = ("table4", "theorem3", "convergence", "table5", "table6")
SHORT = "Yang 2011"
# what the paper is known for: a finding, and the headline that it stands for
HEADLINES = {
    "GMKL selects more kernels than ℓ1, about 1.5 times": "sparse with grouping: about 1.5 times the kernels of ℓ1",
    "GMKL is more accurate than ℓ1, with 95 % confidence": "GMKL is more accurate than ℓ1",
    "GMKL by the level method takes much less time than ℓ1 by SimpleMKL": "the level method is quick",
    "GMKL is the most accurate on breast, heart, pima, wdbc and wpbc": "GMKL is the most accurate on five UCI sets",
    "GMKL is no worse than ℓ1": "GMKL is no worse than ℓ1 on UCI sets",
    "GMKL is the best of the four": "GMKL is the best on proteins",
    "and fewer than all of them": "GMKL leaves kernels out: proteins",
}
# data that could not be had, and what stands in their place
MISSING = {
    "proteins of TargetP and PSORTb, 69 kernels": "MultiLoc, 64 kernels on patterns",
}

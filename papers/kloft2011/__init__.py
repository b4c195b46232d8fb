"""ℓp-norm multiple kernel learning."""

PAPER = {
    "title": "ℓp-norm multiple kernel learning",
    "reference": "M. Kloft, U. Brefeld, S. Sonnenburg, A. Zien: *ℓp-Norm Multiple Kernel Learning*, JMLR 12, 2011.",
    "picture": "kloft2011_figure3",
}
EXPERIMENTS = ("figure3", "bounds", "table1", "figure4", "table2", "figure7")
SHORT = "Kloft 2011"
# what the paper is known for: a finding, and the headline that it stands for
HEADLINES = {
    "ℓ4 is the most robust, n = 50": "non-sparse norms are the most robust",
    "ℓ1 is ahead of the sum of the kernels": "ℓ1 wins where the truth is sparse: localisation of proteins",
    "non-sparse norms are ahead of ℓ∞ for few examples": "non-sparse norms are ahead of the sum: gene starts",
    "interleaved optimization copes with 20,000 examples and with 10,000 kernels": "large problems without matrices",
    "ℓ1 is outperformed by the sum kernel at every size": "ℓ1 is behind the sum: gene starts",
    "ℓ2 performs best": "ℓ2 is the best norm: gene starts",
    "with proper choice of a non-sparse norm the accuracy of ℓ1 is recovered": "a norm near 1 recovers the accuracy of "
    "ℓ1: localisation of proteins",
    "the unweighted sum is best": "the sum of the kernels is best: networks",
    "product kernels help small p": "product kernels help small p: networks",
    "SimpleMKL is more than 120 times slower than the interleaved SILP": "interleaved: 120 times faster than SimpleMKL "
    "at 8,000 examples",
}
# data that could not be had, and what stands in their place
MISSING = {
    "gene starts of dbTSS (TSS), windows of 2,001 letters": "human promoters of 300 letters (GUE)",
    "yeast: 668 enzymes, three kernels": "ion channels and drugs, three kernels of KronRLS-MKL",
    "proteins, four sets with 69 kernels": "MultiLoc, 64 kernels on patterns; the other five are missing",
}

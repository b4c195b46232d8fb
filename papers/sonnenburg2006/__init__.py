"""Large scale multiple kernel learning."""

PAPER = {
    "title": "Large scale multiple kernel learning",
    "reference": "S. Sonnenburg, G. Rätsch, C. Schäfer, B. Schölkopf: *Large Scale Multiple Kernel Learning*, JMLR 7, "
    "2006.",
    "picture": "sonnenburg2006_figure2",
}
EXPERIMENTS = ("figure2", "figure3", "figure4", "figure5", "figure6", "table1", "table2", "table3", "table4")
SHORT = "Sonnenburg 2006"
# what the paper is known for: a finding, and the headline that it stands for
HEADLINES = {
    "a million examples with 20 kernels are within reach": "multiple kernel learning on a million sequences",
    "linadd is ahead of kernel rows by far": "linadd is ahead of kernel rows by far, 20 kernels",
    "the letters just before the site (−8 … −1) have the greatest weight": "weights tell what matters: splice sites",
    "it switches to the width that fits best": "regression takes the width that fits best",
    "the largest selected width, 100, models the linear part": "the widest kernel, 100, models the linear part",
    "words of 9 and 10 letters, unlikely to matter most, have a second peak": "a second peak at 9 and 10 letters",
    "4 and 8 processors speed it up": "4 and 8 processors speed multiple kernel learning up",
}
# data that could not be had, and what stands in their place
MISSING = {
    "the human splice sites, 15 million": "generated sites of the same length and share of true ones, f"
    "or times; those of C. elegans, 100,000, for weights and areas",
    "the million sites of C. elegans": "100,000 of them",
}

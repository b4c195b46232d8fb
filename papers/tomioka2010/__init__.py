"""Regularization strategies and empirical Bayesian learning for MKL."""

PAPER = {
    "title": "Regularization strategies and empirical Bayesian learning for MKL",
    "reference": "R. Tomioka, T. Suzuki: *Regularization Strategies and Empirical Bayesian Learning for MKL*, 2010.",
    "picture": "tomioka2010_mnist",
}
EXPERIMENTS = ("table1", "figure1", "mfeat")
SHORT = "Tomioka 2010"
# what the paper is known for: a finding, and the headline that it stands for
HEADLINES = {
    "g and h of every row belong together": "regularizers of weights and block norms stand for each other",
    "elastic net and ℓ2 are as accurate as uniform weights": "elastic net and ℓ2 are as accurate as uniform weights",
    "the elastic net is sparse where ℓ2 is not": "with half of the kernels",
    "χ² kernels are preferred to Gaussian ones": "χ² kernels are preferred to Gaussian ones",
    "uniform, elastic net and ℓ2 are ahead especially below 20 examples a class": "uniform, elastic net and ℓ2 "
    "are ahead, above all with few examples",
}
# data that could not be had, and what stands in their place
MISSING = {
    "images of Caltech 101, four kinds of SIFT, 1,760 kernels": "MNIST by one kind of local histogram, 440 kernels; "
    "multiple features of digits, 60 kernels",
}

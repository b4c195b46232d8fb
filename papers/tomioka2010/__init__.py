"""Regularization strategies and empirical Bayesian learning for MKL."""

PAPER = {
    "title": "Regularization strategies and empirical Bayesian learning for MKL",
    "reference": "R. Tomioka, T. Suzuki: *Regularization Strategies and Empirical Bayesian Learning for MKL*, 2010.",
    "picture": "tomioka2010_mnist",
}
EXPERIMENTS = ("table1", "figure1", "mfeat")

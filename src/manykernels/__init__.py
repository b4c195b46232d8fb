"""Multiple kernel learning: the predictor and the kernel weights together, with a certificate of optimality.

>>> from sklearn.datasets import load_wine
>>> from manykernels import MKLClassifier
>>> from manykernels.kernels import RBF
>>> X, y = load_wine(return_X_y=True)
>>> clf = MKLClassifier([RBF(gamma=g) for g in (0.01, 0.1, 1.0)]).fit(X, y)
>>> clf.kernel_weights_.shape, bool(clf.duality_gap_ <= clf.tol)
((3, 3), True)
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._callers import OFFERS

__version__ = "0.1.0"

if TYPE_CHECKING:  # for editors and type checkers; at run time names are imported on first use
    from . import (
        datasets,
        genome,
        inspect,
        kernels,
        losses,
        omics,
        pairs,
        regularizers,
        report,
        sequences,
        solvers,
        streaming,
        strings,
        weighting,
    )
    from .estimators import (
        MKLClassifier,
        MKLClassifierCV,
        MKLOneClass,
        MKLRegressor,
        MKLRegressorCV,
        MKLSurvival,
        MKLSurvivalCV,
        load,
        survival_targets,
    )
    from .kernels import KernelStack, Views

_HOMES = {"KernelStack": ".kernels", "Views": ".kernels"} | dict.fromkeys(
    (
        "MKLClassifier", "MKLRegressor", "MKLClassifierCV", "MKLRegressorCV", "MKLOneClass", "MKLSurvival",
        "MKLSurvivalCV", "load", "survival_targets",
    ),
    ".estimators",
)  # fmt: skip
__all__ = [
    "KernelStack", "MKLClassifier", "MKLClassifierCV", "MKLOneClass", "MKLRegressor", "MKLRegressorCV", "MKLSurvival",
    "MKLSurvivalCV", "Views", "__version__", "datasets", "genome", "inspect", "kernels", "load", "losses", "omics",
    "pairs", "regularizers", "report", "sequences", "solvers", "streaming", "strings", "survival_targets", "weighting",
]  # fmt: skip
__dir__ = __all__.copy  # dir() lists the public names alone


def __getattr__(name):
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    if name in __all__:
        return import_module("." + name, __name__)
    raise AttributeError(f"module 'manykernels' has no attribute {name!r}")


OFFERS["sequence kernels"] = lambda: import_module(".strings", __name__).sequence_kernels
OFFERS["kind of sequences"] = lambda: import_module(".sequences.alphabet", __name__).kind_of_sequences
OFFERS["report"] = lambda: import_module(".report", __name__).make_report

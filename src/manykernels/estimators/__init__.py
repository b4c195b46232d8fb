"""scikit-learn estimators for four kinds of target, and a cross-validated choice of C and the regularizer."""

from .classifier import MKLClassifier
from .cross_validated import MKLClassifierCV, MKLRegressorCV
from .one_class import MKLOneClass
from .persist import load
from .regressor import MKLRegressor
from .survival import MKLSurvival, MKLSurvivalCV
from .survival_times import StepFunction, survival_targets

__all__ = [
    "MKLClassifier", "MKLClassifierCV", "MKLOneClass", "MKLRegressor", "MKLRegressorCV", "MKLSurvival", "MKLSurvivalCV",
    "StepFunction", "load", "survival_targets",
]  # fmt: skip
__dir__ = __all__.copy  # dir() lists the public names alone

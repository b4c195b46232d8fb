"""scikit-learn estimators for three kinds of target, and a cross-validated choice of C and the regularizer."""

from .classifier import MKLClassifier
from .cv import MKLClassifierCV, MKLRegressorCV
from .one_class import MKLOneClass
from .persist import load
from .regressor import MKLRegressor

__all__ = ["MKLClassifier", "MKLClassifierCV", "MKLOneClass", "MKLRegressor", "MKLRegressorCV", "load"]


def __dir__() -> list[str]:
    return sorted(__all__)

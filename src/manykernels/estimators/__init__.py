"""scikit-learn estimators for three kinds of target, and a cross-validated choice of C and the regularizer."""

from .classifier import MKLClassifier
from .cv import MKLClassifierCV, MKLRegressorCV
from .one_class import MKLOneClass
from .persist import load
from .regressor import MKLRegressor

__all__ = ["MKLClassifier", "MKLClassifierCV", "MKLOneClass", "MKLRegressor", "MKLRegressorCV", "load"]
__dir__ = __all__.copy  # dir() lists the public names alone

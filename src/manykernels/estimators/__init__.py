"""scikit-learn estimators: one problem, three kinds of target."""

from .classifier import MKLClassifier
from .one_class import MKLOneClass
from .persist import load
from .regressor import MKLRegressor

__all__ = ["MKLClassifier", "MKLOneClass", "MKLRegressor", "load"]

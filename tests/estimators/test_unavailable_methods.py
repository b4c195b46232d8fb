"""A method that a model does not have says itself what to do."""

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass
from manykernels.kernels import RBF, Linear

X = np.random.default_rng(0).normal(size=(40, 3))
KERNELS = [RBF(gamma=0.3), Linear()]
CASES = {
    "predict_proba": (MKLClassifier(KERNELS), "CalibratedClassifierCV"),
    "predict_proba of_searches": (
        MKLClassifierCV(KERNELS, Cs=[1.0]),
        "chosen C_ and regularizer_.*CalibratedClassifierCV",
    ),
    "predict_log_proba": (MKLClassifier(KERNELS), "CalibratedClassifierCV"),
    "predict_proba of_other_losses": (MKLClassifier(KERNELS, loss="smooth_hinge"), "CalibratedClassifierCV"),
    "centre_distances": (MKLOneClass(KERNELS), 'formulation="svdd"'),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sentence_that_helps_is_the_error_itself(name):
    """Scikit-learn's `available_if` hides it in `__cause__`."""
    (model, cure), name = CASES[name], name.split()[0]
    model.fit(X, X[:, 0] > 0)
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"{name}.*need.*{cure}") as caught:
        getattr(model, name)
    assert caught.value.__cause__ is None
    assert callable(getattr(type(model), name)) and getattr(type(model), name).__doc__


def test_the_method_of_the_class_refuses_a_model_without_it():
    with pytest.raises(AttributeError, match="CalibratedClassifierCV"):
        MKLClassifier.predict_proba(MKLClassifier(KERNELS).fit(X, X[:, 0] > 0), X)
    model = MKLClassifier(KERNELS, loss="logistic").fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(MKLClassifier.predict_proba(model, X), model.predict_proba(X))


def test_other_errors_of_the_check_are_not_hidden():
    """An unknown loss has its own sentence, and `hasattr` is False all the same."""
    model = MKLClassifier(KERNELS, loss="hinges")
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="'hinges' is unknown"):
        model.predict_proba(X)

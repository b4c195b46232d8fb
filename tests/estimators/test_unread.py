"""What no kernel with weight sees need not be given for prediction, and what is needed is named."""

import numpy as np
import pandas as pd
import pytest

import manykernels
from manykernels import MKLClassifier, Views
from manykernels.kernels import RBF, Linear, On
from manykernels.regularizers import Fixed

pl = pytest.importorskip("polars")

rng = np.random.default_rng(0)
A, B, C = (rng.normal(size=(40, 2)) for _ in range(3))
y = (A[:, 0] > 0).astype(int)
X = Views({"a": A, "b": B, "c": C})
KERNELS = [("a", RBF(gamma=0.5)), ("b", RBF(gamma=0.5)), ("a by c", On("a", Linear()) * On("c", Linear()))]


def fitted(weights, data=X, kernels=KERNELS):
    return MKLClassifier(kernels, regularizer=Fixed(weights)).fit(data, y)


@pytest.mark.parametrize("make", [lambda X: X, lambda X: X.to_dict()], ids=["Views", "dict"])
def test_a_view_that_is_not_read_may_be_missing(make, tmp_path):
    model = fitted([1.0, 0.0, 0.0])
    few = make(X[["a"]])
    for method in ("decision_function", "predict", "decision_parts", "combined_kernel"):
        np.testing.assert_array_equal(getattr(model, method)(few), getattr(model, method)(X))
    assert model.score(few, y) == model.score(X, y)
    model.save(tmp_path / "model.mk")
    np.testing.assert_array_equal(manykernels.load(tmp_path / "model.mk").predict(few), model.predict(X))
    assert list(few.names if isinstance(few, Views) else few) == ["a"]  # what was given is left as it was


def test_a_view_that_is_read_is_asked_for():
    with pytest.raises(ValueError, match=r"has the views \['a'\], but the model was fitted on .*give \['b'\]"):
        fitted([1.0, 1.0, 0.0]).predict(X[["a"]])
    with pytest.raises(ValueError, match=r"give \['c'\]"):  # within a product
        fitted([0.0, 0.0, 1.0]).predict(X[["a", "b"]])
    with pytest.raises(ValueError, match=r"leave out \['d'\]"):
        fitted([1.0, 0.0, 0.0]).predict({"a": A, "d": A})


@pytest.mark.parametrize("make", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_columns_that_are_not_read_may_be_missing(make):
    frame = pd.DataFrame(np.hstack([A, B]), columns=list("abcd"))
    kernels = [("one", RBF(gamma=0.5), ["a", "c"]), ("two", RBF(gamma=0.5), ["b"])]
    model = fitted([1.0, 0.0], make(frame), kernels)
    for names in (["a", "c"], ["c", "a"], ["a", "b", "c"]):
        np.testing.assert_array_equal(model.predict(make(frame[names])), model.predict(make(frame)))
    with pytest.raises(ValueError, match="missing"):
        model.predict(make(frame[["a", "b"]]))
    with pytest.raises(ValueError, match="missing"):
        fitted([1.0, 1.0], make(frame), kernels).predict(make(frame[["a", "c"]]))
    whole = fitted([1.0], make(frame), [RBF(gamma=0.5)])
    with pytest.raises(ValueError, match="missing"):
        whole.predict(make(frame[["a", "b", "c"]]))

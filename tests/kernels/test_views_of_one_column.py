"""A view of one number per example is one column, as an array, a list or a column of a frame."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier, Views, load
from manykernels.kernels import RBF, Features, Kernel, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = (X[:, 0] > 0).astype(int)
AGE = (rng.normal(size=60) + y).round(3)
GAPS = np.where(np.arange(60) % 9, AGE, np.nan)


def polars(x):
    return pytest.importorskip("polars").Series("age", x)


@pytest.mark.parametrize("container", [dict, Views])
@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series, polars, lambda x: pd.Series(x, dtype="Float64")])
def test_one_number_per_example_is_one_column(tmp_path, container, kind):
    views, plain = container({"age": kind(AGE), "rna": X}), container({"age": AGE[:, None], "rna": X})
    for kernels in ("auto", [("age", RBF(0.5)), ("rna", Linear())], [("age", StandardScaler(), RBF(0.5))]):
        model, other = (MKLClassifier(kernels, C=1.0).fit(one, y) for one in (views, plain))
        np.testing.assert_array_equal(model.decision_function(views), other.decision_function(plain))
        np.testing.assert_array_equal(model.decision_function(plain), other.decision_function(views))
    model.save(tmp_path / "m.mk")
    np.testing.assert_array_equal(load(tmp_path / "m.mk").decision_function(views), model.decision_function(views))


@pytest.mark.parametrize("kind", [np.asarray, pd.Series, lambda x: [None if v != v else v for v in x]])
def test_one_number_per_example_may_be_missing(kind):
    for kernels in ("auto", [("age", RBF(0.5), "age", "zero"), ("rna", Linear())]):
        model, other = (
            MKLClassifier(kernels, C=1.0).fit({"age": one, "rna": X}, y) for one in (kind(GAPS), GAPS[:, None])
        )
        np.testing.assert_array_equal(*(one.decision_function({"age": kind(GAPS), "rna": X}) for one in (model, other)))


class Near(Kernel):
    reads = "objects"

    def __call__(self, X, Y=None):
        return 1.0 / (1.0 + np.array([[abs(x - z) for z in (X if Y is None else Y)] for x in X]))

    def diag(self, X):
        return np.ones(len(X))


def test_kernels_of_objects_see_the_numbers_themselves_and_texts_stay_texts():
    model = MKLClassifier([("age", Near()), ("rna", Linear())], C=1.0).fit({"age": list(AGE), "rna": X}, y)
    assert model.predict({"age": list(AGE[:5]), "rna": X[:5]}).shape == (5,)
    for notes in (np.where(y, "pain and fever", "well again"), pd.Series(np.where(y, "pain and fever", "well again"))):
        kernels = [("notes", Features(TfidfVectorizer())), ("rna", Linear())]
        assert (
            MKLClassifier(kernels, C=1.0).fit({"notes": notes, "rna": X}, y).score({"notes": notes, "rna": X}, y) == 1
        )

"""Rows of pandas whose ids have another order than those of X are refused, in a dict as in `Views` or a frame."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLSurvival, Views
from manykernels.kernels import RBF

rng = np.random.default_rng(0)
IDS = [f"p{i}" for i in range(60)]
A = pd.DataFrame(rng.normal(size=(60, 2)), index=IDS, columns=["a", "b"])
y = (A["a"] > 0).astype(int)
TURNED = y.sample(frac=1, random_state=0)
KERNELS = [("A", RBF(0.5)), ("B", RBF(0.1))]


def test_views_of_a_dict_with_other_indices_are_refused():
    model = MKLClassifier(KERNELS, C=1.0).fit({"A": A, "B": A}, y)
    for other in (A[::-1], A.reset_index(drop=True)):
        for call in (lambda X: MKLClassifier(KERNELS).fit(X, y), model.predict, lambda X: model.score(X, y)):
            with pytest.raises(ValueError, match=r"'A' and 'B' .* different indices: give Views\(X, ids=\"index\""):
                call({"A": A, "B": other})
    assert model.predict({"A": A[:5], "B": A[:5].to_numpy()}).shape == (5,)


def test_views_of_a_dict_with_other_numbers_of_rows_name_their_ids():
    with pytest.raises(ValueError, match=r"different numbers .*: give Views\(X, ids=\"index\", examples=y.index\)"):
        MKLClassifier(KERNELS).fit({"A": A, "B": A[:50]}, y)
    with pytest.raises(ValueError, match=r"different numbers .*: give each a row per example, or Views\(X, ids="):
        MKLClassifier(KERNELS).fit({"A": A, "B": A[:50].to_numpy()}, y)


@pytest.mark.parametrize(
    ("X", "kernels"),
    [(A, [RBF(0.5)]), ({"A": A, "B": A}, KERNELS), (Views({"A": A, "B": A}), KERNELS)],
    ids=["frame", "dict", "views"],
)
def test_columns_in_another_order_than_the_rows_are_refused(X, kernels):
    model = MKLClassifier(kernels, C=1.0)
    refused = {"y": lambda: model.fit(X, TURNED), "sample_weight": lambda: model.fit(X, y, TURNED + 1.0)}
    for name, call in refused.items():
        with pytest.raises(ValueError, match=f"{name} has the index of X in another order: give {name}"):
            call()
    model.fit(X, y, y + 1.0)
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        model.score(X, TURNED)
    with pytest.raises(ValueError, match="sample_weight has the index of X in another order"):
        model.score(X, y, TURNED + 1.0)
    assert model.score(X, y) == model.score(X, y.to_numpy()) > 0.8
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        MKLRegressor(kernels, C=1.0).fit(X, A["a"]).score(X, A["a"].loc[TURNED.index])
    with pytest.raises(ValueError, match="groups has the index of X in another order"):
        MKLClassifierCV(kernels, Cs=2).fit(X, y, groups=TURNED)


def test_times_in_another_order_are_refused_in_score():
    times = pd.DataFrame({"event": 1, "time": np.exp(A["a"])})
    model = MKLSurvival([RBF(0.5)], C=1.0).fit(A, times)
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        model.score(A, times[::-1])

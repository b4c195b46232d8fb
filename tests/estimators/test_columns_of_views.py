"""The columns and the rows of views that are frames are matched by name, as those of a frame alone."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, Views, load
from manykernels.kernels import RBF

rng = np.random.default_rng(0)
A = pd.DataFrame(rng.normal(size=(60, 2)) * [1, 5], columns=["a", "b"])
B = pd.DataFrame(rng.normal(size=(60, 2)), columns=["c", "d"])
y = (A["a"] > 0).to_numpy().astype(int)


def polars(frame):
    pl = pytest.importorskip("polars")
    return pl.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


@pytest.mark.parametrize("container", [dict, Views])
@pytest.mark.parametrize("frame", [pd.DataFrame, polars])
def test_columns_in_another_order_or_of_other_names_are_refused(tmp_path, container, frame):
    model = MKLClassifier(C=1.0).fit(container({"A": frame(A), "B": frame(B)}), y)
    model.save(tmp_path / "m.mk")
    turned = A[["b", "a"]]
    for here in (model, load(tmp_path / "m.mk")):
        names = here.view_feature_names_in_
        assert names == {"A": ["a", "b"], "B": ["c", "d"]}
        new = container({"A": frame(turned), "B": frame(B)})
        cure = r"give X\['A'\]\[names\], names = model.view_feature_names_in_\['A'\]"
        for method in (here.predict, here.decision_function, here.decision_parts, here.combined_kernel):
            with pytest.raises(
                ValueError, match=rf"X\['A'\] has the columns of fit in another order, 'b', 'a': {cure}"
            ):
                method(new)
        with pytest.raises(ValueError, match="in another order"):
            here.score(new, y)
        with pytest.raises(ValueError, match=rf"has 'q', which fit did not have, and lacks 'a': add or rename.*{cure}"):
            here.predict(container({"A": frame(A.rename(columns={"a": "q"})), "B": frame(B)}))
        assert here.score(container({"A": frame(turned)[names["A"]], "B": frame(B)}), y) > 0.9
        assert here.score(container({"A": A.to_numpy(), "B": frame(B)}), y) > 0.9  # an array has no names


def test_columns_that_kernels_name_are_found_in_any_order():
    views, turned = {"A": A, "B": B}, {"A": A[["b", "a"]].assign(more=1.0), "B": B}
    model = MKLClassifier([("a", RBF(0.5), ("A", ["a"])), ("B", RBF(0.5))], C=1.0).fit(views, y)
    np.testing.assert_array_equal(model.decision_function(turned), model.decision_function(views))


def test_columns_of_views_without_weight_are_not_compared():
    views = {"A": A, "B": B, "C": pd.DataFrame(np.ones((60, 2)), columns=["e", "f"])}
    model = MKLClassifier([(name, RBF(0.5)) for name in views], C=1.0).fit(views, y)
    assert model.kernel_weights_[2] == 0
    turned = views | {"C": views["C"][["f", "e"]]}
    np.testing.assert_array_equal(model.decision_function(turned), model.decision_function(views))


def test_a_search_keeps_the_names_and_the_next_fit_forgets_them():
    model = MKLClassifierCV([("A", RBF(0.5)), ("B", RBF(0.5))], Cs=2).fit(Views({"A": A, "B": B}), y)
    with pytest.raises(ValueError, match="in another order"):
        model.predict(Views({"A": A, "B": B[["d", "c"]]}))
    other = MKLRegressor([("A", RBF(0.5))], C=1.0).fit({"A": A}, y)
    other.fit({"A": A.to_numpy()}, y).predict({"A": A[["b", "a"]]})
    assert not hasattr(other, "view_feature_names_in_")


@pytest.mark.parametrize("wrong", [[], {"A": ["a"]}, {"A": ["a", 3]}, {"Z": ["a", "b"]}, {"A": "ab"}])
def test_names_that_do_not_fit_the_views_of_a_file_are_refused(wrong):
    state = MKLClassifier([("A", RBF(0.5)), ("B", RBF(0.5))], C=1.0).fit({"A": A, "B": B}, y).to_state()
    with pytest.raises((ValueError, TypeError)):
        MKLClassifier.from_state(state | {"view_feature_names_in_": wrong})


VIEW = A.set_axis([f"p{i}" for i in range(60)])
TARGET = pd.Series(y, VIEW.index)


def test_views_of_a_dict_with_other_indices_are_refused():
    kernels = [("A", RBF(0.5)), ("B", RBF(0.1))]
    model = MKLClassifier(kernels, C=1.0).fit({"A": VIEW, "B": VIEW}, TARGET)
    for other in (VIEW[::-1], A):
        for call in (lambda X: MKLClassifier(kernels).fit(X, TARGET), model.predict, lambda X: model.score(X, TARGET)):
            with pytest.raises(ValueError, match=r"'A' and 'B' .* different indices: give Views\(X, ids=\"index\""):
                call({"A": VIEW, "B": other})
    assert model.predict({"A": VIEW[:5], "B": A[:5].to_numpy()}).shape == (5,)
    with pytest.raises(ValueError, match=r"different numbers .*: give Views\(X, ids=\"index\", examples=y.index\)"):
        MKLClassifier(kernels).fit({"A": VIEW, "B": VIEW[:30]}, TARGET)
    with pytest.raises(ValueError, match=r"different numbers .*: give each a row per example, or Views\(X, ids="):
        MKLClassifier(kernels).fit({"A": VIEW, "B": A[:30].to_numpy()}, TARGET)


@pytest.mark.parametrize("how", ["index", "columns", "frames"])
def test_targets_in_another_order_than_views_are_refused(how):
    views = {"index": Views({"A": VIEW}, ids="index"), "columns": {"A": VIEW}, "frames": Views({"A": VIEW})}[how]
    cure = r"y.loc\[X.ids\]" if how == "index" else "y"
    model = MKLClassifier([("A", RBF(0.5))], C=1.0)
    for call in (model.fit, model.fit(views, TARGET, TARGET + 1.0).score, MKLClassifierCV([("A", RBF(0.5))], Cs=2).fit):
        with pytest.raises(ValueError, match=f"y has the (ids|index) of X in another order: give {cure}"):
            call(views, TARGET[::-1])
    assert model.score(views, TARGET) == model.score(views, TARGET.to_numpy())

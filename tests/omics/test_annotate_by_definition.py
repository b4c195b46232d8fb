"""What `annotate` writes is what the model says, output by output, whatever stood there before."""

import numpy as np
import pytest

anndata = pytest.importorskip("anndata")
import pandas as pd  # noqa: E402

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, MKLSurvival, Views, survival_targets  # noqa: E402
from manykernels.inspect import relevance  # noqa: E402
from manykernels.kernels import RBF, Linear  # noqa: E402
from manykernels.omics import annotate, match_sets, set_kernels, views  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")
n = 45
rng = np.random.default_rng(2)
GENES = ["g0", "g1", "g2", "g3", "G4"]
KERNELS = [("first", RBF(0.2), ("X", ["g0", "g2"])), ("second", Linear(), ("X", ["g3"]))]


@pytest.fixture
def data():
    X = rng.normal(size=(n, 5))
    obs = pd.DataFrame({
        "site": np.array(["west", "east", "south"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.4, 0.4])],
        "age": 50 + 10 * X[:, 3] + rng.normal(size=n), "sex": rng.choice(["f", "m"], n),
    }, index=[f"cell{k}" for k in range(n)][::-1])  # fmt: skip
    found = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=GENES))
    found.layers["twice"] = 2 * X
    return found


@pytest.mark.parametrize("multi_class", ["ovr", "shared"])
def test_decisions_and_weights_stand_under_their_class(data, multi_class):
    model = MKLClassifier(KERNELS, C=1.0, multi_class=multi_class).fit(data, "site")
    data.obs["manykernels_decision_north"] = 1.0  # of another model
    data.obs["manykernels_decision"] = 2.0
    data.obs["mine"] = 3.0
    data.uns["manykernels"] = "old"
    annotate(data, model)
    f = model.decision_function(data)
    for k, name in enumerate(["east", "south", "west"]):
        np.testing.assert_array_equal(data.obs[f"manykernels_decision_{name}"], f[:, k])
    assert data.obs["manykernels_prediction"].tolist() == model.predict(data).tolist()
    ours = {"manykernels_prediction", *(f"manykernels_decision_{name}" for name in ("east", "south", "west"))}
    assert set(data.obs.columns) == {"site", "age", "sex", "mine"} | ours
    frame = data.uns["manykernels"]["weights"]
    assert frame.index.tolist() == ["first", "second"]
    if multi_class == "ovr":
        assert frame.columns.tolist() == ["east", "south", "west"]
        np.testing.assert_array_equal(frame.to_numpy(), model.kernel_weights_.T)
    else:
        assert frame.columns.tolist() == ["weight"]
        np.testing.assert_array_equal(frame["weight"], model.kernel_weights_)
    assert data.uns["manykernels"]["duality_gap"] == model.duality_gap_
    assert set(data.uns["manykernels"]) == {"weights", "duality_gap"}


def test_other_models_other_keys_and_the_samples_that_are_given(data):
    twice = views(data, layer="twice")
    number = MKLRegressor(KERNELS, C=1.0).fit(twice, data.obs["age"], covariates=data.obs[["sex"]])
    annotate(data, number, X=twice, key="age")
    np.testing.assert_array_equal(data.obs["age_prediction"], number.predict(twice, covariates=data.obs[["sex"]]))
    assert not any(str(name).startswith("age_decision") for name in data.obs)
    outside = MKLOneClass(KERNELS, nu=0.2).fit(data)
    annotate(data, outside, key="odd")
    np.testing.assert_array_equal(data.obs["odd_prediction"], outside.predict(data))
    np.testing.assert_array_equal(data.obs["odd_decision"], outside.decision_function(data))
    risk = MKLSurvival(KERNELS, C=1.0).fit(data, survival_targets(np.arange(n) % 3 > 0, np.arange(1.0, n + 1)))
    found = relevance(MKLRegressor(KERNELS, C=1.0), data, "age", cv=3)
    annotate(data, risk, relevance=found, key="risk")
    np.testing.assert_array_equal(data.obs["risk_prediction"], risk.predict(data))
    pd.testing.assert_frame_equal(data.uns["risk"]["relevance"], found.to_frame())
    assert {"age_prediction", "odd_prediction", "odd_decision", "risk_prediction"} <= set(data.obs)
    labels = np.column_stack([data.obs["sex"] == "f", data.obs["age"] > 50]).astype(int)
    several = MKLClassifier(KERNELS, C=1.0).fit(data, labels)
    annotate(data, several, key="odd")
    assert "odd_decision" not in data.obs and "odd_prediction" not in data.obs
    np.testing.assert_array_equal(data.obs[["odd_decision_0", "odd_decision_1"]], several.decision_function(data))


def test_sets_have_the_columns_of_their_view_and_as_many_genes_as_asked_for():
    table = pd.DataFrame(rng.normal(size=(6, 4)), columns=["A", "b", "C", "D"])
    other = pd.DataFrame(rng.normal(size=(4, 3)), columns=["A", "B", "X"])
    sets = {"one": ["a", "B", "C", "a"], "two": ["D"], "all": ["A", "B", "C", "D", "E"], "none": ["Q"]}
    found = match_sets(sets, table, min_size=1, max_size=3)
    assert found.sets == {"one": ["A", "b", "C"], "two": ["D"]} and found.left_out == {"all": 4, "none": 0}
    assert found.unmatched == ["E", "Q"] and found.respelled == {"a": "A", "B": "b"}
    assert found.view is None and not found.missing
    assert "2 sets have too few or too many genes in X and no kernel: all (4), none (0)" in found.said()
    assert match_sets(sets, table, min_size=2, max_size=4).sets == {"one": ["A", "b", "C"], "all": ["A", "b", "C", "D"]}
    both = Views({"rna": table, "chip": other}, ids={"rna": range(6), "chip": [1, 2, 4, 5]})
    assert match_sets(sets, both, min_size=2).view == "rna"
    assert not match_sets(sets, both, min_size=2).missing
    part = match_sets(sets, both, min_size=2, view="chip")
    assert part.sets == {"one": ["A", "B"], "all": ["A", "B"]} and part.missing and part.view == "chip"
    with pytest.warns(UserWarning, match="2 sets have too few"):
        specs = set_kernels(sets, both, RBF(0.5), min_size=2, view="chip")
    assert [(spec.name, spec.columns, spec.missing) for spec in specs] == [
        ("one", ("chip", ["A", "B"]), "zero"), ("all", ("chip", ["A", "B"]), "zero")]  # fmt: skip
    assert all(spec.kernel.gamma == 0.5 and spec.transformer is None for spec in specs)

"""A loaded model is the saved one, attribute by attribute, with every option; new examples are told the same things."""

import warnings

import numpy as np
import pandas as pd
import pytest
from same_objects import differences
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLSurvival, Views, load
from manykernels.kernels import (
    RBF,
    Categorical,
    Gower,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
)
from manykernels.regularizers import EmpiricalBayes
from manykernels.strings import Spectrum

n = 36
rng = np.random.default_rng(12)
X = rng.normal(size=(n, 4))
f = X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
TWO, THREE = np.where(f > 0, "yes", "no"), np.array(["low", "mid", "up"])[np.digitize(f, [-0.5, 0.5])]
TIMES = np.array(list(zip(rng.random(n) < 0.7, rng.exponential(size=n) + 0.01, strict=True)), "?, f8")
WEIGHTS = rng.uniform(0.2, 2.0, n)
TEXTS = np.array(["".join(rng.choice(list("ACGT"), rng.integers(6, 9))) for _ in range(n)], object)
TEXTS[[3, 9]] = None
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(k=rng.choice(["u", "v", "w"], n), s=TEXTS, r=TWO)
GAPS = FRAME.assign(a=np.where(np.arange(n) % 7 == 2, np.nan, X[:, 0]))
HAVE = np.setdiff1d(np.arange(n), [1, 5, 20])
VIEWS = Views(
    {"x": FRAME[["a", "b"]].reset_index(drop=True), "t": X[HAVE, 2:]}, ids={"x": range(n), "t": HAVE.tolist()}
)
SQUARE = Precomputed.table(X @ X.T)
KERNELS = [("p", RBF(0.3), [0, 1]), ("l", Linear(), [2]), ("q", Polynomial(2), [1, 3])]
MIXED = [
    ("a", RBF("median"), ["b", "a"], "zero"), ("d", StandardScaler(), RBF("scale"), ["d", "c"]),
    ("s", Spectrum(3), ["s"], "zero"),
    ("k", OneHotEncoder(handle_unknown="ignore"), Linear(), ["k"]), ("c", Categorical(), ["k", "r"]),
    ("g", Gower(), ["d", "k"], "zero"),
]  # fmt: skip
METRIC = [("m", RBF(0.2, metric="learn")), ("l", Laplacian(0.1, metric=[1.0, 0.5, 0.0, 2.0]))]
TABLE = [("k", Precomputed(), "k"), ("x", Linear(), "x")]
FITS = {
    "spherical": (MKLClassifier(KERNELS, C=1.0, normalize="spherical", memory_limit="500MB"), X, TWO, {}),
    "trace": (MKLClassifier(KERNELS, C=2.0, normalize="trace", tol=1e-2, calibrate="sigmoid"), X, TWO, {}),
    "weights": (MKLClassifier(KERNELS, C="auto", tol=1e-2), X, TWO, {"sample_weight": WEIGHTS}),
    "shared weights": (MKLClassifier(KERNELS, C=1.0, multi_class="shared", tol=1e-2), X, THREE, {}),
    "several targets": (MKLRegressor(KERNELS, C=1.0), X, X[:, :2] * f[:, None], {}),
    "quantile": (MKLRegressor(KERNELS, C=1.0, loss="quantile", tol=1e-2), X, f, {"sample_weight": WEIGHTS}),
    "covariates": (MKLRegressor(KERNELS, C=1.0), X, f, {"covariates": FRAME[["d", "k"]]}),
    "Bayes": (MKLRegressor(KERNELS[:2], regularizer=EmpiricalBayes(), loss="squared"), X, f, {}),
    "survival": (MKLSurvival(KERNELS, C=1.0, tol=1e-2), X, TIMES, {}),
    "ranking": (MKLSurvival(KERNELS, C=1.0, loss="ranking", tol=1e-2), X, TIMES, {}),
    "strata": (MKLSurvival(KERNELS, C=1.0, tol=1e-2), X, TIMES, {"strata": FRAME["r"].to_numpy()}),
    "counts": (MKLRegressor(KERNELS, C=1.0, loss="poisson", tol=1e-2), X, np.arange(n) % 5, {}),
    "a rare class": (MKLClassifier(KERNELS, class_weight="balanced", tol=1e-2), X, np.where(f > 0.8, "a", "b"), {}),
    "words of unequal length": (MKLClassifier([Spectrum(2)], C=1.0), [x or "ACGT" for x in TEXTS], TWO, {}),
    "slack": (MKLClassifier(KERNELS, C=1.0, slack=True), X, TWO, {}),
    "sphere": (MKLOneClass(KERNELS, formulation="svdd", normalize="spherical"), X, None, {}),
    "plane": (MKLOneClass(KERNELS, nu=0.3), X, None, {}),
    "a metric": (MKLClassifier(METRIC, C=1.0, tol=1e-2), X, TWO, {}),
    "a search": (MKLClassifierCV(KERNELS, Cs=[0.5, 2.0], cv=2, tol=1e-2), X, TWO, {}),
    "warm": (MKLClassifier(KERNELS, C=1.0, warm_start=True), X, TWO, {}),
    "mixed columns": (MKLClassifier(MIXED, C=1.0), GAPS, TWO, {}),
    "views": (MKLClassifier([("x", RBF(0.2), "x"), ("t", Linear(), "t", "zero")], C=1.0), VIEWS, TWO, {}),
    "a table": (MKLClassifier(TABLE, C=1.0, psd="clip"), {"k": SQUARE, "x": X}, TWO, {}),
}  # fmt: skip


def told(function, *args, **options):
    """(the result, the warnings)."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function(*args, **options)
    return result, [str(one.message) for one in found]


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_loaded_equals_what_was_saved(name, tmp_path):
    model, data, target, options = FITS[name]
    model = model.fit(data, target, **options)
    model.save(tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    model = getattr(model, "best_estimator_", model)
    assert type(again) is type(model)
    assert list(differences(model, again)) == []
    again.save(tmp_path / "again.mk")
    assert list(differences(load(tmp_path / "again.mk"), again)) == []


def test_new_examples_are_told_the_same_by_a_loaded_model(tmp_path):
    """Categories, gaps and lengths that no training example had."""
    model = MKLClassifier(MIXED, C=1.0).fit(FRAME, TWO)
    new = FRAME[:6].copy()
    new.loc[0, "k"], new.loc[1, "b"], new.loc[2, "s"], new.loc[3, "s"] = "z", np.nan, "ACGT" * 9, "AC"
    model.save(tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    for method in ("decision_function", "decision_parts", "predict"):
        (wanted, says), (found, said) = (told(getattr(m, method), new) for m in (model, again))
        np.testing.assert_array_equal(found, wanted)
        assert says == said and all(word in says[0] for word in ("'z'", "'b' is missing", "36 letters"))
    refit = again.fit(FRAME, TWO)
    np.testing.assert_array_equal(refit.decision_function(FRAME), model.decision_function(FRAME))

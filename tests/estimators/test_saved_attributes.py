"""Every attribute of a saved model has the shape and the type that its examples and kernels imply, or is refused."""

import copy

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, MKLSurvival
from manykernels._archive import _cure
from manykernels.kernels import RBF, Linear
from manykernels.regularizers import EmpiricalBayes

rng = np.random.default_rng(3)
X = rng.normal(size=(30, 3))
LABELS = np.array(["low", "mid", "up"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=30), [-0.4, 0.4])]
TWO = np.where(X[:, 1] + 0.3 * rng.normal(size=30) > 0, "yes", "no")
TIMES = np.array(list(zip(rng.random(30) < 0.7, rng.exponential(size=30), strict=True)), "?, f8")
KERNELS = [("a", RBF(0.3), [0, 1]), ("b", Linear(), [2])]
FITS = {
    "slack": lambda: MKLClassifier(KERNELS, C=1.0, slack=True, calibrate="sigmoid").fit(X, TWO),
    "classes": lambda: MKLClassifier(KERNELS, multi_class="ovr", slack=True).fit(X, LABELS),
    "covariates": lambda: MKLRegressor(KERNELS, C=1.0).fit(X, X[:, :2], covariates=X[:, 2:]),
    "bayes": lambda: MKLRegressor(KERNELS, regularizer=EmpiricalBayes(), loss="squared").fit(X, X[:, 0] + TIMES["f1"]),
    "survival": lambda: MKLSurvival(KERNELS, C=1.0).fit(X, TIMES),
    "sphere": lambda: MKLOneClass(KERNELS, formulation="svdd", normalize="spherical").fit(X),
}

ALLOWED = {
    ("kernel_weights_", 2),
    ("strata_", 4),
    ("unique_times_", 0),
    ("unique_times_", 1),
}  # a row for each output, other numbers


def wrongly(value):
    """Values of another length, shape, type or place."""
    if isinstance(value, np.ndarray):
        yield value[:-1]
        yield np.concatenate([value, value[-1:]])
        yield value[None]
        yield value.tolist()
        if value.dtype.kind in "fi":
            yield value.astype(np.float32)
        if value.ndim == 2 and value.shape[0] != value.shape[1]:
            yield value.T.copy()
    elif isinstance(value, bool) or value is None:
        yield [value]
    elif isinstance(value, int | float | np.generic):
        yield "one"
        yield [value]
    elif isinstance(value, str):
        yield 3.5
    elif isinstance(value, list):
        yield value[0] if value else 3
        yield [3.5] * len(value)
    elif isinstance(value, dict):
        yield list(value)
    else:
        yield 3.5


@pytest.mark.parametrize("name", FITS)
def test_attributes_of_another_shape_or_type_are_refused(name):
    model = FITS[name]()
    whole = model.to_state()
    type(model).from_state(copy.copy(whole))  # as it is
    taken = []
    for key, value in whole.items():
        for k, wrong in enumerate(wrongly(value)):
            if (key, k) in ALLOWED:
                continue
            try:
                type(model).from_state(copy.copy(whole) | {key: wrong})
            except (ValueError, TypeError, KeyError, AttributeError):
                continue
            taken.append((key, k))
    assert taken == []


@pytest.mark.parametrize("name", FITS)
def test_attributes_that_parameters_imply_are_neither_missing_nor_more(name):
    model, other = FITS[name](), FITS["slack" if name != "slack" else "sphere"]()
    whole, more = model.to_state(), other.to_state()
    optional = {
        "feature_names_in_",
        "searched_",
        "target_name_",
        "kernels_chosen_",
        "solutions",
        "n_outputs_",
        "noise_",
        "stationarity_",
        "log_marginal_likelihood_",
        "support_weight_",
    }
    taken = []
    for key in whole.keys() - optional:
        try:
            type(model).from_state({k: v for k, v in whole.items() if k != key})
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        taken.append(key)
    for key in {"slack_weight_", "calibration_", "C_", "covariate_coef_"} & more.keys() - whole.keys():
        with pytest.raises((ValueError, KeyError, AttributeError)):
            type(model).from_state(copy.copy(whole) | {key: more[key]})
    assert taken == []


def test_what_cannot_be_saved_has_the_cure_of_its_kind():
    class Own:
        pass

    class Stored(Own):
        def to_state(self):
            return {}

    class Solves(Own):
        def solve(self):
            pass

    plain = "use a kernel of manykernels.kernels, kernels='precomputed' or a plain value in its place"
    for value in (len, lambda x: x, Own, object(), np.random.default_rng(0)):
        assert _cure(value) == plain
    for value, words in ((Own(), "to_state() and from_state(state), and load with parts=["), (Stored(), "1), and load"),
                         (Solves(), "set_params(solver='auto') first, or give")):  # fmt: skip
        assert type(value).__qualname__ in _cure(value) and words in _cure(value) and plain not in _cure(value)
    assert "to_state" not in _cure(Stored()) and "solver" not in _cure(Own())

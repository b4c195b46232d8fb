"""A fit on a device is the fit on the host. PyTorch's own device of the host stands for a card."""

import numpy as np
import pytest
from covering import covering
from sklearn.base import clone

from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, load
from manykernels.banks import _device_decisions, choice
from manykernels.banks.device import DeviceBank
from manykernels.kernels import (
    RBF,
    Chi2,
    Cosine,
    HistogramIntersection,
    Identity,
    KernelList,
    Laplacian,
    Linear,
    Polynomial,
    Tanimoto,
)  # fmt: skip
from manykernels.regularizers import ElasticNet, Entropy
from manykernels.strings import Spectrum

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing runs on a device")

rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(120, 4)))
target = X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=120)
label = (target > 0).astype(int)
KERNELS = [
    RBF(0.1), RBF(1.0), Laplacian(0.3), Chi2(0.5), HistogramIntersection(), Linear(), Polynomial(2), Tanimoto(),
    Cosine(), Identity(), 0.5 * RBF(0.2) + Linear(), ("two", RBF(2.0), [0, 1]), ("mine", lambda A, B: (A @ B.T) ** 2),
]  # fmt: skip
REGULARIZERS = [1, 4 / 3, 2, ElasticNet(0.5), Entropy(0.5)]
TOL = 1e-6


def alike(model, *data):
    """Objectives to the gaps, weights to what the gap leaves open, the same predictions."""
    host, card = model.fit(*data), clone(model).set_params(device="torch").fit(*data)
    assert host.duality_gap_ <= TOL and card.duality_gap_ <= TOL
    assert card.objective_ == pytest.approx(host.objective_, rel=1e-5)
    np.testing.assert_allclose(card.kernel_weights_, host.kernel_weights_, atol=1e-3)
    return host, card


@pytest.mark.parametrize("regularizer, loss", covering(REGULARIZERS, ["hinge", "squared", "logistic", "squared_hinge"]))
def test_a_classifier_is_the_same_on_a_device(loss, regularizer):
    model = MKLClassifier(KERNELS, loss=loss, regularizer=regularizer, tol=TOL, solver="newton", C=1.0)
    host, card = alike(model, X, label)
    np.testing.assert_allclose(card.decision_function(X), host.decision_function(X), atol=2e-2)


@pytest.mark.parametrize("regularizer, loss", covering(REGULARIZERS, ["epsilon_insensitive", "huber"]))
def test_a_regressor_is_the_same_on_a_device(loss, regularizer):
    alike(MKLRegressor(KERNELS, loss=loss, regularizer=regularizer, tol=TOL, solver="newton", C=1.0), X, target)


@pytest.mark.parametrize("solver", ["level", "chunking", "analytic", "hessian"])
def test_other_solvers_work_there_too(solver):
    host = MKLClassifier(KERNELS, tol=1e-4, C=1.0).fit(X, label)
    card = MKLClassifier(KERNELS, solver=solver, tol=1e-4, C=1.0, device="torch").fit(X, label)
    assert card.duality_gap_ <= 1e-4 and card.objective_ == pytest.approx(host.objective_, rel=2e-4)


def test_several_classes_and_one_class():
    several = np.digitize(target, np.quantile(target, [0.3, 0.7]))
    for multi_class in ("ovr", "shared"):
        alike(MKLClassifier(KERNELS[:6], multi_class=multi_class, tol=TOL, regularizer=2, C=1.0), X, several)
    alike(MKLOneClass(KERNELS[:6], nu=0.2, tol=TOL, regularizer=2), X)


def test_precomputed_kernels_and_weights():
    S = KernelStack([RBF(g)(X) for g in (0.1, 1.0, 5.0)])
    host = MKLClassifier("precomputed", tol=TOL).fit(S, label, sample_weight=1.0 + label)
    card = MKLClassifier("precomputed", tol=TOL, device="torch").fit(S, label, sample_weight=1.0 + label)
    assert card.objective_ == pytest.approx(host.objective_, rel=1e-5)


def test_strings_are_compared_by_the_host_and_learned_on_the_device():
    words = ["".join(row) for row in rng.choice(list("ACGT"), size=(60, 12))]
    y = np.array(["AC" in w for w in words])
    alike(MKLClassifier([Spectrum(2), Spectrum(3)], tol=TOL), words, y)


def test_a_model_from_a_device_is_one_of_the_host(tmp_path):
    model = MKLClassifier(KERNELS[:8], device="torch").fit(X, label)
    model.save(tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    assert model.predictor_.device == "cpu" and again.predictor_.device is None
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_decisions_are_computed_there(normalize, monkeypatch):
    several = np.digitize(target, np.quantile(target, [0.3, 0.7]))
    plain = [k for k in KERNELS[:7] if not isinstance(k, tuple)]
    model = MKLClassifier(plain, normalize=normalize, C=1.0, device="torch").fit(X, several)
    asked, own = [], _device_decisions.decide_there
    monkeypatch.setattr(_device_decisions, "decide_there", lambda *args: asked.append(own(*args)) or asked[-1])
    there = model.decision_function(X[:50])
    assert len(asked) == 1 and asked[0] is not None
    model.predictor_.device = None
    np.testing.assert_allclose(there, model.decision_function(X[:50]), rtol=1e-11, atol=1e-11)
    model.predictor_.device = "cuda:17"  # a model that was unpickled elsewhere
    np.testing.assert_array_equal(model.decision_function(X[:50]), model.decision_function(X[:50]))


def test_blocks_that_do_not_fit_are_computed_again():
    kernels = KernelList.from_spec(KERNELS[:3], X)
    roomy, narrow = (DeviceBank(kernels, X, device="cpu", dtype=float, memory_limit=m) for m in (None, 250_000))
    assert all(part.base is not None for _, part in roomy.tiles.parts)
    assert any(part.base is None for _, part in narrow.tiles.parts)
    theta = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(narrow.combined(theta), roomy.combined(theta), rtol=1e-6)


def test_what_a_device_cannot_do_is_refused():
    for device, wrong in {"cuda": "finds no card", "tpu": "unknown to PyTorch", 3: "is not allowed"}.items():
        if device == "cuda" and torch.cuda.is_available():
            continue
        with pytest.raises(ValueError, match=wrong):
            MKLClassifier(device=device).fit(X, label)
    with pytest.raises(ValueError, match="asks for explicit features"):
        MKLClassifier([Linear()], solver="coordinate", device="torch").fit(X, label)
    with pytest.raises(ValueError, match="bytes left"):
        MKLClassifier([RBF(1.0)], memory_limit=100_000, device="torch").fit(X, label)
    with pytest.raises(ValueError, match="need 1 matrices of 120 × 120"):
        MKLClassifier([Cosine()], memory_limit=100_000, device="torch").fit(X, label)


def test_auto_takes_the_host_where_there_is_no_card_or_little_to_do(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choice.choose_device("auto", 10**6) is None and choice.choose_device("auto", 10) is None
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(choice, "MIN_DEVICE_EXAMPLES", 100)
    MKLClassifier([Linear()], solver="coordinate", device="auto").fit(X, label)  # explicit features are the host's
    assert choice.choose_device("auto", 10**6) == "cuda" and choice.choose_device("auto", 10) is None

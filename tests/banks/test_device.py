"""A fit on a device is the fit on the host. PyTorch's own device of the host stands for a card."""

import numpy as np
import pytest
from covering import covering
from sklearn.base import clone

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, MKLSurvival, load, losses
from manykernels.banks import _device_features, _device_parts, choice
from manykernels.banks._device_parts import DevicePlace
from manykernels.banks.low_rank import LowRankBank
from manykernels.kernels import (
    RBF,
    Chi2,
    Cosine,
    HistogramIntersection,
    Identity,
    KernelList,
    Laplacian,
    Linear,
    Nystroem,
    Polynomial,
    RandomFeatures,
    Tanimoto,
)  # fmt: skip
from manykernels.regularizers import ElasticNet, Entropy
from manykernels.solvers._primal_quadratic import Curvature, DeviceCurvature
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


def alike(model, *data, **options):
    """Objectives to the gaps, weights to what the gap leaves open, the same predictions."""
    host, card = model.fit(*data, **options), clone(model).set_params(device="torch").fit(*data, **options)
    assert host.duality_gap_ <= model.tol and card.duality_gap_ <= model.tol
    assert card.objective_ == pytest.approx(host.objective_, rel=max(1e-5, 2 * model.tol))
    np.testing.assert_allclose(card.kernel_weights_, host.kernel_weights_, atol=max(1e-3, np.sqrt(model.tol)))
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
    asked, own = [], _device_parts.decide_there
    monkeypatch.setattr(_device_parts, "decide_there", lambda *args: asked.append(own(*args)) or asked[-1])
    there = model.decision_function(X[:50])
    assert len(asked) == 1 and asked[0] is not None
    model.predictor_.device = None
    np.testing.assert_allclose(there, model.decision_function(X[:50]), rtol=1e-11, atol=1e-11)
    model.predictor_.device = "cuda:17"  # a model that was unpickled elsewhere
    np.testing.assert_array_equal(model.decision_function(X[:50]), model.decision_function(X[:50]))


MANY = rng.normal(size=(700, 4))
SCORE = np.sin(2 * MANY[:, 0]) + MANY[:, 1] * MANY[:, 2] + 0.5 * rng.normal(size=700)
LOW = [
    ("wide", RandomFeatures(RBF(0.05), 16, 0)), ("narrow", RandomFeatures(RBF(0.5), 16, 1)),
    ("sharp", RandomFeatures(Laplacian(0.3), 8, 2), [0, 1]), ("near", Nystroem(RBF(0.4), 12)),
    ("powers", Nystroem(Polynomial(2), 10, "uniform")), ("both", Nystroem(RBF(0.2) * Laplacian(0.1), 8)),
]  # fmt: skip
GAPS = {"squared_hinge": TOL, "logistic": TOL, "squared": TOL, "huber": TOL, "poisson": TOL}  # smooth losses
GAPS |= dict.fromkeys(("hinge", "epsilon_insensitive", "quantile"), 1e-4)


def features_there(monkeypatch):
    """Counts the `DeviceRows` that are made."""
    made, init = [], _device_features.DeviceRows.__init__

    def count(self, *args):
        init(self, *args)
        made.append(self)

    monkeypatch.setattr(_device_features.DeviceRows, "__init__", count)
    return made


@pytest.mark.parametrize("loss, p", covering(list(GAPS), [1, 4 / 3, 2]))
def test_kernels_of_low_rank_are_the_same_on_a_device(loss, p, monkeypatch):
    made = features_there(monkeypatch)
    binary = losses.get(loss).targets == "binary"
    model = (MKLClassifier if binary else MKLRegressor)(LOW, loss=loss, regularizer=p, tol=GAPS[loss], C=1.0)
    y = SCORE > 0 if binary else rng.poisson(np.exp(0.3 * SCORE)) if loss == "poisson" else SCORE
    host, card = alike(model.set_params(solver="primal"), MANY, y, sample_weight=1.0 + (MANY[:, 3] > 0))
    assert len(made) == 1 and made[0].held is not None
    ask = "decision_function" if binary else "predict"
    np.testing.assert_allclose(getattr(card, ask)(MANY), getattr(host, ask)(MANY), atol=2e-2)


def test_several_outputs_covariates_and_no_intercept_of_low_rank(monkeypatch):
    made = features_there(monkeypatch)
    several = np.digitize(SCORE, np.quantile(SCORE, [0.3, 0.7]))
    options = dict(loss="squared_hinge", solver="primal", tol=TOL, C=1.0)
    for multi_class in ("ovr", "shared"):
        alike(MKLClassifier(LOW, multi_class=multi_class, **options), MANY, several)
    alike(MKLClassifier(LOW, fit_intercept=False, normalize="spherical", **options), MANY, SCORE > 0)
    alike(MKLRegressor(LOW, loss="squared", solver="primal", tol=TOL), MANY, SCORE, covariates=MANY[:, 3:])
    alike(MKLOneClass(LOW, formulation="level_set", tol=1e-4, solver="primal"), MANY)
    assert len(made) == 5


def test_estimators_take_a_device_for_an_approximation(tmp_path, monkeypatch):
    """Float32 features that are kept or computed block by block; the model predicts and is saved as any other."""
    made = features_there(monkeypatch)
    monkeypatch.setattr(_device_features, "MIN_ROWS", 900)
    many, y = np.tile(MANY, (6, 1)) + 0.05 * rng.normal(size=(4200, 4)), np.tile(SCORE > 0, 6)
    kernels = [("wide", RBF(0.1)), ("part", Laplacian("median"), [0, 1]), ("near", RBF(1.0))]
    for how in ("rff", "nystroem"):
        model = MKLClassifier(kernels, approximation=how, rank=32, tol=1e-4, C=1.0)
        host, card = alike(model, many, y)
        narrow = clone(model).set_params(device="torch", memory_limit=1_000_000).fit(many, y)
        assert made[-2].held.dtype == torch.float32 and made[-1].held is None and made[-1].step < 4200
        assert narrow.objective_ == pytest.approx(card.objective_, rel=2 * model.tol)
        np.testing.assert_allclose(card.decision_function(MANY), host.decision_function(MANY), atol=2e-2)
        card.save(tmp_path / "model.mk")
        np.testing.assert_array_equal(load(tmp_path / "model.mk").decision_function(many), card.decision_function(many))


def test_the_features_of_a_device_are_those_of_the_host():
    X = MANY + 100.0  # far from the origin, where distances lose digits
    kernels = KernelList.from_spec(LOW[:-2], X)
    for single, rtol in ((False, 1e-9), (True, 1e-4)):
        host, card = (LowRankBank.from_list(kernels, X, single=single, device=device) for device in (None, "cpu"))
        for rows in (np.arange(5, 50), np.array([3, 600, 7])):
            found, wanted = card.device_features.tensor(rows).numpy(), host.dense(rows)
            assert found.dtype == wanted.dtype == card.dtype
            np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)
        np.testing.assert_allclose(card.scale, host.scale, rtol=rtol)


@pytest.mark.parametrize("spoilt", [0.0, 40.0])
def test_the_curvature_of_a_device_is_that_of_the_host(spoilt):
    """Also where rounding made it indefinite, and where weights are 0."""
    rng, place = np.random.default_rng(0), DevicePlace(torch.device("cpu"), False)
    host, card = Curvature(5, 2), DeviceCurvature(place, 5, 2)
    for size in (7, 0, 4):
        G, r, E = rng.normal(size=(size, 5)), rng.random(size), rng.normal(size=(size, 2))
        host.add(G, r, E)
        card.add(place.tensor(G), r, E)
    root, spread = 1.0 + rng.random(5), np.array([0.3, 0.0, 2.0, 1.0, 0.0])
    for curve in (host, card):
        curve.close(root)
        curve.H[3, 3] -= spoilt
    x = rng.normal(size=(5, 3))
    assert (np.linalg.eigvalsh(host.H)[0] < -1) == (spoilt > 0)
    np.testing.assert_allclose(card.multiply(x), host.multiply(x), rtol=1e-12)
    np.testing.assert_allclose([card.h, card.gain @ card.h], [host.h, host.gain @ host.h], rtol=1e-9)
    scale = np.sqrt(spread)[:, None]  # solutions are multiplied by √θ
    for right in (scale * x, scale[:, 0] * x[:, 0]):
        np.testing.assert_allclose(card.factor(spread)(right), host.factor(spread)(right), rtol=1e-9, atol=1e-12)


def test_few_examples_of_low_rank_are_compared_pair_by_pair(monkeypatch):
    made = features_there(monkeypatch)
    assert MKLClassifier(LOW, device="torch", C=1.0).fit(MANY[:200], SCORE[:200] > 0).duality_gap_ <= 1e-3
    assert not made


def test_what_features_on_a_device_cannot_do_is_refused():
    y = SCORE > 0
    with pytest.raises(ValueError, match="tol=1e-05 is below 0.0001.*hinge loss.*take tol=0.0001 or device='cpu'"):
        MKLClassifier(LOW, tol=1e-5, device="torch", C=1.0).fit(MANY, y)
    with pytest.raises(ValueError, match="runs on the processor.*take solver='primal' or device='cpu'"):
        MKLClassifier(LOW, solver="coordinate", device="torch", C=1.0).fit(MANY, y)
    with pytest.raises(ValueError, match="200 examples are few for"):
        MKLClassifier(LOW, solver="primal", device="torch", C=1.0).fit(MANY[:200], y[:200])
    with pytest.raises(ValueError, match="on a device: the one_class loss needs 'coordinate'.*take device='cpu'"):
        MKLOneClass(LOW, device="torch").fit(MANY)
    times = np.rec.fromarrays([MANY[:, 0] > 0, np.exp(SCORE)], names="event, time")
    with pytest.raises(ValueError, match="on a device: it needs a loss that is a sum over examples.*device='cpu'"):
        MKLSurvival(LOW, device="torch", C=1.0).fit(MANY, times)


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

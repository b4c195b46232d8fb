"""Precomputed kernels that are not positive semidefinite are made so, for new examples too."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import manykernels
from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import RBF, KernelStack, Precomputed, Views
from manykernels.pairs import Pairs, Pairwise

rng = np.random.default_rng(0)
Z = rng.standard_normal((60, 3))
y = np.where(Z[:, 0] + 0.3 * rng.standard_normal(60) > 0, 1, -1)
noise = rng.standard_normal((60, 60))
BAD = Z @ Z.T + 0.4 * (noise + noise.T)
GOOD = np.exp(-((Z[:, None] - Z) ** 2).sum(2))
S = np.stack([BAD, GOOD], axis=2)
train, test = np.arange(40), np.arange(40, 60)
K, K_new = S[np.ix_(train, train)], S[np.ix_(test, train)]


def naive(K, K_new, psd):
    """The corrected kernels, by the whole decomposition."""
    values, U = np.linalg.eigh(K)
    if psd == "shift":
        return K + max(0.0, -values[0]) * np.eye(len(K)), K_new
    positive = U[:, values > 0]
    return (positive * values[values > 0]) @ positive.T, K_new @ positive @ positive.T


def corrected(psd):
    pairs = [naive(K[..., m], K_new[..., m], psd) for m in range(2)]
    return [np.stack([pair[k] for pair in pairs], axis=2) for k in (0, 1)]


def fitted(model, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no kernel is warned of, and the fit converges
        return model.fit(*args, **options)


@pytest.mark.parametrize("psd", ["clip", "shift"])
@pytest.mark.parametrize("form", [np.asarray, lambda S: KernelStack(np.moveaxis(S, 2, 0)), np.float32])
def test_a_corrected_stack_gives_the_fit_of_the_corrected_matrices(psd, form, tmp_path):
    model = fitted(MKLClassifier("precomputed", psd=psd, tol=1e-6, C=1.0), form(K), y[train])
    left, right = corrected(psd)
    other = MKLClassifier("precomputed", tol=1e-6, C=1.0).fit(left, y[train])
    assert model.duality_gap_ <= 1e-6
    rough = 1e-3 if form is np.float32 else 1e-4
    expected = other.decision_function(right)
    np.testing.assert_allclose(model.decision_function(form(K_new)), expected, atol=rough)
    np.testing.assert_allclose(model.decision_parts(form(K_new)), other.decision_parts(right), atol=rough)
    np.testing.assert_allclose(model.combined_kernel(form(K_new)), other.combined_kernel(right), atol=rough)
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(form(K_new)), model.decision_function(form(K_new)))


def test_training_examples_have_the_same_decision_as_new_ones():
    model = fitted(MKLClassifier("precomputed", psd="clip", tol=1e-6), K, y[train])
    left, _ = corrected("clip")
    other = MKLClassifier("precomputed", tol=1e-6).fit(left, y[train])
    np.testing.assert_allclose(model.decision_function(K), other.decision_function(left), atol=1e-4)


def test_what_is_positive_semidefinite_stays_as_it_is():
    low = (Z @ Z.T)[np.ix_(train, train)][..., None]  # of rank 3: rounding puts half its eigenvalues below 0
    plain = MKLClassifier("precomputed").fit(low, y[train])
    for psd in ("clip", "shift", "error"):
        model = MKLClassifier("precomputed", psd=psd).fit(low, y[train])
        np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)


def test_an_error_names_the_kernel_and_the_cure():
    with pytest.raises(ValueError, match=r"'a' is not positive semidefinite.*psd=\"clip\""):
        MKLClassifier("precomputed", psd="error").fit(KernelStack([BAD, GOOD], names=["a", "b"]), y)


def test_matrices_in_files_are_corrected_where_they_fit_in_memory(tmp_path):
    np.save(tmp_path / "k.npy", np.moveaxis(K, 2, 0).copy())
    stack = KernelStack.from_files(tmp_path / "k.npy")
    inside = MKLClassifier("precomputed", psd="clip").fit(K, y[train])
    model = fitted(MKLClassifier("precomputed", psd="clip"), stack, y[train])
    np.testing.assert_allclose(model.decision_function(K_new), inside.decision_function(K_new), rtol=1e-9)
    with pytest.raises(ValueError, match="memory_limit"):
        MKLClassifier("precomputed", psd="clip", memory_limit=20_000).fit(stack, y[train])


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MKLClassifier("auto", psd="clip"), "precomputed"),
        (MKLClassifier("precomputed", psd="squash"), "psd='squash'"),
        (MKLClassifier("precomputed", psd="clip", normalize="spherical"), "spherical"),
    ],
)
def test_what_does_not_go_together_is_refused(model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(Z if model.kernels == "auto" else S, y)
    with pytest.raises(ValueError, match="no side is"):
        Pairwise([], [], psd="clip")


@pytest.mark.parametrize("psd", ["clip", "shift"])
def test_precomputed_beside_other_kernels_is_corrected(psd, tmp_path):
    table, new = Precomputed.table(K[..., 0]), Precomputed.table(K_new[..., 0], new=True)
    kernels = [("bad", Precomputed(), "K"), ("good", RBF(gamma=1.0), "Z")]
    model = MKLClassifier(kernels, psd=psd, tol=1e-6, C=1.0)
    fitted(model, {"K": table, "Z": Z[train]}, y[train])
    left, right = corrected(psd)
    other = MKLClassifier("precomputed", tol=1e-6, C=1.0).fit(left, y[train])
    X_new = {"K": new, "Z": Z[test]}
    np.testing.assert_allclose(model.decision_function(X_new), other.decision_function(right), atol=1e-4)
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(X_new), model.decision_function(X_new))
    search = GridSearchCV(model, {"psd": ["clip", "shift"]}, cv=2).fit(Views({"K": Precomputed.table(BAD), "Z": Z}), y)
    assert search.best_score_ > 0.6


def sides(m, size, rough=0.4):
    noise, objects = rng.standard_normal((m, m)), rng.standard_normal((m, 3))
    return (objects @ objects.T + rough * size * (noise + noise.T))[..., None]


@pytest.mark.parametrize("loss", ["squared", "hinge", pytest.param("logistic", marks=pytest.mark.slow)])
def test_a_fit_on_indefinite_pairs_ends_with_an_honest_warning(loss):
    """Conjugate gradients went on without an end where a direction has negative curvature."""
    pairs = Pairs.grid(sides(50, 1.0, 1.0), sides(45, 1.0, 1.0))
    target = rng.standard_normal(len(pairs))
    kernels = Pairwise("precomputed", "precomputed")
    if loss == "squared":
        model = MKLRegressor(kernels, loss=loss, C=1.0)
    else:
        model, target = MKLClassifier(kernels, loss=loss, C=1.0), np.sign(target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(pairs, target)
    assert np.isfinite(model.dual_coef_).all() and np.isfinite(model.predict(pairs)).all()
    told = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert bool(told) == (model.duality_gap_ > model.tol)
    assert all("kernel 0" in text and 'psd="clip"' in text for text in told)
    assert any("not positive semidefinite" in str(w.message) for w in caught)


def far(model, X, y):
    """How far examples are on their own side, which tells models apart that are right equally often."""
    return float(np.mean(y * model.decision_function(X)))


@pytest.mark.parametrize("psd", ["clip", "shift"])
def test_a_search_corrects_the_matrices_of_each_training_fold(psd):
    """Scores are those of models that are fitted anew; without a correction they are others."""
    cut = StratifiedKFold(3)
    search = MKLClassifierCV("precomputed", psd=psd, Cs=[1.0, 10.0], regularizer=[1], cv=cut, scoring=far, tol=1e-6)
    found = fitted(search, S, y).cv_results_["mean_test_score"]
    for C, score in zip((1.0, 10.0), found, strict=True):
        scores = []
        for train, test in cut.split(S, y):
            model = MKLClassifier("precomputed", psd=psd, C=C, regularizer=1, tol=1e-6)
            fitted(model, S[np.ix_(train, train)], y[train])
            scores.append(far(model, S[np.ix_(test, train)], y[test]))
        assert score == pytest.approx(np.mean(scores), abs=1e-2)

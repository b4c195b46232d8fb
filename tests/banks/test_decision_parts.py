"""The shares of the kernels in a decision add up to it, and each is that of its kernel in the order of the list."""

import numpy as np
import pytest

from manykernels import KernelStack, MKLClassifier, MKLRegressor, load
from manykernels.kernels import RBF, Cosine, Linear, Polynomial
from manykernels.strings import Degree, Spectrum, WeightedDegree, WeightedDegreeShift

rng = np.random.default_rng(0)
DNA = ["".join(s) for s in rng.choice(list("ACGT"), size=(70, 12))]
X = rng.normal(size=(70, 4)) * [1, 3, 0.1, 1] + 0.5
y = np.where([s[2] == "A" or s[5] == "C" for s in DNA], 1, -1)
NUMBERS = [RBF(gamma=0.3), Polynomial(degree=2), Linear()]


def new(kind):
    """Data for some more examples, of other sizes than the training data."""
    part = slice(50, 70)
    if kind == "precomputed":
        S = np.stack([k(X[part] * 2, X[:50]) for k in NUMBERS])
        return KernelStack(S, test_diagonals=np.stack([k.diag(X[part] * 2) for k in NUMBERS]))
    if kind == "joined":
        return {"dna": DNA[part], "x": X[part] * 2}
    return DNA[part] if kind in ("words", "trie", "degree") else X[part] * 2


def train(kind):
    if kind == "precomputed":
        return KernelStack(np.stack([k(X[:50]) for k in NUMBERS]))
    if kind == "joined":
        return {"dna": DNA[:50], "x": X[:50]}
    return DNA[:50] if kind in ("words", "trie", "degree") else X[:50]


KERNELS = {
    "precomputed": "precomputed",
    "computed": NUMBERS,
    "features": [Linear(), ("two", Linear(), [0, 1]), Cosine()],
    "words": [Spectrum(2), Spectrum(3, stop=9)],
    "trie": [WeightedDegreeShift(3, 1), WeightedDegree(4)],
    "degree": [("a", Degree(2, 0, 4)), ("b", Degree(1, 4, 9))],
    "joined": [("s", Spectrum(2), "dna"), ("x", Linear(), "x"), ("w", WeightedDegree(3), "dna"),
               ("t", Spectrum(3), "dna"), ("z", Linear(), ("x", [1, 2])), ("v", Degree(1, 0, 3), "dna")],
}  # fmt: skip


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
def test_they_add_up_to_the_decision_on_new_data(kind, normalize):
    solver = "auto" if kind in ("precomputed", "computed") else "coordinate"
    model = MKLClassifier(KERNELS[kind], normalize=normalize, solver=solver, C=10, tol=1e-2).fit(train(kind), y[:50])
    parts, decision = model.decision_parts(new(kind)), model.decision_function(new(kind))
    assert np.abs(parts).max(axis=0).min() > 0
    size = np.abs(parts).max()
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, decision, rtol=0, atol=1e-9 * size)


def test_on_the_sphere_the_size_of_an_example_does_not_matter():
    """k(x, x') / √(k(x, x) k(x', x')) of homogeneous kernels: twice x has the same shares."""
    K, T, own = X[:50] @ X[:50].T, X[50:] @ X[:50].T, np.sum(X[50:] ** 2, axis=1)
    model = MKLClassifier("precomputed", normalize="spherical").fit(KernelStack(np.stack([K, K**2])), y[:50])
    one, two = (
        model.decision_parts(KernelStack(np.stack([f * T, (f * T) ** 2]), test_diagonals=[f**2 * own, f**4 * own**2]))
        for f in (1, 2)
    )
    np.testing.assert_allclose(one, two, rtol=1e-12)
    model = MKLClassifier(KERNELS["features"], normalize="spherical", solver="coordinate").fit(X[:50], y[:50])
    np.testing.assert_allclose(model.decision_parts(2 * X[50:]), model.decision_parts(X[50:]), rtol=1e-9, atol=1e-12)


def test_models_of_several_kinds_keep_their_order_when_saved(tmp_path):
    model = MKLClassifier(KERNELS["joined"], solver="coordinate").fit(train("joined"), y[:50])
    model.save(tmp_path / "m.mk")
    again = load(tmp_path / "m.mk")
    assert again.kernel_names_ == ["s", "x", "w", "t", "z", "v"]
    np.testing.assert_array_equal(again.decision_parts(new("joined")), model.decision_parts(new("joined")))


@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_parts_of_a_column_of_uneven_examples_are_exact(size):
    """Found by journeys. k(x, x) spans many orders, and spherical normalisation divides by it: nodes would not do."""
    rng = np.random.default_rng(0)
    X = size * np.exp(2 * rng.normal(size=(400, 1))) * rng.choice([-1, 1], size=(400, 1))
    y = np.sin(X[:, 0] / size)
    kernels = [Polynomial(degree=3, coef0=0.0, gamma=0.07), Polynomial(degree=2, coef0=1.0, gamma=1.0)]
    model = MKLRegressor(kernels, loss="squared", normalize="spherical", tol=1e-6).fit(X, y)
    parts, decision = model.decision_parts(X), model.predict(X)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, decision, atol=1e-6 * np.abs(parts).max())
    Ks = np.stack([kernel(X) / np.sqrt(np.outer(kernel.diag(X), kernel.diag(X))) for kernel in kernels])
    expected = model.kernel_weights_[:, None] * (Ks[:, :, model.support_] @ model.dual_coef_[0])
    np.testing.assert_allclose(parts.T, expected, atol=1e-6 * np.abs(expected).max())

"""Parts of `compress`: views that are left out and what they cost, and the search on some of the examples."""

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.estimators import compress as room
from manykernels.kernels import RBF

rng = np.random.default_rng(1)
X = rng.uniform(-1, 1, size=(150, 4))
Y = np.c_[np.sin(3 * X[:, 0]) * X[:, 1], X[:, 0] ** 2 - X[:, 1]]
VIEWS = [("a", RBF(0.5), [0, 1]), ("b", RBF(1.0), [2]), ("c", RBF(2.0), [3])]
WEAK = np.array([1.0, 3e-6, 1e-6])


def bound(model, which):
    """Σ_m √(aᵀ θ_m K_m a) over these kernels, for each output."""
    found = np.zeros(len(model.dual_coef_))
    for m in which:
        gamma, columns = VIEWS[m][1].gamma, VIEWS[m][2]
        Z = X[model.support_][:, columns]
        K = np.exp(-gamma * ((Z[:, None] - Z[None]) ** 2).sum(axis=2))
        theta = np.broadcast_to(model.kernel_weights_, (len(found), 3))[:, m]
        found += [np.sqrt(a @ (t * K) @ a) for a, t in zip(model.dual_coef_, theta, strict=True)]
    return found


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("kind", ["outputs", "classes"])
def test_all_views_that_are_left_out_count_in_the_bound(kind, seen):
    if kind == "outputs":
        model = MKLRegressor(VIEWS, C=1.0, normalize=None).fit(X, Y)
        model.kernel_weights_ = WEAK.copy()
    else:
        model = MKLClassifier(VIEWS, C=1.0, multi_class="ovr", normalize=None).fit(X, np.digitize(Y[:, 1], [-0.4, 0.6]))
        model.kernel_weights_ = np.tile(WEAK, (3, 1)) * [[1.0], [2.0], [0.5]]
    probe = room.Probe(model, X if seen else None, None)
    whole = room.Candidate(slice(None), model.dual_coef_, np.atleast_2d(model.kernel_weights_), 0.0, np.float64)
    shares = []
    for m in range(3):
        part = probe.part(whole.theta * np.eye(3)[m])
        columns, gamma = VIEWS[m][2], VIEWS[m][1].gamma
        rows = np.arange(len(X)) if seen else model.support_
        K = np.exp(-gamma * ((X[rows][:, None, columns] - X[model.support_][None][:, :, columns]) ** 2).sum(axis=2))
        theta = np.broadcast_to(whole.theta, (len(model.dual_coef_), 3))
        f = np.array([t[m] * K @ a for a, t in zip(model.dual_coef_, theta, strict=True)])
        assert part == pytest.approx((np.abs(f).max(axis=1) / probe.span).max(), rel=1e-5)
        shares.append(part)
    both = (shares[1] + shares[2]) / room.DROPPED
    for tol, left in ((1.01 * both, [1, 2]), (0.99 * both, [2]), (0.99 * shares[2] / room.DROPPED, [])):
        slim = room._without_weak_kernels(probe, whole, tol)
        assert np.flatnonzero(~slim.theta.any(axis=0)).tolist() == left
        kept = [m for m in range(3) if m not in left]
        np.testing.assert_array_equal(slim.theta[:, kept], whole.theta[:, kept])
        np.testing.assert_allclose(slim.norms, bound(model, left) if left else 0.0, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("few", [5, 40, 1000])
def test_errors_are_those_of_all_examples_however_few_are_searched(few, monkeypatch):
    monkeypatch.setattr(room, "SEARCHED", few)
    model = MKLRegressor(VIEWS[:1], C=1.0).fit(X, Y[:, 0])
    probe = room.Probe(model, X, None)
    assert len(probe.rows) == min(few, 150) and probe.rows[[0, -1]].tolist() == [0, 149] and probe.f.shape == (1, 150)
    small = model.compress(1e-2, X)
    f, found = model.predict(X), small.predict(X)
    error = np.abs(f - found).max() / np.ptp(f)
    assert small.compression_["error"] == pytest.approx(error, rel=1e-3) and error <= 1e-2
    before, after = small.compression_["operations"]
    assert after < before and len(small.support_) <= len(model.support_)

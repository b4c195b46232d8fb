"""Every exported loss keeps the protocol of losses/base.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from manykernels import losses

MEMBERS = [cls() for cls in losses.LOSSES.values()] + [
    losses.SmoothHinge(sigma=1e4),
    losses.EpsilonInsensitive(epsilon=0),
    losses.Huber(delta=0.2),
    losses.Quantile(q=0.9),
]
every = pytest.mark.parametrize("loss", MEMBERS, ids=repr)


def sample(loss, n=60, seed=0):
    """Targets, predictions and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n) if loss.targets == "binary" else 2 * rng.normal(size=n)
    y = np.round(np.exp(y)) if loss.targets == "count" else y
    y = np.sign(y) * np.exp(rng.normal(size=n)) if loss.targets == "survival" else y
    c = rng.random(n) * (rng.random(n) < 0.8)
    return y, 2 * rng.normal(size=n), c / (0.5 * c.sum()) if loss.targets == "none" else c


def inside(loss, y, c, margin=1e-3, seed=1):
    """A random a strictly inside the box (where it is infinite, inside ±3c)."""
    lo, hi = (np.clip(bound, -3 * c, 3 * c) for bound in loss.box(y, c))
    return lo + (hi - lo) * np.random.default_rng(seed).uniform(margin, 1 - margin, len(y))


@every
def test_gradient_is_the_derivative_of_the_value(loss):
    y, f, _ = sample(loss)
    steps = [(loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h) for h in (1e-5, 1e-6)]
    smooth = np.isclose(*steps, atol=1e-6)  # away from kinks
    assert smooth.mean() > 0.9
    assert_allclose(loss.gradient(y, f)[smooth], steps[1][smooth], atol=1e-6)


@every
def test_value_is_nonnegative_and_lies_above_its_tangents(loss):
    y, f, _ = sample(loss)
    for g in (f + 3, f - 0.1, f[::-1]):
        assert np.all(loss.value(y, g) >= loss.value(y, f) + loss.gradient(y, f) * (g - f) - 1e-12)
    assert np.all(loss.value(y, f) >= 0)


@every
def test_fenchel_young_holds_with_equality_at_the_gradient(loss):
    y, f, c = sample(loss)
    u = loss.gradient(y, f)
    assert_allclose(loss.value(y, f) + loss.conjugate(y, u), u * f, atol=1e-12)
    a = inside(loss, y, np.ones_like(c))
    assert np.all(loss.value(y, f) + loss.conjugate(y, -a) >= -a * f - 1e-12)


@every
def test_conjugate_is_the_supremum(loss):
    y, _, _ = sample(loss, 12)
    u = -inside(loss, y, np.ones(12), margin=0.01)
    for yi, ui, conjugate in zip(y, u, loss.conjugate(y, u), strict=True):

        def gap(f, yi=yi, ui=ui):
            return loss.value(yi, f) - ui * f

        best = minimize_scalar(gap, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10})
        assert conjugate == pytest.approx(-best.fun, abs=1e-7)


@every
def test_box_is_the_domain_of_the_conjugate(loss):
    y, _, c = sample(loss)
    lo, hi = loss.box(y, c)
    assert np.all(lo <= 0) and np.all(hi >= 0) and np.all(lo[c == 0] == 0) and np.all(hi[c == 0] == 0)
    keep = c > 0
    for bound, outward in ((lo, -1), (hi, 1)):
        edge = (np.isfinite(bound) & keep).nonzero()[0]
        u = -bound[edge] / c[edge]
        assert np.all(np.isfinite(loss.conjugate(y[edge], u * (1 + 1e-14))))
        assert np.all(np.isinf(loss.conjugate(y[edge], u - outward * 1e-6)))
        free = (np.isinf(bound) & keep).nonzero()[0]
        assert np.all(np.isfinite(loss.conjugate(y[free], np.full(len(free), -outward * 1e6))))


@every
def test_quadratic_model_is_the_conjugate(loss):
    """Exactly, or to second order with the right slope and curvature for an interior loss."""
    y, _, c = sample(loss)
    a = inside(loss, y, c, margin=0.1)
    linear, diagonal, kink = loss.quadratic(y, c, a)
    assert all(np.all(np.isfinite(part)) and part.shape == y.shape for part in (linear, diagonal, kink))
    assert np.all(diagonal >= 0) and np.all(kink >= 0)
    y, c, a, linear, diagonal, kink = (v[c > 0] for v in (y, c, a, linear, diagonal, kink))

    def true(a):
        return c * loss.conjugate(y, -a / c)

    def model(a):
        return linear * a + 0.5 * diagonal * a**2 + kink * np.abs(a)

    h = 1e-3 * c
    order = 2e-8 if loss.interior else 1e-13
    for step in (h, -h):
        rise, expected = true(a + step) - true(a), model(a + step) - model(a)
        assert_allclose(rise / c, expected / c, atol=order)
    if not loss.interior:
        assert_allclose(true(a), model(a), atol=1e-12)


@every
def test_dual_value_skips_examples_without_weight(loss):
    y, _, c = sample(loss)
    a = inside(loss, y, c)
    keep = c > 0
    expected = np.sum(c[keep] * loss.conjugate(y[keep], -a[keep] / c[keep]))
    assert loss.dual_value(y, c, a) == pytest.approx(expected, rel=1e-12)
    assert loss.dual_value(y, np.zeros_like(c), np.zeros_like(c)) == 0


@every
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(3))
def test_intercept_minimises_the_objective(loss, spread, seed):
    y, f, c = sample(loss, 41, seed)
    f = f * spread

    def objective(b):
        return loss.total * b + c @ loss.value(y, f + b)

    b = loss.intercept(y, f, c)
    reach = 20 + np.abs(f).max()
    best = min(
        minimize_scalar(objective, bounds=bounds, method="bounded", options={"xatol": 1e-12}).fun
        for bounds in ((-reach, reach), (b - 1, b + 1))
    )
    assert objective(b) <= best + 1e-11 * (1 + abs(best))


EVEN = [loss for loss in MEMBERS if loss.targets in ("real", "binary") and loss != losses.Quantile(0.9)]


@pytest.mark.parametrize("loss", EVEN, ids=repr)
def test_intercept_is_the_midpoint_of_its_interval(loss):
    """Two examples of equal weight, mirrored about b = 0.25, whatever the flat piece between them."""
    y = np.array([1.0, -1.0])
    for width in (0.5, 5.0):
        f = width * y - 0.25 if loss.targets == "binary" else -width * y - 0.25
        assert loss.intercept(y, f, np.ones(2)) == pytest.approx(0.25, abs=1e-9)


def test_one_class_intercept_is_a_quantile():
    loss, f = losses.OneClass(), np.arange(10.0)
    assert loss.intercept(f, f, np.full(10, 1 / 3.5)) == pytest.approx(-3, abs=1e-12)
    assert loss.intercept(f, f, np.full(10, 1 / 3)) == pytest.approx(-2.5, abs=1e-12)


@every
def test_intercept_stays_finite_where_the_minimiser_is_not(loss):
    y, f, c = sample(loss)
    one_sided = np.ones_like(y)
    assert np.isfinite(loss.intercept(one_sided, f, c))
    assert np.isfinite(loss.intercept(y, f, np.zeros_like(c)))


@every
@pytest.mark.parametrize("equality", [True, False])
def test_start_is_feasible(loss, equality):
    y, _, c = sample(loss)
    a, (lo, hi) = loss.start(y, c, equality), loss.box(y, c)
    assert np.all(a >= lo) and np.all(a <= hi)
    if equality:
        assert a.sum() == pytest.approx(loss.total, abs=1e-12)
    if loss.interior:
        assert np.all((a > lo) & (a < hi) | (c == 0))


@every
def test_extreme_values_are_finite(loss):
    f = np.array([-1e100, -1e4, -1e-300, 0.0, 1e-300, 1e4, 1e100])
    for target in (0.0 if loss.targets == "count" else -1.0, 1.0):
        y = np.full_like(f, target)
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            assert np.all(np.isfinite(loss.value(y, f))) and np.all(np.isfinite(loss.gradient(y, f)))
            c = np.array([0.0, 1e-300, 1e-12, 1.0, 1e6, 1e12, 5e-324])
            for a in (0 * c, *(np.clip(bound, -c, c) for bound in loss.box(y, c))):
                assert np.all(np.isfinite(np.stack(loss.quadratic(y, c, a))))
            assert np.isfinite(loss.intercept(y, f, np.ones_like(f)))


@every
def test_get_returns_the_instance_itself(loss):
    assert losses.get(loss) is loss
    assert eval(repr(loss), vars(losses)) == loss  # noqa: S307
    with pytest.raises(ValueError, match="constructor"):
        losses.get(loss, sigma=1)


def test_get_finds_every_loss_by_its_name():
    for name, cls in losses.LOSSES.items():
        assert type(losses.get(name)) is cls
    assert losses.get("huber", delta=2).delta == 2


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("hing", {}, "'hing'.*squared_hinge"),
        (3, {}, "loss=3"),
        ("hinge", {"sigma": 1}, "sigma"),
        ("smooth_hinge", {"sigma": 0}, "sigma=0 must be a number with 0 < sigma < inf"),
        ("huber", {"delta": np.nan}, "delta"),
        ("quantile", {"q": 1.0}, "q=1.0 must be a number with 0 < q < 1"),
        ("epsilon_insensitive", {"epsilon": -1}, "epsilon=-1 must be a number with 0 <= epsilon < inf"),
        ("epsilon_insensitive", {"epsilon": "0.1"}, "epsilon"),
    ],
)
def test_bad_parameters_are_refused_by_name(name, params, message):
    with pytest.raises(ValueError, match=message):
        losses.get(name, **params)

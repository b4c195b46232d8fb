"""Problems against their definitions: sums over examples with costs of 0, covariates, any rows and kernels."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks import DenseBank, PairwiseBank
from manykernels.banks.slack import SlackBank
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.problem import Problem, covariate_basis, in_units
from manykernels.regularizers import BlockElasticNet, Entropy, Fixed, LpNorm
from problems import make

n = 14
FREE = ["intercept", "nothing", "covariates", "covariates alone"]
LOSSES = ["hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive", "huber", "quantile", "smooth_hinge"]


def data(loss, T=2, seed=0):
    """(Ks (4, n, n), Y (T, n), c (T, n) with costs of 0, Z (n, 3) of rank 2); kernel 1 does not vary."""
    rng, V = np.random.default_rng(seed), losses.get(loss)
    Ks, y = make(seed, n, 4, real=V.targets == "real")
    Ks[1] = 1.0
    Y = np.array([y, -np.roll(y, 3)])[:T]
    c = rng.uniform(0.3, 2.0, size=Y.shape)
    c[0, 2], c[-1, 5] = 0.0, 0.0
    Z = np.column_stack([20 + rng.normal(size=n), np.arange(n) % 2])
    return Ks, Y, c, np.column_stack([Z, Z[:, 0] - 3 * Z[:, 1]])


def problem_of(loss, free, regularizer=None, T=2):
    Ks, Y, c, Z = data(loss, T)
    with pytest.warns(UserWarning, match="without variance"):
        bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    extra = dict(intercept=free in ("intercept", "covariates"), covariates=Z if "covariates" in free else None)
    return Problem(bank, Y, losses.get(loss), regularizer or LpNorm(2), c, **extra), Ks, Y, c, Z


def inside(problem, rng):
    """a (T, n) in its box, at random."""
    boxes = [problem.loss.box(y, c) for y, c in zip(problem.Y, problem.c, strict=True)]
    return np.array([np.clip(rng.normal(size=n), lo, hi) * 0.9 for lo, hi in boxes])


@pytest.mark.parametrize("free", FREE)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_parts_of_a_certificate_are_sums_over_examples(loss, free):
    problem, Ks, Y, c, Z = problem_of(loss, free)
    rng, V, E = np.random.default_rng(1), problem.loss, problem.covariates
    a, outputs, rows = inside(problem, rng), rng.normal(size=(2, n)), np.array([0, 3, 4, 9, 13])
    b = rng.normal(size=problem.no_b().shape) * (free != "nothing")
    assert list(problem.kernels) == [0, 2, 3] and problem.n_outputs == 2 and not problem.no_b().any()
    for part in (slice(None), rows):
        some = np.arange(n)[part]
        level = np.array([[b[t] if E is None else b[t] @ E[i] for i in some] for t in range(2)])
        np.testing.assert_allclose(np.broadcast_to(problem.level(b, part), level.shape), level)
        risk, dual, lack = np.zeros(2), np.zeros(2), problem.no_b()
        for t in range(2):
            for k, i in enumerate(some):
                one = slice(i, i + 1)
                risk[t] += c[t, i] * V.value(Y[t, one], outputs[t, one] + level[t, k])[0]
                if c[t, i] > 0:
                    dual[t] += c[t, i] * V.conjugate(Y[t, one], -a[t, one] / c[t, i])[0]
            if E is not None:
                lack[t] = -sum(a[t, i] * E[i] for i in some)
            elif problem.intercept:
                lack[t] = -sum(a[t, i] for i in some)
        np.testing.assert_allclose(problem.losses(outputs[:, part], b, part), risk, rtol=1e-10)
        np.testing.assert_allclose(problem.conjugates(a[:, part], part), dual, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(problem.lack(a[:, part], part), lack, atol=1e-12)
        theta, q = np.array([0.5, 0.1, 0.3]), rng.random(3)
        found = problem.certificate(risk, a[:, part], b, theta, q, part)
        omega = problem.regularizer.value(theta)
        expected = -dual.sum() - problem.regularizer.conjugate(0.5 * q) + np.sum(lack * b)
        far = np.array([np.abs(lack[t]).max() > 1e-6 * (1 + np.abs(a[t][part]).sum()) for t in range(2)])
        assert found.primal == pytest.approx(risk.sum() + 0.5 * theta @ q + omega, rel=1e-12)
        assert found.dual == (-np.inf if far.any() else pytest.approx(expected, rel=1e-10))
        assert found.scale == pytest.approx(risk.sum() + 0.5 * theta @ q + omega, rel=1e-12)
    if free != "nothing":  # one output alone is not feasible
        a = problem.start()
        a[1] += 1e-3 * problem.c[1] * np.sign(a[1] + (np.abs(a[1]) < 1e-9))
        assert problem.certificate(np.ones(2), a, b, theta, q).dual == -np.inf
    np.testing.assert_allclose(problem.lack(problem.start()), 0.0, atol=1e-9)


@pytest.mark.parametrize("free", FREE)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_other_b_has_less_loss_and_the_origin_has_its_certificate(loss, free):
    problem, Ks, Y, c, Z = problem_of(loss, free)
    outputs = np.random.default_rng(2).normal(size=(2, n))
    b = problem.best_b(outputs)
    least = problem.losses(outputs, b)
    for t, k in np.ndindex(*b.reshape(2, -1).shape):
        for move in (-1e-3, 1e-3, 0.3, -0.3):
            other = b.copy()
            other.reshape(2, -1)[t, k] += move
            assert free == "nothing" or problem.losses(outputs, other)[t] >= least[t] - 1e-9
    (theta, a, b), certificate = problem.origin()
    assert not a.any() and (theta >= 0).all() and len(theta) == 3
    expected = [V @ cost for V, cost in zip(problem.loss.value(Y, problem.level(b) + 0 * Y), c, strict=True)]
    assert certificate.primal == pytest.approx(sum(expected) + problem.regularizer.value(theta), rel=1e-10)
    mean = (c * Y).sum(axis=1) / c.sum(axis=1) if problem.intercept else np.zeros(2)
    reach = 2 * c * np.abs(Y - mean[:, None]) if loss == "squared" else c
    np.testing.assert_allclose(problem.reach(), reach)
    size = 1e-12 * (Y - mean[:, None]) ** 2 + 1e-24 * Y**2 if loss == "squared" else 1e-12
    nothing = problem.certificate(np.zeros(2), np.zeros((2, n)), problem.no_b(), np.zeros(3), np.zeros(3))
    assert nothing.scale == pytest.approx(np.sum(c * size), rel=1e-12, abs=0.0)


def test_the_origin_of_one_class_problems_has_the_sum_that_is_required():
    Ks, _ = make(0, n, 4)
    problem = Problem(DenseBank(np.moveaxis(Ks, 0, 2), normalize=None), np.ones((1, n)), losses.get("one_class"),
                      LpNorm(2), np.linspace(0.1, 0.4, n))  # fmt: skip
    (theta, a, b), found = problem.origin()
    f, q = np.einsum("m,mij,tj->ti", theta, Ks, a), np.einsum("ti,mij,tj->m", a, Ks, a)
    assert a.sum() == pytest.approx(1.0) and found.gap > 0
    assert found.primal == pytest.approx(
        problem.losses(f, b).sum() + problem.loss.total * b.sum() + 0.5 * theta @ q + problem.regularizer.value(theta)
    )
    assert found.dual == pytest.approx(problem.dual_value(a, q), rel=1e-9)


def test_rounding_has_the_costs_roots_and_weights_of_its_formula():
    for loss in ("hinge", "squared"):
        problem, Ks, _, c, _ = problem_of(loss, "intercept")
        rng = np.random.default_rng(3)
        a, theta, total = rng.normal(size=(2, n)), np.array([0.4, 0.0, 0.0, 0.7]), 0.0
        for t, i in np.ndindex(2, n):
            slope = abs(a[t, i]) if loss == "squared" else max(abs(a[t, i]), c[t, i])
            for m in (0, 3):
                own = np.sqrt(np.diag(Ks[m]))
                total += slope * theta[m] * own[i] * (np.abs(a[t]) @ own)
        assert problem.rounding(a, theta) == pytest.approx(2.0**-52 * total, rel=1e-10, abs=0.0)


def test_rounding_of_norms_is_computed_where_it_could_reach_the_gap():
    """Relative to costs that sum to less than 1, and with weights above 1; the kernel without variance is left out."""
    problem, Ks, Y, c, _ = problem_of("squared", "intercept")
    rng = np.random.default_rng(4)
    a, roots = rng.normal(size=(2, n)), np.sqrt(np.einsum("mii->mi", Ks))[[0, 2, 3]]
    off = 2.0**-52 * np.sum((np.abs(a) @ roots.T) ** 2, axis=0)
    q = np.einsum("ti,mij,tj->m", a, Ks[[0, 2, 3]], a)
    one, near = np.ones(4), 2 * off.max()
    for theta, cost, tol, told in ((one, c, near, False), (one, c, near / 4, True), (3 * one, c, near, True),
                                   (0.1 * one, c, near / 4, True), (one, 0.01 * c, near, True)):  # fmt: skip
        small, seen = Problem(problem.bank, Y, problem.loss, LpNorm(2), cost), []

        def dual_value(a, q, rows=slice(None), seen=seen):
            seen.append(q)
            return -float(len(seen))

        small.dual_value = dual_value
        assert small.dual_rounding(a, theta, tol) == float(told) and len(seen) == 2 * told
        if told:
            np.testing.assert_allclose(seen[0], q, rtol=1e-9)
            np.testing.assert_allclose(seen[1] - seen[0], off, rtol=0.5)


def test_a_problem_among_some_kernels_has_their_part_of_the_regularizer():
    problem, Ks, Y, c, _ = problem_of("hinge", "intercept", Fixed([0.5, 1.0, 2.0, 0.3]))
    part = problem.among(np.array([0, 2]))
    assert list(part.kernels) == [0, 3] and list(problem.kernels) == [0, 2, 3]
    np.testing.assert_allclose(part.regularizer.start(2), [0.5, 0.3])
    np.testing.assert_allclose(problem.among(np.array([1])).regularizer.start(1), [2.0])
    entropy = problem_of("hinge", "intercept", Entropy(0.5))[0]
    assert entropy.among(np.array([2, 0])).regularizer.start(2).shape == (2,)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_basis_of_covariates_is_orthogonal_and_goes_back_to_their_units(intercept):
    Z = data("hinge")[3]
    tenth = np.column_stack([np.full(n, 0.1), Z[:, 0]])  # the mean of the first column is not 0.1 to the last digit
    for given in (Z, Z[:, :1], np.column_stack([np.ones(n), Z[:, 0]]), 1e6 + Z[:, :2], tenth, np.zeros((n, 0))):
        if given.shape[1] + intercept == 0:
            continue
        E, back = covariate_basis(given, intercept)
        whole = np.column_stack([np.ones(n), given]) if intercept else given
        np.testing.assert_allclose(E.T @ E, n * np.eye(E.shape[1]), atol=1e-8)
        np.testing.assert_allclose(whole @ back, E, atol=1e-7)
        assert E.shape[1] == np.linalg.matrix_rank((whole - whole.mean(axis=0) * (np.arange(whole.shape[1]) > 0)
                                                    if intercept else whole), tol=1e-7 * n)  # fmt: skip
        b = np.random.default_rng(0).normal(size=(2, E.shape[1]))
        level, w = in_units(b, back, intercept)
        assert intercept or not level.any()
        np.testing.assert_allclose(level[:, None] + w @ given.T, b @ E.T, atol=1e-6)


def test_a_dual_point_is_taken_into_the_domain_and_pays_for_its_sum():
    """t a instead of a in every term where Ω* is an indicator; (total − Σa) b; one-class problems of two outputs."""
    problem, Ks, Y, c, _ = problem_of("hinge", "intercept", BlockElasticNet(0.0))
    assert not problem.regularizer.finite_conjugate
    a = 0.5 * problem.c * Y
    a[:, 0] -= a.sum(axis=1)
    q = np.array([50.0, 3.0, 80.0])
    t = problem.regularizer.shrink(0.5 * q)
    assert 0 < t < 1
    V = problem.loss
    small = [cost[cost > 0] @ V.conjugate(y[cost > 0], -t * x[cost > 0] / cost[cost > 0])
             for y, cost, x in zip(Y, c, a, strict=True)]  # fmt: skip
    assert problem.dual_value(a, q) == pytest.approx(-sum(small), rel=1e-9)
    plain = problem_of("hinge", "intercept")[0]
    near, b = np.zeros((2, n)), np.array([3.0, -20.0])
    near[:, 1] = 1e-8 * Y[:, 1]
    found = plain.certificate(np.ones(2), near, b, np.full(3, 0.5), np.zeros(3))
    assert found.dual == pytest.approx(2e-8 - 1e-8 * Y[:, 1] @ b, rel=1e-6, abs=0.0)
    below = plain.certificate(np.ones(2), near, b, np.full(3, 0.5), np.full(3, -1e-9))  # as rounding leaves norms of 0
    assert below == found
    two = Problem(DenseBank(np.moveaxis(make(0, n, 3)[0], 0, 2), normalize=None), np.ones((2, n)),
                  losses.get("one_class"), LpNorm(2), 1 / (0.4 * n))  # fmt: skip
    a, b = two.start(), np.array([0.3, 0.9])
    found = two.certificate(np.array([0.2, 0.4]), a, b, np.full(3, 0.5), np.ones(3))
    assert found.primal == pytest.approx(0.6 + two.loss.total * 1.2 + 0.75 + two.regularizer.value(np.full(3, 0.5)))


def test_covariates_that_separate_one_output_of_several_are_refused():
    Ks, Y, c, _ = data("logistic")
    bank = DenseBank(np.moveaxis(Ks[[0, 2, 3]], 0, 2), normalize=None)
    Z = np.column_stack([np.arange(n) % 2, np.arange(n)]).astype(float)
    mixed = np.where(np.arange(n) // 2 % 2 == 0, 1.0, -1.0)
    Problem(bank, [mixed, -mixed], losses.get("logistic"), LpNorm(2), c, True, Z)
    with pytest.raises(ValueError, match="covariates alone separate the classes"):
        Problem(bank, [mixed, np.where(Z[:, 0] > 0, 1.0, -1.0)], losses.get("logistic"), LpNorm(2), c, True, Z)


def test_a_centred_basis_leaves_out_the_constant():
    Z = 2000 + data("hinge")[3]
    E, back = covariate_basis(Z, False, True)
    np.testing.assert_allclose(E.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.column_stack([np.ones(n), Z]) @ back, E, atol=1e-7)
    assert covariate_basis(np.full((5, 1), 3.0), False, True)[0].shape == (5, 0)


def test_the_slack_kernel_has_no_error_of_its_scale():
    X = np.random.default_rng(0).normal(size=(n, 2))
    bank = PairwiseBank(KernelList.from_spec([RBF(0.3), Linear()], X), X)
    assert SlackBank(bank).scale_error is None
    bank.scale_error = np.array([1e-4, 2e-4])
    slack = SlackBank(bank)
    np.testing.assert_array_equal(slack.scale_error, [1e-4, 2e-4, 0.0])
    assert len(slack.names) == len(slack.scale) == len(slack.usable) == slack.M == 3

"""The interior point on numeric features: against conic programs, and where it takes over from coordinate passes."""

import numpy as np
import pytest
import scipy.sparse as sp
from conic import solve_conic

from manykernels import MKLClassifier, losses, regularizers
from manykernels.banks.dense import DenseBank
from manykernels.banks.explicit import ExplicitPredictor
from manykernels.banks.features import FeatureBank
from manykernels.kernels import KernelList, Linear, rank_one_kernels
from manykernels.problem import Problem
from manykernels.regularizers import ElasticNet, Entropy, LpNorm
from manykernels.solvers import SOLVERS, Interior, best_for, solve

LOSSES = ["hinge", "squared_hinge", "smooth_hinge", "logistic", "squared", "epsilon_insensitive", "huber"]


def data(n=40, d=30, seed=0, density=0.3, real=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    f = X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=n)
    return X, f if real else np.where(f > np.median(f), 1.0, -1.0)


def groups(d, width):
    return [(f"g{start}", Linear(), list(range(start, min(start + width, d)))) for start in range(0, d, width)]


def posed(kernels, X, y, loss, regularizer, c=1.0, intercept=True):
    bank = FeatureBank.from_list(KernelList.from_spec(kernels, X), X)
    return Problem(bank, y, losses.get(loss), regularizer, c, intercept), bank.matrices(np.flatnonzero(bank.usable))


CASES = [("hinge", 1, 4, False, True), ("hinge", 1, 3, True, False), ("hinge", 4 / 3, 1, False, True),
         ("squared", 4 / 3, 1, False, True), ("logistic", 2, 4, True, True), ("huber", 4, 1, True, False),
         ("epsilon_insensitive", 2, 1, False, True), ("hinge", Entropy(0.5), 1, True, True),
         ("hinge", 1, 30, False, True), ("hinge", 2, 30, False, True)]  # fmt: skip


@pytest.mark.parametrize(
    ("loss", "p", "width", "sparse", "intercept"), [(loss, 1, 1, True, True) for loss in LOSSES] + CASES
)
def test_it_reaches_the_conic_optimum(loss, p, width, sparse, intercept):
    real = losses.get(loss).targets == "real"
    X, y = data(real=real, density=0.15 if sparse else 1.0)
    kernels = rank_one_kernels(30) if width == 1 else groups(30, width)
    problem, Ks = posed(kernels, sp.csr_matrix(X) if sparse else X, y, loss, regularizers.get(p), 1.0, intercept)
    assert sp.issparse(problem.bank.numeric()[0]) == sparse
    found = solve(problem, "interior", tol=1e-5)
    truth = solve_conic(Ks, y, loss, p, intercept=intercept)["objective"]
    assert found.converged
    assert found.dual - 1e-6 * truth <= truth <= found.primal + 1e-6 * truth
    assert found.primal == pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize("regularizer", [LpNorm(4 / 3), LpNorm(2), LpNorm(4), Entropy(0.7)], ids=repr)
def test_the_curvature_of_the_conjugate_is_that_of_differences(regularizer):
    rng, h = np.random.default_rng(0), 1e-5
    s = rng.random(5) + 0.1
    d, e = regularizer.conjugate_curvature(s)
    steps = h * np.eye(5)
    slopes = [regularizer.weights_from_dual(s + t) - regularizer.weights_from_dual(s - t) for t in steps]
    np.testing.assert_allclose(np.diag(d) - np.outer(e, e), np.array(slopes) / (2 * h), rtol=1e-5, atol=1e-7)


def test_examples_without_cost_and_unequal_costs():
    X, y = data(n=50, seed=5)
    c = np.r_[np.zeros(5), np.linspace(0.5, 3, 45)]
    problem, Ks = posed(rank_one_kernels(30), X, y, "hinge", LpNorm(1), c)
    found = solve(problem, "interior", tol=1e-5)
    truth = solve_conic(Ks, y, "hinge", 1, sample_weight=c)["objective"]
    assert found.converged and not found.a[0, :5].any()
    assert found.primal == pytest.approx(truth, rel=1e-4)


def test_more_columns_than_it_may_factor(monkeypatch):
    monkeypatch.setattr("manykernels.solvers._interior_path.PRECONDITIONER_COLUMNS", 40)
    X, y = data(n=80, d=120, density=0.2, seed=7)
    problem, _ = posed(rank_one_kernels(120), sp.csr_matrix(X), y, "hinge", LpNorm(1))
    few = solve(problem, "interior", tol=1e-3)
    monkeypatch.undo()
    assert few.converged
    assert few.primal == pytest.approx(solve(problem, "interior", tol=1e-5).primal, rel=1e-3)


def test_it_says_what_it_lacks():
    X, y = data()
    for regularizer, loss, reason in (
        (ElasticNet(0.5), "hinge", "known curvature"), (LpNorm(1), "one_class", "begin from"),
    ):  # fmt: skip
        problem, _ = posed(rank_one_kernels(30), X, y, loss, regularizer)
        assert reason in Interior().refusal(problem)
    dense = Problem(DenseBank(np.eye(4)[:, :, None]), [1, 1, -1, -1], losses.get("hinge"), LpNorm(1))
    assert "numeric features" in Interior().refusal(dense)


def test_auto_takes_it_for_kernels_of_few_features():
    for d, regularizer, name in (
        (20, LpNorm(1), "interior"),
        (200, LpNorm(1), "interior"),
        (200, LpNorm(np.inf), "newton"),
    ):
        X, y = data(n=60, d=d, seed=2)
        problem, _ = posed(rank_one_kernels(d), X, y, "hinge", regularizer)
        assert best_for(problem).name == name
        assert solve(problem, tol=1e-4).converged


def test_a_text_with_a_kernel_for_every_word_takes_few_steps_on_features(monkeypatch):
    """80 texts × 561 words at p = 1 and C = 1 took 147 steps on the pairs of all kernels."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], 40)
    rates = np.exp(0.8 * np.outer(y, rng.normal(size=561) * (rng.random(561) < 0.1))) / np.arange(1, 562) ** 0.8
    counts = np.array([rng.multinomial(60, row / row.sum()) for row in rates])
    texts = sp.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True))
    ran = []
    for solver in SOLVERS.values():
        monkeypatch.setattr(solver, "solve", lambda self, *a, run=solver.solve: ran.append(self.name) or run(self, *a))
    used = np.flatnonzero(counts.any(axis=0))
    model = MKLClassifier(rank_one_kernels(len(used)), regularizer=1, C=1.0).fit(texts[:, used], y)
    assert set(ran) == {"interior"} and model.n_iter_ <= 40 and model.duality_gap_ <= model.tol
    assert isinstance(model.predictor_, ExplicitPredictor)


def value(problem, solution):
    """The primal value of a solution of a hinge problem on the simplex, from its features."""
    F, _, scale = problem.bank.numeric()
    F = (F.toarray() if sp.issparse(F) else F) * np.sqrt(scale)
    v = F.T @ solution.a[0]
    f = F @ (solution.theta * v) + solution.b[0]
    return np.maximum(0, 1 - problem.Y[0] * f).sum() + 0.5 * solution.theta @ v**2


@pytest.mark.parametrize(
    ("n", "d", "density", "seed"), [(60, 90, 0.1, 1), (40, 30, 0.3, 0), (60, 60, 1.0, 1), (50, 120, 1.0, 0)]
)
def test_kernels_have_weight_where_the_optimum_has(n, d, density, seed):
    X, y = data(n, d, seed, density)
    problem, Ks = posed(rank_one_kernels(d), sp.csr_matrix(X) if density < 0.2 else X, y, "hinge", LpNorm(1))
    found = solve(problem, "interior", tol=1e-5)
    same = Problem(DenseBank(np.moveaxis(Ks, 0, 2), normalize=None), y, problem.loss, LpNorm(1))
    newton = solve(same, "newton", tol=1e-7).theta
    truth = newton if d > 100 else solve_conic(Ks, y, "hinge", 1)["theta"]
    assert found.converged and found.primal == pytest.approx(value(problem, found), rel=1e-9)
    for theta in (newton, truth):
        np.testing.assert_array_equal(np.flatnonzero(found.theta), problem.kernels[theta > 1e-5 * theta.max()])


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3])
def test_where_the_gap_allows_no_more_some_small_weights_stay(tol, monkeypatch):
    """As many go as it allows, and the value is that of the weights that are left."""
    monkeypatch.setattr("manykernels.solvers.interior.MAX_EXTRA_STEPS", 0)
    monkeypatch.setattr("manykernels.solvers.interior.TIDY_GAP", 0)
    X, y = data(100, 200, 0, 0.1)
    problem, _ = posed(rank_one_kernels(200), X, y, "hinge", LpNorm(1))
    found = solve(problem, "interior", tol=tol)
    assert found.gap <= tol and found.theta.sum() == pytest.approx(1.0)
    assert 50 < np.count_nonzero(found.theta) < 180
    assert found.history[-1]["n_kernels"] == np.count_nonzero(found.theta)
    assert found.primal == pytest.approx(value(problem, found), rel=1e-9)
    assert found.gap == pytest.approx((found.primal - found.dual) / found.primal, rel=1e-6)


@pytest.mark.parametrize(("n", "d", "density", "seed"), [(60, 90, 0.1, 0), (40, 30, 0.3, 1), (150, 40, 0.3, 4)])
def test_systems_are_solved_as_well_as_small_gaps_ask(n, d, density, seed):
    X, y = data(n, d, seed, density)
    problem, _ = posed(rank_one_kernels(d), X, y, "hinge", LpNorm(1))
    assert solve(problem, "interior", tol=1e-6).converged


@pytest.mark.parametrize("moves", [True, False])
def test_systems_are_solved_exactly_where_loose_ones_lead_nowhere(monkeypatch, moves):
    from manykernels.solvers.interior import EXACT_CG, JointPath

    taken, step = [], JointPath.step

    def only_exact(path, exact, least):
        taken.append(exact)
        return moves if exact > EXACT_CG else step(path, exact, least)

    monkeypatch.setattr(JointPath, "step", only_exact)
    X, y = data(n=60, d=90, density=0.1, seed=3)
    problem, _ = posed(rank_one_kernels(90), sp.csr_matrix(X), y, "hinge", LpNorm(2))
    assert solve(problem, "interior", tol=1e-4).converged
    loose = [exact > EXACT_CG for exact in taken]
    assert loose == sorted(loose, reverse=True) and sum(loose) in (range(25, 36) if moves else [1])

"""Fits that are only scored keep θ along C, and cv="loo" scores leave-one-out decisions."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from manykernels import MKLClassifier, MKLClassifierCV, solvers
from manykernels.estimators.choose_c import SCORED_TOL, ScoredFits, apart
from manykernels.estimators.plan import FitPlan
from manykernels.kernels import RBF, Linear
from manykernels.regularizers import EmpiricalBayes, Fixed, LpPenalty

KERNELS = [RBF(gamma=0.02), RBF(gamma=0.2), Linear()]
X, LABELS = load_wine(return_X_y=True)
X, LABELS = scale(X)[::3], LABELS[::3]


def plan_of(model, y=LABELS):
    return FitPlan.of(model, model._read(X, y))


@pytest.fixture
def solved(monkeypatch):
    """(number of kernels, number of outputs, whether the last step at p = 1 follows) of every problem solved."""
    seen, true = [], solvers.solve

    def solve(problem, *args, **options):
        seen.append((problem.bank.M, problem.n_outputs, options.get("thin", True)))
        return true(problem, *args, **options)

    monkeypatch.setattr(solvers, "solve", solve)
    return seen


@pytest.mark.parametrize("p", [1, 2])
def test_a_search_learns_the_weights_of_a_fold_at_few_C_for_all_classes_together(p, solved):
    model = MKLClassifierCV(KERNELS, Cs=10, regularizer=p, cv=2).fit(X, LABELS)
    several = [problem for problem in solved if problem[0] > 1]
    small = np.isfinite(model.cv_results_["mean_test_score"][:3]).any()  # nearer to the second anchor
    assert several == [(3, 3, False)] * (4 if small else 2) + [(3, 1, True)] * 3  # the last fit: class by class
    assert len(solved) - len(several) >= 2 * (model.searched_ - 2) and model.duality_gap_ <= 1e-3
    assert model.kernel_weights_.shape == (3, 3)


def test_a_small_C_is_scored_with_weights_of_its_own():
    """With the weights of C = 1 a tiny C looks as good as any, since the kernel that it would not find is known."""
    fits = ScoredFits(plan_of(MKLClassifier(KERNELS, regularizer=1), LABELS > 0), [1.0, 0.001])
    small, large = (fits.at(C)[0].theta for C in (0.001, 1.0))
    np.testing.assert_array_equal(fits.at(0.002)[0].theta, small)
    np.testing.assert_array_equal(fits.at(5.0)[0].theta, large)
    assert np.abs(small - large).max() > 0.05


def test_a_list_of_Cs_learns_the_weights_of_every_candidate(solved):
    MKLClassifierCV(KERNELS, Cs=[0.1, 1], regularizer=2, cv=2).fit(X, LABELS)
    assert solved == [(3, 1, True)] * (2 * 2 * 3 + 3)


@pytest.mark.parametrize("slack", [False, True])
def test_fits_at_other_C_are_those_with_the_weights_of_the_first(slack):
    fits = ScoredFits(plan_of(MKLClassifier(KERNELS, slack=slack, tol=1e-7)), [1.0], shared=True)
    fits.plan = FitPlan(**vars(fits.plan) | {"tol": 1e-7})
    theta = fits.solution(0, 1.0).theta
    for C in (10.0, 0.1):
        (found,) = fits.at(C)
        plain = MKLClassifier(KERNELS, regularizer=Fixed(theta), C=C, slack=slack, tol=1e-7).fit(X, LABELS)
        ours = MKLClassifier(KERNELS, slack=slack)
        ours._read(X, LABELS)
        ours._store(fits.plan_at(C), (fits.plan.bank, np.arange(len(X)), [found]))
        np.testing.assert_array_equal(found.theta, theta)
        np.testing.assert_allclose(ours.decision_function(X), plain.decision_function(X), atol=2e-3)


def test_each_class_is_scored_with_its_own_weights():
    """At another C than the first, the kernels of a class are summed with its own weights."""
    fits = ScoredFits(plan_of(MKLClassifier(KERNELS, regularizer=1.2, multi_class="ovr")), [1.0], loo=True)
    first, others = fits.at(1.0), fits.at(10.0)
    assert len(others) == 3 and min(np.abs(first[0].theta - found.theta).max() for found in first[1:]) > 0.01
    for label, start, found in zip(np.unique(LABELS), first, others, strict=True):
        plain = MKLClassifier(KERNELS, regularizer=Fixed(start.theta), C=10.0, tol=1e-7).fit(X, LABELS == label)
        assert found.primal == pytest.approx(plain.objective_, rel=1e-3)


def test_a_penalty_learns_with_all_kernels_at_every_C(solved):
    fits = ScoredFits(plan_of(MKLClassifier(KERNELS, regularizer=LpPenalty(2))), [1.0], shared=True)
    small, large = (fits.at(C) for C in (0.1, 10.0))
    assert len(small) == 3 and small[0].theta.sum() < large[0].theta.sum() and small[0].gap <= SCORED_TOL
    assert {M for M, _, _ in solved} == {3}


def test_a_solution_of_all_classes_is_a_start_for_each():
    plan = plan_of(MKLClassifier(KERNELS))
    fits = ScoredFits(plan, [1.0], shared=True)
    parts = apart(fits.at(1.0), fits.count)
    assert [part.a.shape for part in parts] == [(1, len(X))] * 3
    np.testing.assert_array_equal(np.concatenate([part.a for part in parts]), fits.at(1.0)[0].a)
    assert apart(parts, 3) == parts


@pytest.mark.parametrize("Cs", [10, [0.1, 1, 10]], ids=str)
def test_leave_one_out_scores_of_classes_are_near_those_of_folds(Cs):
    loo, folds = (MKLClassifierCV(KERNELS, Cs=Cs, regularizer=[2, np.inf], cv=cv).fit(X, LABELS) for cv in ("loo", 10))
    assert abs(loo.best_score_ - folds.best_score_) <= 0.05 and loo.n_splits_ == 1 and loo.duality_gap_ <= 1e-3
    keys = {"loo_test_score", "loo_duality_gap", "mean_test_score", "rank_test_score"}
    assert keys <= set(loo.cv_results_) and not any(key.startswith("split") for key in loo.cv_results_)
    np.testing.assert_array_equal(loo.cv_results_["loo_test_score"], loo.cv_results_["mean_test_score"])


def test_leave_one_out_decisions_reach_any_scorer_of_predictions():
    y, seen = LABELS > 0, []

    def margin(model, x, labels):
        seen.append(model.decision_function(x))
        return float(np.mean(np.where(labels, 1, -1) * seen[-1]))

    MKLClassifierCV(KERNELS, Cs=[1.0], regularizer=2, cv="loo", scoring=margin).fit(X, y)
    plain = MKLClassifier(KERNELS).fit(X, y).decision_function(X)
    assert seen[0].shape == plain.shape and np.mean(np.where(y, 1, -1) * (plain - seen[0])) > 0
    options = dict(Cs=[0.1, 10], regularizer=2, cv="loo", loss="logistic")
    losses = MKLClassifierCV(KERNELS, scoring="neg_log_loss", **options).fit(X, LABELS)
    assert (losses.cv_results_["mean_test_score"] < 0).all()


def test_examples_of_weight_0_have_the_decisions_of_the_fit():
    weight, seen = np.ones(len(X)), []
    weight[::4] = 0.0

    def keep(model, x, labels):
        seen.append(model.decision_function(x))
        return 0.0

    model = MKLClassifierCV(KERNELS, Cs=[1.0], regularizer=2, cv="loo", scoring=keep, tol=1e-6)
    model.fit(X, LABELS > 0, sample_weight=weight)
    apart = np.abs(seen[0] - model.decision_function(X))
    assert apart[::4].max() < 1e-3 < apart[weight > 0].max()


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        (dict(refit="1se"), {}, 'refit="1se" needs the scores of folds'),
        ({}, dict(groups=np.arange(len(X)) % 5), "cannot keep groups whole"),
        (dict(regularizer=EmpiricalBayes(noise="learn"), loss="squared"), {}, "EmpiricalBayes.*need folds, cv=5"),
        (dict(scoring=lambda model, x, y: model.score(x[:5], y[:5])), {}, "scoring asks for others"),
    ],
)
def test_what_leave_one_out_cannot_score_is_an_error_with_the_cure(options, fit, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifierCV(KERNELS, **dict(Cs=[1.0], regularizer=2, cv="loo") | options).fit(X, LABELS > 0, **fit)

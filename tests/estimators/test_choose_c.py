"""C="auto": C chosen within a fit by leave-one-out decisions."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLSurvival, survival_targets
from manykernels.estimators import choose_c, metric
from manykernels.estimators.choose_c import CANDIDATES, best_C, margins
from manykernels.estimators.plan import Examples
from manykernels.kernels import RBF, Linear
from manykernels.losses import Squared
from manykernels.regularizers import BlockElasticNet, EmpiricalBayes, Fixed, LpPenalty, Uniform
from manykernels.solvers.checkpoint_file import Checkpoint
from manykernels.streaming import ArrayFile

KERNELS = [RBF(gamma=0.3), RBF(gamma=3.0), Linear()]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 2))
SIGNAL = np.sin(2 * X[:, 0]) + X[:, 1]
LABELS = np.where(SIGNAL + 0.3 * RNG.normal(size=60) > 0, "yes", "no")
THREE = np.digitize(SIGNAL, [-0.6, 0.6])
NOISE = 0.3 * RNG.normal(size=60)


def test_the_fit_is_the_fit_at_the_chosen_C():
    model = MKLClassifier(KERNELS, C="auto", tol=1e-6).fit(X, LABELS)
    plain = MKLClassifier(KERNELS, C=model.C_, tol=1e-6).fit(X, LABELS)
    assert model.C_ in CANDIDATES and model.duality_gap_ <= 1e-6
    assert np.allclose(model.decision_function(X), plain.decision_function(X), atol=1e-2)
    assert model.C_scores_["C"].tolist() == list(CANDIDATES) and model.C_scores_["score"].shape == (4,)
    assert not hasattr(plain, "C_")


def test_noise_asks_for_a_small_C_and_a_clean_wiggly_target_for_a_large_one():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, size=(80, 1)), axis=0)
    noisy, clean = x[:, 0] + 3.0 * rng.normal(size=80), np.sin(4 * x[:, 0])
    kernels = [RBF(gamma=1.0), RBF(gamma=10.0)]
    low, high = (MKLRegressor(kernels, C="auto").fit(x, y) for y in (noisy, clean))
    assert low.C_ == 0.1 and high.C_ >= 10


def test_the_squared_loss_is_scored_by_its_exact_leave_one_out_error():
    """With given weights the score at each C is that of n refits."""
    x, y, fixed, used = X[:8], SIGNAL[:8], Fixed([0.5, 0.3, 0.2]), np.arange(8)
    options = dict(regularizer=fixed, normalize=None, tol=1e-8)
    found = MKLRegressor(KERNELS, C="auto", **options).fit(x, y).C_scores_
    for C, score in zip(found["C"], found["score"], strict=True):
        refits = [MKLRegressor(KERNELS, C=C, **options).fit(x[used != i], y[used != i]) for i in used]
        errors = [float((model.predict(x[i : i + 1])[0] - y[i]) ** 2) for i, model in enumerate(refits)]
        assert np.isclose(-score, np.mean(errors), rtol=1e-3)


@pytest.mark.parametrize(
    "regularizer", [1, np.inf, Uniform(), Fixed([1.0, 1.0, 0.0]), LpPenalty(2), BlockElasticNet(0.5)]
)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_every_kind_of_regularizer_and_loss_is_certified(loss, regularizer):
    model = MKLClassifier(KERNELS, C="auto", loss=loss, regularizer=regularizer).fit(X, LABELS)
    assert model.duality_gap_ <= 1e-3 and np.isfinite(model.C_scores_["score"]).all()


def test_several_outputs_slack_and_weights_work():
    weight = np.r_[np.zeros(5), RNG.uniform(0.5, 2, 55)]
    several = np.stack([LABELS == "yes", THREE > 0], axis=1).astype(int)
    fits = [
        MKLClassifier(KERNELS, multi_class="shared", slack=True).fit(X, THREE, weight),
        MKLClassifier(KERNELS).fit(X, several),
        MKLRegressor(KERNELS, loss="epsilon_insensitive").fit(X, np.stack([SIGNAL, X[:, 0]], axis=1)),
    ]
    assert all(model.C_ in CANDIDATES for model in fits)


def test_weight_0_is_removal():
    weight = np.r_[np.zeros(20), np.ones(40)]
    found = MKLClassifier(KERNELS, C="auto").fit(X, LABELS, weight)
    assert np.allclose(
        found.C_scores_["score"], MKLClassifier(KERNELS, C="auto").fit(X[20:], LABELS[20:]).C_scores_["score"]
    )


def test_parameters_and_refits():
    model = clone(MKLClassifier(KERNELS, C="auto"))
    assert model.get_params()["C"] == "auto"
    model.fit(X, LABELS)
    assert not hasattr(model.set_params(C=2.0).fit(X, LABELS), "C_")


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(ValueError, match="C='best' is not allowed"):
        MKLClassifier(KERNELS, C="best").fit(X, LABELS)
    with pytest.raises(ValueError, match="C='auto' must be a number"):
        MKLOneClass(KERNELS, C="auto").fit(X)
    with pytest.raises(TypeError):
        MKLClassifierCV(KERNELS, C="auto")


def test_empirical_bayes_with_its_own_noise_does_not_need_C():
    model = MKLRegressor(KERNELS, C="auto", regularizer=EmpiricalBayes(noise="learn")).fit(X, SIGNAL + NOISE)
    assert model.C_ == 1.0 and model.stationarity_ <= 1e-3
    same = MKLRegressor(KERNELS, C="auto", regularizer=EmpiricalBayes()).fit(X, SIGNAL + NOISE)
    np.testing.assert_array_equal(same.predict(X), model.predict(X))  # without a C the noise is learned


@pytest.mark.parametrize("limit", [None, 400_000])
def test_a_stream_chooses_on_a_sample_too(tmp_path, limit):
    rng = np.random.default_rng(5)
    many = rng.normal(size=(300, 2))
    labels = np.where(np.sin(3 * many[:, 0]) + many[:, 1] > 0, "yes", "no")
    np.save(tmp_path / "many.npy", many)
    kernels = [RBF(gamma=1.0), RBF(gamma=4.0)]
    streamed = MKLClassifier(kernels, memory_limit=limit).fit(ArrayFile(tmp_path / "many.npy", rows=40), labels)
    whole = MKLClassifier(kernels).fit(many, labels)
    assert whole.C_ == streamed.C_ == 100.0
    plain = MKLClassifier(kernels, C=100.0).fit(many, labels)
    assert streamed.objective_ == pytest.approx(plain.objective_, rel=2e-3)


def test_kernels_that_are_not_positive_semidefinite_are_known_as_such():
    S = RNG.normal(size=(60, 60))
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        model = MKLClassifier("precomputed", loss="logistic", tol=1e-2, normalize=None)
        model.fit((S + S.T)[:, :, None], LABELS)
    assert np.isfinite(model.dual_coef_).all() and model.C_ in CANDIDATES


def test_margins_are_positive_where_the_prediction_is_right():
    F = np.array([[[2.0, -1.0, 0.0], [1.0, 1.0, -2.0], [0.0, 0.0, 1.0]]])
    exclusive = np.where(np.arange(3)[:, None] == np.array([0, 1, 0]), 1.0, -1.0)
    assert margins(exclusive, F).tolist() == [[0.5, 0.5, -0.5]]
    labels = np.array([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
    assert margins(labels, F[:, :2]).tolist() == [[1.0, 1.0, 0.0]]


def test_scores_whose_squares_overflow_are_compared():
    scores = np.array([[-1.0, -1.0, -1.0], [-1e200, -3e200, -2e200]])
    with np.errstate(over="raise"):
        assert best_C(scores, np.ones(3), [1.0, 10.0])[0] == 0


@pytest.mark.parametrize("labels", [LABELS, THREE], ids=["two", "three"])
@pytest.mark.parametrize("before, after", [(2, 1), (1, 3)])
def test_a_checkpoint_of_another_C_is_where_the_fit_begins_and_not_its_result(
    labels, before, after, tmp_path, monkeypatch
):
    """Few steps chose C = 10, more of them C = 1, and the file's solutions at 10 were taken for it."""
    model = MKLClassifier(KERNELS, tol=1e-6, multi_class="ovr", checkpoint=tmp_path / "fit.ckpt")
    plain = MKLClassifier(KERNELS, tol=1e-6, multi_class="ovr", C=CANDIDATES[after]).fit(X, labels)
    for at in (before, after, after):
        monkeypatch.setattr(choose_c, "best_C", lambda *_, at=at: (at, np.zeros(4)))
        model.fit(X, labels)
        assert model.C_ == CANDIDATES[at]
    assert model.duality_gap_ <= 1e-6 and model.objective_ == pytest.approx(plain.objective_, rel=3e-6)


def test_the_state_of_a_run_at_another_C_is_not_continued(tmp_path):
    """`coordinate` keeps the state of its run, with duals and bounds of that C; others keep a point."""
    file = Checkpoint(tmp_path / "fit.ckpt", {"C": "'auto'"}, n_parts=2)
    file.choose({"C": "1.0"})
    file.parts = [{"state": {"a": [1.0], "turn": 3}}, {"state": {"point": {"a": [1.0]}}}]
    kept = list(file.parts)
    file.choose({"C": "1.0"})
    assert file.parts == kept
    file.choose({"C": "10.0"})
    assert file.parts == [{}, kept[1]]


def test_a_checkpoint_of_another_metric_is_not_the_result(tmp_path, monkeypatch):
    """A learned metric, like C, may depend on `max_iter` and `memory_limit`, which may change."""
    columns, kernels = RNG.normal(size=(60, 4)), [RBF(gamma=0.5, metric="learn"), Linear()]
    columns[:, 0] = X[:, 0]
    model = MKLClassifier(kernels, C=1.0, tol=1e-6, regularizer=2)
    plain = clone(model).fit(columns, LABELS)
    with monkeypatch.context() as patch:
        patch.setattr(metric, "worth", np.zeros_like)
        other = clone(model).set_params(checkpoint=tmp_path / "fit.ckpt").fit(columns, LABELS)
    again = clone(model).set_params(checkpoint=tmp_path / "fit.ckpt").fit(columns, LABELS)
    assert abs(other.objective_ - plain.objective_) > 1e-3 * plain.objective_  # the metric matters
    assert again.objective_ == pytest.approx(plain.objective_, rel=3e-6)


RARE = np.where(SIGNAL + NOISE > np.sort(SIGNAL + NOISE)[-10], "rare", "common")
FEW = np.where(RARE == "rare", RARE, np.where(X[:, 0] > 0, "right", "left"))


def test_a_shift_minimises_the_weighted_logistic_loss_of_left_out_decisions():
    f, y, c = RNG.normal(size=50), np.where(np.arange(50) < 8, 1.0, -1.0), RNG.uniform(0.5, 2.0, 50)
    shift = choose_c.shift_of(f, y, c)
    near = shift + np.array([-1e-3, 0.0, 1e-3])
    loss = (c * np.logaddexp(0.0, -y * (f + near[:, None]))).sum(axis=1)
    assert loss.argmin() == 1
    assert choose_c.shift_of(f[6:], y[6:], c[6:]) == 0.0  # two examples of a class


@pytest.mark.parametrize("labels", [RARE, FEW], ids=["two", "three"])
@pytest.mark.parametrize("covariates", [None, {"z": X[:, 1]}], ids=["", "covariates"])
def test_with_class_weights_the_intercept_is_shifted_and_nothing_else(labels, covariates):
    """A rare class has large costs: all of it is right in the fit, and little of it among new examples."""
    own = dict(class_weight="balanced", calibrate="sigmoid", tol=1e-6)
    model = MKLClassifier(KERNELS, **own).fit(X, labels, covariates=covariates)
    plain = MKLClassifier(KERNELS, C=model.C_, **own).fit(X, labels, covariates=covariates)
    near = dict(rtol=0, atol=2e-3)
    np.testing.assert_allclose(model.intercept_ - model.intercept_shift_, plain.intercept_, **near)
    extra = dict(covariates=covariates)
    moved = model.decision_function(X, **extra) - plain.decision_function(X, **extra)
    np.testing.assert_allclose(moved, np.broadcast_to(model.intercept_shift_, moved.shape or (1,)), **near)
    np.testing.assert_allclose(model.predict_proba(X, **extra), plain.predict_proba(X, **extra), **near)
    assert np.abs(model.intercept_shift_).max() > 0.01
    assert model.duality_gap_ <= 1e-6 and not hasattr(plain, "intercept_shift_")
    for other in (dict(class_weight=None), dict(class_weight="balanced", fit_intercept=False)):
        assert not hasattr(MKLClassifier(KERNELS, **other).fit(X, labels), "intercept_shift_")


@pytest.mark.parametrize("many", [1, 2, 3])
@pytest.mark.parametrize("kind", ["two classes", "three classes", "labels", "events"])
def test_a_C_chosen_by_one_or_two_examples_of_a_class_is_warned_of(many, kind):
    few = np.arange(60) < many
    if kind == "events":
        model, y, what = MKLSurvival(KERNELS), survival_targets(few, 1.0 + np.arange(60.0)), "events"
    else:
        others, what = LABELS if "three" in kind else "b", "examples of the rarest class"
        model, y = MKLClassifier(KERNELS), np.where(few, "a", others)
        if kind == "labels":  # all but a few examples have the second
            y = np.stack([np.arange(60) % 2, ~few], axis=1).astype(int)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y)
    said = [str(one.message) for one in told if "are too few to choose C" in str(one.message)]
    assert len(said) == (many < 3) and all(f"{what}: {many}." in one for one in said)


def test_C_is_chosen_by_weighted_scores_within_half_an_error():
    for seed in range(30):
        draw = np.random.default_rng(seed)
        scores, c = draw.normal(size=(4, 1)) * 0.05 + draw.normal(size=(4, 20)), draw.uniform(0, 2, 20)
        at, means = best_C(scores, c)
        w = c / c.sum()
        expected = [np.sum(w * row) for row in scores]
        np.testing.assert_allclose(means, expected)
        best = scores[int(np.argmax(expected))]
        able = []
        for k, row in enumerate(scores):
            d = best - row
            error = np.sqrt(np.sum((w * (d - w @ d)) ** 2))
            able += [k] if w @ d <= 0.5 * error + 1e-12 else []
        near = {1: 0, 0: 1, 2: 2, 3: 3}  # 1, then 0.1 before 10, then 100
        assert at == min(able, key=near.__getitem__)


def test_a_sample_for_C_has_every_class_and_no_example_without_cost(monkeypatch):
    monkeypatch.setattr(choose_c, "MAX_EXAMPLES", 30)
    m = 200
    Y = np.array([np.where(np.arange(m) % 50 == 7, 1, -1), np.where(np.arange(m) < 20, 1, -1)])
    c = RNG.uniform(0.5, 1, m)
    c[::5] = 0
    examples = Examples(None, Y, np.ones(m), c, Squared(), classes=["a", "b"])
    rows = choose_c.sample_rows(examples, 3, 10**6)
    assert (c[rows] > 0).all() and (np.diff(rows) > 0).all() and 30 <= len(rows) <= 70
    assert (Y[0, rows] > 0).sum() == 4 and (Y[1, rows] > 0).sum() >= 10
    np.testing.assert_array_equal(choose_c.sample_rows(examples, 3, 10**6), rows)
    assert not np.array_equal(choose_c.sample_rows(examples, 4, 10**6), rows)
    number = Examples(None, RNG.normal(size=(1, m)), np.ones(m), np.ones(m), Squared())
    rows = choose_c.sample_rows(number, 0, 25)
    place = np.sort(np.argsort(np.argsort(number.Y[0]))[rows])
    assert len(rows) == 25 and np.diff(place).max() <= 9  # evenly spaced in the order of the targets
    few = Examples(None, number.Y[:, :25], np.ones(25), np.ones(25), Squared())
    np.testing.assert_array_equal(choose_c.sample_rows(few, 0, 25), np.arange(25))

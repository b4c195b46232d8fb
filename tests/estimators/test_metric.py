"""metric="learn": kernels that learn the scales of their columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor
from manykernels.estimators import metric as learning
from manykernels.estimators.plan import FitPlan
from manykernels.inspect import AlignmentDisplay, WeightsDisplay, relevance
from manykernels.inspect.tables import column_shares
from manykernels.kernels import RBF, Laplacian, Linear, Nystroem, auto_kernels, multi_task
from manykernels.pairs import Pairs, Pairwise
from manykernels.regularizers import EmpiricalBayes


def noisy(n, d=20, seed=0):
    """(X, y): the sign of the product of the first two of d columns."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")


def mixture(d, metric):
    return [kind(g / d, metric) for kind in (RBF, Laplacian) for g in (0.3, 1.0)]


X, LABELS = noisy(300)
NEW, TRUE = noisy(300, seed=1)
SMALL, FEW = X[:120, :6], LABELS[:120]


@pytest.fixture(scope="module")
def learned():
    return MKLClassifier(mixture(20, "learn"), C=10.0).fit(X, LABELS)


def test_two_of_twenty_columns_are_found_and_the_accuracy_rises(learned):
    plain = MKLClassifier(mixture(20, None), C=10.0).fit(X, LABELS)
    assert learned.score(NEW, TRUE) > plain.score(NEW, TRUE) + 0.2
    (table,) = learned.metric_.values()
    order = np.argsort(-table["share"])
    assert set(order[:2]) == {0, 1} and table["share"][order[:2]].sum() > 0.5
    assert np.isclose(table["share"].sum(), 1.0) and learned.duality_gap_ <= learned.tol
    assert learned.kernel_names_ == plain.kernel_names_


def test_the_fit_is_that_of_kernels_with_the_scales_that_were_learned():
    model = MKLClassifier([RBF(0.05, "learn")], C=1.0, tol=1e-8).fit(X, LABELS)
    (table,) = model.metric_.values()
    given = MKLClassifier([RBF(0.05, table["scale"])], C=1.0, tol=1e-8).fit(X, LABELS)
    np.testing.assert_allclose(model.decision_function(NEW), given.decision_function(NEW), atol=1e-4)
    assert not np.allclose(table["scale"], 1.0) and not hasattr(given, "metric_")


def test_nothing_is_kept_where_nothing_is_to_be_learned():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(150, 4))
    for y in (rng.integers(0, 2, 150), np.linalg.norm(x, axis=1) > 1.8):  # noise; all columns alike
        model = MKLClassifier(mixture(4, "learn")).fit(x, y)
        plain = MKLClassifier(mixture(4, None)).fit(x, y)
        (table,) = model.metric_.values()
        assert (table["scale"] == 1.0).all()
        np.testing.assert_allclose(model.decision_function(x), plain.decision_function(x), atol=1e-6)


@pytest.mark.parametrize("sizes", [None, [np.array([1.0, 2.0, 0.5, 0.1])]], ids=["plain", "scaled"])
def test_the_mean_squared_gradient_is_that_of_finite_differences(sizes):
    rng, step, kernels = np.random.default_rng(0), 1e-6, mixture(4, "learn")
    x, y = rng.normal(size=(25, 4)), rng.integers(0, 3, 25)
    model = MKLClassifier([*mixture(4, None), Linear()], C=1.0, multi_class="shared")
    plan = FitPlan.of(model, model._read(x, y, None))
    rounds = learning.Rounds(plan, 1.0, np.array([0.4, 0.3, 0.2, 0.1, 0.5]), [0, 1, 2, 3])
    rows, a, (source,) = np.arange(0, 25, 2), rng.normal(size=(3, 13)), rounds.sources

    def f(points):
        found = 0.0
        for m, kernel in enumerate(kernels):
            s = 1.0 if sizes is None else source.scales(kernel.distance, sizes[0])
            found += rounds.weights[m] * kernel.with_metric(None)(points * s, x[rows] * s) @ a.T
        return found

    wanted = [np.mean((f(x[rows] + step * e) - f(x[rows] - step * e)) ** 2) / (2 * step) ** 2 for e in np.eye(4)]
    np.testing.assert_allclose(rounds.mean_squared_gradient(rows, a, sizes, 0), wanted, rtol=1e-4)


def test_scales_keep_the_mean_distance_between_examples():
    plan = FitPlan.of(model := MKLClassifier(mixture(6, None), C=1.0), model._read(SMALL, FEW, None))
    rounds = learning.Rounds(plan, 1.0, np.ones(4), [0, 1, 2, 3])
    scales = rounds.scales([np.arange(6.0)])
    far = [np.abs(SMALL[:, None] * s - SMALL * s) for s in (1.0, scales[0], scales[2])]
    assert np.isclose((far[0] ** 2).sum(), (far[1] ** 2).sum()) and np.isclose(far[0].sum(), far[2].sum())
    assert scales[0] is not scales[2] and scales[0][0] == 0.0


def test_a_metric_is_judged_by_examples_that_did_not_learn_it(monkeypatch):
    """Each half judges, by its leave-one-out decisions, what the other half has learned."""
    monkeypatch.setattr(learning, "ROUNDS", 1)
    plan = FitPlan.of(model := MKLClassifier(mixture(6, None), C=1.0), model._read(SMALL, FEW, None))
    rounds, learned, shared = learning.Rounds(plan, 1.0, np.ones(4), [0, 1, 2, 3]), [], []
    fit, grow = rounds.fit, rounds.next

    def learn(rows, a, sizes):
        learned.append((rows, grow(rows, a, sizes)))
        return learned[-1][1]

    def judge(rows, sizes):
        shared.extend(np.intersect1d(rows, source).size for source, found in learned if found is sizes)
        return fit(rows, sizes)

    monkeypatch.setattr(rounds, "next", learn)
    monkeypatch.setattr(rounds, "fit", judge)
    assert rounds.gains().shape == (1, 2) and shared == [0, 0]


def most(model, k=2):
    (table,) = model.metric_.values()
    return set(np.argsort(-table["share"])[:k])


def test_regression_and_several_targets():
    y, new, options = X[:, 0] * X[:, 1], NEW[:, 0] * NEW[:, 1], dict(C=10.0)
    model, plain = (MKLRegressor(mixture(20, metric), **options).fit(X, y) for metric in ("learn", None))
    assert most(model) == {0, 1} and model.score(NEW, new) > plain.score(NEW, new)
    assert most(MKLRegressor([RBF(0.05, "learn")], **options).fit(X, np.column_stack([y, X[:, 2]])), 3) == {0, 1, 2}


@pytest.mark.parametrize("options", [dict(multi_class="ovr"), dict(multi_class="shared", slack=True)], ids=repr)
def test_several_classes_with_weights(options):
    three, weight = np.digitize(X[:, 0] * X[:, 1], [-0.4, 0.4]), np.r_[np.ones(280), np.zeros(20)]
    model = MKLClassifier([RBF(0.05, "learn"), RBF(0.01)], C=10.0, **options).fit(X, three, sample_weight=weight)
    assert most(model) == {0, 1} and model.duality_gap_ <= model.tol


def test_each_source_has_its_metric_and_its_columns_have_names():
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(20)])
    kernels = [
        ("some", RBF(0.1, "learn"), [f"x{k}" for k in range(10)]),
        ("wide", Laplacian(0.1, "learn"), [f"x{k}" for k in range(10)]),
        ("rest", StandardScaler(), RBF(0.1, "learn"), [f"x{k}" for k in range(10, 20)]),
        ("plain", RBF(0.1)),
    ]
    model = MKLClassifier(kernels, C=10.0).fit(frame, LABELS)
    assert len(model.metric_) == 2
    first, second = model.metric_.values()
    assert first["column"] == [f"x{k}" for k in range(10)] and second["column"] == [f"x{k}" for k in range(10, 20)]
    assert set(np.argsort(-first["share"])[:2]) == {0, 1}


def test_a_sample_of_many_examples_learns_the_metric(monkeypatch):
    monkeypatch.setattr("manykernels.estimators.choose_c.MAX_EXAMPLES", 200)
    model = MKLClassifier(mixture(20, "learn")).fit(X, LABELS)
    assert most(model) == {0, 1} and model.duality_gap_ <= model.tol and model.score(NEW, TRUE) > 0.8


def test_categories_count_with_all_their_indicators():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"kind": rng.choice(list("abc"), 200), **{f"x{k}": rng.normal(size=200) for k in range(8)}})
    y = (frame["kind"] == "a") ^ (frame["x0"] > 0)
    kernels = auto_kernels(frame, metric="learn")
    assert sum(spec.kernel.get_params().get("metric") == "learn" for spec in kernels) == 6
    model = MKLClassifier(kernels, C=10.0).fit(frame, y)
    ((_, shares),) = column_shares(model.metric_).items()
    assert set(list(shares)[:2]) == {"kind", "x0"} and len(shares) == 9


def test_searches_paths_and_calibration_learn_it_in_each_fit():
    kernels = [RBF(0.2, "learn")]
    search = MKLClassifierCV(kernels, Cs=[10.0], cv=2).fit(SMALL, FEW)
    assert search.score(NEW[:, :6], TRUE) > 0.7 and search.best_estimator_.metric_
    path = MKLClassifier(kernels).path(SMALL, FEW, Cs=[10.0])
    assert (path.duality_gap <= 1e-3).all()
    model = MKLClassifier(kernels, C=10.0, calibrate="sigmoid").fit(SMALL, FEW)
    assert model.predict_proba(NEW[:, :6]).shape == (300, 2)


def test_a_checkpoint_belongs_to_the_fit_with_the_learned_metric(tmp_path):
    model = MKLClassifier([RBF(0.2, "learn")], C=10.0, checkpoint=tmp_path / "fit").fit(SMALL, FEW)
    again = clone(model).fit(SMALL, FEW)
    assert most(model) == {0, 1} and np.array_equal(again.dual_coef_, model.dual_coef_)


def test_alignments_are_those_of_the_kernels_with_their_metric(learned):
    scaled = X * learned.metric_["all columns"]["scale"]
    after, before = (AlignmentDisplay.measured(one, X, LABELS) for one in (learned, clone(learned)))
    plain = MKLClassifier(mixture(20, None))
    np.testing.assert_allclose(before.target, AlignmentDisplay.measured(plain, X, LABELS).target)
    rbf = [m for m, name in enumerate(after.names) if "rbf" in name]
    assert len(rbf) == 2 and (after.target[rbf] > 2 * before.target[rbf]).all()
    own = AlignmentDisplay.measured(MKLClassifier([learned.predictor_.kernel_list.kernels[rbf[0]]]), scaled, LABELS)
    assert own.target[0] == pytest.approx(after.target[rbf[0]], rel=1e-3)


def test_relevance_tells_the_columns_that_count():
    found = relevance(MKLClassifier(mixture(6, "learn"), C=1.0), SMALL, FEW, cv=2, kernels=False, refits=0)
    ((_, shares),) = found.metric.items()
    assert set(list(shares)[:2]) == {"column 0", "column 1"} and np.isclose(sum(shares.values()), 1.0)
    assert "learned metric of all columns: column" in str(found)
    columns = [RBF(0.2, "learn"), ("first", RBF("median"), [0]), ("second", RBF("median"), [1])]
    found = relevance(MKLClassifier(columns, C=1.0), SMALL, FEW, cv=2, kernels=False, refits=2)
    assert found.measure("relevance").mean[found.names.index("first")] > 0.1


def test_the_report_has_the_columns(learned):
    ((name, rows),) = learned.report(X, LABELS, cv=None, stability=0, examples=0).facts["weights"]["metric"].items()
    assert {column for column, _ in rows[:2]} == {"column 0", "column 1"}
    with pytest.raises(ValueError, match='by="column" shows the metric'):
        WeightsDisplay.from_estimator(MKLClassifier([RBF(0.1)], C=1.0).fit(SMALL, FEW), by="column")


@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier([RBF(0.1, "learn") + Linear()]),
        MKLClassifier([Nystroem(RBF(0.1, "learn"))]),
        MKLClassifier([RBF(0.1, "learn")], approximation="nystroem", rank=10),
        MKLClassifier([RBF(0.1, "learn")], approximation="rff", rank=10),
        MKLOneClass([RBF(0.1, "learn")]),
    ],
    ids=["sum", "low rank", "nystroem", "rff", "one-class"],
)
def test_fits_that_cannot_learn_a_metric_say_what_to_do(model):
    with pytest.raises(ValueError, match=r"stands where no fit learns it.*metric=\[...\]"):
        model.fit(SMALL, FEW)


def test_other_refusals_name_their_cure():
    with pytest.raises(ValueError, match=r"needs a regularizer with C.*metric=\[...\]"):
        MKLClassifier([RBF(0.1, "learn")], regularizer=EmpiricalBayes(), loss="squared").fit(SMALL, FEW)
    with pytest.raises(ValueError, match=r'metric="learn" with task.*metric=\[...\]'):
        MKLClassifier(multi_task([RBF(0.1, "learn")])).fit(SMALL, FEW, task=SMALL[:, 0] > 0)
    pairs, both = Pairs(np.arange(40).reshape(20, 2) % 10, SMALL[:10], SMALL[:10]), [RBF(0.1, "learn")]
    for use in (RBF(0.1, "learn"), lambda x: MKLClassifier(Pairwise(both, both)).fit(pairs, np.arange(20) % 2)):
        with pytest.raises(ValueError, match="stands where no fit learns it"):
            use(SMALL)

"""What survival models say of times, strata and weights, against the definitions, example by example."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLSurvival, survival_targets
from manykernels.estimators import StepFunction, survival_times
from manykernels.estimators.survival_times import read_times
from manykernels.kernels import RBF, Linear

n = 42
rng = np.random.default_rng(11)
X = rng.normal(size=(n, 3))
TIME = rng.integers(1, 15, n) / 2.0
EVENT = rng.random(n) < 0.6
SITE = np.array(["b", "a", "c"], object)[rng.integers(0, 3, n)]
EVENT[SITE == "c"] = False  # a stratum without events
WEIGHT = rng.uniform(0.3, 2.0, n)
WEIGHT[::10] = 0.0
AGE = {"age": 5 * X[:, 2] + rng.normal(size=n), "sex": np.where(np.arange(n) % 3, "m", "f")}
EVENT_TIME = survival_targets(EVENT, TIME)
KERNELS = [("a", RBF(0.4), [0, 1]), ("b", Linear(), [2])]
NEW = rng.normal(size=(9, 3))
NEW_AGE = {"age": 5 * NEW[:, 2], "sex": np.array(["f", "m", "m"] * 3)}


def hazard(times, event, time, weight, risk):
    """Breslow's estimator, one sum at a time."""
    found = []
    for t in times:
        total = 0.0
        for at in np.unique(time[event & (weight > 0)]):
            if at <= t:
                total += weight[event & (time == at)].sum() / (weight * risk)[time >= at].sum()
        found.append(total)
    return np.array(found)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("adjusted", [False, True])
def test_baselines_of_strata_are_breslows_with_weights_and_covariates(adjusted, ties):
    own, new = ({"covariates": AGE}, {"covariates": NEW_AGE}) if adjusted else ({}, {})
    model = MKLSurvival(KERNELS, C=0.5, ties=ties).fit(X, survival_targets(EVENT, TIME), WEIGHT, strata=SITE, **own)
    seen = WEIGHT > 0
    np.testing.assert_array_equal(model.unique_times_, np.unique(TIME[seen]))
    np.testing.assert_array_equal(model.baseline_times_, model.unique_times_)
    assert model.strata_.tolist() == ["a", "b", "c"] and model.n_events_ == (EVENT & seen).sum()
    risk = np.exp(model.predict(X, **own))
    for row, site in zip(model.baseline_hazard_, "abc", strict=True):
        mine = SITE == site
        expected = hazard(model.unique_times_, *(part[mine] for part in (EVENT, TIME, WEIGHT, risk)))
        np.testing.assert_allclose(row, expected, rtol=1e-6)
    assert not model.baseline_hazard_[2].any() and model.baseline_hazard_[:2, -1].min() > 0
    site = np.array(list("cabbcaabc"))
    f = model.predict(NEW, **new)
    at = [list("abc").index(one) for one in site]
    expected = model.baseline_hazard_[at] * np.exp(f)[:, None]
    given = dict(strata=site, return_array=True, **new)
    np.testing.assert_allclose(model.predict_cumulative_hazard_function(NEW, **given), expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict_survival_function(NEW, **given), np.exp(-expected), rtol=1e-12)
    steps = model.predict_survival_function(NEW, strata=site.tolist(), **new)
    for one, row in zip(steps, np.exp(-expected), strict=True):
        np.testing.assert_array_equal(one.x, model.unique_times_)
        np.testing.assert_allclose(one.y, row, rtol=1e-12)
        assert one.before == 1.0
    sums = model.predict_cumulative_hazard_function(NEW, strata=site, **new)
    assert all(one.before == 0.0 for one in sums)
    np.testing.assert_allclose([one.y for one in sums], expected, rtol=1e-12)


def test_the_baseline_of_the_logarithm_of_times_is_that_of_scaled_times():
    """H(t | x) = H0(t / e^f), H0 of all t_i / e^f_i by Nelson and Aalen, with weights."""
    own, new = {"age": AGE["age"]}, {"age": NEW_AGE["age"]}
    for C in (0.01, 0.02, 0.03, 0.05):  # two times at one end of the tube would be equal but for rounding
        model = MKLSurvival(KERNELS, C=C, loss="log_time").fit(X, EVENT_TIME, WEIGHT, covariates=own)
        seen = WEIGHT > 0
        scaled = (TIME / np.exp(-model.predict(X, covariates=own)))[seen]
        if np.diff(np.sort(scaled)).min() > 1e-4:
            break
    times = np.unique(scaled)
    np.testing.assert_allclose(model.baseline_times_, times, rtol=1e-9)
    expected = hazard(times, EVENT[seen], scaled, WEIGHT[seen], np.ones(seen.sum()))
    np.testing.assert_allclose(model.baseline_hazard_, [expected], rtol=1e-9)
    found = model.predict_cumulative_hazard_function(NEW, covariates=new, return_array=True)
    for row, own in zip(found, -model.predict(NEW, covariates=new), strict=True):
        for value, t in zip(row, model.unique_times_, strict=True):
            known = model.baseline_times_ <= t / np.exp(own)
            assert value == (model.baseline_hazard_[0][known][-1] if known.any() else 0.0)


def test_labels_of_strata_are_said_as_they_were_given():
    y = survival_targets(EVENT, TIME)
    numbers = np.array([{"a": 2, "b": 10, "c": 3}[one] for one in SITE])
    for labels, given, said in (
        (SITE, np.array(["a", "d"]), "the label 'd', which fit has not seen"),
        (numbers, ["10", 2], "the label '10', which fit has not seen"),
        (numbers, [2.5, 2], r"the label 2\.5, which fit has not seen"),
        (numbers, [2, 3, 10], r"shape \(3,\)"),
        (numbers, [[2], [3]], r"shape \(2, 1\)"),
    ):
        model = MKLSurvival([Linear()], C=0.5).fit(X, y, strata=labels)
        known = r"\['a', 'b', 'c'\]" if labels is SITE else r"\[2, 3, 10\]"
        with pytest.raises(ValueError, match=f"^strata has {said}: give one of {known} for each of 2 examples.$"):
            model.predict_survival_function(X[:2], strata=given)
    whole = model.predict_survival_function(X[:3], strata=[3.0, 10, np.int64(2)], return_array=True)
    each = [model.predict_survival_function(X[[k]], strata=[s], return_array=True)[0] for k, s in enumerate((3, 10, 2))]
    np.testing.assert_array_equal(whole, each)


def test_a_single_stratum_may_be_named_or_left_out():
    model = MKLSurvival([Linear()], C=0.5).fit(X, survival_targets(EVENT, TIME, np.full(n, "u")))
    assert model.strata_.tolist() == ["u"]
    plain = model.predict_survival_function(NEW, return_array=True)
    np.testing.assert_array_equal(model.predict_survival_function(NEW, strata=["u"] * 9, return_array=True), plain)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_strata_without_events_or_with_one_example_change_nothing(ties):
    """They add no term to the likelihood: the fit is that of the others."""
    some = SITE != "c"
    y = survival_targets(EVENT, TIME, SITE)
    first = MKLSurvival([Linear()], C=0.5, ties=ties, normalize=None, tol=1e-9).fit(X, y)
    rest = MKLSurvival([Linear()], C=0.5, ties=ties, normalize=None, tol=1e-9).fit(X[some], y[some])
    np.testing.assert_allclose(first.predict(NEW), rest.predict(NEW), atol=1e-6)
    np.testing.assert_allclose(first.objective_, rest.objective_, rtol=1e-7)
    alone = SITE.copy()
    alone[np.flatnonzero(EVENT & (SITE == "a"))[:1]] = "own"  # its only example has an event
    found = MKLSurvival([Linear()], C=0.5, ties=ties, normalize=None, tol=1e-9).fit(X, EVENT_TIME, strata=alone)
    kept = alone != "own"
    others = MKLSurvival([Linear()], C=0.5, ties=ties, normalize=None, tol=1e-9)
    others.fit(X[kept], EVENT_TIME[kept], strata=alone[kept])
    np.testing.assert_allclose(found.predict(NEW), others.predict(NEW), atol=1e-6)
    row = found.baseline_hazard_[found.strata_.tolist().index("own")]
    at = np.flatnonzero(alone == "own")[0]
    expected = np.where(found.unique_times_ >= TIME[at], np.exp(-found.predict(X[[at]])[0]), 0.0)
    np.testing.assert_allclose(row, expected, rtol=1e-9)


def test_names_of_times_and_events_in_frames():
    from manykernels.estimators.survival_times import EVENT_NAMES, STRATA_NAMES, TIME_NAMES

    e, t, s = np.array([1, 0, 1]), np.array([2.0, 3.0, 1.5]), np.array([4, 4, 5])
    wanted = survival_targets(e, t, s)
    for event in EVENT_NAMES:
        assert read_times(pd.DataFrame({"time": t, event.upper(): e})).tolist() == wanted[["event", "time"]].tolist()
    for time in TIME_NAMES:
        assert read_times(pd.DataFrame({time.title(): t, "event": e}))["time"].tolist() == t.tolist()
    for stratum in STRATA_NAMES:
        frame = pd.DataFrame({stratum: s, "T": t, "E": e})
        found = read_times(frame)
        assert found.tolist() == wanted.tolist() and found.dtype["stratum"] == s.dtype
        with pytest.raises(ValueError, match=f"its own strata, '{stratum}', and strata is given too"):
            read_times(frame, ["u", "v", "u"])
    fields = np.array(list(zip(e, t, s, strict=True)), [("event", "i4"), ("time", "f8"), ("stratum", "i8")])
    for three in (np.column_stack([e, t, s]), fields):
        assert read_times(three)["stratum"].tolist() == [4, 4, 5]
        with pytest.raises(ValueError, match="strata is given too"):
            read_times(three, list("uvu"))
    assert survival_targets(e, t, np.array(["long", "s", "t"])).dtype["stratum"].kind == "O"
    assert survival_targets(["1", "0"], ["2", "3"]).tolist() == [(True, 2.0), (False, 3.0)]


def test_a_step_function_has_its_values_from_each_step_on():
    f = StepFunction([1.0, 2.5, 4.0], [0.9, 0.5, 0.2], before=1.0)
    assert f(0) == f(0.999) == 1.0 and f(1.0) == f(2.4999) == 0.9 and f(2.5) == f(3.9) == 0.5 and f(4.0) == 0.2
    assert f([[0.0, 4.0], [1.0, 3.0]]).tolist() == [[1.0, 0.2], [0.9, 0.5]] and f.domain == (0.0, 4.0)
    for wrong in (-1e-9, 4.0001, np.nan, [1.0, 5.0]):
        with pytest.raises(ValueError, match="between 0 and 4, the last time"):
            f(wrong)
    assert StepFunction([1], [2]).before == 0.0
    assert repr(StepFunction([1], [2], 0.5)) == "StepFunction(x=array([1.]), y=array([2.]), before=0.5)"


def test_levels_without_events_are_those_of_examples_with_weight():
    kind = np.where(np.arange(n) % 4, "often", "rare")
    rare = kind == "rare"
    event = EVENT.copy()
    event[rare] = False
    event[np.flatnonzero(rare)[0]] = True  # of weight 0, as example 0
    y = survival_targets(event, TIME)
    said = f"none of the {int((rare & (WEIGHT > 0)).sum())} examples with kind=rare has an event: "
    with pytest.warns(UserWarning, match=said):
        MKLSurvival([Linear()], C=0.5).fit(X, y, WEIGHT, covariates={"kind": kind})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLSurvival([Linear()], C=0.5).fit(X, y, covariates={"kind": kind})


@pytest.mark.parametrize("loss, site", [("cox", SITE), ("log_time", np.full(n, "a"))], ids=["strata", "log_time"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
def test_scores_are_harrells_concordance_within_strata(loss, site, weight, monkeypatch):
    monkeypatch.setattr(survival_times, "PAIRS", 100)
    model = MKLSurvival([Linear()], C=0.5, loss=loss).fit(X, EVENT_TIME, strata=SITE if loss == "cox" else None)
    risk, right, pairs, own = model.predict(X), 0.0, 0.0, np.ones(n) if weight is None else weight
    for i in np.flatnonzero(EVENT):
        for j in range(n):
            if site[i] == site[j] and (TIME[i] < TIME[j] or TIME[i] == TIME[j] and not EVENT[j]):
                pairs += own[i] * own[j]
                right += own[i] * own[j] * (0.5 if abs(risk[i] - risk[j]) <= 1e-8 else risk[i] > risk[j])
    assert model.score(X, survival_targets(EVENT, TIME, site), weight) == pytest.approx(right / pairs, abs=1e-12)


@pytest.mark.parametrize("loss", ["cox", "log_time"])
def test_events_and_times_of_matrices_are_those_of_rows_with_weight(loss):
    K = np.stack([X @ X.T, np.exp(-((X[:, None] - X[None]) ** 2).sum(2))], axis=2)
    model = MKLSurvival("precomputed", C=0.5, loss=loss).fit(K, EVENT_TIME, WEIGHT)
    seen = WEIGHT > 0
    assert model.n_events_ == (EVENT & seen).sum() < EVENT.sum()
    np.testing.assert_array_equal(model.unique_times_, np.unique(TIME[seen]))
    assert len(model.baseline_times_) <= seen.sum() < n  # rows of no weight have no times of their own


@pytest.mark.parametrize("seed", range(3))
def test_the_hazard_of_log_time_jumps_at_the_example_s_own_event(seed):
    """H(t) = Σ 1 / (how many residual times t_j e^{−f_j} are as long) over the events of residual times up to t e^{−f}.

    Rounding of f hid the last of these from a tenth of the examples at their own times.
    """
    rng = np.random.default_rng(seed)
    x, times = rng.normal(size=(60, 3)), rng.exponential(size=60)
    y = survival_targets(rng.random(60) < 0.6, times)
    model = MKLSurvival(KERNELS, C=1.0, loss="log_time").fit(x, y)
    left = times * np.exp(model.predict(x))
    for i in np.flatnonzero(y["event"]):
        jumps = [1 / np.sum(left >= left[j]) for j in np.flatnonzero(y["event"]) if left[j] <= left[i] * (1 + 1e-9)]
        (step,) = model.predict_cumulative_hazard_function(x[i : i + 1])
        just_before = times[i] * (1 - 1e-7)
        assert step(times[i]) == pytest.approx(sum(jumps), rel=1e-9)
        assert step(times[i]) - step(just_before) >= 1 / np.sum(left >= left[i]) - 1e-12


def test_an_example_without_weight_may_have_the_last_time():
    """Of a stack of kernels, which keeps its examples, as in a bootstrap sample."""
    K, y = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))[:, :, None], survival_targets(EVENT, TIME)
    weight = (TIME < TIME.max()).astype(float)
    kept = np.flatnonzero(weight)
    model = MKLSurvival("precomputed", C=1.0, tol=1e-6).fit(K, y, sample_weight=weight)
    other = MKLSurvival("precomputed", C=1.0, tol=1e-6).fit(K[np.ix_(kept, kept)], y[kept])
    np.testing.assert_allclose(model.baseline_hazard_, other.baseline_hazard_, rtol=1e-3)

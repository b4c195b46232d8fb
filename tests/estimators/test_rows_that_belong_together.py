"""Everything with one entry per example goes through one door: rows in another order, masks, dates, lost columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, train_test_split

from manykernels import (
    KernelStack,
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    MKLRegressorCV,
    MKLSurvival,
    MKLSurvivalCV,
    Views,
    survival_targets,
)
from manykernels.inspect import (
    AlignmentDisplay,
    DecisionDisplay,
    ReliabilityDisplay,
    approximation_error,
    bootstrap_weights,
    column_relevance,
    feature_shares,
    relevance,
    suggest,
)
from manykernels.kernels import RBF, Linear, Nystroem, Precomputed, multi_task_stack
from manykernels.streaming import ArrayFile

N = 40
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
ORDER = np.random.default_rng(1).permutation(N)
IDS = np.array([f"p{i}" for i in range(N)])
values = X["a"] + rng.normal(size=N)
GOOD = {
    "y": pd.Series(np.where(values > 0, "ill", "well")),
    "sample_weight": values**2 + 0.1,
    "covariates": rng.normal(size=N) + X["b"],
    "task": pd.Series(np.arange(N) % 2),
    "groups": pd.Series(np.arange(N) % 5),
    "strata": pd.Series(np.arange(N) % 2),
    "test": values,
}
TIMES = pd.DataFrame({"event": values > -0.5, "time": np.exp(values)})
K = [Linear()]
Z = GOOD["covariates"].to_numpy()
CLASSES = MKLClassifier(K, C=1.0, loss="logistic").fit(X.to_numpy(), GOOD["y"].to_numpy(), covariates=Z)
REAL = MKLRegressor(K, C=1.0).fit(X.to_numpy(), values.to_numpy(), covariates=Z)
RISK = MKLSurvival(K, C=1.0).fit(X.to_numpy(), TIMES, covariates=Z)
SEARCH = MKLClassifierCV(K, Cs=[1.0], regularizer=[2], scoring="roc_auc").fit(X.to_numpy(), GOOD["y"].to_numpy())
SOME = MKLClassifier([Linear()], C=1.0)
LOW = MKLClassifier([Nystroem(Linear(), 5)], C=1.0)
CALLS = {  # a method: (the call, its arguments with one entry per example)
    "classifier.fit": (SOME.fit, "y sample_weight task covariates"),
    "classifier.score": (CLASSES.score, "y sample_weight task covariates"),
    "classifier.predict": (CLASSES.predict, "task covariates"),
    "classifier.predict_proba": (CLASSES.predict_proba, "task covariates"),
    "classifier.predict_log_proba": (CLASSES.predict_log_proba, "task covariates"),
    "classifier.decision_function": (CLASSES.decision_function, "task covariates"),
    "classifier.decision_parts": (CLASSES.decision_parts, "task covariates"),
    "classifier.combined_kernel": (CLASSES.combined_kernel, "task"),
    "classifier.compress": (lambda X, task: CLASSES.compress(1e-3, X, task), "task"),
    "classifier.path": (SOME.path, "y sample_weight task covariates"),
    "classifier.report": (CLASSES.report, "y covariates groups"),
    "search.fit": (MKLClassifierCV(K, Cs=[1.0]).fit, "y sample_weight task covariates groups"),
    "search.score": (SEARCH.score, "y sample_weight covariates"),
    "regressor.fit": (MKLRegressor(K, C=1.0).fit, "y sample_weight task covariates"),
    "regressor.score": (REAL.score, "y sample_weight task covariates"),
    "regressor.predict": (REAL.predict, "task covariates"),
    "regressor search.fit": (MKLRegressorCV(K, Cs=[1.0]).fit, "y sample_weight task covariates groups"),
    "one class.fit": (MKLOneClass(K).fit, "sample_weight task"),
    "one class.predict": (MKLOneClass(K).fit(X.to_numpy()).predict, "task"),
    "survival.fit": (MKLSurvival(K, C=1.0).fit, "y sample_weight task covariates strata"),
    "survival.score": (RISK.score, "y sample_weight task covariates"),
    "survival.predict": (RISK.predict, "task covariates"),
    "survival function": (RISK.predict_survival_function, "task covariates strata"),
    "hazard function": (RISK.predict_cumulative_hazard_function, "task covariates strata"),
    "survival search.fit": (MKLSurvivalCV(K, Cs=[1.0]).fit, "y sample_weight task covariates groups"),
    "relevance": (lambda X, **rows: relevance(SOME, X, **rows), "y sample_weight covariates groups"),
    "column_relevance": (lambda X, **rows: column_relevance(SOME, X, **rows), "y covariates groups"),
    "bootstrap_weights": (lambda X, **rows: bootstrap_weights(SOME, X, n_boot=2, **rows), "y covariates"),
    "suggest": (lambda X, **rows: suggest(X, kernels=K, Cs=[1.0], **rows), "y groups"),
    "feature_shares": (lambda X, **rows: feature_shares(CLASSES, X, **rows), "covariates"),
    "approximation_error": (lambda X, **rows: approximation_error(LOW, X, **rows), "y"),
    "decision display": (lambda X, **rows: DecisionDisplay.from_estimator(CLASSES, X, **rows), "task covariates"),
    "alignment display": (lambda X, **rows: AlignmentDisplay.from_estimator(SOME, X, **rows), "y"),
    "reliability display": (lambda X, **rows: ReliabilityDisplay.from_estimator(SEARCH, X, **rows), "y"),
}
FAULTS = {
    "ids": (ValueError, "has the index of X in another order"),
    "strangers": (ValueError, "has ids that X does not have, 'q0'"),
    "numbers": (UserWarning, "numbered alike, but in different orders, .*reset_index"),
    "masked": (ValueError, "is a masked array, and the mask of"),
    "dates": (ValueError, "dates|time since the start"),
    "durations": (ValueError, "holds dates or durations, and numbers need a unit"),
    "NaT": (ValueError, "1 missing values"),
    "floats": (UserWarning, "numbered alike, but in different orders, .*reset_index"),
    "huge": (ValueError, "has a number beyond 1.8e308"),
    **dict.fromkeys(["None", "NaN", "list"], (ValueError, "groups has 10 missing values: leave these examples out")),
}


def right(call, name):
    """A good value of an argument, numbered 0 … n − 1."""
    if name != "y":
        return GOOD[name]
    return TIMES if call.startswith("survival") else values if call.startswith("regressor") else GOOD["y"]


def wrong(call, name, fault):
    """(X, the argument with a fault); None where it is no fault."""
    good, days = right(call, name), pd.Series(np.arange(N).astype("timedelta64[D]"))
    frame = isinstance(good, pd.DataFrame)
    if fault in ("None", "NaN", "list"):
        names = [np.nan if fault == "list" else None] * 10 + list("abcde") * (N // 5 - 2)
        gaps = {"None": pd.Series(names), "NaN": np.where(np.arange(N) < 10, np.nan, np.arange(N) % 5), "list": names}
        return (X, gaps[fault]) if name == "groups" else None
    if fault == "huge":
        huge = [10**400, *np.ones(N - 1)]
        able = name == "sample_weight" or name == "y" and call.startswith("regressor")
        return (X, huge if name == "y" else np.array(huge, object)) if able else None
    if fault == "floats":  # pandas reads numbers with a gap so
        return X, good.set_axis(good.index.astype(float))[::-1]
    if fault == "ids":
        return X.set_axis(IDS), good.set_axis(IDS).iloc[ORDER]
    if fault == "strangers":
        return X.set_axis(IDS), good.set_axis([f"q{i}" for i in range(N)])
    if fault == "numbers":
        return X, good.iloc[ORDER]
    if fault == "masked":
        good = good.to_records(index=False) if frame else good.to_numpy()
        mask = np.zeros(N, good.dtype if frame else bool)
        mask[3] = (True, False) if frame else True
        return X, np.ma.array(good, mask=mask.astype([(n, bool) for n in good.dtype.names]) if frame else mask)
    if fault == "NaT":
        days[3] = pd.NaT
    elif name == "groups":  # labels of groups may be dates
        return None
    clock = days + pd.Timestamp("2020-01-01") if fault == "dates" else days
    if frame:
        return (X, good.assign(time=clock)) if fault != "durations" else None
    return X, clock if fault == "dates" else clock.to_numpy()


EVERY = [(call, name, fault) for call in CALLS for name in CALLS[call][1].split() for fault in FAULTS]
CASES = [case for case in EVERY if wrong(*case) is not None]


@pytest.mark.parametrize(("call", "name", "fault"), CASES, ids=map(" ".join, CASES))
def test_every_argument_of_every_method_is_matched_with_X(call, name, fault):
    here, bad = wrong(call, name, fault)
    given = {"y": right(call, "y").to_numpy()} if "y" in CALLS[call][1] and name != "y" else {}
    if call.startswith("survival") and given:
        given["y"] = survival_targets(TIMES["event"], TIMES["time"])
    kind, says = FAULTS[fault]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind, match=says):
            CALLS[call][0](here, **given, **{name: bad})


@pytest.mark.parametrize("call", ["classifier.fit", "survival.score", "survival function", "survival.fit"])
@pytest.mark.parametrize("fault", ["ids", "numbers", "masked", "dates"])
def test_columns_of_a_dict_of_covariates_are_matched_one_by_one(call, fault):
    (here, column), (kind, says) = wrong(call, "covariates", fault), FAULTS[fault]
    y = survival_targets(TIMES["event"], TIMES["time"]) if "score" in call or "survival.fit" in call else GOOD["y"]
    y = {} if "function" in call else {"y": np.asarray(y)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind, match=rf"covariates\['age'\].*{says}|{says}.*covariates\['age'\]"):
            CALLS[call][0](here, **y, covariates={"dose": GOOD["covariates"].set_axis(here.index), "age": column})


def test_arguments_are_matched_with_each_other_where_X_has_no_ids():
    y, turned = GOOD["y"].set_axis(IDS), GOOD["sample_weight"].set_axis(IDS)[::-1]
    with pytest.raises(ValueError, match=r"sample_weight has the index of y in another order: give .*\.loc\[y.index\]"):
        SOME.fit(X.to_numpy(), y, turned)
    event, time = TIMES["event"].set_axis(IDS), TIMES["time"].set_axis(IDS)
    with pytest.raises(ValueError, match="time has the index of event in another order"):
        survival_targets(event, time.sort_values())
    with pytest.warns(UserWarning, match="event and time are numbered alike"):
        survival_targets(TIMES["event"], TIMES["time"].sort_values())
    with pytest.raises(ValueError, match="strata has ids that event does not have"):
        survival_targets(event, time, pd.Series(np.arange(N) % 2, index=np.char.add("q", IDS)))


def test_numbers_that_are_ids_are_matched_too():
    """Numbers that do not count from 0 were given by the user; a file read as texts has the same numbers as texts."""
    y = GOOD["y"].set_axis(np.arange(N) + 1000)
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        SOME.fit(X.set_axis(y.index), y[::-1])
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        SOME.fit(X.set_axis(y.index.astype(str)), y[::-1])
    for index in (y.index, y.index.astype(float)):
        with pytest.raises(ValueError, match="y has the index of X in another order"):
            SOME.fit(X.set_axis(index), y.set_axis(y.index.astype(float))[::-1])
    with pytest.warns(UserWarning, match="numbered alike"):
        SOME.fit(X.set_axis(X.index.astype(str)[::-1]), GOOD["y"])
    SOME.fit(X.set_axis(y.index.astype(str)), y)
    SOME.fit(X.set_axis(y.index.astype(str)), y.set_axis(y.index.astype(float)))


@pytest.mark.parametrize("other", [np.arange(N).astype("timedelta64[ns]"), np.arange(N)], ids=["all", "one of two"])
def test_frames_of_durations_are_no_targets(other):
    y = pd.DataFrame({"days": pd.to_timedelta(np.arange(N), "D"), "other": other})
    model = MKLRegressor(K, C=1.0).fit(X.to_numpy(), X.to_numpy())
    for call in (MKLRegressor(K).fit, model.score, lambda *data: relevance(MKLRegressor(K, C=1.0), *data)):
        with pytest.raises(ValueError, match="y holds dates or durations"):
            call(X.to_numpy(), y)


@pytest.mark.parametrize("ids", [IDS, np.arange(N) + 1000, np.arange(N)], ids=["texts", "ids", "numbers"])
def test_tables_of_kernel_matrices_keep_their_labels(ids):
    """The order of a labelled matrix is checked as in a stack, for one view, two views and a table as X."""
    gram, y, table = pd.DataFrame(X.to_numpy() @ X.to_numpy().T, ids, ids), GOOD["y"].set_axis(ids), Precomputed.table
    turned, one, two = gram.iloc[:, ORDER], [("n", Precomputed())], [("n", Precomputed()), ("c", Linear())]
    model = MKLClassifier(one, C=1.0).fit({"n": table(gram)}, y)
    wanted = MKLClassifier(one, C=1.0).fit({"n": table(gram.to_numpy())}, y).decision_function({"n": table(gram)})
    for new in (table(gram), table(gram, new=True), table(gram.to_numpy(), new=True)):
        np.testing.assert_array_equal(model.decision_function({"n": new}), wanted)
    np.testing.assert_array_equal(Precomputed()(table(gram)), gram)
    with pytest.raises(ValueError, match=r"X\['n'\] has the columns of fit in another order"):
        model.score({"n": table(turned, new=True)}, y)
    with pytest.raises(ValueError, match="in the same order"):
        MKLClassifier([Precomputed()], C=1.0).fit(table(gram), y).score(table(turned, new=True), y)
    with pytest.raises(ValueError, match="'n' and 'c' have the same number of rows but different indices"):
        MKLClassifier(two, C=1.0).fit({"n": table(turned.iloc[ORDER]), "c": X.set_axis(ids)}, y.to_numpy())
    with pytest.raises((ValueError, UserWarning), match="in another order|numbered alike"), warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLClassifier(one, C=1.0).fit({"n": table(gram)}, y[::-1])


def test_sources_and_kernels_have_the_same_door(tmp_path):
    np.save(tmp_path / "x.npy", X.to_numpy())
    model, path = MKLClassifier(K, C=1.0), ArrayFile(str(tmp_path / "x.npy"))
    y, lost = GOOD["y"].to_numpy(), np.arange(N) == 3
    masked, days = np.ma.array(np.ones(N), mask=lost), np.arange(N).astype("timedelta64[D]")
    stream = [lambda: model.fit(path, np.ma.array(y, mask=lost)), lambda: model.fit(path, y, masked)]
    stream += [lambda: model.fit(path, y, days), lambda: model.fit(path, y).score(path, np.ma.array(y, mask=lost))]
    kernels = [lambda: RBF(1.0)(MASKED), lambda: RBF(1.0)(X.to_numpy(), MASKED), lambda: RBF(1.0)(DAYS)]
    kernels += [lambda: Precomputed.table(np.ma.masked_equal(np.eye(N), 0))]
    kernels += [lambda: Precomputed.table(np.eye(N).astype("timedelta64[h]"))]
    for call in [*stream, *kernels, lambda: multi_task_stack(np.ones((1, N, N)), masked)]:
        with pytest.raises(ValueError, match="mask of|holds dates or durations"):
            call()


def test_ordinary_work_gives_no_alarm():
    """Numbers that pandas or a split made up say nothing about rows of another table; equal indices are fine."""
    holes = X[X["a"] > -1.0]  # some numbers are missing
    short = GOOD["y"][: len(holes)]
    numbered, patients = GOOD["y"].reset_index(drop=True), X.set_axis(rng.permutation(N) + 1000)
    model = MKLClassifier(K, C=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        twice = pd.concat([X[: N // 2], X[: N // 2]])
        tables = [(X, GOOD["y"]), (holes, short), (X.set_axis(IDS), numbered), (patients, numbered), (twice, numbered)]
        for frame, y in tables:
            cross_val_score(model, frame, y, cv=KFold(3, shuffle=True, random_state=0))
            cross_val_predict(model, frame, y, cv=3)
            A, B, a, b = train_test_split(frame, y, random_state=0, stratify=y)
            GridSearchCV(model, {"C": [0.1, 1]}, cv=2).fit(A, a, sample_weight=np.ones(len(a))).score(B, b)
            model.fit(A, a.reset_index(drop=True)).score(B, b.to_numpy())
            model.fit(A.reset_index(drop=True), a)
        model.fit(X.iloc[10:], GOOD["y"].iloc[:-10], GOOD["sample_weight"].iloc[10:]).score(X.iloc[:10], GOOD["y"][:10])
        shuffled = X.iloc[ORDER]
        model.fit(shuffled, GOOD["y"].iloc[ORDER], covariates=GOOD["covariates"].loc[shuffled.index])
        model.fit(X, GOOD["y"].set_axis(np.arange(N) + 1000))
        model.fit(Views({"x": X.set_axis(IDS)}), GOOD["y"])
        days = pd.Timestamp("2020") + pd.to_timedelta(GOOD["groups"], "D")
        MKLClassifierCV(K, Cs=[1.0], cv=2).fit(X, GOOD["y"], groups=days)


def test_a_split_of_shuffled_targets_is_noticed():
    """Splits number both parts anew, so that neither has the numbers 0 … n − 1 any more."""
    with pytest.warns(UserWarning, match="numbered alike"):
        cross_val_score(MKLClassifier(K, C=1.0), X, GOOD["y"].iloc[ORDER], cv=KFold(3))


@pytest.mark.parametrize("unread", ["entry", "start", "enter", "age", "duration"])
def test_columns_of_the_targets_that_nothing_reads_are_refused(unread):
    frame = TIMES.assign(**{unread: TIMES["time"] / 2})
    record = np.rec.fromarrays([frame[c] for c in frame], names=list(frame))
    for y in (frame, np.asarray(record)):
        for call in (MKLSurvival(K).fit, MKLSurvivalCV(K).fit, RISK.score):
            with pytest.raises(ValueError, match=f"only event, time and strata are read: leave out '{unread}'"):
                call(X, y)
    with pytest.raises(ValueError, match="third column of y .* Times of entry are not read"):
        MKLSurvival(K).fit(X, np.column_stack([TIMES["event"], TIMES["time"], TIMES["time"] / 2]))


def test_durations_are_taken_in_days():
    days = pd.Series(pd.to_timedelta(np.arange(N) + 0.5, "D"))
    for unit in ("s", "ms", "us", "ns"):
        found = survival_targets(TIMES["event"], days.astype(f"timedelta64[{unit}]"))
        np.testing.assert_array_equal(found["time"], np.arange(N) + 0.5)
    with pytest.raises(ValueError, match="time is in months or years, which have no fixed number of days"):
        survival_targets(TIMES["event"], np.arange(N).astype("timedelta64[M]"))
    with pytest.raises(ValueError, match="time holds dates: give the time since the start, time - start"):
        survival_targets(TIMES["event"], days + pd.Timestamp("2020"))


WHEN = X.assign(when=pd.date_range("2023-01-01", periods=N, freq="53h"))
DATED = MKLClassifier(C=1.0).fit(WHEN, np.arange(N) > N // 2)
NO_DATES = {
    "year": 2023, "seconds": WHEN["when"].astype("int64") // 10**9, "days": np.arange(N) + 19000.5, "words": "now",
    "digits": "20230301", "durations": WHEN["when"] - WHEN["when"][0], "mixed": [*WHEN["when"][1:], 3],
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_DATES)
def test_a_column_of_dates_takes_no_numbers(kind):
    with pytest.raises(ValueError, match="X has .* in column 'when', which is no date: give dates, or texts such as"):
        DATED.predict(WHEN.assign(when=NO_DATES[kind]))


@pytest.mark.parametrize("unit", ["ms", "us", "ns", "texts", "objects"])
def test_dates_are_the_same_in_any_form(unit):
    pl = pytest.importorskip("polars")
    forms = {"texts": WHEN["when"].astype(str), "objects": WHEN["when"].astype(object)}
    other = WHEN.assign(when=forms[unit]) if unit in forms else pl.from_pandas(WHEN)
    other = other if unit in forms else other.with_columns(when=other["when"].cast(pl.Datetime(unit)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(DATED.decision_function(other), DATED.decision_function(WHEN))
        if unit != "objects":
            found = MKLClassifier(C=1.0).fit(other, np.arange(N) > N // 2)
            np.testing.assert_allclose(found.decision_function(WHEN), DATED.decision_function(WHEN), atol=1e-6)


def test_moments_are_the_same_in_every_zone():
    here = WHEN.assign(when=WHEN["when"].dt.tz_localize("UTC"))
    there = here.assign(when=here["when"].dt.tz_convert("Asia/Tokyo"))
    model = MKLClassifier(C=1.0).fit(here, np.arange(N) > N // 2)
    np.testing.assert_array_equal(model.decision_function(there), model.decision_function(here))


MASKED = np.ma.array(X.to_numpy(), mask=X.to_numpy() > 1)
DAYS = np.stack([np.arange(N).astype("timedelta64[ns]")] * 2, axis=1)
CLOCKS = {"durations": DAYS, "dates": DAYS + np.datetime64("2020"), "objects": np.empty((N, 2), object)}
CLOCKS["objects"][:] = np.timedelta64(1, "ns")  # float() takes it


@pytest.mark.parametrize("kind", ["masked", *CLOCKS])
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_X_with_masks_or_clocks_is_refused(kind):
    bad = MASKED if kind == "masked" else CLOCKS[kind]
    square = np.ma.array(np.eye(N), mask=np.eye(N) > 0) if kind == "masked" else np.eye(N).astype("timedelta64[D]")
    views, known, y = {"v": bad}, MKLClassifier([("v", Linear())], C=1.0).fit(Views({"v": X}), GOOD["y"]), GOOD["y"]
    calls = [
        lambda: MKLClassifier(K).fit(bad, y), lambda: SEARCH.predict(bad), lambda: SEARCH.combined_kernel(X, bad),
        lambda: relevance(SOME, bad, y), lambda: KernelStack([square]), lambda: KernelStack(square[None]),
        lambda: MKLClassifier("precomputed").fit(square[..., None], y), lambda: MKLClassifier().fit(bad, y),
    ]  # fmt: skip
    if kind != "objects":
        calls += [lambda: known.fit(views, y), lambda: clone(known).fit(Views(views), y)]
        calls = [lambda: known.predict(views), *calls]
    for call in calls:
        with pytest.raises(ValueError, match="mask of" if kind == "masked" else "holds (dates|times)|entries of type"):
            call()
    if kind != "objects":
        with pytest.raises(ValueError):
            known.fit(views, y)
        with pytest.raises(NotFittedError):  # what is left of a fit that failed is no model
            known.predict(X)


def test_polars_has_the_same_door():
    pl = pytest.importorskip("polars")
    days = pl.Series(np.arange(N)).cast(pl.Duration("ms"))
    np.testing.assert_array_equal(survival_targets(TIMES["event"], days)["time"], np.arange(N) / 86_400_000)
    for clock in (days, pl.Series(np.arange(N)).cast(pl.Date), pl.Series(np.arange(N)).cast(pl.Datetime)):
        for call in (lambda c: MKLRegressor(K).fit(X, c), lambda c: MKLRegressor(K).fit(X, values, c)):
            with pytest.raises(ValueError, match="holds dates or durations"):
                call(clock)
        for frame in (pl.DataFrame({"a": clock, "b": clock}), pl.from_pandas(X).with_columns(a=clock)):
            for kernel in (K, [("l", Linear(), ["a", "b"])]):
                model = MKLRegressor(kernel, C=1.0)
                for call in (lambda m, F: m.fit(F, values), lambda m, F: m.fit(pl.from_pandas(X), values).predict(F)):
                    with pytest.raises(ValueError, match="times|numeric"):
                        call(model, frame)


@pytest.mark.parametrize("dtype", [bool, "boolean"])
@pytest.mark.parametrize("form", ["views", "stack", "examples", "columns"])
def test_masks_with_ids_select_the_rows_of_these_ids(form, dtype):
    frame, K = X.set_axis(IDS), X.set_axis(IDS) @ X.set_axis(IDS).T
    stack = KernelStack({"k": K})
    data = {"views": Views({"u": frame}, ids="index"), "examples": stack.examples()}.get(form, stack)
    mask = pd.Series(X["a"].to_numpy() > 0, index=IDS, dtype=dtype)
    part = data[:, mask[::-1]] if form == "columns" else data[mask[::-1]]
    assert list(part.train_ids if form == "columns" else part.ids) == list(IDS[mask.to_numpy(bool)])
    plain = data[mask.to_numpy(bool)]
    assert list(plain.ids) == list(data[mask.reset_index(drop=True)].ids) == list(IDS[mask.to_numpy(bool)])
    with pytest.raises(ValueError, match="the mask has no entry for 'p3': give a mask .* mask.to_numpy"):
        data[mask.rename({"p3": "strange"})]

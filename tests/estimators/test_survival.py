"""Times that may be censored, through the estimators."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from manykernels import MKLSurvival, MKLSurvivalCV, survival_targets
from manykernels.datasets import make_survival
from manykernels.inspect import relevance
from manykernels.kernels import RBF, Linear
from manykernels.losses import Cox

X, Y = make_survival(160, seed=1)
KERNELS = [(source, RBF("scale"), source) for source in X]
CLINICAL = X["clinical"]
EVENT, TIME = Y["event"], Y["time"]


def test_defaults_choose_C_certify_and_find_the_risk():
    model = MKLSurvival(KERNELS).fit(X, Y)
    assert model.duality_gap_ <= 1e-3 and model.C_ in (0.1, 1.0, 10.0) and model.n_events_ == EVENT.sum()
    new, truth = make_survival(300, seed=5)
    assert model.score(new, truth) > 0.58


FORMS = {
    "structured": Y,
    "other names": np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("cens", "?"), ("t", "f8")]),
    "two columns": np.column_stack([EVENT, TIME]),
    "a list": [[float(e), t] for e, t in zip(EVENT, TIME, strict=True)],
    "lifelines": pd.DataFrame({"T": TIME, "E": EVENT.astype(int)}),
    "a frame": pd.DataFrame({"status": EVENT, "time": TIME}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_y_gives_the_same_model(form):
    model = MKLSurvival([Linear()], C=0.1).fit(CLINICAL, FORMS[form])
    known = MKLSurvival([Linear()], C=0.1).fit(CLINICAL, Y)
    np.testing.assert_array_equal(model.predict(CLINICAL), known.predict(CLINICAL))
    assert model.score(CLINICAL, FORMS[form]) == known.score(CLINICAL, Y)


FIT = MKLSurvival([Linear()]).fit
BAD = {
    "negative": (survival_targets, (EVENT, -TIME), "negative value.*at least 0"),
    "missing time": (survival_targets, (EVENT, np.where(TIME > 500, np.nan, TIME)), "time has .* missing values"),
    "infinite": (survival_targets, (EVENT, np.where(TIME > 500, np.inf, TIME)), "infinite.*censoring"),
    "missing event": (survival_targets, (np.where(EVENT, np.nan, 0.0), TIME), "event has .* missing values"),
    "other events": (survival_targets, (EVENT + 1, TIME), "event has the values.*1 for events"),
    "lengths": (survival_targets, (EVENT, TIME[:-1]), "one of each"),
    "words of events": (survival_targets, (["yes", "no"], [1, 2]), "event holds .*'yes'"),
    "words of times": (survival_targets, ([1, 0], ["soon", "2"]), "time holds .*'soon'"),
    "strata in rows": (survival_targets, ([1, 0], [1, 2], [[1], [2]]), "is not a column"),
    "a name of strata": (survival_targets, ([1, 0], [1, 2], "site"), "strata is not a column"),
    "missing strata": (survival_targets, ([1, 0], [1, 2], ["u", None]), "strata has 1 missing"),
    "few strata": (survival_targets, ([1, 0, 1], [1, 2, 3], [1, 2]), r"\[2, 3\] entries"),
    "order": (FIT, (CLINICAL, np.column_stack([TIME, EVENT])), r"y\[:, ::-1\]"),
    "one column": (FIT, (CLINICAL, TIME), "the event and the time of every example"),
    "four columns": (FIT, (CLINICAL, np.zeros((160, 4))), "y has shape"),
    "names alone": (FIT, (CLINICAL, ["event", "time"]), "are names"),
    "an iterator": (FIT, (CLINICAL, iter([1])), "only once"),
    "no names": (FIT, (CLINICAL, pd.DataFrame({"a": EVENT, "b": TIME})), "'event' and 'time'"),
    "two events": (FIT, (CLINICAL, pd.DataFrame({"e": EVENT, "event": EVENT, "time": TIME})), "leave out 'e'"),
    "all censored": (FIT, (CLINICAL, survival_targets(0 * EVENT, TIME)), "no event.*censored"),
    **{
        f"all tied, {ties}": (
            MKLSurvival([Linear()], ties=ties).fit,
            (CLINICAL, survival_targets(EVENT >= 0, np.full(len(TIME), 7.0))),
            "an event of every example at the same time.*give times that differ",
        )
        for ties in ("efron", "breslow")
    },
    "nothing": (FIT, (CLINICAL, None), "survival_targets"),
    "time 0": (
        MKLSurvival([Linear()], loss="log_time").fit,
        (CLINICAL, survival_targets(EVENT, np.where(TIME > 500, 0.0, TIME))),
        "time is 0 for .*loss='cox'",
    ),
    "loss": (MKLSurvival([Linear()], loss="hinge").fit, (CLINICAL, Y), "survival targets.*'log_time'.*'cox'"),
    "ties": (MKLSurvival([Linear()], loss="log_time", ties="efron").fit, (CLINICAL, Y), "no effect.*loss='cox'"),
    "solver": (MKLSurvival([Linear()], C=1.0, solver="coordinate").fit, (CLINICAL, Y), "sum over examples"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_a_sentence_with_the_cure(case):
    call, given, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call(*given)


def test_predictions_of_several_strata_need_the_stratum():
    place = np.where(np.arange(160) % 2, "north", "south")
    model = MKLSurvival([Linear()], C=0.1).fit(CLINICAL, Y, strata=place)
    with pytest.raises(ValueError, match="2 strata.*give strata"):
        model.predict_survival_function(CLINICAL)
    with pytest.raises(ValueError, match="loss='cox'"):
        MKLSurvival([Linear()], loss="log_time").fit(CLINICAL, Y, strata=place)


def test_a_weight_of_two_is_an_example_twice():
    weight = 1.0 + (np.arange(160) % 3 == 0)
    rows = np.repeat(np.arange(160), weight.astype(int))
    one = MKLSurvival([Linear()], C=0.1, ties="breslow", normalize=None, tol=1e-9).fit(CLINICAL, Y, weight)
    other = MKLSurvival([Linear()], C=0.1, loss=Cox("breslow"), normalize=None, tol=1e-9).fit(CLINICAL[rows], Y[rows])
    np.testing.assert_allclose(one.predict(CLINICAL), other.predict(CLINICAL), atol=1e-5)
    np.testing.assert_allclose(one.baseline_hazard_, other.baseline_hazard_, rtol=1e-5)


def test_searches_paths_and_relevance_take_times():
    search = MKLSurvivalCV(KERNELS, Cs=[0.1, 1.0], regularizer=[1, 2], cv=3).fit(X, Y)
    assert search.C_ in (0.1, 1.0) and search.best_estimator_.score(X, Y) == search.score(X, Y)
    assert (
        np.isfinite(search.cv_results_["mean_test_score"]).all() and search.cv_results_["max_duality_gap"].max() < 2e-2
    )
    path = MKLSurvival(KERNELS).path(X, Y, Cs=[0.01, 0.1])
    assert path.score.shape == (1, 2) and (path.duality_gap <= 1e-3).all()
    found = relevance(MKLSurvival(KERNELS, C=0.1), X, FORMS["lifelines"], cv=3)
    assert found.scoring == "concordance" and {row["name"] for row in found.table()[:3]} == set(X)


def test_the_last_place_of_a_search_by_left_out_decisions_is_a_model():
    search = MKLSurvivalCV(KERNELS, Cs=[0.1, 1.0], regularizer=[2], cv="loo").fit(X, Y)
    assert 0.5 < search.best_score_ < search.score(X, Y)


def test_a_category_without_events_is_named_with_the_cure():
    genes, kind = {"genes": X["genes"]}, np.where(np.arange(160) % 8, np.where(np.arange(160) % 2, "a", "b"), "rare")
    model = MKLSurvival([("genes", Linear(), "genes")], C=0.1)
    for level, other in (("rare", "a"), ("a", "rare")):  # "a" is the level that the others are compared with
        y = survival_targets(EVENT & (kind != level), TIME)
        with pytest.warns(
            UserWarning, match=f"none of the .* examples with kind={level} has an event.*Merge the level"
        ):
            model.fit(genes, y, covariates={"kind": kind})
        merged = np.where(kind == level, other, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(genes, y, covariates={"kind": merged})
            model.fit(genes, y, strata=kind)
            clone(model).set_params(loss="ranking").fit(genes, y, covariates={"kind": kind})
    with pytest.warns(UserWarning, match="examples with sex=1 has an event"):
        model.fit(genes, survival_targets(EVENT & (kind != "a"), TIME), covariates={"sex": (kind == "a") * 1})


def test_the_ranking_loss_orders_the_risks_and_has_no_hazard():
    place = np.where(np.arange(160) % 2, "north", "south")
    for strata in (None, place):
        model = MKLSurvival(KERNELS, C=1.0, loss="ranking").fit(X, Y, strata=strata)
        score = model.score(X, survival_targets(Y["event"], Y["time"], strata))
        assert model.duality_gap_ <= 1e-3 and model.n_events_ == EVENT.sum() and score > 0.6
        for name in ("predict_survival_function", "predict_cumulative_hazard_function"):
            with pytest.raises(ValueError, match="loss='ranking' orders the examples.*no hazard: take loss='cox'"):
                getattr(model, name)(X)
    search = MKLSurvivalCV(KERNELS, Cs=[0.1, 1.0], regularizer=[2], cv=3, loss="ranking").fit(X, Y)
    assert 0.5 < search.best_score_ < search.score(X, Y)
    again = model.set_params(loss="cox", C=0.1).fit(X, Y)
    assert len(again.baseline_hazard_) == 1
    assert not hasattr(again.set_params(loss="ranking").fit(X, Y), "baseline_hazard_")

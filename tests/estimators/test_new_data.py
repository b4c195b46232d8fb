"""Predictions say what no training example had: categories, missing values."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, Views, load
from manykernels.inspect import relevance
from manykernels.kernels import RBF, Categorical, Features, Linear, On
from manykernels.pairs import Pairs, Pairwise
from manykernels.regularizers import EmpiricalBayes
from manykernels.streaming import ArrayFile
from manykernels.strings import Spectrum

rng = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame({"age": rng.normal(50, 9, N), "site": rng.choice(["a", "b", "c"], N), "dose": rng.normal(size=N)})
FRAME["gapped"] = np.where(np.arange(N) % 7 == 0, np.nan, rng.normal(size=N))
Y = (FRAME.age + 9 * (FRAME.site == "a") > 52).to_numpy().astype(int)
FRAME.index = [f"P{i}" for i in range(N)]
NAMED = [("age", RBF(gamma=0.01), ["age"], "zero"), ("site", Categorical(), ["site"])]


def changed(column, rows, value, frame=FRAME):
    frame = frame.copy()
    frame.loc[frame.index[rows], column] = value
    return frame


def said(function, *args, **options):
    """The warnings of new data of one call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args, **options)
    return [str(w.message) for w in caught if "no training example had" in str(w.message)]


def fitted(kernels, X, y=Y, **options):
    """A classifier at one C."""
    return MKLClassifier(kernels, **{"C": 1.0} | options).fit(X, y)


@pytest.mark.parametrize("kernels", ["auto", NAMED], ids=["auto", "named"])
def test_categories_and_gaps_are_named_with_column_count_and_examples(kernels):
    """22 % and 10 % of predictions changed, and nothing was said."""
    model = fitted(kernels, FRAME)
    assert said(model.predict, FRAME) == []
    (text,) = said(model.predict, changed("site", [3, 4, 8], "Mars"))
    assert "column 'site' has new categories, 'Mars' for example, in 3 of 60 examples (P3, P4, P8)" in text
    (text,) = said(model.decision_function, changed("age", range(9), np.nan))
    assert "column 'age' is missing in 9 of 60 examples (P0, P1, P2, P3, P4, …)" in text
    both = changed("age", [1], np.nan, changed("site", [2], "Mars"))
    (text,) = said(model.decision_parts, both)
    assert "column 'age'" in text and "column 'site'" in text and text.count("column") == 2
    (text,) = said(model.predict, changed("site", [2, 5], None))
    assert "column 'site' is missing in 2 of 60 examples (P2, P5)" in text


def test_columns_with_gaps_in_training_and_columns_without_weight_are_not_named():
    model = MKLClassifier().fit(FRAME, Y)
    assert said(model.predict, changed("gapped", [1, 2], np.nan)) == []
    model = fitted(NAMED, FRAME)
    assert said(model.predict, changed("dose", [1, 2], np.nan)) == []


DAYS = [f"2024-0{k % 9 + 1}-{k % 28 + 1:02}" for k in rng.permutation(N)]
MARKED = FRAME.assign(day=DAYS).astype(object)


@pytest.mark.parametrize("mark", ["NA", "?", "<null>", "-"])
@pytest.mark.parametrize("kernels", [
    "auto", NAMED, [("age", StandardScaler(), RBF(gamma=0.01), ["age"], "zero")],
    [("both", On(["age"], RBF(gamma=0.01), missing="zero") * On(["dose"], RBF(gamma=0.1)))],
], ids=["auto", "named", "scaled", "product"])  # fmt: skip
def test_texts_that_stand_for_missing_numbers_are_gaps_unless_training_had_such(kernels, mark):
    model, marked = fitted(kernels, MARKED), changed("age", [3, 4], mark, MARKED)
    assert said(model.predict, MARKED) == []
    assert "column 'age' is missing in 2 of 60 examples (P3, P4)" in " ".join(said(model.predict, marked))
    assert said(fitted(kernels, marked).predict, marked) == []


def test_marks_are_missing_dates_but_categories_of_their_own():
    model = MKLClassifier(C=1.0).fit(MARKED, Y)
    (text,) = said(model.predict, changed("day", [5], "?", changed("site", [3], "NA", MARKED)))
    assert "column 'day' is missing in 1 of 60 examples (P5)" in text
    assert "column 'site' has new categories, 'NA' for example" in text and "'site' is missing" not in text
    views = Views({"clinic": MARKED[["age", "day"]], "dose": MARKED[["dose"]]})
    model, clinic = MKLClassifier(C=1.0).fit(views, Y), changed("age", [7], "-", MARKED)[["age", "day"]]
    new = Views({"clinic": clinic, "dose": MARKED[["dose"]]})
    (text,) = said(model.predict, new)
    assert "column 'age' of the view 'clinic' is missing in 1 of 60 examples (P7)" in text


def test_the_warning_points_to_the_call():
    model = fitted(NAMED, FRAME)
    with pytest.warns(UserWarning, match="no training example had") as caught:
        model.score(changed("site", [3], "Mars"), Y)
    assert caught[0].filename == __file__ and len(caught) == 1


@pytest.mark.parametrize("steps", [
    OneHotEncoder(handle_unknown="ignore"),
    make_pipeline(OneHotEncoder(handle_unknown="ignore"), StandardScaler(with_mean=False)),
    make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["site"]), (SimpleImputer(), ["age"])),
], ids=["encoder", "pipeline", "columns"])  # fmt: skip
def test_encoders_before_kernels_are_looked_at(steps):
    columns = ["age", "site"] if hasattr(steps, "transformers") else ["site"]
    model = fitted([("site", steps, Linear(), columns)], FRAME)
    assert said(model.predict, FRAME) == []
    (text,) = said(model.predict, changed("site", [3], "Mars"))
    assert "column 'site' has new categories, 'Mars' for example, in 1 of 60 examples (P3)" in text


def test_products_across_columns_are_looked_at():
    kernels = [On("age", RBF(gamma=0.01), missing="zero") * On("site", Categorical())]
    model = fitted(kernels, FRAME)
    (text,) = said(model.predict, changed("age", [1], np.nan, changed("site", [2], "Mars")))
    assert "column 'age' is missing in 1 of 60 examples (P1)" in text and "'Mars'" in text


def test_arrays_and_views_have_positions_and_names():
    X = FRAME[["age", "dose"]].to_numpy()
    kernels = [("one", RBF(gamma=0.01), [0], "zero"), ("other", Linear(), [1])]
    model, gap = MKLRegressor(kernels).fit(X, X[:, 0]), X.copy()
    gap[[4, 6], 0] = np.nan
    assert "column 0 is missing in 2 of 60 examples (4, 6)" in said(model.predict, gap)[0]
    kernels = [("rna", Linear(), "rna"), ("notes", Categorical(), "notes", "zero")]
    notes = FRAME.site.tolist()
    whole = Views({"rna": X, "notes": notes}, ids={"rna": np.arange(N), "notes": np.arange(N)})
    part = Views({"rna": X, "notes": notes[:-2]}, ids={"rna": np.arange(N) + 100, "notes": np.arange(N - 2) + 100})
    model = fitted(kernels, whole)
    assert said(model.predict, whole) == []
    assert "the view 'notes' is missing in 2 of 60 examples (158, 159)" in said(model.predict, part)[0]
    assert said(fitted(kernels, part).predict, part) == []


def test_one_warning_for_all_blocks_and_all_parts_of_a_call(tmp_path):
    X = FRAME[["age", "dose"]].to_numpy()
    kernels, gap = [("one", RBF(gamma=0.01), [0], "zero"), ("other", Linear(), [1])], X.copy()
    gap[[4, 31, 59], 0] = np.nan
    np.save(tmp_path / "X.npy", gap)
    model = MKLOneClass(kernels).fit(X)
    (text,) = said(model.predict, ArrayFile(tmp_path / "X.npy", rows=20))
    assert "column 0 is missing in 3 of 60 examples (4, 31, 59)" in text
    bayes = fitted(NAMED, FRAME, regularizer=EmpiricalBayes(0.1), loss="squared", C="auto")
    assert len(said(bayes.predict_proba, changed("site", [3], "Mars"))) == 1
    wide = MKLRegressor([(str(j), Linear(), [j], "zero") for j in range(7)], C=1.0)
    wide.fit(rng.normal(size=(20, 7)), np.arange(20.0))
    (text,) = said(wide.predict, np.full((1, 7), np.nan))
    assert text.endswith("column 4 is missing in 1 of 1 examples (0); 2 more such columns.")


def test_searches_and_relevance_do_not_speak_of_their_folds():
    """A category of one example is new to the fold that holds it out: that is no news to anybody."""
    frame, options = changed("site", [5], "rare"), dict(Cs=[0.1, 1], regularizer=[2], cv=3)
    search = MKLClassifierCV(NAMED, **options)
    assert said(search.fit, frame, Y) == []
    assert said(search.predict, frame) == []
    assert len(said(search.predict, changed("site", [5], "Mars"))) == 1
    assert said(relevance, MKLClassifier(NAMED), frame, Y, cv=2) == []


def test_a_search_knows_the_gaps_of_all_examples():
    """Folds share kernels that are the same: the model that is kept knows what all examples lack."""
    X = FRAME[["age", "dose"]].to_numpy(copy=True)
    X[0, 0] = np.nan
    kernels = [("one", RBF(gamma=0.01), [0], "zero"), ("other", Linear(), [1])]
    search = MKLClassifierCV(kernels, Cs=[0.1, 1], regularizer=[2], cv=3).fit(X, Y)
    assert said(search.predict, X) == []


def test_reordered_columns_name_the_cure():
    """The error stays, and says X[model.feature_names_in_]."""
    model = fitted(NAMED, FRAME)
    with pytest.raises(ValueError, match=r"(?s)same order.*X\[model.feature_names_in_\]"):
        model.predict(FRAME[FRAME.columns[::-1]])
    model.predict(FRAME[FRAME.columns[::-1]][model.feature_names_in_])
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*X\[model.feature_names_in_\]"):
        model.predict(FRAME.assign(more=1.0))


def test_models_on_explicit_features_know_too(tmp_path):
    X = FRAME[["age", "dose"]].to_numpy()
    kernels = [("one", Linear(), [0], "zero"), ("other", Linear(), [1], "zero")]
    model, gap = fitted(kernels, X, solver="coordinate"), X.copy()
    gap[7, 1] = np.nan
    model.save(tmp_path / "model.mk")
    for one in (model, load(tmp_path / "model.mk")):
        assert said(one.predict, X) == [] and "column 1 is missing in 1 of 60 examples (7)" in said(one.predict, gap)[0]


def test_kernels_with_weight_in_some_classes_only_are_looked_at():
    """One class depends on the site alone, the others on age alone."""
    labels = np.where(FRAME.site == "a", "site", np.where(FRAME.age > 50, "old", "young"))
    model = fitted(NAMED, FRAME, labels, regularizer=1)
    some = (model.kernel_weights_ != 0).any(axis=0) & (model.kernel_weights_ == 0).any(axis=0)
    assert some.any()
    for name, column, value in (("age", "age", np.nan), ("site", "site", "Mars")):
        if some[model.kernel_names_.index(name)]:
            assert f"column {column!r}" in said(model.predict, changed(column, [3], value))[0]


def test_new_gaps_and_categories_of_the_objects_of_pairs_are_told():
    """The sides of pairs were not compared with what training pairs had."""
    rng = np.random.default_rng(0)
    drugs = pd.DataFrame({"size": rng.normal(size=8), "kind": list("xy") * 4})
    targets = rng.normal(size=(5, 2))
    pairs = Pairs.grid(drugs, targets)
    sides = [("size", RBF(1.0), ["size"], "zero"), ("kind", Categorical(), ["kind"], "zero")], [("t", RBF(1.0))]
    model = fitted(Pairwise(*sides), pairs, pairs.index.sum(axis=1) % 2, C=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(pairs)
    new = drugs.copy()
    new.loc[3, "size"], new.loc[[5, 6], "kind"] = np.nan, "z"
    strange = Pairs.grid(new, targets)
    with pytest.warns(UserWarning, match="no training example had") as told:
        model.predict(strange)
    (said,) = [str(one.message) for one in told]
    assert "left: column 'size' is missing in 5 of 40 examples (15, 16, 17, 18, 19)" in said
    assert "left: column 'kind' has new categories, 'z' for example, in 10 of 40 examples" in said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(strange[:15])  # pairs of objects that have nothing new


@pytest.mark.parametrize("blank", ["", "  ", b"", None])
@pytest.mark.parametrize("form", ["auto", "column", "view", "Views"])
def test_empty_sequences_are_missing_sequences(form, blank):
    """The kernels of the sequences are 0 for all of them; where training had one, it is no news."""
    X = ["".join(letters) for letters in np.random.default_rng(1).choice(list("ACGT"), (N, 30))]

    def data(sequences):
        if form in ("auto", "column"):
            return FRAME[["age"]].assign(seq=pd.Series(sequences, index=FRAME.index, dtype=object))
        return {"seq": sequences} if form == "view" else Views({"seq": sequences})

    where = ("seq",) if form == "column" else "seq"
    kernels = "auto" if form == "auto" else [("words", Spectrum(3), list(where) if form == "column" else where, "zero")]
    model = fitted(kernels, data(X))
    new = data([*X[:4], blank, *X[5:]])
    (text,) = said(model.decision_function, new)
    assert "'seq' is missing in 1 of 60 examples" in text
    np.testing.assert_array_equal(model.decision_function(new), model.decision_function(data([*X[:4], None, *X[5:]])))
    assert said(model.predict, data(X)) == []
    for known in ("", None):
        assert said(fitted(kernels, data([known, *X[1:]])).predict, new) == []


TIMES = pd.Series(pd.date_range("2024-01-01", periods=N, freq="7h", tz="Asia/Tokyo"), index=FRAME.index)
CLOCK = TIMES.dt.tz_localize(None)
MIXED = TIMES.astype(object).where(np.arange(N) % 2 == 0, CLOCK.astype(object))


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("form", ["times", "texts"])
def test_times_with_and_without_a_zone_are_told_apart(form, alone, tmp_path):
    def data(times):
        days = pd.DataFrame({"day": times.astype(str) if form == "texts" else times})
        return days if alone else FRAME[["age"]].assign(**days)

    for fitted, other in ((TIMES, CLOCK), (CLOCK, TIMES)):
        model = MKLClassifier(C=1.0).fit(data(fitted), Y)
        model.save(tmp_path / "model.mk")
        for one in (model, load(tmp_path / "model.mk")):
            assert one.predict(data(fitted)).tolist() == model.predict(data(fitted)).tolist()
            for new in (other, MIXED):
                with pytest.raises(ValueError, match="times of a zone .* in column 'day', .*give all of one kind"):
                    one.predict(data(new))
        model.predict(data(fitted.where(fitted.index != "P0")))  # a missing time has no zone
    with pytest.raises(ValueError, match="in column 'day'" if not alone or form == "times" else "day"):
        MKLClassifier(C=1.0).fit(data(MIXED), Y)


TEXTS = np.array(["a b", "b c", "c a", "a a"] * 5, object)
EMPTY = {  # models of twenty texts in some form, of which none is new
    "categories": (MKLRegressor(C=1.0), pd.DataFrame({"site": TEXTS})),
    "explicit features": (MKLRegressor([Categorical()], solver="coordinate"), TEXTS[:, None]),
    **{f"texts, {form.__name__}": (MKLRegressor([Features(CountVectorizer(analyzer="char"))]), form(TEXTS))
       for form in (list, pd.Series, np.array)},
}  # fmt: skip


@pytest.mark.parametrize("model, data", EMPTY.values(), ids=EMPTY)
def test_no_new_example_has_no_decision(model, data):
    model.fit(data, np.arange(20.0))
    assert model.predict(data[:0]).shape == (0,) and model.decision_parts(data[:0]).shape[0] == 0

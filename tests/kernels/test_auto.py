"""kernels="auto": a few kernels a view, categories, texts and gaps of frames, and what was chosen said."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import cross_val_score

import manykernels
from manykernels import MKLClassifier, MKLClassifierCV, Views
from manykernels.kernels import Categorical, Gower, KernelList, auto_kernels

pl = pytest.importorskip("polars")

N = 60
rng = np.random.default_rng(0)
y = np.tile([0, 1], N // 2)
NUMBERS = rng.normal(size=(N, 3)) * [1, 100, 1e4] + 0.5 * y[:, None] * [1, 100, 1e4]
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b", "c"]).assign(
    sex=np.where(rng.random(N) < 0.2, 1 - y, y).astype(str),
    note=[f"patient {i} was {'ill' if label else 'well'}" for i, label in enumerate(y)],
    seen=pd.Timestamp("2020-01-01"),
    same=1,
    code=[f"id{i}" for i in range(N)],
)
GAPS = FRAME.copy()
GAPS.loc[::7, "b"] = np.nan
GAPS.loc[::9, "sex"] = None
ALL_COLUMNS = [f"all columns, {kind} {g}" for kind in ("RBF", "Laplacian") for g in ("0.3", "1", "3")]


@pytest.mark.parametrize("make", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_a_mixed_table_with_gaps_is_learned_from_and_it_is_said_how(make):
    model = MKLClassifier(C=1.0).fit(make(GAPS), y)
    assert model.score(make(GAPS), y) > 0.8
    for part in ("11 kernels", "RBF and Laplacian of 3 widths each on all 4 columns, standardised",
                 "gaps filled in by means", "an RBF on each of 3 columns of numbers",
                 "Categorical on 'sex' (single columns: prior 0.2)", "tf-idf of the words in 'note'",
                 "left out 'seen', 'same' (one value only)",
                 "left out 'code' (60 different texts, one a row as ids are)"):  # fmt: skip
        assert part in model.kernels_chosen_
    assert model.kernel_names_ == [*ALL_COLUMNS, "a", "b", "c", "sex", "note"]
    assert cross_val_score(MKLClassifier(C=1.0), make(GAPS), y, cv=3, error_score="raise").mean() > 0.7


def test_where_a_column_is_missing_its_own_kernels_are_0_and_the_others_are_not():
    model = MKLClassifier(regularizer=np.inf).fit(GAPS, y)
    parts, specs = model.decision_parts(GAPS), auto_kernels(GAPS)
    alone = np.array([spec.columns == ["b"] for spec in specs])
    assert alone.sum() == 1 and (parts[::7][:, alone] == 0).all() and parts[1][alone].any()
    assert parts[::7][:, :6].all()  # all columns together, missing numbers at their means


def test_gaps_may_come_with_new_examples():
    whole, lacks = FRAME[["a", "b", "sex"]], GAPS[["a", "b", "sex"]]
    for X, new in ((whole, lacks), (whole[["a", "b"]], lacks[["a", "b"]]),
                   (Views({"x": whole, "y": NUMBERS}), Views({"x": lacks, "y": NUMBERS}))):  # fmt: skip
        model = MKLClassifier(C=1.0).fit(X, y)
        assert np.mean(model.predict(new) == model.predict(X)) > 0.8
        cross_val_score(model, new, y, cv=10, error_score="raise")


def test_numbers_of_different_scales_count_alike():
    found = [KernelList.from_spec("auto", X) for X in (FRAME, FRAME.assign(a=FRAME["a"] * 1e6))]
    assert found[0].kernels[1].gamma == pytest.approx(1 / (2 * 4))  # the squared distance of 4 standardised columns
    one, other = (kernels.kernels[1](kernels.views(X)[0].X) for kernels, X in zip(found, (FRAME, FRAME.assign(
        a=FRAME["a"] * 1e6)), strict=True))  # fmt: skip
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_several_views_have_a_few_kernels_each():
    wide = rng.normal(size=(N, 500))
    X = Views({"rna": wide, "counts": sp.csr_array(np.abs(wide[:, :50])), "clinic": GAPS[["a", "b", "sex"]],
               "notes": FRAME["note"].tolist()})  # fmt: skip
    model = MKLClassifier(C=1.0).fit(X, y)
    assert len(model.kernel_names_) == 6 + 4 + (6 + 1) + 1
    said = model.kernels_chosen_
    for part in ("'rna': RBF and Laplacian of 3 widths each on 500 columns of numbers, standardised",
                 "'counts': RBF of 3 widths and linear on 50 columns of numbers, as they are",
                 "'clinic': RBF and Laplacian of 3 widths each on 2 columns of numbers, standardised, gaps filled in "
                 "by means; Categorical on 'sex'", "'notes': tf-idf of the words"):  # fmt: skip
        assert part in said
    assert cross_val_score(model, X, y, cv=2, error_score="raise").shape == (2,)
    lacking = Views({"rna": wide, "b": NUMBERS[:40]}, ids={"rna": range(N), "b": range(40)})
    found = MKLClassifier(C=1.0).fit(lacking, y)
    assert "'b': RBF and Laplacian of 3 widths each on 3 columns of numbers, standardised, 0 for examples that" in (
        found.kernels_chosen_
    )
    assert (found.decision_parts(lacking)[40:, 6:] == 0).all()
    first = MKLClassifier(C=1.0).fit(lacking[:40], y[:40])  # who have both, and the others have not
    assert (first.decision_parts(lacking)[40:, 6:] == 0).all()


def test_what_it_cannot_choose_for_is_named():
    sites = ["".join(rng.choice(list("ACGT"), 9)) + "?" for _ in range(N)]
    with pytest.raises(ValueError, match="nothing to learn from in X .*'site' .60 different texts.*Spectrum"):
        MKLClassifier().fit(Views({"site": sites}), y)
    with pytest.raises(ValueError, match="nothing to learn from in X .0 kernels: left out 'seen' .one value"):
        MKLClassifier().fit(FRAME[["seen"]], y)
    with pytest.raises(ValueError, match="infinity in column 'b'"):
        MKLClassifier().fit(FRAME.assign(b=FRAME["b"].where(FRAME.index != 3, np.inf)), y)


def test_what_was_chosen_is_shown_kept_and_forgotten(tmp_path, capsys):
    model = MKLClassifier(verbose=True).fit(GAPS, y)
    assert model.kernels_chosen_ in capsys.readouterr().err
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    assert again.kernels_chosen_ == model.kernels_chosen_
    np.testing.assert_array_equal(again.decision_function(GAPS), model.decision_function(GAPS))
    searched = MKLClassifierCV(Cs=[1.0], regularizer=2, cv=2).fit(GAPS, y)
    assert searched.kernels_chosen_ == model.kernels_chosen_
    other = model.set_params(kernels=[manykernels.kernels.RBF()]).fit(NUMBERS / NUMBERS.std(axis=0), y)
    assert not hasattr(other, "kernels_chosen_")


def test_counts_with_few_entries_other_than_0_are_taken_as_they_are():
    """A word that occurs once would have the greatest distances if it were standardised."""
    words = (np.random.default_rng(5).random((N, 200)) < 0.05).astype(float)
    found = {}
    for name, x in (("dense", words), ("sparse", sp.csr_array(words))):
        model = MKLClassifier().fit(Views({"words": x, "numbers": NUMBERS}), y)
        assert "columns of numbers, as they are" in model.kernels_chosen_.partition("'numbers'")[0]
        found[name] = model.decision_function(Views({"words": x, "numbers": NUMBERS}))
    np.testing.assert_allclose(found["dense"], found["sparse"], atol=1e-4)
    gaps = np.where(np.random.default_rng(6).random(words.shape) < 0.01, np.nan, words)
    assert "standardised, gaps" in MKLClassifier().fit(Views({"words": gaps, "numbers": NUMBERS}), y).kernels_chosen_


def test_a_text_of_no_letters_is_missing_among_categories_as_in_files():
    found = [GAPS.assign(sex=GAPS["sex"].where(GAPS["sex"].notna(), blank)) for blank in (None, "", "  ")]
    models = [MKLClassifier(C=1.0).fit(X, y) for X in found]
    for model, X in zip(models, found, strict=True):
        np.testing.assert_allclose(model.decision_function(X), models[0].decision_function(found[0]), atol=1e-8)
    with pytest.warns(UserWarning, match="column 'sex' is missing in 1 of 60"):
        MKLClassifier(C=1.0).fit(FRAME, y).predict(FRAME.assign(sex=["", *FRAME["sex"][1:]]))


@pytest.mark.parametrize("columns", [["a", "b"], ["a", "b", "sex"]])
def test_infinity_in_new_data_is_named_by_its_column(columns):
    model, new = MKLClassifier(C=1.0).fit(FRAME[columns], y), FRAME[columns].copy()
    new.loc[3, "b"] = np.inf
    with pytest.raises(ValueError, match=r"infinity.* in column 'b' \(in row 3\)"):
        model.predict(new)


@pytest.mark.parametrize("kernel", [Categorical(), Gower()], ids=lambda kernel: type(kernel).__name__)
def test_dates_among_categories_are_named_by_their_column(kernel):
    name = type(kernel).__name__
    with pytest.raises(ValueError, match=rf"^X\['seen'\], which {name} reads, holds dates"):
        MKLClassifier([("k", kernel, ["sex", "seen"])], C=1.0).fit(FRAME, y)

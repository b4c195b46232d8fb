"""kernels="auto" on sequences: an estimator without any choice learns from them (issues 13 and 14)."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels.auto import is_sequences
from manykernels.sequences import Sequences
from manykernels.strings import GappedKmer, sequence_kernels

RNG = np.random.default_rng(0)
N = 80
Y = np.arange(N) % 2
DNA = ["".join(row) for row in RNG.choice(list("ACGT"), size=(N, 50))]
DNA = [x[:20] + "GATTACA" + x[27:] if label else x for x, label in zip(DNA, Y, strict=True)]
PROTEINS = ["".join(row) for row in RNG.choice(list("ACDEFGHIKLMNPQRSTVWY"), size=(N, 30))]


@pytest.mark.parametrize("form", [list, np.array, Sequences.encode], ids=["list", "array", "Sequences"])
def test_a_model_without_choices_learns_from_sequences(form):
    model = MKLClassifier().fit(form(DNA), Y)
    assert model.kernels_chosen_.startswith("15 kernels of dna sequences: 1 letter at a place, ")
    assert model.score(form(DNA), Y) == 1.0
    assert cross_val_score(MKLClassifier(), form(DNA), Y, cv=4).mean() > 0.9


def test_sequences_beside_numbers():
    X = {"site": DNA, "x": RNG.normal(size=(N, 2))}
    model = MKLClassifier().fit(X, Y)
    assert {name.split(",")[0] for name in model.kernel_names_[:15]} == {"site"}
    assert len(model.kernel_names_) == 21 and model.score(X, Y) == 1.0


def test_kernels_follow_the_alphabet_and_the_lengths():
    names = [name for name, _ in sequence_kernels([x[: 40 + i % 3] for i, x in enumerate(DNA)])]
    assert not any("at a place" in name for name in names) and "6 of 10 letters anywhere, both strands" in names
    proteins = ["".join(row) for row in RNG.choice(list("ACDEFGHIKLMNPQRSTVWY"), size=(20, 30))]
    kernels = sequence_kernels(proteins)
    assert {kernel.alphabet for _, kernel in kernels} == {"protein"} and len(kernels) == 5
    assert all(kernel.alphabet == "rna" for _, kernel in sequence_kernels([x.replace("T", "U") for x in DNA]))
    assert MKLRegressor().fit(proteins, np.arange(20.0)).predict(proteins[:2]).shape == (2,)


@pytest.mark.parametrize(
    "X",
    [
        ["INCREASED", "DECREASED"] * 9,
        ["KARLSRUHE", "OSNABRUECK", "LUEBECK", "FLENSBURG"],
        ["red", "green", "blue"],
        ["a note on dogs", "another on cats"],
        ["id1", "id2"],
        [1.0, 2.0],
        ["", "", "ACGTACGTACGT"],
    ],
    ids=str,
)
def test_other_texts_are_no_sequences(X):
    assert not is_sequences(X)


@pytest.mark.parametrize("form", [list, Sequences.encode, lambda X: pd.DataFrame({"site": X, "x": np.arange(N)})])
def test_letters_for_several_bases_in_new_sequences_alone_match_nothing(form):
    """A model of plain letters refused them, so that a fold of `cross_val_score` failed."""
    model = MKLClassifier(C=1.0).fit(form(DNA), Y)
    frame = isinstance(form(DNA), pd.DataFrame)
    new, masked = (
        [x[:5] + letter + x[6:] for x, letter in zip(DNA, letters, strict=True)]
        for letters in (("RyKX-.*nB" * 9)[:N], "N" * N)
    )
    new, masked = (form(X) if frame else X for X in (new, masked))
    np.testing.assert_array_equal(model.decision_function(new), model.decision_function(masked))
    wrong = [*DNA[:-1], "Z" + DNA[-1][1:]]
    with pytest.raises(ValueError, match="'Z' at position 0"):
        model.predict(form(wrong) if frame else wrong)


@pytest.mark.parametrize("proteins", [["GATCAGATCAGE"], ["ACGTACGTXE", "GAGAGAGAXQ"], ["GAGANNNQNNEN"] * 9])
def test_proteins_of_few_letters_stay_proteins(proteins):
    assert {kernel.alphabet for _, kernel in sequence_kernels(proteins)} == {"protein"}


@pytest.mark.parametrize(
    "messy", [str.encode, str.lower, "{}\n".format, " {}\r\n".format], ids=["bytes", "case", "n", "rn"]
)
@pytest.mark.filterwarnings("ignore:all .* letters are bases, and proteins are compared")
def test_bytes_small_letters_and_ends_of_lines_are_read(messy):
    plain, model = MKLClassifier(C=1.0).fit(PROTEINS, Y), MKLClassifier(C=1.0).fit([messy(x) for x in PROTEINS], Y)
    assert model.kernels_chosen_ == plain.kernels_chosen_
    new = [x[:30] for x in DNA]
    np.testing.assert_array_equal(model.decision_function([messy(x) for x in new]), plain.decision_function(new))


@pytest.mark.parametrize("form", ["frame", "array", "rows"])
def test_a_column_of_sequences_in_a_table_has_their_kernels(form):
    """It was left out as ids in frames, and an error in arrays."""
    x = RNG.normal(size=N)
    frame = pd.DataFrame({"site": DNA, "x": x})
    X = {"frame": frame, "array": frame.to_numpy(object), "rows": [list(row) for row in zip(DNA, x, strict=True)]}[form]
    model = MKLClassifier(C=1.0).fit(X, Y)
    assert model.kernels_chosen_.startswith(
        "16 kernels: an RBF on one column of numbers; 15 on words of the dna sequences"
    )
    assert model.score(X, Y) == 1.0


def test_gaps_and_strange_entries_in_a_column_of_sequences():
    frame = pd.DataFrame({"site": [None, " ", *DNA[2:]], "x": RNG.normal(size=N)}).astype(object)
    found = MKLClassifier(C=1.0).fit(frame, Y).decision_parts(frame)
    assert (found[:2, 1:16] == 0).all() and found[2:, 1:16].any()
    frame.loc[4, "site"] = 3
    with pytest.raises(ValueError, match=r"X\[4\] is 3, not a sequence"):
        MKLClassifier(C=1.0).fit(frame, Y)


def test_arrays_of_texts_are_tables_like_frames():
    colour, note = np.array(["red", "green"])[Y], [f"seen on {i}: {'fever and ' * (i % 2)}cough" for i in range(N)]
    frame = pd.DataFrame({"colour": colour, "note": note, "x": RNG.normal(size=N)})
    one, other = MKLClassifier(C=1.0).fit(frame, Y), MKLClassifier(C=1.0).fit(frame.to_numpy(object), Y)
    assert [type(k) for k in one.predictor_.kernel_list.kernels] == [
        type(k) for k in other.predictor_.kernel_list.kernels
    ]
    np.testing.assert_allclose(other.decision_function(frame.to_numpy(object)), one.decision_function(frame), atol=1e-9)


def test_a_table_of_letters_has_the_length_of_its_rows(recwarn):
    """Each of its letters was taken for a sequence too short to hold a word."""
    MKLClassifier([GappedKmer(6, 4)], C=1.0).fit(np.array([list(x) for x in DNA]), Y)
    assert not [warning for warning in recwarn if "shortest" in str(warning.message)]


def test_one_short_sequence_does_not_shorten_all_words():
    """A sequence of three letters left kernels of words of three letters alone."""
    names = [name for name, _ in sequence_kernels(["ACG", *DNA])]
    assert "6 letters anywhere" in names and "6 of 10 letters anywhere, both strands" in names
    with pytest.warns(UserWarning, match="reads words of .* letters, and the shortest training sequence has 3"):
        assert MKLClassifier(C=1.0).fit(["ACG", *DNA], [0, *Y]).score(DNA, Y) > 0.9


def test_many_proteins_among_bases_stay_proteins():
    mixed = [*DNA[:17], *PROTEINS[:3]]
    assert {kernel.alphabet for _, kernel in sequence_kernels(mixed)} == {"protein"}


def spoiled(letter, example=3, at=5):
    x = DNA[example]
    return [*DNA[:example], x[:at] + letter + x[at + 1 :], *DNA[example + 1 :]]


READ = {  # sequences, and what they are taken for
    "one X": (spoiled("X"), "15 kernels of dna sequences"),
    "one R": (spoiled("R"), "15 kernels of dna sequences"),
    "many masked": ([f"XXXXXXNNRN{x[10:]}" for x in DNA], "15 kernels of dna sequences"),
    "rare letters": (["U" + PROTEINS[0][1:-1] + "*", *PROTEINS[1:]], "5 kernels of protein sequences"),
}


@pytest.mark.parametrize("case", READ)
def test_masked_and_rare_letters_change_no_alphabet(case):
    X, chosen = READ[case]
    assert MKLClassifier(C=1.0).fit(X, Y).kernels_chosen_.startswith(chosen)


def column(X):
    return pd.DataFrame({"site": [None, *X[1:]], "x": np.arange(N)})


RNA, BLOCK = [x.replace("T", "U") for x in DNA], "MKVLAEDFGHIKLMNPQRSTVWYAEDFGHI" * 20
NO_BASE = r"X\[3\] \('.{{20}}\.\.\.'\) has '{}' at position 5, .*{}: .*'protein'"
AMONG = r"X\[7\] \('MKVLAED.*'\) has 'L' at position 3, .*all of X is {}: "
NAMED = {  # what is no sequence, or of another alphabet than most, and what is said of it
    **{f"entry {entry!r}": ([entry, *DNA[1:]], r"X\[0\] is .*sequence") for entry in ("", None, np.nan, 3, "  ")},
    **{f"letter {one}": (spoiled(one), NO_BASE.format(re.escape(one), "DNA")) for one in ("Z", "e", "?", "é")},
    "letter in a column": (column(spoiled("Z")), NO_BASE.format("Z", "DNA")),
    "letter of RNA": ([x.replace("T", "U") for x in spoiled("Z")], NO_BASE.format("Z", "RNA")),
    "DNA among RNA": ([RNA[0], *DNA[1:]], "DNA and RNA are mixed: write T for every U"),
    "one text": ("ACGT" * 20, r"X is one text \('ACGTACGTACGTACGTACGT', \.\.\.\): give a list"),
    "a protein": ([*DNA[:7], BLOCK, *DNA[8:]], AMONG.format("DNA")),
    "a protein in a column": (column([*DNA[:7], BLOCK, *DNA[8:]]), AMONG.format("DNA")),
    "a protein among RNA": ([*RNA[:7], BLOCK, *RNA[8:]], AMONG.format("RNA")),
    "a letter in each": ([x[:10] + "E" + x[11:30] for x in DNA], r"X\[0\] .* has 'E' at position 10, which is no base"),
}


@pytest.mark.parametrize("case", NAMED)
def test_what_is_no_sequence_or_of_another_alphabet_is_named(case):
    X, said = NAMED[case]
    with pytest.raises(ValueError, match=said):
        MKLClassifier(C=1.0).fit(X, Y)

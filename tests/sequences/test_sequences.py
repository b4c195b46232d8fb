"""Packed sequences hold what was put in, slice without copying, and say what is wrong with bad input."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels.sequences.alphabet import get
from manykernels.sequences.packing import StrangeLetters
from manykernels.strings import BYTES, DNA, PROTEIN, RNA, Alphabet, Sequences

SMALL = Alphabet("xyz", "xyz")
HEX = Alphabet("hex", "0123456789abcde", unknown="-")
BITS = {"dna": 2, "rna": 2, "protein": 8, "bytes": 8, "xyz": 2, "hex": 4}
ALPHABETS = [DNA, RNA, PROTEIN, BYTES, SMALL, HEX]
named = {"argvalues": ALPHABETS, "ids": lambda a: a.name}


def texts(alphabet, n=50, seed=0, low=1, high=40, letters=None):
    rng, letters = np.random.default_rng(seed), list(letters or alphabet.letters.replace("\0", ""))
    return ["".join(rng.choice(letters, rng.integers(low, high + 1))) for _ in range(n)]


@pytest.mark.parametrize("alphabet", **named)
def test_every_alphabet_gives_back_what_was_encoded(alphabet):
    X = texts(alphabet)
    S = Sequences.encode(X, alphabet)
    assert list(S) == X and [S[i] for i in range(len(S))] == X
    assert S.bits == BITS[alphabet.name] and S.shape == (50,) and len(S) == 50
    assert S.lengths.tolist() == [len(x) for x in X]
    assert Sequences.encode(list(S), alphabet) == S


@pytest.mark.parametrize("size", [3, 4, 5, 14, 15, 16, 17])
def test_letters_and_unknown_ones_come_back_from_alphabets_of_any_size(size):
    alphabet = Alphabet("any", "abcdefghijklmnopqrs"[:size], unknown="?")
    X = texts(alphabet, letters=alphabet.letters[:size] + "?")
    assert list(Sequences.encode(X, alphabet)) == X and any("?" in x for x in X)


@pytest.mark.parametrize("alphabet", **named)
@pytest.mark.parametrize(
    "kind",
    {
        "tuple": tuple,
        "iterator": iter,
        "bytes": lambda X: [x.encode("latin-1") for x in X],
        "bytearray": lambda X: [bytearray(x, "latin-1") for x in X],
        "mixed": lambda X: [x if i % 2 else x.encode("latin-1") for i, x in enumerate(X)],
        "U array": np.array,
        "S array": lambda X: np.array([x.encode("latin-1") for x in X]),
        "object array": lambda X: np.array(X, dtype=object),
        "object column": lambda X: np.array(X, dtype=object)[:, None],
        "strided array": lambda X: np.repeat(np.array(X), 2)[::2],
        "Series": lambda X: pd.Series(X, index=np.arange(len(X))[::-1]),
        "string Series": lambda X: pd.Series(X, dtype="string"),
        "DataFrame": lambda X: pd.DataFrame({"dna": X}),
        "Sequences": None,
    }.items(),
    ids=lambda k: k[0],
)
def test_every_input_kind_encodes_alike(alphabet, kind):
    X = texts(alphabet)
    expected = Sequences.encode(X, alphabet)
    given = expected if kind[1] is None else kind[1](X)
    assert Sequences.encode(given, alphabet) == expected


@pytest.mark.parametrize("alphabet", [DNA, PROTEIN, HEX], ids=lambda a: a.name)
@pytest.mark.parametrize("order", ["C", "F"])
def test_tables_of_letters_encode_like_strings(alphabet, order):
    X = texts(alphabet, n=9, low=13, high=13)
    table = np.array([list(x) for x in X], order=order)
    for letters in (table, table.astype("S1"), table.astype(object), table.astype("S1").view(np.uint8)):
        assert list(Sequences.encode(letters, alphabet)) == X


def test_more_sequences_than_one_block_keep_their_order():
    X = texts(DNA, n=20_000, high=9)
    assert list(Sequences.encode(X)) == X
    with pytest.raises(ValueError, match=r"X\[19000\] has '!' at position 1"):
        Sequences.encode([*X[:19_000], "A!"])


def test_packing_is_as_documented():
    S = Sequences.encode(["ACGTT", "GA"])
    assert S.data.tolist() == [0 | 1 << 2 | 2 << 4 | 3 << 6, 3, 2] and S.starts.tolist() == [0, 2]
    wide = Sequences.encode(["ACN"])
    assert wide.bits == 4 and wide.data.tolist() == [0 | 1 << 4, 4]


def test_unpack_gives_the_codes_of_one_sequence():
    from manykernels.loops.sequences import unpack

    for alphabet in ALPHABETS:
        X = texts(alphabet)
        S, out = Sequences.encode(X, alphabet), np.empty(40, dtype=np.uint8)
        for i in (0, 7, 49):
            unpack(S.data, S.starts[i], S.lengths[i], S.bits, out)
            assert out[: S.lengths[i]].tolist() == [alphabet.letters.index(c) for c in X[i]]


@pytest.mark.parametrize("alphabet", [DNA, RNA, PROTEIN], ids=lambda a: a.name)
def test_biological_alphabets_ignore_case_and_others_do_not(alphabet):
    X = texts(alphabet)
    assert Sequences.encode([x.lower() for x in X], alphabet) == Sequences.encode(X, alphabet)
    with pytest.raises(ValueError, match="'X'"):
        Sequences.encode(["xyX"], SMALL)


def test_a_late_unknown_letter_widens_everything_before_it():
    X = texts(DNA, n=10_000, high=15)
    S = Sequences.encode([*X, "ACNN"])
    assert S.bits == 4 and list(S) == [*X, "ACNN"]
    assert S[:10_000] == Sequences.encode(X) and Sequences.encode(X) == S[:10_000]
    assert S[-1:].codes().tolist() == [[0, 1, 4, 4]]


def test_n_is_always_allowed_and_other_codes_only_when_ignored():
    assert list(Sequences.encode(["ANn"])) == ["ANN"]
    with pytest.raises(ValueError, match=r"X\[1\] has 'R' at position 2.*'dna'.*unknown='ignore'"):
        Sequences.encode(["ACGT", "ACRT"])
    assert list(Sequences.encode(["ACGT", "AC-R中"], unknown="ignore")) == ["ACGT", "ACNNN"]


@pytest.mark.parametrize(
    ("alphabet", "X", "wanted"),
    [
        ("dna", ["ACRTu", "a-yx", "V.*"], ["ACNTT", "ANNN", "NNN"]),
        ("rna", ["hUt"], ["NUU"]),
        ("protein", ["muBz-"], ["MXXXX"]),
    ],
)
def test_ambiguous_letters_match_nothing_and_others_are_errors(alphabet, X, wanted):
    assert list(Sequences.encode(X, alphabet, "ambiguous")) == wanted
    for wrong in ("?", "é", "中", {"dna": "E", "rna": "e", "protein": "1"}[alphabet]):
        with pytest.raises(ValueError, match=rf"X\[3\] has '{re.escape(wrong)}' at position 1"):
            Sequences.encode([*(X * 3)[:3], "A" + wrong], alphabet, "ambiguous")


def test_u_of_rna_is_t_of_dna():
    """RNA was a row of unknown letters to a model of DNA."""
    for policy in ("error", "ambiguous", "ignore", "A"):
        assert list(Sequences.encode(["ACGU", "uut"], "dna", policy)) == ["ACGT", "TTT"]
        assert list(Sequences.encode(["ACGT", "uut"], "rna", policy)) == ["ACGU", "UUU"]
    there = Sequences.encode(["ACGUN"], "rna")
    assert list(Sequences.encode(there, "dna")) == ["ACGTN"] and Sequences.encode(there, "dna").alphabet.name == "dna"


@pytest.mark.parametrize("policy", ["ignore", "A"])
def test_letters_outside_the_alphabet_are_counted_where_sequences_are_checked(policy):
    """5 % are the limit; R, X and gaps do not count, and one's own alphabet may leave out what it likes."""
    few, many = ["ACGTN-XRy" + "A" * 30, "e"], ["ACGTN-XRy" + "A" * 9, "e"]
    with pytest.warns(StrangeLetters, match=r"1 of 40.*'e' at .* 0 of X\[1\]"):
        X = Sequences.encode(few, "dna", policy, checked=True)
    assert X == Sequences.encode(few, "dna", policy)
    with pytest.raises(ValueError, match=r"1 of 19 .*alphabet 'dna' .*the first 'e' at position 0 of X\[1\]"):
        Sequences.encode(many, "dna", policy, checked=True)
    Sequences.encode(many, SMALL, "ignore", checked=True)


@pytest.mark.parametrize(("text", "warns"), [("ACGTUN" * 20, True), ("ACGTUN" * 19 + "L", False), ("ACGT", False)])
def test_bases_for_proteins_are_warned_of(text, warns):
    with pytest.warns(StrangeLetters, match="all 120 letters are bases") if warns else warnings.catch_warnings():
        warnings.simplefilter("always" if warns else "error")
        Sequences.encode([text], "protein", "ambiguous", checked=True)


def test_an_alphabet_of_ones_own_has_no_ambiguous_letters():
    mine = Alphabet("dna", "ACGTNR", ignore_case=True)
    assert list(Sequences.encode(["ACrN"], mine, "ambiguous")) == ["ACRN"]
    with pytest.raises(ValueError, match="'Y' at position 0"):
        Sequences.encode(["Y"], mine, "ambiguous")


def test_letters_that_are_read_as_a_are_so_in_strings_and_in_sequences():
    X, wanted = ["ACGN", "rACé", "N–T"], ["ACGA", "AACA", "AAT"]
    assert list(Sequences.encode(X, unknown="A")) == wanted
    there = Sequences.encode(X, unknown="ignore")
    assert list(Sequences.encode(there, unknown="A")) == wanted and "N" in there[0]
    with pytest.raises(ValueError, match="unknown='A'.*no letter A"):
        Sequences.encode(["xyz"], SMALL, unknown="A")


@pytest.mark.parametrize(
    ("text", "alphabet", "other"),
    [("MKV", "dna", "protein"), ("mkx", "rna", "protein"), ("ACGU", "protein", "dna")],
)
def test_the_alphabet_that_fits_is_suggested_first(text, alphabet, other):
    for given in (["ACG", text], np.array([list("ACGA"[: len(text)]), list(text)])):
        with pytest.raises(ValueError, match=rf"X\[1\].*; alphabet='{other}' has all letters.*; unknown='ignore'"):
            Sequences.encode(given, alphabet)


def test_no_alphabet_is_suggested_where_none_fits():
    for text in ("AC!T", "A中", "ACGTACGTACGE"):  # a sequence of bases is no protein
        with pytest.raises(ValueError, match=r"'dna' \(ACGTN\); unknown='ignore'"):
            Sequences.encode([text])


def test_the_policy_that_reads_a_letter_is_suggested_before_the_one_that_reads_all():
    for text, alphabet in (("AC-T", "dna"), ("ACGRACGTAC", "dna"), ("MKVLB", "protein")):
        with pytest.raises(ValueError, match=r"\); unknown='ambiguous' lets .*; unknown='ignore'"):
            Sequences.encode([text], alphabet)


def test_unknown_letters_are_found_in_every_input_kind():
    X, where = ["ACGT", "ACZT"], r"X\[1\] has 'Z' at position 2"
    table = np.array([list(x) for x in X])
    for given in (X, [x.encode() for x in X], np.array(X), pd.Series(X), table, table.astype("S1")):
        with pytest.raises(ValueError, match=where):
            Sequences.encode(given)
        assert list(Sequences.encode(given, unknown="ignore")) == ["ACGT", "ACNT"]
    with pytest.raises(ValueError, match=r"X\[0\] has '中' at position 1"):
        Sequences.encode(np.array([["A", "中"]]))


def test_an_alphabet_of_all_bytes_cannot_ignore():
    for unknown in ("error", "ignore"):
        with pytest.raises(ValueError, match=r"'中' at position 1.*s\.encode\('utf-8'\)"):
            Sequences.encode(["a中"], "bytes", unknown)
    assert Sequences.encode(["a中".encode()], "bytes").lengths.tolist() == [4]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (["ACGT", ""], r"X\[1\] is an empty sequence"),
        (np.array(["A", "", "C"]), r"X\[1\] is an empty sequence"),
        (["A", None], r"X\[1\] is None, not a sequence"),
        (pd.Series(["A", np.nan]), r"X\[1\] is nan, not a sequence"),
        (pd.Series(["A", None], dtype="string"), r"X\[1\] is <NA>, not a sequence"),
        ([3, "A"], r"X\[0\] is 3, not a sequence"),
        ([["A", "C"]], r"X\[0\] is \['A', 'C'\], not a sequence"),
        ("ACGT", "X is one str"),
        (b"ACGT", "X is one bytes"),
        ([], "no sequences"),
        (np.array([], dtype="U3"), "no sequences"),
        (np.zeros((3, 4)), r"shape \(3, 4\) and dtype float64"),
        (np.zeros(3, dtype=np.uint8), r"shape \(3,\) and dtype uint8"),
        (np.array([["AC", "GT"]]), "2 columns of sequences"),
        (pd.DataFrame({"a": ["AC"], "b": ["G"]}), "2 columns of sequences"),
        (3, "type int"),
    ],
    ids=str,
)
def test_bad_input_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        Sequences.encode(X)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="alphabet='dnaa'.*'protein'"):
        Sequences.encode(["A"], "dnaa")
    with pytest.raises(ValueError, match="unknown='skip'.*'ignore'"):
        Sequences.encode(["A"], unknown="skip")
    with pytest.raises(ValueError, match="encoded with 'dna'"):
        Sequences.encode(Sequences.encode(["A"]), "protein")
    with pytest.raises(ValueError, match="'C' occurs twice"):
        Alphabet("mine", "ACGC")
    with pytest.raises(ValueError, match="'a' occurs twice"):
        Alphabet("mine", "AC", unknown="a", ignore_case=True)
    with pytest.raises(ValueError, match="1 to 256 letters"):
        Alphabet("mine", "")


def test_names_of_alphabets_are_found_and_instances_pass_through():
    assert get("DNA") is DNA and get("protein") is PROTEIN and get(HEX) is HEX
    assert Sequences.encode(Sequences.encode(["ACDW"], "protein")).alphabet is PROTEIN


@pytest.mark.parametrize(
    "rows",
    [
        slice(3, 30, 4),
        slice(None, None, -1),
        [4, 4, 0],
        np.array([7, -1]),
        np.arange(50) % 3 == 0,
        [],
        np.zeros(50, bool),
    ],
    ids=str,
)
def test_slicing_selects_rows_and_shares_the_storage(rows):
    X = texts(DNA)
    S = Sequences.encode(X)
    part, wanted = S[rows], rows if isinstance(rows, slice) else np.array(rows, dtype=bool if len(rows) == 50 else int)
    assert list(part) == np.array(X, dtype=object)[wanted].tolist()
    assert np.shares_memory(part.data, S.data)


def test_numbers_index_single_sequences():
    X = texts(DNA)
    S = Sequences.encode(X)
    assert S[0] == X[0] and S[-1] == X[-1] and S[np.int64(3)] == X[3]
    for bad in (50, -51, (0, 1), np.zeros((2, 2), int)):
        with pytest.raises(IndexError):
            S[bad]


def test_codes_are_a_table_for_equal_lengths_and_padded_when_asked():
    X = texts(HEX, n=30, low=17, high=17)
    S = Sequences.encode(X, HEX)
    expected = np.array([[HEX.letters.index(c) for c in x] for x in X])
    np.testing.assert_array_equal(S.codes(), expected)
    np.testing.assert_array_equal(S.codes([5, 2]), expected[[5, 2]])
    assert S.length == 17 and S.codes([]).shape == (0, 0)
    ragged = Sequences.encode(["ACG", "T", "AC"])
    assert ragged.codes(fill=9).tolist() == [[0, 1, 2], [3, 9, 9], [0, 1, 9]]
    for ask in (lambda: ragged.length, ragged.codes):
        with pytest.raises(ValueError, match="0 has length 3 and sequence 1 has length 1.*equal lengths"):
            ask()


@pytest.mark.parametrize("alphabet", [DNA, HEX, PROTEIN], ids=lambda a: a.name)
@pytest.mark.parametrize("bounds", [(0, 5), (3, 9), (None, 4), (-6, None), (2, -1), (5, 100), (None, None)], ids=str)
def test_windows_cut_like_python_slices(alphabet, bounds):
    X = texts(alphabet, low=10)
    assert list(Sequences.encode(X, alphabet).window(*bounds)) == [x[slice(*bounds)] for x in X]


def test_a_window_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match="leaves nothing of sequence 1, which has length 2"):
        Sequences.encode(["ACGT", "AC"]).window(2, 4)


def test_equality_compares_letters_alphabets_and_lengths():
    S = Sequences.encode(["ACG", "T"])
    assert S == Sequences.encode(["acg", "t"]) and S[::-1] == Sequences.encode(["T", "ACG"])
    for other in (["ACT", "T"], ["AC", "GT"], ["ACG"]):
        assert S != Sequences.encode(other)
    assert Sequences.encode(["AC"], "dna") != Sequences.encode(["AC"], "rna") and S != ["ACG", "T"]


def test_sequences_cannot_be_changed():
    S = Sequences.encode(["ACG"])
    with pytest.raises(AttributeError, match="immutable"):
        S.bits = 8
    for array in (S.data, S.starts, S.lengths):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        hash(S)


def test_pickles_hold_only_their_own_letters():
    S = Sequences.encode(texts(DNA, n=5000, low=100, high=100))
    part = S[[4000, 3, 17]]
    assert pickle.loads(pickle.dumps(S)) == S and pickle.loads(pickle.dumps(part)) == part
    assert len(pickle.dumps(part)) < 2000
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(part)).data[0] = 1


def test_sequences_become_arrays_of_str_and_show_themselves():
    S = Sequences.encode(["ACG", "T"])
    assert np.asarray(S).tolist() == ["ACG", "T"] and np.asarray(S, dtype="U3").dtype == "U3"
    assert repr(S) == "Sequences(2 of lengths 1 to 3, alphabet='dna', bits=2)"
    assert repr(S[:1]) == "Sequences(1 of length 3, alphabet='dna', bits=2)"
    assert S.nbytes == 2 and S[[0, 0]].compact().nbytes == 2


@pytest.mark.parametrize("text", ["nan", "NaN", "None", "<NA>"])
def test_the_text_of_a_missing_value_is_no_sequence(text):
    """Three letters, N, A and N, were read without a word."""
    with pytest.raises(ValueError, match=rf"X\[1\] is '{text}', the text of a missing value"):
        Sequences.encode(["ACGTAC", text], unknown="ignore")
    assert len(Sequences.encode(["ACG", text], unknown="ignore")) == 2  # where all are so short, it may be a word
    assert len(Sequences.encode(["names", text], "bytes")) == 2

"""Motifs in contributions that are made up: no model hides where a motif lies, and plain loops say what is found."""

import re
import sys

import numpy as np
import pytest

from manykernels.inspect import Motif, Motifs, SequenceExplanation, find_motifs, top_words
from manykernels.inspect._seqlets import Letters, SeqletGroup, Seqlets, _matching
from manykernels.inspect.find_motifs import Chance, random_like
from manykernels.sequences import Sequences

rng = np.random.default_rng(4)
LETTERS, OPPOSITE = "ACGT", np.array([3, 2, 1, 0, 4])
STRONG, WEAK = "TGACTCAT", "CCGGAAGT"


@pytest.fixture(autouse=True)
def few_random_letters(monkeypatch):
    monkeypatch.setattr(sys.modules["manykernels.inspect.find_motifs"], "RANDOM_LETTERS", 2**15)


def turned(text):
    return text[::-1].translate(str.maketrans("ACGT", "TGCA"))


def explanation(texts, tracks, kernels=None):
    """Contributions as hypothetical ones of mode 1: the letter that is there has the value, the others have none."""
    L = max(map(len, texts))
    values = np.full((len(texts), L, 4), np.nan)
    for i, (text, track) in enumerate(zip(texts, tracks, strict=True)):
        values[i, : len(text)] = [[v * (a == b) for b in LETTERS] for a, v in zip(text, track, strict=True)]
    if kernels is not None:
        values = np.stack([share * values for share in kernels], axis=1)
    X, zero = Sequences.encode(texts, unknown="ignore"), np.zeros(len(texts))
    names = None if kernels is None else [f"k{m}" for m in range(len(kernels))]
    return SequenceExplanation(values, LETTERS, X, zero, zero, "gkmexplain", 1, names)


def planted(words, n=60, length=140, both=True):
    """(texts, tracks, {word: [(row, start, strand)]}): each word with its contribution once in most sequences."""
    texts, tracks, places = [], [], {word: [] for word in words}
    for i in range(n):
        own = length - i % 7
        text, track = list(rng.choice(list(LETTERS), own)), 0.02 * rng.normal(size=own)
        for k, (word, value) in enumerate(words.items()):
            if (i + k) % 5 == 0:
                continue
            at, strand = int(rng.integers(2, 20)) + 30 * k, 1 if not both or rng.random() < 0.7 else -1
            here = slice(at, at + len(word))
            text[here], track[here] = (word if strand > 0 else turned(word)), value
            places[word].append((i, at, strand))
        texts.append("".join(text))
        tracks.append(track)
    return texts, tracks, places


@pytest.mark.parametrize("kernels", [None, (0.75, 0.25)], ids=["one", "by kernel"])
def test_motifs_are_named_by_their_total_contribution_and_found_at_their_places(kernels):
    """The stronger one lowers the decision, and is found last. Half of the places are on the other strand."""
    texts, tracks, places = planted({WEAK: 0.5, STRONG: -1.0})
    found = find_motifs(explanation(texts, tracks, kernels))
    assert [motif.name for motif in found] == ["motif1", "motif2"] and len(found) == 2
    assert (found.n_sequences, found.letters, found.both_strands) == (60, LETTERS, True)
    for motif, word, value in zip(found, (STRONG, WEAK), (-1.0, 0.5), strict=True):
        assert motif.consensus in (word, turned(word))
        same = 1 if motif.consensus == word else -1
        own = sorted(zip(motif.sequence, motif.start, motif.strand * same, strict=True))
        assert own == places[word]
        assert motif.n_sequences == len(motif) == 48 and motif.width == 8
        np.testing.assert_allclose(motif.contribution, 8 * value, rtol=1e-9)
        hot = np.array([[a == b for b in LETTERS] for a in motif.consensus])
        np.testing.assert_allclose(motif.contributions, value * hot, atol=1e-12)
        counts = np.bincount([LETTERS.index(a) for text in texts for a in text], minlength=4) + 1
        background = (counts + counts[::-1]) / (2 * counts.sum())
        np.testing.assert_allclose(found.background, background, rtol=1e-12)
        np.testing.assert_allclose(motif.probabilities, (48 * hot + background) / 49, rtol=1e-12)
        assert motif.e_value < 1e-30
    assert found.n_seqlets >= 96 and found[1] is found.motifs[1] and found[-1].name == "motif2"
    lines = found.summary().splitlines()
    assert lines[0].startswith(f"2 motifs from {found.n_seqlets} seqlets in 60 sequences")
    assert lines[1].startswith(f"motif1  {found[0].consensus}  48 seqlets in 48 sequences, mean contribution -8")


@pytest.mark.parametrize("word", ["TGACTCATC", "TGACTCATCGGAC", "CCGGAAGTTGCAATA"])
def test_a_motif_of_any_width_lies_at_its_places_on_both_strands(word):
    texts, tracks, places = planted({word: 1.0})
    (motif,) = find_motifs(explanation(texts, tracks))
    assert motif.consensus in (word, turned(word))
    same = 1 if motif.consensus == word else -1
    assert sorted(zip(motif.sequence, motif.start, motif.strand * same, strict=True)) == places[word]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("most", [1, -1], ids=["ahead", "turned"])
def test_the_letters_of_a_motif_are_those_of_its_own_hits_on_their_strands(most, sign):
    """The motif is drawn on the strand of most of its hits, and its ends are not alike."""
    texts, tracks, _ = planted({"TTGACTCA" if most > 0 else turned("TTGACTCA"): sign})
    motifs = find_motifs(explanation(texts, tracks))
    for motif in motifs:
        letters, values = [], []
        for i, start, strand in zip(motif.sequence, motif.start, motif.strand, strict=True):
            part = slice(start, start + motif.width)
            letters.append(texts[i][part] if strand > 0 else turned(texts[i][part]))
            values.append(tracks[i][part][::strand])
        hot = np.array([[[a == b for b in LETTERS] for a in word] for word in letters], float)
        background = motifs.background
        np.testing.assert_allclose(motif.probabilities, (hot.sum(axis=0) + background) / (len(hot) + 1), atol=1e-12)
        np.testing.assert_allclose(motif.contributions, (hot * np.array(values)[..., None]).mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(motif.contribution, np.sum(values, axis=1), atol=1e-12)
    assert len(motifs) and np.mean(motifs[0].strand) > 0.2 and len(set(motifs[0].strand)) == 2


def test_one_strand_window_and_numbers_of_seqlets_and_motifs():
    texts, tracks, places = planted({WEAK: 0.5, STRONG: 1.0}, both=False)
    given = explanation(texts, tracks)
    one = find_motifs(given, both_strands=False)
    assert [motif.consensus for motif in one] == [STRONG, WEAK] and not one.both_strands
    assert all((motif.strand == 1).all() for motif in one)
    counts = np.bincount([LETTERS.index(a) for text in texts for a in text], minlength=4) + 1
    np.testing.assert_allclose(one.background, counts / counts.sum(), rtol=1e-12)
    assert [len(motif) for motif in one] == [len(places[STRONG]), len(places[WEAK])]
    assert len(find_motifs(given, max_motifs=1)) == 1 and len(find_motifs(given, min_seqlets=49)) == 0
    assert len(find_motifs(given, min_seqlets=48)) == 2
    assert [motif.width for motif in find_motifs(given, window=5)] == [8, 8]  # a motif may be longer than a window


def test_top_words_are_ordered_by_how_far_and_how_often_they_stand_out():
    """Against a loop over all words; a word with an unknown letter is none, and both strands count as one."""
    texts, tracks, _ = planted({STRONG: 0.7}, n=12, length=30)
    texts[3] = texts[3][:4] + "N" + texts[3][5:]
    seen = {}
    for text, track in zip(texts, tracks, strict=True):
        for p in range(len(text) - 2):
            word = text[p : p + 3]
            if "N" not in word:
                seen.setdefault(min(word, turned(word)), []).append(sum(track[p : p + 3]))
    mean = np.mean(np.concatenate(list(seen.values())))
    expected = sorted(seen, key=lambda word: -np.sqrt(len(seen[word])) * abs(np.mean(seen[word]) - mean))
    found = top_words(explanation(texts, tracks), 3, 7)
    assert [word for word, _, _ in found] == expected[:7]
    assert [count for _, count, _ in found] == [len(seen[word]) for word in expected[:7]]
    np.testing.assert_allclose([own for _, _, own in found], [np.mean(seen[word]) for word in expected[:7]])
    assert top_words(explanation(texts, tracks, (0.5, 0.25, 0.25)), 3, 7)[2] == pytest.approx(found[2])


def test_random_sequences_have_the_pairs_of_neighbours_of_their_row():
    """The docstring as loops; the letter G never occurs, and unknown letters stay where they are."""
    codes = np.array([list(map("ACGTN".index, row)) for row in
                      ("ACACACACACCA", "TTTTTATTTTTT", "ATNNTACATTAC", "ACATTACANNNN")])  # fmt: skip
    counts = np.zeros((4, 4, 4))
    for row, own in zip(codes, counts, strict=True):
        for a, b in zip(row[:-1], row[1:], strict=True):
            if a < 4 and b < 4:
                own[a, b] += 1
    total = counts.sum(axis=0) + 1
    counts = counts + 4 * total / total.sum(axis=1, keepdims=True)
    draws, expected = np.random.default_rng(7), np.full_like(codes, 4)
    for p in range(12):
        u = draws.random(4)
        for i in range(4):
            before = 4 if p == 0 else expected[i, p - 1]
            chances = counts[i].sum(axis=0) if before == 4 else counts[i, before]
            if codes[i, p] < 4:
                expected[i, p] = np.flatnonzero(u[i] < np.cumsum(chances) / chances.sum())[0]
    np.testing.assert_array_equal(random_like(codes, 4, np.random.default_rng(7)), expected)


def test_the_chance_of_a_motif_counts_sequences_with_a_hit():
    from scipy.stats import binom

    codes = rng.integers(0, 4, size=(40, 30))
    word = np.array([3, 2, 0, 1, 3, 1])
    codes[:9, 5:11] = word
    background, P = np.full(4, 0.25), np.full((6, 4), 0.02)
    P[np.arange(6), word] = 0.94
    chance = Chance(codes, background, None)
    assert (chance.drawn < 4).all() and chance.drawn.shape[1] == 30 and chance.drawn.size >= 2**14
    table, members = np.log2(P / background), np.eye(4)[np.tile(word, (9, 1))]

    def hits(rows):
        scores = sum(table[j][rows[:, j : 25 + j]] for j in range(6)).max(axis=1)
        return int((scores >= table.max(axis=1).sum() - 1e-9).sum())

    share = (hits(chance.drawn) + 1) / (len(chance.drawn) + 1)
    expected = binom.sf(hits(codes) - 1, 40, share) * 2 ** (P * table).sum()
    assert hits(codes) >= 9 and chance.e_value(P, members) == pytest.approx(expected, rel=1e-6)
    again, other = Chance(codes, background, None), Chance(codes, background, None, seed=1)
    assert (again.drawn == chance.drawn).all() and (other.drawn != chance.drawn).any()


def lettered(texts, tracks, w=4, both=True):
    codes = np.array([[("ACGT" + "N").index(a) for a in text] for text in texts], np.uint8)
    return Letters(codes, np.array(tracks), 4, OPPOSITE if both else None, w)


def test_seqlets_that_lack_a_letter_or_match_little_leave_their_group():
    texts = ["".join(rng.choice(list(LETTERS), 9)) + "GATTACAG" + "".join(rng.choice(list(LETTERS), 9))
             for _ in range(24)]  # fmt: skip
    texts[5] = texts[5][:9] + "CCGGTTCC" + texts[5][17:]  # another word
    texts[7] = texts[7][:12] + "N" + texts[7][13:]  # an unknown letter
    tracks = np.zeros((24, 26))
    tracks[:, 9:17] = 1.0
    letters = lettered(texts, tracks, w=8, both=False)
    seqlets = Seqlets(np.arange(24), np.full(24, 9), np.ones(24))
    group = _matching(letters, SeqletGroup(seqlets, np.zeros(24, int), np.ones(24, int)))
    assert sorted(group.seqlets.row) == sorted(set(range(24)) - {5, 7})
    assert letters.extent(group) == (0, 0) and not letters.copied(group, 0, 0)


@pytest.mark.parametrize(("alike", "copies"), [(16, True), (13, True), (10, False)])
def test_seqlets_with_the_same_letters_beside_them_are_copies(alike, copies):
    """Three quarters of the two windows beside the motif, on one side."""
    beside, texts = "".join(rng.choice(list(LETTERS), 16)), []
    for _ in range(40):
        noise = "".join(rng.choice(list(LETTERS), 60))
        texts.append(noise[:30] + "GATTACAG" + beside[:alike] + noise[30 + 8 + alike :])
    tracks = np.zeros((40, 60))
    tracks[:, 30:38] = 1.0
    letters = lettered(texts, tracks, w=8)
    seqlets = Seqlets(np.arange(40), np.full(40, 30), np.ones(40))
    for strand in (1, -1):
        group = SeqletGroup(seqlets, np.zeros(40, int), np.full(40, strand))
        assert letters.copied(group, 0, 0) == copies


def motif(name, sequence, start, strand, width=4, contribution=None):
    P = np.full((width, 4), 0.1)
    P[np.arange(width), np.arange(width) % 4] = 0.7
    given = np.ones(len(start)) if contribution is None else np.array(contribution)
    return Motif(name, LETTERS, P, P - 0.25, *map(np.array, (sequence, start, strand)), given, 1e-9)


def motifs(*several):
    return Motifs(list(several), LETTERS, np.array([0.3, 0.2, 0.2, 0.3]), 9, 20, True)


def test_hits_are_the_seqlets_of_all_motifs_by_sequence_and_place():
    found = motifs(
        motif("a", [2, 0, 2], [9, 4, 1], [1, -1, 1], 4, [0.5, 0.25, 0.125]), motif("b", [0, 1], [2, 7], [-1, 1], 6)
    )
    rows = list(zip(*found.hits.values(), strict=True))
    assert list(found.hits) == ["sequence", "start", "stop", "strand", "motif", "contribution"]
    assert [(int(i), int(p), int(q), int(s), str(n), float(c)) for i, p, q, s, n, c in rows] == [
        (0, 2, 8, -1, "b", 1.0), (0, 4, 8, -1, "a", 0.25), (1, 7, 13, 1, "b", 1.0), (2, 1, 5, 1, "a", 0.125),
        (2, 9, 13, 1, "a", 0.5)]  # fmt: skip
    table = found.columns
    assert table["seqlets"] == [3, 2] and table["sequences"] == [2, 2] and table["name"] == ["a", "b"]
    assert table["contribution"] == pytest.approx([0.875 / 3, 1.0]) and table["consensus"] == ["ACGT", "ACGTAC"]
    assert repr(found[0]).startswith("Motif('a', ACGT, 3 seqlets in 2 sequences, mean contribution 0.292, E = 1.0e-09")


def test_distances_are_read_on_the_strand_of_the_first_motif_and_count_once_a_sequence():
    """Motif b lies 6 letters ahead of a on the strand of a, and on either side of it on its own."""
    a = motif("a", [0, 1, 2, 3, 3], [10, 20, 30, 10, 40], [1, -1, 1, 1, 1], 4)  # 20 + 4 − 12 − 6 on strand −1
    b = motif("b", [0, 1, 2, 3, 3, 4, 5], [16, 12, 36, 16, 46, 9, 3], [1, 1, -1, -1, 1, 1, 1], 6)
    assert motifs(a, b).spacings() == motifs(b, a).spacings() == [("a", "b", 6, 4, 4)]
    assert motifs(a, motif("c", [7], [1], [1])).spacings() == []
    near = motif("b", [1], [12], [1], 6)
    assert motifs(a, near).spacings() == [("a", "b", 6, 1, 1)]


def test_the_page_and_the_picture_have_the_figures_of_each_motif(tmp_path):
    found = motifs(
        motif("a", [2, 0, 2], [9, 4, 1], [1, 1, 1], 4, [-0.5, -0.25, -0.15]), motif("b", [0, 1], [12, 7], [-1, 1], 6)
    )
    found.to_html(tmp_path / "m.html", "Mine")
    page = (tmp_path / "m.html").read_text()
    assert page.startswith("<!doctype html>") and "<title>Mine</title>" in page and "<h1>Mine</h1>" in page
    rows = [re.findall(r"<td[^>]*>([^<]*)", row) for row in re.findall("<tr>(.*?)</tr>", page, re.S)]
    assert [[row[k] for k in (0, 3, 4, 5, 6)] for row in rows[1:3]] == [
        ["a", "3", "2", "-0.3", "1.0e-09"], ["b", "2", "2", "+1", "1.0e-09"]]  # fmt: skip
    assert ["a", "b", "+8", "1", "1"] in rows and page.count("<svg") == 4
    for (_, right), one in zip(found.plot(), found, strict=True):
        assert right.get_title(loc="right") == f"{len(one)} seqlets in {one.n_sequences} sequences"
        bits = one.information(found.background)
        P = one.probabilities
        expected = P * np.maximum((P * np.log2(P / found.background)).sum(axis=1, keepdims=True), 0)
        np.testing.assert_allclose(bits, expected)

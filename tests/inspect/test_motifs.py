"""Motifs in explanations of sequences: planted ones are found again, and nothing where none was planted."""

import numpy as np
import pytest
from benchmarks.grammar import measure, similarity

from manykernels import MKLClassifier
from manykernels.datasets import make_grammar
from manykernels.datasets.grammar import MOTIFS
from manykernels.inspect import SequenceExplanation, explain_sequences, find_motifs, top_words
from manykernels.sequences import PROTEIN, Sequences
from manykernels.strings import GappedKmer, Spectrum, WeightedDegree

WORDS = dict(reverse_complement=True, unknown="ignore")
rng = np.random.default_rng(0)


def explained(X, y, kernels=None, method="mutagenesis", mode=None):
    kernels = [GappedKmer(7, 5, **WORDS)] if kernels is None else kernels
    model = MKLClassifier(kernels, C=1.0, normalize="spherical", regularizer=2).fit(X, y)
    return explain_sequences(model, [x for x, label in zip(X, y, strict=True) if label > 0], method, mode=mode)


def similarities(found, planted):
    return [max((similarity(table, motif.probabilities) for motif in found), default=0.0) for table in planted]


@pytest.mark.parametrize("method", ["mutagenesis", "gkmexplain"])
@pytest.mark.parametrize("count, gap", [(1, 0), (2, 3), (3, 6)])
def test_planted_motifs_are_found_with_their_support_and_distance(count, gap, method):
    given = make_grammar(240, 100, MOTIFS[:count], gap=gap, random_state=count)
    found = find_motifs(explained(list(given.X), given.y, None, method, None if method == "mutagenesis" else 1))
    assert len(found) == count and min(similarities(found, given.motifs)) > 0.95
    assert found.both_strands and found.n_sequences == 120
    for motif in found:
        assert 60 <= motif.n_sequences <= len(motif) and motif.contribution.mean() > 0 and motif.e_value < 1e-20
        np.testing.assert_allclose(motif.contributions.sum(), motif.contribution.mean())
    distances = {abs(distance): share / both for _, _, distance, share, both in found.spacings()}
    assert set(distances) <= {8 + gap, 2 * (8 + gap)} and all(share > 0.5 for share in distances.values())


@pytest.mark.parametrize("kernel", [GappedKmer(8, 5, **WORDS), Spectrum(6, **WORDS)], ids=["gapped", "words"])
def test_without_a_motif_none_is_found_and_the_result_says_so(kernel):
    given = make_grammar(300, 100, (), random_state=1)
    found = find_motifs(explained(list(given.X), given.y, [kernel]))
    assert len(found) == 0 and found.summary().startswith("no motif: ") and repr(found) == found.summary()
    assert found.spacings() == [] and len(found.hits["start"]) == 0
    with pytest.raises(ValueError, match="no motif to draw"):
        found.plot()


def test_copies_of_one_stretch_are_called_repeats_and_come_last():
    given, element = make_grammar(300, 120, MOTIFS[:1], random_state=2), "".join(rng.choice(list("ACGT"), 80))
    texts = list(given.X)
    for i in range(0, 300, 3):
        at = int(rng.integers(30))
        text = texts[i + (i % 2 == 0 and rng.random() < 0.5)]
        texts[i] = element[at : at + 50] + text[50:]
    found = find_motifs(explained(texts, given.y))
    motifs = [motif for motif in found if motif.name.startswith("motif")]
    assert len(motifs) == 1 and max(similarities(motifs, given.motifs)) > 0.95 and found[0] is motifs[0]
    for other in found.motifs[1:]:
        assert other.name.startswith("repeat")


def test_one_long_motif_is_one_motif():
    given = make_grammar(240, 120, ("TGGCCACCAGGGGGCGCTA",), random_state=1)
    found = find_motifs(explained(list(given.X), given.y))
    assert len(found) == 1 and found[0].width >= 15 and similarities(found, given.motifs)[0] > 0.75


def test_kernels_of_position_mixtures_and_proteins():
    motif, Z = "TGACTCAT", rng.choice(list("ACGT"), (200, 50))
    for z in Z[1::2]:
        z[20:28] = [a if rng.random() < 0.9 else b for a, b in zip(motif, rng.choice(list("ACGT"), 8), strict=True)]
    texts, y = ["".join(z) for z in Z], np.where(np.arange(200) % 2, 1, -1)
    for kernels in ([WeightedDegree(4)], [WeightedDegree(3), Spectrum(4), GappedKmer(6, 4)]):
        found = find_motifs(explained(texts, y, kernels), both_strands=False)
        assert len(found) == 1 and motif in found[0].consensus and (found[0].strand == 1).all()
        assert not found.both_strands
    amino = rng.choice(list(PROTEIN.letters), (160, 60))
    for k, z in enumerate(amino[1::2]):
        z[k % 50 : k % 50 + 6] = list("KKRKWP")
    found = find_motifs(explained(["".join(z) for z in amino], y[:160], [Spectrum(2, alphabet="protein")]))
    assert [one.consensus for one in found] == ["KKRKWP"]


def _small():
    return MKLClassifier([Spectrum(2, unknown="ignore")], C=1.0).fit(["AAAA", "ACAA", "TTTT", "TTGT"], [1, 1, 0, 0])


def test_few_or_short_sequences_have_no_motif():
    for X in (["ACGTA"], ["AAAA"] * 30, ["ACGTTGCAACGT" * 3] * 3):
        assert len(find_motifs(explain_sequences(_small(), X))) == 0
    zero = SequenceExplanation(
        np.zeros((20, 30, 4)), "ACGT", Sequences.encode(["ACGTT" * 6] * 20), np.zeros(20), np.zeros(20), "mutagenesis"
    )
    assert len(find_motifs(zero)) == 0
    assert top_words(explain_sequences(_small(), ["ACN", "NNNN"]), 3) == []


def test_a_planted_grammar_is_recovered_and_variants_that_break_it_rank_first():
    """The quick version of `python -m benchmarks.run grammar`."""
    row = measure(500, seed=1, l=8, k=5)
    assert min(row["similarity"]) >= 0.9 and row["found"] <= 4 and row["distances"] == 3
    assert row["area"] > 0.85 and row["held_out"] > 0.9

"""Generated splice sites: the same for any blocks, with AG in its place, and with the information that was planted."""

import numpy as np
import pytest

from manykernels.datasets import iter_splice, make_splice, splice_information
from manykernels.datasets.splice import BACKGROUND


def test_the_same_seed_gives_the_same_data_and_another_seed_others():
    (A, y), (B, z), (C, other) = make_splice(500), make_splice(500, random_state=0), make_splice(500, random_state=1)
    assert A == B and A != C and (y != other).any()
    np.testing.assert_array_equal(y, z)
    D, E = (make_splice(50, random_state=np.random.default_rng(3))[0] for _ in range(2))
    F, G = (make_splice(50, random_state=np.random.RandomState(3))[0] for _ in range(2))
    assert D == E and F == G and D != F
    assert make_splice(50, random_state=None)[0] != make_splice(50, random_state=None)[0]


@pytest.mark.parametrize("block", [1, 7, 333, 1000, 100_000])
def test_blocks_change_nothing(block):
    S, y = make_splice(1000, 50, 0.2, random_state=4)
    parts = list(iter_splice(1000, 50, 0.2, random_state=4, block=block))
    assert [len(p) for p, _ in parts] == [min(block, 1000 - lo) for lo in range(0, 1000, block)]
    assert [x for p, _ in parts for x in p] == list(S)
    np.testing.assert_array_equal(np.concatenate([t for _, t in parts]), y)


def test_streams_of_neighbouring_examples_and_seeds_differ():
    texts = [x for seed in range(4) for x in make_splice(2000, random_state=seed)[0]]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("n", [2, 3, 10, 100, 1023, 4097])
@pytest.mark.parametrize("positives", [0.0, 0.01, 0.5, 0.97, 1.0])
def test_the_share_of_positives_is_exact(n, positives):
    _, y = make_splice(n, 10, positives, random_state=n)
    few = 0 if positives in (0.0, 1.0) else 1
    assert set(y) <= {-1, 1} and y.dtype == np.int8
    assert (y > 0).sum() == min(max(round(n * positives), few), n - few)


def test_positives_are_spread_evenly():
    _, y = make_splice(100_000, 4, 0.1)
    counts = (y > 0).reshape(20, -1).sum(axis=1)
    assert counts.sum() == 10_000 and abs(counts - 500).max() < 5 * np.sqrt(500)


@pytest.mark.parametrize(("length", "site"), [(141, None), (141, 0), (50, 48), (2, 0), (7, 3)])
def test_ag_is_fixed_in_sites_and_decoys(length, site):
    S, y = make_splice(2000, length, 0.5, site=site)
    codes, at = S.codes(), length * 60 // 141 if site is None else site
    assert S.length == length and (codes[:, at] == 0).all() and (codes[:, at + 1] == 2).all()
    others = np.delete(codes, [at, at + 1], axis=1)
    assert all(len(np.unique(column)) == 4 for column in others.T)


def test_without_signal_sites_follow_the_background_chain():
    codes = make_splice(20_000, 60, 1.0, site=0, strength=0.0, random_state=2)[0].codes().astype(int)
    triples = np.bincount((codes[:, 2:-2] * 16 + codes[:, 3:-1] * 4 + codes[:, 4:]).ravel(), minlength=64).reshape(
        16, 4
    )
    np.testing.assert_allclose(triples / triples.sum(axis=1, keepdims=True), np.array(BACKGROUND) / 1000, atol=0.012)


def test_a_frame_without_stop_codons_follows_most_sites():
    def is_open(text):
        return any(not {text[j : j + 3] for j in range(62 + f, 139, 3)} & {"TAA", "TAG", "TGA"} for f in range(3))

    sites, decoys = (np.mean([is_open(t) for t in make_splice(4000, 141, share)[0]]) for share in (1.0, 0.0))
    assert sites > 0.85 and sites > decoys + 0.25


def test_planted_information_equals_what_is_counted():
    S, y = make_splice(400_000, 141, 0.5, random_state=1)
    codes, bits = S.codes().astype(np.int64), splice_information(141)
    for at in (20, 45, 52, 56, 58, 59, 62, 63, 80, 120):
        triple = codes[:, at - 2] * 16 + codes[:, at - 1] * 4 + codes[:, at]
        p, q = (np.bincount(triple[y == label], minlength=64).reshape(16, 4) for label in (1, -1))
        ratio = np.full((16, 4), np.nan)
        seen = p.sum(axis=1) > 0
        ratio[seen] = (p[seen] / p[seen].sum(1, keepdims=True)) / (q[seen] / q[seen].sum(1, keepdims=True))
        counted = np.sum(p[p > 0] * np.log2(ratio[p > 0])) / p.sum()
        assert abs(counted - bits[at]) < 0.004 + 0.03 * bits[at], (at, counted, bits[at])


def test_information_peaks_at_the_site_and_vanishes_without_signal():
    bits = splice_information(141)
    assert bits.shape == (141,) and (bits >= -1e-12).all() and (bits[60:62] == 0).all()
    assert bits.argmax() == 59 and bits[54:60].min() > 0.2 > bits[:40].max() and bits[62] > 0.1
    assert splice_information(141, strength=0.5)[40:60].sum() < bits[40:60].sum() / 2
    np.testing.assert_allclose(splice_information(50, site=20)[14:20], bits[54:60], rtol=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n=0"),
        ({"n": 2.5}, "n=2.5"),
        ({"n": 10, "positives": 1.5}, "positives=1.5"),
        ({"n": 10, "length": 1}, "length=1"),
        ({"n": 10, "length": 10.5}, "length=10.5"),
        ({"n": 10, "site": 140}, "site=140, length=141"),
        ({"n": 10, "strength": 2}, "strength=2"),
    ],
    ids=str,
)
def test_bad_arguments_are_named_at_once(arguments, message):
    for make in (make_splice, iter_splice):
        with pytest.raises(ValueError, match=message):
            make(**arguments)
    with pytest.raises(ValueError, match="block=0"):
        iter_splice(10, block=0)

"""Generated sequences with motifs at fixed distances."""

import numpy as np
import pytest

from manykernels.datasets import make_grammar
from manykernels.datasets.grammar import MOTIFS


def test_motifs_stand_at_their_places_on_their_strand():
    found = make_grammar(200, 120, gap=4, purity=1.0, present=0.7, random_state=3)
    assert (found.places[found.y < 0] == -1).all() and found.X.length == 120
    held = found.places[found.y > 0] >= 0
    assert 0.6 < held.mean() < 0.8 and 0.4 < (found.strands == 1).mean() < 0.6
    texts = {1: list(found.X), -1: list(found.X.reverse_complement())}
    for i in np.flatnonzero(found.y > 0):
        strand, starts = int(found.strands[i]), found.places[i]
        ahead = starts if strand > 0 else 120 - starts - 8
        assert all(
            texts[strand][i][p : p + 8] == motif for p, s, motif in zip(ahead, starts, MOTIFS, strict=True) if s >= 0
        )
        both = ahead[starts >= 0], np.arange(3)[starts >= 0]
        assert len(set((both[0] - 12 * both[1]).tolist())) <= 1  # 8 letters and a gap of 4


def test_purity_is_the_share_of_the_likeliest_letter():
    found = make_grammar(2000, 20, ("TGACTCAT",), purity=0.8, present=1.0)
    np.testing.assert_allclose(found.motifs[0].sum(axis=1), 1.0)
    rows = np.flatnonzero((found.y > 0) & (found.strands > 0))
    texts = [found.X[int(i)][found.places[i, 0] :][:8] for i in rows]
    same = np.mean([a == b for text in texts for a, b in zip(text, "TGACTCAT", strict=True)])
    assert abs(same - 0.8) < 0.03
    assert make_grammar(6, 20, ()).places.shape == (6, 0)


def test_errors_name_the_cure():
    with pytest.raises(ValueError, match="length=20 is less than the 36 letters"):
        make_grammar(4, 20)
    with pytest.raises(ValueError, match="'TGNA'"):
        make_grammar(4, 20, ("TGNA",))

"""Pictures and files of letters and positions: each mark lies where its number says, on plain axes."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from manykernels import MKLClassifier, inspect
from manykernels.inspect import POIM, Motif, Motifs, SequenceExplanation, plot_logo, plot_poim, plot_positions
from manykernels.sequences import Sequences
from manykernels.strings import degree_kernels

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")
rng = np.random.default_rng(3)


def boxes(ax):
    """[(place, low, high)] of the letters of a picture, in the order in which they are drawn."""
    ends = [patch.get_path().get_extents() for patch in ax.patches]
    return [(round(box.x0 + 0.46), box.y0, box.y1) for box in ends]


def test_a_logo_starts_at_its_first_position_counted_from_the_origin():
    values = rng.normal(size=(6, 4))
    ax = plot_logo(POIM(values, 1, "ACGT"), origin=2, start=3, stop=5)
    assert {place for place, _, _ in boxes(ax)} == {1, 2} and len(boxes(ax)) == 8
    high = max(high for place, _, high in boxes(ax) if place == 1)
    assert high == pytest.approx(np.maximum(values[3], 0).sum())
    every = plot_logo(POIM(values, 1, "ACGT"))
    assert {place for place, _, _ in boxes(every)} == set(range(6))


def test_heat_maps_have_the_words_of_the_largest_effect_of_either_sign():
    values = np.zeros((5, 16))
    values[1, 3], values[2, 9], values[4, 5], values[0, 0] = -3.0, 2.0, -1.0, 0.5
    found = POIM(values, 2, "ACGT")
    ax = plot_poim(found, origin=3, top=3)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["AT", "CC", "GC"]
    np.testing.assert_allclose(ax.images[0].get_array(), values[:, [3, 5, 9]].T)
    assert ax.images[0].get_clim() == (-3.0, 3.0) and list(ax.images[0].get_extent()[:2]) == [-3.5, 1.5]
    first, second = plot_poim([found, POIM(values[:4], 3, "AB")], origin=1).get_lines()
    np.testing.assert_allclose(first.get_xdata(), np.arange(5) + 0.5 - 1)  # the middle of two letters
    np.testing.assert_allclose(second.get_xdata(), np.arange(4) + 1.0 - 1)
    np.testing.assert_allclose(first.get_ydata(), np.abs(values).max(axis=1))


def test_positions_have_a_band_of_quantiles_and_a_second_axis():
    X = ["".join(row) for row in rng.choice(list("ACGT"), (40, 5))]
    y = [int(x[2] == "A") for x in X]
    model = MKLClassifier(degree_kernels(3), C=1.0, regularizer=2).fit(X, y)
    boot = rng.dirichlet(np.ones(3), 30)
    ax = plot_positions(model, boot, information=np.arange(5.0), origin=2)
    step, (other,) = ax.get_lines()[0], [one.get_lines()[0] for one in ax.figure.axes if one is not ax]
    np.testing.assert_allclose(step.get_ydata(), 100 * inspect.position_weights(model).letters)
    low, high = np.quantile([inspect.position_weights(model, one).letters for one in boot], [0.05, 0.95], axis=0)
    corners = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (corners.min(), corners.max()) == pytest.approx((100 * low.min(), 100 * high.max()))
    for line in (step, other):
        np.testing.assert_allclose(line.get_xdata(), np.arange(5) - 2)
    np.testing.assert_allclose(other.get_ydata(), np.arange(5))


def made_up(kernels=None):
    """Two sequences of different lengths with random values by substitution."""
    X = Sequences.encode(["ACGTAC", "TTGA"])
    shape = (2, 6, 4) if kernels is None else (2, len(kernels), 6, 4)
    values = rng.normal(size=shape)
    values[1, ..., 4:, :] = np.nan
    return SequenceExplanation(
        values, "ACGT", X, np.array([0.5, -1.25]), np.zeros(2), "mutagenesis", None, kernels
    )  # fmt: skip


def test_the_picture_of_a_sequence_has_its_own_letters_and_places():
    found = made_up()
    ax = found.plot(1, start=1, stop=3)
    heights = {place: (low, high) for place, low, high in boxes(ax)}
    own = found.contributions[1]
    assert set(heights) == {1, 2}
    for place, (low, high) in heights.items():
        assert (low, high) == pytest.approx((min(own[place], 0), max(own[place], 0)))
    every = found.plot(1, hypothetical=True)
    assert len(boxes(every)) == 16
    top = max(high for place, _, high in boxes(every) if place == 3)
    assert top == pytest.approx(np.maximum(found.hypothetical[1, 3], 0).sum())
    assert {place for place, _, _ in boxes(found.plot(-1))} == {0, 1, 2, 3}
    by = made_up(["k0", "k1"])
    axes = by.plot(0)
    assert [one.get_ylabel() for one in axes] == ["k0", "k1"] and len({one.get_ylim() for one in axes}) == 1
    assert max(high for _, _, high in boxes(axes[1])) == pytest.approx(by.contributions[0, 1].max())


class Track:
    """A file of pyBigWig that only remembers."""

    def __init__(self):
        self.header, self.entries = None, {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def addHeader(self, header):
        self.header = header

    def addEntries(self, chrom, at, values, span):
        self.entries[chrom] = dict(zip(at, values, strict=True))


def test_tracks_turn_with_their_strand_and_overlap_as_means(tmp_path, monkeypatch):
    file = Track()
    monkeypatch.setitem(sys.modules, "pyBigWig", SimpleNamespace(open=lambda path, mode: file))
    found = made_up(["k0", "k1"])
    c = found.summed().contributions
    found.to_bigwig(tmp_path / "a.bw", ["peak::chr2:10-16(+)", "chr2:14-18(-)"], {"chr1": 9, "chr2": 40})
    assert file.header == [("chr2", 40)] and sorted(file.entries["chr2"]) == list(range(10, 18))
    expected = dict(zip(range(10, 14), c[0, :4], strict=True)) | {16: c[1, 1], 17: c[1, 0]}
    expected |= {14: (c[0, 4] + c[1, 3]) / 2, 15: (c[0, 5] + c[1, 2]) / 2}
    assert file.entries["chr2"] == pytest.approx(expected)
    found.to_bigwig(tmp_path / "a.bw", ["chrX:0-6", "chr2:14-18"])
    assert dict(file.header) == {"chrX": 6, "chr2": 18}  # contigs end with their last window
    with pytest.raises(ValueError, match="sizes has 17 for 'chr2'"):
        found.to_bigwig(tmp_path / "a.bw", ["chr2:0-6", "chr2:14-18"], {"chr2": 17})


def test_files_of_motifs_have_the_background_the_seqlets_and_the_probabilities(tmp_path):
    P = rng.dirichlet(np.ones(4), 3)
    one = Motif("m", "ACGT", P, P, np.array([1, 1, 4]), np.arange(3), np.ones(3), np.ones(3), 2.5e-8)
    for both in (False, True):
        Motifs([one], "ACGT", np.array([0.4, 0.1, 0.2, 0.3]), 9, 7, both).to_meme(tmp_path / "m.meme")
        lines = (tmp_path / "m.meme").read_text().splitlines()
        assert ("strands: + -" in lines) == both
    assert (lines[0], lines[2]) == ("MEME version 4", "ALPHABET= ACGT")
    assert "A 0.40000 C 0.10000 G 0.20000 T 0.30000" in lines
    at = lines.index(f"MOTIF m {one.consensus}")
    assert lines[at + 1] == "letter-probability matrix: alength= 4 w= 3 nsites= 3 E= 2.5e-08"
    np.testing.assert_allclose([list(map(float, line.split())) for line in lines[at + 2 : at + 5]], P, atol=1e-6)

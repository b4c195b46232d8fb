"""What `training_set` is asked for reaches its windows and its negatives: seed, unknown letters, tolerance, ends."""

from pathlib import Path

import numpy as np
import pytest

from manykernels.genome import Reference, matched_negatives, read_bed, training_set, windows

pytest.importorskip("pyfaidx")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A genome with stretches of one to three N everywhere, and peaks, of which one is at an end."""
    folder, rng = tmp_path_factory.mktemp("genome"), np.random.default_rng(5)
    contigs = {}
    for name in ("c1", "c2"):
        letters = rng.choice(list("ACGTacgt"), size=12_000)
        for at in np.arange(0, 12_000 - 3, 13):
            letters[at : at + rng.integers(0, 4)] = "N"
        contigs[name] = "".join(letters)
    (folder / "g.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in contigs.items()))
    starts = np.arange(400, 11_000, 700)
    lines = [f"c{1 + k % 2}\t{at}\t{at + 30}\tp{k}\n" for k, at in enumerate(starts)]
    (folder / "p.bed").write_text("".join(lines) + "c1\t0\t8\tat_the_end\n")
    (folder / "more.bed").write_text("c1\t2000\t6000\twide\n")
    return folder / "p.bed", folder / "g.fa", folder / "more.bed"


def unknown(reference, found):
    with Reference(reference) as genome:
        texts = [genome.fetch(*at) for at in zip(found.chrom.tolist(), found.start, found.stop, strict=True)]
    return np.array([np.mean([letter not in "ACGTacgt" for letter in text]) for text in texts])


@pytest.mark.parametrize("max_n", [0.0, 0.1, 0.15, 1.0])
def test_windows_and_negatives_have_at_most_the_share_of_unknown_letters(files, max_n):
    peaks, reference, _ = files
    data = training_set(peaks, reference, 20, max_n=max_n, tolerance=0.2)
    for part in (data.positives, data.negatives.windows):
        share = unknown(reference, part)
        np.testing.assert_allclose(part.unknown, share)
        assert len(part) and (share <= max_n).all()
    wide = windows(peaks, reference, 20, max_n=1.0)
    assert len(data.positives) == (unknown(reference, wide) <= max_n).sum()
    negatives = data.negatives
    assert len(negatives.positive) == len(negatives.windows) == len(negatives)
    gc = np.abs(negatives.windows.gc - data.positives.gc[negatives.positive])
    repeats = np.abs(negatives.windows.repeats - data.positives.repeats[negatives.positive])
    assert max(gc.max(), repeats.max()) <= 0.2 + 1e-9
    if max_n == 1.0:
        assert unknown(reference, negatives.windows).max() > 0.1


def test_a_training_set_is_its_windows_and_their_negatives(files):
    peaks, reference, more = files
    for ends in ("drop", "cut"):
        data = training_set(
            peaks, reference, 20, ratio=2, exclude=more, ends=ends, tolerance=0.1, max_n=0.3, random_state=7
        )
        mine = windows(peaks, reference, 20, ends=ends, max_n=0.3)
        assert ("c1:0-14" in mine.places) == (ends == "cut") and data.positives.places == mine.places
        own = read_bed(peaks)
        same = dict(ratio=2, exclude=[own, more], tolerance=0.1, max_n=0.3)
        found = matched_negatives(mine, reference, **same, random_state=7)
        assert data.negatives.windows.places == found.windows.places
        assert np.array_equal(data.negatives.positive, found.positive)
        assert found.windows.places != matched_negatives(mine, reference, **same, random_state=0).windows.places
        away = found.windows.chrom == "c1"
        assert away.any() and not ((found.windows.start < 6000) & (found.windows.stop > 2000) & away).any()
        expected = found.windows
        assert data.places == mine.places + expected.places and data.groups.tolist() == [
            at.split(":")[0] for at in data.places
        ]
        for name in ("chrom", "start", "stop", "name", "gc", "repeats"):
            both = np.concatenate([getattr(mine, name), getattr(expected, name)])
            np.testing.assert_array_equal(data.columns[name], both)


def test_the_tolerance_is_a_bound_and_what_is_just_it_is_within():
    """All other windows differ from the positive by 11/20 − 10/20 of GC, which rounds to more than 0.05."""
    letters = list("ACGT" * 500)
    letters[1000] = "G"
    Path("g.fa").write_text(f">c\n{''.join(letters)}\n")
    Path("p.bed").write_text("c\t992\t1012\n")
    found = matched_negatives("p.bed", "g.fa", 2, tolerance=0.05)
    assert len(found) == 2 and found.windows.gc.tolist() == [0.5, 0.5]
    for tolerance in (0.049, 0.046):
        with pytest.raises(ValueError, match=f"raise tolerance={tolerance}"):
            matched_negatives("p.bed", "g.fa", 2, tolerance=tolerance)

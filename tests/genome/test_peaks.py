"""BED and narrowPeak files, and windows around the peaks."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from manykernels.genome import Peaks, Reference, read_bed, windows

pytest.importorskip("pyfaidx")

CONTIGS = {"chr1": "NNNNNACGTacgtnACGTTGCAACGGTTACGATCGATTTACG", "chr2": "GGGCCCRYAA"}


@pytest.fixture
def genome():
    path = Path("genome.fa")
    with open(path, "w") as file:
        for name, letters in CONTIGS.items():
            lines = [letters[at : at + 7] for at in range(0, len(letters), 7)]
            print(f">{name} some words", *lines, sep="\n", file=file)
    return path


def peaks_at(*places):
    chrom, start, stop = zip(*places, strict=True)
    start, stop = np.array(start), np.array(stop)
    return Peaks(np.array(chrom), start, stop, (start + stop) // 2, [f"p{k}" for k in range(len(places))])


@pytest.mark.parametrize("zipped", [False, True])
def test_a_reference_gives_any_interval_and_n_beyond_its_ends(genome, zipped):
    if zipped:
        Path("genome.fa.gz").write_bytes(gzip.compress(genome.read_bytes()))
    with Reference("genome.fa.gz" if zipped else genome) as reference:
        assert reference.lengths == {name: len(letters) for name, letters in CONTIGS.items()}
        for name, letters in CONTIGS.items():
            for start in range(-12, len(letters) + 12):
                for size in (0, 1, 9):
                    expected = "".join(letters[i] if 0 <= i < len(letters) else "N" for i in range(start, start + size))
                    assert reference.fetch(name, start, start + size) == expected


def test_a_reference_that_cannot_be_indexed_says_what_to_do(genome):
    for text, wrong in ((">a x\nAC\n>a\nAC\n", "line 3: '>a'"), ("AC\n>a\nAC\n", "header")):
        Path("genome.fa.gz").write_bytes(gzip.compress(text.encode()))
        with pytest.raises(ValueError, match=wrong):
            Reference("genome.fa.gz")
    Path("uneven.fa").write_text(">a\nACGT\nAC\nACGT\n")
    with pytest.raises(ValueError, match="lines of one length"):
        Reference("uneven.fa")
    with pytest.raises(FileNotFoundError, match="FASTA"):
        Reference("none.fa")
    with Reference(genome) as reference, pytest.raises(ValueError, match="contig '1' is not in"):
        reference.fetch("1", 0, 1)


def test_without_pyfaidx_the_error_names_the_extra(genome, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyfaidx", None)
    with pytest.raises(ImportError, match=r"pip install manykernels\[bio\]"):
        Reference(genome)


NARROW = "chr1\t10\t30\tone\t0\t.\t1.5\t-1\t-1\t4\nchr2\t0\t9\t.\t0\t.\t1.5\t-1\t-1\t-1\n"


@pytest.mark.parametrize("zipped", [False, True])
def test_bed_and_narrow_peak_files_are_read(zipped):
    def read(text, **options):
        path = Path("peaks")
        path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
        return read_bed(path, **options)

    narrow = read("track name=x\n#comment\n\n" + NARROW)
    assert narrow.chrom.tolist() == ["chr1", "chr2"] and narrow.name == ["one", "chr2:0-9"]
    assert (narrow.start.tolist(), narrow.stop.tolist(), narrow.centre.tolist()) == ([10, 0], [30, 9], [14, 4])
    assert read(NARROW, format="bed").centre.tolist() == [20, 4]
    assert read("chr1 3 8\r\n").centre.tolist() == [5]
    assert len(read("chr1\t3\t8\tname\t0\t+\n")) == 1
    for text, word in [
        ("chr1\t3\n", "line 1 has 2 columns"), ("chr1\t8\t3\n", "start=8"), ("chr1\ta\t3\n", "start='a'"),
        ("#\n", "no peaks"), (NARROW.replace("\t4\n", "\t20\n"), "summit 20"), ("chr1\t-1\t3\n", "start='-1'"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=word):
            read(text)
    with pytest.raises(ValueError, match="column 10"):
        read("chr1\t3\t8\n", format="narrowPeak")


@pytest.mark.parametrize("width", [1, 4, 5, None])
def test_windows_hold_the_letters_around_the_centre(genome, width):
    places = [("chr1", 14, 22), ("chr1", 20, 29), ("chr2", 1, 6)]
    found = windows(peaks_at(*places), genome, width)
    for k, (chrom, start, stop) in enumerate(places):
        if width is not None:
            start = (start + stop) // 2 - width // 2
            stop = start + width
        expected = CONTIGS[chrom][start:stop]
        assert (found.chrom[k], found.start[k], found.stop[k]) == (chrom, start, stop)
        assert found.sequences[k] == expected.upper().replace("R", "N")
        known = [c for c in expected.upper() if c in "ACGT"]
        assert found.gc[k] == pytest.approx(sum(c in "CG" for c in known) / len(known))
        assert found.repeats[k] == pytest.approx(sum(c.islower() for c in expected) / len(expected))
    assert not any(found.dropped.values())


def test_what_has_no_window_is_named(genome):
    peaks = peaks_at(
        ("chr1", 0, 8), ("chr1", 20, 28), ("chr1", 19, 29), ("chr1", 36, 42), ("chr3", 2, 9), ("chr1", 2, 9),
        ("chr2", 3, 7),
    )  # fmt: skip
    found = windows(peaks, genome, 10, max_n=0.3)
    assert found.name == ["p1", "p6"]
    assert found.dropped == {
        "contig unknown": ["p4"], "past the contig's end": ["p0", "p3"], "duplicate": ["p2"], "too many N": ["p5"]
    }  # fmt: skip
    assert found.summary() == (
        "2 windows, 1 of them with N; left out: 1 contig unknown (p4); 2 past the contig's end (p0, p3); "
        "1 duplicate (p2); 1 too many N (p5)"
    )
    cut = windows(peaks, genome, 10, ends="cut", max_n=1.0)
    assert cut.name == ["p0", "p1", "p3", "p5", "p6"] and cut.sequences[2] == CONTIGS["chr1"][34:42]
    with pytest.raises(ValueError, match="contig 'chr9' is not in"):
        windows(peaks_at(("chr9", 1, 3)), genome)
    with pytest.raises(ValueError, match="no window is left"):
        windows(peaks_at(("chr1", 0, 4)), genome)


def test_windows_are_written_as_bed_and_fasta(genome):
    found = windows(peaks_at(("chr1", 14, 22)), genome)
    found.to_bed("w.bed")
    found.to_fasta("w.fa")
    again = read_bed("w.bed")
    assert (again.start, again.stop, again.name) == (14, 22, ["p0"])
    assert Path("w.fa").read_text() == f">chr1:14-22\n{CONTIGS['chr1'][14:22].upper()}\n"

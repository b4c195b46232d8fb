"""FASTA and FASTQ files give the sequences they hold, however they are written, or an error that names the file."""

import bz2
import gzip
import lzma
import subprocess
import sys

import numpy as np
import pytest

from manykernels.sequences import Sequences, fasta, read_fasta


def sequences(n=300, seed=0, high=200):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), rng.integers(1, high))) for _ in range(n)]


def as_fasta(X, width=10**9, end="\n", header=">seq{i} label={y}"):
    lines = []
    for i, x in enumerate(X):
        lines += [header.format(i=i, y=i % 3 - 1), *(x[j : j + width] for j in range(0, len(x), width))]
    return end.join(lines) + end


def as_fastq(X, end="\n"):
    return "".join(f"@seq{i} label={i % 3 - 1}{end}{x}{end}+{end}{'@' * len(x)}{end}" for i, x in enumerate(X))


@pytest.fixture
def write(tmp_path):
    def write(text, name="some.fa", opener=open):
        path = tmp_path / name
        with opener(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("width", [10**9, 60, 1])
def test_fasta_gives_its_sequences_however_lines_are_broken(write, width, end):
    X = sequences()
    assert list(read_fasta(write(as_fasta(X, width, end)))) == X


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_fastq_gives_its_sequences(write, end):
    X = sequences()
    assert list(read_fasta(write(as_fastq(X, end), "some.fastq"))) == X
    assert list(read_fasta(write(as_fastq(X, end).rstrip() + end * 3))) == X


@pytest.mark.parametrize(
    ("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)], ids=["gz", "bz2", "xz"]
)
def test_compressed_files_read_like_plain_ones(write, suffix, opener):
    X = sequences()
    assert list(read_fasta(write(as_fasta(X), "some.fa" + suffix, opener))) == X
    assert list(read_fasta(str(write(as_fastq(X), "some.fastq" + suffix, opener)))) == X
    assert list(read_fasta(write(as_fasta(X), "no_suffix", opener))) == X


@pytest.mark.parametrize("form", [as_fasta, as_fastq])
def test_results_do_not_depend_on_the_chunks(write, monkeypatch, form):
    X = sequences(n=2000)
    path = write(form(X))
    whole, y = read_fasta(path, labels="label")
    monkeypatch.setattr(fasta, "BUFFER_SIZES", (4096,))
    cut, z = read_fasta(path, labels="label")
    assert whole == cut and list(cut) == X
    np.testing.assert_array_equal(y, z)


@pytest.mark.parametrize("form", [as_fasta, as_fastq])
def test_a_record_longer_than_the_buffer_gets_a_larger_one(write, monkeypatch, form):
    X = [*sequences(20), "ACGT" * 5000, "A"]
    path = write(form(X))
    monkeypatch.setattr(fasta, "BUFFER_SIZES", (1024, 10**6))
    assert list(read_fasta(path)) == X
    S, headers = read_fasta(path, labels=list)  # those of the records before it were read twice
    assert list(S) == X and [header.split()[0] for header in headers] == [f"seq{i}" for i in range(22)]
    monkeypatch.setattr(fasta, "BUFFER_SIZES", (1024,))
    with pytest.raises(ValueError, match="some.fa has a record longer than 1024 bytes"):
        read_fasta(path)


def test_blanks_comments_and_lower_case_are_understood(write):
    S = read_fasta(write("#made up\n>a\nacgt\n\n>b  \n#more\nACGN\t\nTT \n\n"))
    assert list(S) == ["ACGT", "ACGNTT"] and S.bits == 4
    assert list(read_fasta(write(">a\nAC\n>b\nGG"))) == ["AC", "GG"]
    S, names = read_fasta(write("#only comments before the one record\n>a\nAC\n"), labels=list)
    assert list(S) == ["AC"] and names.tolist() == ["a"]


def test_alphabets_and_unknown_letters_follow_encode(write):
    path = write(">a\nMKV\n>b\nMUW\n")
    assert read_fasta(path, "protein", "ignore") == Sequences.encode(["MKV", "MUW"], "protein", "ignore")
    with pytest.raises(ValueError, match="sequence 1 of .*some.fa has 'U' at position 1.*unknown='ignore'"):
        read_fasta(path, "protein")
    with pytest.raises(ValueError, match="alphabet='dnaa'"):
        read_fasta(path, "dnaa")


def test_labels_come_from_a_word_of_the_header(write):
    for header, expected in [
        (">seq{i} label={y}", [-1, 0, 1, -1]),
        ("> chr=1, label={y}, other=3", [-1, 0, 1, -1]),
        (">x|label:{y}.5|y", [-1.5, 0.5, 1.5, -1.5]),
        (">x label=c{y}", ["c-1", "c0", "c1", "c-1"]),
    ]:
        S, y = read_fasta(write(as_fasta(["A", "C", "G", "T"], header=header)), labels="label")
        assert list(S) == ["A", "C", "G", "T"] and y.tolist() == expected
        assert y.dtype == np.array(expected).dtype  # whole numbers are classes
    with pytest.raises(ValueError, match="labels='class': header 'x label=c-1' of sequence 0 .* has no 'class='"):
        read_fasta(write(as_fasta(["A"], header=header)), labels="class")


def test_labels_come_from_a_function_of_the_headers(write):
    path = write(as_fasta(["A", "C", "G"]))
    assert read_fasta(path, labels=list)[1].tolist() == ["seq0 label=-1", "seq1 label=0", "seq2 label=1"]
    assert read_fasta(path, labels=lambda headers: [int(h[3]) for h in headers])[1].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"shape \(5,\) for \d headers"):
        read_fasta(path, labels=lambda headers: [0] * 5)
    with pytest.raises(ValueError, match="labels=3"):
        read_fasta(path, labels=3)


@pytest.mark.parametrize(
    ("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)], ids=["gz", "bz2", "xz"]
)
def test_a_truncated_compressed_file_is_named(write, suffix, opener):
    path = write(as_fasta(sequences(5000)), "cut.fa" + suffix, opener)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="cut.fa.* is truncated"):
        read_fasta(path)


def test_damaged_compressed_data_are_named(write):
    path = write(as_fasta(sequences(5000)), "bad.fa.gz", gzip.open)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 200] = bytes(200)
    path.write_bytes(raw)
    with pytest.raises(ValueError, match="bad.fa.gz"):
        read_fasta(path)
    with pytest.raises(ValueError, match="other.fa.gz"):
        read_fasta(write("neither compressed nor FASTA", "other.fa.gz"))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_plain_file_with_a_compressed_name_is_read(write, suffix):
    X = sequences(20)
    for text in (as_fasta(X), as_fastq(X), "#a comment\n" + as_fasta(X)):
        assert list(read_fasta(write(text, "plain" + suffix))) == X


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no records"),
        ("# nothing here\n", "holds no records"),
        ("ACGTACGT\n", "neither FASTA nor FASTQ"),
        ("A", "neither FASTA nor FASTQ"),
        ("#x\nACGT\n>a\nAC\n", "is not FASTA.*'ACGT'"),
        (">a\n>b\nAC\n", "sequence 0 of .* is an empty sequence"),
        (">a\nAC\n>b\n", "sequence 1 of .* is an empty sequence"),
        ("@a\nACGT\n+\nIIII\n@b\nACG\n", "FASTQ.*truncated.*'@b'"),
        ("@a\nACGT\n+\nIII\n", "FASTQ.*as many qualities as letters.*'@a'"),
        ("@a\nACGT\n>b\nACGT\n", "FASTQ.*'@a'"),
        (">a\rACGT\r>b\rAC\r", "its lines end with CR alone: write it anew"),
    ],
    ids=repr,
)
def test_what_is_no_fasta_is_said(write, text, message):
    with pytest.raises(ValueError, match=message) as error:
        read_fasta(write(text))
    assert "some.fa" in str(error.value)


def test_a_path_with_braces_and_a_missing_file_are_named(write, tmp_path):
    with pytest.raises(ValueError, match=r"sequence 0 of .*\{0\}.fa has 'Z'"):
        read_fasta(write(">a\nZ\n", "{0}.fa"))
    with pytest.raises(FileNotFoundError, match="absent.fa"):
        read_fasta(tmp_path / "absent.fa")


def test_files_are_read_without_an_extra(write):
    """Only Zstandard needs one, and says so."""
    paths = [write(">a\nAC\n", f"a.fa{end}", opener) for end, opener in
             (("", open), (".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open))]  # fmt: skip
    packed = write(b"\x28\xb5\x2f\xfd\x00\x00", "a.fa.zst")
    code = (
        "import sys; sys.modules['xopen'] = sys.modules['dnaio'] = None\n"
        "from manykernels.sequences import read_fasta\n"
        f"print([list(read_fasta(path)) for path in {list(map(str, paths))}])\nread_fasta({str(packed)!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[['AC'], ['AC'], ['AC'], ['AC']]\n"
    assert "a.fa.zst is packed with Zstandard, which needs manykernels[bio]" in done.stderr


def test_a_file_that_unpacks_without_end_is_refused_before_it_fills_the_memory(write, monkeypatch):
    monkeypatch.setattr(fasta, "MIN_UNPACKED_LIMIT", 2**20)
    many, one = b">\nACGTACGT\n" * 2**20, b">one\n" + b"A" * 2**24 + b"\n"
    for text in (many, one):
        path = write(text, "bomb.fa.gz", gzip.open)
        with pytest.raises(ValueError, match="bomb.fa.gz unpacks to more bytes than the limit.*memory_limit"):
            read_fasta(path)
        letters = text.count(b"A") + text.count(b"C") + text.count(b"G") + text.count(b"T")
        assert read_fasta(path, memory_limit="100MB").lengths.sum() == letters
        with pytest.raises(ValueError, match="unpacks to more"):
            read_fasta(path, memory_limit=1000)
        assert read_fasta(write(text)).lengths.sum() == letters  # as large as it looks


def test_a_label_that_would_widen_all_others_is_refused(write):
    path = write(">a label=1\nACGT\n>b label=" + "x" * 10**5 + "\nACGT\n")
    for labels in ("label", list):
        with pytest.raises(ValueError, match="label of 1000.. letters"):
            read_fasta(path, labels=labels)


def test_what_is_bam_is_called_so(write):
    with pytest.raises(ValueError, match="BAM"):
        read_fasta(write(b"BAM\x01\xff\xff\xff\x7f" + b"x" * 100, "some.fa"))

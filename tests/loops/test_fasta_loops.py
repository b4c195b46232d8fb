"""The pass over a chunk of FASTA or FASTQ: blanks, tabs, comments, empty lines and broken records."""

import numpy as np
import pytest

from manykernels.loops.sequences import scan_fasta, scan_fastq


def scanned(scan, text):
    """[(title, letters)] of a chunk, or the position of what is wrong."""
    chunk = np.frombuffer(text.encode(), np.uint8)
    letters, size = np.empty(len(chunk), np.uint8), len(chunk) + 1
    offsets, heads, tails = (np.empty(size, np.int64) for _ in range(3))
    count = scan(chunk, letters, offsets, heads, tails)
    if count < 0:
        return -1 - count
    plain = [(text[heads[k] : tails[k]], bytes(letters[offsets[k] : offsets[k + 1]]).decode()) for k in range(count)]
    assert offsets[0] == 0 or not count
    return plain


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_records_of_fasta_have_their_title_and_letters_without_blanks(end):
    text = end.join([
        "", "# a comment", ">one  two \t", "ACGT \t", "", "# within", "GG", ">\t three\tfour", ">  ", "TT", ">last", "A"
    ])  # fmt: skip
    found = [("one  two", "ACGTGG"), ("three\tfour", ""), ("", "TT"), ("last", "A")]
    assert (
        scanned(scan_fasta, text) == found == scanned(scan_fasta, text + end) == scanned(scan_fasta, text + end + end)
    )


def test_letters_before_the_first_title_are_no_fasta():
    assert scanned(scan_fasta, "ACGT\n>a\nA\n") == 0
    assert scanned(scan_fasta, "\n# c\n  ACGT\n>a\nA\n") == 5
    assert scanned(scan_fasta, "\n \t\n>a\nA\n") == [("a", "A")]
    assert scanned(scan_fasta, "") == [] == scanned(scan_fasta, "\n\n#\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_records_of_fastq_are_four_lines_each(end):
    text = end.join(["@one two \t", "ACGT", "+", "!!!!", "@\tb", "", "+b", "", "@c", "GG ", "+", "@@"])
    found = [("one two", "ACGT"), ("b", ""), ("c", "GG")]
    assert scanned(scan_fastq, text) == found == scanned(scan_fastq, text + end + end)


@pytest.mark.parametrize("bad, at", [
    ("@a\nACGT\n+\n!!!\n", 0), ("@a\nACGT\n+\n!!!!!\n", 0), ("@a\nAC\n+\n!!\nb\nAC\n+\n!!\n", 11), ("@a\nAC\n!!\n", 0),
    ("@a\nAC\n+\n!!\n@b\nAC\n", 11), ("ACGT\n", 0), ("@a\nAC", 0),
])  # fmt: skip
def test_a_broken_record_of_fastq_is_found_at_its_title(bad, at):
    assert scanned(scan_fastq, bad) == at

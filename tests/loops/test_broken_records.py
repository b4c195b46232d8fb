"""Where a FASTA or FASTQ chunk is broken: the position of the record, whatever is wrong with it."""

import numpy as np
import pytest

from manykernels.loops.sequences import scan_fasta, scan_fastq

GOOD = "@one\nACGT\n+\nIIII\n"


def scanned(scan, text):
    chunk = np.frombuffer(text.encode(), np.uint8).copy()
    letters, places = np.zeros(len(chunk), np.uint8), np.zeros((3, len(chunk) + 1), np.int64)
    count = scan(chunk, letters, *places)
    return count, letters, places


@pytest.mark.parametrize("good", [0, 1, 3])
@pytest.mark.parametrize("bad", ["two\nACGT\n+\nIIII\n", "@two\nACGT\nIIII\n", "@two\nACGT\n", "@two\nACGT\n+\nIII\n",
                                 "@two\nACGT\n+\n"])  # fmt: skip
def test_a_broken_record_is_named_by_its_place(bad, good):
    after = "" if bad.endswith("+\n") else GOOD
    count, *_ = scanned(scan_fastq, good * GOOD + bad + after)
    assert count == -1 - good * len(GOOD)


@pytest.mark.parametrize("end", ["\n", "\r\n", " \t\n"])
def test_whole_records_have_their_titles_and_letters(end):
    text = ("@ one x\nAC\n+\nII\n\n@two\nGGT\n+\nIII\n").replace("\n", end)
    count, letters, (offsets, heads, tails) = scanned(scan_fastq, text)
    assert count == 2 and offsets[:3].tolist() == [0, 2, 5] and bytes(letters[:5]) == b"ACGGT"
    assert [text[h:t] for h, t in zip(heads[:2], tails[:2], strict=True)] == ["one x", "two"]
    text = ("#c\n>one\nAC\nG\n> two\nT\n").replace("\n", end)
    count, letters, (offsets, heads, tails) = scanned(scan_fasta, text)
    assert count == 2 and offsets[:3].tolist() == [0, 3, 4] and bytes(letters[:4]) == b"ACGT"
    assert [text[h:t] for h, t in zip(heads[:2], tails[:2], strict=True)] == ["one", "two"]
    text = ("#comment\n\n").replace("\n", end) + "ACGT"
    assert scanned(scan_fasta, text)[0] == -1 - text.index("ACGT")

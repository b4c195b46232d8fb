"""One table says what `memory_limit` is shared out to, and the docs show it."""

import re
from pathlib import Path

import pytest

from manykernels import _memory
from manykernels._memory import SHARES, MemoryBudget
from manykernels._validation import parse_bytes

SOURCE = Path(_memory.__file__).parent


@pytest.mark.parametrize("part", SHARES)
def test_a_share_is_a_part_of_the_limit_and_is_asked_for(part):
    limit = parse_bytes("1GB")
    assert MemoryBudget(limit).share(part) == 10**9 // SHARES[part].divisor
    assert MemoryBudget(None).share(part) == SHARES[part].unlimited
    asked = [f for f in SOURCE.rglob("*.py") if f.name != "_memory.py" and f'"{part}"' in f.read_text()]
    assert asked, f"nobody asks for {part!r}"


def test_no_other_file_divides_the_limit():
    """But for the trie, whose tables share a quarter, and the words of degree kernels, bounded by the data besides."""
    pattern = re.compile(r"\b(?:memory_)?limit\s*//\s*\(?\d")
    found = {f.name for f in SOURCE.rglob("*.py") if pattern.search(f.read_text())}
    assert found <= {"trie.py", "degree.py", "dense.py", "table.py"}, found

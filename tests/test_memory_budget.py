"""One table says what `memory_limit` is shared out to, and the docs show it."""

import re
from pathlib import Path

import pytest

from manykernels import _limits
from manykernels._limits import SHARES, MemoryBudget
from manykernels._validation import parse_bytes

SOURCE = Path(_limits.__file__).parent


@pytest.mark.parametrize("part", SHARES)
def test_a_share_is_a_part_of_the_limit_and_is_asked_for(part):
    limit = parse_bytes("1GB")
    assert MemoryBudget(limit).share(part) == 10**9 // SHARES[part].divisor
    assert MemoryBudget(None).share(part) == SHARES[part].unlimited
    asked = [f for f in SOURCE.rglob("*.py") if f.name != "_limits.py" and f'"{part}"' in f.read_text()]
    assert asked, f"nobody asks for {part!r}"


def test_no_other_file_divides_the_limit():
    pattern = re.compile(r"\b(?:memory_)?limit\s*//\s*\(?\d")
    found = {f.name for f in SOURCE.rglob("*.py") if f.name != "_limits.py" and pattern.search(f.read_text())}
    assert not found


def test_the_docs_show_every_share():
    """The table of docs/performance.md has as many of each fraction as `SHARES`."""
    text = (Path(__file__).parents[1] / "docs" / "performance.md").read_text()
    table = text[text.index("| part | share of the limit") :].split("\n\n")[0]
    cells = ";".join(row.split("|")[2] for row in table.splitlines()[2:])
    shown = sorted(1 if cell.strip() == "all" else int(cell.strip().removeprefix("1/")) for cell in cells.split(";"))
    assert shown == sorted(share.divisor for share in SHARES.values())

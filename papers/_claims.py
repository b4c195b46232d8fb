"""The page of claims, docs/papers/claims.md: from papers/claims.toml and the claims.toml of each paper."""

import tomllib
from pathlib import Path

from ._page import table

HERE = Path(__file__).parent


def claims(paper):
    """[claim, where it is judged or why it is not] for each claim of a paper, in the order of the print."""
    return tomllib.loads((HERE / paper / "claims.toml").read_text(encoding="utf-8"))["claims"]


def write(out, papers):
    """OUT/claims.md of {paper: heading}."""
    words = tomllib.loads((HERE / "claims.toml").read_text(encoding="utf-8"))
    lines = ["# Claims", "", words["intro"]]
    for paper, heading in papers.items():
        lines += [f"## {heading}", "", *table(["claim, in the order of the print", "where"], claims(paper)), ""]
    lines += ["## Struck", "", words["struck_intro"], *table(["finding", "verdict", "why"], words["struck"]), ""]
    lines += ["## Which code", "", words["code"].rstrip()]
    Path(out).mkdir(parents=True, exist_ok=True)
    (Path(out) / "claims.md").write_text("\n".join(lines) + "\n", encoding="utf-8")

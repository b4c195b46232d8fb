"""Which solver takes which loss with which regularizer: the members of the contract tests, and the page of the site.

python tests/oracles/support_table.py docs/support-table.md
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np

from manykernels import losses
from manykernels.regularizers import (
    Ball,
    BlockElasticNet,
    BlockNorm,
    BlockSum,
    ElasticNet,
    EmpiricalBayes,
    Entropy,
    Fixed,
    GroupNorm,
    LpNorm,
    LpPenalty,
    LpSum,
    MixedNorm,
    NonIsotropic,
    Wedge,
    WeightedLpNorm,
)  # fmt: skip
from manykernels.solvers import SOLVERS, Solver
from problems import small_problem

M = 4
NEAR, W = np.eye(M) + 0.2, [1, 2, 1.5, 3]
MEMBERS = {
    "LpNorm(1)": LpNorm(1), "LpNorm(4/3)": LpNorm(4 / 3), "LpNorm(2)": LpNorm(2), "LpNorm(inf)": LpNorm(np.inf),
    "WeightedLpNorm(1, w)": WeightedLpNorm(1, W), "WeightedLpNorm(2, w)": WeightedLpNorm(2, W),
    "GroupNorm(groups)": GroupNorm([0, 1, 1, 0]), "GroupNorm(groups, 2)": GroupNorm([0, 1, 1, 0], 2),
    "ElasticNet(0.5)": ElasticNet(0.5), "MixedNorm(0.5, 3)": MixedNorm(0.5, 3), "NonIsotropic(E)": NonIsotropic(NEAR),
    "Ball(center, 0.2)": Ball(np.full(M, 0.25), 0.2), "Entropy(0.5)": Entropy(0.5),
    "LpPenalty(1, 1)": LpPenalty(1, 1.0), "LpPenalty(2, 1)": LpPenalty(2, 1.0),
    "LpSum(1)": LpSum(1), "LpSum(2)": LpSum(2), "BlockElasticNet(0)": BlockElasticNet(0),
    "BlockElasticNet(0.5)": BlockElasticNet(0.5), "BlockElasticNet(1)": BlockElasticNet(1), "Wedge()": Wedge(),
    "BlockNorm(3)": BlockNorm(3), "BlockSum(3)": BlockSum(3), "Fixed(weights)": Fixed([0.1, 0.4, 0.3, 0.2]),
    "EmpiricalBayes(0.5)": EmpiricalBayes(0.5),
}  # fmt: skip
LOSSES = sorted(losses.LOSSES | losses.COUPLED)
FIRST = """# The table of what works with what

[What works with what](support.md) says how to read it and what to do where there is no ✓. Every cell marked ✓ is a
contract test: the solver reaches its duality gap and the objective of a conic program. Every run tests half of the
cells, and has the conic program of a third of the pairs of loss and regularizer; `pytest -m slow` tests all cells and
has all programs. A number points to the reason of a refusal below the tables. `auto` takes the first of `newton`,
`reweighted` and `mackay` that is ✓; where kernels have explicit features, the one of `interior`, `primal`, `coordinate`
and `newton` that expects least work.
The two-stage weightings (`Uniform`, `BestSingle`, `Align`, `AlignF`, `EasyMKL`) become `Fixed(weights)`.
"""


@cache
def posed(loss, member):
    """(problem, kernels, y), or the reason why there is no such problem."""
    try:
        return small_problem(loss, MEMBERS[member])
    except ValueError as error:
        return str(error)


@cache
def refusal(loss, member, solver):
    """Why the cell is refused, or None."""
    given = posed(loss, member)
    return given if isinstance(given, str) else Solver(solver).refusal(given[0])


def tables():
    """The page: losses with the same table share it."""
    reasons, groups = {}, {}
    for loss in LOSSES:
        rows = []
        for member in MEMBERS:
            cells = []
            for solver in SOLVERS:
                why = refusal(loss, member, solver)
                why = why and why.split(" does not suit it: ")[-1].replace(f"the {loss} loss", "this loss")
                why = why and why.replace(f"regularizer={MEMBERS[member]!r}", "this regularizer")
                cells.append(f"{reasons.setdefault(why, len(reasons) + 1)}" if why else "✓")
            rows.append(f"| `{member}` | {' | '.join(cells)} |")
        groups.setdefault("\n".join(rows), []).append(f"`{loss}`")
    head = f"| regularizer | {' | '.join(SOLVERS)} |\n|---|{'---|' * len(SOLVERS)}"
    parts = [f"## {', '.join(names)}\n\n{head}\n{rows}\n" for rows, names in groups.items()]
    notes = "\n".join(f"{number}. {why}" for why, number in reasons.items())
    return "\n".join([FIRST, *parts, "## Why not\n", notes, ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(tables(), encoding="utf-8")

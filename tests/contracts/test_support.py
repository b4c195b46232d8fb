"""Every loss × regularizer × solver either reaches its gap and the optimum, or is refused with a reason.

`docs/support-table.md` is written from the same list: MANYKERNELS_WRITE_DOCS=1 pytest tests/contracts/test_support.py
"""

import inspect
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conic import solve_conic
from problems import small_problem

from manykernels import losses, regularizers
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
    Regularizer,
    Wedge,
    WeightedLpNorm,
)  # fmt: skip
from manykernels.solvers import SOLVERS, Solver, best_for, solve

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
DOCS = Path(__file__).parents[2] / "docs" / "support-table.md"
FIRST = f"""# The table of what works with what

[What works with what](support.md) says how to read it and what to do where there is no ✓. Every cell marked ✓ is a
contract test: the solver reaches its duality gap and the objective of a conic program. Every run tests half of the
cells, and has the conic program of a third of the pairs of loss and regularizer; `pytest -m slow` tests all cells and
has all programs. A number points to the reason of a refusal below the tables. `auto` takes the first of `newton`,
`reweighted` and `mackay` that is ✓; where kernels have explicit features, the one of `interior`, `primal`, `coordinate`
and `newton` that expects least work.
The two-stage weightings (`Uniform`, `BestSingle`, `Align`, `AlignF`, `EasyMKL`) become `Fixed(weights)`.
This page is written by `tests/{"/".join(Path(__file__).parts[-2:])}`.
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


def test_every_exported_regularizer_is_in_the_table():
    stages = {"Regularizer", "TwoStage", "Uniform", "BestSingle", "Align", "AlignF", "EasyMKL", "Separable"}
    exported = {
        name for name, cls in vars(regularizers).items() if inspect.isclass(cls) and issubclass(cls, Regularizer)
    }
    assert {type(member).__name__ for member in MEMBERS.values()} == exported - stages


LOSSES = sorted(losses.LOSSES | losses.COUPLED)
PAIRS = [(loss, member) for member in MEMBERS if member != "EmpiricalBayes(0.5)" for loss in LOSSES]


def check_pair(loss, member, conic, steps=1):
    """Solvers against a conic program, or against each other: then their bounds must leave room for one optimum.

    `steps` > 1 takes those solvers whose index plus those of loss and member is a multiple of it, and "auto".
    """
    able = [solver for solver in SOLVERS if refusal(loss, member, solver) is None]
    if not able:
        assert loss == "one_class" and not MEMBERS[member].finite_conjugate
        return
    problem, Ks, y = posed(loss, member)
    place = LOSSES.index(loss) + list(MEMBERS).index(member)
    chosen = [name for k, name in enumerate(SOLVERS) if name in able and (place + k) % steps == 0]
    auto = best_for(problem).name
    assert auto in able
    found = {name: solve(problem, name, tol=2e-5, max_iter=5000) for name in {auto, *chosen}}
    truth = max(s.dual for s in found.values())
    if conic:
        options = {"nu": 0.4} if loss == "one_class" else {"intercept": problem.intercept}
        truth = solve_conic(Ks, y, loss, MEMBERS[member], **options)["objective"]
    for name, s in found.items():
        assert s.converged and s.gap <= 2e-5, name
        assert s.dual - 1e-6 * abs(truth) <= truth <= s.primal + 1e-6 * abs(truth), name
        scale = max(abs(truth), (s.primal - s.dual) / s.gap if s.gap else 0.0)  # terms of one_class cancel
        assert s.primal == pytest.approx(truth, abs=1e-4 * scale), name
    for name in set(SOLVERS) - set(able):
        with pytest.raises(ValueError, match="cannot take this problem"):
            solve(problem, name)


@pytest.mark.parametrize("loss, member", PAIRS)
def test_every_solver_reaches_its_gap_and_the_optimum_or_says_why_not(loss, member):
    """A third of the pairs have conic programs, so that each loss meets seven of them and each regularizer three.

    In each pair the solver of "auto" and half of the others run, so that each loss and each regularizer meets all.
    """
    conic = (list(MEMBERS).index(member) + LOSSES.index(loss)) % 3 == 0
    check_pair(loss, member, conic, steps=2)


@pytest.mark.slow
@pytest.mark.parametrize("loss, member", PAIRS)
def test_every_solver_reaches_the_conic_optimum(loss, member):
    check_pair(loss, member, conic=True)


@pytest.mark.parametrize("loss", LOSSES)
def test_empirical_bayes_is_for_the_squared_loss_and_mackay(loss):
    able = [solver for solver in SOLVERS if refusal(loss, "EmpiricalBayes(0.5)", solver) is None]
    assert able == (["mackay"] if loss == "squared" else [])


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


def test_the_page_in_the_docs_is_this_table():
    if os.environ.get("MANYKERNELS_WRITE_DOCS"):
        DOCS.write_text(tables())
    assert DOCS.read_text() == tables()

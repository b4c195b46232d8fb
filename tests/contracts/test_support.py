"""Every loss × regularizer × solver either reaches its gap and the optimum, or is refused with a reason.

The site has a page of the same list (`tests/oracles/support_table.py`).
"""

import inspect
import itertools
import re

import pytest
from conic import solve_conic
from support_table import LOSSES, MEMBERS, posed, refusal, tables

from manykernels import regularizers
from manykernels.regularizers import Regularizer
from manykernels.solvers import SOLVERS, best_for, solve


def test_every_exported_regularizer_is_in_the_table():
    stages = {"Regularizer", "TwoStage", "Uniform", "BestSingle", "Align", "AlignF", "EasyMKL", "Separable"}
    named = {name: getattr(regularizers, name) for name in regularizers.__all__}
    exported = {name for name, cls in named.items() if inspect.isclass(cls) and issubclass(cls, Regularizer)}
    assert {type(member).__name__ for member in MEMBERS.values()} == exported - stages


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


def test_every_cell_of_the_page_is_what_the_solver_says():
    heading, cells, page = "", 0, tables()
    notes = dict(re.findall(r"^(\d+)\. (.+)$", page, re.M))
    for line in page.splitlines():
        if line.startswith("## "):
            heading = re.findall(r"`(\w+)`", line)
        if not line.startswith("| `"):
            continue
        member, *marks = (cell.strip() for cell in line.strip("|").split("|"))
        for loss, (solver, mark) in itertools.product(heading, zip(SOLVERS, marks, strict=True)):
            why = refusal(loss, member.strip("`"), solver)
            parts = re.split("this loss|this regularizer", notes.get(mark, ""))
            assert all(part in why for part in parts) if why else mark == "✓", (loss, member, solver)
            assert bool(why) == (mark in notes)
            cells += 1
    assert cells == len(LOSSES) * len(MEMBERS) * len(SOLVERS)

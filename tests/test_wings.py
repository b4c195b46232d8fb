"""The core of the package and its wings: what the core knows of a wing may only become less.

A wing is a subject that some users need and others do not. It imports the core, and the core should not import it.
"""

import ast
from functools import cache

import pytest

from test_rooms import arrows as modules_after
from test_rooms import modules

# The modules of each room of the core, from the ground up, and of each wing. A module without an entry belongs where
# the package above it does, such as `kernels.rbf` with `kernels`.
CORE = {
    "support": "_archive _callers _central_path _limits _packed _parts _state _threads _validation loops",
    "losses": "losses",
    "inner": "inner _simplex loops.box_qp loops.rows loops.team",
    "data": """kernels.annotated kernels.column_encoders kernels.column_kinds kernels.frames kernels.ids
        kernels.matrix_files kernels.rows kernels.stack kernels.stack_examples kernels.table_scaler
        kernels.tasks kernels.transformers kernels.view_data kernels.view_plan kernels.views estimators.check_inputs
        estimators.check_views""",
    "banks": "banks inner.device kernels.normalize kernels.pair_blocks loops.elementwise loops.stack",
    "kernels": "kernels",
    "problem": "problem solution",
    "solvers": "solvers",
    "regularizers": "regularizers loops.lp_projection",
    "estimators": "estimators banks.choice",
}
WINGS = {
    "sequences": """sequences strings genome banks.words banks.degree_walks datasets.genome datasets.grammar
        datasets.splice estimators.lsgkm cli.gkm cli.gkm_use inspect._letters inspect._seqlets inspect.explain
        inspect.explanation inspect.find_motifs inspect.motifs inspect.oligomers inspect.sequence_plots
        inspect.sequences loops.degree loops.degree_predictor loops.degree_visits loops.explain loops.linadd
        loops.linadd_placed loops.sequences loops.splice loops.strings loops.trie loops.word_pairs loops.word_tables
        loops.words""",
    "survival": """estimators.survival estimators.survival_times inner.coupled losses.coupled losses.cox
        losses.log_time losses.ranking""",
    "pairs": "pairs kernels.pairs banks._pair_side banks._vec_trick banks.pairs",
    "omics": "omics datasets.multiomics",
    "streaming": "streaming estimators.streamed",
    "classical": """weighting regularizers.ball regularizers.block_elastic_net regularizers.block_sum
        regularizers.lp_sum regularizers.non_isotropic regularizers.papers regularizers.separable regularizers.wedge
        regularizers.weightings solvers.classical.level solvers.classical.nesterov solvers.classical.silp
        solvers.classical.simplemkl solvers.classical.sip""",
    "compact": "banks.compact estimators.compress",
    "inspect": "inspect loops.shares",
    "kit": "_pictures",
    "faces": "report cli datasets __main__",
}
PLACES = {name: place for rooms in (CORE, WINGS) for place, names in rooms.items() for name in names.split()}


def place(name):
    while name not in PLACES:
        name = name.rpartition(".")[0]
    return PLACES[name]


@cache
def arrows():
    return {(name, other) for name, others in modules_after().items() for other in others}


def knots():
    """Imports of a wing by the core."""
    return {(a, b) for a, b in arrows() if place(a) in CORE and place(b) in WINGS}


def upward():
    """Imports within the core of a module in a higher room."""
    rooms, inside = list(CORE), {arrow for arrow in arrows() if {*map(place, arrow)} <= {*CORE}}
    return {(a, b) for a, b in inside if rooms.index(place(b)) > rooms.index(place(a))}


def circles():
    """Places that import each other; longer circles need an import of a wing by the core, or an upward one."""
    ways = {(place(a), place(b)) for a, b in arrows()}
    return {(a, b) for a, b in ways if a < b and (b, a) in ways}


def texts():
    """What the core knows of sequences without an import: names of attributes, and the word itself."""
    known = {"encoding", "encodings", "family", "hashed", "by_words", "sequences", "shortest", "walk"}
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text())) if place(name) in CORE else ():
            word = getattr(node, {ast.Attribute: "attr", ast.Constant: "value", ast.Name: "id"}.get(type(node), ""), "")
            if isinstance(word, str) and word in known:
                yield name, node.lineno, word


@pytest.mark.parametrize(("count", "today"), [(knots, 32), (upward, 4), (circles, 11), (texts, 89)])
def test_the_core_knows_no_more_of_the_wings_than_today(count, today):
    """The number may only fall, and falls here in the same commit: no later change may use what became free."""
    found = sorted(count())
    grown = "cut the new ones" if len(found) > today else f"write {len(found)} into this test"
    assert len(found) == today, f"{count.__name__}: {len(found)}, and not {today}: {grown}\n{found}"

"""Small data on the paths of large data: sizes at which the package changes its way, or cuts its work, made small.

A random fit of a hundred examples would otherwise take one block of everything, NumPy in the place of loops, and no
active set. Only sizes are here that change how a result is computed, not which result: no precision, no sample.
"""

from contextlib import contextmanager
from importlib import import_module

import numpy as np

LOOPS = {  # how many values NumPy computes in the place of compiled loops
    "kernels.pair_blocks": {"MAX_PLAIN_VALUES": -1},
    "banks._stack": {"FEW_ENTRIES": 0},
    "banks.dense": {"FEW_ENTRIES": 0},
}
BLOCKS = {
    "_simplex": {"MAX_PAIR_STEP_WEIGHTS": 3},
    "strings.base": {"_ROWS_PER_BLOCK": 7},
    "sequences.packing": {"SEQUENCES_PER_BLOCK": 7},
    "kernels.normalize": {"BLOCK_ENTRIES": 200},
    "kernels.matrix_files": {"BYTES_PER_READ": 500},
    "inner.coupled": {"BLOCK": 5},
    "inner.systems": {"MAX_SERIAL_ROWS": 6},
    "inner.matrix_free": {"MAX_FACTORED_VARIABLES": 9},
    "solvers._wrapper": {"FIRST_ACTIVE": 11, "MAX_OUTPUTS": 30},
    "solvers._warm": {"MAX_PRODUCTS": 64},
    "solvers._primal_passes": {"ROWS_PER_BLOCK": 13},
    "solvers._primal_quadratic": {"MAX_WAITING_ROWS": 10},
    "solvers.mackay": {"KERNELS_PER_READ": 2},
    "solvers.classical._kernel_rows": {"ROWS_PER_STEP": 5, "ENTRIES_PER_BLOCK": 100},
    "solvers.classical.chunking": {"FIRST_WORKING": 9},
    "solvers.classical.spicy": {"MIN_NEWTON_EXAMPLES": 8},
    "banks._stack": {"STACK_ROWS": 6, "HALF_BLOCKS": 7, "MIRROR_ROWS": 9, "BELOW_DIAGONAL": np.tri(9, k=-1) > 0},
    "banks.dense": {"STACK_ROWS": 6},
    "banks._chebyshev_columns": {"FEATURES_PER_PRODUCT": 20},
    "banks._feature_rows": {"FEATURE_ROWS": 9, "ROWS_PER_THREAD": 5},
    "banks._tiled_sums": {"MIN_TILE_ENTRIES": 50, "MIN_SQUARE_COLUMNS": 12},
    "banks._vec_trick": {"NUMBERS_PER_BLOCK": 100},
    "banks.explicit": {"EXAMPLES_PER_BLOCK": 11, "MAX_BUILT_EXAMPLES": 10, "MAX_BUILT_WORDS": 10},
    "banks.pairs": {"MAX_DENSE_PAIRS": 12},
    "banks.words.trie": {"PACKED_ROWS": 6, "MIN_ROWS": 3},
    "banks.words.degree": {"EXAMPLES_PER_BLOCK": 11},
    "banks.words.linadd": {"LOOK_UP_ROWS": 7},
    "banks.words.tables": {"LOOK_UP_ROWS": 7},
    "banks.words._trie_stores": {"ROWS_COMPARED": 5},
    "banks.words.degree_predictor": {"NEW_SEQUENCES_PER_TILE": 7},
    "estimators.plan": {"MAX_PARTS": 90},
    "estimators.survival_times": {"PAIRS": 30},
    "strings.word_table": {"MIN_LANE_LETTERS": 40},
    "inspect.fold": {"MAX_MOVED_ENTRIES": 60},
    "inspect.explain": {"COPIES": 9},
}


@contextmanager
def small_blocks(number):
    """Case `number` as it is (even), by compiled loops (every other), and in small blocks too (every fourth)."""
    wanted = [table for table, every in ((LOOPS, 2), (BLOCKS, 4)) if number % every == every - 1]
    usual = []
    try:
        for table in wanted:
            for name, sizes in table.items():
                module = import_module(f"manykernels.{name}")
                for size, value in sizes.items():
                    usual.append((module, size, getattr(module, size)))
                    setattr(module, size, value)
        yield
    finally:
        for module, size, value in reversed(usual):
            setattr(module, size, value)

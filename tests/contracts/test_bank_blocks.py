"""Every bank is the stack of its kernels in small blocks too, with two threads."""

import numpy as np
import pytest
import test_banks
from covering import covering

from manykernels.banks import (
    _feature_rows,
    _stack,
    _tiled_sums,
    degree_walks,
    dense,
    explicit,
    pairwise,
)  # fmt: skip
from manykernels.banks.words import _trie_stores, degree, degree_predictor, linadd, tables, trie
from manykernels.strings import word_table

SIZES = {  # of blocks, none of which divides the number of examples
    (_stack, "STACK_ROWS"): 7, (_stack, "FEW_ENTRIES"): 0, (_stack, "HALF_BLOCKS"): 5, (dense, "STACK_ROWS"): 7,
    (dense, "FEW_ENTRIES"): 0, (explicit, "EXAMPLES_PER_BLOCK"): 5, (degree, "EXAMPLES_PER_BLOCK"): 5,
    (_feature_rows, "FEATURE_ROWS"): 9, (_trie_stores, "ROWS_COMPARED"): 5, (_trie_stores, "MAX_TABLE_WORDS"): 16,
    (_feature_rows, "ROWS_PER_THREAD"): 9, (pairwise, "KERNELS_PER_PASS"): 2, (linadd, "LOOK_UP_ROWS"): 5,
    (tables, "LOOK_UP_ROWS"): 5, (word_table, "COLUMNS"): 3, (word_table, "MIN_LANE_LETTERS"): 50,
    (trie, "PACKED_ROWS"): 7,
    (degree_predictor, "NEW_SEQUENCES_PER_TILE"): 11, (degree_walks, "_SUM_ENTRIES"): 300,
}  # fmt: skip


def small_tile(n_rows, n_cols, *args, **options):
    return max(1, min(n_rows, 7)), max(1, min(n_cols, 9))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for (module, name), size in SIZES.items():
        assert isinstance(getattr(module, name), int)
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(_feature_rows.blocks, "__defaults__", (9,))
    for module in (_tiled_sums, pairwise):
        monkeypatch.setattr(module, "tile_shape", small_tile)
    monkeypatch.setattr(test_banks, "rng", np.random.default_rng(5))


def two_threads(monkeypatch, name):
    specs, data, make, dtype = test_banks.BANKS[name]
    monkeypatch.setitem(test_banks.BANKS, name, (specs, data, lambda *a, **o: make(*a, n_jobs=2, **o), dtype))


HERE = [name for name in test_banks.BANKS if not name.startswith("device")]
every_bank = pytest.mark.parametrize("name, normalize", covering(HERE, test_banks.NORMALIZE))
ignored = pytest.mark.filterwarnings("ignore:kernels without variance")


@ignored
@every_bank
def test_a_bank_in_small_blocks_is_the_stack_of_its_kernels(name, normalize, monkeypatch):
    two_threads(monkeypatch, name)
    test_banks.test_a_bank_is_the_stack_of_its_kernels(name, normalize)
    test_banks.test_a_bank_gives_its_matrices_and_holds_them(name, normalize)
    test_banks.test_a_predictor_is_the_stack_with_new_examples(name, normalize)


@ignored
@pytest.mark.parametrize("name, normalize", covering(HERE, test_banks.NORMALIZE, first=1))
def test_a_part_of_a_bank_in_small_blocks_is_that_of_the_stack(name, normalize, monkeypatch):
    two_threads(monkeypatch, name)
    test_banks.test_a_restricted_bank_is_a_part_of_the_stack(name, normalize)


@ignored
@pytest.mark.parametrize("name, normalize", covering(HERE, test_banks.NORMALIZE, first=2))
def test_explicit_features_in_small_blocks_are_those_of_the_stack(name, normalize, monkeypatch):
    two_threads(monkeypatch, name)
    test_banks.test_explicit_features_are_those_of_the_stack(name, normalize)


@ignored
@pytest.mark.parametrize("name, normalize", covering(HERE, test_banks.NORMALIZE, first=3))
def test_kernels_between_new_examples_in_small_blocks_are_those_of_the_stack(name, normalize, monkeypatch):
    two_threads(monkeypatch, name)
    test_banks.test_a_predictor_has_the_kernel_between_new_examples(name, normalize)
    test_banks.test_a_predictor_has_what_a_posterior_needs_or_none(name, normalize)

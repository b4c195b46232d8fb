"""What numba compiles in everyday tasks on an empty cache: each function takes a tenth of a second."""

import re
from collections import Counter

import pytest
from benchmarks.compiling import TASKS, compiled
from compiled import compiled_only

BROAD = "numba.cpython.unicode", "numba.misc.quicksort", "numba.np.linalg"  # tens of functions at a time
TWICE = set()  # loops that are compiled for several orders of the same arrays


def check(found):
    """No broad function of numba, and no loop twice for the same numbers in another order, or for a literal."""
    assert not [name for name, _ in found if name.startswith(BROAD)]
    plain = {
        (name, re.sub(r"Literal\[int\]\(-?\d+\)", "int64", re.sub(r"'[ACF]', (True|False)", "", types)))
        for name, types in found
        if name.startswith("manykernels")
    }
    own = Counter(name for name, _ in set(map(tuple, found)) if name.startswith("manykernels"))
    assert {name for name, n in (own - Counter(name for name, _ in plain)).items()} <= TWICE


@compiled_only
def test_a_fit_of_two_classes_compiles_few_functions():
    ((_, found, _, _),) = compiled(["two classes"])
    check(found)
    assert len(found) <= 16


@compiled_only
@pytest.mark.slow
def test_ten_everyday_tasks_compile_few_functions():
    found = [signature for _, some, _, _ in compiled(TASKS) for signature in some]
    check(found)
    assert len(found) <= 115

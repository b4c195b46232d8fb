"""No bank takes more than `memory_limit` beside X, its vectors and its results, in any pass."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from test_banks import BANKS, raw

from manykernels.kernels import matrix_files

LIMIT, SLACK = 1_000_000, 600_000  # SLACK: tables of float32 exponentials, and the objects of Python
TIMES = 12  # so often the data of the contract
OTHERS = "device", "low rank, float32", "every kind"  # with a limit of its own; without negative noise
KINDS = [name for name in BANKS if not any(other in name for other in OTHERS)]


def grown(data):
    """The data many times, with noise, and with another letter in each word."""
    rng = np.random.default_rng(0)
    if isinstance(data, dict):
        return {name: grown(view) for name, view in data.items()}
    if isinstance(data, list):
        return [changed(word, *rng.integers((1, 0), (len(word), 4))) for word in data for _ in range(TIMES)]
    dense = np.repeat(data.toarray() if issparse(data) else data, TIMES, axis=0)
    dense = np.where(dense == 0, 0.0, dense + (dense != 1) * rng.normal(scale=0.1, size=dense.shape))
    return csr_array(dense) if issparse(data) else dense


def changed(word, at, letter):
    return word[:at] + "ACGT"[letter] + word[at + 1 :]


def peak(work):
    """(bytes that work() holds at most, beside an array that it returns; its result); compiled before."""
    work()
    tracemalloc.start()
    found = work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most - (found.nbytes if isinstance(found, np.ndarray) else 0), found


@pytest.mark.filterwarnings("ignore:kernels without variance")
@pytest.mark.parametrize("name", KINDS)
def test_every_pass_stays_within_the_limit(name, monkeypatch):
    monkeypatch.setattr(matrix_files, "BYTES_PER_READ", 2**18)  # what files add, see docs/lowrank.md
    specs, data, make, _ = BANKS[name]
    data, given = grown(data), "stack" in name.lower()
    data, sizes = raw(specs, data) if given else data, {}
    sizes["made"], bank = peak(lambda: make(data, memory_limit=LIMIT, n_jobs=1))
    n, M, every, A = bank.n, bank.M, np.arange(bank.n), np.ones((1, bank.n))
    sizes["outputs"], _ = peak(lambda: bank.outputs(np.ones(M), A, every))
    sizes["products"], _ = peak(lambda: bank.products(A, every))
    sizes["restricted"], _ = peak(lambda: bank.restrict(every[::3]))
    sizes["made"] *= not given  # the matrices are X, which does not count
    allowed = LIMIT + SLACK + 8 * n * (60 + M)  # docs/performance.md: vectors do not count
    assert {part: size for part, size in sizes.items() if size > allowed} == {}
    assert allowed < 8 * M * n**2  # the matrices would not fit

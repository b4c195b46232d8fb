"""A bank and its predictor do not change when they are used, and eight threads get what one thread gets.

Banks and predictors keep results for the next call. Such an attribute holds nothing until it is filled once, or it is
in `REPLACED`: then threads replace it as a whole, and read it once. What an attribute has held never changes.
"""

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import test_banks
from scipy.sparse import issparse
from test_banks import BANKS, Case, n

import manykernels
from manykernels.banks import PairwiseBank
from manykernels.banks.compact import CompactPredictor
from manykernels.banks.slack import SlackBank
from manykernels.banks.subset import SubsetBank
from manykernels.kernels import RBF, Linear, pair_blocks
from manykernels.pairs import Pairs, Pairwise

THREADS = 8
REPLACED = {"_last", "_sum", "_lines", "kept", "_summed", "in_blocks"}
COUNTS = {"_count"}  # of the bytes read from files
PACKAGE = str(Path(manykernels.__file__).parent)


def own_and_new(name, normalize):
    case = Case(name, normalize)
    return case.bank, case.new


def a_subset(name):
    def make(normalize):
        bank, new = own_and_new(name, normalize)
        origin = bank if isinstance(bank, PairwiseBank) else None
        return SubsetBank(bank.held(exact=True), np.arange(n), origin=origin, normalize=normalize), new

    return make


def with_slack(normalize):
    bank, new = own_and_new("on the fly", normalize)
    return SlackBank(bank), new


def a_sum(normalize):
    bank, new = own_and_new("stack, kernels first", normalize)
    return bank.held().summed(np.linspace(0.1, 1.0, bank.M)), None


def on_pairs(normalize):
    rng = np.random.default_rng(7)
    left, right = rng.normal(size=(9, 3)), rng.normal(size=(8, 2))
    X = Pairs.grid(left, right)
    source = Pairwise([RBF(gamma=0.3), Linear()], [RBF(gamma=1.0), ("line", Linear())])
    return source.bank(X[:n], normalize=normalize), X[n : n + 9]


MORE = {
    "subset of a stack": a_subset("stack, kernels first"), "subset of kernels on the fly": a_subset("on the fly"),
    "slack": with_slack, "sum": a_sum, "pairs": on_pairs,
}  # fmt: skip
HOW = dict(zip(BANKS, ("multiplicative", "spherical", "trace") * len(BANKS), strict=False)) | dict.fromkeys(MORE)
ALWAYS = {  # of each kind
    "stack, kernels last", "KernelStack", "stack in files, float32", "on the fly", "on the fly, CSR",
    "on the fly, words", "features", "low rank", "low rank, float32", "degree", "trie", "words, auto", "tables",
    "joined", "device", "device, stack", "low rank, device", *MORE,
}  # fmt: skip
all_banks = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ALWAYS else pytest.mark.slow) for name in HOW]
)
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def few_values_without_compiled_loops(name, monkeypatch):
    """Then the bank keeps the matrices of which it took the means."""
    if name in ("on the fly", "subset of kernels on the fly"):
        monkeypatch.setattr(pair_blocks, "MAX_PLAIN_VALUES", 2**24)


def shared(name):
    """What threads share: the bank, and its predictors with new examples or None; and these examples."""
    test_banks.rng = np.random.default_rng(3)
    bank, new = MORE[name](HOW[name]) if name in MORE else own_and_new(name, HOW[name])
    if name == "sum":
        return bank, [], None
    predictors = [bank.predictor(np.arange(1, n, 2))]
    if name.startswith("on the fly"):
        predictors.append(CompactPredictor.of(predictors[0], slice(None), np.float64))
    return bank, predictors, new


def calls(bank, predictors, new, k):
    """Every method of the bank and its predictors, with the k-th arguments, as {name: call that returns arrays}."""
    rows, cols, some = np.arange(k, n, 3), np.arange(2 + k, 31), np.array([0, bank.M - 1])[: bank.M]
    pairs, types = ((None, None), (rows, cols)), {np.dtype(np.float64), bank.dtype}
    theta, rest = np.linspace(0.2, 1.0, bank.M)[:: 1 - 2 * (k % 2)] + k, np.arange(1, n, 2)
    own = theta[: bank.M - isinstance(bank, SlackBank)]
    A, B = (np.random.default_rng(k).normal(size=(2, size)) for size in (len(cols), len(rest)))

    def stripes():
        out = np.zeros((len(some), len(rows), n))
        bank.stripes(rows, some, lambda m, r0, r1, c0, c1, block: out.__setitem__(np.s_[m, r0:r1, c0:c1], block))
        return [out]

    def part_of(other):
        return [] if other is None else [other.matrices(), other.diagonals(), other.scale]

    def vectors():
        v = bank.vectors()
        if v is None:
            return []
        v.add(cols, np.zeros(len(cols)), A[0])
        a = np.zeros(n)
        a[cols] = A[0]
        return [v.q, v.outputs(rows, theta, a[rows]), v.parts(rows, a[rows])]

    found = {
        "restrict to all": lambda: part_of(bank.restrict(np.arange(n), np.arange(bank.M))),
        "diagonals": lambda: [bank.diagonals()],
        "combined": lambda: [bank.combined(theta, *both, None, s) for both in pairs for s in (0, 1)],
        "matrix": lambda: [
            as_array(bank.matrix(theta, r, t, s)) for r in (None, rows) for t in types for s in (0, 1)
        ],
        "block": lambda: [bank.block(rows, theta)],
        "products": lambda: [bank.products(A, cols, r, m) for r, m in ((None, None), (rows, some))],
        "outputs": lambda: [bank.outputs(theta, A, cols, rows)],
        "matrices": lambda: [bank.matrices(), bank.matrices(some, rows, np.float64)],
        "stripes": stripes,
        "held": lambda: part_of(bank.held(exact=True)),
        "summed": lambda: part_of(bank.summed(theta)),
        "as one": lambda: part_of(bank.as_one(theta)),
        "restrict": lambda: part_of(bank.restrict(rows, some)),
        "numeric": lambda: [as_array(one) for one in bank.numeric() or ()],
        "vectors": vectors,
        "predictor": lambda: [] if new is None else [bank.predictor(cols).decision(new, A, own)],
    }  # fmt: skip
    for i, one in enumerate(predictors):
        found |= {
            f"decision {i}": lambda one=one: [one.decision(new, B, own)],
            f"prepared {i}": lambda one=one: [one.prepared(B[:1], own, 2**24)(new)],
            f"parts {i}": lambda one=one: [one.parts(new, B, own)],
            f"combined {i}": lambda one=one: [one.combined(new, own)],
            f"others {i}": lambda one=one: [as_array(x) for x in (one.row_factors(), one.diagonal(new, own))],
        }
    return found


def as_array(x):
    if x is None:
        return np.empty(0)
    x = x.toarray() if issparse(x) else x.cpu().numpy() if hasattr(x, "cpu") else x
    return x if isinstance(x, np.ndarray) else np.column_stack([x @ e for e in np.eye(n)[:, : x.shape[1]].T])


@all_banks
def test_what_threads_share_does_not_change(name):
    both = shared(name)
    old = Content(both[:2])
    for k in (0, 1, 2, 0):
        for call in calls(*both, k).values():
            call()
        old.check()
        old = Content(both[:2])  # with what the calls have filled


@all_banks
def test_eight_threads_get_what_one_gets(name):
    """Half of them begin in the middle of the methods, and Python may change threads before every line."""
    one, both, start, errors = shared(name), shared(name), threading.Barrier(THREADS), []
    right = [{what: call() for what, call in calls(*one, k).items()} for k in range(2)]

    def work(me):
        mine = calls(*both, me % 2)
        names = list(mine)
        first = 0 if me < THREADS / 2 else len(names) // 2
        for what in names[first:] + names[:first]:
            start.wait()
            sys.settrace(change_threads)
            try:
                for found, value in zip(mine[what](), right[me % 2][what], strict=True):
                    np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-12 * np.abs(value).max(initial=0))
            except Exception as error:
                errors.append((what, error))
            finally:
                sys.settrace(None)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def change_threads(frame, event, arg):
    """A tracer: in the files of the package, another thread may go on before every line."""
    if not frame.f_code.co_filename.startswith(PACKAGE):
        return None
    if event == "line":
        time.sleep(0)
    return change_threads


class Content:
    """Everything that an object holds: arrays by their numbers, containers and attributes by what they refer to."""

    def __init__(self, root):
        self.seen, waiting = {}, [root]
        while waiting:
            one = waiting.pop()
            if id(one) in self.seen:
                continue
            self.seen[id(one)] = one, state(one)  # which keeps the object and its number
            waiting += parts(one).values()

    def check(self):
        for one, old in self.seen.values():
            what = f"of a {type(one).__name__}"
            if not isinstance(old, dict):
                assert state(one) == old, f"numbers {what} have changed"
                continue
            here = state(one)
            for name, value in old.items():
                if name not in REPLACED and value != id(None):
                    assert here.get(name) == value, f"{name!r} {what} has changed"


def state(one):
    if isinstance(one, np.ndarray) and one.dtype != object:
        return np.ascontiguousarray(one).tobytes()
    if hasattr(one, "cpu"):
        return one.cpu().numpy().tobytes()
    return {name: id(value) for name, value in parts(one).items()}


def parts(one):
    """{name: what it holds} of containers and of objects of the package and of SciPy."""
    if isinstance(one, dict):
        return one
    if isinstance(one, list | tuple):
        return dict(enumerate(one))
    ours = type(one).__module__.startswith(("manykernels", "scipy.sparse")) and hasattr(one, "__dict__")
    return {name: value for name, value in vars(one).items() if name not in COUNTS} if ours else {}

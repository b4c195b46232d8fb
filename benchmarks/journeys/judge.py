"""What counts as a good end of a step: success, or a refusal that was meant. Nothing here comes from the package."""

import copy
import linecache
import os
import random
import re
import time
import traceback
import warnings
from dataclasses import dataclass, field

import numpy as np

ROOM = os.sep + "manykernels" + os.sep
ARGUMENTS = """X y sample_weight task kernels kernel regularizer loss epsilon C Cs normalize slack solver features
approximation rank tol max_iter fit_intercept class_weight multi_class memory_limit device n_jobs random_state
checkpoint nu formulation cv scoring sources groups gamma degree coef0 view views columns column missing weights
examples example n_splits landmarks precomputed kernels_chosen_ letters sequence sequences strings labels label class
classes target targets Y KernelStack Pairs index dtype input with_mean with_centering samples""".split()
NAMES = re.compile(r"(?<![A-Za-z_])(" + "|".join(ARGUMENTS) + r")(?![A-Za-z_])", re.IGNORECASE)


class Wrong(Exception):
    """A step has ended, with a result that cannot be right."""


@dataclass
class Verdict:
    """How one step ended: kind is "ok", "refused", "crash", "warning", "slow", "non-finite", "wrong", "mutated" or
    "global"."""

    step: str
    kind: str
    message: str = ""
    where: str = ""
    seconds: float = 0.0


@dataclass
class Ledger:
    """The verdicts of one journey, and what is told of it."""

    seed: int
    story: list = field(default_factory=list)
    verdicts: list = field(default_factory=list)

    def add(self, *verdicts):
        self.verdicts.extend(verdicts)

    @property
    def failures(self):
        return [verdict for verdict in self.verdicts if verdict.kind not in ("ok", "refused")]


def snapshot(thing):
    """A copy to compare `thing` with later; None where it cannot be copied."""
    try:
        return copy.deepcopy(thing)
    except Exception:
        return None


def same(a, b):
    """Whether two things hold the same values in the same form."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        return a.tolist() == b.tolist() if a.dtype.kind == "O" else a.tobytes() == b.tobytes()
    if hasattr(a, "tocoo"):
        parts = [name for name in ("data", "indices", "indptr", "row", "col", "coords", "rows") if hasattr(a, name)]
        return a.shape == b.shape and all(repr(getattr(a, p)) == repr(getattr(b, p)) for p in parts)
    if hasattr(a, "equals"):
        index = a.index.equals(b.index) if hasattr(a, "index") and hasattr(a.index, "equals") else True
        return bool(a.equals(b)) and index
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float):
        return repr(a) == repr(b)
    if isinstance(a, (int, str, bytes, bool, type(None))):
        return a == b
    return True


def surroundings():
    """What a library must leave as it found it."""
    import rich.style  # noqa: F401  (draws a random number when it is imported)
    import sklearn
    from threadpoolctl import threadpool_info

    name, keys, position, *_ = np.random.get_state()  # noqa: NPY002  (others may use it)
    return {
        "numpy's random state": (name, keys.tobytes(), position),
        "random's state": random.getstate(),
        "warning filters": list(warnings.filters),
        "environment": dict(os.environ),
        "threads of BLAS": sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info()),
        "numpy's error state": np.geterr(),
        "print options": str(np.get_printoptions()),
        "working directory": os.getcwd(),
        "scikit-learn's configuration": str(sklearn.get_config()),
    }


def location(error):
    """The innermost line of the package in the traceback, and the text of the line that raised."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if ROOM in frame.filename and "benchmarks" not in frame.filename]
    frame = inside[-1] if inside else frames[-1]
    short = frame.filename.split(ROOM)[-1] if inside else os.path.basename(frame.filename)
    last = frames[-1]
    return f"{short}:{frame.lineno} {frame.name}", linecache.getline(last.filename, last.lineno or 0).strip()


def meant(error):
    """Whether a refusal was raised on purpose, by the package or by scikit-learn's checks, and names an argument."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    checked = ROOM in last.filename or "sklearn" in last.filename
    purpose = "raise" in linecache.getline(last.filename, last.lineno or 0)
    known = NAMES.search(str(error)) or "0 sample(s)" in str(error)  # scikit-learn's words for no example
    return checked and purpose and bool(known)


def general(message):
    """A message without its numbers and quotations, to count it with others of its kind."""
    message = re.sub(r"'[^']*'", "'…'", message.split("\n")[0])
    return re.sub(r"[-+]?\d[\d.,e+-]*", "#", message)[:170]


class Watch:
    """Runs the steps of a journey and writes down how each ended.

    A step that raises ends as "refused" where the error was meant, else as a crash; warnings of NumPy, changed inputs
    and changed surroundings are failures of their own.
    """

    def __init__(self, ledger, inputs, limit=5.0):
        self.ledger, self.inputs, self.limit = ledger, inputs, limit
        self.said = []

    def __call__(self, step, action, timed=False):
        """The result of `action()`, or None where it was refused or failed."""
        before, copies = surroundings(), {name: snapshot(value) for name, value in self.inputs.items()}
        result, verdict, seconds, said = self.attempt(step, action)
        if timed and seconds > self.limit:  # once more: the first may have compiled loops
            again = self.attempt(step, action)
            seconds = min(seconds, again[2])
            if seconds > self.limit:
                self.ledger.add(Verdict(step, "slow", f"{seconds:.1f} s of the processor", "", seconds))
        verdict.seconds, self.said = seconds, [f"{one.category.__name__}: {one.message}" for one in said]
        self.ledger.add(verdict)
        for one in said:
            if issubclass(one.category, RuntimeWarning) or one.category.__name__ in ("LinAlgWarning", "ComplexWarning"):
                place = f"{one.filename.split(ROOM)[-1]}:{one.lineno}"
                self.ledger.add(Verdict(step, "warning", f"{one.category.__name__}: {one.message}", place))
        after = surroundings()
        for name, value in before.items():
            if after[name] != value:
                self.ledger.add(Verdict(step, "global", f"{name} changed"))
        for name, value in copies.items():
            if value is not None and not same(value, self.inputs[name]):
                self.ledger.add(Verdict(step, "mutated", f"{name} changed in place"))
        return result

    def attempt(self, step, action):
        """One run of `action`, with its verdict, seconds of the processor and warnings."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            start, result = time.process_time(), None
            try:
                result, verdict = action(), Verdict(step, "ok")
            except Wrong as wrong:
                kind = "non-finite" if "finite" in str(wrong) else "wrong"
                verdict = Verdict(step, kind, str(wrong))
            except (ValueError, TypeError) as error:
                where, line = location(error)
                kind = "refused" if meant(error) else "crash"
                verdict = Verdict(step, kind, f"{type(error).__name__}: {error}", f"{where}  | {line}")
            except Exception as error:
                where, line = location(error)
                verdict = Verdict(step, "crash", f"{type(error).__name__}: {error}", f"{where}  | {line}")
            return result, verdict, time.process_time() - start, list(said)


def finite(name, *values):
    """Wrong unless all numbers are finite."""
    for value in values:
        if not np.all(np.isfinite(np.asarray(value, dtype=float))):
            raise Wrong(f"{name} is not finite")


def near(name, a, b, size, rel=1e-6):
    """Wrong unless |a − b| ≤ rel · size everywhere."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape:
        raise Wrong(f"{name}: shapes {a.shape} and {b.shape}")
    off = np.abs(a - b)
    if not np.all(off <= rel * np.asarray(size) + 1e-300):
        worst = float(np.max(off / (np.asarray(size) + 1e-300)))
        raise Wrong(f"{name}: off by {worst:.2g} of its size, {rel:.0e} allowed")

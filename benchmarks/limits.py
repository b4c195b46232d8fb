"""Every speed that the project sets itself, beside the figure of this machine: two cores, sixteen cores, a card.

passes        a fit of a stack in readings of it (`stack.sum()`), both memory orders; in multiples of one SVC
tight         the time for a gap of 1e-5 over that for 1e-3: a stack, kernels on the fly, sequences
sum           the plain sum of kernels over SVC on the summed kernel, the summing included in both
cold          import over scikit-learn's; the first fit and the first prediction of a new process, an empty cache
compress      operations of a prediction over those of the compressed model, and its error
growth        the log–log slope of the time of a fit against the numbers of kernels and of examples
memory        the peak of a process whose kernels do not fit into it: 10,000 kernels on columns, 20,000 digits
threads       16 threads over one; 16 over 8; sixteen fits of one thread side by side
classical     the solvers of the papers beside what these print, and SVC: `originals.py`
scales        the share of a fit that the bank takes; the error of scales from a sample
suite         the tests, from a cold cache of compiled loops
digits        60,000 digits × 50 kernels
million       a million sequences × 20 degrees
card          60,000 digits × 50 kernels, and a million rows × 20 kernels × 256 random features

`--only` takes groups by name. Each runs in a process of its own. A group that the machine cannot show (cores, card) is
named and left out. Ratios are taken within one process; seconds are medians of three, above ten seconds one fit.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from . import originals
from .datasets import GEOMETRIC, around_median, load_mnist, load_ten_digits, normalise, rbf_stack
from .problems import estimator, problem
from .report import apart, clock, console, norm, paired, peak, show, timed, write
from .solvers._base import svc

GROUPS = {  # name: the cores that it needs, or "card"
    "passes": 1, "tight": 1, "sum": 1, "cold": 1, "compress": 1, "classical": 1, "growth": 1, "memory": 1, "scales": 1,
    "suite": 1, "million": 2, "threads": 16, "digits": 16, "card": "card",
}  # fmt: skip
NEW_PROCESS = "import time; {first}; t = time.process_time(); {then}; print(time.process_time() - t)"
FIT = "MKLClassifier().fit(X, y)"


def main(data=None, out=".", quick=False, only=None):
    from manykernels._threads import n_threads

    cores, rows = n_threads(-1), []
    for name in only.split(",") if only else GROUPS:
        if GROUPS[name] == "card" and not has_card() and not quick:
            console.print(f"{name}: there is no card")
        elif GROUPS[name] != "card" and GROUPS[name] > cores and not quick:
            console.print(f"{name}: needs {GROUPS[name]} cores, there are {cores}")
        else:
            command = [sys.executable, "-m", "benchmarks.limits", name, json.dumps([data, quick, cores])]
            found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            group = [json.loads(line) for line in found.stdout.splitlines() if line.startswith("[")]
            rows += group if not found.returncode else [*group, [name, "failed", None, found.returncode, ""]]
            report(name, group, cores)
    report("All targets", rows, cores)
    write(out, "limits", {"rows": rows})


def report(title, rows, cores):
    show(
        f"{title}: {platform.machine()}, {cores} cores",
        ("target", "asked", "seen", "", "met"),
        [(what, f"{sign} {asked:g}" if asked else sign, seen, unit, verdict(sign, asked, seen))
         for what, sign, asked, seen, unit in rows],
    )  # fmt: skip


def verdict(sign, asked, seen):
    if asked is None:
        return ""
    return "yes" if (seen >= asked if sign == "≥" else seen <= asked) else "NO"


def has_card():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def passes(data, quick, cores):
    from manykernels import MKLClassifier

    n, widths = (300, GEOMETRIC[::10]) if quick else (2000, GEOMETRIC)
    X, y, _ = load_mnist(n, data)
    S = np.moveaxis(rbf_stack(X, widths), 0, 2)
    for order in ("(M, n, n)", "(n, n, M)"):
        S = np.ascontiguousarray(S) if order == "(n, n, M)" else S
        for p in (1, 4 / 3, 2, 4):
            model = MKLClassifier("precomputed", regularizer=p, C=1, tol=1e-3)
            _, ratio, _ = paired(partial(model.fit, S, y), S.sum, repeats=3 if quick else 7, patience=np.inf)
            yield f"{n:,} × {len(widths)}, {order}, p = {norm(p)}, gap 1e-3", "≤", 4, ratio, "passes"
    S = normalise(rbf_stack(X, around_median(X, 4 if quick else 20)))
    unit = partial(svc, S.mean(axis=0).astype(float), y, 1.0)
    for p in (1, 4 / 3, 2):
        model = MKLClassifier("precomputed", regularizer=p, C=1, tol=1e-3)
        _, ratio, _ = paired(partial(model.fit, np.moveaxis(S, 0, 2), y), unit, patience=np.inf)
        yield f"{n:,} × {len(S)}, p = {norm(p)}", "≤", 8, ratio, "× SVC on the mean kernel"


def tight(data, quick, cores):
    sizes = {"stack": (300, 10), "digits": (500, 10), "sequences": (500, 20)} if quick else {
        "stack": (2000, 50), "digits": (5000, 50), "sequences": (20_000, 20)}  # fmt: skip
    for kind, (n, M) in sizes.items():
        X, y, small, kernels, options = problem(kind, n, M, data)
        for p in (1, 2):
            loose = estimator(kernels, p, options, None)
            loose.fit(*small)
            fine = estimator(kernels, p, options | {"tol": 1e-5}, None)
            fine.fit(*small)
            _, ratio, _ = paired(partial(fine.fit, X, y), partial(loose.fit, X, y), repeats=3, patience=20)
            asked = 2.5 if kind == "sequences" else 2
            yield (
                f"{kind}, {n:,} × {M}, p = {norm(p)}: 1e-5 over 1e-3",
                "≤",
                asked,
                ratio,
                f"× (gap {fine.duality_gap_:.0e})",
            )


def sum_of_kernels(data, quick, cores):
    from manykernels import MKLClassifier

    for n in (300,) if quick else (1000, 4000):
        X, y, _ = load_mnist(n, data)
        S = rbf_stack(X, around_median(X, 5 if quick else 20))
        model = MKLClassifier("precomputed", regularizer=np.inf, C=1, tol=1e-3, normalize=None)

        def alone(S=S, y=y):
            return svc(S.sum(axis=0, dtype=float), y, 1.0)

        _, ratio, _ = paired(partial(model.fit, np.moveaxis(S, 0, 2), y), alone, repeats=3, patience=np.inf)
        yield f"the plain sum of {len(S)} kernels, {n:,} examples", "≤", 1, ratio, "× SVC on the sum"


def cold(data, quick, cores):
    imports = "from manykernels import MKLClassifier", "from sklearn.svm import SVC"
    for line in imports:
        process("pass", line)  # writes the bytecode that an installation brings
    ratio = median(process("pass", imports[0]) / process("pass", imports[1]) for _ in range(9))
    yield "import of MKLClassifier", "≤", 1.2, ratio, "× that of SVC"
    first = "from sklearn.datasets import load_breast_cancer as load; X, y = load(return_X_y=True)"
    with tempfile.TemporaryDirectory() as cache:
        seconds = process(first, f"from manykernels import MKLClassifier; {FIT}", NUMBA_CACHE_DIR=cache)
        yield "first fit after the installation, 569 × 36 kernels", "≤", 5, seconds, "processor s"
        file = Path(cache) / "model.mk"
        make = f"from manykernels import MKLClassifier; {FIT}.save({str(file)!r})"
        process(first, make)
        with tempfile.TemporaryDirectory() as other:
            read = f"from manykernels import load; load({str(file)!r}).predict(X[:10])"
            seconds = process(first, read, NUMBA_CACHE_DIR=other)
    yield "first prediction of a loaded model, imports included", "≤", 1.5, seconds, "processor s"


def process(first, then, **environment):
    """Processor seconds of `then` in a new process, which may write bytecode."""
    code = NEW_PROCESS.format(first=first, then=then)
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True, check=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | environment,
    )  # fmt: skip
    return float(found.stdout.splitlines()[-1])


def compress(data, quick, cores):
    from manykernels import MKLClassifier
    from manykernels.kernels import RBF

    n = 500 if quick else 5000
    X, y, new, _, _ = load_ten_digits(n, data)
    for M in (1, 20):
        kernels = [RBF(float(1 / w)) for w in around_median(X, M)]
        model = MKLClassifier(kernels, C=1.0).fit(X, y % 2)
        small = model.compress(1e-3)
        plain, quicker = model.decision_function(new), small.decision_function(new)
        error = np.abs(plain - quicker).max() / np.ptp(plain)
        yield f"compress(1e-3), {n:,} digits × {M}: largest error of new decisions", "≤", 1e-3, error, "of their range"
        before, after = small.compression_["operations"]
        yield f"compress(1e-3), {n:,} digits × {M}: operations", "≥", 5, before / after, "times fewer"
        seconds = [timed(partial(m.decision_function, new))[0] for m in (model, small)]
        yield f"compress(1e-3), {n:,} digits × {M}: time", "", None, seconds[0] / seconds[1], "× shorter"


classical = originals.classical


def growth(data, quick, cores):
    from manykernels import MKLClassifier

    n, M, kernels, examples = (200, 5, (10, 20, 40), (100, 200, 400)) if quick else (
        1000, 20, (50, 100, 200, 500, 1000), (500, 1000, 2000, 4000, 8000))  # fmt: skip
    X, y, _ = load_mnist(max(examples), data)
    S, widths = pixel_sets(X[:n], max(kernels)), around_median(X, M)
    stacks = {
        ("kernels", kernels, 1.1): lambda count: (S[:count], y[:n]),
        ("examples", tuple(k for k in examples if k <= len(y)), 2.2): lambda k: (rbf_stack(X[:k], widths), y[:k]),
    }
    for (what, sizes, asked), stack in stacks.items():
        seconds = {p: [] for p in (1, 4 / 3, 2)}
        for size in sizes:
            K, labels = stack(size)
            for p, spent in seconds.items():
                model = MKLClassifier("precomputed", regularizer=p, C=1, tol=1e-3)
                spent.append(timed(partial(model.fit, np.moveaxis(K, 0, 2), labels), repeats=3)[0])
        for p, spent in seconds.items():
            slope = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
            yield f"{sizes[0]:,} to {sizes[-1]:,} {what}, p = {norm(p)}", "≤", asked, slope, "log–log slope"


def pixel_sets(X, M, size=100, seed=0):
    """(M, n, n): RBF kernels on random sets of pixels that are not blank, 2σ² = 2^U(−1, 2) × mean ‖x − y‖²."""
    rng = np.random.default_rng(seed)
    inked = np.flatnonzero(X.std(axis=0) > 0.05)
    S = np.empty((M, len(X), len(X)), np.float32)
    for K in S:
        part = X[:, rng.choice(inked, min(size, len(inked) // 2), replace=False)]
        K[:] = rbf_stack(part, [2 * part.var(axis=0).sum() * 2 ** rng.uniform(-1, 2)])[0]
    return S


def memory(data, quick, cores):
    cases = (("columns", 300, 500, 4),) if quick else (("columns", 1_000, 10_000, 4), ("digits", 20_000, 50, 12))
    for kind, n, M, asked in cases:
        for p in (1, 2):
            most, seconds = apart("limits", "peak_of", json.dumps([kind, n, M, p, data]))
            yield f"{kind}, {n:,} × {M:,}, p = {p}: peak", "≤", asked, most, f"GB ({seconds:.2g} s)"


def peak_of(kind, n, M, p, data):
    X, y, _, kernels, options = problem(kind, n, M, data)
    seconds, _ = clock(partial(estimator(kernels, p, options, None).fit, X, y))
    yield peak(), seconds


def scales(data, quick, cores):
    from manykernels.banks import PairwiseBank
    from manykernels.kernels import KernelList

    n, M = (500, 5) if quick else (12_000, 50)
    X, y, small, kernels, _ = problem("digits", n, M, data)
    model = estimator(kernels, 1, {}, None).fit(*small)
    make = partial(PairwiseBank, KernelList.from_spec(kernels, X), X)
    start = time.process_time()
    bank = make()
    spent = time.process_time() - start
    start = time.process_time()
    model.fit(X, y)
    yield f"{n:,} digits × {M}, p = 1: making the bank", "≤", 0.5, spent / (time.process_time() - start), "of a fit"
    error = np.abs(bank.scale / make(normalize="exact").scale - 1).max()
    yield f"{n:,} digits × {M}: scales from a sample, largest error", "≤", 1e-3, error, "of a scale"


def suite(data, quick, cores):
    tests = ["tests/regularizers"] if quick else []
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "pytest", "-q", "-x", *tests]
        seconds, found = clock(partial(subprocess.run, command, env=os.environ | {"NUMBA_CACHE_DIR": cache},
                                       stdout=subprocess.DEVNULL, check=False))  # fmt: skip
    words = "the suite from a cold cache" if not found.returncode else "the suite from a cold cache FAILED"
    yield words, "≤", 420, seconds, "s"


def threads(data, quick, cores):
    cases = {
        "sequences": (100_000, 20, 8),
        "digits": (20_000, 50, 6),
        "stack": (4_000, 50, 6),
        "columns": (1_000, 10_000, 5),
    }
    counts = (1, 2) if quick else (1, 8, 16)
    for kind, (n, M, asked) in cases.items():
        n, M = (400, 20 if kind == "sequences" else 10) if quick else (n, M)
        X, y, small, kernels, options = problem(kind, n, M, data)
        models = {t: estimator(kernels, 2, options, t).fit(*small) for t in counts}
        seconds = {t: fitted(model, X, y) for t, model in models.items()}
        few, most = counts[-2:]
        what = f"{kind}, {n:,} × {M:,}, p = 2"
        yield f"{what}: {most} threads", "≥", asked, seconds[1] / seconds[most], f"× one thread ({seconds[most]:.2f} s)"
        yield f"{what}: {most} threads over {few}", "≤", 1, seconds[most] / seconds[few], "×"
    n = 400 if quick else 20_000
    ratio = side_by_side(n, counts[-1])
    yield f"{counts[-1]} fits of one thread side by side, {n:,} sequences", "the machine", None, ratio, "× one alone"


def side_by_side(n, fits=16):
    """The median time of one-thread fits in as many processes at the same time over that of one alone."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    alone = one_thread(n)
    with ProcessPoolExecutor(fits, mp_context=get_context("spawn")) as pool:
        return median(pool.map(one_thread, [n] * fits)) / alone


def one_thread(n):
    X, y, small, kernels, options = problem("sequences", n, 20, None)
    model = estimator(kernels, 2, options, 1).fit(*small)
    return clock(partial(model.fit, X, y))[0]


def fitted(model, X, y):
    seconds, _ = clock(partial(model.fit, X, y))
    return median([seconds, *(clock(partial(model.fit, X, y))[0] for _ in range(2))]) if seconds < 10 else seconds


def digits(data, quick, cores):
    for p in (4 / 3, 1):
        n = 500 if quick else 60_000
        X, y, small, kernels, _ = problem("digits", n, 50, data)
        model = estimator(kernels, p, {"memory_limit": "16GB"}, None).fit(*small)
        yield f"{n:,} digits × 50, p = {norm(p)}", "≤", 8, fitted(model, X, y), "s"


def million(data, quick, cores):
    n = 1_000 if quick else 1_000_000
    X, y, small, kernels, options = problem("sequences", n, 20, data)
    model = estimator(kernels, 2, options, None).fit(*small)
    seconds, _ = clock(partial(model.fit, X, y))
    yield f"{n:,} sequences × 20, p = 2", "≤", 18 if cores >= 16 else 120, seconds, f"s ({peak():.1f} GB)"


def card(data, quick, cores):
    from manykernels import MKLClassifier

    from . import gpu, lowrank

    device = "cuda" if has_card() else "torch"
    n = 500 if quick else 60_000
    X, y, _, _, _ = load_ten_digits(n, data)
    kernels = gpu.widths(X, 5 if quick else 50)
    for p in (1, 4 / 3, 2):
        model = MKLClassifier(kernels, regularizer=p, device=device, C=1.0).fit(X[:3000], y[:3000] % 2)
        yield f"{n:,} digits × {len(kernels)}, p = {norm(p)}", "≤", 1.2, fitted(model, X, y % 2), "s"
    n = 2_000 if quick else 1_000_000
    X, y = lowrank.make(n, 0)
    model = MKLClassifier(lowrank.kernels(), approximation="rff", rank=16 if quick else 256, device=device, C=1.0)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    yield f"{n:,} rows × 20 kernels × 256 features, p = 2", "≤", 60, seconds, f"s (gap {model.duality_gap_:.0e})"


if __name__ == "__main__":
    measure = {"sum": sum_of_kernels}.get(sys.argv[1]) or globals()[sys.argv[1]]
    for row in measure(*json.loads(sys.argv[2])):
        print(json.dumps([float(x) if isinstance(x, np.floating) else x for x in row]), flush=True)

"""Peers on the card, beside ours, on the same digits, where they install: test accuracy and seconds.

None of them learns MKL's problem: himalaya's MultipleKernelRidgeCV (squared loss, weights by random search and
cross-validation) is the nearest; TorchKM's and cuML's SVC have one kernel. A single RBF kernel whose width and C were
chosen on held-out examples, by our own solver, says what the fifty kernels are worth.
"""

import time
from importlib.util import find_spec

import numpy as np

from manykernels import MKLClassifier
from manykernels.kernels import RBF

from .datasets import load_ten_digits
from .gpu import widths
from .report import console, show, write


def main(data=None, out=".", quick=False):
    import torch

    device = "torch" if quick or not torch.cuda.is_available() else "cuda"
    n, few = (600, 300) if device == "torch" else (60_000, 10_000)
    X, y, X_new, y_new, source = load_ten_digits(n, data)
    odd, odd_new = np.where(y % 2, 1, -1), np.where(y_new % 2, 1, -1)
    kernels = widths(X, 5 if device == "torch" else 50)
    rows = []

    def timed(name, examples, learn):
        begin = time.perf_counter()
        try:
            predicted = learn()
        except Exception as error:  # a peer's fault is a row of the table
            rows.append((name, examples, None, None, f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"))
        else:
            seconds = time.perf_counter() - begin
            rows.append((name, examples, seconds, float(np.mean(predicted == odd_new)), ""))
        console.print(*rows[-1])

    def ours(m):
        return MKLClassifier(kernels, device=device, C=1.0).fit(X[:m], odd[:m]).predict(X_new)

    ours(min(few, 3000))  # compiles
    for m in (few, n):
        timed(f"ours, {len(kernels)} kernels, p = 2, C = 1", m, lambda m=m: ours(m))
        timed("ours, one kernel, its width and C tuned", m, lambda m=m: tuned(X[:m], odd[:m], X_new, device))
    timed("himalaya, random search, ridge", few, lambda: himalaya(kernels, X[:few], odd[:few], X_new, device))
    timed("TorchKM SVC, one kernel, C tuned", few, lambda: torchkm(X[:few], odd[:few], X_new, device))
    timed("cuML SVC, one kernel", few, lambda: cuml(X[:few], odd[:few], X_new))
    show(
        f"{source}, odd against even, {'one card' if device == 'cuda' else 'PyTorch on the host'}",
        ("", "examples", "s", "test accuracy", "why not"),
        rows,
        "seconds of everything from X to predictions, one run",
    )
    write(out, "card_peers", {"rows": rows})


def tuned(X, y, X_new, device):
    """One RBF kernel: 7 widths × 3 values of C, a sixth of the examples held out, then all of them."""
    fold, best = np.arange(len(X)) % 6 == 0, (-1.0, None)
    for kernel in widths(X, 33)[10:24:2]:
        for C in (1, 10, 100):
            model = MKLClassifier([RBF(kernel.gamma)], C=C, device=device).fit(X[~fold], y[~fold])
            best = max(best, (model.score(X[fold], y[fold]), model), key=lambda pair: pair[0])
    return best[1].fit(X, y).predict(X_new)


def himalaya(kernels, X, y, X_new, device):
    need("himalaya")
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    backend = set_backend("torch_cuda" if device == "cuda" else "torch")
    squares = lambda A, B: (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * A @ B.T  # noqa: E731
    A, B = backend.asarray(X, dtype="float32"), backend.asarray(X_new, dtype="float32")
    stack = lambda D: backend.stack([backend.exp(-kernel.gamma * D) for kernel in kernels])  # noqa: E731
    options = {"n_iter": 10, "alphas": np.logspace(-2, 4, 7), "progress_bar": False, "n_targets_batch": 1}
    model = MultipleKernelRidgeCV(kernels="precomputed", solver_params=options, cv=3, random_state=0)
    model.fit(stack(squares(A, A)), backend.asarray(y[:, None], dtype="float32"))
    decision = backend.to_numpy(model.predict(stack(squares(B, A))))[:, 0]
    return np.where(decision > 0, 1, -1)


def torchkm(X, y, X_new, device):
    need("torchkm")
    from torchkm import TorchKMSVC

    model = TorchKMSVC(kernel="rbf", cv=5, nC=10, device=device if device == "cuda" else "cpu")
    return model.fit(X.astype(np.float64), y).predict(X_new.astype(np.float64))


def cuml(X, y, X_new):
    need("cuml")
    from cuml.svm import SVC

    return SVC(gamma="scale").fit(X, y).predict(X_new)


def need(package):
    if find_spec(package) is None:
        raise ImportError(f"{package} is not installed")

"""Stacks of kernels in files: the fit is that of the stack in memory, in less memory than the stack."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from manykernels import KernelStack, MKLClassifier

rng = np.random.default_rng(0)
n = 1100  # more than the examples up to which all is float64
X = rng.normal(size=(n, 3))
y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n))
D = ((X[:, None] - X) ** 2).sum(axis=2)
S = np.stack([np.exp(-g * D) for g in (0.05, 0.3, 1.0)]).astype(np.float32)


@pytest.fixture
def files(tmp_path):
    for m, K in enumerate(S):
        np.save(tmp_path / f"{m}.npy", K)
    np.save(tmp_path / "all.npy", S)
    return tmp_path


def test_the_fit_is_that_of_the_stack_in_memory(files):
    known = MKLClassifier("precomputed", C=1.0, tol=1e-5).fit(KernelStack(S, names=["a", "b", "c"]), y)
    for paths in (files / "all.npy", [files / f"{m}.npy" for m in range(3)]):
        stack = KernelStack.from_files(paths, names=["a", "b", "c"])
        assert stack.shape == (n, n, 3) and stack.dtype == np.float32 and stack.passes == 0
        model = MKLClassifier("precomputed", C=1.0, tol=1e-5, memory_limit=S.nbytes // 4).fit(stack, y)
        assert model.objective_ == pytest.approx(known.objective_, rel=1e-6) and 1 <= stack.passes < 20
        np.testing.assert_allclose(model.kernel_weights_, known.kernel_weights_, atol=1e-4)
        new = stack[np.arange(0, n, 7)]
        np.testing.assert_allclose(
            model.decision_function(new), known.decision_function(KernelStack(S)[::7]), atol=1e-3
        )


def test_files_that_cannot_be_read_by_rows_are_refused(files):
    np.save(files / "half.npy", S[0].astype(np.float16))
    np.save(files / "columns.npy", np.asfortranarray(S[0]))
    np.save(files / "small.npy", S[0][:5, :5])
    (files / "none.npy").write_text("kernel")
    for paths, what in (
        ([files / "half.npy"], "holds float16: give float32"), ([files / "columns.npy"], "in Fortran order"),
        ([files / "0.npy", files / "small.npy"], "all must be alike"), (files / "0.npy", r"it must be \(M, n, n\)"),
        ([files / "all.npy"], "several in one file"), ([files / "none.npy"], "is not an .npy file"),
        ([], "names no file"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=what):
            KernelStack.from_files(paths)
    stack = KernelStack.from_files([files / "0.npy"])
    with open(files / "0.npy", "r+b") as file:
        file.truncate(10_000)
    with pytest.raises(ValueError, match="has become shorter"):
        MKLClassifier("precomputed").fit(stack, y)


def test_a_stack_four_times_the_limit_fits_in_bounded_memory(tmp_path):
    """8 matrices of 1,500²: 72 MB; the limit is 18 MB, the combined kernel 18 MB, and 40 MB are for all else."""
    code = textwrap.dedent(FIT).replace("FOLDER", str(tmp_path))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peak, before, gap, passes = map(float, found.stdout.split())
    assert gap <= 1e-3 and 1 <= passes < 12
    assert peak - before < 18 + 18 + 40, (peak, before)


FIT = """
    import resource
    import numpy as np
    from manykernels import KernelStack, MKLClassifier
    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    def fit(n):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 3)).astype(np.float32)
        y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n))
        square = (X * X).sum(axis=1)
        for m, g in enumerate(np.geomspace(0.02, 2, 8)):
            np.save(f"FOLDER/{m}.npy", np.exp(-g * (square[:, None] + square - 2 * X @ X.T)))
        stack = KernelStack.from_files([f"FOLDER/{m}.npy" for m in range(8)])
        before = peak()
        model = MKLClassifier("precomputed", C=1.0, memory_limit=stack.matrices.nbytes // 4, n_jobs=2).fit(stack, y)
        return peak(), before, model.duality_gap_, stack.passes
    fit(1100)
    print(*fit(1500))
"""


def test_a_symmetric_matrix_of_many_examples_is_not_called_skewed():
    """Sums over 20,000 rows lose digits in float32; the matrix is one entry, again and again."""
    from manykernels.loops.stack import survey_first

    n, out = 20_000, np.zeros(2)
    K, ones = np.broadcast_to(np.float32(0.9), (n, n)), np.ones(n, np.float32)
    signs = np.where(np.random.default_rng(0).random(n) < 0.5, -1, 1).astype(np.float32)
    survey_first(K, ones, np.float32(0.9), signs, out)
    assert out[1] < 1e-4  # 3e-4 is refused

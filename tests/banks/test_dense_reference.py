"""What copies, sums and predictors of a bank of matrices take over from it, and what they must not keep."""

import warnings

import numpy as np
import pytest

from manykernels.banks.dense import DenseBank
from manykernels.kernels.stack import KernelStack

rng = np.random.default_rng(0)
n, M = 16, 4
F = rng.normal(size=(M, n, 5))
Ks = F @ np.swapaxes(F, 1, 2) / 5
INDEFINITE = Ks[0] - 3 * np.eye(n)


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return DenseBank(*args, **options)


def flat(bad=False):
    """A bank whose kernel 1 does not vary; with `bad`, kernel 2 has negative eigenvalues."""
    S = Ks.copy()
    S[1] = 1.0
    S[2] = INDEFINITE if bad else S[2]
    return quiet(np.moveaxis(S, 0, 2), names=list("abcd"), memory_limit=1e9, n_jobs=2)


def test_names_are_those_given_those_of_the_stack_or_numbers():
    assert DenseBank(np.moveaxis(Ks, 0, 2)).names == [f"kernel {m}" for m in range(M)]
    stack = KernelStack(Ks, names=list("wxyz"))
    assert DenseBank(stack).names == list("wxyz") and DenseBank(stack, names=list("abcd")).names == list("abcd")
    with pytest.raises(ValueError, match="names has 3 entries for 4 kernels"):
        DenseBank(stack, names=list("abc"))
    with pytest.raises(ValueError, match="X holds NaN or infinity in kernel 'y'"):
        DenseBank(KernelStack(np.where(np.arange(M)[:, None, None] == 2, np.nan, Ks), names=list("wxyz")))


def test_a_part_of_a_square_stack_knows_its_examples():
    stack, some = KernelStack(Ks), np.array([1, 3, 4, 8, 9, 12])
    assert DenseBank(stack).predictor(np.array([0])).trained is None
    bank = DenseBank(stack[some][:, some])
    number, examples = bank.predictor(np.array([0, 2])).trained
    assert number == stack.link()[0]
    np.testing.assert_array_equal(examples, some)


def test_a_bank_that_holds_the_matrices_of_another_is_like_it():
    for bad in (False, True):
        bank = flat(bad)
        held = DenseBank.holding(bank, bank.matrices(dtype=np.float64))
        for name in ("names", "n_jobs", "memory_limit", "indefinite", "unit", "M", "n"):
            assert getattr(held, name) == getattr(bank, name), name
        np.testing.assert_array_equal(held.usable, bank.usable)
        theta = rng.random(M)
        np.testing.assert_allclose(held.combined(theta), bank.combined(theta), atol=1e-12)
        np.testing.assert_allclose(held.diagonals(), bank.diagonals(), atol=1e-12)
        assert bool(bank.indefinite) == bad


def test_the_matrices_of_a_bank_are_exact_where_they_are_asked_for():
    bank = DenseBank(np.moveaxis(Ks, 0, 2).astype(np.float32))
    assert bank.held() is bank
    exact = bank.held(exact=True)
    assert exact.dtype == np.float64 and exact is not bank
    np.testing.assert_allclose(exact.matrices(), Ks.astype(np.float32) * bank.scale[:, None, None], rtol=1e-6)
    tight = quiet(np.moveaxis(Ks, 0, 2).astype(np.float32), memory_limit=1.0)
    assert tight.held(exact=True) is tight


@pytest.mark.parametrize("psd", ["clip", "shift"])
def test_corrected_matrices_are_symmetric_and_positive_and_their_predictor_knows_what_went(psd):
    S = Ks.copy()
    S[2] = INDEFINITE
    S[2, 3, 5] += 1e-8  # within the rounding that is allowed
    bank = DenseBank(np.moveaxis(S, 0, 2), psd=psd, normalize=None)
    found = bank.matrices(dtype=np.float64)
    np.testing.assert_allclose(found, np.swapaxes(found, 1, 2), rtol=0, atol=1e-12)
    assert min(np.linalg.eigvalsh(K).min() for K in found) > -1e-9 and not bank.indefinite
    np.testing.assert_allclose(found[[0, 1, 3]], Ks[[0, 1, 3]], atol=1e-12)
    removed = bank.predictor(np.arange(3)).removed
    if psd == "clip":  # of one kernel alone
        assert [U.shape[1] > 0 for U in removed] == [False, False, True, False]
        even = 0.5 * (S[2] + S[2].T)
        np.testing.assert_allclose(found[2], even - removed[2] @ (removed[2].T @ even), atol=1e-9)
    for bad, told in ((np.nan, "NaN or infinity in kernel 'kernel 2'"), (5.0, "not symmetric in kernel 'kernel 2'")):
        wrong = S.copy()
        wrong[2, 1, 4] = bad
        with pytest.raises(ValueError, match=told):
            DenseBank(np.moveaxis(wrong, 0, 2), psd=psd)


def test_new_rows_must_fit_the_examples_and_the_kernels():
    predictor = DenseBank(np.moveaxis(Ks, 0, 2)).predictor(np.arange(3))
    for shape in ((5, n - 1, M), (5, n, M + 1), (5, n, M - 1)):
        with pytest.raises(ValueError, match=r"X must be \(n_new, 16, 4\)"):
            predictor.combined(rng.normal(size=shape), np.ones(M))
    with pytest.raises(ValueError, match="Y must be None with precomputed kernels"):
        predictor.gram(np.moveaxis(Ks, 0, 2), np.moveaxis(Ks, 0, 2), np.ones(M))
    sphere = DenseBank(np.moveaxis(Ks, 0, 2), normalize="spherical").predictor(np.arange(3))
    with pytest.raises(ValueError, match="needs k.x, x. of the new examples"):
        sphere.combined(rng.normal(size=(5, n, M)), np.ones(M))
    with pytest.raises(ValueError, match="not available with normalize='spherical'"):
        sphere.gram(np.moveaxis(Ks, 0, 2), None, np.ones(M))

"""A stack of kernels between new and training examples is not symmetric, even if it is square."""

import numpy as np
import pytest

from manykernels import KernelStack, MKLClassifier, MKLRegressor
from manykernels.banks import DenseBank, _stack
from manykernels.kernels import RBF
from manykernels.kernels.matrix_files import MatrixFiles

rng = np.random.default_rng(0)
n, WIDTHS = 21, (0.1, 0.5, 2.0)
OLD, NEW = rng.normal(size=(n, 3)), rng.normal(size=(2 * n, 3))
TRAIN = np.array([RBF(w)(OLD) for w in WIDTHS])
ORDERS = {
    "kernels first": lambda S, folder: KernelStack(S),
    "kernels last": lambda S, folder: np.ascontiguousarray(np.moveaxis(S, 0, 2)),
    "single precision": lambda S, folder: KernelStack(S.astype(np.float32)),
    "files": lambda S, folder: KernelStack(MatrixFiles(saved(S, folder))),
}


def saved(S, folder):
    paths = [folder / f"{len(S[0])}-{m}.npy" for m in range(len(S))]
    for path, K in zip(paths, S, strict=True):
        np.save(path, K)
    return paths


@pytest.fixture(params=[0, 2**19], ids=["by loops", "by NumPy"])
def few(request, monkeypatch):
    monkeypatch.setattr(_stack, "FEW_ENTRIES", request.param)


@pytest.mark.parametrize("rows", [n - 1, n, n + 1])
@pytest.mark.parametrize("order", ORDERS)
def test_decisions_are_the_sums_over_the_rows_of_the_new_examples(order, rows, few, tmp_path):
    S = np.array([RBF(w)(NEW[:rows], OLD) for w in WIDTHS])
    bank = DenseBank(ORDERS[order](TRAIN, tmp_path))
    predictor, A = bank.predictor(np.arange(n)), rng.normal(size=(2, n))
    theta = rng.random((2, len(WIDTHS)))
    new = ORDERS[order](S, tmp_path)
    terms = np.einsum("tm,m,mij,tj->tim", theta, bank.scale, S, A)
    tol = 1e-5 if order == "single precision" else 1e-12
    np.testing.assert_allclose(predictor.parts(new, A, theta), terms, atol=tol)
    np.testing.assert_allclose(predictor.decision(new, A, theta), terms.sum(axis=2), atol=tol)
    np.testing.assert_allclose(predictor.decision(new, A[:1], theta[:1]), terms[:1].sum(axis=2), atol=tol)
    np.testing.assert_allclose(
        predictor.combined(new, theta[0]), np.tensordot(theta[0] * bank.scale, S, 1), atol=tol
    )  # fmt: skip


def test_a_model_predicts_an_example_alike_among_any_number_of_others(few):
    S, y = np.array([RBF(w)(NEW[:n], OLD) for w in WIDTHS]), np.arange(n) % 3
    for model in (MKLClassifier("precomputed", C=1e3), MKLRegressor("precomputed", loss="squared")):
        model.fit(KernelStack(TRAIN), y)
        assert len(model.support_) == n
        decide = getattr(model, "decision_function", model.predict)
        whole, parts = decide(KernelStack(S)), model.decision_parts(KernelStack(S))
        for i in (0, 7, n - 1):
            one = KernelStack(S[:, [i]])
            np.testing.assert_allclose(decide(one)[0], whole[i], atol=1e-10)
            np.testing.assert_allclose(model.decision_parts(one)[0], parts[i], atol=1e-10)

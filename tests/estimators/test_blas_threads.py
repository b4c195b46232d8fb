"""BLAS has no more threads than `n_jobs`, whatever asks for kernels, and never more than it was left with."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels._threads import limit_blas
from manykernels.inspect import relevance, suggest
from manykernels.kernels import RBF
from manykernels.regularizers import EmpiricalBayes

X = np.random.default_rng(1).standard_normal((40, 3))
y = np.arange(40) % 2
BLAS = ThreadpoolController().select(user_api="blas")
seen = []


def threads():
    return max(library.num_threads for library in BLAS.lib_controllers)


def kernel(A, B):
    seen.append(threads())
    return A @ B.T + 1e-3 * (A[:, None] == B[None]).all(axis=2)


def model(n_jobs):
    return MKLClassifier([kernel, RBF()], C=1.0, n_jobs=n_jobs)


def fitted(n_jobs):
    return model(n_jobs).fit(X, y)


def search(n_jobs):
    return MKLClassifierCV([kernel, RBF()], Cs=[1.0], regularizer=2, cv=2, n_jobs=n_jobs)


def posterior(n_jobs):
    model = MKLRegressor([kernel, RBF()], loss="squared", regularizer=EmpiricalBayes(noise=0.1), n_jobs=n_jobs)
    return model.fit(X, y + X[:, 0])


USES = {  # what is made beforehand, and what is asked of it
    "fit": (model, lambda m: m.fit(X, y)),
    "choice of C": (model, lambda m: m.set_params(C="auto").fit(X, y)),
    "decision_function": (fitted, lambda m: m.decision_function(X)),
    "predict": (fitted, lambda m: m.predict(X)),
    "decision_parts": (fitted, lambda m: m.decision_parts(X)),
    "combined_kernel": (fitted, lambda m: m.combined_kernel(X, X[:5])),
    "posterior": (posterior, lambda m: m.predict(X, return_std=True)),
    "search": (search, lambda m: m.fit(X, y)),
    "path": (model, lambda m: m.path(X, y, Cs=[1.0], test=(X, y))),
    "relevance": (model, lambda m: relevance(m, X, y, cv=2)),
    "suggest": (model, lambda m: suggest(X, y, m.kernels, Cs=[1.0], cv=2, n_jobs=m.n_jobs)),
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("use", USES)
def test_blas_has_no_more_threads_than_jobs(use, n_jobs):
    make, ask = USES[use]
    with threadpool_limits(3, "blas"):
        made = make(n_jobs)
        seen.clear()
        ask(made)
        assert seen and max(seen) <= n_jobs
        assert threads() == 3


def test_blas_that_was_left_with_one_thread_keeps_to_it():
    with threadpool_limits(1, "blas"):
        with limit_blas(2):
            assert threads() == 1
        assert threads() == 1
    with threadpool_limits(2, "blas"), limit_blas(1):
        assert threads() == 1
        with limit_blas(2):
            assert threads() == 2
        assert threads() == 1

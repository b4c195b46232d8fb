"""Prediction with precomputed kernels."""

from typing import Any

import numpy as np

from .._parts import declared
from ..kernels.normalize import inverse_root, projected
from ..kernels.stack import KernelStack
from ._stack import RootedStack, Stack
from .base import Predictor, each_output


@declared
class DensePredictor(Predictor):
    """Prediction with precomputed kernels: X is (n_new, n_train, M), and only the support columns are read.

    `trained` is (number, positions): the square KernelStack of whose examples the model was fitted on a part, and the
    positions of the part.
    """

    file_tag = ("predictor/precomputed", 1)
    saved = {  # `trained` has a number that is valid in this process only
        "n_train": "int 1", "support": "i8 n <n_train asc", "scale": "f8 M", "root": "?f8 M n",
        "removed": "?list M f8 n_train _", "n_jobs": "jobs",
    }  # fmt: skip

    support: Any
    n_train: Any
    scale: Any
    root: Any
    n_jobs: Any
    removed: Any = None

    def sizes(self):
        return len(self.support), len(self.scale)

    def _open(self, X):
        stack = Stack.of(X)
        if stack.shape[1:] != (self.n_train, len(self.scale)):
            raise ValueError(
                f"X has shape {stack.shape}; this model was fitted on {self.n_train} examples with "
                f"{len(self.scale)} kernels, so X must be (n_new, {self.n_train}, {len(self.scale)})"
            )
        if self.removed is not None:
            stack = Stack(np.stack([projected(stack.matrix(m), U) for m, U in enumerate(self.removed)]))
        if self.root is None:
            return stack
        diagonals = X.test_diagonals if isinstance(X, KernelStack) else None
        if diagonals is None:
            raise ValueError(
                "normalize='spherical' needs k(x, x) of the new examples: pass KernelStack(S, test_diagonals=D), "
                f"D of shape ({len(self.scale)}, n_new), pass a slice of a square KernelStack, or use "
                "normalize='multiplicative'"
            )
        right = np.zeros(stack.shape[:0:-1])
        right[:, self.support] = self.root
        return RootedStack(stack, inverse_root(np.asarray(diagonals, float)), right)

    def combined(self, X, theta):
        stack, w = self._open(X), np.asarray(theta) * self.scale
        return stack.combined(w, np.arange(stack.shape[0]), self.support, np.float64, n_jobs=self.n_jobs)

    def decision(self, X, A, theta):
        A, theta = each_output(A, theta)
        if len(A) == 1:
            return A @ self.combined(X, theta[0]).T
        return np.einsum("tnm->tn", self.parts(X, A, theta))

    def parts(self, X, A, theta):
        stack, (A, theta) = self._open(X), each_output(A, theta)
        kernels, rows = np.flatnonzero(theta.any(axis=0)), np.arange(stack.shape[0])
        out = np.zeros((len(A), stack.shape[0], len(self.scale)))
        P = stack.products(A, self.support, rows, kernels, np.zeros(len(self.scale)), self.n_jobs)
        out[:, :, kernels] = (P * (theta * self.scale)[:, kernels, None]).transpose(0, 2, 1)
        return out

    def gram(self, X, Y=None, theta=None):
        """Σ_m θ_m K_m of the stack X; Y must be None."""
        if Y is not None:
            raise ValueError("Y must be None with precomputed kernels: give the stack between the two sets as X")
        if self.root is not None:
            raise ValueError(
                "combined_kernel of precomputed kernels is not available with normalize='spherical': divide the "
                "matrices by sqrt(k_ii k_jj) yourself and use normalize=None"
            )
        stack = self._open(X)
        rows, cols = np.arange(stack.shape[0]), np.arange(stack.shape[1])
        return stack.combined(np.asarray(theta) * self.scale, rows, cols, stack.array.dtype, n_jobs=self.n_jobs)

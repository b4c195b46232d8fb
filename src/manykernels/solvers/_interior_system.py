"""The linear algebra of `interior`: numeric features, and systems with the curvature of its steps.

    A = D + Σ_m θ_m K_m + Σ_m ω_m (K_m a)(K_m a)ᵀ ,   ω_m = θ_m / (τ − ½ q_m) on the simplex, ∂²Ω* elsewhere

They are solved by conjugate gradients. The preconditioner treats the columns of A − D that outweigh D by Woodbury's
formula and the others by their diagonal: early few columns matter, at the end only those of kernels with weight.
"""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

PRECONDITIONER_COLUMNS = 2500  # at first; `JointPath` may raise it
MAX_CG_STEPS = 300
MIN_DENSE_SHARE, MAX_DENSE_ENTRIES = 0.03, 2**22
MAX_DIFFERENT = 0.8  # share of different columns, above which repeated ones are kept


class StackedFeatures:
    """Φ (n, D), normalised, with kernel m in the columns first[m] : first[m + 1].

    Φ = F, dense or CSR; if kernels share columns, as overlapping groups do, F (n, D') holds each of them once, and
    column j of Φ is root_j times column same_j of F.
    """

    same = root = None

    def __init__(self, F, first, scale, kernels=None):
        self.first = first
        if kernels is not None:
            kernels = kernels if len(kernels) < len(first) - 1 else np.arange(len(first) - 1)
            columns = np.concatenate([np.arange(first[m], first[m + 1]) for m in kernels] or [np.empty(0, int)])
            widths = np.diff(first)[kernels]
            self.first, scale = np.concatenate([[0], np.cumsum(widths)]), np.repeat(scale[kernels], widths)
            F = F if len(columns) == F.shape[1] else F[:, columns]
            repeats = _repeated(F) if len(columns) > len(kernels) else None
            if repeats is None:
                F = sp.csr_array(F * np.sqrt(scale)) if sp.issparse(F) else F * np.sqrt(scale)
            else:
                (kept, self.same), self.root = repeats, np.sqrt(scale)
                F = F[:, kept]
        self.F, self.M = F, len(self.first) - 1
        self.single = self.first[-1] == self.M
        self.T = F.T.tocsr() if sp.issparse(F) else F.T

    def take(self, rows):
        if len(rows) == self.F.shape[0]:
            return self
        part = StackedFeatures(self.F[rows], self.first, None)
        part.same, part.root = self.same, self.root
        return part

    def add(self, a):
        found = self.T @ a
        return found if self.same is None else self.root * found[self.same]

    def look_up(self, w):
        return self.F @ (w if self.same is None else self.joined(self.root * w))

    def joined(self, values):
        """Σ_j values_j over the columns j of Φ that are the same column of F, (D',)."""
        return values if self.same is None else np.bincount(self.same, values, self.F.shape[1])

    def sums(self, values):
        return values if self.single else np.add.reduceat(values, self.first[:-1])

    def spread(self, theta):
        return theta if self.single else np.repeat(theta, np.diff(self.first))

    def weights(self, theta):
        """w (D',) with Σ_m θ_m K_m = F diag(w) Fᵀ."""
        return self.spread(theta) if self.same is None else self.joined(self.root**2 * self.spread(theta))

    def norms(self, a):
        """q_m = ‖Σ_i a_i φ_m(x_i)‖²."""
        return self.sums(self.add(a) ** 2)

    def products(self, v):
        """K_m a for every kernel, (n, M), at v."""
        owners = np.repeat(np.arange(self.M), np.diff(self.first))
        if self.same is None:
            return self.F @ sp.csr_array((v, owners, np.arange(len(v) + 1)))
        return self.F @ sp.csr_array((self.root * v, (self.same, owners)), shape=(self.F.shape[1], self.M))


def _repeated(F):
    """(positions of the different columns of F (n, D), the place of each column among them); None if few repeat."""
    marks = F.T @ np.random.default_rng(0).normal(size=(F.shape[0], 2))
    _, kept, same = np.unique(marks, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(kept)  # rows of F[:, kept] then have ascending indices
    kept, same = kept[order], np.argsort(order)[same.ravel()]
    if len(kept) > MAX_DIFFERENT * F.shape[1]:
        return None
    again = F[:, kept][:, same]
    equal = (again != F).nnz == 0 if sp.issparse(F) else np.array_equal(again, F)
    return (kept, same) if equal else None


class NewtonSystem:
    """A x = r by conjugate gradients; A = D + Φ diag(weight) Φᵀ (− gradient of Ω* twice), Φ the features and K_m a."""

    def __init__(self, features, v, weights, D, squares, exact, most=PRECONDITIONER_COLUMNS):
        self.f, self.v, self.D, self.exact = features, v, D, exact
        self.solved = self.steps = 0
        self.omega, self.negative, theta = weights.omega, weights.negative, weights.theta
        if features.single:
            self.Phi, self.T, self.weight = features.F, features.T, theta + self.omega * v * v
        else:
            G = features.products(v)
            join = sp.hstack if sp.issparse(features.F) else np.hstack
            self.Phi = join([features.F, G], format="csr") if join is sp.hstack else join([features.F, np.asarray(G)])
            self.T, self.weight = self.Phi.T, np.concatenate([features.weights(theta), self.omega])
            squares = self.Phi.multiply(self.Phi) if sp.issparse(self.Phi) else self.Phi**2
        n, score = len(D), self.weight * (squares.T @ (1.0 / D))
        S = np.flatnonzero(score > 1.0)
        self.short = min(len(S), n) > most  # of columns
        if self.short:
            S = np.sort(np.argpartition(-score, most)[:most])
        rest = self.weight.copy()
        rest[S] = 0.0
        U = self.Phi[:, S] * np.sqrt(self.weight[S])
        if sp.issparse(U) and U.nnz > MIN_DENSE_SHARE * n * len(S) and n * len(S) <= MAX_DENSE_ENTRIES:
            U = U.toarray()  # its product with itself is quicker then
        self.P = D + squares @ rest
        self.dual = len(S) < n
        self._factor(sp.csr_array(U) if sp.issparse(U) else U, len(S))

    def _factor(self, U, k):
        if not self.dual:
            A = _square(U)
            A[np.diag_indices(len(A))] += self.P
        else:
            root = (1.0 / np.sqrt(self.P))[:, None]
            V = U.multiply(root) if sp.issparse(U) else U * root
            A = _square(V.T)
            A[np.diag_indices(k)] += 1.0
            self.U, self.UT = U, U.T.tocsr() if sp.issparse(U) else U.T
        self.factor = cho_factor(A, lower=True, check_finite=False) if len(A) else None

    def pull(self, weights):
        """Σ_m weights_m K_m a."""
        return self.f.look_up(self.f.spread(weights) * self.v)

    def multiply(self, x):
        y = self.D * x + self.Phi @ (self.weight * (self.T @ x))
        if self.negative is not None:
            g = self.pull(self.negative)
            y = y - g * (g @ x)
        return y

    def precondition(self, r):
        if not self.dual:
            return cho_solve(self.factor, r, check_finite=False)
        y = r / self.P
        if self.factor is None:
            return y
        return y - (self.U @ cho_solve(self.factor, self.UT @ y, check_finite=False)) / self.P

    def solve(self, r):
        self.solved += 1
        x = self.precondition(r)
        r = r - self.multiply(x)
        z = self.precondition(r)
        p, rz, size = z, float(r @ z), abs(float((r + self.multiply(x)) @ x))
        for _ in range(MAX_CG_STEPS):
            if not rz > self.exact**2 * size:
                break
            Ap = self.multiply(p)
            bend = float(p @ Ap)
            if not bend > 0:
                break
            t, self.steps = rz / bend, self.steps + 1
            x, r = x + t * p, r - t * Ap
            z = self.precondition(r)
            rz, last = float(r @ z), rz
            p = z + (rz / last) * p
        return x


def _square(U):
    """U Uᵀ as an array; columns that are sparse, but not very, are multiplied as dense blocks, which is quicker."""
    if not sp.issparse(U):
        return U @ U.T
    n, k = U.shape
    if U.nnz <= MIN_DENSE_SHARE * n * k:
        return (U @ U.T).toarray()
    columns, A = sp.csc_array(U), np.zeros((n, n))
    for start in range(0, k, size := max(MAX_DENSE_ENTRIES // n, 1)):
        block = columns[:, start : start + size].toarray()
        A += block @ block.T
    return A

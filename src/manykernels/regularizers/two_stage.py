"""Weights that are fixed before the predictor is learned: given ones, and the two-stage baselines.

    θ = weights(kernels, targets),  Σ_m θ_m = 1;   then   min over f, b of Σ c V + ½ Σ_m ‖f_m‖² / θ_m

The second stage is the usual problem with Ω the indicator of one point, so that every loss and solver takes it and
the gap certifies it. Examples count by their weights: weight k equals k copies.
"""

import warnings
from numbers import Integral, Real

import numpy as np

from ._base import Regularizer

_TOL = 1e-3  # gap of the machines that kernels are compared by


class Fixed(Regularizer):
    """Ω(θ) = 0 at θ = weights, else +inf;   Ω*(s) = ⟨weights, s⟩: weights (M,) ≥ 0 that were chosen elsewhere."""

    constraint = True

    def __init__(self, weights):
        self.weights = np.array(weights, dtype=float)
        if self.weights.ndim != 1 or not np.isfinite(self.weights).all() or (self.weights < 0).any():
            raise ValueError(f"weights={weights!r} must be a list of finite numbers >= 0, one a kernel")
        if not self.weights.any():
            raise ValueError(f"weights={weights!r} leaves no kernel that varies on the data: give one a weight > 0")

    def restrict(self, kernels, M):
        if len(self.weights) != M:
            raise ValueError(f"weights has {len(self.weights)} entries for {M} kernels: give one a kernel")
        return Fixed(self.weights[kernels])

    def value(self, theta):
        return 0.0 if np.allclose(theta, self.weights, rtol=1e-9, atol=1e-12 * self.weights.max()) else np.inf

    def conjugate(self, s):
        return float(self.weights @ s)

    def weights_from_norms(self, norms):
        return self.weights.copy()

    def weights_from_dual(self, s):
        return self.weights.copy()

    def prox(self, z, step=1.0):
        return self.weights.copy()

    def minimise(self, model, theta, slack, max_steps=500):
        return self.weights.copy()

    def start(self, M):
        return self.weights.copy()

    def block_norm(self, sq_norms):
        """½ Σ x_m / weights_m, +inf where x_m > 0 without weight."""
        x, w = np.asarray(sq_norms, dtype=float), self.weights
        return np.inf if np.any((x > 0) & (w == 0)) else 0.5 * float(np.sum(x[w > 0] / w[w > 0]))

    def block_prox(self, norms, step):
        return norms * self.block_prox_jacobian(norms, step)

    def block_prox_jacobian(self, norms, step):
        return self.weights / (self.weights + step)


class TwoStage(Regularizer):
    """A rule that finds weights from the kernels and the targets, before and apart from the predictor."""

    needs_targets = True

    def weights(self, bank, Y, c, loss=None, intercept=True, C=1.0):
        """θ (M,) with Σθ = 1 for targets Y (T, n) of costs c (T, n); C is the cost of an example of weight 1."""
        raise NotImplementedError

    def bind(self, bank, Y, c, loss=None, intercept=True, C=1.0):
        """The `Fixed` weights of these data, and the costs."""
        Y = np.atleast_2d(np.asarray(Y, dtype=float))
        c = np.broadcast_to(np.asarray(c, dtype=float), Y.shape)
        if self.needs_targets and loss is not None and loss.targets == "none":
            raise ValueError(f"regularizer={self!r} compares kernels with targets, and there are none; use Uniform()")
        theta = np.where(bank.usable, self.weights(bank, Y, c, loss, intercept, C), 0.0)
        if not theta.any():
            raise ValueError(f"regularizer={self!r} finds no kernel that has to do with y: check y, or use Uniform()")
        return Fixed(theta / theta.sum()), c

    def has(self, method):
        return method in ("weights", "bind")

    def why_not(self, method):
        return "its weights come from the data first: fit an estimator, or take its bind(bank, Y, c, loss)"

    def restrict(self, kernels, M):
        return self


class Uniform(TwoStage):
    """θ_m = 1/M over the kernels that vary on the data."""

    needs_targets = False

    def weights(self, bank, Y, c, loss=None, intercept=True, C=1.0):
        return bank.usable / bank.usable.sum()


class Align(TwoStage):
    """θ_m ∝ ⟨K_m, yy'⟩ / (‖K_m‖ ‖yy'‖), centred: each kernel by its own alignment (Cortes et al. 2012, "align").

    With several outputs the target is Σ_t y_t y_t'.
    """

    def weights(self, bank, Y, c, loss=None, intercept=True, C=1.0):
        from ..kernels.align import centred_products

        target, squares, _ = centred_products(bank, Y, c.mean(axis=0))
        rho = np.divide(target, np.sqrt(squares), out=np.zeros(bank.M), where=bank.usable & (squares > 0))
        return _shares(np.maximum(rho, 0.0))


class AlignF(TwoStage):
    """θ ∝ argmin_{v ≥ 0} v'Mv − 2v'a, M_kl = ⟨K_k, K_l⟩, a_k = ⟨K_k, yy'⟩, centred (Cortes et al. 2012, "alignf").

    The combination Σθ_m K_m has the largest centred alignment with yy' (with Σ_t y_t y_t' for several outputs).
    """

    def weights(self, bank, Y, c, loss=None, intercept=True, C=1.0):
        from scipy.optimize import nnls

        from ..kernels.align import centred_products

        target, M, _ = centred_products(bank, Y, c.mean(axis=0), pairs=True)
        keep = np.flatnonzero(bank.usable & (np.diag(M) > 0))
        if not len(keep):
            return np.zeros(bank.M)
        size = np.sqrt(np.diag(M)[keep])
        values, vectors = np.linalg.eigh(M[np.ix_(keep, keep)] / np.outer(size, size))
        root = np.sqrt(np.maximum(values, 0.0))
        solid = root > 1e-7 * root.max()  # a lies in the range of M
        A = root[solid, None] * vectors[:, solid].T
        v = np.zeros(bank.M)
        v[keep] = nnls(A, (vectors[:, solid].T @ (target[keep] / size)) / root[solid])[0] / size
        return _shares(v)


class BestSingle(TwoStage):
    """All weight on the kernel whose own machine has the lowest mean held-out loss, the estimator's, over `cv` folds.

    Example k of each class (of all, for real targets) is in fold k mod cv, where copies are examples of their own.
    """

    def __init__(self, cv=5):
        if not isinstance(cv, Integral) or isinstance(cv, bool) or cv < 2:
            raise ValueError(f"cv={cv!r} must be an integer >= 2")
        self.cv = int(cv)

    def weights(self, bank, Y, c, loss=None, intercept=True, C=1.0):
        if loss is None:
            raise ValueError("BestSingle needs the loss to compare kernels by: bind(bank, Y, c, loss)")
        rows = np.flatnonzero((c > 0).any(axis=0))
        folds = self._folds(Y[:, rows], loss.targets == "binary" or set(np.unique(Y)) <= {-1.0, 1.0})
        risk, gaps = np.full(bank.M, np.inf), np.zeros(bank.M)
        for m in np.flatnonzero(bank.usable):
            K = bank.combined(np.eye(1, bank.M, m)[0], rows, rows, dtype=np.float64)
            parts = [_held_out(K, Y[:, rows], c[:, rows], folds == k, loss, intercept) for k in range(self.cv)]
            risk[m], gaps[m] = np.sum(parts, axis=0)[0], np.max(parts, axis=0)[1]
        _report(self, bank, gaps)
        return np.eye(1, bank.M, int(np.argmin(risk)))[0]

    def _folds(self, Y, stratify):
        labels = np.unique(Y, axis=1, return_inverse=True)[1].ravel() if stratify else np.zeros(Y.shape[1], int)
        least = np.bincount(labels).min()
        if least < self.cv:
            what = "the smallest class has" if stratify else "there are"
            raise ValueError(f"cv={self.cv} folds are too many: {what} {least} examples; lower cv")
        folds = np.empty(len(labels), int)
        for label in range(labels.max() + 1):
            folds[labels == label] = np.arange(np.sum(labels == label)) % self.cv
        return folds


class EasyMKL(TwoStage):
    """θ_m ∝ γ'YK_mYγ at the γ that minimises (1 − lam) γ'Y(ΣK_m)Yγ + lam ‖γ‖², two classes (Aiolli and Donini 2015).

    γ ≥ 0 sums to 1 on each class: the nearest points of the two classes' hulls, the more spread the larger
    0 < lam ≤ 1. The hulls' nearest points are a squared-hinge machine's scaled dual variables, and found as such.
    """

    def __init__(self, lam=0.1):
        if isinstance(lam, bool) or not isinstance(lam, Real) or not 0 < lam <= 1:
            raise ValueError(f"lam={lam!r} must be a number with 0 < lam <= 1")
        self.lam = float(lam)

    def weights(self, bank, Y, c, loss=None, intercept=True, C=1.0):
        if len(Y) > 1 or not set(np.unique(Y)) <= {-1.0, 1.0}:
            raise ValueError(
                f"regularizer={self!r} is for two classes, y = ±1: use multi_class='ovr' for more, Align() for real y"
            )
        y, w = Y[0], c[0] / C
        rows = np.flatnonzero(w > 0)
        if len(np.unique(y[rows])) < 2:
            raise ValueError(f"regularizer={self!r} needs examples of both classes, y has one only")
        a = np.zeros((1, bank.n))
        a[0, rows] = self._hulls(bank, y[rows], w[rows], rows)
        for side in (y > 0, y < 0):
            a[0, side] /= np.abs(a[0, side]).sum()
        q = bank.products(a[:, rows], rows, rows)[0] @ a[0, rows]
        return _shares(np.maximum(q, 0.0) * bank.usable)

    def _hulls(self, bank, y, w, rows):
        if self.lam == 1:
            return y * w
        from ..losses import SquaredHinge

        K = (1 - self.lam) * bank.combined(bank.usable.astype(float), rows, rows, dtype=np.float64)
        return _machine(K, y[None], (w / (2 * self.lam))[None], SquaredHinge(), True, 1e-8).a[0]


def _shares(theta):
    return theta / theta.sum() if theta.any() else theta


def _machine(K, Y, c, loss, intercept, tol):
    """The machine of one kernel matrix, (T, n) targets and costs."""
    from ..banks.dense import DenseBank
    from ..problem import Problem
    from ..solvers import solve

    bank = DenseBank.from_scaled(np.ascontiguousarray(K)[None], ["kernel"])
    return solve(Problem(bank, Y, loss, Fixed([1.0]), c, intercept), solver="newton", tol=tol)


def _held_out(K, Y, c, test, loss, intercept):
    """(Σ c V over the test examples, of the machine learned on the others, and the gap of that machine)."""
    found = _machine(K[np.ix_(~test, ~test)], Y[:, ~test], c[:, ~test], loss, intercept, _TOL)
    f = found.a @ K[np.ix_(~test, test)] + found.b[:, None]
    return sum(float(w[test] @ loss.value(y[test], f_t)) for y, w, f_t in zip(Y, c, f, strict=True)), found.gap


def _report(rule, bank, gaps):
    """A warning where machines that the weights stand on are not solved: `duality_gap_` does not speak of them."""
    short = np.flatnonzero(~(gaps <= _TOL))
    if short.size:
        worst = short[np.argmax(np.nan_to_num(gaps[short], nan=np.inf))]
        warnings.warn(
            f"regularizer={rule!r} compares kernels by machines that stopped short of a duality gap of {_TOL:g} for "
            f"{short.size} of them ({bank.names[worst]!r}: {gaps[worst]:.2g}), and is less sure for it: lower C, or "
            "rescale those kernels",
            UserWarning,
            stacklevel=6,
        )

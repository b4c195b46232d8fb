"""Small problems that every solver can finish and a conic program can check."""

import numpy as np

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.losses.coupled import STRATUM
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, ElasticNet, Entropy, LpNorm


def make(seed=0, n=30, M=4, real=False):
    """Kernels (M, n, n) on random features of different relevance, RBF and linear by turns, and targets (n,).

    `real` is whether targets are real numbers instead of ±1, or "count" or "survival"; `kind` gives it for a loss.
    """
    rng = np.random.default_rng(seed)
    Ks = []
    X = rng.normal(size=(n, 3 * M))
    for m in range(M):
        x = X[:, 3 * m : 3 * m + 3]
        K = x @ x.T if m % 2 else np.exp(-0.3 * ((x[:, None] - x[None]) ** 2).sum(-1))
        Ks.append(K / (np.trace(K) / n - K.mean()))
    f = X[:, 0] + 0.7 * X[:, 3] + 0.4 * rng.normal(size=n)
    if real == "count":
        return np.array(Ks), np.round(2 * np.exp(0.7 * f))
    if real == "survival":
        return np.array(Ks), times(f, rng)
    return np.array(Ks), f if real else np.where(f > 0, 1.0, -1.0)


def kind(loss):
    """The argument `real` of `make` for the targets of this loss."""
    targets = losses.get(loss).targets
    return targets if targets in ("count", "survival") else targets == "real"


def times(f, rng, strata=1, ties=True):
    """Signed times of the risks f (n,), about half of them censored; with `ties` in few classes."""
    time, end = rng.exponential(size=len(f)) * np.exp(-f), 2 * rng.exponential(size=len(f))
    event, time = time <= end, np.minimum(time, end)
    time = np.ceil(4 * time) if ties else time
    event[np.argmin(time)] = True
    return np.where(event, 1.0, -1.0) * (time + STRATUM * rng.integers(0, strata, len(f)))


def costs(loss, n, C, nu=0.4):
    return np.full(n, 1 / (nu * n)) if loss.name == "one_class" else np.full(n, C)


def small_problem(loss, regularizer, seed=0, n=30, M=4, C=1.0, intercept=None):
    """(problem, kernels, y); without an intercept where the loss has none."""
    loss = losses.get(loss)
    Ks, y = make(seed, n, M, real=kind(loss))
    intercept = loss.takes_intercept if intercept is None else intercept
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    return Problem(bank, y, loss, regularizer, costs(loss, n, C), intercept), Ks, y


def partner(name):
    """A regularizer that the solver of that name takes, not the easiest one."""
    return {
        "silp": LpNorm(1), "simplemkl": LpNorm(1), "nesterov": Entropy(0.5), "level": ElasticNet(0.5),
        "reweighted": BlockNorm(3), "interior": LpNorm(1),
    }.get(name, LpNorm(1.5))  # fmt: skip


def evaluate(problem, Ks, theta, a, b):
    """The primal and dual value at a point and what a gap is relative to, straight from the definition."""
    q = np.einsum("ti,mij,tj->m", a, Ks, a)
    f = np.einsum("m,mij,tj->ti", theta, Ks, a)
    norms, omega = problem.regularizer.penalty(theta, q)
    risk, offset, t = problem.losses(f, b).sum(), problem.loss.total * b.sum(), problem.regularizer.shrink(0.5 * q)
    dual = -problem.conjugates(t * a).sum() - problem.regularizer.conjugate(0.5 * t * t * q)
    return risk + offset + norms + omega, dual, risk + abs(offset) + norms + abs(omega)

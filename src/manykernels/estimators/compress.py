"""A fitted model with fewer operations for each prediction, and the error of its decisions."""

import copy
from typing import Any, NamedTuple

import numpy as np

from .._validation import check_number, parse_bytes
from ..banks.compact import CompactPredictor, ReducedSet, density_of, keeps_support, members_of, operations
from ..banks.pairwise_predictor import PairwisePredictor
from ..kernels.rows import check_rows
from ..kernels.view_data import n_examples
from ..streaming import is_source
from .check_inputs import optional, take_examples

SEARCHED = 1000  # examples on which kernels and support examples are chosen
DROPPED = 0.25  # share of tol that kernels without effect may use
SHARES = (0.7, 0.35, 0.15)  # of tol that all changes may use in the search, before the error of all examples is known
WORTH = 0.9  # a reduced set has at most this share of the support
CONSTANT = 1e-9  # range of a decision, as a share of its size, that is rounding
MAX_BYTES = 2**31  # of the kernels between support examples, if the model has no memory_limit


def compressed(model, tol, X, task):
    """A copy of the fitted model, see `MKLBase.compress`."""
    check_number("tol", tol, 0, 1)
    predictor, A, theta = model.predictor_, model.dual_coef_, np.atleast_2d(model.kernel_weights_)
    _refuse(model, predictor, X)
    check_rows(X, task=task)
    if predictor.by_features:
        return _as_it_is(model, tol, "decisions are computed from explicit features, not from pairs of examples")
    before = operations(predictor, A, theta)
    if not before:
        return _as_it_is(model, tol, "decisions are sums over words, not over support examples")
    if X is None and not keeps_support(predictor, theta):
        raise ValueError("compress: an object with fit_transform keeps no support examples: give X.")
    probe = Probe(model, X, task)
    if not (probe.span > CONSTANT * np.abs(probe.f).max(axis=1)).all():
        return _as_it_is(model, tol, "a decision is the same for all examples")
    whole = Candidate(slice(None), A, theta, np.zeros(len(A)), np.float64)
    for candidate in _candidates(probe, whole, tol):
        compact = CompactPredictor.of(predictor, candidate.rows, candidate.dtype)
        error = probe.error(compact, candidate)
        after = operations(compact, candidate.A, candidate.theta, probe.density(compact))
        if error <= tol and after < before:
            return _with(model, _record(probe, candidate, tol, error, (before, after)), candidate, compact)
    return _as_it_is(model, tol, f"no way with fewer operations has an error of at most {tol:g}")


def _refuse(model, predictor, X):
    """Raises a ValueError for models that cannot be compressed."""
    cure = None
    if isinstance(predictor, CompactPredictor):
        cure = "the model is compressed already: call compress of the fitted model"
    elif optional(model, "noise_") is not None:
        cure = f"the deviations of regularizer={model.regularizer!r} need all examples: fit another regularizer"
    elif not isinstance(predictor, PairwisePredictor) and not predictor.by_features:
        kernels = repr(model.kernels) if isinstance(model.kernels, str) else type(model.kernels).__name__
        cure = f"kernels={kernels} keeps no kernels between single support examples: fit a list of kernels on X itself"
    elif is_source(X):
        cure = f"X={X!r} is read block by block: give some examples in memory"
    if cure is not None:
        raise ValueError(f"compress: {cure}.")


class Candidate(NamedTuple):
    """The support examples `rows`, their coefficients A, the weights, a bound of ‖f − f̃‖ (T,), and the precision."""

    rows: Any
    A: Any
    theta: Any
    norms: Any
    dtype: Any


class Probe:
    """The decisions of a model on X, without intercept, or on its support examples if X is None."""

    def __init__(self, model, X, task):
        self.model, self.predictor = model, model.predictor_
        self.A, self.theta = model.dual_coef_, model.kernel_weights_
        self.X = None if X is None else model._new_X(X, task)
        self.n = len(model.support_) if X is None else n_examples(X)
        rows = np.unique(np.linspace(0, self.n - 1, min(self.n, SEARCHED)).astype(int))
        self.rows, self.some = rows, None
        if X is not None:
            self.some = model._new_X(take_examples(X, rows), None if task is None else np.asarray(task)[rows])
        exact = CompactPredictor.of(self.predictor, slice(None), np.float64) if X is None else self.predictor
        self.exact = exact
        self.f = self._decisions(exact, self.X, self.A, self.theta)
        self.span = np.ptp(self.f, axis=1)

    def _decisions(self, predictor, X, A, theta):
        return predictor.on_support(self.predictor, A, theta) if X is None else predictor.decision(X, A, theta)

    def largest(self, f):
        """max |f| / span over examples and decisions."""
        return float((np.abs(f).max(axis=1) / self.span).max())

    def error(self, predictor, candidate):
        """max |f − f̃| / span over all examples and decisions."""
        return self.largest(self._decisions(predictor, self.X, candidate.A, candidate.theta) - self.f)

    def density(self, compact):
        """The share of entries of X that are not 0, where products go through these."""
        return density_of(compact) if self.X is None else compact.density(self.some)

    def kernels(self, theta):
        """Σ_m θ_m K_m between some of the examples and the support; None if the support is not kept."""
        if self.X is None:
            return self.predictor.support_gram(theta)[self.rows]
        return self.predictor.combined(self.some, theta)

    def reach(self):
        """The largest √k(x, x) over the examples, (T,) or (1,)."""
        if self.X is None:
            own = [np.diag(self.predictor.support_gram(theta)) for theta in np.atleast_2d(self.theta)]
        else:
            own = [self.predictor.diagonal(self.X, theta) for theta in np.atleast_2d(self.theta)]
        return np.sqrt(np.max(own, axis=1))

    def part(self, theta):
        """max |f| / span of the decisions with these weights, on some of the examples."""
        return self.largest(self._decisions(self.exact, self.some, self.A, theta))


def _candidates(probe, whole, tol):
    """Yields candidates, those with the fewest operations first; the last one is the model, in float64."""
    slim = _without_weak_kernels(probe, whole, tol)
    for share in SHARES:
        found = _reduced(probe, slim, share * tol)
        if found is None:
            break
        yield from (found._replace(dtype=dtype) for dtype in (np.float32, np.float64))
    for found in (slim, whole) if slim is not whole else (whole,):
        yield from (found._replace(dtype=dtype) for dtype in (np.float32, np.float64))


def _without_weak_kernels(probe, whole, tol):
    """Leaves out the kernels of views whose decisions are small; ‖f_g‖² ≤ aᵀ(Σ_g θ_m K_m)a in the combined kernel."""
    groups, M = members_of(probe.predictor, whole.theta), whole.theta.shape[1]
    if len(groups) < 2:
        return whole
    masks = [np.isin(np.arange(M), members) for members in groups]
    parts = np.array([probe.part(whole.theta * mask) for mask in masks])
    order = np.argsort(parts)
    weak = order[: int((np.cumsum(parts[order]) <= DROPPED * tol).sum())]
    if not weak.size:
        return whole
    norms = sum(_norms(probe, whole, masks[g]) for g in weak)
    kept = ~np.any([masks[g] for g in weak], axis=0)
    return whole._replace(theta=whole.theta * kept, norms=norms)


def _norms(probe, whole, mask):
    """√(aᵀ K a) of the kernels in the mask, (T,); infinite if the support is not kept."""
    found = []
    for t, a in enumerate(whole.A):
        G = probe.predictor.support_gram(mask * whole.theta[t if len(whole.theta) > 1 else 0])
        found.append(np.inf if G is None else np.sqrt(max(a @ G @ a, 0.0)))
    return np.array(found)


def _reduced(probe, slim, tol):
    """The reduced set with an error of at most tol on some of the examples; None if it saves little or is too large."""
    T, n = slim.A.shape
    limit = parse_bytes(probe.model.memory_limit) or MAX_BYTES
    if 8 * len(slim.theta) * n * (3 * n + len(probe.rows)) > limit:
        return None
    grams = [probe.predictor.support_gram(theta) for theta in slim.theta]
    if any(G is None for G in grams):
        return None
    reduced, f = ReducedSet(grams, slim.A, probe.span, tol), probe.f[:, probe.rows]
    between = [probe.kernels(theta) for theta in slim.theta]

    def error(rows, B):
        found = [between[t if len(between) > 1 else 0][:, rows] @ b for t, b in enumerate(B)]
        return probe.largest(np.stack(found) - f)

    m = reduced.fewest(error, tol)
    if m is None or m > WORTH * n:
        return None
    order = np.argsort(reduced.order[:m])
    B, norms = reduced.coefficients(m)[:, order], slim.norms + reduced.norms(m)
    return slim._replace(rows=reduced.order[:m][order], A=np.ascontiguousarray(B), norms=norms)


def _record(probe, candidate, tol, error, work):
    """`compression_`, numbers and a sentence."""
    n, m, (before, after) = probe.A.shape[1], candidate.A.shape[1], work
    bound = float((candidate.norms / probe.span * probe.reach()).max()) if candidate.norms.any() else 0.0
    where = f"{probe.n:,} examples of X" if probe.X is not None else f"the {probe.n:,} support examples"
    words = f"{before / after:.1f} times fewer operations for a prediction, {after:,.0f} instead of {before:,.0f}: "
    words += f"{m:,} of {n:,} support examples, {'float32' if candidate.dtype == np.float32 else 'float64'}. "
    words += f"Decisions on {where} differ by at most {error:.1e} of their range."
    return {
        "tol": float(tol), "error": error, "bound": bound, "examples": int(probe.n), "support": [int(n), int(m)],
        "operations": [float(before), float(after)], "words": words,
    }  # fmt: skip


def _as_it_is(model, tol, why):
    """A copy of the model that predicts in the same way."""
    n = len(model.support_)
    record = {"tol": float(tol), "error": 0.0, "bound": 0.0, "examples": 0, "support": [n, n], "operations": None}
    return _with(model, record | {"words": f"Nothing to gain: {why}."})


def _with(model, record, candidate=None, predictor=None):
    """A copy of the model with this record, and with another predictor."""
    found = copy.copy(model)
    vars(found).pop("_solutions", None)
    found.compression_ = record
    if candidate is not None:
        found.support_, found.predictor_ = model.support_[candidate.rows], predictor
        found.dual_coef_ = candidate.A
        found.kernel_weights_ = candidate.theta if model.kernel_weights_.ndim == 2 else candidate.theta[0]
    return found

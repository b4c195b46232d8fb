"""Which column inside the kernels: exact Shapley values of single columns."""

from typing import Any

import numpy as np

from ..estimators.advice import new_data
from ..estimators.check_inputs import take_examples
from ..estimators.covariates import level_of
from ..kernels.annotated import obs_columns
from ..kernels.normalize import inverse_root
from ..kernels.rows import check_rows
from ..kernels.view_data import n_examples
from ._games import GamePart, counts_columns, divided, split_views, terms_of
from .displays.base import check_fitted, class_names, members_of
from .shares_result import FeatureShares
from .tables import evenly, heaviest

MAX_ROWS = 100  # examples of a report


def feature_shares(
    model: Any, X: Any, *, background: Any = None, sources: dict[str, Any] | None = None, covariates: Any = None
) -> FeatureShares:
    """The Shapley values of the columns of X: what each adds to the decision f of a model, example by example.

    The players are the columns, v(S) is the decision with the columns S of x alone, and a column gets its mean gain
    v(S ∪ j) − v(S) over all orders in which columns can come. The values are exact, and

        f(x) = base + Σ_j values_j,   base = intercept (and covariates) + v(no column)

    A kernel that is a function of a sum over its columns needs no sum over the 2^d sets: for a product kernel
    k(x, z) = Π_j k_j(x_j, z_j),

        φ_j = (k_j − b_j) ∫₀¹ Π_{i ≠ j} (t k_i + (1 − t) b_i) dt

    where b_j is the factor of an absent column. The integral of this polynomial is exact with d/2 nodes (Owen's
    multilinear extension). Values of support examples and kernels add up with their weights.

    The baseline, v of no column, is a choice. Without a `background`, an absent column adds nothing: it counts as equal
    to that of each support example in distances and categories (b_j = 1 in RBF, Laplacian and Categorical), and as 0 in
    inner products (Linear, Polynomial). With a `background`, absent columns have the values of its rows, and v(S) is
    the mean over the rows: the interventional Shapley value. The values of standardised linear kernels are then the
    same for a background of the training examples, those of other kernels differ.

    A column is one that enters the kernels. If a transformer such as `StandardScaler` or `TableScaler` keeps columns
    apart, it is a column of X; the outputs of a transformer that mixes columns have their own names. Examples, support
    or background without a view add nothing there.

    The time is proportional to examples × support vectors × columns × min(d/2, 3√d) × rows of the background, of each
    kernel with weight.

    Parameters
    ----------
    model : estimator
        Fitted, with RBF, Laplacian, Chi2, Linear, Polynomial, HistogramIntersection, Categorical or Gower kernels, or
        products, sums and `Nystroem` approximations of these.
    X : as in predict
    background : as X, optional
        The rows that stand for absent columns: a sample of some ten to a hundred training examples.
    sources : {name: kernels}, optional
        Groups of kernels, whose parts are kept apart; by default as in `relevance`, the kernels of a view, or those of
        the same columns. Kernels that are in none are a source by themselves.
    covariates : (n, q), optional
        As in predict, if the model was fitted with covariates; what they add is part of the base.

    Returns
    -------
    FeatureShares

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.inspect import feature_shares
    >>> from manykernels.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = MKLRegressor([RBF(gamma=0.1)], C=1.0).fit(X, X[:, 1])
    >>> found = feature_shares(model, X[:5])
    >>> found.values.shape, found.names[int(np.abs(found.values).mean(axis=0).argmax())]
    ((5, 3), 'column 1')
    >>> bool(np.allclose(found.base + found.values.sum(axis=1), model.predict(X[:5])))
    True
    """
    model = check_fitted(model)
    check_rows(X, covariates=covariates)
    kernels, predictor, covariates = _kernel_list(model), model.predictor_, obs_columns(X, covariates)
    X, background = new_data(model, X), None if background is None else new_data(model, background)
    called, members = members_of(model, "source", sources)
    A, theta = np.atleast_2d(model.dual_coef_), _weights(model)
    left = np.setdiff1d(np.flatnonzero(theta.any(axis=0)), np.concatenate(members))
    if len(left):
        called, members = [*called, "other kernels"], [*members, left]
    each = [_source_shares(model, X, background, own) for own in members]
    names = _numbered(each)
    parts = np.zeros((len(called), len(A), len(names), n_examples(X)))
    for out, (own, values, _) in zip(parts, each, strict=True):
        out[:, [names[name] for name in own]] = values
    labels, base = class_names(model), np.array([rest for _, _, rest in each])
    level = level_of(model, covariates, n_examples(X))
    decision = predictor.decision(X, A, theta) + level.T.reshape(len(A), -1)
    split, bases, decision = parts.transpose(0, 3, 2, 1), base.transpose(0, 2, 1), decision.T
    if not labels:
        split, bases, decision, level = split[..., 0], bases[..., 0], decision[:, 0], level[..., 0]
    return FeatureShares(
        split, bases, level, decision, list(names), called,
        _entries(kernels, X, list(names)), labels,
        "an absent column adds nothing" if background is None else f"mean over {n_examples(background)} rows",
    )  # fmt: skip


def source_columns(model: Any, X: Any, members: np.ndarray, most: float) -> list[tuple[str, float]]:
    """[(column, its part of the sum of all mean |values|)] of a source of kernels, greatest first, for a report.

    Only so many of the examples are used that examples × support × columns of the kernels is at most `most`. [] if that
    leaves fewer than ten, if the source has one column, or if a kernel cannot be divided.
    """
    try:
        kernels = _kernel_list(model)
        width = sum(plan.width(kernels.n_features) or 0 for m in members for plan in kernels.plans(m))
        n, rows = n_examples(X), int(most // max(model.predictor_.sizes()[0] * width, 1))
        if min(rows, n) < 10:
            return []
        some = evenly(n, min(rows, MAX_ROWS))
        names, values, _ = _source_shares(model, new_data(model, take_examples(X, some), told=False), None, members)
    except ValueError:
        return []
    size = np.abs(values).mean(axis=(0, 2))
    return [(names[p], float(size[p] / size.sum())) for p in heaviest(size)] if len(names) > 1 else []


def _kernel_list(model):
    kernels = model.predictor_.kernel_list
    if kernels is None:
        raise ValueError("model has precomputed kernels, whose columns are unknown: fit kernels on columns.")
    if kernels.tasks is not None:
        raise ValueError("model has several tasks, which feature_shares does not know: fit plain kernels.")
    return kernels


def _weights(model):
    """θ (T, M) of each output, without slack."""
    A, M = np.atleast_2d(model.dual_coef_), model.predictor_.kernel_list.M
    return np.broadcast_to(np.atleast_2d(model.kernel_weights_)[:, :M], (len(A), M))


def _source_shares(model, X, background, members):
    """(columns, values (T, columns, n), rest (T, n)) of some kernels together."""
    A, theta, n = np.atleast_2d(model.dual_coef_), _weights(model), n_examples(X)
    used = [m for m in members if theta[:, m].any() and model.predictor_.scale[m]]
    each = [_kernel_shares(model, m, X, background, A * theta[:, [m]]) for m in used]
    return _added(each, len(A), n)


def _numbered(each):
    """{column: its number} of the columns of several (columns, values, rest)."""
    return {name: p for p, name in enumerate(dict.fromkeys(name for own, _, _ in each for name in own))}


def _added(each, T, n):
    """The sum of several (columns, values (T, columns, n), rest (T, n))."""
    names = _numbered(each)
    values, rest = np.zeros((T, len(names), n)), np.zeros((T, n))
    for own, found, empty in each:
        values[:, [names[name] for name in own]] += found
        rest += empty
    return list(names), values, rest


def _kernel_shares(model, m, X, background, A):
    """(players, values (T, players, n), rest (T, n)) of kernel m with the coefficients A (T, support)."""
    predictor, name = model.predictor_, str(model.kernel_names_[m])
    kernels = predictor.kernel_list
    expansion = predictor.expansion(m, A)
    if expansion is None:
        raise ValueError(
            f"kernel {name!r} ({kernels.kernels[m]!r}) cannot be divided among columns: the model keeps no examples "
            "that it compares with; fit the kernel itself, or its Nystroem approximation."
        )
    kernel, Z, B = expansion
    terms = terms_of(kernel, name)
    plans, factor = kernels.plans(m), np.ones(n_examples(X))
    rows: list[Any] = [_view(kernels, m, x, plans) for x in ([X] if background is None else [X, background])]
    if rows[0].present is not None:
        factor *= rows[0].present
    if background is not None and rows[1].present is not None:
        if not rows[1].present.any():
            raise ValueError(f"background has no row with the view of kernel {name!r}: give rows that have it.")
        rows[1] = rows[1]._replace(X=rows[1].X[rows[1].present])
    if rows[0].X is None:
        return [], np.zeros((len(A), 0, len(factor))), np.zeros((len(A), len(factor)))
    if model.normalize == "spherical" and not kernel.exempt:
        own = np.concatenate([np.asarray(kernels.kernels[m].diag(x), float) for x in (rows[0].X, Z)])
        own[: len(factor)][factor == 0] = own[-1]
        if np.ptp(own) > 1e-9 * own.max():
            raise ValueError(
                f'normalize="spherical" divides kernel {name!r} by √k(x, x), which depends on all columns: it cannot '
                'be divided among them. Fit with normalize="multiplicative".'
            )
        factor *= inverse_root(own[: len(factor)])
    sides = [split_views(side) for side in (rows[0].X, Z, rows[-1].X if background is not None else Z[:0])]
    arrays = kernels.arrays(X)
    parts = [
        GamePart(x, z, b, plan.made_columns(arrays, x.shape[1]), counts_columns(plan))
        for plan, x, z, b in zip(plans, *sides, strict=True)
    ]
    each = [divided(term, parts, B, name, model.n_jobs) for term in terms]
    players, values, rest = _added(each, len(A), len(factor))
    return players, values * factor, rest * factor


def _view(kernels, m, X, plans):
    """The View of X that kernel m sees."""
    v = kernels.view_of[m]
    return plans[0].view(kernels.arrays(X)) if kernels.view_plans[v].join is None else kernels.views(X, [v])[v]


def _entries(kernels, X, names):
    """What X has in these columns, (n, P); NaN where a column is made by a transformer."""
    arrays, seen = kernels.arrays(X), {}
    for plan in (one for p in kernels.view_plans for one in ([p] if p.join is None else p.join.view_plans)):
        if plan.encoding is None and not plan.sees_nothing and arrays.X.get(plan.name) is not None:
            x = arrays.cut(*plan.where)
            x = x.toarray() if hasattr(x, "toarray") else np.asarray(x)  # SciPy's matrices
            x = x[:, None] if x.ndim == 1 else x
            labels = [name if isinstance(name, str) else f"column {name}" for name in arrays.labels(*plan.where)]
            seen |= {label: x[:, k] for k, label in enumerate(labels) if k < x.shape[1]}
    if all(name in seen and seen[name].dtype.kind in "biuf" for name in names) and names:
        return np.column_stack([seen[name] for name in names]).astype(float)
    out = np.full((n_examples(X), len(names)), np.nan, object)
    for k, name in enumerate(names):
        if name in seen:
            out[:, k] = seen[name]
    return out

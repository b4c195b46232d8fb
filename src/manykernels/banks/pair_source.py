"""Kernels on pairs of objects, for the parameter `kernels` of estimators."""

from typing import Any, Self

import numpy as np

from .._parts import Part
from .._validation import check_choice
from ..kernels.normalize import PSD
from ..kernels.pairs import Pairs
from ..kernels.spec import named_params, with_named
from ._pair_side import ANY, SAME, PairSide, objects_of
from ._vec_trick import Places
from .base import Bank, Source
from .pairs import PairBank

COMBINE = ("kronecker", "cartesian", "sum")


class Pairwise(Part, Source):
    """Kernels on pairs (a, b) from kernels k_1 … k_P on the left objects and h_1 … h_Q on the right ones.

    The fit learns the weights of all kernels without the matrix between all pairs; X is `Pairs`.

    Parameters
    ----------
    left, right : kernels of each side, in any form that an estimator accepts, or "precomputed"
    combine : "kronecker", "cartesian", "sum", or a list of several
        "kronecker": P·Q kernels k_p(a, a') h_q(b, b'), which predict pairs of two new objects; "cartesian": P + Q
        kernels k_p(a, a') [b = b'] and [a = a'] h_q(b, b'), which are 0 for pairs of two new objects; "sum": P + Q
        kernels k_p(a, a') and h_q(b, b'), the separate effects of the two sides. Objects are equal if they have the
        same number in `Pairs`.
    psd : "warn", "clip", "shift" or "error"
        Treatment of "precomputed" matrices that are not positive semidefinite; see `MKLClassifier`. Here "shift"
        adds to every k(a, a), also in new pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import RBF, Linear
    >>> from manykernels.pairs import Pairs, Pairwise
    >>> rng = np.random.default_rng(0)
    >>> drugs, targets = rng.normal(size=(12, 3)), rng.normal(size=(8, 2))
    >>> X = Pairs.grid(drugs, targets)
    >>> y = np.outer(drugs[:, 0], targets[:, 1]).ravel()
    >>> kernels = Pairwise([("line", Linear()), ("near", RBF(gamma=1.0))], [("flat", Linear())])
    >>> model = MKLRegressor(kernels, loss="squared", regularizer=1, C=100).fit(X, y)
    >>> dict(zip(model.kernel_names_, model.kernel_weights_.round(2).tolist()))
    {'line × flat': 1.0, 'near × flat': 0.0}
    """

    file_tag = ("source/pairs", 1)

    def __init__(self, left: Any, right: Any, combine: Any = "kronecker", psd: str = "warn") -> None:
        self.left, self.right, self.combine, self.psd = left, right, combine, psd
        check_choice("psd", psd, PSD)
        if psd != "warn" and not any(isinstance(side, str) and side == "precomputed" for side in (left, right)):
            raise ValueError(f'psd={psd!r} is for sides that are "precomputed", and no side is: leave it at "warn".')
        ways = [combine] if isinstance(combine, str) else list(combine)
        wrong = [way for way in ways if way not in COMBINE]
        if wrong or not ways or len(set(ways)) < len(ways):
            raise ValueError(f"combine={combine!r} must be one or several of {', '.join(map(repr, COMBINE))}.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """{name: value}; `deep` includes the named kernels of each side, `left__NAME`, `left__NAME__gamma`."""
        params = super().get_params(deep)
        for side in ("left", "right") if deep else ():
            params |= {f"{side}__{key}": value for key, value in named_params(params[side]).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets these parameters, `left__NAME__gamma` for a parameter of a named kernel, and returns the source."""
        for side, own in (("left", self.left), ("right", self.right)):
            kernels = params.get(side, own)
            inner = {key: params.pop(key) for key in list(params) if key.startswith(f"{side}__")}
            if inner and not isinstance(kernels, list | tuple):
                key = next(iter(inner))
                raise ValueError(f"Invalid parameter {key!r}: {side}={kernels!r} is no list of named kernels.")
            if inner:
                params[side] = with_named(kernels, {key[len(side) + 2 :]: value for key, value in inner.items()})
        return super().set_params(**params)

    def check_state(self) -> None:
        """Nothing to check: the constructor has checked `combine`, and fit checks the kernels."""

    def bank(
        self,
        X: Any,
        *,
        weights: np.ndarray | None = None,
        normalize: str | None = "multiplicative",
        memory_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> Bank:
        if not isinstance(X, Pairs):
            raise ValueError(
                f"X is a {type(X).__name__}, but kernels=Pairwise(...) take pairs: give Pairs(index, left, right)."
            )
        ways = [self.combine] if isinstance(self.combine, str) else list(self.combine)
        extra = tuple(name for name, way in ((SAME, "cartesian"), (ANY, "sum")) if way in ways)
        parts, places = [], []
        sides = ("left", self.left, X.left), ("right", self.right, X.right)
        for column, (name, kernels, table) in enumerate(sides):
            objects, place = objects_of(table, X.index[:, column])
            parts.append(PairSide(name, kernels, table, objects, extra))
            places.append((place, len(objects)))
        spherical = normalize == "spherical"
        left, right = parts
        A, B = left.fit(X.left, spherical, self.psd), right.fit(X.right, spherical, self.psd)
        pairs = _pairs(ways, left, right)
        return PairBank(
            A, B, pairs, Places(places[0][0], places[1][0], (places[0][1], places[1][1])),
            [f"{left.names[p]} × {right.names[q]}" for p, q in pairs], weights=weights, normalize=normalize,
            memory_limit=memory_limit, n_jobs=n_jobs, sides=(left, right),
            indefinite=[*left.indefinite, *right.indefinite],
        )  # fmt: skip


def _pairs(ways, left, right):
    """(M, 2): the kernels of the two sides whose product is kernel m."""
    found = []
    for way in ways:
        if way == "kronecker":
            found += [(p, q) for p in range(left.size) for q in range(right.size)]
        else:
            name = SAME if way == "cartesian" else ANY
            p0, q0 = (side.size + side.extra.index(name) for side in (left, right))
            found += [(p, q0) for p in range(left.size)] + [(p0, q) for q in range(right.size)]
    return np.array(found, dtype=np.int64)

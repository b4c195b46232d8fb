from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from .._parts import declared
from .._state import Stored, check, check_value
from ._protocol import Behind
from .base import Kernel
from .column_encoders import Indicators
from .frames import check_entries, missing_entries, rows_of, to_numbers
from .normalize import inverse_root


@declared
class Gower(Behind, Kernel):
    """The mean agreement of the columns of a mixed table: numbers by their distance, categories by equality.

    k(x, y) = Σ_j s_j(x_j, y_j) / √(d_x d_y), where d_x is the number of known entries of x, and s_j is 0 where an entry
    is missing, [x_j = y_j] for categories, and 1 − |x_j − y_j| / range_j for numbers, with the range of the training
    data; numbers outside it count as its ends. Columns of numbers or of truth values are told from categories by their
    entries, unless `categories` names them; an ordinal column is one of numbers, so give the ranks.

    Without missing entries this is Gower's coefficient (1971), Σ_j s_j / d. Gower divides by the number of columns that
    both examples have, and is then not always positive semidefinite; this form always is: s_j is
    min(u, v) + min(1 − u, 1 − v) of two numbers between 0 and 1.

    Parameters
    ----------
    categories : list of int, default=()
        The positions, among the columns of the kernel, of columns that are categories even if they hold numbers, such
        as codes.

    Examples
    --------
    >>> from manykernels.kernels import Gower
    >>> Gower()([[20.0, "f"], [60.0, "m"], [40.0, "f"], [60.0, None]]).round(2)
    array([[1.  , 0.  , 0.75, 0.  ],
           [0.  , 1.  , 0.25, 0.71],
           [0.75, 0.25, 1.  , 0.35],
           [0.  , 0.71, 0.35, 1.  ]])
    """

    file_tag = ("kernel/gower", 1)
    reads = "anything"

    categories: Sequence[int] = ()

    def check_state(self) -> None:
        super().check_state()
        check_positions(self.categories)

    def split(self) -> tuple[Any, Kernel]:
        return Agreements(self.categories), Agreement()


class Agreement(Kernel):
    """k(x, y) = Σ_k min(x_k, y_k) / √(Σ_k x_k Σ_k y_k), for non-negative data; 0 if x or y is 0."""

    file_tag = ("kernel/agreement", 1)
    base = "min"

    def from_base(self, B: np.ndarray, out: np.ndarray, sx: Any, sy: Any) -> np.ndarray:
        np.multiply(B, inverse_root(sx), out=out)
        return np.multiply(out, inverse_root(sy), out=out)


@declared
class Agreements(Stored, BaseEstimator):
    """Each column as numbers whose minima sum to s_j of `Gower`: (u, 1 − u) of a number, indicators of categories.

    u is the place in the range of the training data; all are 0 where an entry is missing. A category that the training
    data lack has an indicator too, one for all such categories of a column.
    """

    file_tag = ("transformer/agreements", 1)
    saved = {"learned as learned_": "?list _ any"}

    categories: Sequence[int] = ()

    def fit(self, X: Any, y: Any = None) -> Self:
        x = rows_of(X)
        check_entries("X", x)
        self.n_features_in_, self.learned_ = x.shape[1], []
        check_positions(self.categories, x.shape[1])
        for k, column in enumerate(x.T):
            known = column[~missing_entries(column)]
            if k not in self.categories and all(isinstance(item, Real | np.bool_) for item in known.tolist()):
                ends = known.astype(float)
                if not np.isfinite(ends).all():
                    raise ValueError("X contains infinity; replace it or leave the column out.")
                self.learned_.append(np.array([ends.min(initial=np.inf), ends.max(initial=-np.inf)]))
            else:
                self.learned_.append(Indicators().fit(column[:, None]))
        return self

    def transform(self, X: Any) -> np.ndarray:
        x = rows_of(X)
        if x.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {x.shape[1]} columns, but Gower saw {self.n_features_in_} in fit.")
        check_entries("X", x)
        names, found = list(getattr(X, "columns", range(x.shape[1]))), []  # the user's frame
        for name, column, learned in zip(names, x.T, self.learned_, strict=True):
            known = ~missing_entries(column)
            if isinstance(learned, Indicators):
                z = learned.transform(column[:, None]).toarray()
                z = np.column_stack([z, 1.0 - z.sum(axis=1)])
            else:
                low, high = learned if learned[0] <= learned[1] else (0.0, 0.0)
                u = to_numbers(np.where(known, column, low)[:, None], [name].copy)[:, 0]
                u = np.clip((u - low) / (high - low or 1.0), 0.0, 1.0)
                z = np.column_stack([u, 1.0 - u])
            found.append(z * known[:, None])
        return np.concatenate(found, axis=1)

    @property
    def known_categories(self) -> list[Any]:
        """The categories of each column, None of numbers."""
        return [one.categories_[0] if isinstance(one, Indicators) else None for one in self.learned_]

    def get_feature_names_out(self, input_features: Any) -> np.ndarray:
        """The name of the column that each of the numbers is made of."""
        return np.repeat(np.asarray(input_features, object), [_width(learned) for learned in self.learned_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def check_state(self) -> None:
        self.categories = ()
        if "learned_" in vars(self):
            self.n_features_in_ = len(self.learned_)
            for one in self.learned_:
                several = isinstance(one, Indicators) and len(one.categories_) != 1
                check(not several, "a column has indicators of several")
                check_value("learned", one, "Indicators" if isinstance(one, Indicators) else "f8 2", {})


def check_positions(categories: Any, d: float = np.inf) -> None:
    """A ValueError if `categories` are not positions of d columns."""
    sound = isinstance(categories, Sequence) and not isinstance(categories, str)
    if not sound or not all(
        isinstance(k, int | np.integer) and not isinstance(k, bool) and 0 <= k < d for k in categories
    ):
        raise ValueError(
            f"categories={categories!r} of Gower: give the positions of columns of the kernel, from 0 to the number of "
            "columns less 1."
        )


def _width(learned):
    return 1 + learned.width if isinstance(learned, Indicators) else 2

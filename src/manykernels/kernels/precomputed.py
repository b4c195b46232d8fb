from __future__ import annotations

from typing import Any

import numpy as np

from .base import Kernel
from .frames import check_entries, is_pandas
from .normalize import PSD, corrected, projected


class Precomputed(Kernel):
    """A kernel whose values were computed elsewhere, for use beside other kernels.

    An example is a row of a table: its number among the training examples (-1 for a new one), then its kernel values
    with all training examples, see `table`. A table can be a view or columns of X, and is sliced and matched by id like
    other data. If all kernels are matrices, `kernels="precomputed"` with a `KernelStack` is faster.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF, Precomputed
    >>> x = np.linspace(-1, 1, 20)
    >>> X = {"alike": Precomputed.table(np.outer(x, x)), "age": x[:, None] ** 2}
    >>> model = MKLClassifier([("alike", Precomputed()), ("age", RBF(gamma=1.0))]).fit(X, x > 0)
    >>> new = np.array([-0.55, 0.45])
    >>> model.predict({"alike": Precomputed.table(np.outer(new, x), new=True), "age": new[:, None] ** 2})
    array([False,  True])
    """

    file_tag = ("kernel/precomputed", 1)
    psd = False  # not known

    @staticmethod
    def table(K: Any, new: bool = False) -> Any:
        """The table of a kernel matrix, whose rows the kernel reads.

        Parameters
        ----------
        K : array or frame (n, n_train)
            Values between the examples and the training examples.
        new : bool, default False
            Whether the examples are new. Otherwise they are the training examples, and K is square and symmetric.

        Returns
        -------
        array (n, 1 + n_train)
            Of a frame of pandas a frame, with its index and the names of its columns.

        Examples
        --------
        >>> from manykernels.kernels import Precomputed
        >>> Precomputed.table([[2.0, 1.0], [1.0, 2.0]])
        array([[0., 2., 1.],
               [1., 1., 2.]])
        """
        check_entries("K", K)
        frame, K = K, np.asarray(K, dtype=float)
        if K.ndim != 2:
            raise ValueError(f"K has shape {K.shape}; it must be (n, n_train).")
        if not new:
            if K.shape[0] != K.shape[1]:
                raise ValueError(f"K has shape {K.shape}, not square: give new=True if its rows are new examples.")
            names = (frame.index, frame.columns) if is_pandas(frame) else ()
            if names and not names[0].equals(names[1]) and set(names[0]) == set(names[1]):
                raise ValueError("K has the labels of its rows as columns in another order: give K.loc[:, K.index].")
            off = np.abs(K - K.T)
            if (off > 1e-6 * np.abs(K).max(initial=0.0)).any():
                i, j = np.unravel_index(off.argmax(), off.shape)
                raise ValueError(f"K is not symmetric: K[{i}, {j}] = {K[i, j]:g}, K[{j}, {i}] = {K[j, i]:g}.")
        first = np.full(len(K), -1.0) if new else np.arange(float(len(K)))
        if not is_pandas(frame):
            return np.column_stack([first, K])
        table = frame.set_axis(frame.columns.map(str), axis=1).astype(float)
        table.insert(0, "number", first)
        return table

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        place = self._places(X if Y is None else Y)
        if (place < 0).any():
            raise ValueError(
                "Precomputed() has no values between two new examples: those on the right must be training examples."
            )
        return np.asarray(X)[:, 1 + place]

    def diag(self, X: Any) -> np.ndarray:
        """k(x_i, x_i), (n,): NaN for new examples."""
        place = self._places(X)
        own = np.asarray(X, float)[np.arange(len(place)), 1 + place]
        own[place < 0] = np.nan
        return own

    @staticmethod
    def _places(X):
        """The numbers of the examples among the training examples, (n,), −1 for new ones."""
        place = np.asarray(X, float)[:, 0]
        if not (place == np.round(place)).all() or (place < -1).any() or (place >= X.shape[1] - 1).any():
            raise ValueError(
                "Precomputed() sees rows that do not begin with the number of a training example: give "
                "Precomputed.table(K)."
            )
        return place.astype(int)


class Corrected(Precomputed):
    """`Precomputed` made positive semidefinite on the training examples, by the parameter `psd`; see `spectra`.

    `resolve` sets the numbers `places` (n,) of the examples, the `removed` eigenvectors (n, r) and the `shift`.
    """

    file_tag = ("kernel/corrected", 1)
    saved = {"how": f"of {' '.join(PSD)}", "places": "i8 n <big asc", "removed": "f8 n _", "shift": "finite"}

    def __init__(
        self,
        how: str = "clip",
        places: np.ndarray | None = None,
        removed: np.ndarray | None = None,
        shift: float = 0.0,
    ) -> None:
        self.how, self.places, self.removed, self.shift = how, places, removed, shift

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        if self.places is not None:
            return self
        given = self._places(X)
        if (given < 0).any():
            raise ValueError("Precomputed() is fitted on rows of training examples: give Precomputed.table(K).")
        places, rows = np.unique(given), dict(zip(given.tolist(), range(len(X)), strict=True))
        K = np.asarray(X, float)[[rows[i] for i in places.tolist()]][:, 1 + places]
        _, removed, shift = corrected(0.5 * (K + K.T), self.how, len(K) * 2.0**-52, "Precomputed()")
        return Corrected(self.how, places, removed, shift)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        if self.places is None or self.removed is None:
            return self.resolve(X)(X, Y)
        left, right = self._places(X), self._places(X if Y is None else Y)
        cols = np.searchsorted(self.places, right)
        if (right < 0).any() or not np.array_equal(self.places[np.minimum(cols, len(self.places) - 1)], right):
            raise ValueError("Precomputed() with psd has values only with the training examples of the fit.")
        K = projected(np.asarray(X, float)[:, 1 + self.places], self.removed, cols)
        return K + self.shift * (left[:, None] == right)

    def diag(self, X: Any) -> np.ndarray:
        own = np.full(len(X), np.nan)
        if self.places is None:
            return self.resolve(X).diag(X)
        for i in np.flatnonzero(np.isin(self._places(X), self.places)):
            own[i] = self(X[i : i + 1])[0, 0]
        return own


def with_psd(kernel: Kernel, psd: str) -> Kernel:
    """The kernel, corrected if it is `Precomputed`."""
    return Corrected(psd) if type(kernel) is Precomputed else kernel


def holds_tables(kernels: Any) -> bool:
    """Whether one of an estimator's `kernels` is `Precomputed`."""
    parts = kernels if isinstance(kernels, list | tuple) else [kernels]
    return any(type(p) is Precomputed or isinstance(p, list | tuple) and holds_tables(p) for p in parts)

"""A stack of precomputed kernel matrices that scikit-learn can slice by examples."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from .frames import check_entries, check_masks, cut, is_frame
from .ids import axes, labels_of, positions
from .matrix_files import MatrixFiles
from .stack_examples import StackColumns, StackExamples


class KernelStack:
    """M kernel matrices between n examples and n_train training examples.

    The array is (M, n, n_train), but `shape` is (n, n_train, M), so that slices take examples. A slice is a stack:
    `stack[rows]` is (rows, n_train, M), for predict; `stack[np.ix_(rows, cols)]`, `stack[:, cols]` and
    `stack[..., kernels]` cut the other axes. Slices of a square stack record the examples of their rows and columns:
    fit uses the columns of its own rows, `square()`, and predict the columns of the training examples. Therefore
    `train_test_split`, `CalibratedClassifierCV` and `StackingClassifier` need to cut rows only.

    Parameters
    ----------
    matrices : array (M, n, n_train), or M arrays (n, n_train)
        Or {name: array}. Frames of pandas with labels must have them in the same order.
    names : M str, optional
        The names of the kernels.
    test_diagonals : array (M, n), optional
        k_m(x, x) of the n examples, needed only to predict with `normalize="spherical"`; not needed for a square stack
        and its slices.

    Attributes
    ----------
    ids, train_ids : array (n,) and (n_train,)
        The labels of the rows and of the columns, of frames of pandas; None if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import KernelStack
    >>> x = np.linspace(-1, 1, 20)
    >>> stack = KernelStack([np.outer(x, x), np.outer(x**2, x**2)], names=["line", "square"])
    >>> stack.shape, stack[:5].shape, stack[np.ix_([0, 1], [0, 1, 2])].shape
    ((20, 20, 2), (5, 20, 2), (2, 3, 2))
    >>> model = MKLClassifier("precomputed").fit(stack[::2], (x > 0)[::2])
    >>> model.kernel_names_, model.predict(stack[1::2]).shape
    (['line', 'square'], (10,))
    """

    ndim = 3

    def __init__(
        self, matrices: Any, names: Iterable[str] | None = None, test_diagonals: ArrayLike | None = None
    ) -> None:
        if isinstance(matrices, Mapping):
            if names is not None:
                raise ValueError(f"names={names!r} are given beside a dict of matrices, whose keys are the names")
            names, matrices = list(matrices), list(matrices.values())
        if is_frame(matrices):
            raise ValueError(f"matrices is one frame of shape {matrices.shape}: give a list of matrices, [K]")
        self.ids: np.ndarray | None = None
        self.train_ids: np.ndarray | None = None
        if not isinstance(matrices, np.ndarray | MatrixFiles):
            matrices, names = list(matrices), None if names is None else list(names)
            self.ids, self.train_ids = labels_of(matrices, names)
            sparse = [k for k, K in enumerate(matrices) if issparse(K)]
            if sparse:
                raise ValueError(f"matrices[{sparse[0]}] is sparse: give kernel matrices as arrays, K.toarray()")
            check_masks("matrices", matrices)
            matrices = [np.asarray(K) for K in matrices]
            if not matrices or len({K.shape for K in matrices}) > 1 or matrices[0].ndim != 2:
                shapes = sorted({K.shape for K in matrices})
                raise ValueError(f"matrices must be 2-D, of one shape, and at least one; got shapes {shapes}")
            matrices = np.stack(matrices)
        if matrices.ndim != 3:
            raise ValueError(f"matrices has shape {matrices.shape}; a KernelStack is (M, n, n_train)")
        check_entries("matrices", matrices)
        self.given = matrices.dtype  # its rounding is that of the entries
        if matrices.dtype not in (np.float32, np.float64):
            matrices = matrices.astype(np.float64)
        self.matrices: Any = matrices if isinstance(matrices, MatrixFiles) else np.ascontiguousarray(matrices)
        self.names = None if names is None else [str(name) if isinstance(name, str) else name for name in names]
        if self.names is not None and (len(self.names) != len(matrices) or len(set(self.names)) < len(self.names)):
            raise ValueError(f"names must be {len(matrices)} different names, one per kernel; got {self.names}")
        self._origin = secrets.randbits(62)
        self._link: tuple[int, np.ndarray, np.ndarray] | None = None
        self._given = None if test_diagonals is None else np.asarray(test_diagonals, float)
        if self._given is not None and self._given.shape != matrices.shape[:2]:
            raise ValueError(f"test_diagonals has shape {self._given.shape}; it must be (M, n) = {matrices.shape[:2]}")

    @classmethod
    def from_files(cls, paths: Any, names: Iterable[str] | None = None) -> KernelStack:
        """The stack of matrices in .npy files, which may be larger than memory.

        A fit first reads one whole matrix, then all matrices in the order of the files, some megabytes at a time; with
        `memory_limit` it keeps at most that many bytes of the rows of active examples. Slices read only their rows.

        Parameters
        ----------
        paths : path, or list of M paths
            One file (M, n, n_train), or one (n, n_train) for each kernel: float32 or float64, in C order.
        names : M str, optional
            The names of the kernels.

        Returns
        -------
        KernelStack

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from manykernels.kernels import KernelStack
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("a", "b"):
        ...         np.save(f"{folder}/{name}.npy", np.eye(5))
        ...     KernelStack.from_files([f"{folder}/a.npy", f"{folder}/b.npy"], names=["a", "b"])
        KernelStack(shape=(5, 5, 2), dtype=float64)
        """
        return cls(MatrixFiles(paths), names)

    @property
    def passes(self) -> float:
        """The bytes read so far in multiples of all matrices; 0 for matrices in memory."""
        return self.matrices.bytes_read / max(self.matrices.nbytes, 1) if self._on_disk else 0.0

    @property
    def _on_disk(self):
        return isinstance(self.matrices, MatrixFiles)

    @property
    def test_diagonals(self) -> np.ndarray | None:
        """k_m(x, x) of the n examples, (M, n): as given, or the diagonal of a symmetric stack, else None."""
        if self._given is None and self._symmetric():
            own = self.matrices.diagonals() if self._on_disk else np.einsum("mii->mi", self.matrices)
            self._given = own.astype(float)
        return self._given

    def _symmetric(self):
        """Whether rows and columns are the same examples, by the symmetry of some evenly spaced rows."""
        M, n, n_train = self.matrices.shape
        if n != n_train or self.matrices.size == 0:
            return False
        pick = np.unique(np.linspace(0, n - 1, min(64, n)).astype(int))
        tolerance = 3e-4 if self.dtype == np.float32 else 1e-6
        for m in range(M):
            if self._on_disk:  # of which only the crossing of these rows and columns is read
                rows = self.matrices.read(m, pick, pick)
                columns = rows.T
            else:
                rows, columns = self.matrices[m][pick], self.matrices[m][:, pick].T
            if not np.abs(rows - columns).max() <= tolerance * np.abs(rows).max():
                return False
        return True

    def link(self) -> tuple[int, np.ndarray, np.ndarray] | None:
        """(number of the square stack it was cut from, positions of its rows there, of its columns), or None."""
        if self._link is None and self._symmetric():
            every = np.arange(self.shape[0])
            self._link = self._origin, every, every
        return self._link

    def is_part(self) -> bool:
        """Whether the stack was cut from a square stack."""
        return self._link is not None

    def examples(self) -> StackExamples:
        """The examples of a square stack in a container that all tools of scikit-learn can slice, also nested ones."""
        link = self.link()
        if link is None or not np.array_equal(link[1], link[2]):
            raise ValueError(f"X of shape {self.shape} is not square and symmetric: examples() is for training stacks.")
        return StackExamples(self)

    def by_kernel(self) -> StackColumns:
        """The examples as a table with a column for each kernel, for `permutation_importance` of a fitted model."""
        return StackColumns(self)

    def square(self) -> KernelStack:
        """The stack (n, n, M) of the rows with themselves, for a slice of rows of a square stack."""
        link = self.link()
        if link is None:
            raise ValueError(f"X of shape {self.shape} was not cut from a square stack: give both axes, np.ix_(i, i).")
        return self.columns(link[1])

    def columns(self, examples: np.ndarray) -> KernelStack:
        """The stack with the columns of these examples, given by positions in the original square stack."""
        at = self.where(examples)
        return self if np.array_equal(at, np.arange(self.shape[1])) else self[:, at]

    def where(self, examples: np.ndarray) -> np.ndarray:
        """The columns of these examples, given by positions in the original square stack."""
        link = self.link()
        own = np.empty(0, int) if link is None else link[2]
        at = np.full(max(examples.max(initial=0), own.max(initial=0)) + 1, -1)
        at[own[::-1]] = np.arange(len(own))[::-1]
        lost = int((at[examples] < 0).sum())
        if lost:
            raise ValueError(
                f"X of shape {self.shape} lacks {lost} of the {len(examples)} training examples among its columns: "
                "give their columns, np.ix_(rows, train), or cut rows only."
            )
        return at[examples]

    @property
    def shape(self) -> tuple[int, int, int]:
        M, n, n_train = self.matrices.shape
        return n, n_train, M

    @property
    def dtype(self) -> np.dtype:
        return self.matrices.dtype

    def __len__(self) -> int:
        return self.matrices.shape[1]

    def __getitem__(self, index: Any) -> KernelStack:
        rows, cols, kernels = axes(index)
        M, n, n_train = self.matrices.shape
        rows, cols = positions(rows, n, self.ids), positions(cols, n_train, self.train_ids)
        kernels = positions(kernels, M)
        if self._on_disk:
            return self._linked(self.matrices.take(rows, cols, kernels), rows, cols, kernels)
        part = cut(self.matrices, kernels)
        if rows is not None:
            part = part[:, rows] if cols is None else part[:, rows[:, None], cols]
        elif cols is not None:
            part = part[:, :, cols]
        return self._linked(part, rows, cols, kernels)

    def _linked(self, matrices, rows, cols, kernels):
        """The stack of matrices cut from this one, with a link to the original."""
        diagonals, names = cut(self.test_diagonals, kernels), self.names
        if kernels is not None and names is not None:
            names = [names[m] for m in kernels]
        if rows is not None and diagonals is not None:
            diagonals = diagonals[:, rows]
        part = KernelStack(matrices, names, diagonals)
        part.given, link = self.given, self.link()
        part.ids, part.train_ids = cut(self.ids, rows), cut(self.train_ids, cols)
        if link is not None:
            part._link = link[0], cut(link[1], rows), cut(link[2], cols)
        return part

    def __array__(self, dtype=None, copy=None):
        matrices = np.stack(list(self.matrices)) if self._on_disk else self.matrices
        return np.moveaxis(matrices, 0, 2).astype(dtype or self.dtype, copy=bool(copy))

    def __repr__(self):
        return f"KernelStack(shape={self.shape}, dtype={self.dtype})"

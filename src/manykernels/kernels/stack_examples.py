"""The examples of a square stack of kernels: sliced by rows only, or as a table with a column for each kernel."""

from typing import Any, Self

import numpy as np

from .frames import cut
from .ids import axes, positions


class StackColumns:
    """Examples × kernels of a square `KernelStack`, made by `stack.by_kernel()`; values are copied at prediction only.

    `sklearn.inspection.permutation_importance` permutes the rows of one column. Here a column is a kernel, so that
    example i gets the kernel values of another example with all training examples. A model that was fitted on examples
    of the stack can predict and score the table. It cannot be fitted on the table, since a kernel with permuted rows is
    not symmetric. `inspect.relevance` measures the same on held-out examples, with standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import KernelStack, MKLClassifier
    >>> from sklearn.inspection import permutation_importance
    >>> x, z = np.linspace(-1, 1, 40), np.cos(np.arange(40.0) ** 2)
    >>> stack, y = KernelStack([np.outer(x, x), np.outer(z, z)], names=["x", "z"]), x > 0
    >>> stack.by_kernel()
    StackColumns(40 examples, 2 kernels: x, z)
    >>> model = MKLClassifier("precomputed").fit(stack[::2], y[::2])
    >>> found = permutation_importance(model, stack[1::2].by_kernel(), y[1::2], random_state=0)
    >>> bool(found.importances_mean[0] > 0.3 > found.importances_mean[1])
    True
    """

    ndim = 2

    def __init__(self, stack: Any, rows: np.ndarray | None = None) -> None:
        self.stack = stack
        n, _, M = stack.shape
        self.rows = np.tile(np.arange(n)[:, None], M) if rows is None else rows  # (n, M), positions in the stack

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape[0], self.rows.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.stack.dtype

    @property
    def columns(self) -> list[str]:
        """The names of the kernels, or their numbers."""
        names = self.stack.names
        return [str(m) for m in range(self.stack.shape[2])] if names is None else list(names)

    @property
    def index(self) -> np.ndarray:
        return np.arange(len(self.rows))

    @index.setter
    def index(self, labels: Any) -> None:
        """Does nothing: permutation_importance sets the index of a column before it writes the column back."""

    @property
    def iloc(self) -> Self:
        """`X.iloc[rows]` and `X.iloc[rows, kernels]`: the same as `X[...]`, for scikit-learn."""
        return self

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Self:
        rows, kernels = key if isinstance(key, tuple) else (key, slice(None))
        kernels = [kernels] if isinstance(kernels, int | np.integer) else kernels
        rows, kernels = positions(rows, len(self.rows)), positions(kernels, self.rows.shape[1])
        found, stack = cut(self.rows, rows), self.stack
        return type(self)(*((stack, found) if kernels is None else (stack[..., kernels], found[:, kernels])))

    def __setitem__(self, name: str, column: Any) -> None:
        """Replaces the rows of kernel `name` by the rows of a column of one kernel."""
        if name not in self.columns or not isinstance(column, StackColumns) or column.shape != (len(self), 1):
            raise ValueError(f"{name!r} is set to {column!r}: give a column of {len(self)} examples of {self.columns}.")
        self.rows[:, self.columns.index(name)] = column.rows[:, 0]

    def take(self, indices: Any, axis: int = 0) -> Self:
        """The examples at these positions, or, with axis=1, the kernels."""
        return self[indices] if axis == 0 else self[:, indices]

    def copy(self) -> Self:
        """A copy, of the same stack, whose columns can be permuted independently."""
        return type(self)(self.stack, self.rows.copy())

    def with_columns(self, at: np.ndarray) -> Any:
        """The KernelStack (n, |at|, M) of the rows of each kernel, with these columns of the stack."""
        matrices, given = self.stack.matrices, self.stack.test_diagonals
        M = range(len(matrices))
        found = np.stack([matrices[m][np.ix_(self.rows[:, m], at)] for m in M])
        own = None if given is None else np.stack([given[m, self.rows[:, m]] for m in M])
        return type(self.stack)(found, self.stack.names, own)

    def __array__(self, dtype=None, copy=None):
        raise ValueError(
            f"{self!r} is no table of numbers, so that it cannot be an array: use it for permutation_importance of a "
            'fitted model with kernels="precomputed".'
        )

    def __repr__(self):
        names = self.columns
        some = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        return f"StackColumns({len(self)} examples, {len(names)} kernel{'s'[: len(names) != 1]}: {some})"


class StackExamples:
    """Some examples of a square `KernelStack`, made by `stack.examples()`; values are copied in fit and predict only.

    The shape is (n, n, M), and every slice is a slice of examples: `X[rows]`, `X[np.ix_(rows, any)]`. Therefore nested
    searches, stacking and calibration can slice it repeatedly. A fitted model predicts other examples of the same stack
    from their kernel values with the training examples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV, train_test_split
    >>> from manykernels import KernelStack, MKLClassifier
    >>> x, y = np.arange(20.0) % 7, np.arange(20) % 7 > 3
    >>> stack = KernelStack([np.exp(-((x[:, None] - x) ** 2)), np.outer(x, x)])
    >>> train, test, y_train, y_test = train_test_split(stack.examples(), y, random_state=0)
    >>> train
    StackExamples(15 of 20 examples, 2 kernels)
    >>> search = GridSearchCV(MKLClassifier("precomputed"), {"C": [1, 10]}, cv=3).fit(train, y_train)
    >>> search.score(test, y_test)
    1.0
    """

    ndim = 3

    def __init__(self, stack: Any, rows: Any = None) -> None:
        self.stack = stack
        self.rows = np.arange(len(stack)) if rows is None else rows

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.rows), len(self.rows), self.stack.shape[2]

    @property
    def dtype(self) -> np.dtype:
        return self.stack.dtype

    @property
    def ids(self) -> np.ndarray | None:
        """The labels of the examples, of frames of pandas; None if there are none."""
        return cut(self.stack.ids, self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Self:
        rows, _, kernels = axes(index)
        rows = positions(rows, len(self.rows), self.ids)
        stack = self.stack if kernels is None else self.stack[..., kernels]
        return type(self)(stack, cut(self.rows, rows))

    def by_kernel(self) -> StackColumns:
        """These examples as a table with a column for each kernel, for `permutation_importance` of a fitted model."""
        return self.stack[self.rows].by_kernel()

    def with_examples(self, examples: np.ndarray | None = None) -> Any:
        """The KernelStack (n, ·, M) with the examples at these positions of the stack; None for the same examples."""
        return self.stack[np.ix_(self.rows, self.rows if examples is None else examples)]

    def __array__(self, dtype=None, copy=None):
        raise ValueError(
            f"{self!r} is no table, so that it cannot be an array; its kernel values are X.with_examples(), and the "
            "table with a column for each kernel, for permutation_importance, is X.by_kernel()."
        )

    def __repr__(self):
        return f"StackExamples({len(self.rows)} of {len(self.stack)} examples, {self.stack.shape[2]} kernels)"

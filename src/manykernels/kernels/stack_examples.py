"""The examples of a square stack of kernels, sliced by rows only."""

from typing import Any, Self

import numpy as np

from .row_selection import axes, positions
from .stack_columns import StackColumns


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
        return None if self.stack.ids is None else self.stack.ids[self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Self:
        rows, _, kernels = axes(index)
        rows = positions(rows, len(self.rows), self.ids)
        stack = self.stack if kernels is None else self.stack[..., kernels]
        return type(self)(stack, self.rows if rows is None else self.rows[rows])

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

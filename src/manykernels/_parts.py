"""What losses and regularizers share: they are their parameters."""

import numpy as np

from ._state import check_plain


class Part:
    """Shown, compared and hashed by its parameters, arrays too."""

    def check_state(self):
        """A ValueError where a file has restored what is no parameter; see `_state`."""
        for name, value in vars(self).items():
            check_plain(name, value, (Part,))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={_show(v)}' for k, v in self._parameters().items())})"

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        mine, others = self._parameters(), other._parameters()
        return mine.keys() == others.keys() and all(_same(mine[k], others[k]) for k in mine)

    def __hash__(self):
        return hash(
            (type(self), *(v.tobytes() if isinstance(v, np.ndarray) else v for v in self._parameters().values()))
        )

    def _parameters(self):
        return {k: v for k, v in vars(self).items() if not k.startswith("_")}


def _show(value):
    if isinstance(value, np.ndarray):
        return np.array2string(value, separator=", ", threshold=8)
    return getattr(value, "__name__", None) or repr(value)


def _same(x, y):
    return np.array_equal(x, y) if isinstance(x, np.ndarray) or isinstance(y, np.ndarray) else x == y

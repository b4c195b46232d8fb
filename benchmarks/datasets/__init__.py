"""Data sets: each function returns X, y ±1 and a line that says what was loaded; kernels are made by `kernels`."""

from .kernels import GEOMETRIC, around_median, normalise, rbf_stack
from .mnist import load_mnist, load_ten_digits
from .synthetic import make_columns, make_table
from .tables import load_table, table_names
from .uci import load_uci

__all__ = [
    "GEOMETRIC", "around_median", "load_mnist", "load_table", "load_ten_digits", "load_uci", "make_columns",
    "make_table", "normalise", "rbf_stack", "table_names",
]  # fmt: skip

"""Checks of parameters that users give: every error is a ValueError that names the argument, its value and the cure."""

import re
from numbers import Integral, Real

import numpy as np

_UNITS = {"": 1} | {u: 1000**k for k, u in enumerate("KMGT", 1)}
_UNITS |= {f"{u}I": 1024**k for k, u in enumerate("KMGT", 1)}


class Bytes(int):
    """The bytes that a parameter allows; `given` is the user's value and these bytes are 1/`share` of it."""

    given: object = None
    share = 1

    @classmethod
    def of(cls, value, given, share=1):
        found = cls(value)
        found.given, found.share = given, share
        return found

    def __floordiv__(self, other):
        return Bytes.of(int(self) // other, self.given, self.share * other)


def shown(value):
    """`value` as text for an error, with NumPy's numbers as plain ones: np.int64(0) as 0."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in (list, tuple):
        inner = ", ".join(map(shown, value))
        return f"[{inner}]" if type(value) is list else f"({inner}{','[: len(value) == 1]})"
    if type(value) is dict:
        return f"{{{', '.join(f'{shown(key)}: {shown(item)}' for key, item in value.items())}}}"
    return repr(value)


def one_line(text):
    """A text, such as a name of the user, on one line: control characters are written as \\n and the like."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda found: repr(found[0])[1:-1], str(text))


def check_number(name, value, low=0.0, high=np.inf, closed="neither", of=None):
    """`value` as a float between low and high; `closed` says which of the two it may be, "left", "right" or "both".

    An error names `of`, the object that has the parameter.
    """
    try:
        number = float(value) if isinstance(value, float | Real) and not isinstance(value, bool) else np.nan
    except OverflowError:  # an integer of hundreds of digits
        number = np.nan
    below, above = "<=" if closed in ("left", "both") else "<", "<=" if closed in ("right", "both") else "<"
    inside = (low <= number if below == "<=" else low < number) and (number <= high if above == "<=" else number < high)
    if not inside:
        bounds = f"{low:g} {below} {name} {above} {high:g}"
        raise ValueError(f"{name}={shown(value)}{_owner(of)} must be a number with {bounds}.")
    return number


def check_integer(name, value, low=1, high=None, of=None):
    """`value` as an int, no less than low and, unless None, no more than high."""
    whole = isinstance(value, int | Integral) and not isinstance(value, bool)
    if not whole or value < low or high is not None and value > high:
        bounds = f">= {low}" + (f" and <= {high}" if high is not None else "")
        raise ValueError(f"{name}={shown(value)}{_owner(of)} must be an integer {bounds}.")
    return int(value)


def check_choice(name, value, choices, of=None):
    """`value` if it is one of `choices`, texts or None."""
    if not any(value is c or (isinstance(c, str) and isinstance(value, str) and value == c) for c in choices):
        raise ValueError(
            f"{name}={shown(value)}{_owner(of)} is unknown: choose one of {', '.join(map(repr, choices))}."
        )
    return value


def check_vector(name, value, zero=False):
    """`value` as a read-only array (M,) of positive numbers, or, with `zero`, of numbers >= 0."""
    refuse_labels(name, value)
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 1 or not len(array) or not np.all(np.isfinite(array) & (array >= 0 if zero else array > 0)):
        kind = "numbers >= 0" if zero else "positive numbers"
        raise ValueError(f"{name}={shown(value)} must be an array (M,) of finite {kind}, one per kernel.")
    array.flags.writeable = False
    return array


def refuse_labels(name, value):
    """A ValueError for a column of pandas with labels, since its entries are taken in their order."""
    if hasattr(value, "iloc") and type(value.index).__name__ != "RangeIndex":  # the user's value
        some = ", ".join(map(shown, value.index[:3]))
        raise ValueError(f"{name} has labels ({some}, …), which are not matched: order it, and give {name}.to_numpy().")


def check_size(name, array, M):
    """A ValueError unless the parameter has an entry for each of the M kernels."""
    if len(array) != M:
        raise ValueError(f"{name} has {len(array)} entries, but there are {M} kernels; give one per kernel.")


def parse_bytes(value):
    """Bytes from a whole number, "500MB", "4GB", "2GiB", or None for no limit."""
    if value is None or isinstance(value, Bytes):
        return value
    given = value
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", value.upper())
        if match and match[2] in _UNITS:
            value = int(float(match[1]) * _UNITS[match[2]])
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < value < np.inf and value == int(value):
        return Bytes.of(int(value), given)
    raise ValueError(f'memory_limit={shown(given)} is not a size: give positive bytes such as 4_000_000_000 or "4GB".')


def _owner(of):
    return "" if of is None else f" of {type(of).__name__}"

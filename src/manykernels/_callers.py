"""Calls across rooms: the user's line, for warnings, and functions of upper rooms that lower rooms call.

`manykernels/__init__.py`, above all rooms, registers the functions. `model.report(...)` calls
`OFFERS["report"]()`, which imports the room `report` and returns `make_report`.
"""

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

OFFERS: dict[str, Callable[[], Callable[..., Any]]] = {}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the line of the user: of the first function that is not of this package."""
    warnings.warn(message, category, stacklevel=1 + _first_outside()[0])


def caller_module() -> str:
    """The name of the module of that function."""
    return str(_first_outside()[1].f_globals.get("__name__", ""))


def caller_line() -> tuple[Any, int]:
    """The code and the line of the first function that is neither of this package nor of a search of scikit-learn."""
    frame = _first_outside("sklearn.", "joblib.")[1]
    return frame.f_code, frame.f_lineno


def _first_outside(*others: str) -> tuple[int, FrameType]:
    level, frame, inside = 1, sys._getframe(2), ("manykernels.", *others)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith(inside):
        level, frame = level + 1, frame.f_back
    return level, frame

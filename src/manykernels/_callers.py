"""The caller of the package, so that a warning names the user's line at any depth."""

import sys
from types import FrameType


def caller_level() -> int:
    """The `stacklevel`, seen from the caller of this function, of the first function that is not of this package."""
    return _first_outside()[0]


def caller_module() -> str:
    """The name of the module of that function."""
    return str(_first_outside()[1].f_globals.get("__name__", ""))


def _first_outside() -> tuple[int, FrameType]:
    level, frame = 1, sys._getframe(2)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("manykernels."):
        level, frame = level + 1, frame.f_back
    return level, frame

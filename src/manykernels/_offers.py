"""Functions of upper rooms that lower rooms call; `manykernels/__init__.py`, above all rooms, registers them.

`model.report(...)` calls `OFFERS["report"]()`, which imports the room `report` and returns `make_report`.
"""

from collections.abc import Callable
from typing import Any

OFFERS: dict[str, Callable[[], Callable[..., Any]]] = {}

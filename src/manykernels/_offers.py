"""What upper rooms do for objects of lower ones: the package, which stands above all rooms, registers it here.

`OFFERS["report"]()` is `make_report`, with which `model.report(...)` ends; its room is loaded on the first call.
"""

from collections.abc import Callable
from typing import Any

OFFERS: dict[str, Callable[[], Callable[..., Any]]] = {}

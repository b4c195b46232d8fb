"""The numba loops: arrays in, arrays out. Import a module of this package only inside a function that runs a fit.

`MANYKERNELS_NO_CACHE=1` keeps compiled code out of the disk cache.
"""

import os
from typing import Any

OPTIONS: dict[str, Any] = {
    "cache": os.environ.get("MANYKERNELS_NO_CACHE", "") in ("", "0"),
    "nogil": True,
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
INNER = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # for loops that only loops call

"""Loops that only numba runs: with NUMBA_DISABLE_JIT=1 Python has neither its intrinsics nor the fields of records."""

import pytest
from numba import config

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="intrinsics and records are for compiled loops")

"""Figures are closed after each test, where matplotlib is loaded."""

import sys

import pytest


@pytest.fixture(autouse=True)
def closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")

"""Fixtures of the tests of checkpoints."""

import pytest

from manykernels.solvers import checkpoint_file, coordinate


@pytest.fixture
def often(monkeypatch):
    """Every state that is offered is written, several in each pass."""
    monkeypatch.setattr(checkpoint_file, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint_file, "SHARE", 0)
    monkeypatch.setattr(coordinate, "VISITS", 128)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"

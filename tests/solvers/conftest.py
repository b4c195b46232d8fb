"""Fixtures of the tests of checkpoints."""

import pytest

from manykernels.solvers import checkpoint_file, coordinate


@pytest.fixture
def often(monkeypatch):
    """Every state that is offered is written, several in each pass."""
    monkeypatch.setattr(checkpoint_file, "WRITE_INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint_file, "WRITE_PAUSE", 0)
    monkeypatch.setattr(coordinate, "VISITS_PER_SUM", 128)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"

"""Each test of a genome runs in an empty folder of its own."""

import pytest


@pytest.fixture(autouse=True)
def cwd(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

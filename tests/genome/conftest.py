import pytest

pytest.importorskip("pyfaidx")

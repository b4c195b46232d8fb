"""The page `docs/extending.md` shows the classes that the tests here fit."""

import inspect
from pathlib import Path

import pytest
from test_own_features import Steps
from test_own_kernel import RationalQuadratic
from test_own_loss import Absolute, Expectile
from test_own_object_kernel import Overlap
from test_own_regularizer import Squares
from test_own_source import SQLiteTable

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()


@pytest.mark.parametrize("part", [Absolute, Expectile, Overlap, RationalQuadratic, SQLiteTable, Squares, Steps])
def test_the_page_shows_this_class(part):
    assert inspect.getsource(part) in PAGE

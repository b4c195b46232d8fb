"""Columns of streamed tables: two of one name are refused, and those without a name have the name that pandas gives."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier
from manykernels.kernels import RBF
from manykernels.streaming import CSVFiles, ParquetFiles


@pytest.mark.parametrize(("end", "head"), [("csv", "x,y,y"), ("csv", "x, y,y"), ("parquet", "")])
def test_two_columns_of_one_name_are_refused(tmp_path, end, head):
    """Issue 11, point 17; also where the names differ by spaces alone."""
    path = tmp_path / f"d.{end}"
    if end == "csv":
        path.write_text(head + "\n" + "1,0,0\n2,1,1\n" * 10)
    else:
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: nothing writes such a file")
        import pyarrow.parquet

        pyarrow.parquet.write_table(pa.table([[1.0, 2.0], [0, 1], [0, 1]], names=["x", "y", "y"]), path)
    source = (CSVFiles if end == "csv" else ParquetFiles)(str(path))
    with pytest.raises(ValueError, match=rf"d.{end} has several columns called 'y': rename them"):
        MKLClassifier([("x", RBF(0.1), ["x"])]).fit(source, "y")


ROWS = "".join(f"{v},{w},{v > 0:d}\n" for v, w in np.random.default_rng(0).normal(size=(30, 2)))


def test_a_column_without_a_name_is_called_by_its_place(tmp_path):
    """A leftover of issue 11. Asked for by "", it is refused with its name."""
    path = tmp_path / "d.csv"
    path.write_text("b,,y\n" + ROWS)
    source = CSVFiles(str(path))
    model = MKLClassifier([("k", RBF(0.1), ["b", "Unnamed: 1"])]).fit(source, "y")
    assert model.n_features_in_ == 2
    for given, target in ((CSVFiles(str(path), columns=["b", ""]), "y"), (source, "")):
        with pytest.raises(ValueError, match=r"d.csv has no column ''.*'Unnamed: 1'"):
            MKLClassifier([RBF(0.1)]).fit(given, target)
    path.write_text("b,,Unnamed: 1\n" + ROWS)
    with pytest.raises(ValueError, match="d.csv has several columns called 'Unnamed: 1': rename them"):
        MKLClassifier([RBF(0.1)]).fit(source, "b")


def test_the_target_of_a_parquet_file_may_have_an_empty_name(tmp_path):
    """It was a TypeError."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: nothing writes such a file")
    X = np.random.default_rng(0).normal(size=30)
    pd.DataFrame({"x": X, "": X > 0}).to_parquet(tmp_path / "d.parquet")
    model = MKLClassifier([RBF(1.0)]).fit(ParquetFiles(str(tmp_path / "d.parquet")), "")
    assert model.n_features_in_ == 1 and model.score(pd.DataFrame({"x": X}), X > 0) > 0.9


def test_numbers_of_a_csv_file_are_read_to_their_last_digit_without_a_warning(tmp_path):
    """A leftover of issue 11: pandas 3.1 reads so by itself, and warns of the option that others need."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=2000) * 10.0 ** rng.integers(-30, 30, 2000)
    path = tmp_path / "d.csv"
    path.write_text("x,y\n" + "".join(f"{v!r},1\n" for v in X.tolist()))
    source = CSVFiles(str(path)).with_target("y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = [block["x"] for piece in source.pieces() for block, _ in source.read(piece)]
    np.testing.assert_array_equal(found, X)

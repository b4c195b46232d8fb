"""Two columns of one name are refused in streamed tables."""

import pytest

from manykernels import MKLClassifier
from manykernels.kernels import RBF
from manykernels.streaming import CSVFiles, ParquetFiles


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_two_columns_of_one_name_are_refused(tmp_path, end):
    """Issue 11, point 17."""
    path = tmp_path / f"d.{end}"
    if end == "csv":
        path.write_text("x,y,y\n" + "1,0,0\n2,1,1\n" * 10)
    else:
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: nothing writes such a file")
        import pyarrow.parquet

        pyarrow.parquet.write_table(pa.table([[1.0, 2.0], [0, 1], [0, 1]], names=["x", "y", "y"]), path)
    source = (CSVFiles if end == "csv" else ParquetFiles)(str(path))
    with pytest.raises(ValueError, match=rf"d.{end} has several columns called 'y': rename them"):
        MKLClassifier([("x", RBF(0.1), ["x"])]).fit(source, "y")

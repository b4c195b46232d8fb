"""Whatever a source cannot read is a ValueError that names the file."""

import numpy as np
import pytest

from manykernels import MKLClassifier
from manykernels.kernels import RBF
from manykernels.streaming import ArrayFile, CSVFiles, DataSource, ParquetFiles

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
Y = np.where(X[:, 0] > 0, 1, 0)


def table(lost=-1):
    rows = (f"{a},{'' if i == lost else b},{y}\n" for i, ((a, b), y) in enumerate(zip(X, Y, strict=True)))
    return "a,b,y\n" + "".join(rows)


def fit(source, y="y"):
    MKLClassifier([RBF(gamma=1.0)]).fit(source, y)


CSV = {
    "NaN in column 'b'": table(lost=3),
    "ParserError": "a,b,y\n1,2,0\n1,2,3,4,5\n2,3,1\n",
    "EmptyDataError": "",
    "y='y' has 1 missing values": "a,b,y\n1,2,0\n1,2,\n2,3,1\n",
    "has no column 'y'": "a,b\n1,2\n",
}


@pytest.mark.parametrize("what", CSV)
def test_a_table_that_cannot_be_used_is_named(tmp_path, what):
    (tmp_path / "good.csv").write_text(table())
    (tmp_path / "rows.csv").write_text(CSV[what])
    with pytest.raises(ValueError, match=what) as caught:
        fit(CSVFiles([tmp_path / "rows.csv"]))
    assert str(tmp_path / "rows.csv") in str(caught.value)


def test_of_many_files_those_that_were_compared_are_named(tmp_path):
    (tmp_path / "good.csv").write_text(table())
    (tmp_path / "bad.csv").write_text(table(lost=3))
    with pytest.raises(ValueError, match="good.csv or .*bad.csv: X contains NaN in column 'b'"):
        fit(CSVFiles([tmp_path / "good.csv", tmp_path / "bad.csv"]))


def test_a_file_that_is_cut_off_is_named(tmp_path):
    np.save(tmp_path / "whole.npy", X)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:-200])
    with pytest.raises(ValueError, match="cut.npy: mmap length"):
        ArrayFile(tmp_path / "cut.npy")
    pytest.importorskip("pyarrow")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match="cut.parquet: ArrowInvalid"):
        fit(ParquetFiles(tmp_path / "cut.parquet"))


def test_a_prediction_names_the_file_too(tmp_path):
    (tmp_path / "bad.csv").write_text(table(lost=3))
    model = MKLClassifier([RBF(gamma=1.0)]).fit(X, Y)
    np.save(tmp_path / "bad.npy", np.where(np.arange(80).reshape(40, 2) == 41, np.nan, X))
    with pytest.raises(ValueError, match="bad.npy: X contains NaN in column 1"):
        model.predict(ArrayFile(tmp_path / "bad.npy"))


class Given(DataSource):
    def __init__(self, blocks):
        self.blocks = blocks

    def pieces(self):
        return [0]

    def read(self, piece):
        return self.blocks


@pytest.mark.parametrize(
    "blocks, what",
    [(None, "returned NoneType"), ([None], "gave a NoneType"), ([(None, None)], "gave None for X"), ([X], "a ndarray")],
)
def test_a_source_that_gives_no_blocks_is_told_what_to_yield(blocks, what):
    with pytest.raises(ValueError, match=rf"read\(\) of Given\(\) .*{what}: yield \(X, y\) of each block"):
        fit(Given(blocks), Y)

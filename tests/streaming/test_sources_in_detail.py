"""Sources where blocks are uneven, targets lie in several files, headers are odd, and the first block is small."""

import os
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from streams import rows

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.losses import Hinge
from manykernels.streaming import (
    ArrayFile,
    CSVFiles,
    DaskCollection,
    DataSource,
    FastaFiles,
    HDF5File,
    ParquetFiles,
    ZarrArray,
)
from manykernels.streaming.files import from_paths
from manykernels.streaming.shards import SentModel, Shard, load
from manykernels.streaming.stream import Stream

rng = np.random.default_rng(3)


def test_targets_of_several_files_stay_beside_their_examples(tmp_path):
    X, y = rows(90)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=np.arange(90))
    for k, part in enumerate((frame[:20], frame[20:75], frame[75:])):
        part.to_csv(tmp_path / f"{k}.csv", index=False)
    with Stream(CSVFiles(tmp_path / "*.csv", rows=15).with_target("label"), 1) as stream:
        assert stream.y.tolist() == list(range(90))
        stream.arrange(np.ones((1, 90)), np.ones(90), None)
        assert_array_equal(stream.fetch(np.array([3, 19, 20, 74, 75, 89]))["a"], X[[3, 19, 20, 74, 75, 89], 0])


def test_an_array_is_found_by_its_name_with_or_without_the_ending(tmp_path):
    np.savez(tmp_path / "d.npz", X=np.arange(6.0).reshape(3, 2), y=[0, 1, 0])
    for name in ("X", "X.npy"):
        source = ArrayFile(tmp_path / "d.npz", name).with_target("y")
        (block, y), = source.read((0, 3))  # fmt: skip
        assert block.tolist() == [[0, 1], [2, 3], [4, 5]] and y.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"has no array 'Z'; it has .'X', 'y'."):
        ArrayFile(tmp_path / "d.npz", "Z")


def test_a_dataset_that_is_not_there_is_named_with_the_others(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["X"], file["y"] = np.ones((4, 2)), np.arange(4)
    with pytest.raises(ValueError, match=r"has no dataset 'Z'; it has .'X', 'y'."):
        HDF5File(tmp_path / "d.h5", "Z")
    with pytest.raises(ValueError, match="has no dataset 'labels'"):
        next(HDF5File(tmp_path / "d.h5", "X").with_target("labels").read((0, 2)))


def test_the_kind_of_a_file_does_not_depend_on_the_case_of_its_ending(tmp_path):
    (tmp_path / "A.FASTA").write_text(">r\nACGT\n")
    (tmp_path / "b.CSV").write_text("u,v\n1,2\n")
    assert type(from_paths([tmp_path / "A.FASTA"])) is FastaFiles and type(from_paths([tmp_path / "b.CSV"])) is CSVFiles
    with pytest.raises(ValueError, match="all must be of one kind"):
        from_paths([tmp_path / "A.FASTA", tmp_path / "b.CSV"])


@pytest.mark.parametrize("dtype", [np.int16, bool, np.float16, np.float32])
def test_partitions_are_cut_into_blocks_with_all_their_rows(dtype):
    da = pytest.importorskip("dask.array")
    X = (rng.normal(size=(23, 3)) * 5).astype(dtype)
    source = DaskCollection(da.from_array(X, chunks=(9, 2)), rows=4)
    blocks = [block for piece in source.pieces() for block, _ in source.read(piece)]
    assert [len(block) for block in blocks] == [4, 4, 1, 4, 4, 1, 4, 1]
    assert_array_equal(np.concatenate(blocks), X)
    assert {block.dtype for block in blocks} == {np.dtype(np.float32 if dtype is np.float32 else np.float64)}
    sent = pickle.loads(pickle.dumps(source))  # a worker gets the source without the partitions
    assert sent.delayed(0) is None and sent.pieces() == source.pieces() and repr(sent) == repr(source)
    with pytest.raises(ValueError, match="cannot be read by another process"):
        next(sent.read(0))
    assert next(sent.read(X[:3]))[0].tolist() == X[:3].tolist()


def test_a_shard_is_loaded_from_the_piece_that_a_worker_has_computed():
    da = pytest.importorskip("dask.array")
    X = rng.normal(size=(10, 2))
    source = pickle.loads(pickle.dumps(DaskCollection(da.from_array(X, chunks=(5, 2)), rows=2)))
    shard = load(Shard(source, 1, source.fingerprint(1), first=5, n=5), X[5:])
    assert_array_equal(np.concatenate(list(shard.blocks())), X[5:])
    assert [(part.start, part.stop) for part, _ in shard.parts()] == [(0, 2), (2, 4), (4, 5)]


class Made:
    """A predictor that any process can make."""

    def prepared(self, A, theta, room):
        return lambda X: (A * theta * room) @ X[None, :, 0]


def test_a_model_that_was_sent_decides_as_here():
    A, b = np.array([[2.0], [3.0]]), np.array([0.5, -1.0])
    model = SentModel(Made(), A, np.array([0.5]), b, Hinge(), slice(1, 3), 7)
    X = rng.normal(size=(4, 2))
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(model.decision(X), 3.5 * A * X[:, 0] + b[:, None])
    assert_array_equal(again.decision(X), model.decision(X))
    assert again.outputs == slice(1, 3) and again.room == 7 and isinstance(again.loss, Hinge)


def test_the_fingerprint_of_a_zarr_array_follows_all_its_files_and_no_others(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "d.zarr"), mode="w")
    group["X"], group["y"] = rng.normal(size=(8, 2)), np.arange(8)
    source = ZarrArray(tmp_path / "d.zarr", "X", rows=4)
    before = source.fingerprint((0, 4))
    assert source.fingerprint((4, 8)) == before
    (tmp_path / "d.zarr" / "y" / "more").write_text("other")
    assert source.fingerprint((0, 4)) == before
    files = sorted(path for path in (tmp_path / "d.zarr" / "X").rglob("*") if path.is_file())
    for path in files:
        info = path.stat()
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns + 10**9))
        assert source.fingerprint((0, 4)) != before
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        assert source.fingerprint((0, 4)) == before
    info = files[-1].stat()
    files[-1].write_bytes(files[-1].read_bytes() + b"0")
    os.utime(files[-1], ns=(info.st_atime_ns, info.st_mtime_ns))
    assert len(files) > 1 and source.fingerprint((0, 4)) != before


X, y = rows(200)


class Table(DataSource):
    """Rows in memory, with their targets under the name "label"."""

    def pieces(self):
        return [0, 100]

    def read(self, piece):
        part = slice(piece, piece + 100)
        yield X[part], y[part] if self.target == "label" else None


def test_a_source_that_gives_no_targets_is_named_with_the_target():
    model = MKLClassifier([Linear()])
    with pytest.raises(ValueError, match=r"Table\(\).*None for y.*'class'.*where self.target is 'class'"):
        model.fit(Table(), "class")
    with pytest.raises(ValueError, match=r"Table\(\).*None for y.*'class'"):
        model.fit(Table(), "label").score(Table(), "class")


def test_score_reads_the_targets_of_that_name():
    model = MKLClassifier([Linear(), RBF(gamma=0.1)]).fit(Table(), "label")
    assert model.score(Table(), "label") == model.score(X, y) == model.score(Table(), y)
    known = MKLRegressor([Linear()], loss="epsilon_insensitive").fit(X, y)
    assert known.score(Table(), "label") == pytest.approx(known.score(X, y), rel=1e-12)


def test_score_takes_the_targets_out_of_a_table(tmp_path):
    np.savetxt(tmp_path / "t.csv", np.column_stack([X, y]), delimiter=",", comments="",
               header=",".join([*(f"x{j}" for j in range(X.shape[1])), "label"]))  # fmt: skip
    source = CSVFiles(tmp_path / "t.csv")
    model = MKLClassifier([Linear()]).fit(source, "label")
    assert model.score(source, "label") > 0.5


@pytest.mark.parametrize(("end", "head"), [("csv", "x,y,y"), ("csv", "x, y,y"), ("parquet", "")])
def test_two_columns_of_one_name_are_refused(tmp_path, end, head):
    """Also where the names differ by spaces alone."""
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
    """Asked for by "", it is refused with its name."""
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
    """Pandas 3.1 reads so by itself, and warns of the option that others need."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=2000) * 10.0 ** rng.integers(-30, 30, 2000)
    path = tmp_path / "d.csv"
    path.write_text("x,y\n" + "".join(f"{v!r},1\n" for v in X.tolist()))
    source = CSVFiles(str(path)).with_target("y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = [block["x"] for piece in source.pieces() for block, _ in source.read(piece)]
    np.testing.assert_array_equal(found, X)


def test_a_first_block_of_one_row_is_no_table_of_one_row(tmp_path):
    """"X has n_samples=1" for forty examples."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] > 0
    np.save(tmp_path / "X.npy", X)
    whole = MKLClassifier([Linear()]).fit(X, y)
    model = MKLClassifier([Linear()]).fit(ArrayFile(tmp_path / "X.npy", rows=1), y)
    assert model.objective_ == pytest.approx(whole.objective_, rel=2e-3)


def test_a_first_file_of_one_row(tmp_path):
    """One file a day, and one patient on the first."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
    for name, part in (("0.csv", frame[:1]), ("1.csv", frame[1:])):
        part.to_csv(tmp_path / name, index=False)
    source = CSVFiles([str(tmp_path / "0.csv"), str(tmp_path / "1.csv")])
    assert MKLClassifier([Linear()]).fit(source, frame["a"].to_numpy() > 0).n_features_in_ == 3


def test_one_example_in_all_is_refused(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((1, 3)))
    with pytest.raises(ValueError, match="n_samples=1"):
        MKLClassifier([Linear()]).fit(ArrayFile(tmp_path / "X.npy"), [1])

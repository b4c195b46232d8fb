"""Every kind of file gives the rows and targets that were written, in blocks, and the same fit."""

import bz2
import gzip
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from streams import rows

from manykernels import MKLClassifier
from manykernels.kernels import RBF, Linear
from manykernels.sequences import fasta
from manykernels.streaming import (
    ArrayFile,
    CSVFiles,
    FastaFiles,
    HDF5File,
    ParquetFiles,
    Threads,
    ZarrArray,
    using,
)

NAMES = list("abcdef")
KERNELS = [("one", RBF(gamma=0.5), [0]), ("two", RBF(gamma="scale"), [1, 2]), ("all", Linear())]


def npz(folder, X, y):
    np.savez(folder / "data.npz", X=np.asfortranarray(X), y=y)
    return ArrayFile(folder / "data.npz", "X", rows=70), "y"


def npy(folder, X, y):
    np.save(folder / "X.npy", X)
    return ArrayFile(folder / "X.npy", rows=70), y


def hdf5(folder, X, y):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "data.h5", "w") as file:
        file["X"], file["y"] = X, y
    return HDF5File(folder / "data.h5", "X", rows=70), "y"


def zarr(folder, X, y):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(folder / "data.zarr"), mode="w")
    group["X"], group["y"] = X, y
    return ZarrArray(folder / "data.zarr", "X", rows=70), "y"


def parquet(folder, X, y):
    pytest.importorskip("pyarrow")
    table = pd.DataFrame(X, columns=NAMES).assign(label=y)
    table[:120].to_parquet(folder / "0.parquet", row_group_size=50)
    table[120:].to_parquet(folder / "1.parquet")
    return ParquetFiles(folder / "*.parquet", rows=70), "label"


def feather(folder, X, y):
    pytest.importorskip("pyarrow")
    pd.DataFrame(X, columns=NAMES).assign(label=y).to_feather(folder / "data.feather", compression="uncompressed")
    return ParquetFiles(folder / "data.feather", columns=NAMES, rows=70), "label"


def csv(folder, X, y):
    table = pd.DataFrame(X, columns=NAMES).assign(label=y)
    table[:120].to_csv(folder / "0.csv.gz", index=False, float_format="%.17g")
    table[120:].to_csv(folder / "1.csv.gz", index=False, float_format="%.17g")
    return CSVFiles(folder / "*.csv.gz", rows=70), "label"


@pytest.fixture(scope="module")
def whole():
    """(X, y, objective, weights) of the fit in memory."""
    X, y = rows(300)
    model = MKLClassifier(KERNELS, tol=1e-5).fit(X, y)
    return X, y, model.objective_, model.kernel_weights_


KINDS = [npy, npz, hdf5, zarr, parquet, feather, csv]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_rows_and_targets_come_back_in_blocks_and_fit_as_in_memory(tmp_path, kind, whole):
    X, y, objective, weights = whole
    source, target = kind(tmp_path, X, y)
    assert len(source) == len(X)
    source = pickle.loads(pickle.dumps(source))
    named = source if not isinstance(target, str) else source.with_target(target)
    blocks = [block for piece in named.pieces() for block in named.read(piece)]
    assert_array_equal(np.concatenate([np.asarray(block) for block, _ in blocks]), X)
    assert max(len(block) for block, _ in blocks) <= 70
    if isinstance(target, str):
        assert_array_equal(np.concatenate([labels for _, labels in blocks]), y)
    with using(Threads(2)):
        model = MKLClassifier(KERNELS, tol=1e-5).fit(source, target)
    assert model.objective_ == pytest.approx(objective, rel=1e-5)
    assert_allclose(model.kernel_weights_, weights, atol=3e-3)
    expected = model.decision_function(pd.DataFrame(X, columns=NAMES) if hasattr(model, "feature_names_in_") else X)
    assert_allclose(model.decision_function(source), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("compress", [open, gzip.open, bz2.open], ids=["plain", "gzip", "bzip2"])
@pytest.mark.parametrize("fastq", [False, True])
def test_sequences_of_several_files(tmp_path, compress, fastq):
    texts = ["".join(np.random.default_rng(i).choice(list("ACGT"), 12)) for i in range(90)]
    labels = [i % 2 for i in range(90)]
    suffix = {open: "", gzip.open: ".gz", bz2.open: ".bz2"}[compress]
    for k in range(3):
        with compress(tmp_path / f"{k}.fa{suffix}", "wt") as file:
            for i in range(30 * k, 30 * k + 30):
                head = f"read{i} class={labels[i]}"
                file.write(
                    f"@{head}\n{texts[i]}\n+\n{'I' * 12}\n" if fastq else f">{head}\n{texts[i][:7]}\n{texts[i][7:]}\n"
                )
    source = FastaFiles(tmp_path / f"*.fa{suffix}", window=(2, 10)).with_target("class")
    blocks = [block for piece in source.pieces() for block in source.read(piece)]
    assert [text for X, _ in blocks for text in X] == [text[2:10] for text in texts]
    assert np.concatenate([y for _, y in blocks]).tolist() == labels


def test_blocks_of_a_long_file_are_cut_at_records(tmp_path, monkeypatch):
    """Blocks hold about as many records as asked for, and none is lost between the chunks of the file."""
    monkeypatch.setattr(fasta, "BUFFER_SIZES", (2**10,))
    letters = np.random.default_rng(0).choice(list("ACGT"), (500, 30))
    texts = ["".join(row) for row in letters]
    (tmp_path / "long.fa").write_text("".join(f">r{i}\n{text}\n" for i, text in enumerate(texts)))
    source = FastaFiles(tmp_path / "long.fa", rows=100)
    found = [X for X, _ in source.read(source.pieces()[0])]
    assert 3 <= len(found) <= 5 and [text for X in found for text in X] == texts
    (tmp_path / "wide.fa").write_text(">one\n" + "A" * 3000 + "\n>two\nACGT\n")
    with pytest.raises(ValueError, match="has a record longer than 1024 bytes"):
        list(FastaFiles(tmp_path / "wide.fa").read(str(tmp_path / "wide.fa")))


def test_a_compressed_npz_cannot_be_mapped(tmp_path):
    np.savez_compressed(tmp_path / "data.npz", X=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="is compressed and cannot be mapped"):
        ArrayFile(tmp_path / "data.npz", "X")
    with pytest.raises(ValueError, match="name the array in an .npz file"):
        ArrayFile(tmp_path / "data.npz")

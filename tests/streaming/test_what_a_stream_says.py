"""What a stream refuses and what it warns of, source by source, and which kernels it measures pair by pair."""

import os
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.sequences import Sequences
from manykernels.streaming import ArrayFile, CSVFiles, DataSource, FastaFiles, ParquetFiles
from manykernels.streaming import stream as stream_module
from manykernels.streaming.arrays import as_in_memory
from manykernels.streaming.files import find_files
from manykernels.streaming.stream import Stream
from manykernels.strings import WeightedDegree

rng = np.random.default_rng(0)
n = 40
X = rng.normal(size=(n, 3))


class Blocks(DataSource):
    """Examples in memory, `size` rows in a piece."""

    def __init__(self, X, size=15):
        self.X, self.size = X, size

    def pieces(self):
        return list(range(0, len(self.X), self.size))

    def read(self, piece):
        yield self.X[piece : piece + self.size], None


@contextmanager
def opened(X):
    with Stream(Blocks(X), 1) as stream:
        stream.arrange(np.ones((1, len(X))), np.ones(len(X)), None)
        yield stream


@pytest.mark.filterwarnings("ignore:kernels without variance")
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_one_column_far_from_0_is_told_wherever_it_stands(order):
    """As its variance is lost in its square: beside near columns, and beside kernels of pairs."""
    far = X + [0.0, 1e9, 0.0]
    kernels = KernelList.from_spec([(str(k), Linear(), [k]) for k in order], far)
    with opened(far) as stream:
        assert stream_module.normalisation(stream, kernels, far, None)[1]
    with opened(X) as stream:
        assert not stream_module.normalisation(stream, kernels, X, None)[1]
    with opened(far) as stream:
        pairs = KernelList.from_spec([("p", RBF(0.1), [0]), ("l", Linear(), [1]), ("q", RBF(0.1), [2])], far)
        assert stream_module.normalisation(stream, pairs, far, None)[1]


@pytest.mark.filterwarnings("error")
def test_all_pairs_of_many_examples_are_warned_of_with_their_names(monkeypatch):
    kernels = KernelList.from_spec([("first", RBF(0.1), [0]), ("linear", Linear(), [1]), ("second", RBF(1.0), [2])], X)
    monkeypatch.setattr(stream_module, "MANY_EXAMPLES", n - 1)
    with opened(X) as stream:
        few = X[:5]
        with pytest.warns(UserWarning, match="compares all pairs of 40 examples once for kernels 'first', 'second'"):
            stream_module.normalisation(stream, kernels, few, "multiplicative")
        monkeypatch.setattr(stream_module, "MANY_EXAMPLES", n)
        stream_module.normalisation(stream, kernels, few, "multiplicative")
        monkeypatch.setattr(stream_module, "MANY_EXAMPLES", 1)
        stream_module.normalisation(stream, kernels, few, "trace")


@pytest.mark.parametrize("kind", ["trace", "spherical"])
def test_kernels_that_do_not_vary_on_the_sample_are_refused_by_name(kind):
    still = X.copy()
    still[:, 1] = 2.0
    kernels = KernelList.from_spec([("moves", RBF(0.1), [0]), ("rests", RBF(0.1), [1])], X)
    with opened(still) as stream, pytest.raises(ValueError, match=r"kernels 'rests' do not vary on a sample of 7"):
        stream_module.normalisation(stream, kernels, still[:7], kind)
    with opened(X) as stream:
        assert stream_module.normalisation(stream, kernels, X[:7], kind)[0].usable.all()


def test_kernels_without_variance_over_all_examples_are_named():
    still = X.copy()
    still[:, 1] = 2.0
    kernels = KernelList.from_spec([("moves", Linear(), [0]), ("rests", RBF(0.1), [1]), ("too", Linear(), [1])], X)
    with opened(still) as stream, pytest.warns(UserWarning, match="without variance.*'rests', 'too'"):
        scaled, _ = stream_module.normalisation(stream, kernels, still, "multiplicative")
    assert scaled.usable.tolist() == [True, False, False]


def test_words_are_counted_where_they_are_numbers_of_64_bits():
    """Words of DNA have three bits a letter with the unknown one: 21 letters fit, 22 are compared pair by pair."""
    texts = Sequences.encode(["".join(row) for row in rng.choice(list("ACGT"), size=(n, 30))])
    for degree, family in ((21, "degree"), (22, None)):
        kernels = KernelList.from_spec([WeightedDegree(degree)], texts)
        assert [name for name, _ in stream_module._families(kernels)] == [family]
    assert stream_module._bits(SimpleNamespace(encoding=(None, None))) == (3, 4)


def test_a_source_without_examples_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("u,v\n")
    for source in (CSVFiles(tmp_path / "a.csv"), Blocks(X[:0])):
        with pytest.raises(ValueError, match="has no examples"), Stream(source, 1):
            pass


def test_a_stream_that_fails_leaves_no_folder_behind(monkeypatch):
    """Whatever ends the first reading, also an interrupt."""
    for error in (KeyboardInterrupt, RuntimeError, ValueError):
        source, stream = Blocks(X), None
        monkeypatch.setattr(Blocks, "read", lambda self, piece, error=error: (_ for _ in ()).throw(error("x")))
        stream = Stream(source, 1)
        with pytest.raises(error):
            stream.__enter__()
        assert not os.path.exists(stream.folder.name)


def test_the_files_of_the_head_are_those_of_the_first_example(tmp_path):
    (tmp_path / "a.csv").write_text("u,v\n")
    (tmp_path / "b.csv").write_text("u,v\n1,2\n")
    with Stream(CSVFiles(tmp_path / "*.csv"), 1) as stream:
        assert stream.begin == str(tmp_path / "b.csv") and stream.head.to_numpy().tolist() == [[1, 2]]


def test_the_identity_of_the_data_has_its_files_and_sizes(tmp_path):
    def identity():
        with Stream(ArrayFile(tmp_path / "x.npy", rows=9), 1) as stream:
            return stream.identity()

    np.save(tmp_path / "x.npy", X)
    before = identity()
    assert identity() == before and [size for _, size in before] == [9, 9, 9, 9, 4]
    np.save(tmp_path / "x.npy", X + 1.0)
    assert identity() != before


def test_gamma_from_the_columns_needs_numbers():
    texts = Sequences.encode(["".join(row) for row in rng.choice(list("ACGT"), size=(n, 6))])
    with opened(texts) as stream, pytest.raises(ValueError, match='gamma="scale" needs numeric columns'):
        stream.columns()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float16, np.int64])
def test_blocks_have_the_type_that_a_fit_in_memory_takes(dtype, tmp_path):
    given = (X > 0).astype(dtype)
    np.save(tmp_path / "x.npy", given)
    block = next(ArrayFile(tmp_path / "x.npy").read((0, n)))[0]
    assert block.dtype == np.float64 and as_in_memory(given).dtype == np.float64
    np.testing.assert_array_equal(block, given)
    assert as_in_memory(X.astype(np.float32)).dtype == np.float32


def test_arrays_are_refused_by_their_shape_their_objects_and_their_targets(tmp_path):
    np.savez(tmp_path / "d.npz", X=X, y=np.ones(n - 1), long=np.ones(n + 1), o=np.array([{}] * n, object), v=X[:, 0])
    with pytest.raises(ValueError, match="give an array .n, d."):
        ArrayFile(tmp_path / "d.npz", "v")
    with pytest.raises(ValueError, match="'o' in .*d.npz holds objects, not numbers"):
        ArrayFile(tmp_path / "d.npz", "o")
    for name, size in (("y", n - 1), ("long", n + 1)):
        source = ArrayFile(tmp_path / "d.npz", "X").with_target(name)
        with pytest.raises(ValueError, match=f"'{name}' has {size} rows and .* has {n}"):
            next(source.read((0, 5)))
    for rows in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="rows"):
            ArrayFile(tmp_path / "d.npz", "X", rows=rows)
    source = ArrayFile(tmp_path / "d.npz", "X")
    np.savez(tmp_path / "d.npz", X=X[:-1])
    with pytest.raises(ValueError, match=r"had shape \(40, 3\) and has \(39, 3\) now"):
        next(source.read((0, 5)))


def test_pieces_have_256_rows_at_least_and_cover_all(tmp_path):
    wide = np.zeros((600, 5000))
    np.save(tmp_path / "w.npy", wide)
    assert ArrayFile(tmp_path / "w.npy").pieces() == [(0, 256), (256, 512), (512, 600)]
    np.save(tmp_path / "x.npy", X)
    assert ArrayFile(tmp_path / "x.npy").pieces() == [(0, n)]


def test_files_come_in_the_order_of_their_names_and_are_shown_by_the_first(tmp_path):
    names = ["b", "a", "d", "c", "[e]"]
    for name in names:
        (tmp_path / f"{name}.csv").write_text("u,v\n1,2\n")
    assert [path[-5] for path in find_files(tmp_path / "?.csv")] == list("abcd")
    one = tmp_path / "[e].csv"  # a name with signs of a pattern is itself where such a file exists
    assert find_files(one) == [str(one)]
    few = CSVFiles([tmp_path / "b.csv", tmp_path / "a.csv", one])
    assert repr(few) == f"CSVFiles({few.paths[0]!r}, {few.paths[1]!r}, {few.paths[2]!r})"
    many = CSVFiles(tmp_path / "?.csv")
    assert "'… 4 files'" in repr(many) and many.paths[2] not in repr(many)
    with pytest.raises(ValueError, match="paths is empty"):
        CSVFiles([])
    with pytest.raises(ValueError, match="rows"):
        CSVFiles(one, rows=0)


def test_a_fingerprint_follows_size_time_and_both_ends_of_a_file(tmp_path):
    path = tmp_path / "x.bin"
    half = bytes(2**17)
    path.write_bytes(half + half)
    source = CSVFiles(path)
    before, times = source.fingerprint(str(path)), (1_000, 1_000)
    os.utime(path, times)
    timed = source.fingerprint(str(path))
    assert timed != before
    seen = {timed}
    for content in (b"1" + half[1:] + half, half + half[1:] + b"1", half + half + b"0", half[1:] + half):
        path.write_bytes(content)
        os.utime(path, times)
        seen.add(source.fingerprint(str(path)))
    assert len(seen) == 5


def test_tables_have_the_columns_that_were_asked_for(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "t": ["x", "y", "x"], "b": [4.0, 5.0, 6.0], "c": [7, 8, 9]})
    frame.to_csv(tmp_path / "f.csv", index=False)
    frame.to_parquet(tmp_path / "f.parquet", row_group_size=2)
    frame.to_feather(tmp_path / "f.feather")
    for source in (CSVFiles, ParquetFiles, ParquetFiles):
        path = tmp_path / ("f.csv" if source is CSVFiles else "f.parquet")
        for where in (path,) if source is CSVFiles else (path, tmp_path / "f.feather"):
            for target in (None, "t"):
                for columns, expected in ((None, "atbc" if target is None else "abc"), (["c", "a"], "ca")):
                    own = source(where, columns=columns, rows=1)
                    own = own if target is None else own.with_target(target)
                    blocks = [block for piece in own.pieces() for block in own.read(piece)]
                    assert [len(block) for block, _ in blocks] == [1, 1, 1]
                    whole = pd.concat([block for block, _ in blocks], ignore_index=True)
                    pd.testing.assert_frame_equal(whole, frame[list(expected)], check_dtype=False)
                    assert target is None or [y[0] for _, y in blocks] == ["x", "y", "x"]
    both = ParquetFiles([tmp_path / "f.parquet", tmp_path / "f.feather"])
    assert len(both) == 6 and len(both.pieces()) == 3


@pytest.mark.parametrize("n", range(1, 6))
def test_blocks_hold_every_row_to_the_last(tmp_path, n):
    frame = pd.DataFrame({"a": np.arange(float(n))})
    frame.to_feather(tmp_path / "f.feather")
    frame.to_parquet(tmp_path / "f.parquet")
    frame.to_csv(tmp_path / "f.csv", index=False)
    for source in (ParquetFiles(tmp_path / "f.feather", rows=2), ParquetFiles(tmp_path / "f.parquet", rows=2),
                   CSVFiles(tmp_path / "f.csv", rows=2)):  # fmt: skip
        blocks = [np.ravel(block) for piece in source.pieces() for block, _ in source.read(piece)]
        assert np.concatenate(blocks).tolist() == frame.a.tolist() and len(source) == n


def test_options_of_a_table_reach_its_header_too(tmp_path):
    (tmp_path / "f.csv").write_text("# first\nu;v\n1,5;2\n3,5;4\n")
    source = CSVFiles(tmp_path / "f.csv", columns=["v"], sep=";", comment="#", decimal=",")
    assert next(source.read(source.paths[0]))[0].to_numpy().tolist() == [[2], [4]]
    with pytest.raises(ValueError, match="has no column 'w'; it has .'u', 'v'."):
        next(CSVFiles(tmp_path / "f.csv", columns=["w"], sep=";", comment="#").read(source.paths[0]))
    named = CSVFiles(tmp_path / "f.csv", sep=";", comment="#", header=0, names=["p", "q"], decimal=",")
    assert next(named.read(source.paths[0]))[0].to_numpy().tolist() == [[1.5, 2], [3.5, 4]]


def test_sequences_are_read_by_their_own_alphabet_window_and_blocks(tmp_path):
    (tmp_path / "p.fa").write_text(">a class=1\nMKVLA\n>b class=0\nWYBCC\n>c class=1\nAAAAA\n")
    source = FastaFiles(tmp_path / "p.fa", "protein", unknown="ignore", window=(1, 4), rows=1).with_target("class")
    blocks = list(source.read(source.paths[0]))
    assert [text for block, _ in blocks for text in block] == ["KVL", "YXC", "AAA"] and len(blocks) > 1
    assert np.concatenate([y for _, y in blocks]).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="B"):
        list(FastaFiles(tmp_path / "p.fa", "protein").read(source.paths[0]))
    with pytest.raises(ValueError):
        list(FastaFiles(tmp_path / "p.fa", unknown="error").read(source.paths[0]))


class Moody(Blocks):
    """Gives its rows as they are at first, and then changed in one piece."""

    seen = 0

    def __init__(self, X, change, size=18):
        super().__init__(X, size)
        self.change = change

    def read(self, piece):
        for block, y in super().read(piece):
            self.seen += 1
            yield (self.change(block) if self.seen > 3 and piece == self.size else block), y


@pytest.mark.parametrize("change, told", [
    (lambda block: block[::-1].copy(), "gave other rows in piece 18 than before"),
    (lambda block: block + 1e-9, "gave other rows in piece 18 than before"),
    (lambda block: block[:-1], "had 18 examples in piece 18 and has 17 now"),
    (lambda block: np.concatenate([block, block]), "had 18 examples in piece 18 and has 36 now"),
])  # fmt: skip
def test_a_source_that_gives_other_rows_the_second_time_is_refused(change, told):
    with Stream(Moody(X, change), 1) as stream:
        stream.arrange(np.ones((1, n)), np.ones(n), None)
        with pytest.raises(ValueError, match=told):
            stream.fetch(np.array([3, 20, 38]))
    with Stream(Moody(X, np.copy), 1) as stream:
        stream.arrange(np.ones((1, n)), np.ones(n), None)
        np.testing.assert_array_equal(stream.fetch(np.array([3, 20, 38])), X[[3, 20, 38]])


def test_a_table_that_still_holds_its_target_is_refused():
    class Leaky(Blocks):
        def read(self, piece):
            for block, _ in super().read(piece):
                yield block, block["b"].to_numpy()

    frame = pd.DataFrame(X, columns=list("abc"))
    frame["b"] = np.sign(frame["b"])
    source = Leaky(frame).with_target("b")
    with pytest.raises(ValueError, match="gave an X with the column 'b', the target: drop it"), Stream(source, 1):
        pass
    with pytest.raises(ValueError, match="gave an X with the column 'b'"):
        MKLClassifier([RBF(0.1)], C=1.0).fit(Leaky(frame), "b")

"""A data source from outside: a table in a SQLite file, given to `fit` and `predict` in the place of X."""

import pickle
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from manykernels import MKLClassifier, load
from manykernels.kernels import RBF, Linear
from manykernels.streaming import DataSource, Processes, as_source, is_source, using

X, y = make_classification(300, 3, n_informative=3, n_redundant=0, random_state=0)
KERNELS = [("first", RBF(gamma=0.5), [0]), ("rest", RBF(gamma="scale"), [1, 2]), ("all", Linear())]


class SQLiteTable(DataSource):
    """The columns of a table in a SQLite file; a piece is `rows` rows, and holds one block."""

    def __init__(self, path, table, columns, rows=100):
        self.path, self.table, self.columns, self.rows = str(path), table, columns, rows

    def pieces(self):  # small objects that can be pickled: here the number of the first row
        with closing(sqlite3.connect(self.path)) as file:
            (n,) = file.execute(f"SELECT count(*) FROM {self.table}").fetchone()
        return list(range(0, n, self.rows))

    def read(self, piece):  # (X, y) of each block; y is None unless fit(source, "name") has set `target`
        names = ", ".join(self.columns if self.target is None else [*self.columns, self.target])
        query = f"SELECT {names} FROM {self.table} ORDER BY rowid LIMIT {self.rows} OFFSET {piece}"
        with closing(sqlite3.connect(self.path)) as file:
            block = np.array(file.execute(query).fetchall(), float)
        yield (block, None) if self.target is None else (block[:, :-1], block[:, -1])

    def files(self, piece):  # must not change while a fit runs, and errors name them
        return [self.path]


@pytest.fixture
def source(tmp_path):
    with closing(sqlite3.connect(tmp_path / "data.sqlite")) as file:
        file.execute("CREATE TABLE patients (a REAL, b REAL, c REAL, label INTEGER)")
        file.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", np.column_stack([X, y]).tolist())
        file.commit()
    return SQLiteTable(tmp_path / "data.sqlite", "patients", ["a", "b", "c"])


@pytest.mark.parametrize("target", ["label", y], ids=["a column", "an array"])
def test_a_fit_on_it_is_the_fit_in_memory(source, target):
    assert is_source(source) and as_source(source) is source and len(source) == 300
    whole = MKLClassifier(KERNELS, tol=1e-7).fit(X, y)
    own = MKLClassifier(KERNELS, tol=1e-7).fit(pickle.loads(pickle.dumps(source)), target)
    assert own.duality_gap_ <= 1e-7
    assert own.objective_ == pytest.approx(whole.objective_, rel=2e-7)
    np.testing.assert_allclose(own.kernel_weights_, whole.kernel_weights_, atol=3e-3)
    np.testing.assert_allclose(own.decision_function(source), own.decision_function(X), rtol=1e-12)


@pytest.mark.slow  # processes take seconds to start
def test_other_processes_read_it(source):
    threads = MKLClassifier(KERNELS).fit(source, "label")
    with using(Processes(2)):
        assert MKLClassifier(KERNELS).fit(source, "label").objective_ == pytest.approx(threads.objective_, rel=1e-12)


def test_a_model_is_saved_without_its_source(source, tmp_path):
    model = MKLClassifier(KERNELS).fit(source, "label")
    model.save(tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict(source), model.predict(X))


def test_errors_name_its_files(source):
    with pytest.raises(ValueError, match=r"data\.sqlite: OperationalError: no such column: weight"):
        MKLClassifier(KERNELS).fit(SQLiteTable(source.path, "patients", ["a", "weight"]), y)
    with closing(sqlite3.connect(source.path)) as file:
        file.execute("UPDATE patients SET b = NULL WHERE rowid = 7")
        file.commit()
    with pytest.raises(ValueError, match=r"data\.sqlite: .*NaN in column 1"):
        MKLClassifier(KERNELS).fit(source, "label")


class Changing(SQLiteTable):
    """Its rows change after the first reading of all of them."""

    read_so_far = 0

    def read(self, piece):
        self.read_so_far += 1
        if self.read_so_far == 4:
            with closing(sqlite3.connect(self.path)) as file:
                file.execute("INSERT INTO patients VALUES (0, 0, 0, 0)")
                file.commit()
        return super().read(piece)


def test_a_file_that_changes_while_the_fit_runs_is_an_error(source):
    with pytest.raises(ValueError, match=r"data\.sqlite.* has changed while the fit was running"):
        MKLClassifier(KERNELS, n_jobs=1).fit(Changing(source.path, "patients", ["a", "b", "c"]), y)


class Rows(DataSource):
    """Two pieces of X, as `change(X, how often it was read)` gives them."""

    def __init__(self, change):
        self.change, self.reads = change, 0

    def pieces(self):
        return [0, 150]

    def read(self, piece):
        self.reads += 1
        part = slice(piece, piece + 150)
        yield self.change(X[part], self.reads), None if self.target is None else y[part]


def framed(block, reads):
    return pd.DataFrame(block, columns=["a", "b", "label"])


WRONG = [
    (
        lambda block, reads: block[::-1] if reads > 2 else block,
        y,
        r"gave other rows in piece \d+ than before.*same order",
    ),
    (lambda block, reads: block[:, 0], y, r"gave an X of shape \(150,\): yield an array \(n, d\)"),
    (framed, "label", "gave an X with the column 'label', the target: drop it"),
    (lambda block, reads: block, None, "y=None has no targets of Rows.*give an array, or the name"),
]


@pytest.mark.parametrize(("change", "target", "words"), WRONG, ids=["order", "shape", "target", "no targets"])
def test_what_read_must_not_give_is_an_error(change, target, words):
    with pytest.raises(ValueError, match=words):
        MKLClassifier([Linear()], n_jobs=1, C=1.0).fit(Rows(change), target)

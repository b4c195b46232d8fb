"""Targets that a source holds under a name: `fit` and `score` read them, and a source without them is named."""

import numpy as np
import pytest
from streams import rows

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.streaming import CSVFiles, DataSource

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

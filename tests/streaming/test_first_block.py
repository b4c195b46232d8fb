"""The first block of a source may be small: what counts is all of it."""

import numpy as np
import pytest

from manykernels import MKLClassifier
from manykernels.kernels import Linear
from manykernels.streaming import ArrayFile, CSVFiles


def test_a_first_block_of_one_row_is_no_table_of_one_row(tmp_path):
    """Issue 11, second generator: "X has n_samples=1" for forty examples."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] > 0
    np.save(tmp_path / "X.npy", X)
    whole = MKLClassifier([Linear()]).fit(X, y)
    model = MKLClassifier([Linear()]).fit(ArrayFile(tmp_path / "X.npy", rows=1), y)
    assert model.objective_ == pytest.approx(whole.objective_, rel=2e-3)


def test_a_first_file_of_one_row(tmp_path):
    """Issue 11, second generator: one file a day, and one patient on the first."""
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

"""What cannot be streamed is refused, by the name of what is in the way; what changes under a fit is an error."""

import os

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from streams import groups, rows

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.kernels import RBF, Identity, Linear
from manykernels.losses import LOSSES
from manykernels.regularizers import Uniform
from manykernels.streaming import ArrayFile, CSVFiles, DataSource, Processes, Threads, using


@pytest.fixture
def source(tmp_path):
    X, y = rows(300)
    np.save(tmp_path / "X.npy", X)
    return ArrayFile(tmp_path / "X.npy", rows=100), y


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (dict(loss="logistic"), "loss='logistic' every example takes part"),
        (dict(loss="squared"), "loss='squared' every example"),
        (dict(regularizer=Uniform()), r"regularizer=Uniform\(\) looks at all kernel values"),
        (dict(slack=True), "slack is for data in memory"),
        (dict(warm_start=True), "warm_start is for data in memory"),
        (dict(device="torch"), "device='torch' is for data in memory"),
        (dict(kernels="auto"), "kernels='auto' is for data in memory"),
        (dict(kernels="precomputed"), "give X = KernelStack.from_files"),
        (dict(kernels=[RBF(gamma="median")]), r"RBF\(gamma='median'\) is fitted on all examples"),
        (dict(kernels=[("s", StandardScaler(), RBF())]), "kernel s is fitted on all examples"),
        (dict(kernels=[Linear(), Identity()]), "compares the identity of examples"),
    ],
)
def test_what_needs_all_examples_at_once(source, options, what):
    with pytest.raises(ValueError, match=what):
        MKLClassifier(**{"kernels": [Linear()], **options}).fit(*source)


def test_estimators_without_streams_say_so(source):
    with pytest.raises(ValueError, match="read block by block, which MKLOneClass cannot do"):
        MKLOneClass([Linear()]).fit(source[0])
    with pytest.raises(ValueError, match="loss='epsilon_insensitive'"):
        MKLRegressor([Linear()], loss="epsilon_insensitive", epsilon=0.0).fit(*source)
    with pytest.raises(ValueError, match="loss='squared'.*take.*'epsilon_insensitive'"):
        MKLRegressor([Linear()]).fit(*source)


def test_flat_losses_are_those_with_an_interval_without_slope():
    """Where V is 0 on an interval, and there alone, examples leave the predictor: the protocol's word against V."""
    f = np.linspace(-30, 30, 6001)
    for name, loss in LOSSES.items():
        if name in ("one_class", "level_set", "log_time"):
            continue
        values = loss().value(np.ones_like(f), f)
        assert loss().flat == (np.count_nonzero(values == 0) > 10), name
    assert not LOSSES["epsilon_insensitive"](0.0).flat


class Changing(DataSource):
    """Rows in memory that become others after so many readings."""

    def __init__(self, X, after):
        self.X, self.after, self.count = X, after, 0

    def pieces(self):
        return [0, 1, 2]

    def fingerprint(self, piece):
        self.count += 1
        return (self.count > self.after,)

    def read(self, piece):
        yield self.X[piece::3], None


@pytest.mark.parametrize("after", [4, 9, 14])
def test_a_source_that_changes_between_rounds_is_an_error(after):
    X, y = rows(300)
    y = np.concatenate([y[k::3] for k in range(3)])
    with using(Threads(1)), pytest.raises(ValueError, match=r"Changing\(\) has changed while the fit was running"):
        MKLClassifier([Linear()]).fit(Changing(X, after), y)
    MKLClassifier([Linear()]).fit(Changing(X, 10**6), y)


def test_a_file_that_is_touched_has_another_fingerprint(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((10, 2)))
    source = ArrayFile(tmp_path / "X.npy")
    before = source.fingerprint((0, 10))
    assert source.fingerprint((0, 10)) == before
    os.utime(tmp_path / "X.npy", (1, 1))
    assert source.fingerprint((0, 10)) != before


def test_targets_columns_and_classes_that_do_not_fit(source, tmp_path):
    X, y = source
    model = MKLClassifier([Linear()])
    with pytest.raises(ValueError, match="y has 7 targets, and ArrayFile.*has 300 examples"):
        model.fit(X, y[:7])
    with pytest.raises(ValueError, match="X.npy holds one array; give y as an array"):
        model.fit(X, "label")
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.ones(300))
    (tmp_path / "a.csv").write_text("u,v,label\n1,2,0\n3,4,1\n")
    (tmp_path / "b.csv").write_text("u,w,label\n1,2,0\n3,4,1\n")
    with pytest.raises(ValueError, match=r"lacks \['v'\], has \['w'\] besides"):
        model.fit(CSVFiles(tmp_path / "*.csv"), "label")
    (tmp_path / "b.csv").write_text("v,u,label\n1,2,0\n3,4,1\n")
    with pytest.raises(ValueError, match="the same columns in another order"):
        model.fit(CSVFiles(tmp_path / "*.csv"), "label")
    with pytest.raises(ValueError, match="has no column 'class'"):
        model.fit(CSVFiles(tmp_path / "a.csv"), "class")
    with pytest.raises(FileNotFoundError, match="names no file"):
        CSVFiles(tmp_path / "*.tsv")


def test_too_little_memory_ends_with_the_gap_reached(tmp_path):
    from sklearn.exceptions import ConvergenceWarning

    X, y, source, kernels, _ = groups(tmp_path)
    y = np.random.default_rng(0).permutation(y)  # nearly all examples are in the support
    with pytest.warns(ConvergenceWarning, match="examples are active, and memory_limit has no room for more"):
        model = MKLClassifier(kernels, solver="coordinate", memory_limit=100_000, C=1.0).fit(source, y)
    assert model.duality_gap_ > model.tol
    assert max(step["n_active"] for step in model.history_) < 600


@pytest.mark.slow
def test_a_pool_whose_processes_die_again_and_again_says_so():
    with using(Processes(1)) as backend:
        backend.open()
        try:
            with pytest.raises(RuntimeError, match="died 3 times in a row"):
                backend.run(os._exit, [(1,)])
        finally:
            backend.close()

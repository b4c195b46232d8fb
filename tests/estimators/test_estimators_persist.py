"""`save` and `load`: the same model back, no pickle, and honest errors."""

import json
import os
import pickle
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.gaussian_process.kernels import RationalQuadratic
from sklearn.metrics.pairwise import laplacian_kernel

import manykernels
from manykernels import MKLClassifier, _state, kernels, losses, solvers, strings
from manykernels import regularizers as r
from manykernels._archive import TEXT
from manykernels.inspect import weights_table
from manykernels.kernels import RBF, Kernel, Linear, Polynomial, rbf_grid
from manykernels.solvers import Solver

X, y = make_classification(60, 6, random_state=0)
KERNELS = [
    ("rbf", RBF(gamma=0.3), slice(0, 3)),
    ("sum", RBF(gamma=1.0) + Polynomial(degree=2) * Linear()),
    ("gp", RationalQuadratic()),
    ("function", laplacian_kernel),
]


def fitted(kernels, X, y=y, **options):
    """A classifier at one C."""
    return MKLClassifier(kernels, **{"C": 1.0} | options).fit(X, y)


def names(a):
    return np.array(["no", "yes"], dtype=object)[a]


REGULARIZERS = [
    r.LpNorm(1),
    r.WeightedLpNorm(2, [1, 2, 3]),
    r.ElasticNet(0.5),
    r.MixedNorm(0.5, 3),
    r.NonIsotropic(np.eye(3) + 0.2),
    r.Ball([0.3, 0.3, 0.3], 0.1),
    r.Entropy(0.1),
    r.LpPenalty(2, 1.0),
    r.LpSum(1),
    r.BlockElasticNet(0.5),
    r.BlockNorm(3),
    r.BlockSum(3),
    r.Wedge(),
    r.EmpiricalBayes("learn"),
    r.Fixed([1, 2, 3]),
    r.Align(),
]


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=lambda value: type(value).__name__)
def test_every_regularizer_passes_through_the_estimators(regularizer, tmp_path):
    model = fitted(rbf_grid(gammas=(0.1, 0.5, 2.0)), X, regularizer=regularizer, loss="squared")
    assert model.kernel_weights_.shape == (3,) and (model.kernel_weights_ >= 0).all() and model.score(X, y) > 0.85
    nan = isinstance(regularizer, r.EmpiricalBayes)
    assert np.isnan(model.duality_gap_) if nan else model.duality_gap_ <= model.tol
    assert len(model.history_) >= 1 and weights_table(model).row_count >= 1
    assert clone(model).get_params()["regularizer"] == regularizer
    model.save(tmp_path / "model.mk")
    for again in (manykernels.load(tmp_path / "model.mk"), pickle.loads(pickle.dumps(model))):
        assert again.regularizer == regularizer
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(("name", "options"), [("analytic", {}), ("chunking", {"size": 9}), ("level", {"tau": 0.5})])
def test_a_solver_with_options_is_a_parameter_like_others(name, options, tmp_path):
    model = clone(MKLClassifier(KERNELS[:2], C=1.0, solver=Solver(name, **options))).fit(X, y)
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    assert again.solver == model.solver == Solver(name, **options) and repr(again) == repr(model)
    if name != "chunking":  # where these are the default options
        named = fitted(KERNELS[:2], X, solver=name)
        np.testing.assert_array_equal(named.decision_function(X), model.decision_function(X))


def test_a_callable_that_cannot_be_saved_is_named(tmp_path):
    def my_kernel(A, B):
        return A @ B.T

    model = fitted([("mine", my_kernel), RBF(gamma=1.0)], X)
    with pytest.raises(ValueError, match="my_kernel.*cannot be saved"):
        model.save(tmp_path / "model.mk")
    assert not (tmp_path / "model.mk").exists()


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "model.mk"
    fitted(KERNELS[:1], X).save(path)
    before = path.read_bytes()

    def full(_):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        fitted(KERNELS[:2], X).save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_an_attribute_that_a_file_does_not_keep_is_named(tmp_path):
    model = fitted(KERNELS[:1], X)
    model.note = "mine"
    with pytest.raises(ValueError, match="attribute 'note', which a file cannot keep"):
        model.save(tmp_path / "model.mk")


def rewrite(path, change, **more):
    """The file with its text changed, and with more members."""
    with zipfile.ZipFile(path) as file:
        members = {n: file.read(n) for n in file.namelist()}
    before, members[TEXT] = members[TEXT], change(members[TEXT])
    assert members[TEXT] != before
    with zipfile.ZipFile(path, "w") as file:
        for n, data in (members | more).items():
            file.writestr(n, data)


def changed(**entries):
    return lambda text: json.dumps(json.loads(text) | entries).encode()


def test_damaged_newer_older_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "model.mk"
    model = fitted(KERNELS[:1], X)

    def refused(match, change=None):
        if change is not None:
            model.save(path)
            rewrite(path, change)
        with pytest.raises(ValueError, match=match) as caught:
            manykernels.load(path)
        assert str(path) in str(caught.value)

    by = {"manykernels": "9.1", "numpy": "4.0", "scikit-learn": "3.2"}
    newer = "format 99, written by manykernels 9.1, numpy 4.0, scikit-learn 3.2; this release.*upgrade"
    refused(newer, changed(format=99, written_by=by))
    refused("'.*' of version 2.*upgrade", lambda text: text.replace(b'"version": 1', b'"version": 2'))
    refused("'kernel/new', which is no part of this release: upgrade", lambda text: text.replace(b"l/rbf", b"l/new"))
    refused("is a 'checkpoint' of manykernels, not a 'model'", changed(kind="checkpoint"))
    refused("damaged.*no 'klasses_'", lambda text: text.replace(b"classes_", b"klasses_"))
    path.write_text("not a model")
    refused("not a whole manykernels model")
    with zipfile.ZipFile(path, "w") as file:  # as it was before the first release
        file.writestr("header.json", json.dumps({"format": 1, "manykernels": "0.1.0"}))
    refused("is of format 1, that of versions before the first release: fit anew and save it again")


class Moved(RBF):
    """The kernel that RBF became, say."""


def test_a_class_that_is_renamed_or_moved_breaks_no_file(tmp_path, monkeypatch):
    path, model = tmp_path / "model.mk", fitted([RBF(gamma=0.3), Linear()], X)
    model.save(path)
    with zipfile.ZipFile(path) as file:
        text = file.read(TEXT)
    assert not any(name in text for name in (b"manykernels.", b"RBF", b"Predictor", b"MKLClassifier"))
    monkeypatch.setitem(_state.TAGS, RBF.file_tag, Moved)
    again = manykernels.load(path)
    assert type(again.kernels[0]) is Moved
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_loading_the_estimators_registers_every_class():
    listed = (Path(__file__).parents[1] / "files" / "tags.txt").read_text().split("\n")[:-1]
    code = "import manykernels.estimators, manykernels._state as t; print(*(f'{a} {b}' for a, b in t.TAGS), sep='\\n')"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert sorted(found.split("\n")[:-1]) == listed


def test_two_classes_of_the_package_cannot_share_a_tag():
    body = {"file_tag": ("kernel/rbf", 1), "__module__": "manykernels.kernels.other"}
    with pytest.raises(ValueError, match="RBF and Other have the same file_tag"):
        type("Other", (RBF,), body)


def test_every_tag_leads_to_a_class_with_a_state_and_back():
    for tag in _state.TAGS:
        cls = _state.reader(tag, {})
        assert (
            _state.tag_of(cls) == max(t for t in _state.TAGS if t[0] == tag[0])
            and hasattr(cls, "to_state")
            and hasattr(cls, "from_state")
        )
    exported = [getattr(room, name) for room in (r, losses, kernels, strings) for name in room.__all__]
    parts = {cls for cls in exported if isinstance(cls, type) and issubclass(cls, (losses.Loss, r.Regularizer, Kernel))}
    abstract = {"Kernel", "Loss", "Regularizer", "TwoStage"}
    without = {"Fitted", "Separable"}  # they hold functions, or objects of others
    assert {cls.__name__ for cls in parts if _state.tag_of(cls) is None} - abstract == without
    assert all(_state.tag_of(cls) for cls in solvers.SOLVERS.values())


def test_a_pickle_is_called_one(tmp_path):
    import joblib

    model = fitted([RBF(gamma=0.1)], np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1])
    for compress in (0, 1, 3, 9):  # a first byte of each
        joblib.dump(model, tmp_path / "model.joblib", compress=compress)
        with pytest.raises(ValueError, match=r"model.joblib is a pickle.*joblib.load.*model.save"):
            manykernels.load(tmp_path / "model.joblib")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        (tmp_path / "model.pkl").write_bytes(pickle.dumps(model, protocol))
        with pytest.raises(ValueError, match="is a pickle"):
            manykernels.load(tmp_path / "model.pkl")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(ValueError, match="damaged"):
        manykernels.load(tmp_path / "empty")


@pytest.mark.parametrize("n", [5, 40])
def test_a_loaded_model_sums_in_the_order_of_the_fitted_one(n, tmp_path):
    """Coefficients of several outputs lay in columns, and in rows once loaded: sums rounded otherwise."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, 1)), np.arange(2 * n).reshape(n, 2) % 3 > 0
    model = fitted([kernels.Constant(6.00792882043202), RBF()], X, Y.astype(int), C=112264.28459744558)
    model.save(tmp_path / "model.mk")
    loaded = manykernels.load(tmp_path / "model.mk")
    assert model.dual_coef_.flags.c_contiguous and loaded.dual_coef_.flags.c_contiguous
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_thousands_of_kernels_load_in_time_that_grows_with_their_number(tmp_path):
    """It grew with the square of their number: 3,000 kernels took 21 s."""
    X = np.random.default_rng(0).normal(size=(12, 600))
    model = MKLClassifier([(f"k{i}", RBF(gamma=0.1), [i]) for i in range(600)], max_iter=1, tol=0.9, C=1.0)
    model.fit(X, X[:, 0] > 0).save(tmp_path / "model.mk")
    kind, count = type(model.predictor_.kernel_list), 0
    found = kind.widths.fget

    def widths(kernels):
        nonlocal count
        count += 1
        return found(kernels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "widths", property(widths))
        again = manykernels.load(tmp_path / "model.mk")
    assert count < 5
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a device"])
def test_what_is_no_file_is_refused_by_name(tmp_path, monkeypatch, kind):
    """To open a pipe took for ever, and a device would have been replaced."""
    path = tmp_path / "place"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        monkeypatch.chdir(tmp_path)  # names of sockets are short
        socket.socket(socket.AF_UNIX).bind("place")
    else:
        path = Path("/dev/null")
    X = np.arange(12.0)[:, None]
    model = MKLClassifier([RBF(gamma=0.1)])
    for action in (
        lambda: manykernels.load(path),
        lambda: fitted([RBF(gamma=0.1)], X, X[:, 0] > 5, checkpoint=path),
        lambda: model.fit(X, X[:, 0] > 5).save(path),
    ):
        with pytest.raises(ValueError, match=f"{path}' is {kind}: give the path of a file"):
            action()

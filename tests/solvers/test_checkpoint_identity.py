"""Which fit a checkpoint is of: another is refused, the same is known again."""

import subprocess

import numpy as np
import pytest
from checkpoints import STRINGS, X, Y, assert_same, command
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.kernel_approximation import RBFSampler

from manykernels import MKLRegressor
from manykernels.estimators.checkpoint import identify, parts_of
from manykernels.kernels import Features
from manykernels.solvers import Solver, checkpoint_file
from manykernels.strings import Spectrum, degree_kernels

pytestmark = pytest.mark.usefixtures("often")


@pytest.mark.parametrize("change, what", [
    ({"C": 2.0}, "C is 1.0 there and 2.0 here"), ({"tol": 1e-2}, "tol is 0.001"), ({"random_state": 1}, "random_state"),
    ({"kernels": degree_kernels(2)}, "kernels"), ({"solver": Solver("coordinate", size=64)}, "solver is 'coordinate'"),
], ids=str)  # fmt: skip
def test_the_file_of_another_fit_is_refused_and_left_alone(change, what, path):
    model = clone(STRINGS).set_params(checkpoint=path).fit(X, Y)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=what) as caught:
        model.set_params(**change).fit(X, Y)
    assert str(path) in str(caught.value) and "delete" in str(caught.value)
    assert path.read_bytes() == before


def test_the_file_of_other_data_is_refused(path):
    model = clone(STRINGS).set_params(checkpoint=path).fit(X, Y)
    for data, what in [((X[::-1], Y), "X differs"), ((X, -Y), "y differs"), ((X, Y, 1.0 + (Y > 0)), "sample_weight")]:
        with pytest.raises(ValueError, match=f"another fit: {what}"):
            model.fit(*data)
    with pytest.raises(ValueError, match="estimator is 'MKLClassifier' there and 'MKLRegressor' here[.]"):
        MKLRegressor(checkpoint=path).fit(np.zeros((400, 1)), Y)


def test_what_does_not_change_the_result_may_change(path):
    whole = clone(STRINGS).set_params(checkpoint=path).fit(X, Y)
    assert_same(clone(STRINGS).set_params(checkpoint=path, n_jobs=1, verbose=True, memory_limit="1GB").fit(X, Y), whole)


@pytest.mark.parametrize("params", [
    {"features": "hash", "kernels": [Spectrum(3)]}, {"kernels": "auto", "solver": "auto"},
], ids=str)  # fmt: skip
def test_a_memory_limit_that_changes_the_kernels_may_not_change(params, path):
    model = clone(STRINGS).set_params(**params, checkpoint=path)
    parts_of(model, 1, 0, X, Y, None, None)
    with pytest.raises(ValueError, match="memory_limit is None there and '1GB' here"):
        parts_of(model.set_params(memory_limit="1GB"), 1, 0, X, Y, None, None)


def transformed(columns):
    """Kernels whose print scikit-learn shortens."""
    steps = [(f"part{k}", RBFSampler(gamma=0.1 * (k + 1), random_state=0), [c]) for k, c in enumerate(columns)]
    return [("f", Features(ColumnTransformer(steps)))]


def print_identity():
    print(identify({"kernels": [*transformed(range(20)), Quiet({"b", "c", "d"})]}))


class Quiet:
    """A kernel that prints as its address."""

    def __init__(self, p):
        self.p = p

    def __call__(self, X, Y=None):
        return (X @ (X if Y is None else Y).T) ** self.p


def test_fits_that_print_alike_are_told_apart():
    one, other = transformed(range(10, 30)), transformed([*range(10, 19), 20, 19, *range(21, 30)])
    assert repr(one) == repr(other)
    assert identify({"kernels": one}) != identify({"kernels": other})
    assert identify({"kernels": [Quiet(1)]}) == identify({"kernels": [Quiet(1)]}) != identify({"kernels": [Quiet(2)]})
    with_lambda = [lambda X, Y: X @ Y.T, *one]
    assert identify({"kernels": with_lambda}) != identify({"kernels": [with_lambda[0], *other]})


def test_a_fit_is_known_again_by_its_copy_and_in_another_process(monkeypatch, capsys):
    kernel = transformed(range(20))[0][1]
    shared, copied = [("a", kernel), ("b", kernel)], [("a", clone(kernel)), ("b", clone(kernel))]
    assert identify({"kernels": shared}) == identify({"kernels": copied})
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    print_identity()
    found = subprocess.run(command(__file__, "print_identity()"), capture_output=True, text=True).stdout
    assert found == capsys.readouterr().out


def test_a_difference_is_told_without_digits_of_a_hash(path):
    checkpoint_file.Checkpoint(path, identify({"kernels": "auto"}))
    with pytest.raises(ValueError, match="another fit: kernels differ[.]"):
        checkpoint_file.Checkpoint(path, identify({"kernels": degree_kernels(9)}))


@pytest.mark.parametrize("change", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2], lambda X: X[::-1][::-1]])
def test_equal_data_are_the_same_fit_however_they_lie_in_memory(change):
    """The same numbers in Fortran order counted as another fit."""
    X = np.random.default_rng(0).normal(size=(8, 3))
    here, there = ({"table": X, "more": [X]}, {"table": change(X), "more": [change(X)]})
    assert identify({"kernels": [X]}, X=here) == identify({"kernels": [change(X)]}, X=there)
    assert identify({}, X=X) == identify({}, X=change(X)) != identify({}, X=X.T)
    assert identify({}, X=X) != identify({}, X=X.reshape(3, 8))


@pytest.mark.parametrize("first", ["with", "without"])
def test_a_fit_with_covariates_and_one_without_are_two(first, path):
    """What only one of them has counts, whichever came first."""
    rng = np.random.default_rng(0)
    data, z = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    fits = [{"covariates": z}, {}] if first == "with" else [{}, {"covariates": z}]
    model = MKLRegressor(C=1.0, checkpoint=path).fit(data, data[:, 0] + z[:, 0], **fits[0])
    with pytest.raises(ValueError, match="another fit: covariates"):
        model.fit(data, data[:, 0] + z[:, 0], **fits[1])

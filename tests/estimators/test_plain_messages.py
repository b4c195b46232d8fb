"""Errors for strange targets, generators and numbers of NumPy: the cure, in plain words. Issue 11, point 22."""

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels._validation import check_choice, check_integer, check_number, check_vector, parse_bytes, shown
from manykernels.inspect import explain_sequences
from manykernels.kernels import RBF, KernelStack, multi_task
from manykernels.regularizers import EmpiricalBayes
from manykernels.solvers import Level
from manykernels.streaming import ArrayFile
from manykernels.strings import Spectrum

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.where(X[:, 0] > 0, 1, 0)
ONE = [RBF(gamma=1.0)]


def refused(action, what):
    with pytest.raises(ValueError, match=what) as caught:
        action()
    assert "np." not in str(caught.value)


@pytest.mark.parametrize(
    "y, what",
    [
        (np.array([1, "a"] * 20, dtype=object), "y mixes values of type int, str: give all of one type"),
        (np.array([b"u", b"v"] * 20), "y holds bytes: give texts"),
        (np.array([b"u", b"v"] * 20, dtype=object), "y holds bytes: give texts"),
        (np.array([{1}, {2}] * 20, dtype=object), "y holds values of type set: give texts or numbers"),
    ],
)
def test_labels_that_cannot_be_classes_are_refused_with_the_cure(y, what):
    refused(lambda: MKLClassifier(ONE).fit(X, y), what)


def test_targets_that_are_no_numbers_are_refused_with_the_cure():
    refused(lambda: MKLRegressor(ONE).fit(X, [object()] * 40), "y holds values of type object: give numbers")


def test_labels_of_true_and_false_and_of_several_kinds_of_numbers_are_classes():
    MKLClassifier(ONE).fit(X, np.array([True, 2] * 20, dtype=object).astype(object) == 2)
    MKLClassifier(ONE).fit(X, np.array(["a", "b"] * 20, dtype=object))


def test_what_can_be_read_only_once_is_refused_with_the_cure():
    model = MKLClassifier(ONE).fit(X, Y)
    for action, name in (
        (lambda: MKLClassifier(ONE).fit((x for x in X), Y), "X"),
        (lambda: MKLOneClass(ONE).fit(map(list, X)), "X"),
        (lambda: MKLClassifier(ONE).fit(X, (y for y in Y)), "y"),
        (lambda: MKLRegressor(ONE).fit(X, (y for y in Y)), "y"),
        (lambda: MKLClassifier(ONE).fit(X, Y, sample_weight=(1.0 for _ in Y)), "sample_weight"),
        (lambda: model.predict(x for x in X), "X"),
    ):
        refused(action, rf"{name} is a (generator|map), which can be read only once: give list\({name}\)")


def test_a_memory_limit_is_shown_as_it_was_given_and_what_is_needed_is_enough(tmp_path):
    many, y = np.tile(X, (20, 1)), np.tile(Y, 20)
    np.save(tmp_path / "X.npy", many)
    for data in (many, ArrayFile(tmp_path / "X.npy")):
        model = MKLClassifier(ONE, memory_limit="1KB")
        with pytest.raises(ValueError, match="memory_limit='1KB' is too small") as caught:
            model.fit(data, y)
        need = int(str(caught.value).split("need at least ")[1].split()[0])
        if data is many:
            model.set_params(memory_limit=need).fit(data, y)
    limit = parse_bytes("4KB")
    assert (limit // 4, (limit // 2 // 2).share, (limit // 2).given) == (1000, 4, "4KB")


def test_a_model_with_a_memory_limit_is_saved(tmp_path):
    model = MKLClassifier([("a", RBF(gamma=1.0)), ("b", RBF(gamma=0.1))], memory_limit="1GB").fit(X, Y)
    model.save(tmp_path / "model.mk")


def test_numbers_of_numpy_are_shown_as_numbers():
    assert shown([np.int64(0), (np.float64(0.5),), {np.str_("a"): np.bool_(True)}]) == "[0, (0.5,), {'a': True}]"
    zero, half = np.int64(0), np.float64(0.5)
    for action in (
        lambda: check_number("C", -half),
        lambda: check_integer("max_iter", zero),
        lambda: check_choice("loss", np.str_("x"), ["a"]),
        lambda: check_vector("weights", [zero]),
        lambda: parse_bytes(zero),
        lambda: MKLClassifier(ONE, C=-half).fit(X, Y),
        lambda: MKLClassifier([("a", RBF(), [np.int64(9)])]).fit(X, Y),
        lambda: MKLClassifier([RBF(gamma=np.str_("x"))]).fit(X, Y),
        lambda: MKLClassifier(multi_task(ONE)).fit(X, Y, task=Y),
        lambda: MKLClassifier(ONE, solver=Level(tau=np.float64(3.0))).fit(X, Y),
        lambda: MKLClassifier(ONE, C=np.float64(2.0), regularizer=EmpiricalBayes(np.float64(0.1))).fit(X, Y),
        lambda: MKLClassifier(ONE).fit(X, 0 * Y),
    ):
        refused(action, None)


def test_texts_of_numpy_are_plain_in_messages():
    """np.str_('a') stood in them."""
    text = np.str_("x")
    refused(lambda: MKLRegressor(ONE).fit(X, np.array(["a", "b"] * 20)), "y has 'a' in row 0, which is not a number")
    refused(lambda: MKLClassifier(ONE, loss=text).fit(X, Y), "loss='x' is unknown")
    refused(lambda: MKLClassifier(ONE, solver=text).fit(X, Y), "got 'x'")
    refused(lambda: MKLClassifier(ONE, n_jobs=np.int64(0)).fit(X, Y), "n_jobs=0 is not allowed")
    refused(lambda: Spectrum(2, alphabet=text)(["ACGT"]), "alphabet='x'")
    refused(lambda: Spectrum(2)(np.str_("ACGT")), "X is one str;")
    words = MKLClassifier([Spectrum(2)], C=1.0).fit(["ACGT", "AAGT"] * 20, np.array(["a", "b"] * 20))
    refused(lambda: explain_sequences(words, ["ACGT"], label=text), "label='x' has no output.*give 'b' or None")
    assert repr(KernelStack([np.eye(2)], names=[text]).names) == "['x']"

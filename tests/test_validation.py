"""Checks of parameters: what they let through, as which type, and the words of their errors."""

from fractions import Fraction

import numpy as np
import pytest

from manykernels._validation import check_choice, check_integer, check_number, check_size, check_vector, parse_bytes
from manykernels.kernels import RBF, Laplacian, Polynomial
from manykernels.strings import Spectrum, degree_kernels

X = np.eye(4)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int64(3), Fraction(1, 4), 1.7e308])
def test_numbers_become_floats(value):
    assert check_number("a", value) == float(value) and type(check_number("a", value)) is float


@pytest.mark.parametrize("value", [True, "1", None, [1], 1j, np.nan, np.array(1.0), np.bool_(True), 10**400])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="^a=.* must be a number with -inf <= a <= inf.$"):
        check_number("a", value, -np.inf, np.inf, "both")


@pytest.mark.parametrize(
    ("closed", "ends"), [("neither", (0, 0)), ("left", (1, 0)), ("right", (0, 1)), ("both", (1, 1))]
)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-np.inf, np.inf)])
def test_the_ends_belong_to_an_interval_as_it_says(closed, ends, low, high):
    for end, belongs in zip((low, high), ends, strict=True):
        if belongs:
            assert check_number("a", end, low, high, closed) == end
        else:
            with pytest.raises(ValueError, match="a=.* must be a number with"):
                check_number("a", end, low, high, closed)


@pytest.mark.parametrize("text, size", [
    ("2GiB", 2 * 1024**3), ("2 GB", 2 * 1000**3), ("1.5kib", 1536), ("7", 7), (" 3M ", 3 * 1000**2), ("1TiB", 1024**4),
])  # fmt: skip
def test_sizes_have_decimal_and_binary_units(text, size):
    assert parse_bytes(text) == size and parse_bytes(text).given == text


def test_integers():
    assert check_integer("k", np.int32(3)) == 3 and type(check_integer("k", np.int32(3))) is int
    for value in (0, 2.0, True, "3", None, 10):
        with pytest.raises(ValueError, match="k=.* must be an integer >= 1 and <= 9.$"):
            check_integer("k", value, 1, 9)


def test_vectors():
    v = check_vector("w", [1, 2])
    assert v.dtype == float and not v.flags.writeable and check_vector("w", [0.0, 1.0], zero=True)[0] == 0
    given = np.ones(3)
    assert check_vector("w", given) is not given and given.flags.writeable
    for value in ([0, 1], [[1.0]], [], [np.inf], "ab", 3, [1, np.nan]):
        with pytest.raises(ValueError, match="w=.* of finite positive numbers, one per kernel"):
            check_vector("w", value)
    with pytest.raises(ValueError, match="w has 2 entries, but there are 3 kernels"):
        check_size("w", v, 3)


def test_choices():
    assert check_choice("how", None, ("a", None)) is None and check_choice("how", "a", ("a", None)) == "a"
    for value in ("b", 0, np.array(["a"]), True):
        with pytest.raises(ValueError, match="how=.* is unknown: choose one of 'a', None"):
            check_choice("how", value, ("a", None))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RBF(gamma=-1)(X), "gamma=-1 of RBF must be a number with 0 < gamma < inf"),
        (lambda: Laplacian(gamma=np.inf)(X), "gamma=inf of Laplacian must"),
        (lambda: RBF(gamma="wide")(X), 'gamma=\'wide\' of RBF must be a number, None .*"scale" or "median"'),
        (lambda: Polynomial(degree=0)(X), "degree=0 of Polynomial must be a number with 0 < degree < inf"),
        (lambda: Polynomial(degree="2")(X), "degree='2' of Polynomial must"),
        (lambda: Polynomial(coef0=None)(X), "coef0=None of Polynomial must be a number"),
        (lambda: Spectrum(0)(["ACGT"]), "k=0 of Spectrum must be an integer >= 1"),
        (lambda: Spectrum(2, unknown="skip")(["ACGT"]), "unknown='skip' of Spectrum is unknown: choose one of 'error'"),
        (lambda: degree_kernels(0), "d=0 must be an integer >= 1"),
    ],
)
def test_errors_name_the_parameter_the_value_the_owner_and_the_cure(call, message):
    with pytest.raises(ValueError, match=message):
        call()

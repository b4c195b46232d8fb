"""What a column of a table is taken for, by its entries alone."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels.kernels import Categorical, auto_kernels
from manykernels.kernels.column_kinds import describe
from manykernels.kernels.frames import missing_entries, to_numbers

N = 40
rng = np.random.default_rng(0)
ROWS = rng.permutation(N)
TWICE = np.r_[0, N - 1, rng.integers(0, N // 2, N - 2)]  # the same range, with repetitions


@pytest.mark.parametrize("values, kind", [
    (ROWS, "rows"), (ROWS + 7, "rows"), (ROWS.astype(float), "rows"), (ROWS.astype(object), "rows"),
    (TWICE, "numbers"), (TWICE.astype(float) - 3, "numbers"), (2 * ROWS, "numbers"), (ROWS + 0.5, "numbers"),
    (np.where(ROWS == 5, np.nan, ROWS), "numbers"),
], ids=["rows", "from 7", "floats", "objects", "twice", "twice, floats", "even", "halves", "gap"])  # fmt: skip
def test_only_whole_numbers_each_once_without_a_gap_are_those_of_rows(values, kind):
    """A column of counts may have the range of the row numbers by chance."""
    (found,) = describe([("x", values)])
    assert found.kind == kind


@pytest.mark.parametrize("first, kind", [("2024-01-01", "other dates"), (None, "numbers")])
@pytest.mark.parametrize("form", [int, float, str, object])
def test_numbers_are_dates_if_each_is_one(first, kind, form):
    """Days such as 20240301 were numbers, with a leap of 8870 between two years."""
    days = pd.date_range(first or "2024-01-01", periods=N, freq="13D").strftime("%Y%m%d").to_numpy(object).astype(int)
    days[-1] = days[-1] if first else 20230229
    (found,) = describe([("x", days.astype(form))])
    assert found.kind == kind


@pytest.mark.parametrize("gaps, kind", [(20, "numbers"), (35, "numbers"), (37, "empty")])
def test_a_column_is_empty_if_more_than_nine_tenths_of_all_rows_are(gaps, kind):
    column = np.r_[np.full(gaps, np.nan), np.random.default_rng(1).normal(size=N - gaps)]
    (found,) = describe([("x", column)])
    assert (found.kind, found.gaps) == (kind, gaps)


TRUTH = (ROWS % 3 == 0).tolist()
GAPPED = [None if k % 5 == 0 else one for k, one in enumerate(TRUTH)]


@pytest.mark.parametrize("column", [
    np.array(TRUTH), np.array(TRUTH, object), np.array(GAPPED, object), pd.Series(TRUTH), pd.Series(GAPPED),
    pd.Series(GAPPED, dtype="boolean"), pd.Series(TRUTH, dtype="category"),
], ids=["bool", "objects", "gaps", "series", "series with gaps", "nullable", "category"])  # fmt: skip
def test_truth_values_are_categories_in_every_form(column):
    """With gaps, too."""
    frame = pd.DataFrame({"smokes": column, "age": rng.normal(size=N)})
    (found,) = [spec for spec in auto_kernels(frame) if spec.name == "smokes"]
    assert isinstance(found.kernel, Categorical)


SIGNALLING = np.array([0x7FF4000000000000]).view(np.float64)[0], np.array([0x7FA00000], np.int32).view(np.float32)[0]
QUIET = np.float32("nan"), np.float16("nan"), np.longdouble("nan"), float("nan"), pd.NaT, pd.NA, None


@pytest.mark.parametrize("value", [*SIGNALLING, *QUIET, np.datetime64("NaT"), np.timedelta64("NaT")], ids=repr)
def test_every_kind_of_nothing_among_objects_is_missing_and_no_warning_comes_through(value):
    """Signalling NaN warned, and NaN of 32 bits among objects were none."""
    column = np.empty((3, 1), object)
    column[:, 0] = 1.5, value, 2.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert missing_entries(column)[:, 0].tolist() == [False, True, False]
        if not isinstance(value, np.datetime64 | np.timedelta64):
            np.testing.assert_array_equal(to_numbers(column, lambda: ["c"]), [[1.5], [np.nan], [2.5]])

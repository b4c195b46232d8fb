"""What a column of a table is taken for, by its entries alone."""

import numpy as np
import pandas as pd
import pytest

from manykernels.kernels import Categorical, auto_kernels
from manykernels.kernels._table import describe

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
    """Issue 11, point 24. A column of counts may have the range of the row numbers by chance."""
    (found,) = describe([("x", values)])
    assert found.kind == kind


TRUTH = (ROWS % 3 == 0).tolist()
GAPPED = [None if k % 5 == 0 else one for k, one in enumerate(TRUTH)]


@pytest.mark.parametrize("column", [
    np.array(TRUTH), np.array(TRUTH, object), np.array(GAPPED, object), pd.Series(TRUTH), pd.Series(GAPPED),
    pd.Series(GAPPED, dtype="boolean"), pd.Series(TRUTH, dtype="category"),
], ids=["bool", "objects", "gaps", "series", "series with gaps", "nullable", "category"])  # fmt: skip
def test_truth_values_are_categories_in_every_form(column):
    """Issue 11, point 24. With gaps, too."""
    frame = pd.DataFrame({"smokes": column, "age": rng.normal(size=N)})
    (found,) = [spec for spec in auto_kernels(frame) if spec.name == "smokes"]
    assert isinstance(found.kernel, Categorical)

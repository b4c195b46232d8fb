"""The weighted median of "median" widths, of which only the middle is sorted."""

import numpy as np
import pytest

from manykernels.kernels._scaled import _median


def by_sorting(values, w):
    order = np.argsort(values, kind="stable")
    values, total = values[order], np.cumsum(w[order])
    low, high = (np.searchsorted(total, total[-1] / 2 * (1 + e)) for e in (-1e-12, 1e-12))
    return (values[low] + values[min(high, len(values) - 1)]) / 2


@pytest.mark.parametrize("n", [1, 2, 7, 5000, 20_001])
@pytest.mark.parametrize("kind", ["normal", "few", "sorted", "waves"])
def test_the_median_is_that_of_all_sorted_values(n, kind):
    """Also if a sample at even steps does not see the middle ("waves")."""
    rng = np.random.default_rng(n)
    values = rng.normal(size=n)
    values = {"normal": values, "few": values.round(), "sorted": np.sort(values),
              "waves": values + 50 * (np.arange(n) % max(1, n // 2000) == 0)}[kind]  # fmt: skip
    for w in (np.ones(n), rng.integers(1, 4, n).astype(float), rng.random(n) + 0.01):
        assert _median(values, w) == by_sorting(values, w)

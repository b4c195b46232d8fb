"""Models whose targets need no sequence at all: the predictor is a constant."""

import numpy as np
import pytest

from manykernels import MKLRegressor, load, strings

SEQUENCES = ["ACGTACGTAC", "TTGCACGGAC", "ACGAACGTTT", "CCGTACGAAC"] * 5


@pytest.mark.parametrize("features", ["never", "auto", "map", "trie", "sorted", "hash"])
@pytest.mark.parametrize("kernels", [strings.degree_kernels(3), [strings.WeightedDegree(3)], [strings.Spectrum(2)]])
@pytest.mark.filterwarnings("ignore:The standard deviation of y")  # it is below epsilon
def test_a_constant_is_learned_where_no_example_is_support(features, kernels, tmp_path):
    """Aligned kernels with explicit features had no common length to ask for."""
    y = np.linspace(0, 1, len(SEQUENCES))
    model = MKLRegressor(kernels, loss="epsilon_insensitive", epsilon=100.0, features=features).fit(SEQUENCES, y)
    assert model.support_.size == 0
    assert np.ptp(model.predict(SEQUENCES)) == 0
    assert not model.decision_parts(SEQUENCES).any()
    model.save(tmp_path / "model.mk")
    assert (load(tmp_path / "model.mk").predict(SEQUENCES) == model.predict(SEQUENCES)).all()

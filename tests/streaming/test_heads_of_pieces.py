"""The first examples of a piece, from its first block that is not empty, and the bytes that tell it from others."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from manykernels.streaming import DataSource, shards
from manykernels.streaming.shards import BEGINNING, beginning, numbers_of

rng = np.random.default_rng(1)
DATA = rng.normal(size=(60, 3))
Y = np.arange(60.0)


@dataclass
class Blocks(DataSource):
    """One piece of blocks of these sizes."""

    sizes: list = field(default_factory=list)

    def pieces(self):
        return [0]

    def read(self, piece):
        stop = np.cumsum(self.sizes)
        return [(DATA[b - n : b], Y[b - n : b]) for n, b in zip(self.sizes, stop.tolist(), strict=True)]

    def fingerprint(self, piece):
        return "blocks"


@pytest.mark.parametrize("most", [1, 7, 8, 500])
@pytest.mark.parametrize("sizes", [[0, 8, 20], [8, 0, 1], [30, 30], [0, 0]])
def test_the_head_is_of_the_first_block_with_examples(sizes, most, monkeypatch, tmp_path):
    monkeypatch.setattr(shards, "HEAD_EXAMPLES", most)
    found = shards.scan(Blocks(sizes), 0, str(tmp_path / "kept"))
    n = next((size for size in sizes if size), 0)
    assert found.sizes == sizes
    if not n:
        assert found.head is None and found.beginning == b""
        return
    assert_array_equal(found.head, DATA[: min(n, most)])
    assert found.beginning == DATA[: min(n, most, BEGINNING)].tobytes()
    assert_array_equal(found.y, Y[: sum(sizes)])


def test_the_beginning_is_of_sixteen_examples_in_any_type():
    assert beginning(DATA) == DATA[:16].tobytes() != beginning(DATA[1:]) and beginning(DATA[:3]) == DATA[:3].tobytes()
    changed = DATA.copy()
    changed[15, 2] += 1e-9
    assert beginning(changed) != beginning(DATA)
    changed[15], changed[16] = DATA[15], 0.0
    assert beginning(changed) == beginning(DATA)
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [True, False], "d": [0.5, np.nan]})
    assert_array_equal(numbers_of(frame), [[1, np.nan, 1, 0.5], [2, np.nan, 0, np.nan]])
    assert numbers_of(["a", "b"]) is None and beginning(["a", "b"]) == b""
    assert_array_equal(numbers_of(DATA.astype(np.float32)[:2]), DATA[:2].astype(np.float32))

"""The memory of a fit on a source stays under memory_limit, 64 bytes an example and 64 MB, whatever the data's size."""

import subprocess
import sys
from pathlib import Path

import pytest

PEAK = Path(__file__).parents[1] / "oracles" / "peak.py"
LIMIT = 40_000_000


NEEDS = {"hdf5": "h5py", "zarr": "zarr", "parquet": "pyarrow", "dask": "dask.array"}
SIZES = {"fasta": 300_000}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak of a part"),
]


def measured(kind, folder, *whole):
    """(growth of the memory, what is allowed, gap) of a fit in a process of its own."""
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    n = SIZES.get(kind, 400_000)
    command = [sys.executable, str(PEAK), kind, str(folder), str(LIMIT), str(n), *whole]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    growth, gap = map(float, done.stdout.split())
    return growth, LIMIT + 64 * n + 64_000_000, gap


@pytest.mark.parametrize("kind", ["npy", "hdf5", "zarr", "parquet", "csv", "fasta", "dask"])
def test_peak_stays_under_the_limit_and_a_constant(tmp_path, kind):
    """Tables of 154 MB; sequences whose kernels take as much in memory."""
    growth, allowed, gap = measured(kind, tmp_path)
    assert growth <= allowed
    assert gap <= 1e-3


@pytest.mark.parametrize("kind", ["npy", "fasta"])
def test_in_memory_the_same_data_take_more(tmp_path, kind):
    growth, allowed, _ = measured(kind, tmp_path, "whole")
    assert growth > 1.2 * allowed

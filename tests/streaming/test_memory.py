"""The memory of a fit on a source stays under memory_limit, 64 bytes an example and 64 MB, whatever the data's size."""

import subprocess
import sys
from pathlib import Path

import pytest

PEAK = Path(__file__).parents[1] / "oracles" / "peak.py"
LIMIT = 40_000_000


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak of a part of a run")
@pytest.mark.parametrize("kind", ["npy", "hdf5", "zarr", "parquet", "csv", "fasta"])
def test_peak_stays_under_the_limit_and_a_constant(tmp_path, kind):
    """Data of 154 MB (npy and its like); sequences whose kernels take more than that in memory."""
    n = 100_000 if kind == "fasta" else 400_000
    for name in {"hdf5": ["h5py"], "zarr": ["zarr"], "parquet": ["pyarrow"], "fasta": ["dnaio"]}.get(kind, []):
        pytest.importorskip(name)
    command = [sys.executable, str(PEAK), kind, str(tmp_path), str(LIMIT), str(n)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    growth, gap = map(float, done.stdout.split())
    assert growth <= LIMIT + 64 * n + 64_000_000
    assert gap <= 1e-3

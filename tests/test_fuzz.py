"""Two hundred random fits of every kind: none crashes, lies about its gap, or warns in another voice than ours.

`python -m benchmarks.fuzz --only NUMBER` says all about one of them; `docs/reliability.md` has a run of 20,000.
"""

import pytest
from benchmarks.fuzz.cases import draw
from benchmarks.fuzz.judge import BAD, judge

CASES, CHUNK = 200, 10


@pytest.mark.parametrize("first", range(0, CASES, CHUNK))
def test_random_fits_are_honest(first):
    verdicts = {number: judge(draw(0, number)) for number in range(first, first + CHUNK)}
    bad = {n: v for n, v in verdicts.items() if v["outcome"] in BAD and v["outcome"] != "slow"}  # time is no test
    assert bad == {}


@pytest.mark.parametrize(
    ("seed", "number"),
    [(20261117, 90), (20261117, 16779), (20261118, 366), (20261118, 7026), (20261118, 18299), (271828, 4048),
     (20261122, 1560), (20261121, 10570)],
)  # fmt: skip
def test_fits_that_were_once_not_honest(seed, number):
    """Issue 11, in turn: the scale of a gap of least squares; an unconverged gap at the reported b; spherical diagonals

    of tiny values (two cases); the objective of an unconverged run of `chunking`; a converged gap at the reported b;
    copies of float32 matrices that were scaled in float32; the series of a constant column.
    """
    verdict = judge(draw(seed, number))
    assert verdict["outcome"] in ("converged", "unconverged"), verdict["why"]

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


@pytest.mark.parametrize("number", [90, 16779])
def test_fits_that_were_once_not_honest(number):
    """Issue 11: the scale of a gap of least squares, and the gap of a fit that does not converge at the reported b."""
    verdict = judge(draw(20261117, number))
    assert verdict["outcome"] in ("converged", "unconverged"), verdict["why"]

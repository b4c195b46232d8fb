"""Forty random journeys through the package, as a stranger would use it: none ends badly.

`python -m benchmarks.journeys --case NUMBER` tells the story of one; benchmarks/README.md says what is judged.
"""

import pytest
from benchmarks.journeys.steps import journey

CASES, CHUNK = range(4000, 4040), 5


@pytest.mark.parametrize("first", CASES[::CHUNK])
def test_journeys_succeed_or_are_refused_on_purpose(first):
    failures = [journey(number, limit=1e9).failures for number in range(first, first + CHUNK)]  # time is no test
    assert [failure for journey in failures for failure in journey] == []


@pytest.mark.parametrize("number", [50247, 50339, 50487, 50952, 51526, 51771, 60199])
def test_journeys_that_once_ended_badly(number):
    """Issue 11: found on sixteen cores of an x86-64 machine."""
    assert journey(number, limit=1e9).failures == []

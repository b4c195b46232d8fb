"""The Python calls of warm fits and predictions, which take longer than the arithmetic where data are small."""

import os
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from sklearn import datasets

import manykernels
from manykernels import MKLClassifier

OWN = Path(manykernels.__file__).parent


def own_calls(job):
    """{(file, function): calls} of the package's own functions during job(), without the compiled ones."""
    found = Counter()

    def count(frame, event, _):
        file = Path(frame.f_code.co_filename)
        if event == "call" and OWN in file.parents and file.parent.name != "loops":
            found[file.name, frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        job()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.skipif(bool(os.environ.get("SMALL_BLOCKS")), reason="the work is cut into many blocks")
@pytest.mark.parametrize(
    "name, in_fit, in_predict", [("wine", 6400, 1140), ("breast_cancer", 8240, 2740)], ids=["wine", "breast cancer"]
)
def test_small_fits_and_predictions_take_few_calls(name, in_fit, in_predict):
    """The bounds are 25 % above the calls that they took; `python -m benchmarks.calls` shows where calls are made."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    model = MKLClassifier(C=1.0, n_jobs=1).fit(X, y)
    for job, most in ((partial(model.fit, X, y), in_fit), (partial(model.predict, X), in_predict)):
        job()
        calls = own_calls(job)
        assert calls.total() <= most, calls.most_common(10)

"""What the tests of checkpoints fit, and how they look at it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from manykernels import MKLClassifier
from manykernels.datasets import make_splice
from manykernels.strings import degree_kernels

X, Y = make_splice(400, length=21, positives=0.3, strength=0.6)
STRINGS = MKLClassifier(degree_kernels(3), solver="coordinate", C=1.0, n_jobs=2)


def assert_same(one, other):
    for name in ("kernel_weights_", "dual_coef_", "support_", "intercept_", "objective_", "duality_gap_", "n_iter_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert [{**step, "time": 0} for step in one.history_] == [{**step, "time": 0} for step in other.history_]


def command(file, call):
    """Runs `call` of a test file in a process of its own."""
    code = f"import sys; sys.path[:] = {[os.path.dirname(file), *sys.path]!r}; import {Path(file).stem} as t; "
    return [sys.executable, "-c", code + f"t.{call}"]


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid

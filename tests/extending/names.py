"""What an editor must see of the lazy names: checked by mypy, never run."""

from typing import assert_type

import manykernels
from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, load
from manykernels.banks import PairwiseBank
from manykernels.kernels import RBF
from manykernels.regularizers import Align
from manykernels.solvers import Level

assert_type(MKLClassifier([RBF(gamma=0.1)]), MKLClassifier)
assert_type(MKLRegressor(), MKLRegressor)
assert_type(MKLOneClass(), MKLOneClass)
assert_type(manykernels.kernels.RBF(gamma=0.1), RBF)
assert_type(Align(), manykernels.weighting.Align)
assert_type(manykernels.solvers.Level(tau=0.9), Level)
KernelStack, PairwiseBank, load  # noqa: B018

"""The competitors, one file each; `SOLVERS` holds them all, installed or not."""

from .cvxpy_qcqp import Clarabel
from .himalaya import MULTIPLE_RIDGE
from .mklpy import MKLPY
from .ours import Analytic, Newton
from .svc_alternation import AlternationSVC
from .svc_mean import MeanSVC

SOLVERS = [Newton(), Analytic(), MeanSVC(), AlternationSVC(), Clarabel(), *MKLPY, *MULTIPLE_RIDGE]

"""Kernels k(X, Y=None), lists of kernels on columns and views, grids, normalisations and alignment."""

from .auto import auto_kernels
from .base import Constant, Fitted, Function, GaussianProcess, Kernel, Product, Sum, as_kernel
from .categorical import Categorical
from .chi2 import Chi2
from .cosine import Cosine
from .features import Features
from .gower import Gower
from .grids import feature_bank, group_kernels, linear_coefficients, per_column, rank_one_kernels, rbf_grid
from .histogram_intersection import HistogramIntersection
from .identity import Identity
from .kernel_list import KernelList
from .laplacian import Laplacian
from .linear import Linear
from .normalize import alignment, multiplicative, spherical, target_alignments, trace
from .nystroem import Nystroem
from .on import On
from .polynomial import Polynomial
from .precomputed import Precomputed
from .random_features import RandomFeatures
from .rbf import RBF
from .spec import KernelSpec
from .stack import KernelStack
from .tanimoto import Tanimoto
from .task_kernels import multi_task, multi_task_stack
from .views import Views

__all__ = [
    "Categorical",
    "Chi2",
    "Constant",
    "Cosine",
    "Features",
    "Fitted",
    "Function",
    "GaussianProcess",
    "Gower",
    "HistogramIntersection",
    "Identity",
    "Kernel",
    "KernelList",
    "KernelSpec",
    "KernelStack",
    "Laplacian",
    "Linear",
    "Nystroem",
    "On",
    "Polynomial",
    "Precomputed",
    "Product",
    "RBF",
    "RandomFeatures",
    "Sum",
    "Tanimoto",
    "Views",
    "alignment",
    "as_kernel",
    "auto_kernels",
    "feature_bank",
    "group_kernels",
    "linear_coefficients",
    "multi_task",
    "multi_task_stack",
    "multiplicative",
    "per_column",
    "rank_one_kernels",
    "rbf_grid",
    "spherical",
    "target_alignments",
    "trace",
]
__dir__ = __all__.copy  # dir() lists the public names alone

"""Looking at fitted models: which kernels carry the decision."""

from .plots import plot_weights
from .tables import weights_table

__all__ = ["plot_weights", "weights_table"]

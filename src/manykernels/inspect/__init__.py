"""Looking at fitted models: which kernels carry the decision, and what theory says of them."""

from . import bounds
from .plots import plot_weights
from .tables import weights_table

__all__ = ["bounds", "plot_weights", "weights_table"]

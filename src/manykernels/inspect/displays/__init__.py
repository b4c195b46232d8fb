"""Pictures in scikit-learn's style: `…Display.from_estimator(...)` draws and returns the display, with `ax_`."""

from .alignment_display import AlignmentDisplay
from .along_display import WeightsAlongDisplay
from .convergence_display import ConvergenceDisplay
from .decision_display import DecisionDisplay
from .path_display import PathDisplay
from .reliability_display import ReliabilityDisplay
from .stability_display import StabilityDisplay
from .weights_display import WeightsDisplay

__all__ = [
    "AlignmentDisplay",
    "ConvergenceDisplay",
    "DecisionDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "StabilityDisplay",
    "WeightsAlongDisplay",
    "WeightsDisplay",
]

"""Tables and pictures of fitted models: which kernels, positions and words carry the decision, and bounds."""

from . import bounds
from .approximation import ApproximationError, approximation_error
from .bootstrap import bootstrap_weights
from .column_relevance import column_relevance
from .displays.alignment_display import AlignmentDisplay
from .displays.curves import ConvergenceDisplay, PathDisplay, WeightsAlongDisplay
from .displays.decision_display import DecisionDisplay
from .displays.reliability_display import ReliabilityDisplay
from .displays.weights import StabilityDisplay, WeightsDisplay, plot_weights
from .explain import explain_sequences
from .explanation import SequenceExplanation
from .find_motifs import find_motifs, top_words
from .held_out import relevance
from .motifs import Motif, Motifs
from .oligomers import POIM, poim, top_kmers, top_kmers_table
from .relevance_result import Relevance
from .sequence_plots import plot_logo, plot_poim, plot_positions
from .sequences import PositionWeights, position_weights
from .shares import feature_shares
from .shares_result import FeatureShares
from .suggest import Suggestion, suggest
from .tables import weights_table

__all__ = [
    "POIM",
    "AlignmentDisplay",
    "ApproximationError",
    "ConvergenceDisplay",
    "DecisionDisplay",
    "FeatureShares",
    "Motif",
    "Motifs",
    "PathDisplay",
    "PositionWeights",
    "Relevance",
    "ReliabilityDisplay",
    "SequenceExplanation",
    "StabilityDisplay",
    "Suggestion",
    "WeightsAlongDisplay",
    "WeightsDisplay",
    "approximation_error",
    "bootstrap_weights",
    "bounds",
    "column_relevance",
    "explain_sequences",
    "feature_shares",
    "find_motifs",
    "plot_logo",
    "plot_poim",
    "plot_positions",
    "plot_weights",
    "poim",
    "position_weights",
    "relevance",
    "suggest",
    "top_kmers",
    "top_kmers_table",
    "top_words",
    "weights_table",
]
__dir__ = __all__.copy  # dir() lists the public names alone

from typing import Any

from .._parts import declared
from ._protocol import Behind
from .base import Kernel
from .column_encoders import Indicators
from .linear import Linear


@declared
class Categorical(Behind, Kernel):
    """k(x, y) = Σ_j [x_j = y_j] / d: the share of d columns in which two examples have the same category.

    Categories are texts, numbers or truth values in an array, a list or a frame. They are compared as in Python: 1
    equals 1.0, but not "1". The explicit features are indicators of the categories in the training data, so that a new
    category equals no other.

    Parameters
    ----------
    match_missing : bool, default=False
        Whether missing entries (None, NaN, NA) are a category. If False, a missing entry equals no entry, not even
        another missing one.

    Examples
    --------
    >>> from manykernels.kernels import Categorical
    >>> Categorical()([["a", 1], ["b", 1]], [["a", 2], ["b", None], ["b", 1]])
    array([[0.5, 0. , 0.5],
           [0. , 0.5, 1. ]])
    """

    file_tag = ("kernel/categorical", 1)
    saved = {"match_missing": "flag"}
    reads = "anything"
    family = "features"

    match_missing: bool = False

    def split(self) -> tuple[Any, Kernel]:
        return Indicators(self.match_missing), Linear()

"""The sums of features that the `coordinate` solver updates.

`Vectors` holds v_m = Σ_i a_i φ_m(x_i) *without* the weights, which enter at look-up, so that changing them costs
nothing; every `add` updates q_m = ‖v_m‖². Clear, add and look-up are the three operations of linadd (Sonnenburg et al.
2006, section 3).
"""

from abc import ABC, abstractmethod

import numpy as np


class Vectors(ABC):
    """v_m = Σ_i a_i φ_m(x_i), zero at first, with `q` (M,) = ‖v_m‖²; φ_m is normalised."""

    q: np.ndarray

    @abstractmethod
    def clear(self):
        """v = 0."""

    @abstractmethod
    def add(self, rows, before, delta):
        """v_m += Σ_r delta_r φ_m(x_r); `before` are the previous coefficients of the rows."""

    @abstractmethod
    def outputs(self, rows, theta, a):
        """Σ_m θ_m ⟨v_m, φ_m(x_r)⟩, (|rows|,) float64; a (|rows|,) are the coefficients of the rows in v."""

    @abstractmethod
    def parts(self, rows, a):
        """⟨v_m, φ_m(x_r)⟩ for every kernel, (|rows|, M)."""

    def team(self, inner, a, outputs, size, most, precision):
        """A `Team` that visits up to `most` examples per call, `size` at a time, and changes v, a, outputs; or None."""
        return None

    def at(self, views, theta=None):
        """Look-up at new examples, given by their views: the outputs (n,), or without θ the parts (n, M)."""
        raise NotImplementedError


class Team(ABC):
    """Threads that visit examples together; they live as long as the block of this context manager."""

    @abstractmethod
    def __enter__(self):
        """Starts the threads."""

    @abstractmethod
    def __exit__(self, *error):
        """Ends the threads."""

    @abstractmethod
    def visit(self, rows, theta, excess, b, turn):
        """Visits these examples; returns the new (excess, b, turn)."""

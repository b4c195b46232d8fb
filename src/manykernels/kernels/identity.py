from __future__ import annotations

from ._base import Kernel


class Identity(Kernel):
    """k(x, y) = 1 if x and y are the same training example, else 0: the 2-norm soft margin; 0 on new data."""

    base = "same"
    reads = "nothing"
    exempt = True

    def form(self) -> tuple[float, float, float] | None:
        return 1, 1.0, 0.0

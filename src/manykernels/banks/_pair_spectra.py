"""The correction of the precomputed kernels of one side, for training and new objects: see `kernels.normalize`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._state import Stored
from ..kernels.normalize import corrected, projected


@dataclass(frozen=True, eq=False)
class Spectra(Stored):
    """`objects` (m,) are the numbers of all training objects; each kernel has U₋ (m, r) in `removed` and a shift."""

    saved = {"known as objects": "i8 m <big asc", "shifts": "f8 M", "removed": "list M f8 m _"}

    objects: np.ndarray
    removed: list[np.ndarray]
    shifts: np.ndarray

    @classmethod
    def of(cls, objects: np.ndarray, matrices: list[np.ndarray], psd: str, names: list[str]) -> Any:
        """(the correction, the corrected matrices (m, m))."""
        rounding = len(objects) * 2.0**-52
        K, U, shifts = zip(
            *(corrected(K, psd, rounding, name) for K, name in zip(matrices, names, strict=False)), strict=True
        )
        return cls(objects, list(U), np.array(shifts)), list(K)

    def apply(self, found: list[np.ndarray], numbers: np.ndarray, keep: np.ndarray) -> list[np.ndarray]:
        """Corrects values between objects and all training objects; returns the columns of the objects `keep`."""
        cols, same = np.searchsorted(self.objects, keep), numbers[:, None] == keep
        return [projected(K, U, cols) + s * same for K, U, s in zip(found, self.removed, self.shifts, strict=True)]

"""The correction of the precomputed kernels of one side, for training and new objects: see `kernels.spectra`."""

from typing import Any, NamedTuple, Self

import numpy as np

from .._state import check, check_array, check_index, check_list
from ..kernels.spectra import corrected, projected


class Spectra(NamedTuple):
    """`objects` (m,) are the numbers of all training objects; each kernel has U₋ (m, r) in `removed` and a shift."""

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

    def to_state(self) -> dict[str, Any]:
        """The state for a file, see `_state`."""
        return {"known": self.objects, "removed": self.removed, "shifts": self.shifts}

    @classmethod
    def from_state(cls, state: dict[str, Any], side: Any) -> Self:
        """The correction, checked against its side."""
        objects, removed, shifts = (state[name] for name in ("known", "removed", "shifts"))
        check(side.kernel_list is None, "spectra are for precomputed kernels")
        check_index("known", objects, 2**48, ascending=True)
        check(bool(np.isin(side.objects, objects).all()), "a side has objects that its spectra lack")
        check_array("shifts", shifts, np.float64, side.size)
        for U in check_list("removed", removed, np.ndarray, side.size):
            check_array("removed", U, np.float64, len(objects), None)
        return cls(objects, removed, shifts)

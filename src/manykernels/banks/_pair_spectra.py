"""The correction of the precomputed kernels of one side, for known and new objects: see `kernels.spectra`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._state import check, check_array, check_index, check_list
from ..kernels.spectra import corrected, projected


class Spectra(NamedTuple):
    """`known` (m,) are the numbers of all training objects; each kernel has U₋ (m, r) in `removed` and a shift."""

    known: np.ndarray
    removed: list[np.ndarray]
    shifts: np.ndarray

    @classmethod
    def of(cls, known: np.ndarray, matrices: list[np.ndarray], psd: str, names: list[str]) -> Any:
        """(the correction, the corrected matrices (m, m))."""
        rounding = len(known) * 2.0**-52
        K, U, shifts = zip(
            *(corrected(K, psd, rounding, name) for K, name in zip(matrices, names, strict=False)), strict=True
        )
        return cls(known, list(U), np.array(shifts)), list(K)

    def apply(self, found: list[np.ndarray], numbers: np.ndarray, keep: np.ndarray) -> list[np.ndarray]:
        """Corrects values between objects and all known ones; returns the columns of the objects `keep`."""
        cols, same = np.searchsorted(self.known, keep), numbers[:, None] == keep
        return [projected(K, U, cols) + s * same for K, U, s in zip(found, self.removed, self.shifts, strict=True)]

    def to_state(self) -> dict[str, Any]:
        """The state for a file, see `_state`."""
        return self._asdict()

    @classmethod
    def from_state(cls, state: dict[str, Any], side: Any) -> Spectra:
        """The correction, checked against its side."""
        known, removed, shifts = (state[name] for name in cls._fields)
        check(side.kernel_list is None, "spectra are for precomputed kernels")
        check_index("known", known, 2**48, ascending=True)
        check(bool(np.isin(side.known, known).all()), "a side has objects that its spectra lack")
        check_array("shifts", shifts, np.float64, side.size)
        for U in check_list("removed", removed, np.ndarray, side.size):
            check_array("removed", U, np.float64, len(known), None)
        return cls(known, removed, shifts)

"""The kernels of one side of pairs: matrices between objects of the training pairs and new objects.

Besides the user's kernels there are two that read no data, "same" (1 for objects with the same number) and "any" (1 for
all): A ⊗ same and A ⊗ any are the parts of Cartesian and of additive kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._state import Stored, check, check_value
from ..kernels import Constant, Identity, KernelList, KernelStack
from ..kernels.normalize import corrected, inverse_root, projected
from ..kernels.pairs import by_table, matrices, take
from ..kernels.view_data import View, n_examples
from ._kernel_groups import check_rows, try_kernel
from ._stack import is_indefinite, spread_out
from .dense import default_names

SAME, ANY = "same", "any"
MAX_SKEW = 1e-6  # relative to the largest entry


class PairSide(Stored):
    """Kernels between objects; `objects` (m,) are the numbers of the objects of training pairs."""

    file_tag = ("pairs/side", 1)
    saved = {
        "side": "of left right", "known as objects": "i8 m <big asc", "size": "int 1", "names": "list P text",
        "roots": "?f8 P m", "extra": "list _ of same any", "kernels as kernel_list": "?KernelList",
        "views": "?list _ dict", "spectra": "?dict",
    }  # fmt: skip
    roots: np.ndarray | None = None  # (P, m): 1 / √k(x, x) for normalize="spherical"
    spectra: Spectra | None = None  # correction of precomputed kernels to positive semidefinite ones

    def __init__(self, side, kernels, table, objects, extra):
        self.side, self.objects, self.extra = side, objects, extra
        self.kernel_list = None
        if isinstance(kernels, str) and kernels == "precomputed":
            self.views = None
            names = table.names if isinstance(table, KernelStack) else None
            self.size = len(matrices(table, side))
            own = list(names or default_names(self.size))
        else:
            if isinstance(table, KernelStack) or getattr(table, "ndim", 2) == 3:  # the user's array, frame or list
                raise ValueError(f'{side} is a stack of matrices: give "precomputed" as its kernels in Pairwise.')
            part = take(table, objects)
            self.kernel_list = KernelList.from_spec(kernels, part)
            if not isinstance(kernels, str) and np.any(self.kernel_list.priors != 1.0):
                raise ValueError("kernels of pairs take no prior: leave it out, or use WeightedLpNorm(p, weights).")
            if self.kernel_list.tasks is not None:
                raise ValueError(f"kernels of {side} are multi_task, which pairs do not know: give plain kernels.")
            for kernel in self.kernel_list.kernels:
                if any(isinstance(part, Identity) for part in kernel.get_params().values()):
                    raise ValueError(
                        f"{kernel!r} of {side} has an Identity within, which new pairs of known objects would lose: "
                        'give Identity() as a kernel of its own, or Pairwise(..., combine="cartesian").'
                    )
            self.views, own = self.kernel_list.views(part), self.kernel_list.names
            self.size = self.kernel_list.M
        self.names = [*own, *extra]

    def widths(self) -> dict[str, Any]:
        """{name of a table: the number of its columns, None for matrices}."""
        known = None if self.kernel_list is None else self.kernel_list.n_features
        return by_table(self.side, known if isinstance(known, dict) else {None: known})

    def needs(self) -> dict[str, Any]:
        """{name of a table: names or positions of the columns that kernels read, None for all}."""
        kernels = self.kernel_list
        return by_table(self.side, {None: None} if kernels is None else kernels.needs(np.ones(kernels.M, bool)))

    def _views(self, table, numbers):
        """The views of these objects of a table; None for precomputed kernels."""
        return None if self.kernel_list is None else self.kernel_list.views(take(table, numbers))

    def values(self, x, y=None):
        """k_p between the objects x and y, both (numbers, views, table); y None means training objects: |x| × |y|."""
        y = (self.objects, self.views, None) if y is None else y
        own = [self._value(p, x, y) for p in range(self.size)]
        return own + [_extra(name, x[0], y[0]) for name in self.extra]

    def _value(self, p, x, y):
        if self.kernel_list is None:
            table = x[2] if x[2] is not None else y[2]
            stack = self._stack(table, max(x[0].max(initial=-1), y[0].max(initial=-1)))
            return np.asarray(stack[p][np.ix_(x[0], y[0])], dtype=np.float64)
        kernel, view = self.kernel_list.kernels[p], self.kernel_list.view_of[p]
        if isinstance(kernel, Identity):
            return _extra(SAME, x[0], y[0])
        if isinstance(kernel, Constant):
            return np.full((len(x[0]), len(y[0])), float(kernel.value))
        left, right = x[1][view], y[1][view]
        if left.X is None or right.X is None:  # no object has the view
            return np.zeros((len(x[0]), len(y[0])))
        K = np.array(kernel(left.X) if left is right else kernel(left.X, right.X), dtype=np.float64)
        for present, line in ((left.present, K), (right.present, K.T)):
            if present is not None:
                line[~present] = 0.0
        return K

    def _stack(self, table, last):
        stack = matrices(table, self.side)
        if len(stack) != self.size or stack.shape[1] <= last:
            raise ValueError(
                f"{self.side} has {len(stack)} matrices of {stack.shape[1]} objects; the model has {self.size} kernels "
                f"and objects up to number {last}: give the matrices between all of them, known and new, in that order."
            )
        return stack

    def of(self, table, numbers):
        """(numbers, views, table) of these objects, an argument of `values`."""
        if self.kernel_list is None:
            matrices(table, self.side)
        return numbers, self._views(table, numbers), table

    def fit(self, table, spherical, psd="warn"):
        """The checked matrices between the training objects; sets `roots` if spherical, and `spectra` if corrected."""
        x = (self.objects, self.views, table if self.kernel_list is None else None)
        found, self.indefinite = self.values(x, x), []
        some = spread_out(len(found[0]))
        for name, K in zip(self.names, found, strict=True):
            if not np.isfinite(K).all():
                raise ValueError(f"kernel {name!r} of {self.side} holds NaN or infinity: clean or rescale its data.")
            if np.abs(K - K.T).max(initial=0.0) > MAX_SKEW * np.abs(K).max(initial=0.0):
                raise ValueError(f"kernel {name!r} of {self.side} is not symmetric: use (K + K.T) / 2.")
            corrects = psd != "warn" and self.kernel_list is None
            if not corrects and is_indefinite(K[np.ix_(some, some)], 1e-12):
                self.indefinite.append(name)
        found = [0.5 * (K + K.T) for K in found]
        if psd != "warn" and self.kernel_list is None:
            if spherical and psd != "error":
                raise ValueError(
                    f"psd={psd!r} changes k(x, x), which normalize='spherical' needs of new objects: "
                    "divide the matrices by sqrt(k_ii k_jj) yourself, or take normalize='multiplicative'."
                )
            self.spectra, found[: self.size] = Spectra.of(self.objects, found[: self.size], psd, self.names)
        if spherical:
            self.roots = np.array([inverse_root(np.diagonal(K)) for K in found])
            found = [K * root[:, None] * root for K, root in zip(found, self.roots, strict=True)]
        return found

    def between(self, table, numbers):
        """Normalised kernels between objects of a table and the training objects, |numbers| × m each."""
        x = self.of(table, numbers)
        if self.spectra is not None:
            whole = [self._value(p, x, (self.spectra.objects, None, None)) for p in range(self.size)]
            own = self.spectra.apply(whole, numbers, self.objects)
            return own + [_extra(e, numbers, self.objects) for e in self.extra]
        found = self.values(x)
        if self.roots is None:
            return found
        roots = [inverse_root(d) for d in self._diagonals(x)]
        return [K * root[:, None] * own for K, root, own in zip(found, roots, self.roots, strict=True)]

    def among(self, table, numbers, other, others):
        """Normalised kernels between objects of two tables."""
        if self.spectra is not None:
            raise ValueError(
                f"psd=... made the kernels of {self.side} positive semidefinite on the training objects, which does "
                "not extend to two new objects: correct the matrices between all objects yourself."
            )
        x, y = self.of(table, numbers), self.of(other, others)
        found = self.values(x, y)
        if self.roots is None:
            return found
        left, right = ([inverse_root(d) for d in self._diagonals(z)] for z in (x, y))
        return [K * u[:, None] * v for K, u, v in zip(found, left, right, strict=True)]

    def _diagonals(self, x):
        """k_p(x, x) of each object, for every kernel."""
        return [self._diagonal(p, x) if p < self.size else np.ones(len(x[0])) for p in range(len(self.names))]

    def _diagonal(self, p, x):
        if self.kernel_list is None:
            return np.diagonal(self._stack(x[2], x[0].max(initial=-1))[p])[x[0]].astype(float)
        kernel, view = self.kernel_list.kernels[p], x[1][self.kernel_list.view_of[p]]
        if isinstance(kernel, Identity | Constant):
            return np.full(len(x[0]), float(kernel.value) if isinstance(kernel, Constant) else 1.0)
        d = np.zeros(len(x[0])) if view.X is None else np.asarray(kernel.diag(view.X), float)
        return d if view.present is None else np.where(view.present, d, 0.0)

    def part(self, keep):
        """The side with only these training objects."""
        part = object.__new__(PairSide)
        vars(part).update(vars(self))
        part.objects = self.objects[keep]
        part.roots = None if self.roots is None else self.roots[:, keep]
        if self.views is not None:
            part.views = [
                view._replace(
                    X=None if view.X is None else _laid_out(take(view.X, keep)),
                    present=None if view.present is None else view.present[keep],
                )
                for view in self.views
            ]
        return part

    def to_state(self):
        """Its attributes, with the views as dicts."""
        views = None if self.views is None else [{"x": view.X, "present": view.present} for view in self.views]
        spectra = None if self.spectra is None else self.spectra.to_state()
        return super().to_state() | {"extra": list(self.extra), "views": views, "spectra": spectra}

    def check_state(self):
        self.extra = tuple(self.extra)
        check(len(self.names) == self.size + len(self.extra), "names are not those of the kernels")
        self.views = None if self.kernel_list is None else _restored(self, self.views)
        if (spectra := vars(self).pop("spectra")) is not None:
            self.spectra = Spectra.from_state(spectra)
            check(self.kernel_list is None, "spectra are for precomputed kernels")
            check(len(self.spectra.shifts) == self.size, "spectra are of other kernels")
            check(np.isin(self.objects, self.spectra.objects).all(), "a side has objects that its spectra lack")


def _restored(side, views):
    """The views of the training objects from a file, or a ValueError."""
    kernels, n, found = side.kernel_list, len(side.objects), []
    check(kernels.M == side.size and kernels.tasks is None, "a side has other kernels than names")
    for view, width, reads in zip(views, kernels.widths, kernels.reads, strict=True):
        x, present = view["x"], view["present"]
        check_value("present", present, "?bool n", {"n": n})
        if x is None:
            check(present is not None and not present.any(), "a side lacks a view")
        elif width != 0:
            check_rows(x, n, width, reads)
        else:  # kernels that see no data
            check_value("x", x, "f8 n 1", {"n": n})
        found.append(View(x, present))
    for kernel, v in zip(kernels.kernels, kernels.view_of, strict=True):
        if found[v].X is not None:
            try_kernel(kernel, found[v].X, n)
    return found


def _laid_out(x):
    """x in C order, as after loading: with another order products may differ in the last digit."""
    return np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x


def _extra(name, x, y):
    return (x[:, None] == y).astype(float) if name == SAME else np.ones((len(x), len(y)))


def objects_of(table: Any, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(distinct numbers, position of each of `numbers` among them)."""
    distinct, place = np.unique(numbers, return_inverse=True)
    if distinct.size and distinct[-1] >= n_examples(table):
        raise ValueError(f"index names the object {distinct[-1]}, but there are {n_examples(table)}.")
    return distinct, place


@dataclass(frozen=True, eq=False)
class Spectra(Stored):
    """The correction of the precomputed kernels of a side, for training and new objects: see `kernels.normalize`.

    `objects` (m,) are the numbers of all training objects; each kernel has U₋ (m, r) in `removed` and a shift.
    """

    saved = {"known as objects": "i8 m <big asc", "shifts": "f8 M", "removed": "list M f8 m _"}

    objects: np.ndarray
    removed: list[np.ndarray]
    shifts: np.ndarray

    @classmethod
    def of(cls, objects, matrices, psd, names):
        """(the correction, the corrected matrices (m, m))."""
        rounding = len(objects) * 2.0**-52
        K, U, shifts = zip(
            *(corrected(K, psd, rounding, name) for K, name in zip(matrices, names, strict=False)), strict=True
        )
        return cls(objects, list(U), np.array(shifts)), list(K)

    def apply(self, found, numbers, keep):
        """Corrects values between objects and all training objects; returns the columns of the objects `keep`."""
        cols, same = np.searchsorted(self.objects, keep), numbers[:, None] == keep
        return [projected(K, U, cols) + s * same for K, U, s in zip(found, self.removed, self.shifts, strict=True)]

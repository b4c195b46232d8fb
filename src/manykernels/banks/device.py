"""Kernels on a device, a CUDA card say: the examples lie there, the base blocks where they fit, and the inner problem.

A base block (distances, inner products) is computed in float64 and kept in the bank's precision; every operation reads
it once for all kernels of its family. Kernels that are no function of a base, those of the user say, are computed on
the host once and kept on the device as matrices.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import issparse

from ..inner.device import DeviceProblem
from ..kernels._pairs import Side
from ._base import Bank, Predictor
from ._device_loops import mix, multiply
from .pairwise import PairwiseBank

if TYPE_CHECKING:
    from ..losses._base import Loss

BASES = ("dot", "sqdist", "l1", "chi2", "min", "same")


class DeviceBank(PairwiseBank):
    """The kernels of `kernel_list` on X, on a PyTorch `device`; the other parameters are those of `PairwiseBank`."""

    def __init__(self, kernel_list: Any, X: Any, *, device: str = "cuda", **options: Any) -> None:
        self.device = open_device(device)
        super().__init__(kernel_list, X, **options)

    def _make_sides(self, views, index):
        """Examples that the device works on go there as they are; the host prepares the others."""
        self.views, sides, sent = views, [], {}
        for group in self.groups:
            view, key = views[group.view], (group.view, group.pairs.kind)
            if on_device(group) and not issparse(view.X):
                sent[key] = sent[key] if key in sent else self._send(group.pairs, view.X, index)
                sides.append(group.side(view, index, self.normalize, replace(sent[key])))
            else:
                sides.append(group.side(view, index, self.normalize))
        return sides

    def _send(self, pairs, X, index):
        """The `Side` whose x is an (n, d) tensor on the device: the numbers of the bank's precision, as float64."""
        import torch

        single = torch.float32 if self.dtype == np.float32 else torch.float64
        x = torch.as_tensor(np.ascontiguousarray(X), device=self.device).to(torch.float64, copy=True)
        if pairs.kind in ("chi2", "min") and float(x.min()) < 0:
            return pairs.side(X, index)  # refuses it
        if pairs.centre is not None:
            x -= torch.as_tensor(pairs.centre, device=self.device)
        x = x.to(single).double()
        pairs._check_size(x.abs().amax(0).cpu().numpy()[:, None])
        own = {"dot": lambda: (x * x).sum(1), "min": lambda: x.sum(1)}.get(pairs.kind, lambda: x.new_zeros(len(x)))()
        return Side(x, own.cpu().numpy(), None, index)

    def _room(self):
        """What fills memory lies on the device."""

    def _keep(self):
        """Nothing is kept on the host."""

    def _make_tiles(self, budget):
        return DeviceTiles(self, budget)

    def combined(
        self,
        theta: np.ndarray,
        rows: np.ndarray | None = None,
        cols: np.ndarray | None = None,
        dtype: DTypeLike | None = None,
        shifted: bool = False,
    ) -> np.ndarray:
        K = self.tiles.combined(np.asarray(theta, float), rows, cols).cpu().numpy()
        return K.astype(self.dtype if dtype is None else dtype, copy=False)

    def matrix(self, theta: np.ndarray, rows: np.ndarray | None, dtype: DTypeLike, shifted: bool) -> Any:
        """A float64 tensor on the device."""
        return self.tiles.combined(np.asarray(theta, float), rows, rows)

    def products(
        self, A: np.ndarray, support: np.ndarray, rows: np.ndarray | None = None, kernels: np.ndarray | None = None
    ) -> np.ndarray:
        kernels = np.arange(self.M) if kernels is None else np.asarray(kernels)
        A = np.atleast_2d(np.asarray(A, float))
        return self.tiles.sums(A, support, rows, kernels)

    def outputs(
        self, theta: np.ndarray, A: np.ndarray, support: np.ndarray, rows: np.ndarray | None = None
    ) -> np.ndarray:
        return Bank.outputs(self, theta, A, support, rows)

    def restrict(self, rows: np.ndarray, kernels: np.ndarray | None = None) -> Bank | None:
        return None

    def inner(self, loss: Loss, y: np.ndarray, c: np.ndarray, intercept: bool) -> Any:
        return DeviceProblem(loss, y, c, intercept, self.n_jobs)

    def predictor(self, support: np.ndarray) -> Predictor:
        from ._walks import WalkTiles
        from .pairwise_predictor import PairwisePredictor

        support = np.asarray(support)
        host = copy.copy(self)  # prediction needs no card
        host.tiles = WalkTiles(self.groups, self.dtype, self.scale, self.tiles.mean, self.n_jobs, None)
        views = [some(view, support) for view in self.views]
        host.sides = [group.side(views[group.view], support, self.normalize) for group in self.groups]
        return PairwisePredictor(host, np.arange(support.size))


def on_device(group):
    """Whether the device computes these kernels itself."""
    return group.pairs.kind in BASES and not group.generic.any()


def some(view, rows):
    """The view of some examples."""
    X = None if view.X is None else view.X[rows] if hasattr(view.X, "shape") else [view.X[i] for i in rows]
    present = None if view.present is None else view.present[..., rows]
    return view._replace(X=X, present=present, task=None if view.task is None else view.task[rows])


class DeviceTiles:
    """The sums of a `DeviceBank`; kernel m is multiplied by scale[m]."""

    def __init__(self, bank, budget):
        import torch

        self.groups, self.budget, self.n = bank.groups, budget, bank.n
        self.scale, self.mean = np.ones(bank.M), np.ones(bank.M)
        self.dtype = torch.float32 if bank.dtype == np.float32 else torch.float64
        self.device, itemsize = bank.device, bank.dtype.itemsize
        self.room = free_bytes(self.device, bank.memory_limit)
        self.parts, kept = [], {}
        for group, side in zip(bank.groups, bank.sides, strict=True):
            key = group.view, group.pairs.kind
            family = on_device(group)
            part = Family(group, side, self) if family else Matrices(group, side, self)
            if family and key in kept:
                part.base = kept[key]
            elif family and self.n**2 * itemsize <= 0.4 * self.room:
                part.keep()
                kept[key] = part.base
                self.room -= self.n**2 * itemsize
            self.parts.append(part)

    def active(self, wanted):
        """(part, its wanted kernels as positions within it) of the parts with a wanted kernel."""
        for group, part in zip(self.groups, self.parts, strict=True):
            chosen = np.flatnonzero(wanted[group.members])
            if chosen.size:
                yield group, part, chosen

    def index(self, rows):
        import torch

        return torch.arange(self.n, device=self.device) if rows is None else torch.as_tensor(rows, device=self.device)

    def combined(self, theta, rows, cols):
        """Σ_m θ_m K_m[rows, cols], a float64 tensor."""
        import torch

        weights, same = theta * self.scale, rows is cols
        rows, cols = self.index(rows), self.index(cols)
        need = 8 * len(rows) * len(cols)
        room = free_bytes(self.device, None)
        if need * (2 if same else 1) > room:
            raise ValueError(
                f"the device has {room} bytes left, and a block of {len(rows)} × {len(cols)} examples with its factor "
                f"needs {2 * need}: take a larger one, fewer examples or device='cpu'"
            )
        out = torch.zeros(len(rows), len(cols), dtype=torch.float64, device=self.device)
        for group, part, chosen in self.active(weights != 0):
            part.mix(rows, cols, chosen, weights[group.members[chosen]], out)
        return out

    def sums(self, A, support, rows, kernels):
        """K_m[rows, support] @ A[t], (T, kernels, rows) in float64, on the host."""
        rows, cols, A = self.index(rows), self.index(support), self._tensor(A)
        out = np.empty((len(A), len(kernels), len(rows)))
        where = np.full(len(self.scale), -1)
        where[kernels] = np.arange(len(kernels))
        for group, part, chosen in self.active(where >= 0):
            members = group.members[chosen]
            out[:, where[members]] = part.multiply(rows, cols, chosen, A).cpu().numpy() * self.scale[members, None]
        return out

    def products(self, left, right, A, n_rows, kernels, halved=False, check=None):
        """`sums` over all examples, as `PairwiseBank` asks for its normalisation; looks for indefinite kernels."""
        self._check(left, check)
        return self.sums(A, None, None, kernels)

    def _check(self, sides, check):
        """Calls check on blocks of the first examples of kernels that may be indefinite."""
        for group, side in zip(self.groups, sides, strict=True):
            ms = [m for m, kernel in enumerate(group.kernels) if not kernel.psd]
            if check is None or not ms:
                continue
            few = side.take(np.arange(min(self.n, 1000)))
            B = np.empty((few.own.size, few.own.size))
            group.pairs.block(few, few, B, (np.arange(len(B)), np.arange(len(B))))
            for K, of in group.pieces(B, few, few, np.array(ms)):
                check(group, of, K, few, few)

    def _tensor(self, x, dtype=None):
        import torch

        return torch.as_tensor(np.ascontiguousarray(x), dtype=dtype or torch.float64, device=self.device)

    def stripes(self, rows, cols, each=3):
        """Slices of the rows whose blocks, so many at once, fit the room that is left."""
        size = self.room // 4 if self.device.type == "cuda" else min(self.room // 4, 2**25)
        step = max(1, int(size // (8 * each * max(len(cols), 1))))
        return (slice(r, r + step) for r in range(0, len(rows), step))


class Part:
    """Kernels of one group on the device, with the factors of their rows; they make blocks of kernels."""

    base = None  # the kept block between all examples

    def __init__(self, group, side, tiles):
        self.group, self.tiles, self.n = group, tiles, tiles.n
        self.factor = None if side.factor is None else tiles._tensor(side.factor)

    def mix(self, rows, cols, chosen, weights, out):
        """out += Σ_m weights_m K_m[rows, cols]."""
        forms, weights = self.forms(chosen), self.tiles._tensor(weights)
        if self.base is not None and forms.exponential and out.is_cuda:
            mix(self.base, rows, cols, forms, weights, out)
            return
        for part in self.tiles.stripes(rows, cols):
            mix(self.block(rows[part], cols), None, None, forms.at(rows[part], cols), weights, out[part])

    def multiply(self, rows, cols, chosen, A):
        """K_m[rows, cols] @ A[t], (T, kernels, rows)."""
        import torch

        forms = self.forms(chosen)
        if self.base is not None and forms.exponential and A.is_cuda:
            return multiply(self.base, rows, cols, forms, A)
        parts = [
            multiply(self.block(rows[part], cols), None, None, forms.at(rows[part], cols), A)
            for part in self.tiles.stripes(rows, cols)
        ]
        return torch.cat(parts, dim=2) if parts else A.new_zeros(len(A), len(chosen), 0)


class Family(Part):
    """Kernels that are functions of one base."""

    def __init__(self, group, side, tiles):
        super().__init__(group, side, tiles)
        self.kind, x = group.pairs.kind, side.x
        if isinstance(x, np.ndarray) or issparse(x):  # CSR from the host; where there are no columns (n, 0)
            x = tiles._tensor(x.toarray() if issparse(x) else x.T)
        self.x = x
        if self.kind == "sqdist":
            self.square = (self.x * self.x).sum(1)

    def keep(self):
        """Computes the base between all examples."""
        import torch

        everyone = self.tiles.index(None)
        base = torch.empty(self.n, self.n, dtype=self.tiles.dtype, device=self.tiles.device)
        for part in self.tiles.stripes(everyone, everyone):
            base[part] = self.block(everyone[part], everyone)
        self.base = base

    def block(self, rows, cols):
        """B[rows, cols]."""
        if self.base is not None:
            return self.base[rows[:, None], cols]
        hits = rows[:, None] == cols
        if self.kind == "same":
            return hits.to(self.tiles.dtype)
        x, y = self.x[rows], self.x[cols]
        if self.kind == "dot":
            B = x @ y.T
        elif self.kind == "sqdist":
            B = (x @ y.T).mul_(-2.0).add_(self.square[rows, None]).add_(self.square[cols]).clamp_(min=0.0)
            B[hits] = 0.0
        else:
            B = self._columns(x, y)
        return B.to(self.tiles.dtype)

    def _columns(self, x, y):
        """The bases that are sums over columns of what is no product."""
        import torch

        if self.kind == "l1":
            return torch.cdist(x, y, p=1.0)
        B = x.new_zeros(len(x), len(y))
        for u, v in zip(x.T, y.T, strict=True):
            u = u[:, None]
            if self.kind == "min":
                B += torch.minimum(u, v)
            else:
                total = u + v
                B += torch.where(total > 0, (u - v) ** 2 / total.clamp(min=1e-300), 0.0)
        return B

    def forms(self, chosen):
        group = self.group
        factor = None if self.factor is None else self.factor[chosen]
        return Forms(group.degree[chosen], self.tiles._tensor(group.forms[chosen, 1]), group.forms[chosen, 2], factor)


class Matrices(Part):
    """Kernels that the host has computed, (kernels, n, n) on the device."""

    def __init__(self, group, side, tiles):
        import torch

        super().__init__(group, side, tiles)
        n, M = tiles.n, group.members.size
        need = n * n * M * (4 if tiles.dtype == torch.float32 else 8)
        if need > 0.6 * tiles.room:
            raise ValueError(
                f"kernels {', '.join(repr(kernel) for kernel in group.kernels[:3])} are not computed on the device, "
                f"and as matrices they need {need} bytes of the {tiles.room} that it has: take device='cpu'"
            )
        tiles.room -= need
        self.stack = torch.empty(M, n, n, dtype=tiles.dtype, device=tiles.device)
        step = max(1, 2**24 // max(n, 1))
        for first in range(0, n, step):
            left = side.take(np.arange(first, min(n, first + step)))
            B = np.empty((left.own.size, n), side.own.dtype)
            hits = np.arange(left.own.size), np.arange(first, first + left.own.size)
            group.pairs.block(left, side, B, hits)
            for K, ms in group.pieces(B, left, side, np.arange(M)):
                for m in ms:
                    k = K
                    if group.pairs.kind is not None and not group.generic[m]:
                        k = group.kernels[m].from_base(B, np.empty_like(B), left.own[:, None], side.own)
                    self.stack[m, first : first + left.own.size] = tiles._tensor(k, tiles.dtype)

    def block(self, rows, cols):
        return self.stack[:, rows[:, None], cols]

    def forms(self, chosen):
        return Held(chosen, None if self.factor is None else self.factor[chosen])


class Forms:
    """k_m = exp2(g_m B + c_m) (degree 0) or (g_m B + c_m)^degree, times the factors of rows and columns."""

    left = right = None

    def __init__(self, degree, g, c, factor):
        self.degree, self.g, self.c, self.factor = degree, g, c, factor
        self.exponential = factor is None and not degree.any() and not np.any(c)

    def at(self, rows, cols):
        """The same with the factors of these rows and columns."""
        if self.factor is not None:
            self.left, self.right = self.factor[:, rows, None], self.factor[:, None, cols]
        return self

    def kernel(self, m, B):
        k = self.scaled(m, B)
        return k if self.left is None else k * (self.left[m] * self.right[m]).to(k.dtype)

    def scaled(self, m, B):
        k = B * float(self.g[m])
        if self.c[m]:
            k += float(self.c[m])
        return k.exp2_() if self.degree[m] == 0 else k.pow_(int(self.degree[m]))


class Held(Forms):
    """Kernels that are the layers of the block themselves."""

    def __init__(self, chosen, factor):
        self.chosen, self.g, self.factor, self.exponential = chosen, chosen, factor, False

    def scaled(self, m, B):
        return B[self.chosen[m]]


def open_device(name):
    """The torch.device of this name, or an error that says what is missing."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"device={name!r} needs PyTorch: pip install 'manykernels[gpu]', or take device='cpu'"
        ) from error
    device = torch.device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={name!r} is not there: PyTorch {torch.__version__} finds no card; take device='cpu'")
    return device


def free_bytes(device, limit):
    """Bytes that the device has left; on the host `limit`, or 4 GiB."""
    import torch

    if device.type == "cuda":
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info(device)[0]
    return 2**32 if limit is None else int(limit)

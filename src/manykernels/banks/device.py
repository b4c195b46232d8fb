"""Kernels on a device, such as a CUDA card, which holds the examples, the base blocks that fit, and the inner problem.

A base block (distances, inner products) is computed in float64 and kept in the bank's precision; every operation reads
it once for all kernels of its family. Kernels that are not functions of a base are computed once on the host, and kept
on the device as matrices, like precomputed kernels. Predictors work on the host.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from .._limits import DEVICE_SHARES
from ..inner.device import DeviceProblem
from ..kernels.pair_blocks import BlockSide
from ._device_parts import DevicePlace, Family, Matrices, Sums, empty_stack, from_host, open_device, there
from ._kernel_groups import rows_of
from ._tiled_sums import Tiles
from .base import Bank, every
from .dense import DenseBank
from .pairwise import PairwiseBank
from .pairwise_predictor import PairwisePredictor


class OnDevice(Bank):
    """Base class of banks on a device; `tiles` sums their kernels there."""

    tiles: Any

    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        K = self.tiles.combined(theta, rows, cols).cpu().numpy()
        return K.astype(self.dtype if dtype is None else dtype, copy=False)

    def matrix(self, theta, rows, dtype, shifted):
        """A float64 tensor on the device."""
        return self.tiles.combined(theta, rows, rows)

    def products(self, A, support, rows=None, kernels=None):
        kernels = every(kernels, self.M)
        return self.tiles.products(np.atleast_2d(np.asarray(A, float)), support, rows, kernels)

    # the general versions; those of the other banks read arrays of the host
    outputs, matrices, stripes = Bank.outputs, Bank.matrices, Bank.stripes
    restrict, held = Bank.restrict, Bank.held

    def inner(self, loss, y, c, intercept):
        return DeviceProblem(loss, y, c, intercept, self.n_jobs)


class DeviceBank(OnDevice, PairwiseBank):
    """The kernels of `kernel_list` on X, on a PyTorch `device`; other parameters as in `PairwiseBank`."""

    def __init__(self, kernel_list: Any, X: Any, *, device: str = "cuda", **options: Any) -> None:
        self.device = open_device(device)
        super().__init__(kernel_list, X, **options)

    def _make_sides(self, views, index):
        """Sends the examples of the device's kernels there; the host prepares the examples of the other kernels."""
        self.views, sides, sent = views, [], {}
        self.place = DevicePlace(self.device, self.dtype == np.float32, self.memory_limit)
        for group in self.groups:
            view, key, side = views[group.view], (group.view, group.pairs.kind), None
            if there(group) and isinstance(view.X, np.ndarray):
                sent[key] = sent[key] if key in sent else self._send(group.pairs, view.X, index)
                side = replace(sent[key])
            sides.append(group.side(view, index, self.normalize, side))
        return sides

    def _send(self, pairs, X, index):
        """The `BlockSide` whose x is an (n, d) float64 tensor on the device, rounded to the bank's precision."""
        import torch

        x = torch.as_tensor(np.require(X, requirements=["C", "W"]), device=self.device).to(torch.float64, copy=True)
        if pairs.kind == "same" or pairs.kind in ("chi2", "min") and float(x.min()) < 0:
            return pairs.side(X, index)  # raises the error for negative numbers
        if pairs.centre is not None:
            x -= self.place.tensor(pairs.centre)
        x = x.to(self.place.dtype).double()
        pairs.check_size(x.abs().amax(0).cpu().numpy()[:, None])
        own = {"dot": lambda: (x * x).sum(1), "min": lambda: x.sum(1)}.get(pairs.kind, lambda: x.new_zeros(len(x)))()
        return BlockSide(x, own.cpu().numpy(), None, index)

    def _free_bytes(self):
        """None: the large arrays are on the device."""

    def _keep(self, keep=None):
        """Keeps nothing on the host."""

    def _make_tiles(self, budget):
        place, parts, kept = self.place, [], {}
        size = self.n**2 * self.dtype.itemsize
        for group, side in zip(self.groups, self.sides, strict=True):
            if not there(group):
                parts.append((group.members, from_host(place, group, side, self.n)))
                continue
            part, key = Family(place, group, side), (group.view, group.pairs.kind)
            if key not in kept and size <= DEVICE_SHARES["base block"] * place.available:
                part.keep(self.n)
                place.available -= size
                kept[key] = part.base
            part.base = kept.get(key)
            parts.append((group.members, part))
        return Sums(place, self.n, parts, np.ones(self.M), np.ones(self.M))

    def _sums(self, w, check, kernels):
        """K_m w of the kernels; checks on the first examples those that may be indefinite."""
        few = np.arange(min(self.n, 1000))
        for group, side in zip(self.groups, self.sides, strict=True):
            ms = np.array([m for m, kernel in enumerate(group.kernels) if not kernel.psd], dtype=int)
            if len(ms):
                part = group.side(_some(self.views[group.view], few), few) if there(group) else side.take(few)
                B = np.empty((few.size, few.size), part.own.dtype)
                group.pairs.block(part, part, B, (few, few))
                for K, of in group.pieces(B, part, part, ms):
                    check(group, of, K, part, part)
        return self.tiles.products(w[None], None, None, kernels)[0]

    def predictor(self, support):
        support, host = np.asarray(support), copy.copy(self)
        host.tiles = Tiles(self.groups, self.dtype, self.scale, self.tiles.mean, self.n_jobs, None)
        views = [_some(view, support) for view in self.views]
        host.sides = [
            group.side(views[group.view], support, self.normalize) if there(group) else side.take(support)
            for group, side in zip(self.groups, self.sides, strict=True)
        ]
        predictor = PairwisePredictor(host, np.arange(support.size))
        predictor.device = str(self.device)
        return predictor


class DeviceStack(OnDevice, DenseBank):
    """Precomputed kernels on a PyTorch `device`; other parameters as in `DenseBank`."""

    def __init__(self, X: Any, *, device: str = "cuda", **options: Any) -> None:
        self.device = open_device(device)
        super().__init__(X, **options)
        place = DevicePlace(self.device, self.dtype == np.float32, self.memory_limit)
        stack = empty_stack(place, self.M, self.n, [repr(name) for name in self.names])
        for m in range(self.M):
            stack[m] = place.tensor(self.stack.matrix(m), place.dtype)
        self.tiles = Sums(place, self.n, [(np.arange(self.M), Matrices(place, stack, self._root))], self.scale)


def _some(view, rows):
    """The view of some examples."""
    X = None if view.X is None else rows_of(view.X, rows)
    present, task = (None if v is None else v[rows] for v in (view.present, view.task))
    return view._replace(X=X, present=present, task=task)

"""Groups of kernels on a device: functions of one base block, or matrices, with the factors of their rows.

Predictors of the host take them for their decisions, if the device is there.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._limits import DEVICE_SHARES, MemoryBudget
from .._parts import declared
from ..kernels.pair_blocks import BlockSide
from ._device_loops import mix, multiply

BASES = ("dot", "sqdist", "l1", "chi2", "min", "same")
MAX_STRIPE_BYTES = 2**25  # on the host


class DevicePlace:
    """A PyTorch device, the precision of its kernel values, and the free bytes, `available`.

    If the device is the host, it has `limit` bytes, or 4 GiB.
    """

    def __init__(self, device, single, limit=None):
        import torch

        self.device, self.dtype = device, torch.float32 if single else torch.float64
        self.limit = int(MemoryBudget(limit).share("device on the host"))
        self.available = self.free()

    def free(self):
        """Bytes that are free now."""
        import torch

        if self.device.type != "cuda":
            return self.limit
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info(self.device)[0]

    def tensor(self, x, dtype=None):
        """x as a tensor on the device, float64 by default."""
        import torch

        return torch.as_tensor(np.require(x, requirements=["C", "W"]), dtype=dtype or torch.float64, device=self.device)

    def index(self, rows, n):
        import torch

        return torch.arange(n, device=self.device) if rows is None else torch.as_tensor(rows, device=self.device)

    def stripes(self, rows, cols, layers=1):
        """Slices of the rows whose blocks of `layers` layers, three at once, fit in a share of `available`."""
        size = DEVICE_SHARES["stripes"] * self.available
        size = size if self.device.type == "cuda" else min(size, MAX_STRIPE_BYTES)
        step = max(1, int(size // (24 * layers * max(len(cols), 1))))
        return (slice(r, r + step) for r in range(0, len(rows), step))


@declared
class Sums:
    """Sums over the kernels of some parts, kernel m times scale[m]; `parts` has pairs (kernels, part)."""

    place: Any
    n: Any
    parts: Any
    scale: Any
    mean: Any = None

    def _active(self, wanted):
        for members, part in self.parts:
            chosen = np.flatnonzero(wanted[members])
            if chosen.size:
                yield members[chosen], part, chosen

    def combined(self, theta, rows, cols):
        """Σ_m θ_m K_m[rows, cols], a float64 tensor."""
        import torch

        weights, block = np.asarray(theta, float) * self.scale, rows is cols
        rows, cols = self.place.index(rows, self.n), self.place.index(cols, self.n)
        need, left = 8 * len(rows) * len(cols) * (2 if block else 1), self.place.free()
        if need > left:
            raise ValueError(
                f"the device has {left} bytes left, and {len(rows)} × {len(cols)} examples need {need}, with the "
                "factor of their block: take a larger device, fewer examples or device='cpu'"
            )
        out = torch.zeros(len(rows), len(cols), dtype=torch.float64, device=self.place.device)
        for members, part, chosen in self._active(weights != 0):
            part.mix(rows, cols, chosen, weights[members], out)
        return out

    def products(self, A, support, rows, kernels):
        """K_m[rows, support] @ A[t], (T, kernels, rows) float64, as an array of the host."""
        rows, cols, A = self.place.index(rows, self.n), self.place.index(support, self.n), self.place.tensor(A)
        out, where = np.empty((len(A), len(kernels), len(rows))), np.full(len(self.scale), -1)
        where[kernels] = np.arange(len(kernels))
        for members, part, chosen in self._active(where >= 0):
            out[:, where[members]] = part.multiply(rows, cols, chosen, A).cpu().numpy() * self.scale[members, None]
        return out


class DeviceGroup:
    """Kernels of one group; `factor` (kernels, n) multiplies their rows and columns, None means 1."""

    base = None  # the kept base block between all examples

    def __init__(self, place, factor):
        self.place, self.factor = place, None if factor is None else place.tensor(factor)

    def mix(self, rows, cols, chosen, weights, out):
        """out += Σ_m weights_m K_m[rows, cols]."""
        forms, weights = self.forms(chosen), self.place.tensor(weights)
        if self.base is not None and forms.exponential and out.is_cuda:
            mix(self.base, rows, cols, forms, weights, out)
            return
        for part in self.place.stripes(rows, cols, self.layers(chosen)):
            mix(self.block(rows[part], cols), None, None, forms.at(rows[part], cols), weights, out[part])

    def multiply(self, rows, cols, chosen, A):
        """K_m[rows, cols] @ A[t], (T, kernels, rows)."""
        import torch

        forms = self.forms(chosen)
        if self.base is not None and forms.exponential and A.is_cuda:
            return multiply(self.base, rows, cols, forms, A)
        stripes = self.place.stripes(rows, cols, self.layers(chosen))
        parts = [multiply(self.block(rows[s], cols), None, None, forms.at(rows[s], cols), A) for s in stripes]
        return torch.cat(parts, dim=2) if parts else A.new_zeros(len(A), len(chosen), 0)

    def layers(self, chosen):
        """The number of layers of a block."""
        return 1


class Family(DeviceGroup):
    """Kernels that are functions of one base, of a `Side` whose x is (d, n), CSR, or an (n, d) tensor."""

    def __init__(self, place, group, side):
        super().__init__(place, side.factor)
        self.group, self.kind, x = group, group.pairs.kind, side.x
        if isinstance(x, np.ndarray) or issparse(x):
            x = place.tensor(x.toarray() if issparse(x) else x.T)
        self.x, self.square = x, (x * x).sum(1) if self.kind == "sqdist" else None

    def keep(self, n):
        """Computes the base between all n examples."""
        import torch

        everyone = self.place.index(None, n)
        base = torch.empty(n, n, dtype=self.place.dtype, device=self.place.device)
        for part in self.place.stripes(everyone, everyone):
            base[part] = self.block(everyone[part], everyone)
        self.base = base

    def block(self, rows, cols):
        """B[rows, cols]."""
        if self.base is not None:
            return self.base[rows[:, None], cols]
        hits = rows[:, None] == cols
        if self.kind == "same":
            return hits.to(self.place.dtype)
        squares = None if self.square is None else (self.square[rows], self.square[cols])
        B = base_block(self.kind, self.x[rows], self.x[cols], squares)
        if self.kind == "sqdist":
            B.masked_fill_(hits, 0.0)
        return B.to(self.place.dtype)

    def forms(self, chosen):
        group, factor = self.group, None if self.factor is None else self.factor[chosen]
        return Forms(group.degree[chosen], self.place.tensor(group.forms[chosen, 1]), group.forms[chosen, 2], factor)


def base_block(kind, x, y, squares=None):
    """The base of this kind between the rows of two tensors; `squares` are (‖x_i‖², ‖y_j‖²) for "sqdist"."""
    import torch

    if kind == "dot":
        return x @ y.T
    if kind == "sqdist":
        return (x @ y.T).mul_(-2.0).add_(squares[0][:, None]).add_(squares[1]).clamp_(min=0.0)
    if kind == "l1":
        return torch.cdist(x, y, p=1.0)
    B = x.new_zeros(len(x), len(y))
    for u, v in zip(x.T, y.T, strict=True):
        u = u[:, None]
        if kind == "min":
            B += torch.minimum(u, v)
        else:
            total = u + v
            B += torch.where(total > 0, (u - v) ** 2 / total.clamp(min=1e-300), 0.0)
    return B


class Matrices(DeviceGroup):
    """Kernels that are matrices on the device, `stack` (kernels, n, n)."""

    def __init__(self, place, stack, factor):
        super().__init__(place, factor)
        self.stack = stack

    def block(self, rows, cols):
        return self.stack[:, rows[:, None], cols]

    def layers(self, chosen):
        return len(self.stack)

    def forms(self, chosen):
        return HeldLayers(chosen, None if self.factor is None else self.factor[chosen])


class Forms:
    """k_m = exp2(g_m B + c_m) (degree 0) or (g_m B + c_m)^degree, times the factors of rows and columns."""

    left = right = None

    def __init__(self, degree, g, c, factor):
        self.degree, self.g, self.c, self.factor = degree, g, c, factor
        self.exponential = factor is None and not degree.any() and not np.any(c)

    def at(self, rows, cols):
        """The same forms with the factors of these rows and columns."""
        if self.factor is not None:
            self.left, self.right = self.factor[:, rows, None], self.factor[:, None, cols]
        return self

    def kernel(self, m, B):
        """The m-th kernel, from a block of the base."""
        k = self.plain(m, B)
        return k if self.left is None else k * (self.left[m] * self.right[m]).to(k.dtype)

    def plain(self, m, B):
        k = B * float(self.g[m])
        if self.c[m]:
            k += float(self.c[m])
        return k.exp2_() if self.degree[m] == 0 else k.pow_(int(self.degree[m]))


class HeldLayers(Forms):
    """Kernels that are layers of the block."""

    def __init__(self, chosen, factor):
        self.g, self.factor, self.exponential = chosen, factor, False

    def plain(self, m, B):
        return B[self.g[m]]


def empty_stack(place, M, n, names):
    """An empty tensor for M matrices on the device; raises an error if they do not fit."""
    import torch

    need = M * n * n * (4 if place.dtype == torch.float32 else 8)
    most = DEVICE_SHARES["matrices"] * place.available
    if need > most:
        raise ValueError(
            f"kernels {', '.join(names[:3])} need {M} matrices of {n} × {n} on the device, {need} bytes, but of its "
            f"{place.available} free bytes matrices may take {int(most)}: take device='cpu'"
        )
    place.available -= need
    return torch.empty(M, n, n, dtype=place.dtype, device=place.device)


def from_host(place, group, side, n):
    """The part of kernels that the host computes: kernels without a base or without a form."""
    stack = empty_stack(place, group.members.size, n, [repr(kernel) for kernel in group.kernels])
    step, everyone = max(1, 2**24 // max(n, 1)), np.arange(len(stack))
    for first in range(0, n, step):
        left = side.take(np.arange(first, min(n, first + step)))
        rows = np.arange(left.own.size)
        B = np.empty((rows.size, n), side.own.dtype)
        group.pairs.block(left, side, B, (rows, first + rows))
        for K, ms in group.pieces(B, left, side, everyone):
            for m in ms:
                of_base = group.pairs.kind is not None and not group.generic[m]
                k = group.kernels[m].from_base(B, np.empty_like(B), left.own[:, None], side.own) if of_base else K
                stack[m, first : first + rows.size] = place.tensor(k, place.dtype)
    return Matrices(place, stack, side.factor)


def open_device(name: str) -> Any:
    """The torch.device of this name, or an error that says what is missing."""
    try:
        import torch
    except ImportError as error:
        given = "torch" if name == "cpu" else name  # see `choose_device`
        raise ImportError(f"device={given!r} needs PyTorch: install manykernels[gpu], or take device='cpu'") from error
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"device={name!r} is unknown to PyTorch: take 'cpu', 'cuda' or 'auto'") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={name!r} is not there: PyTorch {torch.__version__} finds no card; take device='cpu'")
    if device.type == "cuda" and device.index and device.index >= torch.cuda.device_count():
        last = torch.cuda.device_count() - 1
        raise ValueError(f"device={name!r} is not there: the cards of this machine are 'cuda:0' to 'cuda:{last}'")
    return device


def there(group):
    """Whether the device computes these kernels."""
    return group.pairs.kind in BASES and not group.generic.any()


def decide_there(predictor, left, A, theta, n):
    """Σ_m θ_tm K_m @ A[t] between new data, n examples on the sides `left`, and the support of a predictor, (T, n).

    None if the device is missing or cannot compute these kernels. On the device, the new examples follow the support.
    """
    active = predictor.tiles.active((theta * predictor.scale != 0).any(axis=0))
    dense = all(there(group) and not issparse(predictor.sides[i].x) for i, group, _ in active)
    if not dense or not n or not predictor.n_support:
        return None
    try:
        place = DevicePlace(open_device(predictor.device), False)
    except (ImportError, ValueError):  # loaded on another machine
        return None
    parts = []
    for i, group, _ in active:
        old, new = predictor.sides[i], left[i]
        x = None if old.x is None else np.concatenate([old.x, new.x], axis=1)
        ones = np.ones((group.members.size, 1))
        factors = [np.broadcast_to(ones if s.factor is None else s.factor, (len(ones), len(s.own))) for s in (old, new)]
        plain = old.factor is None and new.factor is None
        side = BlockSide(x, old.own, None, None, None if plain else np.concatenate(factors, axis=1))
        parts.append((group.members, Family(place, group, side)))
    sums, support = Sums(place, predictor.n_support + n, parts, predictor.scale), np.arange(predictor.n_support)
    out, coefficients = np.empty((len(A), n)), place.tensor(A)
    for part in place.stripes(range(n), support):
        rows = predictor.n_support + np.arange(n)[part]
        for t, weights in enumerate(theta):
            K = sums.combined(weights, rows, support)
            which = slice(None) if len(theta) == 1 else slice(t, t + 1)
            out[which, part] = (coefficients[which] @ K.T).cpu().numpy()
    return out

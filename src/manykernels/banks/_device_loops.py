"""Sums over all kernels of one family in one pass over their base block, on a device.

`mix` adds Σ_m w_m k_m(B) to a block, `multiply` is K_m A for every kernel of the family. Exponentials exp2(g_m B) on a
card are fused into one loop by Triton; elsewhere, and for other forms, PyTorch computes kernel after kernel.
"""

from functools import lru_cache

try:  # without a card there is no compiler
    import triton
    import triton.language as tl
except ImportError:
    triton = None

TILE_ROWS, TILE_COLS = 32, 64  # of `mix`


def mix(base, rows, cols, forms, weights, out):
    """out += Σ_m weights_m k_m(B[rows, cols]); `base` is the kept block B, or that of the rows and cols themselves."""
    if fused(base, forms):
        _mix_fused(base, rows, cols, forms.g, weights, out)
        return
    B = base if rows is None else base[rows[:, None], cols]
    for m, w in enumerate(weights.tolist()):
        out.add_(forms.kernel(m, B), alpha=w)


def multiply(base, rows, cols, forms, A):
    """(T, kernels, rows) float64: k_m(B[rows, cols]) @ A[t]."""
    if fused(base, forms):
        return _multiply_fused(base, rows, cols, forms.g, A)
    B = base if rows is None else base[rows[:, None], cols]
    out = A.new_empty(len(forms.g), B.shape[-2], len(A))
    for m in range(len(forms.g)):
        out[m] = forms.kernel(m, B).double() @ A.T
    return out.permute(2, 0, 1)


def fused(base, forms):
    """Whether the Triton loops apply: exponentials without factors, on a card."""
    return triton is not None and base.is_cuda and forms.exponential


def _mix_fused(base, rows, cols, g, weights, out):
    rows, cols = _index(base, rows, 0), _index(base, cols, 1)
    R, C = len(rows), len(cols)
    grid = (triton.cdiv(R, TILE_ROWS), triton.cdiv(C, TILE_COLS))
    loops().mix[grid](base, base.stride(0), rows, cols, g.to(base.dtype), weights, out, out.stride(0), len(g), R, C,
                      TILE_ROWS, TILE_COLS)  # fmt: skip


def _multiply_fused(base, rows, cols, g, A):
    rows, cols = _index(base, rows, 0), _index(base, cols, 1)
    R, C, M, T = len(rows), len(cols), len(g), len(A)
    parts = max(1, min(64, C // 4096))  # of the columns, summed in order: results do not depend on timing
    out = A.new_zeros(parts, T, M, R)
    each = -(-C // parts)
    grid = (triton.cdiv(R, 16), triton.cdiv(M, 8), parts * T)
    loops().multiply[grid](base, base.stride(0), rows, cols, g.to(base.dtype), A, out, M, R, C, T, each, 16, 32, 8, 16)
    return out.sum(0)


def _index(base, index, axis):
    import torch

    return torch.arange(base.shape[axis], device=base.device) if index is None else index


@lru_cache
def loops():
    """The Triton loops, compiled on first use."""

    class Loops:
        @staticmethod
        @triton.jit
        def mix(B, ld, rows, cols, g, w, out, ld_out, M, R, C, BR: tl.constexpr, BC: tl.constexpr):
            r, c = tl.program_id(0) * BR + tl.arange(0, BR), tl.program_id(1) * BC + tl.arange(0, BC)
            inside = (r < R)[:, None] & (c < C)[None, :]
            i, j = tl.load(rows + r, mask=r < R, other=0), tl.load(cols + c, mask=c < C, other=0)
            b = tl.load(B + i[:, None] * ld + j[None, :], mask=inside, other=0.0)
            total = tl.zeros([BR, BC], tl.float64)
            for m in range(M):
                total += tl.load(w + m) * tl.exp2(tl.load(g + m) * b).to(tl.float64)
            at = out + r.to(tl.int64)[:, None] * ld_out + c[None, :]
            tl.store(at, tl.load(at, mask=inside, other=0.0) + total, mask=inside)

        @staticmethod
        @triton.jit
        def multiply(
            B, ld, rows, cols, g, A, out, M, R, C, T, each, BR: tl.constexpr, BC: tl.constexpr, BM: tl.constexpr,
            STEPS: tl.constexpr,
        ):  # fmt: skip
            r, m = tl.program_id(0) * BR + tl.arange(0, BR), tl.program_id(1) * BM + tl.arange(0, BM)
            part, t = tl.program_id(2) // T, tl.program_id(2) % T
            i = tl.load(rows + r, mask=r < R, other=0)
            rate = tl.load(g + m, mask=m < M, other=0.0)
            total = tl.zeros([BR, BM], tl.float64)
            end = tl.minimum((part + 1) * each, C)
            for first in range(part * each, end, BC * STEPS):  # few float32 numbers are added before float64 takes over
                some = tl.zeros([BR, BC, BM], B.dtype.element_ty)
                for step in range(STEPS):
                    c = first + step * BC + tl.arange(0, BC)
                    j = tl.load(cols + c, mask=c < end, other=0)
                    a = tl.load(A + t.to(tl.int64) * C + c, mask=c < end, other=0.0).to(B.dtype.element_ty)
                    b = tl.load(B + i[:, None] * ld + j[None, :], mask=(r < R)[:, None] & (c < end)[None, :], other=0.0)
                    some += tl.exp2(b[:, :, None] * rate[None, None, :]) * a[None, :, None]
                total += tl.sum(some, axis=1).to(tl.float64)
            at = out + ((part * T + t).to(tl.int64) * M + m[None, :]) * R + r[:, None]
            tl.store(at, total, mask=(r < R)[:, None] & (m < M)[None, :])

    return Loops

"""Products of examples, given by their entries that are not 0, with dense examples."""

from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def multiply_entries(start, column, value, Z, out):
    """out_ij = Σ_p value_p Z[column_p, j], p from start[i] to start[i + 1]; Z (d, cols)."""
    for i in range(out.shape[0]):
        o, p, end = out[i], start[i], start[i + 1]
        o[:] = 0
        while p + 4 <= end:
            z0, z1, z2, z3 = Z[column[p]], Z[column[p + 1]], Z[column[p + 2]], Z[column[p + 3]]
            v0, v1, v2, v3 = value[p], value[p + 1], value[p + 2], value[p + 3]
            for j in range(o.size):
                o[j] += v0 * z0[j] + v1 * z1[j] + v2 * z2[j] + v3 * z3[j]
            p += 4
        while p < end:
            z0, v0 = Z[column[p]], value[p]
            for j in range(o.size):
                o[j] += v0 * z0[j]
            p += 1

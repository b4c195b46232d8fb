"""What single letters of sequences do to sums over windows of l letters, and expectations of sums over words.

Word u is the number Σ_i u_i A^{l − 1 − i} of its codes. `letters` holds the codes of all sequences, begin and end the
part of each that a kernel reads, and `weights` that of the window at each letter (empty: all are 1).

`expected_ends` and `expected_windows` are for the oligomers of s(x) = Σ_i a_i Σ_{l,k} weight[l, k−1] [x_i[l:l+k] =
x[l:l+k]]. The letters of X are a chain: forward[b, c] is the probability of c after b, backward[b, c] that of c before
b, both (A + 1, A + 1) with zeros for the unknown letter A.
"""

import numpy as np
from numba import njit

from . import OPTIONS


@njit(**OPTIONS)
def substitute(letters, begin, end, weights, rows, l, size, table, total, out):  # noqa: E741 (the paper's name)
    """total[r] += Σ table[u] over the windows of sequence r; out[p, a] += its change with letter a at p.

    The sequences `rows` have no unknown letters.
    """
    top = size ** (l - 1)
    for r in rows:
        code = np.int64(0)
        for last in range(begin[r], end[r]):
            code = (code % top) * size + letters[last]
            first, unit = last - l + 1, 1
            if first < begin[r]:
                continue
            weight = weights[first] if len(weights) > 0 else 1.0
            here = table[code]
            total[r] += weight * here
            for p in range(last, first - 1, -1):
                others = code - letters[p] * unit
                for a in range(size):
                    out[p, a] += weight * (table[others + a * unit] - here)
                unit *= size


@njit(**OPTIONS)
def spread(letters, begin, end, weights, rows, l, q, size, tables, out):  # noqa: E741 (the paper's name)
    """At place q of every window u: out[p, u_q] += own[u] and, for other letters a, gain[u with a at q] − loss[u].

    tables : (own, gain, loss), (A^l,) each with place q of the words in front of the others, or empty for 0
    """
    own, gain, loss = tables
    top, unit = size ** (l - 1), size ** (l - 1 - q)
    for r in rows:
        code, run = np.int64(0), 0
        for last in range(begin[r], end[r]):
            letter = np.int64(letters[last])
            run = run + 1 if letter < size else 0
            code = (code % top) * size + letter if run > 0 else 0
            if run < l:
                continue
            p, first = last - l + 1 + q, last - l + 1
            weight, y = weights[first] if len(weights) > 0 else 1.0, np.int64(letters[p])
            rest = code // (unit * size) * unit + code % unit
            lost = loss[y * top + rest] if len(loss) > 0 else 0.0
            for a in range(size):
                if a == y:
                    out[p, a] += weight * (own[y * top + rest] if len(own) > 0 else 0.0)
                else:
                    out[p, a] += weight * ((gain[a * top + rest] if len(gain) > 0 else 0.0) - lost)


@njit(**OPTIONS)
def own_changes(letters, begin, end, weights, rows, l, c, opposite, total, out):  # noqa: E741 (the paper's name)
    """total[r] += k(x_r, x_r); out[p, a] += its change with letter a at p, from the pairs with a window that covers p.

    k(x, x) = Σ_{windows i, j} ω_i ω_j c(mismatches), and with `opposite`, the complements (A + 1,), also of window i
    with the reverse complement of window j. A pair of which one window covers p stands for two, (i, j) and (j, i).
    Mismatches are counted along diagonals of (i, j). The sequences `rows` have no unknown letters.
    """
    d, size = len(c) - 1, out.shape[1]
    value = np.zeros(l + 3)
    value[: d + 1] = c
    same = np.arange(size)
    for r in rows:
        low, n = begin[r], end[r] - begin[r] - l + 1
        for strand in range(2 if len(opposite) > 0 else 1):
            other, step = (opposite, -1) if strand else (same, 1)
            for line in range(2 * n - 1):
                if strand:  # i + j = line
                    i, j = max(0, line - n + 1), min(line, n - 1)
                else:  # j − i = line − (n − 1)
                    i, j = max(0, n - 1 - line), max(0, line - n + 1)
                length = min(n - i, j + 1 if strand else n - j)
                at = low + (j + l - 1 if strand else j)  # of the letter that stands against place 0
                h = 0
                for q in range(l):
                    h += letters[low + i + q] != other[letters[at + step * q]]
                for t in range(length):
                    u, v = low + i + t, low + j + step * t
                    if t > 0:
                        here = at + step * (t - 1)
                        h -= letters[u - 1] != other[letters[here]]
                        h += letters[u + l - 1] != other[letters[here + step * l]]
                    if h > d + 1 + (abs(u - v) < l):
                        continue
                    weight = weights[u] * weights[v] if len(weights) > 0 else 1.0
                    total[r] += weight * value[h]
                    for q in range(l):
                        p = u + q
                        x, y = np.int64(letters[p]), other[letters[at + step * (t + q)]]
                        base, near = h - np.int64(x != y), v <= p < v + l
                        place = v + l - 1 - p if strand else p - v  # of p in window v
                        if near and place == q:
                            if strand:
                                for a in range(size):
                                    out[p, a] += weight * (value[base + (a != other[a])] - value[h])
                            continue
                        if not near:
                            for a in range(size):
                                out[p, a] += 2.0 * weight * (value[base + (a != y)] - value[h])
                            continue
                        facing = np.int64(letters[u + place])
                        base -= np.int64(facing != other[x])
                        for a in range(size):
                            out[p, a] += weight * (value[base + (a != y) + (facing != other[a])] - value[h])


@njit(**OPTIONS)
def expected_ends(codes, a, weight, forward, backward, last, first):
    """Expected sums of the words that end at t, given the letter there, and of the words that start at t.

    codes (n, L); last and first are (L, A), zero at first.
    """
    n, L = codes.shape
    size, d = last.shape[1], weight.shape[1]
    for i in range(n):
        for t in range(L):
            c = codes[i, t]
            if c >= size:
                continue
            chance, total = 1.0, 0.0
            for low in range(t, max(t - d, -1), -1):
                if low < t:
                    chance *= backward[codes[i, low + 1], codes[i, low]]
                total += weight[low, t - low] * chance
            last[t, c] += a[i] * total
            chance, total = 1.0, 0.0
            for high in range(t, min(t + d, L)):
                if high > t:
                    chance *= forward[codes[i, high - 1], codes[i, high]]
                total += weight[t, high - t] * chance
            first[t, c] += a[i] * total


@njit(**OPTIONS)
def expected_windows(codes, a, weight, forward, backward, p, k, size, table, offsets):
    """Sums of the words that meet the window [p, p + k), by their part inside it.

    A word with the part v = x_i[p+s : p+e] inside adds a_i · weight · P(its letters outside | v) to
    table[offsets[s, e−1] + number of v]; `table` is zero at first.
    """
    n, L = codes.shape
    d = weight.shape[1]
    before, after = np.empty(d + 1), np.empty(d + 1)  # P of the letters up to s before, e after the window
    for i in range(n):
        x = codes[i]
        left = 0
        before[0] = 1.0
        while left < min(d - 1, p) and x[p] < size:
            chance = before[left] * backward[x[p - left], x[p - left - 1]]
            if chance == 0.0:
                break
            left += 1
            before[left] = chance
        right, end = 0, p + k
        after[0] = 1.0
        while right < min(d - 1, L - end) and x[end - 1] < size:
            chance = after[right] * forward[x[end + right - 1], x[end + right]]
            if chance == 0.0:
                break
            right += 1
            after[right] = chance
        for s in range(k):
            number = 0
            for e in range(s, k):
                if x[p + e] >= size:
                    break
                number = number * size + x[p + e]
                total = 0.0
                for u in range(left + 1 if s == 0 else 1):
                    start = p + s - u
                    inner = 0.0
                    for v in range(right + 1 if e == k - 1 else 1):
                        if e - s + u + v >= d:
                            break
                        inner += weight[start, e - s + u + v] * after[v]
                    total += inner * before[u]
                table[offsets[s, e] + number] += a[i] * total

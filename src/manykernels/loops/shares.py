"""Shapley values of columns: games that are products over players, see `inspect._games`.

Player p has a factor V_p and a term U_p if it is present, V0_p and U0_p if it is absent, for each pair of examples.
A coalition S is worth v(S) = Π_p V_p · (c + Σ_p U_p)^d, with V0 and U0 of the players outside S. If every other player
is present with probability t, then the gain by player p is, on average,

    G_p(t) = d! [z^d] (h_p / g_p) e^{cz} Π_q g_q,   g_q = t V_q e^{z U_q} + (1 − t) V0_q e^{z U0_q},   h_p = dg_p / dt

and the Shapley value is ∫₀¹ G_p(t) dt, a polynomial in t: Gauss–Legendre nodes give it exactly.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from . import INNER, OPTIONS
from .elementwise import _exp2, pair

LANES = 32  # support examples at a time: the factors of a hundred players stay in the first cache

_TINY = 1e-300  # changes no divisor but 0, where V_p = V0_p = 0: 0/0 = 0

# group g is one kernel on the columns first[g] : first[g + 1] of one player: its base is of this kind, and it is
# 2^(rate · base) for degree 0, (rate · base + shift)^degree, or for degree −1 the term rate · base. An absent player
# has the base of the support example with itself where `own`, else 0
Groups = namedtuple("Groups", "kind degree rate shift player first own")

# sets of nodes t with weights w, the smallest first: set k is first[k] : first[k + 1], and enough for products whose
# Σ_p |V_p − V0_p| is at most reach[k]
Nodes = namedtuple("Nodes", "t w first reach")


@njit(**INNER)
def _sides(X, i, Z, groups, empty, V, U):
    """V and U (P, L) of the example X[:, i] and the support Z (C, L), or of absent players if `empty`."""
    L = Z.shape[1]
    V[:] = 1.0
    U[:] = 0.0
    b = np.empty((1, L))
    for g in range(groups.kind.size):
        low, high, p = groups.first[g], groups.first[g + 1], groups.player[g]
        if not empty:
            pair(groups.kind[g], X[low:high], i, Z[low:high], b)
        elif groups.own[g]:
            for k in range(L):
                b[0, k] = 0.0
                for c in range(low, high):
                    b[0, k] += Z[c, k] if groups.kind[g] == 4 else Z[c, k] * Z[c, k]
        else:
            b[:] = 0.0
        rate, shift, degree = groups.rate[g], groups.shift[g], groups.degree[g]
        if degree < 0:
            for k in range(L):
                U[p, k] += rate * b[0, k]
        elif degree == 0:
            for k in range(L):
                V[p, k] *= _exp2(rate * b[0, k])
        else:
            for _ in range(degree):
                for k in range(L):
                    V[p, k] *= rate * b[0, k] + shift


@njit(**INNER)
def _divide_product(V, V0, nodes, D, mean, phi):
    """phi[p] += Σ_q w_q D_p Π_{r ≠ p} (V0_r + t_q D_r) with D = V − V0, for d = 0; D and `mean` (P, L) are room."""
    P, L = V.shape
    R, t, w, size = np.zeros(L), nodes.t, nodes.w, 0
    for p in range(P):
        for k in range(L):
            D[p, k] = V[p, k] - V0[p, k]
            mean[p, k] = 0.0
            R[k] += abs(D[p, k])
    while R.max() > nodes.reach[size]:
        size += 1
    for q in range(nodes.first[size], nodes.first[size + 1]):
        R[:] = w[q]
        for p in range(P):
            for k in range(L):
                R[k] *= V0[p, k] + t[q] * D[p, k]
        for p in range(P):
            for k in range(L):
                mean[p, k] += R[k] / (V0[p, k] + t[q] * D[p, k] + _TINY)
    for p in range(P):
        for k in range(L):
            phi[p, k] += D[p, k] * mean[p, k]


@njit(**INNER)
def _series(V, U, V0, U0, t, G):
    """G[r] = [z^r] of t V e^{zU} + (1 − t) V0 e^{zU0}, (d + 1, L)."""
    L = V.size
    for k in range(L):
        G[0, k], G[1, k] = t * V[k], (1.0 - t) * V0[k]
    for r in range(len(G) - 2):
        for k in range(L):
            a, a0 = G[r, k], G[r + 1, k]
            G[r, k] = a + a0
            G[r + 1, k] = a * U[k] / (r + 1)
            G[r + 2, k] = a0 * U0[k] / (r + 1)
    for k in range(L):
        G[len(G) - 2, k] += G[len(G) - 1, k]


@njit(**INNER)
def _divide_sum(V, U, V0, U0, constant, t, w, phi, room):
    """The same for d >= 1: power series in z up to z^d are multiplied and divided; the `room` is G (d + 2, L), R, Q."""
    (G, R, Q), (P, L) = room, V.shape
    d = len(R) - 1
    for q in range(t.size):
        R[:] = 0.0
        R[0] = w[q]
        for r in range(1, d + 1):
            for k in range(L):
                R[r, k] = R[r - 1, k] * constant / r
        for p in range(P):
            _series(V[p], U[p], V0[p], U0[p], t[q], G)
            for r in range(d, -1, -1):
                for k in range(L):
                    R[r, k] *= G[0, k]
                for a in range(r):
                    for k in range(L):
                        R[r, k] += R[a, k] * G[r - a, k]
        for p in range(P):
            _series(V[p], U[p], V0[p], U0[p], t[q], G)
            for r in range(d + 1):
                for k in range(L):
                    Q[r, k] = R[r, k]
                for a in range(r):
                    for k in range(L):
                        Q[r, k] -= Q[a, k] * G[r - a, k]
                for k in range(L):
                    Q[r, k] /= G[0, k] + _TINY
            for r in range(d + 1):
                for k in range(L):
                    phi[p, k] += Q[d - r, k] * _gain(V, U, V0, U0, p, k, r)


@njit(**INNER)
def _gain(V, U, V0, U0, p, k, r):
    """[z^r] of V_p e^{z U_p} − V0_p e^{z U0_p}."""
    a, a0 = V[p, k], V0[p, k]
    for j in range(r):
        a *= U[p, k] / (j + 1)
        a0 *= U0[p, k] / (j + 1)
    return a - a0


@njit(**OPTIONS)
def divide(X, Z, B, groups, degree, constant, nodes, A, out, base):
    """out[t, p, i] += Σ_s A[t, s] φ_p(x_i, z_s), and base[t] += Σ_s A[t, s] v(∅) of the game without players.

    X (C, n), Z (C, S) and B (C, b) hold the columns of the groups; absent players have the values of the rows B, a mean
    over them, or without rows add nothing.
    """
    P, n, S, rows = out.shape[1], X.shape[1], Z.shape[1], max(B.shape[1], 1)
    factorial = 1.0
    for r in range(degree):
        factorial *= r + 1
    for low in range(0, S, LANES):
        some = np.ascontiguousarray(Z[:, low : low + LANES])
        L = some.shape[1]
        V, U, phi, D, mean = np.empty((P, L)), np.empty((P, L)), np.empty((P, L)), np.empty((P, L)), np.empty((P, L))
        V0, U0 = np.empty((rows, P, L)), np.empty((rows, P, L))
        G, R, Q = np.empty((degree + 2, L)), np.empty((degree + 1, L)), np.empty((degree + 1, L))
        for r in range(rows):
            _sides(B, r, some, groups, B.shape[1] == 0, V0[r], U0[r])
            for k in range(L):
                worth, total = 1.0 / rows, constant
                for p in range(P):
                    worth *= V0[r, p, k]
                    total += U0[r, p, k]
                for _ in range(degree):
                    worth *= total
                for o in range(len(A)):
                    base[o] += A[o, low + k] * worth
        for i in range(n):
            _sides(X, i, some, groups, False, V, U)
            phi[:] = 0.0
            for r in range(rows):
                if degree == 0:
                    _divide_product(V, V0[r], nodes, D, mean, phi)
                else:
                    _divide_sum(V, U, V0[r], U0[r], constant, nodes.t, nodes.w, phi, (G, R, Q))
            for o in range(len(A)):
                for p in range(P):
                    total = 0.0
                    for k in range(L):
                        total += A[o, low + k] * phi[p, k]
                    out[o, p, i] += total * factorial / rows

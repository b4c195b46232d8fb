"""Single loops against plain NumPy: blocks and their rests, sums that are added to what is there, odd inputs."""

import numpy as np
import pytest
from compiled import compiled_only

from manykernels.loops import degree, elementwise, lp_projection, rows, strings, word_pairs, words
from manykernels.loops.box_qp import pair_steps

rng = np.random.default_rng(0)


def values_of(B, form, g, c):
    return 2.0 ** (g * B + c) if form == 0 else (g * B + c) ** form


@pytest.mark.parametrize("width", [1, 512, 700])
@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_of_a_block_are_added_with_their_shifts_weights_and_factors(dtype, factors, width):
    """Runs of 512 columns; exponentials and powers; a weight of 0."""
    B = rng.uniform(0.1, 2.0, size=(3, width)).astype(dtype)
    forms, g = np.array([0, 1, 2, 3]), np.array([-0.7, 0.5, 0.3, -0.4]).astype(dtype)
    c, shift = np.array([-0.1, 0.2, 1.0, 0.3]).astype(dtype), rng.normal(size=4).astype(dtype)
    W = rng.normal(size=(4, 3)).astype(dtype)
    W[1, 1] = 0.0
    F = rng.normal(size=(4, width)).astype(dtype) if factors else np.empty((0, 0), dtype)
    out = rng.normal(size=B.shape).astype(dtype)
    expected = out.astype(np.float64)
    for m in range(4):
        K = values_of(B.astype(np.float64), forms[m], g[m], c[m]) - shift[m]
        expected = expected + W[m][:, None] * K * (F[m] if factors else 1.0)
    elementwise.combine(B, forms, g, c, shift, W, F, out)
    np.testing.assert_allclose(out, expected, atol=2e-5 if dtype == np.float32 else 1e-12)
    for own in (4, 1):  # vectors for each kernel, or for all
        A, out = rng.normal(size=(own, 2, width)).astype(dtype), np.ones((3, 4, 2))
        elementwise.multiply(B, forms, g, c, A, out)
        expected = [values_of(B.astype(np.float64), forms[m], g[m], c[m]) @ A[m if own > 1 else 0].T for m in range(4)]
        size = 1 + np.abs(expected).max()
        np.testing.assert_allclose(
            out, 1.0 + np.stack(expected, axis=1), atol=size * (1e-4 if dtype == np.float32 else 1e-12)
        )


@compiled_only
@pytest.mark.parametrize("columns", [5, 256, 300])
def test_common_words_at_their_places_are_added(columns):
    """70 letters are two words of bits; columns in runs of 256; letters from 4 on match nothing."""
    L, d, T, n = 70, 3, 2, 4
    x, y = (
        rng.choice(5, p=[0.5, 0.3, 0.1, 0.05, 0.05], size=(n, L)),
        rng.choice(5, p=[0.5, 0.3, 0.1, 0.05, 0.05], size=(columns, L)),
    )
    X, Y = np.zeros((n, 3, 2), np.uint64), np.zeros((columns, 3, 2), np.uint64)
    strings.bit_planes(x.astype(np.uint8), 4, X)
    strings.bit_planes(y.astype(np.uint8), 4, Y)
    Y = np.ascontiguousarray(Y.transpose(1, 2, 0))
    same = (x[:, None] == y) & (x < 4)[:, None]
    run = np.zeros((n, columns, L + 1), int)
    for at in range(L - 1, -1, -1):
        run[:, :, at] = np.where(same[:, :, at], np.minimum(run[:, :, at + 1] + 1, d), 0)
    run = run[:, :, :L]
    runs, weights, constant = rng.normal(size=(L, d, T)), rng.normal(size=(T, d)), rng.normal(size=T)
    out, place = rng.normal(size=(T, n, columns)), np.arange(L)
    expected = (
        out + constant[:, None, None] + np.where(run > 0, runs[place, run - 1].transpose(3, 0, 1, 2), 0.0).sum(axis=3)
    )
    strings.add_positions(X, Y, runs, constant, out)
    np.testing.assert_allclose(out, expected, atol=1e-9)
    counts = np.stack([(run >= k).sum(axis=2) for k in range(1, d + 1)])
    out = rng.normal(size=(T, n, columns))
    expected = out + constant[:, None, None] + np.tensordot(weights, counts, 1)
    strings.add_degrees(X, Y, weights, constant, out)
    np.testing.assert_allclose(out, expected, atol=1e-9)
    A = rng.normal(size=(T, columns))
    H, P = np.ones((n, T, d)), np.ones((n, L, d, T))
    strings.sum_degrees(X, Y, A, H)
    np.testing.assert_allclose(H, 1.0 + np.einsum("tj,kij->itk", A, counts), atol=1e-9)
    strings.sum_positions(X, Y, A, P)
    each = np.stack([np.einsum("tj,ijl->ilt", A, run == k) for k in range(1, d + 1)], axis=2)
    np.testing.assert_allclose(P, 1.0 + each, atol=1e-9)
    own = np.ones(n)
    strings.own_degrees(X, np.ascontiguousarray(Y[:, :, :n]), weights[0], own)
    np.testing.assert_allclose(own, 1.0 + np.einsum("k,kii->i", weights[0], counts[:, :, :n]), atol=1e-9)
    for shift in (0, 1, 63, 64, 65, -1, -64, -69):
        moved = np.zeros_like(Y)
        strings.shift_planes(Y, shift, moved)
        there = np.full((columns, L), 4)
        for at in range(max(0, -shift), min(L, L - shift)):
            there[:, at] = y[:, at + shift]
        want = np.zeros((columns, 3, 2), np.uint64)
        strings.bit_planes(there.astype(np.uint8), 4, want)
        last = moved[:, 1] & np.uint64(2 ** (L - 64) - 1)
        np.testing.assert_array_equal(moved[:, 0], want[:, :, 0].T)
        np.testing.assert_array_equal(last, want[:, :, 1].T)


@pytest.mark.parametrize("both", [False, True])
def test_few_windows_are_compared_letter_by_letter(both):
    size, l, c = 4, 4, np.array([1.0, 0.5, 0.2])  # noqa: E741 (the paper's name)
    opposite = np.array([3, 2, 1, 0, 4]) if both else np.empty(0, np.int64)
    letters = rng.choice(5, p=[0.4, 0.3, 0.1, 0.1, 0.1], size=40).astype(np.uint8)
    begin, end = np.array([0, 14, 17, 17]), np.array([14, 17, 17, 40])
    out, expected = np.full(4, 7.0), np.zeros(4)
    word_pairs.few_windows(letters, begin, end, l, size, c, opposite, out)
    for i, (low, high) in enumerate(zip(begin, end, strict=True)):
        windows = [letters[p : p + l] for p in range(low, high - l + 1) if (letters[p : p + l] < size).all()]
        for u in windows:
            for v in windows:
                for other in (v, 3 - v[::-1]) if both else (v,):
                    far = np.count_nonzero(u != other)
                    expected[i] += c[far] if far < len(c) else 0.0
    np.testing.assert_allclose(out, expected)


def test_own_words_are_counted_and_the_table_is_empty_again():
    """A string of one word alone, strings without words, and words that are none."""
    codes = np.array([5, 5, 5, 2, 5, 2, -1, 3, -1, -1, 4, 4])
    begin, end, count = np.array([0, 3, 8, 10, 12]), np.array([3, 8, 10, 12, 12]), np.zeros(8, np.int64)
    out = np.ones(5)
    words.own_words(codes, begin, end, count, out)
    np.testing.assert_allclose(out, 1.0 + np.array([9, 6, 0, 4, 0]))
    assert not count.any()


def test_a_point_is_scaled_onto_its_constraint_and_nothing_goes_to_the_largest():
    alpha, beta = np.array([0.5, 0.2, 0.7]), np.array([0.3, 0.6, 0.1])
    for p in (1.5, 3.0):
        for x in (np.array([0.1, 0.0, 0.4]), np.array([5.0, 2.0, 1.0])):
            found = lp_projection.tighten(x, np.ones(3), alpha, beta, p)
            assert alpha @ found + beta @ found**p == pytest.approx(1.0)
            np.testing.assert_allclose(found / found.max(), x / x.max())
        alone = lp_projection.tighten(np.zeros(3), np.array([0.1, 0.9, 0.3]), alpha, beta, p)
        assert alone[[0, 2]].tolist() == [0.0, 0.0] and 0.2 * alone[1] + 0.6 * alone[1] ** p == pytest.approx(1.0)


def test_the_proximal_step_of_one_entry_has_all_its_digits_for_every_power():
    """½(x − z)² + (w/2) x² is least at z / (1 + w), whatever p is."""
    for p in (1.0001, 1.01, 1.3, 3.0, 16.0, 100.0):
        for z, w in ((0.4, 5311.0), (3.7, 1e-4), (1e-3, 0.7)):
            with np.errstate(divide="ignore"):  # as Python, the loop hears of log 0
                found = lp_projection.prox_squared_norm(np.array([z]), w, p)
            np.testing.assert_allclose(found, z / (1 + w), rtol=1e-14)


def test_a_decreasing_sequence_pools_from_its_first_entry_on():
    for x, found in (
        ([1.0, 3.0], [2.0, 2.0]),
        ([1.0, 2.0, 6.0], [3.0] * 3),
        ([5.0, 1.0, 2.0, 0.0], [5.0, 1.5, 1.5, 0.0]),
    ):
        np.testing.assert_allclose(lp_projection.decreasing(np.array(x)), found)


@pytest.mark.parametrize("kinked", [False, True])
def test_pair_steps_lower_the_objective_and_end_with_the_multiplier_of_the_sum(kinked):
    for case in range(40):
        n = 2 + case % 9
        X = rng.normal(size=(n, 3))
        K, linear, diagonal = X @ X.T + 0.1 * np.eye(n), rng.normal(size=n), rng.random(n) * (case % 2)
        kink = rng.random(n) if kinked else np.zeros(n)
        lo, hi = -rng.random(n), rng.random(n) * (rng.random(n) < 0.8)
        start = np.clip(rng.normal(size=n), lo, hi)

        def value(x, K=K, linear=linear, diagonal=diagonal, kink=kink):
            return 0.5 * x @ K @ x + linear @ x + 0.5 * diagonal @ x**2 + kink @ np.abs(x)

        before = np.inf
        for limit in (0, 1, 2, 3, 5, 10_000):
            a = start.copy()
            gradient = K @ a + linear + diagonal * a
            steps, violation, beta = pair_steps(K, a, gradient, diagonal, kink, lo, hi, 1e-10, limit)
            assert steps <= limit and (a >= lo).all() and (a <= hi).all()
            assert a.sum() == pytest.approx(start.sum(), abs=1e-12)
            g = K @ a + linear + diagonal * a
            np.testing.assert_allclose(gradient, g, atol=1e-9)
            up = np.where(a >= hi, -np.inf, np.where(a >= 0, -kink, kink) - g).max()
            down = np.where(a <= lo, np.inf, np.where(a > 0, -kink, kink) - g).min()
            assert violation == pytest.approx(up - down, abs=1e-9)
            ends = [end for end in (up, down) if np.isfinite(end)]
            assert beta == pytest.approx(np.mean(ends) if ends else 0.0, abs=1e-9)
            assert value(a) <= before + 1e-12
            before = value(a)
        assert violation <= 1e-9


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_pair_step_stops_at_a_kink(sign):
    """One variable comes to 0 from either side, although the slope on that side leads to the end of its box."""
    K, zero = 0.1 * np.eye(2), np.zeros(2)
    linear, kink = sign * np.array([0.0, 0.5]), np.array([0.0, 1.0])
    a = sign * np.array([0.0, 0.1])
    gradient = K @ a + linear
    steps, violation, _ = pair_steps(K, a, gradient, zero, kink, -np.ones(2), np.ones(2), 1e-10, 1)
    np.testing.assert_allclose(a, sign * np.array([0.1, 0.0]), atol=1e-15)
    assert steps == 1 and violation <= 0.0


def test_sizes_of_words_and_of_those_that_no_other_example_has():
    n, L, d, size, direct, M = 5, 9, 4, 4, 1, 3
    codes = rng.choice(5, p=[0.3, 0.3, 0.2, 0.1, 0.1], size=(n, L)).astype(np.uint8)
    text = degree.AlignedText(codes.ravel(), np.arange(n, dtype=np.int64) * L, 8, L, size)
    coef, kern = rng.random((L, d)), rng.integers(0, M, size=(L, d))
    depth = rng.integers(0, d - direct + 1, size=(n, L)).astype(np.uint8)
    norms, alone = np.full((n, M), 9.0), np.full((n, M), 9.0)
    degree.sizes(text, direct, coef, kern, depth, norms, alone)
    whole, own = np.zeros((n, M)), np.zeros((n, M))
    for i, at in np.ndindex(n, L):
        for k in range(min(d, L - at)):
            if (codes[i, at : at + k + 1] < size).all():
                whole[i, kern[at, k]] += coef[at, k]
                own[i, kern[at, k]] += coef[at, k] * (k >= direct + depth[i, at])
    np.testing.assert_allclose(norms, whole)
    np.testing.assert_allclose(alone, own)


def test_rows_of_any_length_go_to_the_sphere_of_each_kernel():
    """Also rows of tiny numbers, and explicit zeros, which stay."""
    data = np.array([3e-9, 4e-9, 2.0, 0.0, 0.0, -5.0, 1e-5])
    indices, indptr, kern = np.array([0, 1, 3, 0, 1, 2, 3]), np.array([0, 3, 3, 5, 7]), np.array([0, 0, 1, 1])
    rows.to_sphere(data, indices, indptr, kern)
    np.testing.assert_allclose(data, [0.6, 0.8, 1.0, 0.0, 0.0, -1.0, 2e-6], rtol=1e-9, atol=1e-15)

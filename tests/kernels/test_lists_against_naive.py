"""Views, lists of kernels, widths and landmarks against plain loops over examples, for many random requests."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from manykernels import Views
from manykernels.banks import PairwiseBank
from manykernels.kernels import RBF, Identity, KernelList, Laplacian, Linear, Nystroem, On, Polynomial, nystroem
from manykernels.kernels._scaled import median_between
from manykernels.kernels.spec import KernelSpec
from manykernels.strings import Spectrum


def row(x, i):
    """The content of row i of any container, as a list."""
    if sp.issparse(x):
        return x.toarray()[i].tolist()
    return x.iloc[i].tolist() if isinstance(x, pd.DataFrame) else np.ravel(np.asarray(x[i], object)).tolist()


def check_views(views, expected, ids):
    """expected {name: {position: content}}; examples that are not in it lack the view."""
    assert views.names == list(expected) and len(views) == len(ids) == views.shape[0]
    np.testing.assert_array_equal(views.index, ids)
    filled, masks = views.filled()
    for name, content in expected.items():
        has = np.array([i in content for i in range(len(ids))], bool)
        np.testing.assert_array_equal(views.present[name], has)
        assert (masks[name] is None) == has.all()
        assert list(views.missing.get(name, [])) == [label for label, own in zip(ids, has, strict=True) if not own]
        for k, i in enumerate(np.flatnonzero(has)):
            assert row(views[name], k) == content[i]
            assert row(filled[name], i) == content[i]
        if has.any():
            assert len(np.empty(filled[name].shape[0] if hasattr(filled[name], "shape") else len(filled[name]))) == len(
                ids
            )
        else:
            assert filled[name] is None


@pytest.mark.filterwarnings("ignore:The views")
@pytest.mark.parametrize("seed", range(12))
def test_views_of_views_have_the_rows_of_their_ids(seed):
    rng = np.random.default_rng(seed)
    pool, data, ids, table = [f"p{k}" for k in range(12)], {}, {}, {}
    for name, kind in zip("abcd", ("array", "frame", "csr", "list"), strict=True):
        own = list(rng.permutation(pool)[: rng.integers(3, 12)])
        numbers = rng.normal(size=(len(own), 2))
        content = {
            "array": numbers, "frame": pd.DataFrame(numbers, columns=["u", "v"]), "csr": sp.csr_array(numbers),
            "list": [f"text {x:.3f}" for x in numbers[:, 0]],
        }[kind]  # fmt: skip
        data[name], ids[name] = content, own
        table[name] = {label: row(content, k) for k, label in enumerate(own)}
    order = list(dict.fromkeys(label for own in ids.values() for label in own))
    views = Views(data, ids=ids)
    if seed % 3 == 0:  # some of them, in another order
        order = list(rng.permutation(order)[: max(2, len(order) - 2)])
        views = Views(data, ids=ids, examples=order)

    def expected(names, labels):
        return {
            name: {i: table[name][label] for i, label in enumerate(labels) if label in table[name]} for name in names
        }

    check_views(views, expected("abcd", order), order)
    check_views(views.take([2, 0, -1], axis=1), expected("cad", order), order)
    names, labels = list("abcd"), np.array(order)
    for step in range(4):  # one request after another
        keys = {
            0: rng.integers(-len(labels), len(labels), size=6), 1: slice(None, None, -1),
            2: rng.random(len(labels)) < 0.7, 3: slice(1, None, 2),
        }  # fmt: skip
        key = keys[(step + seed) % 4]
        if isinstance(key, np.ndarray) and key.dtype == bool and not key.any() or not len(labels[key]):
            continue
        chosen = [names[k] for k in sorted(rng.permutation(len(names))[: max(1, len(names) - 1)])]
        views = views[key, chosen] if step % 2 else views[key][chosen]
        labels, names = labels[key], chosen
        check_views(views, expected(names, labels), labels)
    assert [len(one) for one in views] == [1] * len(labels)


def naive_gamma(kernel, x, w):
    """The width of the docstring, from entries and pairs one by one."""
    d = x.shape[1]
    if kernel.gamma is None:
        return 1 / d
    if kernel.gamma == "scale":
        mean = sum(w[i] * x[i, j] for i, j in np.ndindex(x.shape)) / (d * w.sum())
        return 1 / (d * sum(w[i] * (x[i, j] - mean) ** 2 for i, j in np.ndindex(x.shape)) / (d * w.sum()))
    if kernel.gamma == "median":
        return 1 / median_between(x, w, "sqdist" if isinstance(kernel, RBF) else "l1")
    return kernel.gamma


def naive_value(kernel, gamma, x, y):
    if isinstance(kernel, RBF):
        return np.exp(-gamma * np.sum((x - y) ** 2))
    if isinstance(kernel, Laplacian):
        return np.exp(-gamma * np.sum(np.abs(x - y)))
    if isinstance(kernel, Polynomial):
        return (gamma * (x @ y) + kernel.coef0) ** kernel.degree
    return x @ y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("holder", ["array", "fortran", "float32", "frame", "views", "csr"])
def test_the_kernels_of_a_list_are_those_of_its_columns_and_examples(holder, weighted):
    """New examples too: columns by name or position in any order, one missing rule a kernel, widths of those who have
    the source, priors, and parts of the list."""
    rng, n, new = np.random.default_rng(7), 14, 9
    x = 2.0 + rng.normal(size=(n + new, 5)) * [1, 3, 0.5, 2, 1]
    if holder == "csr":
        x = np.where(rng.random(x.shape) < 0.5, 0.0, x)
    gaps = holder != "csr"
    if gaps:
        x[[3, 8, n + 2], 0], x[[5, n + 4, n + 2], 3] = np.nan, np.nan
    zero = ("zero",) if gaps else ()
    named = {"frame": [["e", "a"], ["d", "c"]], "views": [("t", [4, 0]), ("t", [3, -3])]}
    columns = named.get(holder, [[4, 0], [3, -3]])
    plain = {"frame": ["b"], "views": ("t", [1])}.get(holder, [1])
    other = RBF("median") if holder == "csr" else Laplacian("median")
    specs = [
        ("k0", RBF("scale"), columns[0], *zero), ("k1", other, columns[1], *zero), ("k2", Linear(), plain),
        ("k3", Polynomial(degree=2, gamma="scale"), columns[0], *zero), ("k4", RBF(), columns[1], *zero),
        ("k5", RBF(0.3), plain),
    ]  # fmt: skip
    seen = [[4, 0], [3, 2], [1], [4, 0], [3, 2], [1]]
    make = {
        "array": lambda a: a, "fortran": np.asfortranarray, "float32": lambda a: a.astype(np.float32),
        "frame": lambda a: pd.DataFrame(a, columns=list("abcde")), "views": lambda a: {"t": a, "u": a[:, :1] * 0 + 1},
        "csr": sp.csr_array,
    }[holder]  # fmt: skip
    if holder == "float32":
        x = x.astype(np.float32).astype(float)
    w = rng.uniform(0.5, 3.0, n) if weighted else None
    train, later = make(x[:n]), make(x[n:])
    if holder == "frame":
        later = later[["c", "e", "a", "d", "b"]]
    kernels = KernelList.from_spec(specs, train, weights=w)
    assert kernels.names == [f"k{m}" for m in range(6)] and kernels.n_views == 3
    K, N = np.zeros((6, n, n)), np.zeros((6, new, n))
    for m, cols in enumerate(seen):
        kernel, z = specs[m][1], x[:, cols]
        has = ~np.isnan(z).any(axis=1)
        own = np.ones(n) if w is None else w
        gamma = naive_gamma(kernel, z[:n][has[:n]], own[has[:n]]) if not isinstance(kernel, Linear) else None
        if gamma is not None:
            assert kernels.kernels[m].gamma == pytest.approx(gamma, rel=1e-6 if holder == "float32" else 1e-9)
        for i, j in np.ndindex(n + new, n):
            if has[i] and has[j]:
                to = (K, i) if i < n else (N, i - n)
                to[0][m, to[1], j] = naive_value(kernel, gamma, z[i], z[j])
    views, others = kernels.views(train), kernels.views(later)
    tol = dict(rtol=1e-5, atol=1e-5) if holder == "float32" else dict(rtol=1e-9, atol=1e-10)
    for m, v in enumerate(kernels.view_of):
        had, has = (np.ones(len_) if p is None else p for len_, p in ((n, views[v].present), (new, others[v].present)))
        kernel = kernels.kernels[m]
        np.testing.assert_allclose(kernel(views[v].X) * had[:, None] * had, K[m], **tol)
        np.testing.assert_allclose(kernel.between(others[v].X, views[v].X) * has[:, None] * had, N[m], **tol)
        dense = others[v].X.toarray() if sp.issparse(others[v].X) else np.asarray(others[v].X, float)
        np.testing.assert_allclose(
            dense[has > 0], x[n:][:, seen[m]][has > 0]
        )  # the columns in the order of the request
    which = [4, 0, 2]
    part = kernels.part(which)
    assert part.names == ["k4", "k0", "k2"] and part.n_views == 3 and part.M == 3
    bank = PairwiseBank(part, train, normalize=None, dtype=np.float64)
    theta = np.array([0.5, 1.0, 0.2])
    np.testing.assert_allclose(bank.combined(theta), np.tensordot(theta, K[which], 1), **tol)
    rows, A = np.array([1, 5, 6, 10]), rng.normal(size=(1, 4))
    found = bank.predictor(rows).parts(later, A, theta)[0]
    np.testing.assert_allclose(found, np.einsum("mij,j,m->im", N[which][:, :, rows], A[0], theta), **tol)


def test_priors_exempt_kernels_and_scales_go_with_their_kernels():
    X = np.random.default_rng(0).normal(size=(10, 2))
    specs = [KernelSpec("a", RBF(0.3), prior=2.0), KernelSpec("i", Identity()), KernelSpec("b", Linear(), prior=0.25)]
    kernels = KernelList.from_spec(specs, X)
    diagonal, variance = np.array([1.0, 1.0, 4.0]), np.array([0.5, 0.0, 2.0])
    for kind, by in (("multiplicative", variance), ("trace", diagonal), (None, np.ones(3))):
        scale, usable = kernels.scales(diagonal, variance, kind, 1e-12)
        np.testing.assert_allclose(scale, [2.0 / by[0], 1.0, 0.25 / by[2]])
        assert usable.all()
        scale, _ = kernels.part([2, 0]).scales(diagonal[[2, 0]], variance[[2, 0]], kind, 1e-12)
        np.testing.assert_allclose(scale, [0.25 / by[2], 2.0 / by[0]])
    scale, usable = kernels.scales(diagonal, np.array([1e-13, 1.0, 2.0]), None, 1e-12)
    assert list(usable) == [False, True, True] and scale[0] == 0.0


@pytest.mark.parametrize("base, metric", [("sqdist", "sqeuclidean"), ("l1", "cityblock")])
@pytest.mark.parametrize("columns", [1, 3, 70])
def test_the_median_is_that_of_all_pairs_of_different_examples(columns, base, metric):
    """Weights are whole numbers, so that every example can be written down as often as its weight says."""
    rng = np.random.default_rng(columns)
    for n in (2, 5, 24):
        x, counts = rng.normal(size=(n, columns)), rng.integers(0, 4, n)
        x[n // 2] = x[0]
        counts[:2] = 1, 2
        D = cdist(x, x, metric)
        pairs = [np.full(counts[i] * counts[j], D[i, j]) for i in range(n) for j in range(i) if D[i, j] > 1e-9]
        wanted = np.median(np.concatenate(pairs)) if pairs and len(np.concatenate(pairs)) else 1.0
        assert median_between(x, counts.astype(float), base) == pytest.approx(wanted, rel=1e-9)
        assert median_between(sp.csr_array(x), counts.astype(float), base) == pytest.approx(wanted, rel=1e-9)


CORNERS = np.array([[0.0, 0.0], [1e4, 0.0], [0.0, 1e4], [1e4, 1e4], [5e4, 5e4]])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("how", ["k-means++", "uniform"])
def test_landmarks_are_drawn_by_their_distances_from_examples_in_order(how, seed, monkeypatch):
    """Five clusters far apart: k-means++ draws one of each before two of one. Equal seeds draw the same."""
    monkeypatch.setattr(nystroem, "MAX_CANDIDATES", 60)
    rng = np.random.default_rng(seed)
    X = np.repeat(CORNERS, 12, axis=0) + rng.normal(size=(60, 2)) * 1e-3
    X = X[rng.permutation(60)]
    kernel = Nystroem(Linear(), rank=5, landmarks=how, random_state=seed).resolve(X)
    Z = kernel.landmarks_
    at = np.array([np.flatnonzero((X == z).all(axis=1))[0] for z in Z])
    assert (np.diff(at) > 0).all() and len(at) == 5
    if how == "k-means++":
        assert len({tuple(np.round(z / 1e4)) for z in Z}) == 5
    again, other = (Nystroem(Linear(), rank=5, landmarks=how, random_state=s).resolve(X) for s in (seed, seed + 100))
    np.testing.assert_array_equal(again.landmarks_, Z)
    assert not np.array_equal(other.landmarks_, Z)
    assert Nystroem(RBF(1.0), rank=50, landmarks="k-means++").resolve(
        np.repeat(CORNERS, 4, axis=0)
    ).landmarks_.shape == (5, 2)


@pytest.mark.parametrize("how", ["k-means++", "uniform"])
def test_features_of_landmarks_are_the_projection_in_any_container(how):
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(7, 3))
    words = ["".join(r) for r in rng.choice(list("ACGT"), size=(40, 9))]
    for train, test, kernel in (
        (X, new, RBF(0.3)),
        (sp.csr_array(X), sp.csr_array(new), RBF(0.3)),
        (words, words[:7], Spectrum(2)),
    ):
        found = KernelList.from_spec([Nystroem(kernel, rank=6, landmarks=how)], train)
        one, views, others = found.kernels[0], found.views(train), found.views(test)
        Z, x, y = one.landmarks_, views[0].X, others[0].X
        inverse = np.linalg.pinv(kernel(Z), rcond=1e-9, hermitian=True)
        expected = kernel.between(y, Z) @ inverse @ kernel.between(Z, x)
        for dtype in (np.float32, np.float64):
            F, G = one.features(y, dtype), one.features(x, dtype)
            assert F.dtype == dtype
            np.testing.assert_allclose(F @ G.T, expected, atol=1e-4 if dtype == np.float32 else 1e-8)
        np.testing.assert_allclose(one(y, x), expected, atol=1e-8)
        np.testing.assert_allclose(one.diag(y), (one.features(y) ** 2).sum(axis=1), atol=1e-10)
    dense = Nystroem(RBF(0.3), rank=6).resolve(X)
    np.testing.assert_allclose(dense.features(sp.csr_array(new)), dense.features(new), atol=1e-12)
    thin = Nystroem(RBF(0.3), rank=6).resolve(sp.csr_array(X))
    np.testing.assert_allclose(thin.features(new), thin.features(sp.csr_array(new)), atol=1e-12)


@pytest.mark.parametrize("order", [1, -1])
def test_an_example_lacks_a_view_without_its_row_and_one_with_a_gap_in_it(order):
    """Kernels of one view, and products across two of which each lacks others; old and new examples."""
    rng = np.random.default_rng(4)
    ids = [f"p{k}" for k in range(16)][::order]
    own = {
        "u": [i for k, i in enumerate(ids) if k not in (2, 9, 13)],
        "v": [i for k, i in enumerate(ids) if k not in (4, 11)],
    }
    tables = {name: rng.normal(size=(len(labels), 2)) for name, labels in own.items()}
    tables["u"][[0, 5, 11], [0, 1, 0]], tables["v"][[3, 12], 1] = np.nan, np.nan
    values = {name: dict(zip(own[name], table, strict=True)) for name, table in tables.items()}
    X = Views(tables, ids=own, examples=ids)
    specs = [
        ("u", RBF(0.5), "u", "zero"), ("v", Linear(), "v", "zero"), ("first of v", RBF(0.2), ("v", [0]), "zero"),
        ("both", On("u", RBF(0.3), missing="zero") * On("v", RBF(0.2), missing="zero")),
    ]  # fmt: skip

    def value(name, columns, kernel, gamma, i, j):
        x, y = (values[name].get(label) for label in (i, j))
        if x is None or y is None or np.isnan(x[columns]).any() or np.isnan(y[columns]).any():
            return 0.0
        return naive_value(kernel, gamma, x[columns], y[columns])

    train, new = X[np.arange(10)], X[np.arange(10, 16)]
    kernels = KernelList.from_spec(specs, train)
    every = slice(None)
    K = np.array([[[
        value("u", every, RBF(), 0.5, i, j), value("v", every, Linear(), None, i, j),
        value("v", [0], RBF(), 0.2, i, j),
        value("u", every, RBF(), 0.3, i, j) * value("v", every, RBF(), 0.2, i, j),
    ] for j in ids[:10]] for i in ids])  # fmt: skip
    bank = PairwiseBank(kernels, train, normalize=None, dtype=np.float64)
    np.testing.assert_allclose(bank.matrices(), np.moveaxis(K[:10], 2, 0), atol=1e-12)
    A = rng.normal(size=(1, 10))
    found = bank.predictor(np.arange(10)).parts(new, A, np.ones(4))[0]
    np.testing.assert_allclose(found, np.einsum("ijm,j->im", K[10:], A[0]), atol=1e-12)

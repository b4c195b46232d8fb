"""Random data as users bring it: tables, sparse matrices, frames and kernel matrices, in every dtype and layout."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from . import grams


@dataclass
class World:
    """Training data X of n examples, new ones, kernels for them, and the same values in other forms."""

    name: str
    X: object
    new: object
    kernels: object
    n: int
    forms: list = field(default_factory=list)  # (name, X, new) of equal values
    grams: object = None  # the kernels of the training data, recomputed
    sources: object = None  # (name, X, new) on a disk
    numbers: object = None  # (n, p) of any size that kernels see as they are, where rounding is allowed for
    signal: object = None  # (n,) what targets may depend on
    tasks: object = None  # of the training examples and of the new ones
    take: object = lambda X, rows: X[rows]  # the training examples in another order

    def rows(self, X, rows):
        """Some of the new examples."""
        return X[rows] if self.kernels == "precomputed" else self.take(X, rows)


def size(rng, low, high):
    """A number, small ones as likely as large ones."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def numbers(rng, n, p):
    """A table (n, p) of float64 with what real tables have: odd scales, offsets, outliers, copies, constants."""
    X = rng.normal(size=(n, p))
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.uniform(-8, 8, size=p if rng.random() < 0.5 else 1)
    if rng.random() < 0.2:
        X = X + 10.0 ** rng.uniform(-2, 5)
    if rng.random() < 0.2:
        X[:, rng.integers(p)] = rng.choice([0.0, 1.0, -3.5])
    if rng.random() < 0.2:
        X[:, rng.integers(p)] = X[:, rng.integers(p)]
    if rng.random() < 0.2:
        X[rng.integers(n)] *= 10.0 ** rng.uniform(1, 6)
    if rng.random() < 0.3:
        X[rng.integers(n, size=max(1, n // 3))] = X[rng.integers(n)]
    if rng.random() < 0.1:
        X = np.round(X)
    if rng.random() < 0.1:
        X = np.abs(X)
    if rng.random() < 0.03:
        X[:] = X[0]
    return X


DTYPES = ["f8", "f8", "f8", "f4", "f2", "i8", "i4", "i2", "u1", "?", "O", ">f8", ">i4"]


def cast(X, dtype):
    """X in that dtype, within what it can hold."""
    if dtype == "?":
        return X > np.median(X)
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return np.clip(np.round(X), max(info.min, -(2**40)), min(info.max, 2**40)).astype(kind)
    if kind == np.float16:
        return np.clip(X, -6e4, 6e4).astype(kind)
    return X.astype(kind)


LAYOUTS = ["C", "F", "strided", "reversed", "read-only", "columns reversed", "offset"]


def lay(X, layout):
    """The same values otherwise laid out in memory."""
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if layout == "reversed":
        return X[::-1].copy()[::-1]
    if layout == "columns reversed":
        return X[:, ::-1].copy()[:, ::-1]
    if layout == "offset" and X.dtype != object:
        raw = np.zeros(X.nbytes + 1, np.uint8)
        view = raw[1:].view(X.dtype).reshape(X.shape)  # not aligned
        view[:] = X
        return view
    X = np.ascontiguousarray(X).copy()
    X.flags.writeable = layout != "read-only"
    return X


def table_kernels(rng, p, positive, plain=False):
    """One to six kernels on p columns; plain ones only are those whose Gram matrices `grams` recomputes."""
    from sklearn.gaussian_process.kernels import Matern
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.preprocessing import RobustScaler, StandardScaler

    from manykernels import kernels as k

    def gamma():
        return float(10 ** rng.uniform(-3, 1))

    simple = [
        lambda: k.RBF(gamma=gamma()),
        lambda: k.RBF(),
        lambda: k.Linear(),
        lambda: k.Polynomial(degree=int(rng.integers(1, 4)), gamma=gamma(), coef0=float(rng.choice([0, 1]))),
        lambda: k.Laplacian(gamma=gamma()),
        lambda: k.Constant(float(10 ** rng.uniform(-2, 2))),
    ]
    other = [
        lambda: k.RBF(gamma="scale"),
        lambda: k.RBF(gamma="median"),
        lambda: k.Laplacian(gamma="median"),
        lambda: k.Cosine(),
        lambda: k.Identity(),
        lambda: k.RBF(gamma=gamma()) * k.Linear(),
        lambda: 2 * k.RBF(gamma=gamma()) + k.Linear(),
        lambda: k.GaussianProcess(Matern(nu=1.5)),
        lambda: k.Features(RBFSampler(gamma=gamma(), n_components=int(rng.integers(1, 30)), random_state=0)),
        lambda: k.Nystroem(k.RBF(gamma=gamma()), rank=int(rng.integers(1, 20))),
        lambda: k.RandomFeatures(k.RBF(gamma=gamma()), rank=2 * int(rng.integers(1, 20))),
        lambda: k.Function(linear),
        lambda: k.Categorical(),
    ]
    if positive:
        other += [lambda: k.Chi2(gamma=gamma()), lambda: k.HistogramIntersection(), lambda: k.Tanimoto()]
    made = []
    for number in range(int(rng.integers(1, 7))):
        kernel = (simple if plain or rng.random() < 0.5 else other)[rng.integers(6 if plain else len(simple))]()
        if not plain and rng.random() < 0.4:
            kernel = other[rng.integers(len(other))]()
        where = rng.random()
        if where < 0.4:
            made.append(kernel)
        elif where < 0.5:
            made.append((f"k{number}", kernel))
        else:
            chosen = np.sort(rng.choice(p, size=int(rng.integers(1, p + 1)), replace=False))
            forms = [chosen.tolist(), chosen, slice(0, int(rng.integers(1, p + 1)))]
            columns = forms[rng.integers(3)]
            scaler = [StandardScaler(), RobustScaler()][rng.integers(2)]
            if plain or rng.random() < 0.7:
                made.append((f"k{number}", kernel, columns))
            else:
                made.append((f"k{number}", scaler, kernel, columns))
    return made


def linear(A, B):
    """A kernel as a plain function."""
    A, B = (Z.toarray() if scipy.sparse.issparse(Z) else np.asarray(Z, float) for Z in (A, B))
    return A @ B.T


def table(rng):
    """A NumPy array, or lists, of any dtype and layout."""
    n, p, m = size(rng, 2, 200), size(rng, 1, 40), size(rng, 1, 30)
    base = numbers(rng, n + m, p)
    dtype, layout, plain = str(rng.choice(DTYPES)), str(rng.choice(LAYOUTS)), rng.random() < 0.5
    values = cast(base, dtype)
    X, new = values[:n], values[n:]
    numeric = values.astype(float)
    kernels = table_kernels(rng, p, bool((numeric >= 0).all()), plain)
    if rng.random() < 0.1:
        kernels = "auto"
    if rng.random() < 0.05:
        from manykernels.kernels import rank_one_kernels

        kernels = rank_one_kernels(numeric)
    forms = [(other, lay(X, other), lay(new, other)) for other in rng.choice(LAYOUTS, 2)]
    forms.append(("float64", numeric[:n], numeric[n:]))
    forms.append(("lists", X.tolist(), new.tolist()))
    if np.array_equal(numeric, numeric.astype(np.float32)):
        forms.append(("float32", numeric[:n].astype(np.float32), numeric[n:].astype(np.float32)))
    name = f"table {n}×{p} {dtype} {layout}, {m} new"
    world = World(name, lay(X, layout), lay(new, layout), kernels, n, forms, numbers=numeric, signal=numeric[:n, 0])
    if isinstance(kernels, list) and grams.all_plain(kernels):
        world.grams = lambda: grams.of_table(kernels, numeric[:n])
    if dtype != "O":
        world.sources = lambda folder: array_files(folder, X, new, rng)
    return world


def array_files(folder, X, new, rng):
    """The table in `.npy` and `.npz` files, read in blocks of odd sizes."""
    from manykernels.streaming import ArrayFile

    np.save(f"{folder}/X.npy", X)
    np.save(f"{folder}/new.npy", new)
    np.savez(f"{folder}/X.npz", X=X, other=np.zeros(3))
    rows = [None, 1, 7][rng.integers(3)]
    again = ArrayFile(f"{folder}/new.npy")
    return [("npy", ArrayFile(f"{folder}/X.npy", rows=rows), again), ("npz", ArrayFile(f"{folder}/X.npz", "X"), again)]


FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def sparse(rng):
    """A sparse matrix or array of any format, with unsorted or repeated entries."""
    from manykernels import kernels as k

    n, p, m = size(rng, 2, 150), size(rng, 1, 40), size(rng, 1, 20)
    dense = rng.normal(size=(n + m, p)) * (rng.random((n + m, p)) < rng.choice([0.02, 0.1, 0.5]))
    dense = cast(dense * 10.0 ** rng.integers(-3, 4), str(rng.choice(["f8", "f4", "i4"])))
    choice = str(rng.choice(FORMATS))
    maker = scipy.sparse.csr_array if rng.random() < 0.5 else scipy.sparse.csr_matrix

    def form(rows, kind):
        return maker(rows).asformat(kind)

    X, new = form(dense[:n], choice), form(dense[n:], choice)
    if choice == "csr" and X.nnz > 1 and rng.random() < 0.4:  # rows with their entries backwards
        for i in range(n):
            part = slice(X.indptr[i], X.indptr[i + 1])
            X.indices[part], X.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
        X.has_sorted_indices = False
    kernels = table_kernels(rng, p, False, plain=rng.random() < 0.7)
    if rng.random() < 0.2:
        kernels = k.rank_one_kernels(X if rng.random() < 0.5 else p)
    numeric = dense.astype(float)
    forms = [(kind, form(dense[:n], kind), form(dense[n:], kind)) for kind in rng.choice(FORMATS, 2)]
    forms.append(("dense", numeric[:n], numeric[n:]))
    world = World(f"sparse {choice} {n}×{p} {dense.dtype}", X, new, kernels, n, forms, signal=numeric[:n, 0])
    if grams.all_plain(kernels):
        world.grams = lambda: grams.of_table(kernels, numeric[:n])
    world.take = lambda data, rows: data.tocsr()[rows] if hasattr(data, "tocsr") else data[rows]
    return world


def stack(rng):
    """Precomputed kernels: arrays in both memory orders, float32 or float64, or a KernelStack."""
    from manykernels import KernelStack

    n, m, M = size(rng, 2, 150), size(rng, 1, 20), size(rng, 1, 12)
    m = n if rng.random() < 0.2 else m  # kernels between as many new examples are square and not symmetric
    base = rng.normal(size=(n + m, 3)) * 10.0 ** rng.uniform(-2, 2)
    full = []
    for number in range(M):
        gamma = 10 ** rng.uniform(-4, 1)
        d2 = ((base[:, None] - base[None]) ** 2).sum(axis=2)
        K = np.exp(-gamma * d2) if number % 3 else base @ base.T
        if rng.random() < 0.05:
            K = np.zeros_like(K) if rng.random() < 0.5 else np.ones_like(K)
        full.append(K * 10.0 ** rng.uniform(-3, 3))
    cube = np.stack(full, axis=2).astype(rng.choice(["f8", "f8", "f4"]))
    if rng.random() < 0.05:
        cube = -cube  # no kernels at all: must warn or refuse, not break
    X, new = cube[:n, :n], cube[n:, :n]
    orders = [
        ("C", lambda A: np.ascontiguousarray(A)),
        ("F", lambda A: np.asfortranarray(A)),
        ("kernels first", lambda A: np.ascontiguousarray(A.transpose(2, 0, 1)).transpose(1, 2, 0)),
        ("slice", lambda A: A),
        ("reversed", lambda A: np.ascontiguousarray(A[::-1, :, ::-1])[::-1, :, ::-1]),
        ("KernelStack", lambda A: KernelStack(A.transpose(2, 0, 1))),
        (
            "KernelStack of list",
            lambda A: KernelStack([A[:, :, j] for j in range(M)], names=[f"κ{j}" for j in range(M)]),
        ),
    ]
    chosen, *others = rng.permutation(len(orders))[:3]
    name, make = orders[chosen]
    forms = [(orders[o][0], orders[o][1](X), orders[o][1](new)) for o in others]
    world = World(f"stack {n}×{n}×{M} {cube.dtype} {name}", make(X), make(new), "precomputed", n, forms)
    world.signal = base[:n, 0]
    exact = X.astype(float)
    world.grams = lambda: [grams.Gram(exact[:, :, j], np.abs(exact[:, :, j])) for j in range(M)]
    world.take = lambda data, rows: data[np.ix_(rows, rows)]
    return world

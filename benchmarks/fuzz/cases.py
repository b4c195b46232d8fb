"""Random problems: data, kernels, estimator and parameters, all drawn from (seed, number)."""

from contextlib import suppress
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, losses, strings
from manykernels import kernels as mk
from manykernels import regularizers as mr
from manykernels.problem import Problem
from manykernels.solvers import Solver

from .kernels import matrices

LOSSES = ("hinge", "squared_hinge", "smooth_hinge", "logistic", "squared")
REAL_LOSSES = ("epsilon_insensitive", "squared", "huber")
SOLVERS = {
    "newton": 4, "analytic": 3, "hessian": 2, "chunking": 3, "level": 2, "sip": 2, "spicy": 3, "nesterov": 2,
    "silp": 1, "simplemkl": 1, "coordinate": 1, "mackay": 0.5,
}  # fmt: skip


@dataclass
class Case:
    """One fit: `estimator.fit(X, y, sample_weight=weight)`, and what is needed to judge it."""

    estimator: object
    X: object
    y: np.ndarray | None
    weight: np.ndarray | None
    parts: list  # (kernel, columns) in order, or the matrices of a stack
    told: dict = field(default_factory=dict)  # in words, for the table and the reproduction

    @property
    def default(self):
        """A fit that a user would call ordinary: solver "auto", its 1,000 steps."""
        return self.told["solver"] == "auto" and self.told["max_iter"] == 1000

    def taken(self):
        """(rows that take part, weights of all examples)."""
        n = self.told["n"]
        weight = np.ones(n) if self.weight is None else np.asarray(self.weight, float)
        return np.arange(n) if self.told["form"].startswith("stack") else np.flatnonzero(weight), weight

    def kernel_matrices(self, rows, w):
        """K and A of every kernel on the rows of X that take part, of weights w, in extended precision."""
        if self.told["form"].startswith("stack"):
            Ks = np.asarray(self.parts, np.longdouble)[:, rows[:, None], rows]
            return list(zip(Ks, np.abs(Ks), strict=True))
        if self.told["form"] == "strings":
            return [matrices(kernel, [self.X[i] for i in rows]) for kernel, _ in self.parts]
        X, sparse = self.plain[rows], self.told["form"] == "sparse"
        found = []
        for kernel, columns in self.parts:
            part = X if columns is None else X[:, columns]
            K, A = matrices(kernel, part, w, sparse)
            found.append((K, A + 16 * np.abs(K).max() if part.shape[1] == 1 else A))  # Chebyshev series in one column
        return found


def draw(seed, number):
    """Case `number` of the run `seed`."""
    rng = np.random.default_rng([seed, number])
    n = int(rng.integers(4, 121)) if rng.random() < 0.9 else int(rng.integers(2, 6))
    form = rng.choice(["table", "sparse", "stack", "strings"], p=[0.6, 0.1, 0.2, 0.1])
    told = {"n": n, "form": str(form), "number": number}
    X, plain, kind = table(rng, n) if form != "strings" else (letters(rng, n), None, "letters")
    told["data"] = kind
    if form == "strings":
        parts = [(kernel, None) for kernel in string_kernels(rng)]
    else:
        parts = numeric_kernels(rng, X, form == "sparse")
    if form == "sparse":
        plain = np.where(rng.random(X.shape) < 0.5, 0.0, X)
        X = rng.choice([sp.csr_matrix, sp.csc_array, sp.coo_array, sp.csr_array])(plain)
        plain = np.asarray(plain, float)
    kernels = [(f"k{m}", kernel, columns) for m, (kernel, columns) in enumerate(parts)]
    if form == "stack":
        X, parts, how = stack(rng, plain, parts)
        kernels, told["form"] = "precomputed", f"stack {how}"
    M = len(parts)
    told["kernels"] = [repr(part[0]) if isinstance(part, tuple) else "matrix" for part in parts]
    estimator, y, weight = problem(rng, n, M, kernels, plain, told)
    case = Case(estimator, X, y, weight, parts, told)
    case.plain = plain
    return case


def table(rng, n):
    """(X as given, X as float64, what it is like)."""
    d = int(rng.integers(1, 13))
    kind = str(rng.choice(
        ["normal", "offset", "heavy", "deficient", "constant", "duplicated", "counts", "scales", "tiny", "huge"],
        p=[0.34, 0.14, 0.1, 0.08, 0.06, 0.08, 0.08, 0.06, 0.03, 0.03],
    ))  # fmt: skip
    X = rng.normal(size=(n, d))
    if kind == "offset":
        X += 10.0 ** rng.uniform(1, 7) * rng.choice([-1, 1], d)
    elif kind == "heavy":
        X = rng.standard_cauchy(size=(n, d))
    elif kind == "deficient":
        X = X[:, :1] @ rng.normal(size=(1, d))
    elif kind == "constant":
        X[:, rng.random(d) < 0.5] = rng.normal()
    elif kind == "duplicated":
        X = X[rng.integers(0, max(2, n // 4), n)]
    elif kind == "counts":
        X = rng.poisson(1.0, size=(n, d)).astype(float)
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-6, 6, d)
    elif kind == "tiny":
        X *= 10.0 ** rng.uniform(-200, -20)
    elif kind == "huge":
        X *= 10.0 ** rng.uniform(20, 200)
    how = str(rng.choice(["", "float32", "fortran", "strided", "reversed", "readonly", "memmap"]))
    if how == "float32" and kind not in ("tiny", "huge"):
        X = X.astype(np.float32)
    elif how == "fortran":
        X = np.asfortranarray(X)
    elif how == "strided":
        X = np.repeat(X, 2, axis=0)[::2]
    elif how == "reversed":
        X = X[::-1]
    elif how == "readonly":
        X.flags.writeable = False
    elif how == "memmap":
        import tempfile

        with tempfile.TemporaryFile() as file:
            mapped = np.memmap(file, dtype=float, mode="w+", shape=X.shape)
        mapped[:] = X
        X = mapped
    return X, np.asarray(X, np.float64), f"{kind} {how}".strip()


def letters(rng, n):
    length = int(rng.integers(3, 30))
    return ["".join(rng.choice(list("ACGT"), length)) for _ in range(n)]


def string_kernels(rng):
    make = [
        lambda: strings.Spectrum(int(rng.integers(1, 5))),
        lambda: strings.WeightedDegree(int(rng.integers(1, 6))),
        lambda: strings.WeightedDegreeShift(int(rng.integers(1, 4)), int(rng.integers(0, 3))),
        lambda: strings.GappedKmer(4, 2),
        lambda: strings.Mismatch(3, 1),
        lambda: strings.Spectrum(2) * strings.WeightedDegree(2),
    ]
    return [make[i]() for i in rng.integers(0, len(make), int(rng.integers(1, 6)))]


def numeric_kernels(rng, X, sparse):
    """1 to 8 of (kernel, columns); histogram kernels only where the data are none negative."""
    histogram = not sparse and X.min() >= 0
    scale = float(np.median(np.abs(X - np.median(X, axis=0)))) or 1.0

    def width(power):
        choice = rng.integers(0, 4)
        if choice < 2:
            return [None, "scale"][choice]
        return float(10.0 ** np.clip(rng.uniform(-3, 3) - power * np.log10(scale), -300, 300))

    make = [
        lambda: mk.RBF(width(2)),
        lambda: mk.RBF(width(2)),
        mk.Linear,
        lambda: mk.Polynomial(int(rng.integers(1, 5)), width(2), float(rng.choice([0.0, 1.0]))),
        mk.Cosine,
        mk.Tanimoto,
        mk.Identity,
        lambda: mk.Constant(float(rng.uniform(0.1, 3))),
        lambda: mk.RBF(width(2)) + mk.Linear(),
        lambda: mk.RBF(width(2)) * mk.Polynomial(2, width(2)),
    ]
    if not sparse:
        make += [lambda: mk.Laplacian(width(1))]
    if histogram:
        make += [lambda: mk.Chi2(width(1) if width(1) != "scale" else 1.0), mk.HistogramIntersection]
    parts = []
    for i in rng.integers(0, len(make), int(rng.integers(1, 9))):
        columns = None
        if rng.random() < 0.4:
            columns = np.sort(rng.choice(X.shape[1], int(rng.integers(1, X.shape[1] + 1)), replace=False)).tolist()
        parts.append((make[i](), columns))
    return parts


def stack(rng, plain, parts):
    """(X, matrices (M, n, n) as they are stored, how)."""
    with np.errstate(all="ignore"):
        Ks = [np.asarray(matrices(k, plain if cols is None else plain[:, cols])[0], float) for k, cols in parts]
    Ks = np.array([(K + K.T) / 2 for K in Ks])
    how = str(rng.choice(["float64", "float32", "float16", "indefinite"], p=[0.5, 0.25, 0.15, 0.1]))
    if how == "indefinite":
        noise = rng.normal(size=Ks[0].shape)
        with np.errstate(all="ignore"):
            Ks[0] = Ks[0] + 0.1 * np.abs(Ks[0]).max() * (noise + noise.T)
    else:
        with np.errstate(over="ignore"):
            Ks = Ks.astype(how)
    order = str(rng.choice(["first", "last", "KernelStack"]))
    if order == "KernelStack":
        diagonals = np.einsum("mii->mi", Ks) if rng.random() < 0.5 else None
        return KernelStack(Ks, test_diagonals=diagonals), Ks, f"{how} {order}"
    X = np.moveaxis(Ks, 0, 2)
    return (np.ascontiguousarray(X) if order == "last" else X), Ks, f"{how} {order}"


def regularizer(rng, M):
    """One of every kind, for M kernels."""
    E = rng.normal(size=(M, M))
    w = rng.uniform(0.2, 2, M)
    make = [
        lambda: float(rng.choice([1, 1.0001, 1.1, 4 / 3, 2, 4, 16, np.inf])),
        lambda: mr.LpNorm(float(rng.choice([1, 4 / 3, 2, np.inf]))),
        lambda: mr.WeightedLpNorm(float(rng.choice([1, 1.5, 3])), w),
        lambda: mr.ElasticNet(float(rng.choice([0, 0.01, 0.5, 0.99, 1]))),
        lambda: mr.MixedNorm(float(rng.uniform(0, 1)), float(rng.choice([1.2, 3, 8]))),
        lambda: mr.NonIsotropic(E @ E.T / M + 0.1 * np.eye(M)),
        lambda: mr.Ball(w / w.sum(), float(10 ** rng.uniform(-2, 0))),
        lambda: mr.Entropy(float(10 ** rng.uniform(-3, 1))),
        lambda: mr.LpPenalty(float(rng.choice([1, 1.1, 2, 4])), float(10 ** rng.uniform(-1, 1))),
        lambda: mr.LpSum(float(rng.choice([1, 1.2, 2, 5]))),
        lambda: mr.BlockElasticNet(float(rng.choice([0, 0.01, 0.5, 1]))),
        mr.Wedge,
        lambda: mr.BlockNorm(float(rng.choice([2, 3, 6, 10]))),
        lambda: mr.BlockSum(float(rng.choice([2, 3, 6, 10]))),
        lambda: mr.Fixed(w),
        lambda: mr.Separable(separable),
        mr.Uniform,
        lambda: mr.BestSingle(2),
        mr.Align,
        mr.AlignF,
        mr.EasyMKL,
        lambda: mr.EmpiricalBayes("learn"),
    ]
    weights = np.ones(len(make))
    weights[0] = 8
    weights[-1] = 0.3
    return make[rng.choice(len(make), p=weights / weights.sum())]()


def separable(x):
    return 0.5 * np.sqrt(x) + 0.25 * x


def suited(rng, omega, loss, intercept, M):
    """A solver: "auto", or one that takes such a problem if three draws find it (else its refusal is the case)."""
    if rng.random() < 0.3:
        return "auto"
    omega = mr.Fixed(np.ones(M)) if isinstance(omega, mr.TwoStage) else mr.get(omega)
    bank = SimpleNamespace(M=M, n=2, usable=np.ones(M, bool), explicit=True, device_features=None)
    odds = np.array(list(SOLVERS.values()))
    for _ in range(3):
        name = str(rng.choice(list(SOLVERS), p=odds / odds.sum()))
        with suppress(ValueError):
            if Solver(name).refusal(Problem(bank, [1.0, -1.0], losses.get(loss), omega, 1.0, intercept)) is None:
                break
    return name


def problem(rng, n, M, kernels, plain, told):
    """(estimator, y, sample weights)."""
    kind = str(rng.choice(["binary", "ovr", "shared", "real", "one_class"], p=[0.5, 0.1, 0.1, 0.2, 0.1]))
    usual = rng.random() < 0.5
    C = float(10.0 ** (rng.uniform(-3, 4) if usual else rng.uniform(-8, 8)))
    draw = rng.random()
    C = 1.0 if draw < 0.05 else "auto" if draw < 0.2 and kind != "one_class" else C
    tol = 1e-3 if rng.random() < 0.3 else float(10.0 ** (rng.uniform(-6, -1) if usual else rng.uniform(-8, -1)))
    intercept = bool(rng.random() < 0.7)
    formulation = str(rng.choice(["one_class", "level_set", "svdd"], p=[0.5, 0.3, 0.2]))
    loss = {"real": str(rng.choice(REAL_LOSSES)), "one_class": formulation}.get(kind, str(rng.choice(LOSSES)))
    known = "one_class" if loss == "svdd" else loss
    intercept = {"one_class": True, "level_set": False}.get(known, intercept)
    omega = regularizer(rng, M)
    options = dict(
        regularizer=omega, solver=suited(rng, omega, known, intercept, M), tol=tol, n_jobs=1, warm_start=True,
        max_iter=int(rng.choice([1, 3])) if rng.random() < 0.13 else 1000,
        normalize=[None, "multiplicative", "spherical", "trace"][rng.choice(4, p=[0.15, 0.55, 0.15, 0.15])],
    )  # fmt: skip
    if loss == "svdd":
        options["normalize"] = "spherical"
    weight = None
    if rng.random() < 0.25:
        weight = rng.choice([0.0, 0.5, 1.0, 2.0, 10.0 ** rng.uniform(-3, 3)], n)
        weight[: n // 2] = np.maximum(weight[: n // 2], 0.5)
    told.update(kind=kind, loss=loss, intercept=intercept, C=C, weighted=weight is not None, regularizer=repr(omega))
    told.update({k: v for k, v in options.items() if k in ("solver", "tol", "max_iter", "normalize")})
    signal = rng.normal(size=n) if plain is None else np.tanh(np.nan_to_num(plain[:, 0] - np.median(plain[:, 0])))
    signal = signal + rng.choice([0.1, 1.0, 10.0]) * rng.normal(size=n)
    if kind == "one_class":
        own = {"C": C} if formulation == "level_set" else {"nu": float(rng.choice([0.05, 0.5, 1.0]))}
        told.update(own)
        return MKLOneClass(kernels, formulation=formulation, **own, **options), None, weight
    options |= dict(C=C, fit_intercept=intercept)
    if kind == "real":
        y = signal * 10.0 ** rng.uniform(-3, 3) + rng.choice([0.0, 1.0, 1e3])
        return MKLRegressor(kernels, loss=loss, **options), y, weight
    balanced = rng.choice([None, "balanced"])
    told["class_weight"] = balanced
    cuts = [np.median(signal)] if kind == "binary" else np.quantile(signal, [0.3, 0.6])
    if kind == "binary" and rng.random() < 0.2:
        cuts = [np.quantile(signal, 0.9)]
    y = np.searchsorted(cuts, signal)
    if len(np.unique(y)) < 2:
        y[0], y[-1] = 0, 1
    multi = "shared" if kind == "shared" else "ovr"
    return MKLClassifier(kernels, loss=loss, class_weight=balanced, multi_class=multi, **options), y, weight

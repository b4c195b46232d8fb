"""Random targets, weights and estimators."""

from dataclasses import dataclass, field

import numpy as np

SOLVERS = """newton primal coordinate interior chunking analytic hessian silp sip level simplemkl nesterov spicy
reweighted mackay""".split()


@dataclass
class Plan:
    """An estimator with targets and weights: `model.fit(X, y, **weights)`."""

    task: str  # "classes", "labels", "numbers", "targets" or "one class"
    model: object
    y: object
    weights: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    search: bool = False
    name: str = ""


def classes(rng, n, signal):
    """Labels (n,) of two to six classes, of any kind."""
    many = 2 if rng.random() < 0.6 else int(rng.integers(3, 7))
    noisy = signal + 0.3 * (np.std(signal) + 1e-300) * rng.normal(size=n)
    codes = np.argsort(np.argsort(noisy)) * many // n
    shape = rng.random()
    if shape < 0.15:  # one against the rest
        codes = np.zeros(n, int)
        codes[rng.integers(n)] = 1
    elif shape < 0.25:
        codes = rng.integers(many, size=n)
    elif shape < 0.28:
        codes = np.zeros(n, int)
    kinds = {
        "ints": lambda: codes,
        "negative": lambda: codes * 2 - 5,
        "floats": lambda: codes * 1.0 - 1,
        "bools": lambda: codes > 0,
        "int8": lambda: codes.astype(np.int8),
        "texts": lambda: np.array(["no", "yes", "maybe", "", "ü", "<b>"])[codes],
        "objects": lambda: np.array(["no", "yes", "maybe", "", "ü", "<b>"], dtype=object)[codes],
        "bytes": lambda: np.array([b"no", b"yes", b"maybe", b"a", b"b", b"c"])[codes],
        "list": lambda: codes.tolist(),
        "list of texts": lambda: [f"class {code}" for code in codes],
        "column": lambda: codes[:, None],
        "pandas": lambda: pandas_series(codes),
        "categories": lambda: pandas_series([f"c{code}" for code in codes], "category"),
        "polars": lambda: polars_series(codes),
        "strided": lambda: np.repeat(codes, 2)[::2],
    }
    kind = str(rng.choice(list(kinds)))
    return kinds[kind](), kind


def pandas_series(values, dtype=None):
    """A pandas column with an index of its own."""
    import pandas as pd

    return pd.Series(values, index=np.arange(len(values))[::-1], dtype=dtype)


def polars_series(values):
    """A polars column, or the array where polars is not installed."""
    from .objects import polars_or_none

    polars = polars_or_none()
    return values if polars is None else polars.Series(values)


def sample_weights(rng, n):
    """Weights of the examples, some of them 0."""
    w = rng.random(n) * 10.0 ** rng.uniform(-3, 3)
    kind = rng.integers(5)
    if kind == 0:
        w[rng.random(n) < 0.3] = 0.0
    elif kind == 1:
        return rng.integers(0, 3, n)
    elif kind == 2:
        return w.tolist()
    elif kind == 3:
        return w.astype(np.float32)
    return w


def regularizer(rng, M):
    """A regularizer, and its p where it is an ℓp-norm."""
    from manykernels import regularizers as r

    if rng.random() < 0.55:
        p = [1, 4 / 3, 2, np.inf, float(1 + 10 ** rng.uniform(-3, 1.5))][rng.integers(5)]
        return (r.LpNorm(p) if rng.random() < 0.3 else p), float(p)
    v, lam = float(rng.uniform(0, 1)), float(10 ** rng.uniform(-2, 1))
    made = [
        lambda: r.ElasticNet(v),
        lambda: r.MixedNorm(v, float(rng.uniform(1.1, 4))),
        lambda: r.Entropy(lam),
        lambda: r.LpPenalty(float(rng.uniform(1, 4)), lam),
        lambda: r.LpSum(float(rng.uniform(1, 3))),
        lambda: r.LpSum(1),
        lambda: r.BlockElasticNet(v),
        lambda: r.BlockNorm(float(rng.uniform(2, 5))),
        lambda: r.BlockSum(float(rng.uniform(2, 5))),
        lambda: r.Wedge(),
        lambda: r.Uniform(),
        lambda: r.BestSingle(2),
        lambda: r.Align(),
        lambda: r.AlignF(),
        lambda: r.EasyMKL(v),
        lambda: r.EmpiricalBayes("learn"),
        lambda: r.EmpiricalBayes(lam),
    ]
    if M is not None:
        made += [
            lambda: r.WeightedLpNorm(float(rng.uniform(1, 4)), rng.uniform(0.1, 3, M)),
            lambda: r.NonIsotropic(np.eye(M) + 0.3),
            lambda: r.Ball(np.full(M, 1 / M), 0.5),
            lambda: r.Fixed(rng.random(M) + 0.01),
        ]
    return made[rng.integers(len(made))](), None


def plan(rng, world):
    """Targets and an estimator for a world."""
    import manykernels as mk
    from manykernels import losses

    n, signal = world.n, world.signal if world.signal is not None else np.arange(world.n, dtype=float)
    M = len(world.kernels) if isinstance(world.kernels, list) else None
    omega, p = regularizer(rng, M)
    options = {
        "regularizer": omega,
        "normalize": [None, "multiplicative", "multiplicative", "spherical", "trace"][rng.integers(5)],
        "tol": float(10 ** rng.uniform(-6, -1)) if rng.random() < 0.6 else 1e-3,
        "max_iter": int(rng.choice([1, 3, 30, 1000, 1000, 1000, 1000])),
        "n_jobs": [None, 1, 2, -1][rng.integers(4)],
    }
    if rng.random() < 1 / 3:
        options["solver"] = str(rng.choice(SOLVERS))
    if rng.random() < 0.15:
        options["features"] = str(rng.choice(["never", "map", "sorted", "trie", "hash"]))
    if rng.random() < 0.1:
        options["approximation"] = str(rng.choice(["nystroem", "rff"]))
        options["rank"] = 2 * int(rng.integers(1, 20))
    if rng.random() < 0.2:
        options["memory_limit"] = ["60KB", "300KB", "1MB", "1GB", 200_000][rng.integers(5)]
    if rng.random() < 0.1:
        options["random_state"] = [0, 7, np.random.RandomState(3)][rng.integers(3)]
    weights = {"sample_weight": sample_weights(rng, n)} if rng.random() < 0.25 else {}
    draw, search = rng.random(), rng.random() < 0.1
    bayes = type(omega).__name__ == "EmpiricalBayes" and rng.random() < 0.9
    settings = {"p": p, "weights": weights.get("sample_weight")}
    if draw < 0.15:
        options["formulation"] = str(rng.choice(["one_class", "one_class", "level_set", "svdd"]))
        if options["formulation"] == "level_set":
            options["C"] = float(10 ** rng.uniform(-6, 6))
        else:
            options["nu"] = float(rng.uniform(0.01, 1))
        if options["formulation"] == "svdd":
            options["normalize"] = "spherical"
        model = mk.MKLOneClass(world.kernels, **options)
        return Plan("one class", model, None, weights, settings, name=f"{model!r} {weights.keys()}")
    options["fit_intercept"] = bool(rng.random() < 0.85)
    options["slack"] = bool(rng.random() < 0.07)
    C = float(10 ** rng.uniform(-6, 6)) if rng.random() < 0.5 else float(10 ** rng.uniform(-2, 2))
    if draw < 0.65:
        task, y, kind = "classes", *classes(rng, n, signal)
        if rng.random() < 0.1:
            task, y, kind = "labels", (rng.random((n, int(rng.integers(1, 5)))) < 0.4).astype(int), "labels"
        options["loss"] = (
            "squared"
            if bayes
            else str(rng.choice(["hinge", "hinge", "squared_hinge", "smooth_hinge", "logistic", "logistic", "squared"]))
        )
        options["multi_class"] = str(rng.choice(["ovr", "ovr", "shared", "auto"]))
        if rng.random() < 0.15 and task == "classes":
            options["class_weight"] = "balanced"
        maker, searcher = mk.MKLClassifier, mk.MKLClassifierCV
    else:
        task, kind = "numbers", "floats"
        spread = 10.0 ** (rng.uniform(-8, 8) if rng.random() < 0.3 else 0.0)
        signal = signal / (np.abs(signal).max() + 1e-300)
        y = spread * (np.sin(3 * signal) + 0.1 * rng.normal(size=n))
        if rng.random() < 0.15:
            task, y = "targets", np.column_stack([y, rng.normal(size=n), np.zeros(n)])[:, : int(rng.integers(1, 4))]
        elif rng.random() < 0.3:
            forms = [y.tolist(), y.astype(np.float32), np.round(y * 10).astype(int), pandas_series(y), np.full(n, y[0])]
            y = forms[rng.integers(5)]
        loss = str(rng.choice(["epsilon_insensitive", "epsilon_insensitive", "squared", "squared", "huber"]))
        options["loss"] = "squared" if bayes else loss
        if options["loss"] == "epsilon_insensitive" and rng.random() < 0.4:
            options["epsilon"] = float(rng.choice([0.0, 0.01, 1.0, 100.0]))
        if rng.random() < 0.05:
            options["loss"] = losses.Huber(float(10 ** rng.uniform(-3, 3)))
            options.pop("epsilon", None)
        maker, searcher = mk.MKLRegressor, mk.MKLRegressorCV
    if search:
        regularizers = [omega, 1] if rng.random() < 0.5 else omega
        options["max_iter"] = 1000
        model = searcher(
            world.kernels, Cs=[C, 10 * C], cv=int(rng.integers(2, 4)), **options | {"regularizer": regularizers}
        )
        if rng.random() < 0.3:
            model.set_params(refit="1se")
    else:
        if bayes and omega.noise is not None:
            C = 1.0  # the noise says it
        model = maker(world.kernels, C="auto" if rng.random() < 0.3 else C, **options)
    return Plan(task, model, y, weights, settings, search, f"{model!r} y={kind} {list(weights)}")

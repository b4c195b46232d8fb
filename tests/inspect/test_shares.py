"""Shapley values of columns equal brute force over all sets of columns, and sum to the decision."""

from fractions import Fraction
from math import factorial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.inspect import feature_shares
from manykernels.kernels import (
    RBF,
    Categorical,
    Chi2,
    Constant,
    HistogramIntersection,
    KernelSpec,
    Laplacian,
    Linear,
    On,
    Polynomial,
    Views,
)
from manykernels.report import make_report


def shapley(worth):
    """The Shapley values (players, ...) of a game worth[S] for sets S as bits, by their definition."""
    P = len(worth).bit_length() - 1
    sets = np.arange(len(worth))
    size = np.array([bin(s).count("1") for s in sets])
    weight = np.array([factorial(s) * factorial(P - 1 - s) / factorial(P) if s < P else 0.0 for s in size])
    found = []
    for p in range(P):
        without = sets[sets >> p & 1 == 0]
        found.append(np.tensordot(weight[without], worth[without | 1 << p] - worth[without], 1))
    return np.array(found)


def masks(d):
    return (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(float)


def by_definition(kernel, x, Z):
    """kernel(x, z) on each set of columns alone, (2^d, support)."""
    M, dot, square, taxi = masks(len(x)), x * Z, (x - Z) ** 2, np.abs(x - Z)
    if isinstance(kernel, RBF):
        return np.exp(-kernel.gamma * M @ square.T)
    if isinstance(kernel, Laplacian):
        return np.exp(-kernel.gamma * M @ taxi.T)
    if isinstance(kernel, Polynomial):
        return (kernel.gamma * M @ dot.T + kernel.coef0) ** kernel.degree
    if isinstance(kernel, Linear):
        return M @ dot.T
    if isinstance(kernel, Chi2):
        return np.exp(-kernel.gamma * M @ (square / (x + Z)).T)
    if isinstance(kernel, HistogramIntersection):
        return M @ np.minimum(x, Z).T
    if isinstance(kernel, Constant):
        return np.full((len(M), len(Z)), kernel.value)
    first, second = by_definition(kernel.k1, x, Z), by_definition(kernel.k2, x, Z)
    return kernel.join(first, second)


def random_kernels(rng):
    g = lambda: float(rng.uniform(0.02, 0.5))  # noqa: E731
    all_kinds = [
        RBF(g()), Laplacian(g()), Linear(), Polynomial(2, g(), 0.5), Polynomial(3, g(), 1.0), Chi2(g()),
        HistogramIntersection(), RBF(g()) * Laplacian(g()), RBF(g()) * Linear(), Laplacian(g()) * Polynomial(2, g()),
        (RBF(g()) + Linear()) * Laplacian(g()), 0.5 * RBF(g()) + Linear(),
    ]  # fmt: skip
    return [all_kinds[k] for k in rng.choice(len(all_kinds), 3, replace=False)]


@pytest.mark.filterwarnings("ignore:.*nearly diagonal:UserWarning")
@pytest.mark.parametrize("seed", range(18))
def test_values_of_random_models_equal_brute_force_over_all_sets_of_twelve_columns(seed):
    rng = np.random.default_rng(seed)
    X, kernels = rng.uniform(0.1, 2.0, size=(30, 12)), random_kernels(rng)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]
    model = MKLRegressor(kernels, C=1.0, normalize=["multiplicative", "trace", None][seed % 3]).fit(X, y)
    x = rng.uniform(0.1, 2.0, size=12)
    found = feature_shares(model, x[None])
    Z, worth = X[model.support_], np.full(2**12, model.intercept_[0])
    for theta, scale, kernel in zip(model.kernel_weights_, model.kernel_scale_, kernels, strict=True):
        worth = worth + by_definition(kernel, x, Z) @ (model.dual_coef_[0] * theta * scale)
    size = np.abs(worth).max()
    np.testing.assert_allclose(found.values[0], shapley(worth), atol=1e-10 * max(size, 1), rtol=0)
    np.testing.assert_allclose(found.base[0], worth[0], atol=1e-10 * max(size, 1), rtol=0)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(x[None]), rtol=1e-10, atol=1e-10)


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": rng.normal(60, 9, n), "sex": rng.choice(["m", "f"], n), "dose": rng.normal(size=n),
        "stage": rng.choice(["I", "II", "III"], n), "bmi": rng.normal(25, 3, n),
    })  # fmt: skip
    y = (frame.age - 60) / 9 + (frame.sex == "m") + frame.dose * (frame.stage == "II") + 0.1 * rng.normal(size=n)
    return frame, y.to_numpy()


def scaled(name, kernel, columns):
    return KernelSpec(name, kernel, columns, transformer=StandardScaler())


TABLES = {
    "auto": "auto",
    "products": [
        ("by sex", On("age", RBF(), StandardScaler()) * On("sex", Categorical())),
        ("by group", On(["age", "bmi"], Laplacian(0.1)) * On(["sex", "stage"], Categorical())),
        ("by dose", On("dose", Linear()) * On(["age", "bmi"], RBF(0.01))),
    ],
    "sums": [
        ("who", Categorical(), ["sex", "stage"]), ("linear", Linear(), ["dose"]), ("age", RBF("median"), ["age"]),
        scaled("cubes", Polynomial(3), ["age", "dose", "bmi"]),
    ],
    "metric": [
        scaled("numbers", RBF(0.3, metric=[1.0, 0.5, 2.0]), ["age", "dose", "bmi"]), ("who", Categorical(), ["sex"]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kernels", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("classes", [0, 3])
def test_values_with_a_background_equal_the_decisions_of_mixed_rows(kernels, classes):
    """The oracle is decision_function alone, on rows of x and of the background with columns exchanged."""
    X, y = table()
    y = y if not classes else np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    model = (MKLClassifier if classes else MKLRegressor)(kernels, C=1.0).fit(X, y)
    f = model.decision_function if classes else lambda rows: model.predict(rows)[:, None]
    new, background = table(6, 1)[0][:2], table(4, 2)[0]
    found = feature_shares(model, new, background=background)
    values, base = (v if classes else v[..., None] for v in (found.values, found.base))
    rows = [
        background.assign(**{name: new[name].iloc[i] for name in X.columns[mask]})
        for i in range(len(new)) for mask in masks(5).astype(bool)
    ]  # fmt: skip
    worth = f(pd.concat(rows)).reshape(len(new), 32, len(background), -1).mean(axis=2)
    order = [list(X.columns).index(name) for name in found.names]
    unseen = sorted(set(range(5)) - set(order))
    for i in range(len(new)):
        expected = shapley(worth[i])
        np.testing.assert_allclose(values[i], expected[order], atol=1e-10)
        np.testing.assert_allclose(expected[unseen], 0, atol=1e-10)
        np.testing.assert_allclose(base[i], worth[i, 0], atol=1e-10)


def test_values_of_a_hundred_columns_equal_exact_rational_arithmetic():
    """The elementary symmetric polynomials of the other columns in fractions, and the quadrature in floats."""
    rng, d = np.random.default_rng(0), 100
    X = rng.normal(size=(4, d)) * np.linspace(0, 6, d)
    model = MKLRegressor([RBF(0.05)], C=1.0, normalize=None).fit(X, np.arange(4.0))
    x = rng.normal(size=d)
    found = feature_shares(model, x[None])
    expected = np.zeros(d)
    for a, z in zip(model.dual_coef_[0] * model.kernel_weights_[0], X[model.support_], strict=True):
        k = [Fraction(v) for v in np.exp(-0.05 * (x - z) ** 2).tolist()]
        whole = [Fraction(1)]
        for v in k:
            whole = [low + v * high for low, high in zip([*whole, 0], [0, *whole], strict=True)]
        for j in (0, 50, 99):
            others, last = [], Fraction(0)
            for r in range(d):  # divide by (1 + k_j s)
                last = whole[r] - k[j] * last
                others.append(last)
            sums = sum(Fraction(factorial(r) * factorial(d - 1 - r), factorial(d)) * e for r, e in enumerate(others))
            expected[j] += a * float((k[j] - 1) * sums)
    np.testing.assert_allclose(found.values[0][[0, 50, 99]], expected[[0, 50, 99]], atol=1e-13)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(x[None]), atol=1e-11)


def test_columns_of_views_and_sources_add_up_to_the_parts_of_the_kernels():
    rng = np.random.default_rng(0)
    ids = {"rna": np.arange(10, 60), "clinic": np.arange(50)}
    X = Views({"rna": rng.normal(size=(50, 4)), "clinic": table(50)[0]}, ids=ids)
    y = np.arange(len(X)) % 3
    specs = [
        ("rna, RBF", RBF(0.1), "rna", "zero"), ("rna, linear", Linear(), "rna", "zero"),
        ("who", Categorical(), ("clinic", ["sex"]), "zero"), ("dose", RBF(1.0), ("clinic", ["dose"]), "zero"),
    ]  # fmt: skip
    model = MKLClassifier(specs, C=1.0, regularizer=2).fit(X, y)
    sources = {"rna": [0, 1], "who": [2], "dose": [3]}
    found = feature_shares(model, X, background=X[12:20], sources=sources)
    assert found.names == ["rna: 0", "rna: 1", "rna: 2", "rna: 3", "clinic: sex", "clinic: dose"]
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.decision_function(X), atol=1e-10)
    parts = model.decision_parts(X)
    for q, own in enumerate(sources.values()):
        total = found.part_base[q] + found.parts[q].sum(axis=1)
        np.testing.assert_allclose(total, parts[..., own].sum(axis=-1), atol=1e-10)
    lacks = ~X.present["rna"]
    assert lacks.any() and not found.values[lacks][:, :4].any()


NUMBERS = np.round(table(80)[0][["age", "dose", "bmi"]].to_numpy())
BOTH, SPLIT = [RBF("scale"), Laplacian("scale")], [("one", Linear(), [2, 0]), ("two", RBF("scale"), [1])]
FITS = {
    "low rank": (MKLClassifier(BOTH, C=1.0, approximation="nystroem", rank=20), NUMBERS),
    "p = 1": (MKLClassifier(BOTH, C=1.0, regularizer=1), NUMBERS),
    "slack": (MKLClassifier(BOTH, C=1.0, slack=True), NUMBERS),
    "spherical": (MKLClassifier(BOTH, C=1.0, normalize="spherical"), NUMBERS),
    "covariates": (MKLClassifier(BOTH, C=1.0), NUMBERS),
    "one class": (MKLOneClass([RBF("scale"), Linear()], C=1.0), NUMBERS),
    "sparse": (MKLRegressor(SPLIT, C=1.0), csr_array(NUMBERS)),
    "explicit features": (MKLRegressor([Linear()], C=1.0, solver="coordinate"), NUMBERS - NUMBERS.mean(axis=0)),
}


@pytest.mark.parametrize("case", FITS)
def test_values_and_base_sum_to_the_decision_of_every_kind_of_fit(case):
    (model, data), (frame, y) = FITS[case], table(80)
    own = {"covariates": frame[["stage"]]} if case == "covariates" else {}
    number, few = isinstance(model, MKLRegressor), {name: value[:7] for name, value in own.items()}
    model.fit(data, y if number else y > 0.5, **own)
    found = feature_shares(model, data[:7], **few)
    f = (model.predict if number else model.decision_function)(data[:7], **few)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), f, atol=1e-9)
    np.testing.assert_allclose(found.decision, f, atol=1e-9)
    assert found.names == [f"column {k}" for k in ([2, 0, 1] if case == "sparse" else [0, 1, 2])]


def test_outputs_of_a_transformer_that_mixes_columns_have_their_own_names():
    X, y = table()
    specs = [KernelSpec("mixed", RBF(0.5), ["age", "bmi"], transformer=PCA(2)),
             KernelSpec("logs", RBF(0.5), ["age"], transformer=FunctionTransformer(np.log))]  # fmt: skip
    found = feature_shares(MKLRegressor(specs, C=1.0, regularizer=2).fit(X, y), X[:3])
    assert found.names[:2] == ["pca0 (columns age, bmi)", "pca1 (columns age, bmi)"]
    assert found.names[2:] == ["number 0 of FunctionTransformer (column age)"]


@pytest.mark.parametrize("frame", [pd.DataFrame, "polars"])
@pytest.mark.parametrize(("change", "said"), [
    (lambda X: X[["dose", "age"]], "same order"), (lambda X: X.rename(columns={"age": "q"}), "unseen at fit time"),
    (lambda X: X[["age"]], "now missing"),
])  # fmt: skip
def test_new_data_and_background_are_checked_as_those_of_predict(frame, change, said):
    frame = pytest.importorskip("polars").from_pandas if isinstance(frame, str) else frame
    X, y = table()
    X = X[["age", "dose"]]
    model = MKLRegressor([RBF(0.5)], C=1.0).fit(X, y)
    new = frame(change(X[:3]))
    for ask in (
        model.predict,
        lambda new: feature_shares(model, new),
        lambda new: feature_shares(model, X, background=new),
    ):
        with pytest.raises(ValueError, match=said):
            ask(new)
    with pytest.raises(ValueError, match=said):
        make_report(model, frame(change(X)), y)


def test_values_are_an_explanation_of_shap_where_it_is_installed():
    shap = pytest.importorskip("shap")
    X, y = table()
    found = feature_shares(MKLRegressor("auto", C=1.0).fit(X, y), X[:4])
    given = found.to_shap()
    assert isinstance(given, shap.Explanation) and given.feature_names == found.names
    np.testing.assert_array_equal(given.values, found.values)

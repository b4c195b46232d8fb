"""Input that cannot be meant ends in a ValueError that names the argument, the cause and the cure."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.model_selection import permutation_test_score

from manykernels import (
    KernelStack,
    MKLClassifier,
    MKLClassifierCV,
    MKLOneClass,
    MKLRegressor,
    MKLSurvival,
    Views,
    survival_targets,
)
from manykernels.inspect import explain_sequences, relevance
from manykernels.kernels import RBF, Linear, Polynomial, Precomputed, multi_task
from manykernels.pairs import Pairs
from manykernels.regularizers import EmpiricalBayes
from manykernels.sequences import Sequences
from manykernels.solvers import Level
from manykernels.strings import Spectrum

N = 60
OF_NUMPY = re.compile(r"np\.(str_|int64|float64|bool)")  # no message shows its types
rng = np.random.default_rng(0)
X, Y = make_classification(N, 5, random_state=0)
FRAME = pd.DataFrame(X, columns=list("abcde"), index=[f"p{k}" for k in range(N)])
KERNELS = [("a", RBF(gamma=0.1)), ("b", Linear())]
MATRICES = np.array([RBF(gamma=g)(X) for g in (0.1, 1.0)])
STACK = np.moveaxis(MATRICES, 0, 2)
DISTANCES = np.sum((X[:, None] - X) ** 2, axis=2)
DNA = ["".join(row) for row in rng.choice(list("ACGT"), (N, 30))]
TIMES = survival_targets(Y, np.exp(X[:, 0]))
TASK = np.array(["u", "v"] * (N // 2))
TEXTS = np.array(["ill", "well"], object)[Y]
CLASSIFIER = MKLClassifier(KERNELS, C=1.0).fit(X, Y)
REGRESSOR = MKLRegressor(KERNELS, C=1.0).fit(X, X[:, 0])
PRECOMPUTED = MKLClassifier("precomputed", C=1.0).fit(STACK, Y)
WORDS = MKLClassifier([Spectrum(3)], C=1.0).fit(DNA, TEXTS)
NAMED = MKLClassifier("precomputed", C=1.0).fit(KernelStack(MATRICES, names=["r", "s"]), Y)


def changed(values, index, value):
    values = values.copy()
    values[index] = value
    return values


def objects(values, value):
    """The values as objects, the fourth of which is `value`."""
    return changed(np.array(values).astype(object), 3, value)


def fit(Model=MKLClassifier, X=X, y=Y, kernels=KERNELS, *, C=1.0, fitted=None, **parameters):
    """A fit; `fitted` are further arguments of `fit`."""
    own = {} if Model is MKLOneClass else {"C": C}
    return Model(kernels, **own, **parameters).fit(X, y, **fitted or {})


def images(X):
    return X[:, :4].reshape(len(X), 2, 2)


TABLES = [  # of numbers, for each kind of model
    (changed(X, (3, 2), np.nan), "NaN"), (changed(X, (3, 2), np.inf), "infinity"),
    (pd.DataFrame(changed(X, (3, 2), np.nan)), "NaN"), (X.astype(complex), "(?i)complex"),
    (np.ma.array(X, mask=X > 2), r"masked.*filled\(np.nan\)"),
    ([[1.0, 2.0], [3.0]] * 30, "rows of different lengths"), (None, "X is None"),
    ("table.csv", r"X is one text \('table.csv'\).*read_csv"), (X[0], "(?i)reshape"), (FRAME["a"], "2-dimensional"),
    (X[:1], "two examples"), (X[:, :0], "0 feature"), (X * 1e200, "values of about .*overflow.*Rescale"),
    (images(X), r"\(60, 2, 2\).*reshape\(len\(X\), -1\).*precomputed"),
    (images(X).tolist(), r"\(60, 2, 2\).*reshape\(len\(X\), -1\)"),
    (map(list, X), r"X is a map, which can be read only once: give list\(X\)"),
]  # fmt: skip


@pytest.mark.parametrize("Model", [MKLClassifier, MKLRegressor, MKLOneClass])
@pytest.mark.parametrize("data, words", TABLES, ids=[words for _, words in TABLES])
def test_tables_that_no_kernel_of_numbers_reads(Model, data, words):
    y = Y if data is None or isinstance(data, map) else Y[: len(data)]
    with pytest.raises(ValueError, match=words):
        fit(Model, data, y)


LABELS = [
    (np.ones(N), r"one class only \(1.0\).*at least two"),
    (np.c_[Y, 1 - Y, Y + 1], r"\(60, 3\).*MultiOutputClassifier"),
    (np.c_[Y, Y, 0 * Y], r"same label .* in the columns \[2\]: drop them"), (np.zeros((N, 2, 2)), "give one target"),
    (np.where(Y, None, "a"), r"[0-9]+ missing values"), (np.where(Y, "b", None).tolist(), "missing values"),
    (np.where(Y, "b", np.array(np.nan, object)), r"[0-9]+ missing values: leave these examples out"),
    (np.where(Y, "b", np.array(np.nan, object)).tolist(), r"[0-9]+ missing values"),
    (np.where(Y, np.nan, 1.0), "missing values"), (X[:, 0], "continuous"), (Y[:50], "y has 50 entries, and X 60 rows"),
    (objects(Y, "a"), "y mixes values of type int, str: give all of one type"),
    (np.array([b"u", b"v"])[Y], "y holds bytes: give texts"), (objects(TEXTS, b"u"), "y holds bytes: give texts"),
    (np.array([{1}, {2}])[Y], "y holds values of type set: give texts or numbers"),
    ((label for label in Y), r"y is a generator, which can be read only once: give list\(y\)"),
    (TIMES, "y has the fields 'event', 'time': fit MKLSurvival to times"),
    *((objects(TEXTS, label), f"y has {label!r} in row 3, which looks like a missing value: leave this")
      for label in ("", " ", "nan", "NA", "n/a")),
    (pd.Series(objects(TEXTS, ""), FRAME.index), "y has '' in row 3, of 'p3', which looks like"),
]  # fmt: skip
NUMBERS = [
    (X[:, :2, None], r"\(60, 2, 1\): give one target"), (np.where(Y, None, 1.0), "missing"), (X[:, 0] + 1j, "complex"),
    (changed(X[:, 0], 3, np.nan), "y has 1 missing values: leave"), (changed(X[:, 0], 3, np.inf), "infinity"),
    ([object()] * N, "y holds values of type object: give numbers"), (iter(Y), "can be read only once"),
    (np.array(["a", "b"])[Y], "y has 'a' in row ., which is not a number"),
    (objects(X[:, 0], "nan"), "y has 'nan' in row 3"),
    (pd.Series(objects(X[:, 0], "high"), FRAME.index), "y has 'high' in row 3, of 'p3', which is not a number: give"),
    (FRAME.astype(object).assign(b="high"), "y has 'high' in row 0, of 'p0', which is not a number"),
    (TIMES, "y has the fields 'event', 'time'"),
]  # fmt: skip
TARGETS = [(MKLClassifier, *case) for case in LABELS] + [(MKLRegressor, *case) for case in NUMBERS]


@pytest.mark.parametrize("Model, y, words", TARGETS, ids=[words for *_, words in TARGETS])
def test_targets_that_cannot_be_learned(Model, y, words):
    with pytest.raises(ValueError, match=words) as caught:
        fit(Model, y=y)
    assert not OF_NUMPY.search(str(caught.value))


WEIGHTS = [
    (np.full(N, -1.0), "negative entry -1"), (np.zeros(N), "zero everywhere"),
    (np.ones(N - 1), "one weight per example"),
    (np.full(N, np.nan), "60 missing values"), (objects(np.ones(N), pd.NA), "sample_weight has 1 missing value"),
    (pd.Series([None] + [1] * (N - 1), dtype="Int64"), "sample_weight has 1 missing value"),
    ([None] + [1.0] * (N - 1), "sample_weight has 1 missing value"), (["1"] * N, "sample_weight holds texts"),
    (dict.fromkeys(range(N), 1.0), "sample_weight is a dict: give an array"),
    (np.ones(N) + 1j, "sample_weight holds complex numbers"),
    ((1.0 for _ in Y), "sample_weight is a generator, which can be read only once"),
]  # fmt: skip


@pytest.mark.parametrize("weight, words", WEIGHTS, ids=[words for _, words in WEIGHTS])
def test_weights_are_refused_in_fit_and_in_score(weight, words):
    with pytest.raises(ValueError, match=words):
        CLASSIFIER.score(X, Y, sample_weight=weight)
    with pytest.raises(ValueError, match=words):
        fit(fitted={"sample_weight": weight})


@pytest.mark.parametrize("model, y", [
    (MKLRegressor(KERNELS, C=1.0), X[:, 0]), (MKLRegressor(KERNELS, C=1.0, loss="quantile"), X[:, 0]),
    (MKLClassifierCV(KERNELS, Cs=[1.0], regularizer=[2], cv=3, scoring="roc_auc"), Y),
], ids=["R2", "quantile", "scoring"])  # fmt: skip
def test_every_score_refuses_the_weights_that_fit_refuses(model, y):
    model.fit(X, y)
    for weight, words in WEIGHTS[:2]:
        with pytest.raises(ValueError, match=words):
            model.score(X, y, sample_weight=weight)
    assert model.score(X, y, sample_weight=np.ones(N)) == model.score(X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("C", [1.0, "auto"])
@pytest.mark.parametrize("weight, words", [
    (np.full(N, 1e155), "C times the weight of an example is 1e.155.*divide sample_weight by its mean"),
    (np.full(N, 1e308), "C times the weight of an example is 1e.308.*divide sample_weight by its mean"),
    (changed(np.ones(N), 7, 1e155), "sample_weight of example 7 is 1e.155.*one example.*similar size"),
    (changed(np.full(N, 1e-9), 7, 1e9), "sample_weight of example 7 is 1e.09, and all others together have"),
])  # fmt: skip
def test_weights_beyond_arithmetic_are_named_and_no_column_is_blamed(weight, words, C):
    for Model, more in ((MKLClassifier, {"loss": "logistic"}), (MKLRegressor, {})):
        with pytest.raises(ValueError, match=words):
            fit(Model, C=C, fitted={"sample_weight": weight}, **more)


PARAMETERS = [  # of MKLClassifier
    (dict(C=-1), "C=-1"), (dict(C=0), "C=0"), (dict(C=np.nan), "C=nan"), (dict(C="1"), "C='1'"),
    (dict(regularizer=0.5), "0.5"), (dict(regularizer=np.nan), "nan"), (dict(regularizer="l2"), "l2"),
    (dict(tol=0), "tol=0"), (dict(max_iter=0), "max_iter=0"), (dict(max_iter=1.5), "max_iter=1.5"),
    (dict(normalize="unit"), "normalize='unit'.*multiplicative"),
    (dict(multi_class="ovo"), "multi_class='ovo'.*shared"),
    (dict(loss="nonsense"), "nonsense"), (dict(loss="huber"), "huber.*hinge"),
    (dict(loss="level_set"), "level_set.*hinge"),
    (dict(loss=np.str_("rank")), "loss='rank' is unknown: choose one of .*'hinge'"), (dict(solver=3), "3"),
    (dict(solver="magic"), "magic"), (dict(n_jobs=np.int64(0)), "n_jobs=0 is not allowed"),
    (dict(solver=Level(tau=np.float64(3.0))), "tau must be .* got 3.0"),
    (dict(memory_limit="lots"), "memory_limit='lots'.*4GB"),
    (dict(memory_limit=-5), "memory_limit=-5"), (dict(memory_limit=100), r"memory_limit.*\d"),
    (dict(class_weight="heavy"), "class_weight"),
    (dict(class_weight={0: np.nan, 1: 5}), "class_weight={0: nan, 1: 5} must"),
    (dict(class_weight={0: -1, 1: 5}), "class_weight={0: -1, 1: 5} must"),
    (dict(calibrate="isotonic"), "calibrate='isotonic' is unknown: choose one of None, 'sigmoid'"),
    (dict(C=2.0, regularizer=EmpiricalBayes(np.float64(0.1)), loss="squared"), "0.1"),
    *((dict([(name, value)]), f"{name}={value!r} is not allowed: give True or False")
      for name in ("slack", "fit_intercept", "warm_start") for value in ("no", 1, None)),
    (dict(kernels=[]), "kernels"), (dict(kernels="rbf"), "rbf"), (dict(kernels=[3]), "3"),
    (dict(kernels=[("k", RBF(gamma=0.1)), ("k", Linear())]), "'k'"), (dict(kernels=[RBF(gamma=-1.0)]), "gamma"),
    (dict(kernels=[RBF(gamma=np.str_("x"))]), "gamma='x'"), (dict(kernels={"a": RBF()}), "dict.*list\\(kernels.items"),
    (dict(kernels=[RBF]), r"RBF is a class.*RBF\(\)"), (dict(kernels=[RBF("auto")]), "gamma='auto'.*None.*scale"),
    (dict(kernels=[RBF("scale")], X=X * 1e200), "variance of X is too large.*rescale"),
    (dict(kernels=[("a", RBF(), [np.int64(9)])]), "9"),
    *((dict(kernels=[("k", RBF(gamma=1.0), columns)], X=FRAME), "nope|7|-9")
      for columns in (["nope"], "nope", [7], [-9])),
    (dict(kernels=[("flat", RBF(gamma=1.0), [5])], X=np.c_[X, np.ones(N)]), "(?i)no kernel"),
    (dict(kernels=[("a", RBF(), [0], "zero")], X=np.full((N, 1), np.nan)), "columns, which are constant or missing"),
    (dict(kernels=[Spectrum(3, start=40, stop=50)], X=DNA), "positions, which lie beyond the sequences"),
    (dict(kernels=[Spectrum(3)], X=iter(DNA)), r"read only once: give list\(X\)"),
    (dict(kernels=[RBF()], X=Sequences.encode(DNA)), "X holds sequences, which a kernel of numbers"),
    (dict(kernels="auto", X=["ACGT", "ACGA", "TTTT", "TTTA"], y=[0, 0, 1, 1]),
     r"sequences a string kernel such as Spectrum\(4\)"),
    (dict(kernels=[RBF()], X=FRAME.astype(object).assign(b=objects(X[:, 1], "high"))), r"'b' \('high' in row 3, for"),
    (dict(kernels=[RBF()], X=objects(X, ["high"] * 5)), r"columns? 0.*\('high' in row 3"),
    (dict(kernels=[("rnaa", RBF())], X=Views({"rna": X, "b": X})), "'rnaa' names no view of X"),
    (dict(kernels=[RBF()], X=Pairs.grid(X[:12], X[:5])), "X holds pairs of objects.*Pairwise"),
    (dict(kernels=multi_task([RBF()]), fitted={"task": Y}), "task 0 has one class only"),
    (dict(kernels=multi_task([RBF()]), fitted={"task": objects(TASK, pd.NA)}), "task has 1 missing value"),
    (dict(fitted={"sample_weight": 1.0 * Y}), "one class only"),
    *((dict(kernels="precomputed", X=stack), words) for stack, words in (
        (changed(STACK, (0, 1, 1), 5.0), "symmetric.*kernel 1"), (changed(STACK, (3, 2, 1), np.nan), "NaN"),
        (STACK[:, :50], "square"), (STACK[:, :, 0], "np.stack"), (STACK[:, :, :0], "(?i)no kernel"),
        (STACK[:50, :50], "y has 60 entries, and X 50 rows"), (MATRICES, r"first axis.*KernelStack\(X\)"),
        (list(MATRICES), r"first axis.*KernelStack\(X\)"), (STACK + 0j, "complex"),
        (np.full((N, N, 1), "a"), "type <U1"),
        (np.stack([X @ X.T, DISTANCES], axis=2), r"'kernel 1' of X is 0 on its diagonal and not elsewhere, .* np\.exp"),
        (KernelStack([np.exp(-DISTANCES), DISTANCES], names=["near", "far"]), "'far' of X is 0 on its diagonal"))),
]  # fmt: skip


@pytest.mark.parametrize("given, words", PARAMETERS, ids=[words for _, words in PARAMETERS])
def test_parameters_and_kernels_that_do_not_suit_the_data(given, words):
    with pytest.raises(ValueError, match=words) as caught:
        fit(**given)
    assert not OF_NUMPY.search(str(caught.value))


def calls():
    """(a call, the words of its refusal)."""
    inf = changed(STACK, (0, PRECOMPUTED.support_[0], 0), np.inf)
    bad, ages = changed(X, (3, 2), np.nan), pd.DataFrame(X[:, :2], columns=["age", "age"])
    for model in (CLASSIFIER, REGRESSOR, fit(MKLOneClass)):
        yield lambda model=model: model.predict(bad), "NaN"
    huge = fit(kernels=[Polynomial(3), Linear()])
    for name in ("decision_function", "decision_parts", "combined_kernel"):
        yield getattr(huge, name), (X * 1e200,), "overflow"
        yield getattr(PRECOMPUTED, name), (inf,), "NaN or infinity"
    yield PRECOMPUTED.predict, (STACK[:, :50],), "60"
    yield PRECOMPUTED.predict, (STACK[:, :, :1],), "kernels"
    yield PRECOMPUTED.combined_kernel, (STACK, STACK), "Y"
    yield fit(X=STACK, kernels="precomputed", normalize="spherical").predict, (STACK,), "test_diagonals"
    other = KernelStack(MATRICES[::-1], names=["s", "r"])
    yield NAMED.predict, (other,), "X has the kernels s, r, but the model was fitted on r, s: give"
    for given in (iter(DNA), np.array(DNA[0]), "ACGT"):
        yield WORDS.predict, (given,), "X is one text|read only once: give list"
    yield lambda: Spectrum(k=2**40)(["ACGT" * 3, "AACC" * 3]), "too many for Spectrum"
    yield lambda: Spectrum(2, alphabet=np.str_("x"))(DNA), "alphabet='x'"
    yield lambda: Spectrum(2)(np.str_("ACGT")), "X is one str;"
    yield lambda: explain_sequences(WORDS, DNA[:1], label=np.str_("x")), "label='x' has no output.*give 'well' or None"
    for nu in (0, 1.5, None):
        yield lambda nu=nu: fit(MKLOneClass, nu=nu), "nu="
    for more in (dict(epsilon=-1), dict(loss="hinge"), dict(loss="huber", epsilon=0.5)):
        yield lambda more=more: fit(MKLRegressor, **more), "epsilon|hinge"
    yield lambda: fit(MKLRegressor, X * 1e200, X[:, 0], [Linear()]), "overflow: rescale the columns of X"
    yield lambda: fit(MKLRegressor, loss="rank"), "loss='rank' is unknown: choose one of (?!.*'hinge').*'quantile'"
    yield lambda: fit(MKLRegressor, loss=3), "loss=3 is unknown"
    rank = "loss='rank' is unknown: choose one of 'log_time', 'cox', 'ranking', or a"
    yield lambda: fit(MKLSurvival, y=TIMES, loss="rank"), rank
    yield lambda: REGRESSOR.score(X, objects(X[:, 0], pd.NA)), "y has 1 missing value"
    yield lambda: REGRESSOR.score(X, objects(X[:, 0], "NA")), "y has 'NA' in row 3"
    yield lambda: CLASSIFIER.score(X, objects(Y, pd.NA)), "y has 1 missing value"
    covariates = (sp.csr_matrix(X[:, :1]), "give covariates.toarray"), (ages, "covariates has 2 columns called 'age'")
    for given, words in (*covariates, (X[:, :1] * 1e200, "'z0' has .e.200: rescale it")):
        yield lambda given=given: fit(fitted={"covariates": given}), words
    time = TIMES["time"]
    for own, when, words in (
        (objects(Y, pd.NA), time, "event has 1 missing value"), (Y, objects(time, pd.NA), "time has 1 missing value"),
        (Y, objects(time.astype(str), "nan"), "time has 1 missing value"), (Y, time + 1j, "time holds complex numbers"),
        (Y + 1j, time, "event holds complex numbers"),
        (Y, time > 1, "time holds truth values.*give numbers, such as days"),
        (Y, pd.Series(time > 1), "time holds truth values"),
    ):  # fmt: skip
        yield survival_targets, (own, when), words
    yield lambda: KernelStack([STACK[..., 0] + 1j]), "matrices holds complex numbers"
    yield lambda: Precomputed.table(STACK[..., 0] + 1j), "K holds complex numbers"
    masked = np.ma.array(np.arange(N), mask=np.arange(N) == 3)
    yield lambda: Views({"a": X}, ids={"a": masked}), "mask of 1 entries would be lost"
    yield lambda: Views({"a": pd.DataFrame(X)}, ids="index", examples=masked), "mask of 1 entries would be lost"
    search = MKLClassifierCV([RBF()], Cs=[1.0], regularizer=[2], cv=3)
    yield lambda: search.fit(X, Y, groups=objects(Y, "1")), "groups mixes numbers and texts"
    yield lambda: relevance(search, X, Y), "best_estimator_"
    yield lambda: MKLClassifierCV([RBF()], Cs=1).fit(X, Y), r"Cs=1 is not allowed: give their number, .* \[1\]"
    named = pd.Series(TEXTS, FRAME.index)
    yield lambda: permutation_test_score(CLASSIFIER, FRAME, named), r"y.to_numpy\(\) to match rows by position"


CALLS = [(call, rest[:-1], rest[-1]) for call, *rest in calls()]


@pytest.mark.parametrize("call, given, words", CALLS, ids=[words for *_, words in CALLS])
@pytest.mark.filterwarnings("error:.*(invalid|overflow|divide):RuntimeWarning")
def test_calls_that_cannot_be_answered(call, given, words):
    with pytest.raises(ValueError, match=words):
        call(*(given[0] if given else ()))


@pytest.mark.parametrize("device", ["torch", "cuda"])
def test_a_device_without_pytorch_is_named_as_it_was_given(device, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=f"device='{device}' needs PyTorch: install .*, or take device='cpu'"):
        fit(device=device)

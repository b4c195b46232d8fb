"""Kernels of one's own on graphs, sets or dicts go through the estimators as any other."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, load
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import RBF, Constant, Identity, Kernel, KernelList, KernelStack, Linear
from manykernels.kernels._requests import describe
from manykernels.solvers import Solver

rng = np.random.default_rng(0)
sets = [set(rng.choice(12, size=rng.integers(2, 6), replace=False).tolist()) for _ in range(60)]
y = np.array([len(s & {0, 1, 2, 3}) > 1 for s in sets]).astype(int)
dicts = [{"odd": sum(i % 2 for i in s), "size": len(s)} for s in sets]
lists = [sorted(s)[:2] for s in sets]  # NumPy would make a table of them
Z = rng.normal(size=(60, 3))


class Overlap(Kernel):
    """|x ∩ y|^power of sets, or of whatever makes one."""

    reads = "objects"
    file_tag = ("example/overlap", 1)

    def __init__(self, power=1):
        self.power = power

    def __call__(self, X, Y=None):
        return np.array([[float(len(set(a) & set(b))) ** self.power for b in (X if Y is None else Y)] for a in X])


class Size(Kernel):
    reads = "objects"
    file_tag = ("example/size", 1)

    def __call__(self, X, Y=None):
        return np.array([[1.0 / (1 + abs(len(a) - len(b))) for b in (X if Y is None else Y)] for a in X])

    def diag(self, X):
        return np.ones(len(X))


class Records(Kernel):
    reads = "objects"

    def __call__(self, X, Y=None):
        return np.exp([[-abs(a["odd"] - b["odd"]) for b in (X if Y is None else Y)] for a in X])


def equal(X, Y):
    return np.array([[float(a == b) for b in Y] for a in X])


class Graph:
    """What looks like a sequence to NumPy and is none."""

    def __init__(self, nodes):
        self.nodes = frozenset(nodes)

    def __len__(self):
        return len(self.nodes)

    def __getitem__(self, key):
        raise KeyError(key)

    def __iter__(self):
        return iter(self.nodes)


def as_array(items):
    out = np.empty(len(items), object)
    for i, item in enumerate(items):
        out[i] = item
    return out


DATA = {
    "sets": (sets, [Overlap(), Size()]),
    "an array of sets": (as_array(sets), [Overlap(), Size()]),
    "dicts": (dicts, [Records(), Records() * Records()]),
    "lists of one length": (lists, [Overlap()]),
    "graphs": ([Graph(s) for s in sets], [Overlap(), Size()]),
    "sums and products": (sets, [Overlap() + Size(), Overlap() * Size(), 2 * Overlap(power=2) + 1, Size()]),
    "beside a constant": (sets, [Overlap(), Constant(), Identity()]),
    "beside a function": (sets, [Overlap(), equal]),
}


def cut(X, rows):
    return X[rows] if isinstance(X, np.ndarray) else [X[i] for i in rows]


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_a_fit_is_that_of_the_matrices(case, normalize):
    X, kernels = DATA[case]
    kernels = [k for k in kernels if not (normalize == "spherical" and isinstance(k, Identity))]
    train, test = np.arange(40), np.arange(40, 60)
    model = MKLClassifier(kernels, tol=1e-6, normalize=normalize).fit(cut(X, train), y[train])
    assert model.n_features_in_ == 1 and model.duality_gap_ <= 1e-6
    parts = model.decision_parts(cut(X, test))
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.decision_function(cut(X, test)), atol=1e-9)
    assert model.combined_kernel(cut(X, test)).shape == (20, 20)
    assert model.score(cut(X, test), y[test]) > 0.5
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(cut(X, test)), model.predict(cut(X, test)))
    if not all(isinstance(k, Kernel) and not isinstance(k, Identity | Constant) for k in kernels):
        return
    items = as_array(list(X))
    stack = KernelStack([k(items) for k in kernels])
    same = MKLClassifier("precomputed", tol=1e-6, normalize=normalize).fit(stack[np.ix_(train, train)], y[train])
    np.testing.assert_allclose(same.objective_, model.objective_, rtol=1e-5)
    np.testing.assert_allclose(
        same.decision_function(stack[np.ix_(test, train)]), model.decision_function(cut(X, test)), atol=0.02
    )


def test_scikit_learn_cuts_lists_of_objects():
    model = MKLClassifier([Overlap(), Size()])
    assert cross_val_score(model, sets, y, cv=3).mean() > 0.7
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(as_array(sets), y)
    assert search.best_score_ > 0.7
    assert clone(model).fit(sets, y, sample_weight=np.arange(60) % 3).predict(sets[:5]).shape == (5,)


def test_all_estimators_take_objects():
    target = np.array([len(s) for s in sets], float)
    assert MKLRegressor([Size(), Overlap()], C=100).fit(sets, target).score(sets, target) > 0.9
    assert MKLOneClass([Overlap(), Size()]).fit(sets).predict(sets[:4]).shape == (4,)


def test_objects_are_a_view_beside_numbers_and_columns_of_a_frame():
    import pandas as pd

    kernels = [("z", RBF(gamma=0.3), "z"), ("s", Overlap(), "sets"), ("r", Records(), "dicts")]
    data = {"z": Z, "sets": sets, "dicts": dicts}
    model = MKLClassifier(kernels, tol=1e-6).fit(data, y)
    frame = pd.DataFrame(Z, columns=list("abc")).assign(sets=as_array(sets), dicts=as_array(dicts))
    kernels = [("z", RBF(gamma=0.3), list("abc")), ("s", Overlap(), ["sets"]), ("r", Records(), "dicts")]
    same = MKLClassifier(kernels, tol=1e-6).fit(frame, y)
    np.testing.assert_allclose(same.kernel_weights_, model.kernel_weights_, rtol=1e-4)
    few = {name: view[:9] for name, view in data.items()}
    np.testing.assert_allclose(same.decision_function(frame[:9]), model.decision_function(few), atol=1e-3)


def test_an_object_may_be_missing():
    holes = [None if i % 5 == 0 else s for i, s in enumerate(sets)]
    kernels = [("z", RBF(gamma=0.3), "z"), ("s", Overlap(), "sets", "zero")]
    model = MKLClassifier(kernels, normalize=None).fit({"z": Z, "sets": holes}, y)
    parts = model.decision_parts({"z": Z, "sets": holes})
    assert not parts[::5, 1].any() and parts[1::5, 1].any()
    assert not model.decision_parts({"z": Z, "sets": None})[:, 1].any()


def test_a_kernel_of_objects_is_called_once_for_each_pair_of_training_examples():
    calls = []

    class Counted(Overlap):
        def __call__(self, X, Y=None):
            calls.append(len(X) * len(X if Y is None else Y))
            return super().__call__(X, Y)

    MKLClassifier([Counted(), Size()], tol=1e-6).fit(sets, y)
    assert sum(calls) <= 2 * 60 * 60 + 60


@pytest.mark.parametrize("data", [sets, lists, [frozenset(s) for s in sets]], ids=["sets", "lists", "frozen sets"])
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_a_model_of_plain_objects_is_saved_and_loaded(data, normalize, tmp_path):
    model = MKLClassifier([Overlap(2), Overlap() + Size()], normalize=normalize).fit(data, y)
    model.save(tmp_path / "model.mk")
    again = load(tmp_path / "model.mk", parts=[Overlap, Size])
    np.testing.assert_array_equal(again.decision_parts(data), model.decision_parts(data))
    with pytest.raises(ValueError, match="Overlap.*no class of manykernels.*parts="):
        load(tmp_path / "model.mk", parts=[Size])


class KeptGraph(Graph):
    """One that says what it is made of."""

    file_tag = ("example/graph", 1)

    def to_state(self):
        return {"nodes": sorted(self.nodes)}

    @classmethod
    def from_state(cls, state):
        return cls(**state)


def test_objects_of_a_class_stand_in_a_file_where_it_has_a_tag(tmp_path):
    path = tmp_path / "model.mk"
    with pytest.raises(ValueError, match="Graph.* cannot be saved.*give Graph a file_tag.*, to_state"):
        MKLClassifier([Overlap()]).fit([Graph(s) for s in sets], y).save(path)
    graphs = [KeptGraph(s) for s in sets]
    model = MKLClassifier([Overlap()]).fit(graphs, y)
    model.save(path)
    again = load(path, parts=[Overlap, KeptGraph])
    np.testing.assert_array_equal(again.decision_function(graphs), model.decision_function(graphs))


def test_a_kernel_that_is_not_ours_is_not_written_to_a_file(tmp_path):
    model = MKLClassifier([Records()]).fit(dicts, y)
    with pytest.raises(ValueError, match="Records.* cannot be saved.*give Records a file_tag"):
        model.save(tmp_path / "model.mk")


def test_kernels_that_read_different_things_are_told_apart():
    with pytest.raises(ValueError, match="reads objects.*reads numeric"):
        MKLClassifier([Overlap() + RBF(gamma=1.0)]).fit(sets, y)

    class Odd(Kernel):
        reads = "tea leaves"

    with pytest.raises(ValueError, match="reads='tea leaves' of Odd must be one of"):
        MKLClassifier([Odd()]).fit(sets, y)
    with pytest.raises(ValueError, match="not numeric"):
        MKLClassifier([Linear()]).fit(dicts, y)


class Named(Kernel):
    """A kernel of numbers whose parameters are called as those of string kernels are."""

    base = "dot"

    def __init__(self, shift=1, channels=2, alphabet="abc", features=None, degree_table=None):
        self.shift = shift
        self.channels = channels
        self.alphabet = alphabet
        self.features = features
        self.degree_table = degree_table

    def form(self):
        return 1, 1.0, float(self.shift)


def test_parameters_do_not_make_a_string_kernel(tmp_path):
    """Not in its name, not in the choice of the bank, however many examples there are."""
    assert describe(Named()) == "named(alphabet=abc, channels=2, degree_table=None, features=None, shift=1)"
    kernels = KernelList.from_spec([Named(), Linear()], Z)
    assert [k.reads for k in kernels.kernels] == ["numeric"] * 2 and [k.family for k in kernels.kernels] == [
        None,
        "features",
    ]
    from manykernels.banks import choice

    model = MKLClassifier([Named(), Linear()])
    assert not choice.worth_features(kernels, 10**6)
    assert isinstance(model._make_bank(Z, None), PairwiseBank)
    with pytest.raises(ValueError, match="explicit features"):
        MKLClassifier([Named(), Linear()], solver=Solver("coordinate")).fit(Z, y)
    path = tmp_path / "model.mk"
    MKLClassifier([Linear()]).fit(Z, y).save(path)
    assert load(path).predict(Z).shape == (60,)

"""Model files that lie: every kind of model, every array and number in its file, and what becomes of changing it.

Run as a program, in a process of its own, since what goes wrong here may be a signal: it fits the models named, changes
their files one entry at a time with the checksums made good, loads them and predicts. The last line of its output is
JSON: how many changes were refused and how many harmless, and those that were neither.
"""

import faulthandler
import io
import json
import sys
import tempfile
import warnings
import zipfile
import zlib
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process.kernels import RationalQuadratic
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import manykernels
from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor
from manykernels._archive import TEXT
from manykernels.datasets import make_splice
from manykernels.kernels import (
    RBF,
    Categorical,
    Constant,
    Features,
    Identity,
    Linear,
    On,
    Polynomial,
    multi_task,
    rank_one_kernels,
)
from manykernels.pairs import Pairs, Pairwise
from manykernels.solvers import Coordinate
from manykernels.strings import (
    GappedKmer,
    Mismatch,
    Spectrum,
    WeightedDegree,
    WeightedDegreeShift,
    degree_kernels,
    position_kernels,
)

X, y = make_classification(30, 6, random_state=0)
Y = np.where(np.arange(30) % 3 == 0, 2, y)
S, LABELS = make_splice(30, length=21, positives=0.4, strength=0.6)
S = list(S)
K = [X @ X.T, (X @ X.T) ** 2]
DIAGONALS = np.array([np.diag(k) for k in K])
FEW = sparse.csr_array(np.where(np.arange(30 * 12).reshape(30, 12) % 7 == 0, np.tile(X, 2), 0.0))
LINEAR = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3, 4, 1])]
MIXED = [("some", RBF(gamma=0.3), slice(0, 3)), ("sum", RBF(gamma=1.0) + Polynomial(degree=2) * Linear())]
CALLED = [("process", RationalQuadratic()), ("function", laplacian_kernel), ("constant", Constant(2.0))]
LETTERS = np.array([["abc"[i % 3], "xy"[i * i % 7 % 2]] for i in range(30)], dtype=object)
TEXTS = [" ".join(np.array(["one", "two", "red", "fox"])[[i % 4, i % 3, i % 2]]) for i in range(30)]
SCALED = [
    ("scaled", StandardScaler(), RBF(gamma=0.3)), ("boxed", MinMaxScaler(clip=True), RBF()),
    ("projected", make_pipeline(SimpleImputer(), PCA(2)), RBF(gamma=0.3))]  # fmt: skip
RANDOM = [Features(RBFSampler(n_components=9, random_state=0)), Features(Nystroem(n_components=4, random_state=0))]
ACROSS = [On("x", RBF(gamma=0.1), StandardScaler()) * On("s", Spectrum(2)) + On("x", Linear())]
BLOCK = np.dstack(K)[:6, :6]
GRID = Pairs.grid(X[:6], X[6:11, :2])
COLUMN = [("column", RBF(gamma=0.5), [2]), ("identity", Identity())]


def stored(store, kernels, **params):
    """A model of strings with its values in that store."""
    return MKLClassifier(kernels, solver=Coordinate(), features=store, **params), S, LABELS


def strings(kernels, **params):
    return MKLClassifier(kernels, **params), S, LABELS


MODELS = {
    "precomputed": lambda: (MKLClassifier("precomputed"), np.stack(K, axis=2), y),
    "precomputed spherical": lambda: (
        MKLClassifier("precomputed", normalize="spherical"), KernelStack(K, test_diagonals=DIAGONALS), y),
    "pairwise": lambda: (MKLClassifier(MIXED[:1] + COLUMN), X, y),
    "pairwise called": lambda: (MKLClassifier(CALLED), X, y),
    "pairwise spherical": lambda: (MKLClassifier(MIXED[1:], normalize="spherical"), X, y),
    "sparse": lambda: (MKLClassifier([RBF(gamma=0.1), Linear()]), sparse.csr_array(X), y),
    "several classes": lambda: (MKLClassifier(MIXED[:1], warm_start=True), X, Y),
    "shared weights": lambda: (MKLClassifier(MIXED[:1], multi_class="shared"), X, Y),
    "regressor": lambda: (MKLRegressor([RBF(gamma=0.1), Linear()]), X, y),
    "one class": lambda: (MKLOneClass([RBF(gamma=0.1)], normalize="spherical", formulation="svdd"), X, y),
    "tasks": lambda: (MKLClassifier(multi_task([RBF(gamma=0.1), Linear()])), X, y),
    "one parameter": lambda: (MKLClassifier(multi_task([RBF(gamma=0.1)], one_parameter=True)), X, y),
    "linear": lambda: (MKLClassifier(LINEAR, solver="coordinate"), X, y),
    "linear sparse": lambda: (MKLClassifier(LINEAR, solver="coordinate"), FEW, y),
    "rank one": lambda: (MKLClassifier(rank_one_kernels(X), solver="coordinate"), X, y),
    "views": lambda: (MKLClassifier([("s", Spectrum(2), "s"), ("x", RBF(gamma=0.1), "x")]), {"s": S, "x": X}, y),
    "categories": lambda: (MKLClassifier([Categorical(), ("b", OneHotEncoder(), Linear())]), LETTERS, y),
    "transformed": lambda: (MKLClassifier(SCALED), X, y),
    "random features": lambda: (MKLClassifier(RANDOM, solver="coordinate"), X, y),
    "texts": lambda: (MKLClassifier([Features(TfidfVectorizer())]), TEXTS, y),
    "across views": lambda: (MKLClassifier(ACROSS), {"x": X, "s": S}, y),
    "pairs": lambda: (MKLClassifier(Pairwise([RBF(gamma=0.3)], [Linear(), RBF()], ["sum", "kronecker"])), GRID, y),
    "precomputed pairs": lambda: (
        MKLClassifier(Pairwise("precomputed", [RBF()]), normalize="spherical"), Pairs.grid(BLOCK, X[:5]), y),
    "degree": lambda: strings(degree_kernels(4), solver="coordinate"),
    "trie": lambda: stored("trie", degree_kernels(3)),
    "trie spherical": lambda: stored("trie", degree_kernels(3), normalize="spherical"),
    "map": lambda: stored("map", degree_kernels(3)),
    "sorted": lambda: stored("sorted", degree_kernels(3)),
    "hash": lambda: stored("hash", degree_kernels(2), memory_limit="100KB"),
    "words": lambda: strings([Spectrum(3), Spectrum((1, 2), start=2, stop=15)], solver="coordinate"),
    "words sorted": lambda: stored("sorted", [Spectrum(3), Spectrum((1, 2))], normalize="spherical"),
    "gapped": lambda: strings([GappedKmer(4, 2)], solver="coordinate"),
    "mismatch": lambda: strings([Mismatch(3, 1)], solver="coordinate"),
    "mismatch hash": lambda: stored("hash", [Mismatch(3, 1)], memory_limit="100KB"),
    "shift": lambda: strings([WeightedDegreeShift(3, 2), WeightedDegree(3)], solver="coordinate"),
    "mixture": lambda: strings([WeightedDegree(3), Spectrum(3)], solver="coordinate"),
    "walks": lambda: strings([*degree_kernels(3), *position_kernels(3, 21, block=7)]),
    "pairs of strings": lambda: strings([Spectrum(3), WeightedDegreeShift(3, 2)]),
}  # fmt: skip


def fitted(name):
    """(model, what it predicts from)."""
    model, data, target = MODELS[name]()
    if name != "pairwise" and not isinstance(model, MKLOneClass):  # one of them chooses C
        model.set_params(C=1.0)
    task = {"task": np.arange(30) % 2} if name in ("tasks", "one parameter") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data, target, **task), {"X": data, **task}


def unpack(path):
    """(text, arrays) of a file: its JSON as a dict, and {name: array}."""
    with zipfile.ZipFile(path) as file:
        arrays = {name[:-4]: np.load(file.open(name)) for name in file.namelist() if name.endswith(".npy")}
        return json.loads(file.read(TEXT)), arrays


def as_npy(array):
    """The array in NumPy's own format."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def pack(path, text, arrays):
    """Writes a file with good checksums; the text and the arrays may be bytes already."""
    arrays = {f"{name}.npy": array if isinstance(array, bytes) else as_npy(array) for name, array in arrays.items()}
    if not isinstance(text, bytes):
        text = json.dumps(text | {"checksums": {name: zlib.crc32(data) for name, data in arrays.items()}})
    with zipfile.ZipFile(path, "w") as file:
        for name, data in ({TEXT: text} | arrays).items():
            file.writestr(name, data)


def changed_arrays(arrays, thorough=False):
    """(what is changed, array number, the array instead), for every array; integers of records one field at a time."""
    for name, array in arrays.items():
        whole = list(changed_array(array, thorough))
        for field in array.dtype.names or ():
            for what, other in changed_array(array[field], thorough):
                if other.shape == array.shape and other.dtype == array[field].dtype:
                    record = array.copy()
                    record[field] = other
                    whole.append((f"{field} {what}", record))
        for what, other in whole:
            yield f"{name} {array.dtype.kind}{array.shape} {what}", name, other


def changed_array(array, thorough=False):
    """(what, another array): cut, of another dtype, and where it has integers with some of them wrong."""
    if array.ndim:
        yield "cut", array[:-1]
    integers = array.dtype.kind in "iu" and array.size > 0
    if thorough and array.ndim:
        yield "longer", np.concatenate([array, array[-1:]])
        yield "with an axis more", array[None]
    if array.dtype.names is None and (thorough or integers):
        yield "of another dtype", array.astype("i4" if array.dtype.kind == "f" else "f8")
    if not integers:
        return
    info, top = np.iinfo(array.dtype), int(array.max())
    values = {"huge": min(2**62, info.max), "max + 1": min(top + 1, info.max), "-1": max(-1, info.min)}
    places = [("max + 1", 0), ("max + 1", -1), ("-1", -1), ("huge", 0)]
    if thorough:
        values |= {"max": info.max, "min": info.min, "0": 0}
        places = [(what, at) for what in values for at in (0, array.size // 2, -1)]
    for what, at in places:
        other = array.copy()
        other.reshape(-1)[at] = values[what]
        yield f"{what} at {at}", other
    if array.ndim and len(array) > 1:
        yield "swapped", np.concatenate([array[1:2], array[:1], array[2:]])
        if thorough:
            yield "reversed", array[::-1].copy()


def leaves(node, way=(), place=()):
    """(way, place, value) of the JSON: the keys, and the same for all items of a list, with the tags of the parts."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        there = *place, "item" if isinstance(key, int) else key
        if isinstance(value, dict | list):
            tag = value.get("tag", "") if isinstance(value, dict) else ""
            yield from leaves(value, (*way, key), (*there, tag))
        else:
            yield (*way, key), there, value


def places(tree):
    """{array: its place in the JSON}."""
    return {value: place for _, place, value in leaves(tree["content"]) if place[-1] in ("of", "at")}


def changed_tree(tree, new=lambda *signature: True):
    """(what is changed, another tree): the values of the JSON, one at a time, whose change is `new` at its place."""
    text = json.dumps(tree)
    for way, place, value in leaves(tree):
        others = {bool: [not value, None], float: [-1.0, "x"], str: ["x", None], type(None): [0, "x"]}
        for k, other in enumerate(others.get(type(value)) or [value + 1, value - 1, 2**62, -1, 0, 1.5, None]):
            if other != value and new(place, type(value), k):
                again = node = json.loads(text)
                for key in way[:-1]:
                    node = node[key]
                node[way[-1]] = other
                yield f"{'.'.join(map(str, way[-6:]))}: {value!r} -> {other!r}", again


class First:
    """Whether a signature is met for the first time; of these, every so many."""

    def __init__(self, every=1):
        self.every, self.met = every, set()

    def __call__(self, *signature):
        before = len(self.met)
        self.met.add(signature)
        return len(self.met) > before and before % self.every == 0


def outcome(path, given):
    """What loading and predicting come to: "refused", "predicts", or the name of an exception that should not be."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = manykernels.load(path)
    except ValueError as error:
        return "refused" if str(path) in str(error) else f"says: {error}"
    except BaseException as error:
        return f"load: {type(error).__name__}: {error}"
    result = "predicts"
    for method in ("predict", "decision_parts", "combined_kernel"):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                getattr(model, method)(**given)
        except ValueError:
            result = "predicts" if method == "combined_kernel" else "refused later"
        except BaseException as error:
            return f"{method}: {type(error).__name__}: {error}"
    return result


def sweep(cases, seconds=60):
    """(how many came to what, those that should not): of cases (what, function that does it and says what came)."""
    faulthandler.enable()
    counts, wrong = {}, []
    for what, attempt in cases:
        print(what, file=sys.stderr, flush=True)  # the last one is the one that ended it
        faulthandler.dump_traceback_later(seconds, exit=True)
        found = attempt()
        faulthandler.cancel_dump_traceback_later()
        counts[found.split(":")[0]] = counts.get(found.split(":")[0], 0) + 1
        if found not in ("refused", "refused later", "predicts"):
            wrong.append([what, found])
    return {"counts": counts, "wrong": wrong}


def cases_of(name, path, first=None):
    """(what is changed, function that tries it) of the files of one kind of model; all, or those at places not yet met.

    `first` = (of changes of arrays, of changes of the JSON).
    """
    model, given = fitted(name)
    model.save(path)
    tree, arrays = unpack(path)
    assert outcome(path, given) == "predicts", (name, outcome(path, given))
    same, place = {key: as_npy(array) for key, array in arrays.items()}, places(tree)

    def attempt(*parts):
        pack(path, *parts)
        return outcome(path, given)

    for what, key, other in changed_arrays(arrays, thorough=first is None):
        array = arrays[key]
        if first is None or first[0](place[key], array.dtype.kind, array.ndim, what.split(") ")[-1]):
            yield f"{name} {what}", partial(attempt, tree, same | {key: other})
    for what, other in changed_tree(tree, *(first or ())[1:]):
        yield f"{name} {what}", partial(attempt, other, same)


def main(names, thorough):
    """Not thorough: no place twice, and every 13th change of the JSON at a new place."""
    first = None if thorough else (First(), First(13))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mk"
        print(json.dumps(sweep(case for name in names for case in cases_of(name, path, first))))


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if name in MODELS], "thorough" in sys.argv)

"""Real sets of several sources of --data, with kernels suited to their views; `load(name, data, quick)` is a `Case`."""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

DRUGS = ("simcomp", "tanimoto", "aers-bit", "sider")  # two of chemical structure, two of reported side effects
TARGETS = ("sw-n", "spectrum-n-k4", "go", "ppi")  # two of sequence, annotated function, interactions
GRID = (0.1, 1.0, 10.0, 100.0)
FILES = {
    "mfeat": "mv_mfeat_digits.npz",
    "webkb": "mv_webkb_course.npz",
    "prokaryotic": "mv_prokaryotic.npz",
    "nr": "kernels_drugtarget_nr.npz",
    "multiloc": "protein_subloc_multiloc.tsv.gz",
    "ic": "kernels_drugtarget_ic.npz",
    "e": "kernels_drugtarget_e.npz",
}


@dataclass
class Case:
    """A set, and how it is judged.

    `single` are {view: (X, kernels)}, `columns` all views side by side for the forest, `joined` the one kernel on them;
    `outer` are the folds of the scores, `inner` makes those in which C and p are chosen, `folds` those of relevance.
    """

    name: str
    X: Any
    y: np.ndarray
    kernels: Any
    single: dict[str, tuple[Any, Any]]
    columns: Any
    joined: Any
    outer: list
    folds: list
    inner: Any
    scoring: str = "accuracy"
    sources: dict | None = None
    note: str = ""
    options: dict = field(default_factory=dict)
    Cs: tuple = GRID
    norms: tuple = (1, 1.5, 2)
    most: int | None = None  # of the inner folds


def load(name, data, quick=False):
    maker = {"mfeat": _mfeat, "webkb": _webkb, "prokaryotic": _prokaryotic, "multiloc": _multiloc}.get(name)
    path = Path(data) / FILES[name]
    return maker(path, quick) if maker else _drug_target(name, path, quick)


def _sample(y, size, seed=0):
    """Numbers of `size` examples, classes in their shares; all where there are no more."""
    from sklearn.model_selection import train_test_split

    if size >= len(y):
        return np.arange(len(y))
    return np.sort(train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=seed)[0])


def _stratified(y, n_splits):
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(n_splits, shuffle=True, random_state=0).split(np.zeros(len(y)), y))


def _views(name, views, y, kernels, columns, joined, quick, inner=None, **more):
    """A case of views with one kernel or several each, {view: kernels}."""
    from sklearn.model_selection import StratifiedKFold

    from manykernels import Views

    X = Views(views)
    return Case(
        name, X, y, [k for own in kernels.values() for k in own], {view: (X, own) for view, own in kernels.items()},
        columns, joined, _stratified(y, 2 if quick else 10), _stratified(y, 2 if quick else 5),
        inner or StratifiedKFold(2 if quick else 3, shuffle=True, random_state=1), **more,
    )  # fmt: skip


def _mfeat(path, quick):
    from sklearn.model_selection import StratifiedShuffleSplit
    from sklearn.preprocessing import StandardScaler

    from manykernels.kernels import RBF

    file = np.load(path)
    rows = _sample(file["y"], 200 if quick else 1000)
    views = {view: file[view][rows].astype(float) for view in ("fac", "fou", "kar", "mor", "pix", "zer")}
    kernels = {view: [(view, StandardScaler(), RBF(gamma="median"), view)] for view in views}
    return _views(
        "mfeat", views, file["y"][rows], kernels, np.hstack(list(views.values())),
        [("all", StandardScaler(), RBF(gamma="median"))], quick, norms=(1, 2),
        inner=StratifiedShuffleSplit(1, test_size=0.25, random_state=1),
        note="1,000 of 2,000 digits (stratified, seed 0) in ten classes; RBF(gamma='median') on standardised columns; "
        "C and p by a quarter held out",
    )  # fmt: skip


def _webkb(path, quick):
    from scipy import sparse

    from manykernels.kernels import Cosine

    file = np.load(path)
    rows = _sample(file["y"], 200 if quick else 2000)
    names = {1: "course", 2: "other"} if np.sum(file["y"] == 1) == 230 else {2: "course", 1: "other"}
    views = {view: sparse.csr_matrix(file[view][rows]) for view in ("anchor", "content")}
    kernels = {view: [(view, Cosine(), view)] for view in views}
    return _views(
        "webkb", views, np.array([names[k] for k in file["y"][rows].tolist()]), kernels,
        sparse.hstack(list(views.values())).tocsr(), [("all", Cosine())], quick,
        note="1,051 pages, course or other; cosine kernels of tf-idf",
    )  # fmt: skip


def _prokaryotic(path, quick):
    from manykernels.kernels import RBF

    file = np.load(path)
    views = {view: file[view] for view in ("gene_repert", "proteome_comp", "text")}
    kernels = {view: [(view, RBF(gamma="median"), view)] for view in views}
    return _views(
        "prokaryotic", views, file["y"].astype(int), kernels,
        np.hstack([V / np.sqrt(V.var(axis=0).sum()) for V in views.values()]), [("all", RBF(gamma="median"))], quick,
        note="551 species in four phyla; RBF(gamma='median') on components as given, of equal variance where joined",
    )  # fmt: skip


def _multiloc(path, quick):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import StandardScaler

    from manykernels.kernels import RBF
    from manykernels.strings import Spectrum

    with gzip.open(path, "rt") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][1:]
    y, whole = (np.array([line[k] for line in lines]) for k in (0, 2))
    rows = _sample(y, 150 if quick else 1200)
    y, whole = y[rows], whole[rows].tolist()
    views = {"first 60": [s[:60] for s in whole], "last 40": [s[-40:] for s in whole], "whole": whole}
    options = dict(alphabet="protein", unknown="ignore")
    kernels = {view: [(f"{view}, {k}-mers", Spectrum(k, **options), view) for k in (1, 2, 3)] for view in views}
    words = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), use_idf=False, norm="l1", lowercase=False)
    columns = np.hstack([words.fit_transform(view).toarray() for view in views.values()])
    return _views(
        "multiloc", views, y, kernels, columns, [("all", StandardScaler(), RBF(gamma="median"))], quick,
        norms=(1, 2), options=dict(normalize="spherical"),
        note="1,200 of 5,959 proteins (stratified, seed 0) in eleven places; spectra of 1 to 3 letters of three "
        "windows; joined and forest: frequencies of letters and pairs in each window",
    )  # fmt: skip


def clipped(K):
    """Symmetric, its negative eigenvalues clipped, unit mean diagonal."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    K = (vectors * np.maximum(values, 0)) @ vectors.T
    return K / np.trace(K) * len(K)


def _drug_target(name, path, quick):
    from sklearn.preprocessing import StandardScaler

    from manykernels import KernelStack
    from manykernels.kernels import RBF
    from manykernels.pairs import Pairs, PairSplit, Pairwise

    file = np.load(path)
    drugs, targets = (
        {kind: clipped(file[f"{side}__{kind}"]) for kind in kinds if f"{side}__{kind}" in file.files}
        for side, kinds in (("drugs", DRUGS), ("proteins", TARGETS))
    )
    index = np.indices(file["Y"].T.shape).reshape(2, -1).T
    y = file["Y"].T.ravel() > 0
    if name != "nr":
        index, y = _case_control(index, y, 60 if quick else 400)

    def pairs(left, right):
        return Pairs(index, *(KernelStack(list(side.values()), list(side)) for side in (left, right)))

    X, kernels = pairs(drugs, targets), Pairwise("precomputed", "precomputed")
    single = {f"drug {k}": (pairs({k: K}, targets), kernels) for k, K in drugs.items()}
    own = {f"drug {k}": [f"{k} × {other}" for other in targets] for k in drugs}
    if len(targets) > 1:
        single |= {f"target {k}": (pairs(drugs, {k: K}), kernels) for k, K in targets.items()}
        own |= {f"target {k}": [f"{other} × {k}" for other in drugs] for k in targets}
    sides = [K[index[:, 0]] for K in drugs.values()] + [K[index[:, 1]] for K in targets.values()]
    columns = np.hstack(sides).round(9)  # what clipping leaves of 0 would be scaled to 1
    size = "all pairs" if name == "nr" else f"{y.sum()} interactions and {(~y).sum()} other pairs (seed 0)"
    return Case(
        name, X, y, kernels, single, columns, [("all", StandardScaler(), RBF(gamma="median"))],
        list(PairSplit("left", 2 if quick else 10).split(X)), list(PairSplit("left", 2 if quick else 5).split(X)),
        PairSplit("left", 3, random_state=1), "roc_auc", own,
        f"{size} of {len(file['drugs'])} drugs and {len(file['targets'])} targets, folds of new drugs, area under the "
        f"ROC curve; {len(drugs)} × {len(targets)} kernels, least squares on ±1; joined and forest: similarities to "
        "all drugs and targets as columns; C and p by a third of the drugs held out",
        dict(loss="squared"), GRID[:3], (1, 1.5), 1,
    )  # fmt: skip


def _case_control(index, y, positives):
    """Some interactions and twice as many other pairs."""
    rng = np.random.default_rng(0)
    yes, no = (np.flatnonzero(y == value) for value in (True, False))
    rows = np.sort(np.concatenate([rng.choice(yes, positives, False), rng.choice(no, 2 * positives, False)]))
    return index[rows], y[rows]

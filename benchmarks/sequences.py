"""Real sequences of --data, and lists of kernels and words that matrices could not hold.

junctions, promoters: UCI tables, cross-validated. proteins: MultiLoc, eleven places in the cell, one-vs-rest. shifts:
acceptor sites of C. elegans by words that may move. mixture: human promoters by the five kinds of kernels of Kloft et
al. (2011), section 6.3. 550 kernels, words of eight letters and gapped words on generated sites. Each case in a process
of its own; the fit includes packing and indexing.
"""

import gzip
import json
import sys
import time

import numpy as np

from .report import apart, console, peak, show, write

SYNTHETIC = ("kernels", "spectrum", "gapped")
REAL = ("promoters", "junctions", "proteins", "mixture", "elegans", "shifts")
# of two neighbouring letters: free energy of stacking (SantaLucia 1998, kcal/mol), twist (Olson et al. 1998, degrees)
ENERGY = {
    "AA": -1.00, "AT": -0.88, "TA": -0.58, "CA": -1.45, "GT": -1.44,
    "CT": -1.28, "GA": -1.30, "CG": -2.17, "GC": -2.24, "GG": -1.84,
}  # fmt: skip
TWIST = {
    "AA": 35.1, "AC": 31.5, "AG": 31.9, "AT": 29.3, "CA": 37.3,
    "CC": 32.9, "CG": 36.1, "GA": 36.3, "GC": 33.6, "TA": 37.8,
}  # fmt: skip


def main(data=None, out=".", quick=False):
    cases = SYNTHETIC + (REAL if data else ())
    rows = []
    for case in cases[:1] if quick else cases:
        console.print(f"{case} …")
        rows += apart("sequences", json.dumps(dict(case=case, data=data, quick=quick)))
    columns = ("case", "N", "kernels", "with weight", "fit, s", "gap", "support", "measure", "value", "peak, GB")
    names = ("case", "n", "M", "used", "seconds", "gap", "support", "measure", "value", "peak_GB")
    show("Sequences, gap 1e-3", columns, [tuple(row[name] for name in names) for row in rows])
    write(out, "sequences", {"rows": rows})


def table(data, name, *columns):
    """Columns of a tab separated file as lists."""
    with gzip.open(f"{data}/{name}.tsv.gz", "rt") as file:
        head, *lines = (line.rstrip("\n").split("\t") for line in file)
    return [[line[head.index(column)] for line in lines] for column in columns]


def fitted(case, model, X, y, measure, judge):
    """Fits, judges and describes."""
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    weights = np.atleast_2d(model.kernel_weights_)
    return {
        "case": case, "n": len(y), "M": weights.shape[1], "used": int((weights > 0).any(axis=0).sum()),
        "seconds": seconds, "gap": model.duality_gap_, "support": len(model.support_), "measure": measure,
        "value": float(judge(model)), "peak_GB": peak(),
        "weights": dict(zip(model.kernel_names_[:20], weights.mean(axis=0).round(4).tolist(), strict=False)),
    }  # fmt: skip


def area(X, y):
    from sklearn.metrics import roc_auc_score

    return lambda model: roc_auc_score(y, model.decision_function(X))


def precision(X, y):
    from sklearn.metrics import average_precision_score

    return lambda model: average_precision_score(y, model.decision_function(X))


def folds(case, model, X, y, measure, n_splits=10):
    """Accuracy by cross-validation, and one fit on everything."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    scores = cross_val_score(model, X, y, cv=StratifiedKFold(n_splits, shuffle=True, random_state=0))
    return fitted(case, model, X, y, measure, lambda _: scores.mean())


def kernels(data, quick):
    from manykernels import MKLClassifier
    from manykernels.datasets import make_splice
    from manykernels.strings import degree_position_kernels

    n = 1_000 if quick else 10_000
    X, y = make_splice(n, positives=0.1, random_state=0)
    new, truth = make_splice(20_000, positives=0.1, random_state=1)
    for p in (1, 2):
        model = MKLClassifier(degree_position_kernels(114, 10, 2), regularizer=p, C=1.0)
        parts = X.window(3, 117), y, "auROC", area(new.window(3, 117), truth)
        yield fitted(f"degree and position, p = {p}", model, *parts)


def words(case, kernels):
    from manykernels import MKLClassifier
    from manykernels.datasets import make_splice

    X, y = make_splice(50_000, positives=0.1, random_state=0)
    new, truth = make_splice(20_000, positives=0.1, random_state=1)
    yield fitted(case, MKLClassifier(kernels, C=1.0), X, y, "auROC", area(new, truth))


def spectrum(data, quick):
    from manykernels.strings import Spectrum

    yield from words("spectrum k = 8, two windows", [Spectrum(8, stop=62), Spectrum(8, start=60)])
    yield from words("spectra k = 3 … 8, two windows", [Spectrum(k, *w) for k in range(3, 9) for w in ((0, 62), (60,))])


def gapped(data, quick):
    from manykernels.strings import GappedKmer

    yield from words("gapped l = 10, k = 6", [GappedKmer(10, 6)])
    yield from words("gapped l = 10, k = 6, two windows", [GappedKmer(10, 6, stop=62), GappedKmer(10, 6, start=60)])


def promoters(data, quick):
    from manykernels import MKLClassifier
    from manykernels.strings import Spectrum, WeightedDegreeShift, position_kernels

    y, X = table(data, "promoter_ecoli_uci", "label", "sequence")
    X = [s.upper() for s in X]
    near = [Spectrum(3), Spectrum(4), WeightedDegreeShift(5, 3), WeightedDegreeShift(8, 6)]
    for case, kernels in (("positions", position_kernels(57, 3, 3)), ("words and shifts", near)):
        yield folds(f"promoters, {case}", MKLClassifier(kernels, C=10), X, y, "accuracy, 10 folds")


def junctions(data, quick):
    from manykernels import MKLClassifier
    from manykernels.strings import degree_kernels, position_kernels

    y, X = table(data, "splice_uci_junctions", "class", "sequence")
    for case, kernels in (("degrees", degree_kernels(8)), ("positions", position_kernels(60, 4, 3))):
        kernels = [(name, kernel.set_params(unknown="ignore")) for name, kernel in kernels]
        yield folds(f"junctions, {case}", MKLClassifier(kernels, C=1.0), X, y, "accuracy, 10 folds")


def proteins(data, quick):
    from sklearn.model_selection import train_test_split

    from manykernels import MKLClassifier
    from manykernels.strings import GappedKmer, Spectrum

    y, X = table(data, "protein_subloc_multiloc", "location", "sequence")
    X, new, y, truth = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    options = dict(alphabet="protein", unknown="ignore")
    spectra = [Spectrum(k, **options) for k in (1, 2, 3)]
    ends = [Spectrum(k, *w, **options) for k in (1, 2, 3) for w in ((0, 60), (-40, None))]
    gaps = [GappedKmer(4, 2, **options), GappedKmer(5, 3, **options)]
    for case, kernels in (("spectra", spectra), ("and both ends", spectra + ends), ("and gaps", spectra + ends + gaps)):
        model = MKLClassifier(kernels, normalize="spherical", C=10)
        yield fitted(f"proteins, {case}", model, X, y, "accuracy", lambda m: np.mean(m.predict(new) == truth))


def profile(sequences, of, width=10):
    """A property of two neighbouring letters along each sequence, in standardised means of `width` letters."""
    other = str.maketrans("ACGT", "TGCA")
    of = of | {pair.translate(other)[::-1]: value for pair, value in of.items()}
    steps = np.array([[of.get(s[i : i + 2], 0.0) for i in range(len(s) - 1)] for s in sequences])
    whole = steps.shape[1] // width * width
    means = steps[:, :whole].reshape(len(steps), -1, width).mean(axis=2)
    return (means - means.mean(axis=0)) / means.std(axis=0)


def mixture(data, quick):
    from manykernels import MKLClassifier
    from manykernels.kernels import Linear
    from manykernels.regularizers import Uniform
    from manykernels.strings import Spectrum, WeightedDegreeShift

    split, y, X = table(data, "promoter_human_300_gue_devtest", "split", "label", "sequence")
    train, y = np.array([part == "dev" for part in split]), np.array(y)
    views = {"dna": np.array(X), "energy": profile(X, ENERGY), "twist": profile(X, TWIST)}
    options = dict(unknown="ignore")
    list_of_five = [
        ("start", WeightedDegreeShift(8, 5, start=200, stop=280, **options), "dna"),
        ("promoter", Spectrum(4, stop=200, **options), "dna"),
        ("exon", Spectrum(4, start=200, **options), "dna"),
        ("twist", Linear(), "twist"),
        ("energy", Linear(), "energy"),
    ]
    part = [{name: view[rows] for name, view in views.items()} for rows in (train, ~train)]
    for p in (1, 4 / 3, 2, Uniform()):
        name = "sum" if isinstance(p, Uniform) else f"p = {p:.3g}"
        model = MKLClassifier(list_of_five, regularizer=p, C=1.0)
        yield fitted(f"mixture, {name}", model, part[0], y[train], "auROC", area(part[1], y[~train]))


def sites(data):
    """C. elegans: (X, y, X of other chromosomes, y)."""
    from .splice import load

    return load(100_000, data)


def elegans(data, quick):
    from manykernels import MKLClassifier
    from manykernels.strings import degree_kernels, position_kernels

    X, y, new, truth = sites(data)
    for case, kernels in (("degrees", degree_kernels(20)), ("positions", position_kernels(141, 20, 3))):
        yield fitted(f"C. elegans, {case}", MKLClassifier(kernels, C=1.0), X, y, "auPRC", precision(new, truth))


def shifts(data, quick):
    from manykernels import MKLClassifier
    from manykernels.strings import WeightedDegree, WeightedDegreeShift

    X, y, new, truth = sites(data)
    kernels = [WeightedDegree(20), WeightedDegreeShift(8, 3), WeightedDegreeShift(8, 8, start=20, stop=75)]
    model = MKLClassifier(kernels, C=1.0)
    yield fitted("C. elegans, with shifts", model, X, y, "auPRC", precision(new, truth))
    yield fitted("C. elegans, with shifts", model, X, y, "auROC", area(new, truth)) | {"seconds": None}


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(list(globals()[given.pop("case")](**given))))

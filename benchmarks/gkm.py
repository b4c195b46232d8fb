"""Gapped words of both strands beside linear models on counts of words: area and CPU seconds, one thread, five folds.

Sets of --data: binding sites of a transcription factor (101 letters), promoters of mouse (251) and man (300), at most
`ROWS` sequences of each, drawn with a fixed seed. LS-GKM runs too if its commands `gkmtrain` and `gkmpredict` are on
the path: gkmtrain -t 2 -l 10 -k 6 -d 3 pos.fa neg.fa model; gkmpredict test.fa model.model.txt out.
"""

import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from .cells import run_cells
from .report import console, show, write
from .sequences import table

ROWS, FOLDS = 2000, 5
SETS = {
    "binding sites": "tfbs_human_gue_tf0",
    "mouse promoters": "promoter_mouse_tata_umarov",
    "human promoters": "promoter_human_300_gue_devtest",
}
OURS = {  # arguments of GappedKmer
    "GappedKmer(10, 6)": [dict(l=10, k=6)],
    "GappedKmer(10, 6), d = 3, truncated": [dict(l=10, k=6, d=3, filter="truncated")],
    "mixture of (6, 4), (8, 6), (10, 6)": [dict(l=6, k=4), dict(l=8, k=6), dict(l=10, k=6)],
}
LINEAR = "LinearSVC on √counts, 4 to 8 letters", "logistic regression on √counts"
LSGKM = "LS-GKM -t 2 -l 10 -k 6 -d 3"


def main(data=None, out=".", quick=False, jobs=None):
    if not data:
        console.print("gkm needs --data: the sequences are real ones")
        return
    methods = [*OURS, *LINEAR] + ([LSGKM] if shutil.which("gkmtrain") else [])
    sets = list(SETS)[:1] if quick else SETS
    cells = [
        {"set": name, "method": method, "fold": fold, "rows": 100 if quick else ROWS}
        for name in sets
        for method in methods
        for fold in range(1 if quick else FOLDS)
    ]
    path = Path(out) / "gkm.jsonl"
    rows = run_cells(Measure(data), cells, path, lambda row: f"{row['set']}, {row['method']}", jobs, keep=not quick)
    lines = []
    for name in sets:
        for method in methods:
            own = [row for row in rows if (row["set"], row["method"]) == (name, method)]
            area = np.array([row["area"] for row in own])
            error = area.std(ddof=1) / np.sqrt(len(area)) if len(area) > 1 else np.nan
            fit, predict = (np.median([row[key] for row in own]) for key in ("fit", "predict"))
            lines.append((name, method, f"{area.mean():.4f} ± {error:.4f}", f"{fit:.2f}", f"{predict:.2f}"))
    columns = "set", "method", "area", "fit, CPU s", "predict, CPU s"
    show(f"Gapped words, at most {ROWS} sequences", columns, lines, "medians of five folds; both strands, C = 1")
    write(out, "gkm", {"rows": rows})


class Measure:
    """One fold of one method on one set."""

    def __init__(self, data):
        self.data = data

    def __call__(self, cell):
        from sklearn.metrics import roc_auc_score
        from sklearn.model_selection import StratifiedKFold

        texts, labels = table(self.data, SETS[cell["set"]], "sequence", "label")
        some = np.random.default_rng(0).permutation(len(texts))[: cell["rows"]]
        X, y = np.array(texts)[some], np.array(labels)[some].astype(int)
        train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))[cell["fold"]]
        run = lsgkm if cell["method"] == LSGKM else linear if cell["method"] in LINEAR else ours
        run(cell["method"], X[train][:60], y[train][:60], X[test][:5])  # compiles, or loads what was compiled
        scores, fit, predict = run(cell["method"], X[train], y[train], X[test])
        return cell | {"area": float(roc_auc_score(y[test], scores)), "fit": fit, "predict": predict}


def ours(method, X, y, new):
    from manykernels import MKLClassifier
    from manykernels.strings import GappedKmer

    kernels = [GappedKmer(**own, reverse_complement=True, unknown="ignore") for own in OURS[method]]
    model = MKLClassifier(kernels, C=1.0, normalize="spherical", n_jobs=1)
    _, fit = timed(lambda: model.fit(X, y))
    scores, predict = timed(lambda: model.decision_function(new))
    return scores, fit, predict


def linear(method, X, y, new):
    from scipy.sparse import hstack
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize
    from sklearn.svm import LinearSVC

    from manykernels.strings import Spectrum

    def features(texts):
        lengths = [Spectrum(k, reverse_complement=True, unknown="ignore") for k in range(4, 9)]
        found = hstack([normalize(kernel.features(texts).sqrt()) for kernel in lengths]).tocsr()
        found.indices, found.indptr = found.indices.astype(np.int32), found.indptr.astype(np.int32)
        return found

    model = LinearSVC() if method == LINEAR[0] else LogisticRegression(max_iter=1000)
    _, fit = timed(lambda: model.fit(features(X), y))
    scores, predict = timed(lambda: model.decision_function(features(new)))
    return scores, fit, predict


def lsgkm(method, X, y, new):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, some in (("pos", X[y == 1]), ("neg", X[y == 0]), ("new", new)):
            (place / f"{name}.fa").write_text("".join(f">{i}\n{text}\n" for i, text in enumerate(some)))
        train = ["gkmtrain", *method.split()[1:], "-T", "1", "pos.fa", "neg.fa", "model"]
        _, fit = timed(lambda: subprocess.run(train, cwd=place, check=True, capture_output=True))
        use = ["gkmpredict", "-T", "1", "new.fa", "model.model.txt", "out"]
        _, predict = timed(lambda: subprocess.run(use, cwd=place, check=True, capture_output=True))
        scores = [float(line.split("\t")[1]) for line in (place / "out").read_text().splitlines()]
    return np.array(scores), fit, predict


def timed(work):
    """(its result, CPU seconds, those of processes that it starts included)."""

    def spent():
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    begin = spent()
    return work(), spent() - begin

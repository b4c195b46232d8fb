"""Which source matters, on real sets: relevance tables, and ten-fold scores beside what one would do without learning.

Sets: `datasets/sources.py`. MKL chooses C and p within each training fold; the mean kernel (Uniform(), one-vs-rest),
each view by itself and one kernel on all columns choose C in the same way; the forest has 300 trees on all columns. The
best single view is that of the best mean over the same folds, and so a little favoured. Relevance is that of the C and
p that most folds chose, over five folds. Each set has a file of its own, OUT/sources_NAME.json; one that is there is
not run again, and a run that was cut off goes on after the last method that it had scored.
"""

import json
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from .datasets import sources
from .report import console, show, write


def main(data=None, out=".benchmarks", quick=False, only=None):
    for name in only.split(",") if only else sources.FILES:
        if name not in sources.FILES:
            raise SystemExit(f"--only {name}: the sets are {', '.join(sources.FILES)}.")
        if not (Path(data or ".") / sources.FILES[name]).exists():
            console.print(f"{sources.FILES[name]} is not in --data: left out")
            continue
        label = f"sources_{name}{'_quick' * quick}"
        path = Path(out) / f"{label}.json"
        if not path.exists():
            console.print(f"{name} …")
            partial = path.with_suffix(".partial")
            write(out, label, study(sources.load(name, data, quick), partial))
            partial.unlink(missing_ok=True)
        present(json.loads(path.read_text())["results"])


def study(case, partial):
    """Scores of every method in every fold, then relevance; with the warnings that a user would have seen."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        scores, chosen, seconds = compare(case, partial)
        (C, p), times = Counter((c, p) for c, p in chosen).most_common(1)[0]
        begin = time.perf_counter()
        found = relevance_of(case, C, p)
    seconds["relevance"] = time.perf_counter() - begin
    fraction = np.mean([len(test) / len(train) for train, test in case.outer])
    return {
        "name": case.name, "note": case.note, "n": len(case.y), "scoring": case.scoring, "overlap": float(fraction),
        "scores": scores, "chosen": chosen, "C": C, "p": p, "times_chosen": times, "seconds": seconds,
        "total_seconds": time.perf_counter() - start, "text": str(found), "table": found.table(),
        "groups": [group._asdict() for group in found.groups], "gap": found.gap,
        "warnings": Counter(f"{w.category.__name__}: {w.message}" for w in heard).most_common(),
    }  # fmt: skip


def methods(case):
    """{name: (X, estimator)}."""
    from sklearn.ensemble import RandomForestClassifier

    from manykernels import MKLClassifierCV
    from manykernels.regularizers import Uniform

    def learner(kernels, *regularizers, **options):
        return MKLClassifierCV(
            kernels, Cs=list(case.Cs), regularizer=list(regularizers), cv=case.inner, scoring=case.scoring, n_jobs=1,
            **options,
        )  # fmt: skip

    found = {"MKL": (case.X, learner(case.kernels, *case.norms, **case.options))}
    found["mean kernel"] = case.X, learner(case.kernels, Uniform(), **case.options)
    loss = {key: value for key, value in case.options.items() if key == "loss"}
    found["concatenation"] = case.columns, learner(case.joined, Uniform(), **loss)
    found["forest"] = case.columns, RandomForestClassifier(300, random_state=0, n_jobs=1)
    for view, (X, kernels) in case.single.items():
        found[f"single: {view}"] = X, learner(kernels, Uniform(), **case.options)
    return found


def compare(case, partial):
    """({method: scores of the folds}, the (C, p) that MKL chose, {method: seconds}); kept in the file `partial`."""
    from sklearn.base import clone
    from sklearn.metrics import get_scorer

    judge = get_scorer(case.scoring)
    scores, chosen, seconds = json.loads(partial.read_text()) if partial.exists() else ({}, [], {})
    for name, (X, method) in methods(case).items():
        if name in seconds:
            continue
        start, scores[name] = time.perf_counter(), []
        for train, test in case.outer:
            inner = _inner(case, train)
            model = clone(method)
            if name != "forest":
                model.set_params(cv=inner)
            model.fit(X[train], case.y[train])
            scores[name].append(float(judge(model, X[test], case.y[test])))
            if name == "MKL":
                chosen.append((float(model.C_), float(model.regularizer_)))
        seconds[name] = time.perf_counter() - start
        partial.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps([scores, chosen, seconds]))
        console.print(f"  {name}: {np.mean(scores[name]):.4f}, {seconds[name]:.0f} s", highlight=False)
    return scores, chosen, seconds


def _inner(case, train):
    """The inner folds of a training fold, the same for all methods (those of pairs know the pairs alone)."""
    X = case.X[train] if hasattr(case.X, "index") else np.zeros(len(train))
    return list(case.inner.split(X, case.y[train]))[: case.most]


def relevance_of(case, C, p):
    from manykernels import MKLClassifier
    from manykernels.inspect import relevance

    model = MKLClassifier(case.kernels, C=C, regularizer=p, n_jobs=1, **case.options)
    return relevance(
        model, case.X, case.y, cv=case.folds, scoring=None if case.scoring == "accuracy" else case.scoring,
        sources=case.sources, kernels=False,
    )  # fmt: skip


def present(result):
    """The two tables of a set."""
    rows, scores = [], {name: np.array(values) for name, values in result["scores"].items()}
    best = max((name for name in scores if name.startswith("single: ")), key=lambda name: scores[name].mean())
    for name in ("MKL", "mean kernel", "concatenation", "forest", best):
        ahead = "" if name == "MKL" else _spread(scores["MKL"] - scores[name], result["overlap"], "+")
        label = f"best {name}" if name == best else name
        rows.append((label, _spread(scores[name], result["overlap"]), ahead, f"{result['seconds'][name]:.0f}"))
    show(
        f"{result['name']}: {result['scoring']}", ("", f"{len(scores['MKL'])} folds", "MKL ahead by", "seconds"), rows,
        caption=f"{result['note']}; ± one standard error; {result['total_seconds']:.0f} s",
    )  # fmt: skip
    console.print(f"relevance, C = {result['C']:g}, p = {result['p']:g}, {result['seconds']['relevance']:.0f} s")
    console.print(result["text"], highlight=False, soft_wrap=True)
    for message, times in result["warnings"]:
        console.print(f"{times} × {message}", highlight=False)


def _spread(values, overlap, sign=""):
    """Mean ± s √(1/J + n_test/n_train), as in `inspect.relevance`."""
    se = values.std(ddof=1) * np.sqrt(1 / len(values) + overlap)
    return f"{values.mean():{sign}.3f} ± {se:.3f}"

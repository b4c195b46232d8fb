"""Table V: eight UCI sets with Gaussian and polynomial kernels on all columns and on each."""

from itertools import product

import numpy as np

from .. import _clock, _widths
from .._page import Finding, Section, Table, mean
from .._scale import TO_BE_RUN, NotKept
from .._verdict import above, below, counted, every, first, most
from . import methods

PAPER = {  # accuracy and kernels of GMKL, L1, L2, UW; seconds of GMKL, L1, L2
    "breast": (("97.2", "97.0", "96.9", "97.2"), (61.1, 18.6), (2.8, 23.0, 5.1)),
    "heart": (("83.9", "83.4", "82.8", "83.9"), (38.5, 29.7), (1.4, 3.5, 1.7)),
    "iono": (("91.8", "91.5", "92.0", "89.9"), (66.5, 38.4), (5.1, 19.2, 4.0)),
    "liver": (("67.6", "64.3", "69.7", "67.2"), (19.5, 9.2), (1.0, 1.7, 1.4)),
    "pima": (("76.9", "76.5", "76.0", "76.2"), (27.1, 18.7), (3.8, 24.8, 6.2)),
    "sonar": (("80.4", "80.4", "83.8", "81.5"), (81.1, 60.3), (12.4, 16.7, 3.9)),
    "wdbc": (("96.0", "95.3", "95.9", "93.9"), (79.7, 34.9), (6.6, 37.8, 7.8)),
    "wpbc": (("76.7", "76.6", "76.3", "76.6"), (275.4, 40.4), (1.3, 4.8, 1.6)),
}  # fmt: skip


BEFORE = {  # seconds of SimpleMKL on 16 November 2026, before it was made faster
    "breast": 12.9, "heart": 10.5, "iono": 25.8, "liver": 17.1, "pima": 11.9, "sonar": 56.9, "wdbc": 50.1, "wpbc": 22.6,
}  # fmt: skip
LEVEL, SIMPLE, LARGE = "GMKL, level, τ = 0.9", "L1, SimpleMKL", ("breast", "iono", "pima", "wdbc")
WAYS = {  # timed apart
    LEVEL: dict(solver="level", tau=0.9),
    "L2, level, τ = 0.9": dict(solver="level", tau=0.9, method="L2-MKL"),
    SIMPLE: dict(solver="simplemkl"),
}


def _slower(clock, names, way):
    """{set: seconds of SimpleMKL over those of the way}, where both ended."""
    both = {n: [clock.get((n, one), (None, ""))[0] for one in (SIMPLE, way)] for n in names}
    return {n: slow / quick for n, (slow, quick) in both.items() if slow and quick}


def _told(ratios):
    return ", ".join(f"{n} {r:.1f} ×" for n, r in ratios.items())


def cells(scale, seed, data, name):
    columns = scale.pick(5, None)
    Cs = [1.0] * 4 if scale.quick else scale.cell(tune, name=name, Cs=methods.CS, columns=columns, data=data)
    return scale.cell(one, name=name, seed=seed, Cs=Cs, columns=columns, data=data)


def run(scale, data):
    real, found, missing, clock, alone = data.folder is not None, {}, [], {}, scale.alone()
    columns = scale.pick(5, None)
    for n, (way, more) in () if scale.quick else product(_widths.available(data, PAPER), WAYS.items()):
        result, words = alone.time(clocked, name=n, columns=columns, data=data, **more)
        clock[n, way] = result and result["cpu"], words
    for name in _widths.available(data, PAPER):
        try:
            found[name] = scale.repeat(scale.pick(4, 20), lambda seed, name=name: cells(scale, seed, data, name))
        except NotKept:
            missing.append(name)
    if not found:
        raise NotKept("any set")
    others = {} if scale.quick else _others(scale, data)
    names = list(found)
    accuracy, count, seconds = (
        {n: np.array([[row[key] for row in cell] for cell in found[n]]) for n in names}
        for key in ("accuracy", "kernels", "seconds")
    )
    total = {n: _count(n, columns, data) for n in names}
    shown = {key: words or f"{seconds:.3g}" for key, (seconds, words) in clock.items()}
    slower, dense_slower = (_slower(clock, names, way) for way in (LEVEL, "L2, level, τ = 0.9"))
    more = [above(count[n][:, 0] - count[n][:, 1]) for n in names]
    few = [below(count[n][:, 0], 0.75 * total[n]) for n in names]
    gain = {n: accuracy[n][:, 0] - accuracy[n][:, 1] for n in names}
    not_worse = ["disagree" if above(g) == "disagree" else "agree" for g in gain.values()]
    best = {n: first(accuracy[n], 0) for n in names}
    rich = [n for n in ("liver", "sonar") if n in names]
    dense = [above(accuracy[n][:, 2] - accuracy[n][:, 0]) for n in rich]
    alike = [n for n in ("breast", "heart") if n in names]
    equal = {n: accuracy[n][:, 3] - accuracy[n][:, 0] for n in alike}
    pima = first(accuracy["pima"], 0) if "pima" in names else "tie"
    section = Section(
        "Table V",
        "Half of the examples for training, columns of mean 0 and variance 1, kernels as for the toys (unit "
        "trace), C by "
        "cross-validation on one run, v = 0.5; 20 repetitions, paired t-tests with 95 % confidence. GMKL is "
        "solved by the level "
        "method, ℓ1 by SimpleMKL.",
        "the eight UCI sets." if real else "wdbc as scikit-learn has it, five columns; the other sets need --data.",
        findings=[
            Finding(
                "GMKL selects more kernels than ℓ1",
                "8 of 8 sets",
                counted(more),
                every(more),
                "every set, by two standard errors",
            ),
            Finding(
                "and fewer than all",
                "8 of 8 sets",
                counted(few),
                every(few),
                "less than 75 % of the kernels on every set, by two standard errors",
            ),
            Finding(
                "GMKL is no worse than ℓ1",
                "8 of 8 sets",
                counted(not_worse)
                + ": "
                + ", ".join(f"{n} {mean(g, 1)}" for n, g in gain.items() if above(g) == "disagree"),
                every(not_worse),
                "not behind by two standard errors, on every set",
                judged=real,
                **NOT_WORSE,
            ),
            Finding(
                "GMKL is the most accurate on most sets",
                "5 of 8, two of them with UW",
                counted(best.values()),
                most(best.values()),
                "ahead of the best other by two standard errors, on more than half of the sets",
                judged=real,
                expected="disagree",
                reason=_best(accuracy),
            ),
            Finding(
                "ℓ2 is ahead of GMKL on liver and sonar",
                "2.1 and 3.4 points",
                ", ".join(f"{n} {mean(accuracy[n][:, 2] - accuracy[n][:, 0], 1)}" for n in rich),
                every(dense),
                "both, by two standard errors",
                judged=real,
                **DENSE,
            ),
            Finding(
                "GMKL is significantly better than the others on pima",
                "76.9 against 76.5",
                ", ".join(mean(accuracy["pima"][:, j], 2) for j in range(4)) if "pima" in names else "–",
                pima,
                "ahead of the best other by two standard errors",
                judged=real,
                **PIMA,
            ),
            Finding(
                "equal weights are as accurate as GMKL on breast and heart",
                "97.2 and 83.9 of both",
                ", ".join(f"{n} {mean(g, 1)}" for n, g in equal.items()) or "–",
                bool(equal) and all(above(g) == "tie" for g in equal.values()),
                "neither ahead nor behind by two standard errors",
                judged=real,
                expected="disagree",
                reason=_apart(equal),
            ),
            Finding(
                "GMKL by the level method takes much less time than ℓ1 by SimpleMKL",
                "breast, iono, pima and wdbc: 3.8 to 8.2 ×; elsewhere 1.3 to 3.7 ×",
                _told(slower) or TO_BE_RUN,
                bool(slower) and every(r > 2 for n, r in slower.items() if n in LARGE) == "agree",
                "more than twice as quick on breast, iono, pima and wdbc, τ = 0.9 as in the paper, C = 1, medians of "
                "three (quicker on more than half of all sets before)",
                judged=real and bool(slower),
                open="" if slower else TO_BE_RUN,
                timed=True,
                **QUICKER,
            ),
            Finding(
                "and ℓ2 by the level method too",
                "breast, iono, pima and wdbc: 4.0 to 4.8 ×",
                _told(dense_slower) or TO_BE_RUN,
                bool(dense_slower) and every(r > 2 for n, r in dense_slower.items() if n in LARGE) == "agree",
                "more than twice as quick on breast, iono, pima and wdbc, τ = 0.9, C = 1, medians of three (quicker "
                "before)",
                judged=real and bool(dense_slower),
                open="" if dense_slower else TO_BE_RUN,
                timed=True,
                **DENSE_TIME,
            ),
        ],
        tables=[
            Table(
                "Accuracy, % ± standard error (paper's in brackets); p of the paired t-test, GMKL against",
                ["set", *methods.NAMES, "L1", "L2", "UW"],
                [
                    [
                        n,
                        *(f"{mean(accuracy[n][:, j], 1)} ({PAPER[n][0][j]})" for j in range(4)),
                        *(f"{_widths.p_value(accuracy[n][:, 0], accuracy[n][:, j]):.3f}" for j in (1, 2, 3)),
                    ]
                    for n in names
                ],
            ),
            Table(
                "Kernels with weight (paper's in brackets)",
                ["set", "all", "GMKL", "L1-MKL", "L2-MKL"],
                [
                    [
                        n,
                        total[n],
                        *(f"{mean(count[n][:, j], 1)} ({PAPER[n][1][j]})" for j in (0, 1)),
                        mean(count[n][:, 2], 0),
                    ]
                    for n in names
                ],
            ),
            Table(
                "CPU seconds of a fit: our default solver to a gap of 1e-3 at the C chosen, on a loaded machine; "
                "level (τ = 0.9) and SimpleMKL to 0.01 at C = 1, medians of three, alone on a "
                "quiet one; the paper's; and those of SimpleMKL two days before, one run on a loaded machine",
                [
                    "set",
                    "GMKL",
                    "L1",
                    "L2",
                    *WAYS,
                    "paper: GMKL",
                    "L1",
                    "L2",
                    "before: L1, SimpleMKL",
                ],
                [
                    [
                        n,
                        *(mean(seconds[n][:, j], 2) for j in range(3)),
                        *(shown.get((n, way)) for way in WAYS),
                        *PAPER[n][2],
                        BEFORE.get(n, ""),
                    ]
                    for n in names
                ],
            ),
        ],
        deviations=[
            f"Repetitions, of 20: {', '.join(f'{n} {len(found[n])}' for n in names)}."
            + (f" Still to be run: {', '.join(missing)}." if missing else "")
            + " Classes in proportion in both parts. ionosphere without its "
            "constant column "
            "(33; the paper: 442 kernels, so that it was without too), wpbc without 4 incomplete rows, breast "
            "without 16. breast has 130 kernels here, of 9 columns; the paper has 143, of 10: it may have kept the "
            "number of "
            "the sample as a column.",
            "A relative gap of 1e-3 for all methods. Kernels with weight above 1e-6 of the largest are counted.",
            "The level method and SimpleMKL were timed apart, at C = 1 and to a gap of 0.01, not at the C chosen, with "
            "τ = 0.9 to the end, where the paper raises it to 0.99; τ = 0.5, our default, takes a fifth of the steps "
            "(see Theorems 4 and 5). Its GMKL stops after 500 steps or at a change of θ below 0.001.",
        ],
        timed=True,
        clocked=alone,
    )
    section.behind = [
        [f"SimpleMKL, {n}", f"{PAPER[n][2][1]:g}", f"{BEFORE[n]:g}", shown.get((n, SIMPLE), TO_BE_RUN)]
        for n in names
        if real and BEFORE[n] > PAPER[n][2][1]
    ]
    if others:
        section.tables.append(
            Table(
                "At other C than that of cross-validation, five repetitions, and the same ones at that",
                ["set", "method", "C", "accuracy, %", "at the C chosen"],
                [
                    [n, m, f"{C:g}", mean(values, 1), mean(accuracy[n][:5, methods.NAMES.index(m)], 1)]
                    for (n, m, C), values in others.items()
                ],
            )
        )
    return section


def _others(scale, data):
    """{(set, method, C): accuracies} at a C that was not chosen."""
    cases = [(n, "UW-MKL", C) for n in ("iono", "sonar", "wdbc") for C in (5.0, 0.5)]
    cases += [("liver", "L2-MKL", C) for C in (1.0, 10.0)]
    return scale.each(
        cases,
        lambda case: scale.repeat(
            5, lambda seed: scale.cell(at, name=case[0], method=case[1], C=case[2], seed=seed, data=data)
        ),
        least=0,
    )


def at(name, method, C, seed, data):
    """Accuracy of a method at a C."""
    from manykernels import MKLClassifier

    X, y, T, t = _posed(name, seed, None, data)
    specs = _widths.specs(X.shape[1], True)
    model = MKLClassifier(specs, regularizer=methods.regularizer(method), C=C, normalize="trace")
    return _widths.measured(model, X, y, T, t)["accuracy"]


def _count(name, columns, data):
    d = _widths.uci(data, name)[0].shape[1]
    return 13 * (1 + (d if columns is None else min(d, columns)))


def _posed(name, seed, columns, data):
    X, y = _widths.uci(data, name)
    return _widths.split(X[:, :columns], y, 0.5, seed)


def tune(name, Cs, columns, data):
    X, y, *_ = _posed(name, 0, columns, data)
    specs = _widths.specs(X.shape[1], True)
    return [_widths.choose(specs, X, y, methods.regularizer(m), Cs, normalize="trace") for m in methods.NAMES]


def one(name, seed, Cs, columns, data):
    from manykernels import MKLClassifier

    X, y, T, t = _posed(name, seed, columns, data)
    specs = _widths.specs(X.shape[1], True)
    models = [
        MKLClassifier(specs, regularizer=methods.regularizer(m), C=C, normalize="trace")
        for m, C in zip(methods.NAMES, Cs, strict=True)
    ]
    return [_widths.measured(model, X, y, T, t) for model in models]


def clocked(name, solver, columns, data, tau=None, method="GMKL"):
    """Median CPU seconds of fits at C = 1: GMKL or ℓ2 by level, ℓ1 by simplemkl, to a gap of 0.01; and their spread."""
    import warnings

    from manykernels import MKLClassifier
    from manykernels.solvers import Level

    X, y, *_ = _posed(name, 0, columns, data)
    omega = methods.regularizer(method if solver == "level" else "L1-MKL")
    way = solver if tau is None else Level(tau=tau)
    model = MKLClassifier(
        _widths.specs(X.shape[1], True), regularizer=omega, normalize="trace", tol=0.01, solver=way, C=1.0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:50], y[:50])  # loads what is compiled
        runs = _clock.clocked(lambda: model.fit(X, y))
    return {"cpu": _clock.median(runs)[0], "runs": runs[1:] or runs, "spread": _clock.spread(runs)}


QUICKER = {
    "expected": "disagree",
    "reason": "Of the four it is more than twice as quick on wdbc alone. Our SimpleMKL starts each support vector "
    "machine from the one before; and the level method takes five times as many steps with the τ of the paper as with "
    "ours, 0.5.",
}
DENSE_TIME = {"expected": "disagree", "reason": "As for GMKL; on breast and pima SimpleMKL is a little quicker."}
NOT_WORSE = {"expected": "disagree", "reason": "ℓ1 is ahead on the sets that are named; on the others it is not."}
PIMA = {"expected": "tie", "reason": "ℓ1 is as good. Over ℓ2 GMKL is ahead."}
DENSE = {
    "expected": "tie",
    "reason": "True of sonar. On liver ℓ2 is not ahead, at a C of 1 and of 10 neither (see the last table).",
}


def _best(accuracy):
    """What is known of the best on most sets."""
    small = [n for n, a in accuracy.items() if _widths.p_value(a[:, 0], a[:, 1]) < 0.05]
    equal = [n for n, a in accuracy.items() if a.mean(axis=0).argmax() == 3]
    return (
        f"Differences are small: of GMKL and ℓ1 those on {' and '.join(small) or 'no set'} alone have p < 0.05. Equal "
        f"weights have the highest mean on {', '.join(equal) or 'no set'}. The paper's for iono and wdbc, 89.9 and "
        "93.9 %, are near what a C of 0.5 gives (see the last table); its grid of C is not given, and its traces of 1 "
        "divide C by the number of examples."
    )


def _apart(equal):
    """Where equal weights and GMKL differ."""
    words = {"agree": "ahead", "disagree": "behind"}
    told = [f"{words[v]} on {n}, by {mean(g * np.sign(g.mean()), 1)} points" for n, g in equal.items()
            if (v := above(g)) in words]  # fmt: skip
    return f"Equal weights are {' and '.join(told)}." if told else "No difference is seen."

"""Table V: eight UCI sets with Gaussian and polynomial kernels on all columns and on each."""

from itertools import product

import numpy as np

from .. import _clock, _widths
from .._data import tables
from .._page import Finding, Section, Table, gathered, listed, mean, means
from .._scale import TO_BE_RUN
from .._verdict import above, below, counted, every, first
from . import methods

PAPER = tables(__name__)["paper"]
LEVEL, SIMPLE, LARGE = "GMKL, level, τ = 0.9", "L1, SimpleMKL", ("breast", "iono", "pima", "wdbc")
MANY = ("breast", "pima", "wdbc")  # examples
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
    return listed("{} {:.1f} ×", ratios)


def cells(scale, seed, data, name):
    columns = scale.pick(5, None)
    Cs = [1.0] * 4 if scale.quick else scale.cell(tune, name=name, Cs=methods.CS, columns=columns, data=data)
    return scale.cell(one, name=name, seed=seed, Cs=Cs, columns=columns, data=data)


def run(scale, data):
    real, clock, alone, known = data.folder is not None, {}, scale.alone(), _widths.available(data, PAPER)
    columns = scale.pick(5, None)
    for n, (way, more) in () if scale.quick else product(known, WAYS.items()):
        result, words = alone.time(clocked, name=n, columns=columns, data=data, **more)
        clock[n, way] = result and result["cpu"], words
    found, missing = scale.there(
        known, lambda name: scale.repeat(scale.pick(4, 20), lambda seed: cells(scale, seed, data, name))
    )
    others = {} if scale.quick else _others(scale, data)
    names = list(found)
    accuracy, count, seconds = (
        {n: gathered(found[n], key) for n in names} for key in ("accuracy", "kernels", "seconds")
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
    dense = {n: first(accuracy[n], 2) for n in rich}
    named = [n for n in PAPER if n in names and float(PAPER[n]["accuracy"][0]) == max(map(float, PAPER[n]["accuracy"]))]
    behind = ["disagree" if best[n] == "disagree" else "agree" for n in named]
    over = [n for n in ("liver", "wdbc") if n in names]
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
                + listed("{} {}", means({n: g for n, g in gain.items() if above(g) == "disagree"}, 1)),
                every(not_worse),
                "not behind by two standard errors, on every set",
                judged=real,
                **NOT_WORSE,
            ),
            Finding(
                "GMKL is the most accurate on breast, heart, pima, wdbc and wpbc",
                "5 of 5, breast and heart with UW",
                counted(behind),
                every(behind),
                "not behind the best other by two standard errors, on every one of the five",
                judged=real,
                expected="disagree",
                reason=_best(accuracy, named),
            ),
            Finding(
                "GMKL is more accurate than ℓ1 on liver and wdbc",
                "67.6 against 64.3, 96.0 against 95.3",
                listed("{} {}", means({n: gain[n] for n in over}, 1)),
                every(above(gain[n]) for n in over),
                "ahead on both, by two standard errors",
                judged=real,
                expected="tie",
                reason="; ".join(f"{n}: {methods.word(gain[n])}" for n in over) + ".",
            ),
            Finding(
                "ℓ2 is significantly the most accurate on liver and sonar",
                "by 2.1 and 2.3 points",
                counted(dense.values()),
                every(dense.values()),
                "ahead of the best other on both, by two standard errors",
                judged=real,
                expected="disagree",
                reason="; ".join(f"{n}: {_beside(accuracy[n], 2)}" for n in rich)
                + ". On liver ℓ2 is not ahead at a C of 1 and of 10 either (see the last table).",
            ),
            Finding(
                "GMKL is significantly better than the others on pima",
                "76.9 against 76.5",
                ", ".join(means(accuracy["pima"], 2)) if "pima" in names else "–",
                pima,
                "ahead of the best other by two standard errors",
                judged=real,
                expected="tie",
                reason=f"{_beside(accuracy['pima'], 0)}." if "pima" in names else "–",
            ),
            Finding(
                "equal weights are as accurate as GMKL on breast and heart",
                "97.2 and 83.9 of both",
                listed("{} {}", means(equal, 1)) or "–",
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
                expected="disagree",
                reason=_quicker(slower)
                + " Our SimpleMKL starts each support vector machine from the one before; and the level method takes "
                "many more steps with the τ of the paper than with ours, 0.5 (see Theorems 4 and 5).",
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
                expected="disagree",
                reason=_quicker(dense_slower),
            ),
        ],
        tables=[
            Table(
                "Accuracy, % ± standard error (paper's in brackets); p of the paired t-test, GMKL against",
                ["set", *methods.NAMES, "L1", "L2", "UW"],
                [
                    [
                        n,
                        *map("{} ({})".format, means(accuracy[n], 1), PAPER[n]["accuracy"]),
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
                        *map("{} ({})".format, means(count[n], 1), PAPER[n]["kernels"]),
                        mean(count[n][:, 2], 0),
                    ]
                    for n in names
                ],
            ),
            Table(
                "CPU seconds of a fit: our default solver to a gap of 1e-3 at the C chosen, on a loaded machine; "
                "level (τ = 0.9) and SimpleMKL to 0.01 at C = 1, medians of three, alone on a "
                "quiet one; the paper's; and those of SimpleMKL on 16 November 2026, one run on a loaded machine",
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
                        *means(seconds[n][:, :3], 2),
                        *(shown.get((n, way)) for way in WAYS),
                        *PAPER[n]["seconds"],
                        PAPER[n]["before"],
                    ]
                    for n in names
                ],
            ),
        ],
        deviations=[
            f"Repetitions, of 20: {listed('{} {}', {n: len(cells) for n, cells in found.items()})}."
            + (f" Still to be run: {', '.join(missing)}." if missing else "")
            + " Classes in proportion in both parts. wpbc without 4 incomplete rows (the paper has all 198); breast "
            "without 16 and ionosphere without its constant column, as there (683 examples, 442 kernels). breast has "
            "130 kernels here, of 9 columns; the paper has 143, of 10: it may have kept the number of the sample as a "
            "column.",
            "A relative gap of 1e-3 for all methods. Kernels with weight above 1e-6 of the largest are counted.",
            "The level method and SimpleMKL were timed apart, at C = 1 and to a gap of 0.01, not at the C chosen, with "
            "τ = 0.9 to the end, where the paper raises it to 0.99; τ = 0.5, our default, takes fewer steps "
            "(see Theorems 4 and 5). Its GMKL stops after 500 steps or at a change of θ below 0.001.",
        ],
        remarks=f"v is 0.5 throughout. On iono that is, against v = 0, which is ℓ2: "
        f"{methods.word(accuracy['iono'][:, 0] - accuracy['iono'][:, 2])}. {_larger(clock, names, data)}"
        if "iono" in names
        else "",
        timed=True,
        clocked=alone,
    )
    section.behind = [
        [f"SimpleMKL, {n}", f"{theirs:g}", f"{PAPER[n]['before']:g}", shown.get((n, SIMPLE), TO_BE_RUN)]
        for n in names
        if real and PAPER[n]["before"] > (theirs := PAPER[n]["seconds"][1])
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


NOT_WORSE = {"expected": "disagree", "reason": "ℓ1 is ahead on the sets that are named; on the others it is not."}


def _beside(accuracy, j):
    """A method beside each of the others."""
    others = [k for k in range(4) if k != j]
    told = "; ".join(f"{methods.NAMES[k]} {methods.word(accuracy[:, j] - accuracy[:, k])}" for k in others)
    return f"{methods.NAMES[j]} against {told}"


def _quicker(ratios):
    quick, slow = (", ".join(n for n in LARGE if r(ratios.get(n, 1.5))) for r in (lambda x: x > 2, lambda x: x < 1))
    return (
        f"Of the four it is more than twice as quick on {quick or 'none'}"
        + f", and slower on {slow}" * bool(slow)
        + "."
    )


def _larger(clock, names, data):
    """Of the larger sets: whether SimpleMKL takes more time than on all sets of fewer examples."""
    size = {n: len(_widths.uci(data, n)[1]) for n in names}
    seconds = {n: clock[n, SIMPLE][0] for n in names if clock.get((n, SIMPLE), (None,))[0]}
    told = {n: seconds[n] > max(s for m, s in seconds.items() if size[m] < min(size[k] for k in MANY))
            for n in MANY if n in seconds}  # fmt: skip
    true, false = (", ".join(n for n, so in told.items() if so == word) or "none" for word in (True, False))
    return f"SimpleMKL takes more time than on every smaller set: so on {true}, not on {false}." if told else ""


def _best(accuracy, named):
    """What is known of the best on the sets where the paper has GMKL as the best."""
    small = [n for n, a in accuracy.items() if _widths.p_value(a[:, 0], a[:, 1]) < 0.05]
    equal = [n for n, a in accuracy.items() if a.mean(axis=0).argmax() == 3]
    last = [n for n in named if first(accuracy[n], 0) == "disagree"]
    return (
        f"Behind the best other on {', '.join(last) or 'none'}. Differences are small: of GMKL and ℓ1 those on "
        f"{', '.join(small) or 'no set'} alone have p < 0.05. Equal weights have the highest mean on "
        f"{', '.join(equal) or 'no set'}. The paper's for iono and wdbc, 89.9 and 93.9 %, are near what a C of 0.5 "
        "gives (see the last table); its grid of C is not given, and its traces of 1 divide C by the number of "
        "examples."
    )


def _apart(equal):
    """Where equal weights and GMKL differ."""
    words = {"agree": "ahead", "disagree": "behind"}
    told = [f"{words[v]} on {n}, by {mean(g * np.sign(g.mean()), 1)} points" for n, g in equal.items()
            if (v := above(g)) in words]  # fmt: skip
    return f"Equal weights are {' and '.join(told)}." if told else "No difference is seen."

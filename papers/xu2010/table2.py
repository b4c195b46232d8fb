"""Table 2: UCI sets, thirteen kernels on every single feature."""

import numpy as np

from .. import _widths
from .._data import tables
from .._page import Finding, Section, Table, gathered, listed, mean, means
from .._verdict import above, below, counted, every, last
from . import methods

CS = 10.0 ** np.arange(-2, 4)
DRAWS, KEYS = 5, ("accuracy", "kernels")  # that are timed; of the others what is read
OTHER = {
    "pima": (0.01, 0.1, 1.0, 10.0),
    "wpbc": (0.1, 1.0),
}  # where the C that SMKL took is far from those of the others
PAPER = tables(__name__)["paper"]


def run(scale, data):
    full = not scale.quick
    real = data.folder is not None
    found, missing = drawn(scale, data)
    columns = scale.pick(6, None)
    names = list(found)
    enough = min(len(cells) for _, cells in found.values()) >= _widths.ENOUGH
    accuracy, kernels = ({name: gathered(cells, key) for name, (_, cells) in found.items()} for key in KEYS)
    smooth = [above(a[:, 2] - a[:, 0]) for a in accuracy.values()]
    dense = [above(a[:, 2] - a[:, 1]) for a in accuracy.values()]
    worst = [last(a, 0) for a in accuracy.values()]
    others, alone = {} if scale.quick else _others(scale, data, names), scale.alone()
    clocked = {n: cells if scale.quick else _timed(alone, n, Cs, columns, data) for n, (Cs, cells) in found.items()}
    seconds = {n: gathered(cells, "seconds") for n, cells in clocked.items()}
    dear = {name: s[:, 1].mean() / s[:, 0].mean() for name, s in seconds.items()}
    few = {name: k[:, 0].mean() for name, k in kernels.items()}
    section = Section(
        "Table 2",
        "20 % of the examples for training, columns of mean 0 and variance 1; Gaussian kernels of widths 2^−3, "
        "…, 2^6 and "
        "polynomials of degree 1 to 3 on every single feature; C by cross-validation; 20 repetitions.",
        "the UCI sets." if real else "wdbc as scikit-learn has it, six columns; the other sets need --data.",
        findings=[
            Finding(
                "smooth MKL is significantly more accurate than ℓ1",
                _told(0),
                f"{counted(smooth)}: {_points(accuracy, 0)}",
                every(smooth),
                "on every set, by two standard errors (on more than half of them before)",
                judged=full and enough,
                expected="disagree",
                reason=_pima(found),
            ),
            Finding(
                "and than ℓ2",
                _told(1),
                f"{counted(dense)}: {_points(accuracy, 1)}",
                every(dense),
                "on every set, by two standard errors (on more than half of them before)",
                judged=full and enough,
                **DENSE,
            ),
            Finding(
                "ℓ1 achieves the worst",
                "7 of 7 means; no test is given",
                counted(worst),
                every(worst),
                "on every set, by two standard errors (on more than half of them before)",
                judged=full and enough,
                expected="disagree",
                reason=_lowest(accuracy),
            ),
            Finding(
                "ℓ1 selects few kernels",
                "26 of 429 for iono",
                ", ".join(f"{k:.0f} of {_count(n, columns, data)} for {n}" for n, k in few.items()),
                every(below(k[:, 0], 0.1 * _count(n, columns, data)) for n, k in kernels.items()),
                "less than 10 % on every set, by two standard errors: 26 of 429 are 6 %",
                judged=full,
            ),
            Finding(
                "ℓ2 is very time consuming on all sets",
                "very; no numbers",
                listed("{} {:.1f} × ℓ1", dear),
                all(r > 10 for r in dear.values()),
                "more than 10 × ℓ1 on every set, at the C chosen for each",
                judged=False,
                timed=True,
                open=methods.SOLVERS,
            ),
        ],
        tables=[
            Table(
                "Accuracy, %, ± standard error (the paper gives standard deviations)",
                ["set", *methods.NAMES, "paper: L1", "L2", "SMKL", "p, SMKL against L1", "against L2"],
                [
                    [
                        name,
                        *means(a, 1),
                        *PAPER[name],
                        *(f"{_widths.p_value(a[:, 2], a[:, j]):.3f}" for j in (0, 1)),
                    ]
                    for name, a in accuracy.items()
                ],
            ),
            Table(
                "Kernels with weight, and the C that was chosen",
                ["set", "kernels", *methods.NAMES, "repetitions", "C"],
                [
                    [
                        name,
                        _count(name, columns, data),
                        *(f"{k:.0f}" for k in kernels[name].mean(axis=0)),
                        len(kernels[name]),
                        ", ".join(f"{C:g}" for C in found[name][0]),
                    ]
                    for name in names
                ],
            ),
        ],
        deviations=[
            "C is chosen in five folds of the first repetition and kept. Classes in proportion in both parts."
            + (f" Still to be run: {', '.join(missing)}." if missing else ""),
            "breast has 683 complete rows (the paper: 300) and 9 columns as there, 117 kernels; wdbc 30 columns (the "
            "paper "
            "prints 13), wpbc 194 complete rows (198). The print has wdbc twice in its Tables 1 and 2; the second, "
            "of 33 "
            "columns and 198 rows, is wpbc.",
            "λ as for Figure 1, with the largest eigenvalue of all kernels. Kernels are not normalised: the paper "
            "normalises the columns only. Relative gap 1e-3 (the paper: 0.01 or 500 steps).",
        ],
        timed=True,
        clocked=alone,
    )
    if others:
        section.tables.append(
            Table(
                "SMKL at other C than that of cross-validation, the same draws: accuracy, % ± standard error, and by "
                "how much it is ahead",
                ["set", "C", "SMKL", "ahead of L1-MKL", "of L2-MKL", "of SMKL at its C"],
                [
                    [name, f"{C:g}", mean(values, 1), *means(values[:, None] - accuracy[name][: len(values)], 1)]
                    for (name, C), values in others.items()
                ],
            )
        )  # fmt: skip
    return section


def drawn(scale, data):
    """({set: (the C of each method, the draws)}, the sets that are missing)."""
    times, columns = scale.pick(6, 20), scale.pick(6, None)

    def both(name):
        chosen = [1.0] * 3 if scale.quick else scale.cell(tune, name=name, Cs=CS, columns=columns, data=data)
        given = dict(name=name, Cs=chosen, columns=columns, data=data)
        return chosen, scale.repeat(times, lambda seed: scale.cell(one, seed=seed, **given))

    return scale.there(_widths.available(data, PAPER), both)


def gains(scale, data):
    """{set: by how much SMKL is ahead of ℓ1 in each draw}; {} if one is missing."""
    found, missing = drawn(scale, data)
    given = {name: gathered(cells, "accuracy") for name, (_, cells) in found.items()}
    return {} if missing else {name: a[:, 2] - a[:, 0] for name, a in given.items()}


def theirs(paper, j):
    """By how much the last method of a table of the print is ahead of method j, set by set."""
    return [round(float(row[-1].split()[0]) - float(row[j].split()[0]), 1) for row in paper.values()]


def _told(j):
    return f"7 of 7 means, by {min(theirs(PAPER, j)):g} to {max(theirs(PAPER, j)):g} points; no test is given"


def _others(scale, data, names):
    """{(set, C): accuracies of SMKL at a C that was not chosen}."""
    cases = [(name, C) for name, Cs in OTHER.items() if name in names for C in Cs]
    found = scale.each(
        cases,
        lambda case: scale.repeat(
            10, lambda seed: scale.cell(at, name=case[0], C=case[1], seed=seed, data=data), least=3
        ),
        least=0,
    )
    return {case: np.array(values) for case, values in found.items()}


def at(name, C, seed, data):
    """Accuracy of SMKL at a C."""
    from manykernels import MKLClassifier

    X, y, T, t = _posed(name, seed, None, data)
    specs = _widths.specs(X.shape[1], False)
    omega = methods.regularizer("SMKL", len(y), C, len(specs), _largest(X))
    return _widths.measured(MKLClassifier(specs, regularizer=omega, C=C, normalize=None), X, y, T, t)["accuracy"]


def _points(accuracy, j):
    """By how much SMKL is ahead of method j, set by set."""
    return listed("{} {}", {name: mean(a[:, 2] - a[:, j], 1) for name, a in accuracy.items()})


def _count(name, columns, data):
    d = _widths.uci(data, name)[0].shape[1]
    return 13 * (d if columns is None else min(d, columns))


def _posed(name, seed, columns, data):
    X, y = _widths.uci(data, name)
    return _widths.split(X[:, :columns], y, 0.2, seed)


def _largest(X):
    kernels = [spec[1](X[:, spec[2]]) for spec in _widths.specs(X.shape[1], False)]
    return methods.largest_eigenvalue(kernels)


def tune(name, Cs, columns, data):
    """The C of each method, in the first repetition."""
    X, y, *_ = _posed(name, 0, columns, data)
    specs, chosen = _widths.specs(X.shape[1], False), []
    for method in methods.NAMES:
        if method != "SMKL":
            omega = methods.regularizer(method, 0, 0, 0, 0)
            chosen.append(_widths.choose(specs, X, y, omega, Cs, normalize=None))
            continue
        from sklearn.model_selection import StratifiedKFold, cross_val_score

        from manykernels import MKLClassifier

        folds, largest, scores = StratifiedKFold(5, shuffle=True, random_state=0), _largest(X), []
        for C in Cs:  # λ goes with C
            omega = methods.regularizer(method, 0.8 * len(y), C, len(specs), 0.8 * largest)
            scores.append(cross_val_score(MKLClassifier(specs, regularizer=omega, C=C, normalize=None), X, y, cv=folds))
        chosen.append(methods.best_C(np.transpose(scores), Cs))
    return chosen


def _timed(alone, name, Cs, columns, data):
    given = dict(name=name, Cs=Cs, columns=columns, data=data, apart=True)
    return alone.repeat(DRAWS, lambda seed: alone.cell(again, seed=seed, **given))


def again(name, seed, Cs, columns, data):
    """`one` for the second time, when all is compiled."""
    one(name, seed, Cs, columns, data)
    return one(name, seed, Cs, columns, data)


def one(name, seed, Cs, columns, data):
    from manykernels import MKLClassifier

    X, y, T, t = _posed(name, seed, columns, data)
    specs, largest, result = _widths.specs(X.shape[1], False), _largest(X), []
    for method, C in zip(methods.NAMES, Cs, strict=True):
        omega = methods.regularizer(method, len(y), C, len(specs), largest)
        result.append(_widths.measured(MKLClassifier(specs, regularizer=omega, C=C, normalize=None), X, y, T, t))
    return result


DENSE = {
    "expected": "disagree",
    "reason": "ℓ2 is ahead on pima and heart. That SMKL is ahead on more than half of the sets hangs on wpbc: there it "
    "takes the smallest C, 0.01, where the others take 1 and 0.1, and predicts the larger class for 99 % of the test "
    "examples (in three draws). Always to predict it gives 76.3 %, more than any of the three methods. At C = 0.1 SMKL "
    "is ahead there as well (see the last table).",
}


def _pima(found):
    """Why SMKL is behind on pima."""
    if "pima" not in found:
        return "See pima."
    sparse, _, own = found["pima"][0]
    return (
        f"On pima cross-validation on the first draw took C = {own:g} for SMKL and {sparse:g} for ℓ1; at C = 1 SMKL is "
        "level with both (see the last table)."
    )


def _lowest(accuracy):
    """Where another method than ℓ1 has the lowest mean."""
    others = {n: methods.NAMES[a.mean(axis=0).argmin()] for n, a in accuracy.items() if a.mean(axis=0).argmin()}
    return f"The lowest mean has {listed('{1} on {0}', others, ' and ')}."

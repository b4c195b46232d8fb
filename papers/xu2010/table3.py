"""Table 3: text with a kernel for every word."""

import json
import lzma
import warnings

import numpy as np

from .. import _widths
from .._data import tables
from .._page import Finding, Section, Table, gathered, listed, mean, means
from .._scale import TO_BE_RUN
from .._verdict import above, counted, every, unpaired
from . import methods, table2

CS = 10.0 ** np.arange(-2, 3)
WHOLE = {"text4": {"whole": True}, "text5": {"whole": True}}  # with the test part
PLAIN = (1.0, 100.0)  # C of the linear machine; divided by the number of words where these have variance 1
WIDER = 10.0 ** np.arange(-5, 3)
OHSUMED, NEWS = "text_ohsumed23_1991.jsonl.xz", "text_20newsgroups_rec4.jsonl.gz"
TASKS = {
    "text1": (OHSUMED, "C01", "C02"), "text2": (OHSUMED, "C05", "C06"), "text3": (OHSUMED, "C12", "C13"),
    "text4": (NEWS, "rec.autos", "rec.motorcycles"), "text5": (NEWS, "rec.sport.baseball", "rec.sport.hockey"),
}  # fmt: skip
PAPER = tables(__name__)["paper"]


def run(scale, data):
    real = data.find(OHSUMED) is not None and data.find(NEWS) is not None
    names = list(PAPER) if real else ["generated"]
    Cs, times = scale.pick(CS[1:3], CS), scale.pick(4, 20)

    def cell(name, seed, Cs):
        return scale.cell(one, name=name, seed=seed, Cs=Cs, data=data, **WHOLE.get(name, {}))

    found, missing = scale.there(names, lambda n: scale.repeat(times, lambda seed: cell(n, seed, Cs)))
    enough = min(map(len, found.values())) >= _widths.ENOUGH
    accuracy, words = ({n: gathered(cells, key) for n, cells in found.items()} for key in ("accuracy", "kernels"))
    whole, short = not missing, f" {TO_BE_RUN}: {', '.join(missing)}" if missing else ""
    few = [f"{n}, {len(cells)} draws" for n, cells in found.items() if len(cells) < _widths.ENOUGH]
    few = f"fewer than {_widths.ENOUGH} draws so far: {'; '.join(few)}" if few and not missing else short.strip()
    gain = {n: a[:, 2] - a[:, 0] for n, a in accuracy.items()}
    ahead = [above(g) for g in gain.values()]
    worst = max(max(cell["gaps"]) for cells in found.values() for cell in cells)
    uci = table2.gains(scale, data) if real else {}
    text, other = _mean(gain), _mean(uci or gain)
    section = Section(
        "Table 3",
        "Two categories against each other, 10 % of the documents for training; a rank-one kernel for every "
        "word, columns "
        "of mean 0 and variance 1; C by cross-validation; 20 repetitions.",
        "Ohsumed (the training part of its first 20,000 abstracts) and four newsgroups."
        if real
        else "generated documents, since the real ones were not given: two topics of 20 words each among 600.",
        findings=[
            Finding(
                "smooth MKL is more accurate than ℓ1 on text",
                "5 of 5, by 0.8 to 4.6 points",
                f"{counted(ahead)}: {listed('{} {}', means(gain, 1))}"
                + (f";{short}" if missing else ""),
                every(ahead),
                "above 0 by two standard errors on every set",
                judged=scale.quick or (enough and whole),
                open=few,
                expected="tie",
                reason=_ahead(gain),
            ),
            Finding(
                "on text1 by over 7 %",
                "over 7 % in its text, 4.6 points in its Table 3",
                mean(gain["text1"], 1) if "text1" in gain else "–",
                above(gain["text1"], 7) if "text1" in gain else False,
                "7 points, as the text says, by two standard errors; its table has 4.6",
                judged=real and enough,
                **SEVEN,
            ),
            Finding(
                "the advantage over ℓ1 is much clearer than on the UCI sets",
                " against ".join(f"{np.mean(table2.theirs(paper, 0)):.1f}" for paper in (PAPER, table2.PAPER))
                + " points, means of its Tables 3 and 2",
                f"{mean(text, 1)} against {mean(other, 1)} points" if uci else "–",
                unpaired(text, other),
                "mean of the five sets above that of the seven, by two standard errors",
                judged=bool(uci) and enough and whole,
                open="" if uci and whole else TO_BE_RUN,
            ),
        ],
        checks=[
            Finding(
                "p = 1 reaches its gap with thousands of rank-one kernels",
                "gap < 0.01",
                f"{worst:.1e} at most",
                worst <= 1e-3,
                "1e-3",
            ),
        ],
        tables=[
            Table(
                "Accuracy, %, ± standard error (the paper gives standard deviations)",
                ["set", "documents", "words", *methods.NAMES, "paper: L1", "SMKL", "p, SMKL against L1", "repetitions"],
                [
                    [
                        n,
                        cells[0]["n"],
                        cells[0]["d"],
                        *means(accuracy[n], 1),
                        *PAPER.get(n, ("", "")),
                        f"{_widths.p_value(accuracy[n][:, 2], accuracy[n][:, 0]):.3f}",
                        len(cells),
                    ]
                    for n, cells in found.items()
                ],
            ),
            Table(
                "Words with weight",
                ["set", *methods.NAMES],
                [[n, *(f"{k:.0f}" for k in counts.mean(axis=0))] for n, counts in words.items()],
            ),
        ],
        deviations=[
            f"Documents: {', '.join(format(cells[0]['n'], ',') for cells in found.values())}; the paper has 581, 871, "
            "772, 2,000 and 2,000. Its 581, 871 and 772 are the sizes of the two categories together, so that "
            "documents in both "
            "count "
            "twice (31, 11 and 25 of them); they are left out here."
            if real
            else "Generated documents.",
            "The words are not given: those in three or more documents, without English stop words, tf-idf; the "
            "paper has "
            "1,686, 2,302, 2,059, 5,341 and 6,311. Of the newsgroups the documents of both parts, as the paper's 2,000 "
            "want it.",
            "λ as for Figure 1; C in three folds of each training part. Relative gap 1e-3."
            + (
                f" Still to be run: {', '.join(missing)}. The last table has text4 and text5 by the training part "
                "alone, 1,192 and 1,197 documents, which was a mistake; no finding uses it."
                if missing
                else ""
            ),
        ],
    )

    if real:
        section.remarks = _beside(accuracy, found)
        _wider(scale, section, accuracy, found, cell)
        _fixed(scale, section, accuracy, data)
        _plain(scale, section, accuracy, data)
        if missing:
            _part(scale, section, [n for n in missing if n in WHOLE], Cs, times, data)
    return section


def _mean(gain):
    """The mean of all sets in each draw."""
    draws = min(map(len, gain.values()))
    return np.mean([g[:draws] for g in gain.values()], axis=0)


def _beside(accuracy, found):
    """Where ℓ2, which the paper leaves out, is ahead of SMKL, and where the grid ends too early for SMKL."""
    dense = {n: mean(a[:, 1] - a[:, 2], 1) for n, a in accuracy.items() if above(a[:, 1] - a[:, 2]) == "agree"}
    ends = {n: [cell["C"][2] == CS[-1] for cell in cells] for n, cells in found.items()}
    ends = {n: f"{sum(end)} of {len(end)} draws" for n, end in ends.items() if 2 * sum(end) > len(end)}
    words = []
    if dense:
        ahead = listed("{1} points on {0}", dense)
        words.append(f"The paper's table has no ℓ2. Here ℓ2 is ahead of SMKL by {ahead}.")
    if ends:
        often = listed("{1} of {0}", ends)
        words.append(f"SMKL takes C = {CS[-1]:g}, the largest of the grid, in {often}; larger ones were not tried.")
    return " ".join(words)


def _part(scale, section, names, Cs, times, data):
    """Adds what was run with the training part of the newsgroups alone."""
    rows = []
    for n in names:
        cells = scale.repeat(times, lambda seed, n=n: scale.cell(one, name=n, seed=seed, Cs=Cs, data=data), least=0)
        if len(cells) > 2:
            a = gathered(cells, "accuracy")
            rows.append([n, cells[0]["n"], cells[0]["d"], *means(a, 1), mean(a[:, 2] - a[:, 0], 1), len(cells)])
    if rows:
        section.tables.append(
            Table(
                "Not as in the paper: the training part of the newsgroups alone; accuracy, %",
                ["set", "documents", "words", *methods.NAMES, "SMKL − L1", "repetitions"], rows,
            )
        )  # fmt: skip


def _wider(scale, section, accuracy, found, cell):
    """Adds the accuracies at smaller C than those of the grid."""
    rows = []
    for n, cells in found.items():
        more = scale.repeat(5, lambda seed, n=n: cell(n, seed, WIDER), least=0)
        if len(more) < 3:
            continue
        edge = [sum(run["C"][j] == CS[0] for run in cells) for j in range(3)]
        chosen = [np.median([run["C"][j] for run in more]) for j in range(3)]
        values = gathered(more, "accuracy")
        rows.append([n, ", ".join(f"{e} of {len(cells)}" for e in edge), ", ".join(f"{C:g}" for C in chosen),
                     *means(values, 1), *means(values - accuracy[n][: len(values)], 1)])  # fmt: skip
    if rows:
        names = [*methods.NAMES, *(f"gain of {name}" for name in methods.NAMES)]
        section.tables.append(
            Table(
                "C from 10^−5 on instead of 10^−2, five draws: accuracy, %, and its gain; how often C was the smallest "
                "of the grid before, and the median C now, for the three methods",
                ["set", "smallest C", "median C now", *names], rows,
            )
        )  # fmt: skip


def _fixed(scale, section, accuracy, data):
    """Adds the accuracies at C = 1 for all, where cross-validation on a few documents has no say."""
    found = scale.each(
        accuracy, lambda n: scale.cell(fixed, name=n, seeds=list(range(10)), data=data, **WHOLE.get(n, {})), least=0
    )
    if found:
        rows = {n: np.array(rows) for n, rows in found.items()}
        section.tables.append(
            Table(
                "At C = 1 for all, ten draws: accuracy, %, and by how much SMKL is ahead of ℓ1",
                ["set", *methods.NAMES, "SMKL − L1"],
                [[n, *means(a, 1), mean(a[:, 2] - a[:, 0], 1)] for n, a in rows.items()],
            )
        )


def fixed(name, seeds, data, whole=False):
    """Accuracies (seeds, methods) at C = 1."""
    X, y = documents(data, name, whole)
    found = []
    for seed in seeds:
        A, T, given, truth = _scaled(*_drawn(X, y, seed))
        found.append([100 * _fitted(method, A, given, 1.0).score(T, truth) for method in methods.NAMES])
    return found


def _drawn(X, y, seed):
    """(words of the training documents, those of the others, labels of both) of the draw that `one` takes."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(len(y)), train_size=0.1, stratify=y, random_state=seed)
    used = np.flatnonzero(X[train].toarray().std(axis=0) > 0)
    return X[train][:, used].toarray(), X[test][:, used].toarray(), y[train], y[test]


def _scaled(A, T, *labels):
    """Words of mean 0 and variance 1 on the training documents."""
    centre, size = A.mean(axis=0), A.std(axis=0)
    return (A - centre) / size, (T - centre) / size, *labels


def _plain(scale, section, accuracy, data):
    """Adds what a linear support vector machine without kernel weights makes of the same words."""
    found = scale.each(
        accuracy, lambda n: scale.cell(linear, name=n, seeds=list(range(20)), data=data, **WHOLE.get(n, {})), least=0
    )
    if found:
        names = [f"{words}, C = {C:g}" for words in ("words as they are", "words of variance 1") for C in PLAIN]
        section.tables.append(
            Table(
                "A linear SVM on the same words and draws, without kernel weights: accuracy, %",
                ["set", *names],
                [[n, *means(rows, 1)] for n, rows in found.items()],
            )
        )  # fmt: skip


def linear(name, seeds, data, whole=False):
    """Accuracies (seeds, words as they are and of variance 1, by C) of a linear support vector machine."""
    from sklearn.svm import LinearSVC

    X, y = documents(data, name, whole)
    found = []
    for seed in seeds:
        plain, row = _drawn(X, y, seed), []
        for (A, T, given, truth), share in ((plain, 1.0), (_scaled(*plain), 1 / plain[0].shape[1])):
            for C in PLAIN:
                model = LinearSVC(C=C * share, random_state=0, dual=True, max_iter=10_000)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    row.append(100 * model.fit(A, given).score(T, truth))
        found.append(row)
    return found


def documents(data, name, whole=False):
    """(X csr, y) of a task: of the training part, or of both parts as a whole."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if name == "generated":
        return _generated()
    file, first, second = TASKS[name]
    path = data.find(file)
    if file.endswith("xz"):
        with lzma.open(path, "rt") as lines:
            rows = [json.loads(line) for line in lines]
        tags = [row["categories"] for row in rows]
    else:
        import gzip

        with gzip.open(path, "rt") as lines:
            rows = [json.loads(line) for line in lines]
        tags = [[row["group"]] for row in rows]
    keep = [(r["text"], 1 if second in t else -1) for r, t in zip(rows, tags, strict=True)
            if (whole or r["split"] == "train") and (first in t) != (second in t)]  # fmt: skip
    X = TfidfVectorizer(min_df=3, stop_words="english").fit_transform([text for text, _ in keep])
    return X, np.array([label for _, label in keep])


def _generated():
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    y = np.where(np.arange(400) % 2, 1, -1)
    rate = np.full((400, 600), 0.03)
    rate[y > 0, :60] = 0.075
    rate[y < 0, 60:120] = 0.075
    return sp.csr_matrix(rng.poisson(rate).astype(float)), y


def one(name, seed, Cs, data, whole=False):
    from sklearn.model_selection import StratifiedKFold, train_test_split

    X, y = documents(data, name, whole)
    share = 0.1 if name != "generated" else 0.2
    train, test = train_test_split(np.arange(len(y)), train_size=share, stratify=y, random_state=seed)
    dense = X[train].toarray()
    used = np.flatnonzero(dense.std(axis=0) > 0)  # words of the training documents
    centre, size = dense[:, used].mean(axis=0), dense[:, used].std(axis=0)
    A = (dense[:, used] - centre) / size
    T = (X[test][:, used].toarray() - centre) / size
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(A, y[train]))
    result = {"n": len(y), "d": X.shape[1], "accuracy": [], "kernels": [], "gaps": [], "C": []}
    for method in methods.NAMES:
        scores = [[_fitted(method, A[f], y[train][f], C).score(A[h], y[train][h]) for C in Cs] for f, h in folds]
        C = methods.best_C(scores, Cs)
        model = _fitted(method, A, y[train], C)
        theta = model.kernel_weights_
        result["accuracy"].append(100 * model.score(T, y[test]))
        result["kernels"].append(int(np.sum(theta > 1e-6 * theta.max())))
        result["gaps"].append(float(model.duality_gap_))
        result["C"].append(C)
    return result


def _fitted(method, X, y, C):
    from manykernels import MKLClassifier
    from manykernels.kernels import rank_one_kernels

    used = np.flatnonzero(X.std(axis=0) > 0)
    largest = float((X**2).sum(axis=0).max())
    omega = methods.regularizer(method, len(y), C, len(used), largest)
    model = MKLClassifier(rank_one_kernels(X.shape[1]), regularizer=omega, C=C, normalize=None, solver="interior")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


SEVEN = {
    "expected": "disagree",
    "reason": "The paper contradicts itself: 77.3 − 72.7 in its table is 4.6 points, or 6.3 % of 72.7.",
}


def _ahead(gain):
    """Where SMKL is ahead of ℓ1, and why not elsewhere."""
    told = ", ".join(n for n, g in gain.items() if above(g) == "agree") or "none"
    return (
        f"SMKL is ahead on {told}. It is a matter of C: at C = 1 for all it is ahead on all five (see the table). "
        "With 52 and 85 documents for training on text1 and text2 cross-validation often takes the smallest C, 0.01. "
        "At this C the larger class is predicted throughout, which is right for 75.5 and 68.0 % of the documents. "
        "Smaller C do not help."
    )

"""The same comparison on the multiple features of handwritten digits: six views × ten widths."""

import numpy as np

from .._page import Finding, Section, matrix
from .._widths import ENOUGH
from . import compare

FILE = "mv_mfeat_digits.npz"
VIEWS = ("fou", "fac", "kar", "pix", "zer", "mor")
PAIR = (3, 5)
SIZES = (5, 10, 20, 40)


def cells(scale, seed, data):
    options = scale.pick(
        dict(folds=2, repeats=1, Cs=(1e-2, 1e-1), lambdas=(0.0, 0.5, 1.0)),
        dict(folds=4, repeats=1, Cs=compare.THEIR_CS, lambdas=compare.LAMBDAS),
    )
    sizes = scale.pick((5, 15), SIZES)
    return scale.all(sizes, lambda size: scale.cell(one, size=size, seed=seed, data=data, **options))


def run(scale, data):
    found = scale.repeat(scale.pick(3, 20), lambda seed: cells(scale, seed, data))
    sizes, real = scale.pick((5, 15), SIZES), data.find(FILE) is not None
    accuracy, weights, count = compare.gather(found)
    M, enough = weights.shape[1], scale.quick or len(found) >= ENOUGH
    one_norm, bayes = (compare.overall(accuracy, other) for other in compare.OTHERS)
    few, half = compare.especially(sizes, accuracy), compare.half(count, M)
    views = weights.reshape(7, -1, 10).sum(axis=2)
    names = VIEWS if real else tuple(f"part {k + 1}" for k in range(views.shape[1]))
    return Section(
        "The same on the multiple features of digits",
        compare.PROTOCOL,
        "UCI multiple features, 3 against 5: six views, Gaussian kernels of ten widths around the median "
        "distance on each."
        if real
        else "the digits of scikit-learn cut into four quarters, in the place of the multiple features.",
        findings=[
            Finding(
                "uniform, elastic net and ℓ2 are ahead of block 1-norm", "ahead", one_norm[0], one_norm[1],
                "mean of the three, the elastic net with λ by cross-validation, over all sizes, by two standard errors",
                judged=enough, expected="tie", reason=compare.by_size(sizes, accuracy, "block 1-norm"),
            ),
            Finding(
                "uniform, elastic net and ℓ2 are ahead of empirical Bayes", "ahead", bayes[0], bayes[1],
                "mean of the three, the elastic net with λ by cross-validation, over all sizes, by two standard errors",
                judged=enough,
            ),
            Finding(
                "uniform, elastic net and ℓ2 are ahead especially below 20 examples a class", "especially", few[0],
                few[1],
                "ahead of both below 20 a class, and more than from 20 on, by two standard errors", judged=enough,
                expected="tie", reason=few[2],
            ),
            compare.like_uniform(sizes, accuracy, enough, NEAR, expected="tie"),
            compare.very_sparse(count, M, 0.25, "less than a quarter"),
            compare.alike(found, not scale.quick),
            Finding(
                "the elastic net is sparse where ℓ2 is not", "roughly half of the kernels, all", half[0], half[1],
                "between 35 and 65 % of the kernels, more than 85 %, by two standard errors", judged=not scale.quick,
                **HALF,
            ),
        ],
        tables=[
            compare.accuracies(sizes, accuracy),
            matrix(
                f"Share of the views in the weights at {sizes[-1]} a class", names, compare.NAMES, views,
                corner="method",
            ),
        ],
        figures=[
            compare.draw(
                "tomioka2010_mfeat",
                sizes,
                accuracy,
                weights,
                "Accuracy against examples a class; mean weights, view by view, widths ascending.",
                range(10, M, 10),
            )
        ],
        deviations=[
            f"Other data; {len(found)} draws of the training examples, the other examples of the two digits for "
            "the test; cross-validation once; multiplicative normalisation of the kernels.",
            compare.BAYES,
        ],
    )  # fmt: skip


def load(data):
    held = data.arrays(FILE) if data.find(FILE) is not None else None
    if held is not None:
        return [held[view].astype(float) for view in VIEWS], held["y"]
    from sklearn.datasets import load_digits

    digits = load_digits()
    quarters = [digits.images[:, i : i + 4, j : j + 4].reshape(-1, 16) for i in (0, 4) for j in (0, 4)]
    return quarters, digits.target


def one(size, seed, folds, repeats, Cs, lambdas, data):
    views, y = load(data)
    classes = np.unique(y)[list(PAIR)]
    rng = np.random.default_rng(seed)
    own = [rng.permutation(np.flatnonzero(y == k)) for k in classes]
    train, test = np.concatenate([r[:size] for r in own]), np.concatenate([r[size:] for r in own])
    parts = []
    for X in views:
        A, B = (X[rows] for rows in (train, test))
        centre, width = A.mean(axis=0), np.maximum(A.std(axis=0), 1e-9)
        A, B = (A - centre) / width, (B - centre) / width
        D = [np.maximum((Z**2).sum(axis=1)[:, None] + (A**2).sum(axis=1) - 2 * Z @ A.T, 0.0) for Z in (A, B)]
        median = np.median(D[0][np.triu_indices(len(A), 1)])
        parts.append([np.exp(-d / (2 * median * s)) for d in D for s in 4.0 ** np.linspace(-2, 2, 10)])
    train_stack = np.array([K for part in parts for K in part[:10]])
    test_stack = np.array([K for part in parts for K in part[10:]])
    labels, truth = (np.where(y[rows] == classes[1], 1, -1) for rows in (train, test))
    return compare.compared(train_stack, labels, test_stack, truth, folds, repeats, Cs, lambdas)


NEAR = "At the other sizes, and with the other two methods there, they are."
HALF = {
    "expected": "disagree",
    "reason": "Sparsity is a matter of C, which the accuracy does not settle here. Of 60 kernels the elastic "
    "net with 40 "
    "examples a class uses 60 for C of 10^−4 to 0.1, 52 for 1 and 28 for 10 (the same at a gap of 1e-5), at "
    "accuracies of "
    "96.6 to 97.8 %; cross-validation mostly takes a small C.",
}

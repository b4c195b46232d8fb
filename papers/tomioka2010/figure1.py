"""Figures 1 to 3 on MNIST: spatial histograms of local gradients, 2 families × 10 widths × 22 regions."""

import numpy as np

from .._page import Finding, Section, Table, mean
from .._widths import ENOUGH
from . import compare

FILE = "mnist.npz"
PAIRS = ((4, 9), (3, 5), (7, 9))
WORDS, PATCH, STEP = 200, 8, 2
GAUSS, CHI2 = np.linspace(0.1, 5, 10), np.linspace(0.1, 10, 10)
SIZES = (5, 10, 20, 40)
REGIONS = 22


def cells(scale, seed, data, pairs=PAIRS[:1], **more):
    sizes = scale.pick((5, 15), SIZES)
    options = dict(data=data, **more) | scale.pick(
        dict(folds=3, repeats=1, Cs=(1e-3, 1e-1), lambdas=(0.0, 0.5, 1.0), held_out=150, regions=5),
        dict(folds=4, repeats=1, Cs=compare.THEIR_CS, lambdas=compare.LAMBDAS, held_out=500, regions=REGIONS),
    )
    return [
        scale.all(sizes, lambda size, pair=pair: scale.cell(one, pair=list(pair), size=size, seed=seed, **options))
        for pair in pairs
    ]


def run(scale, data):
    found = scale.repeat(scale.pick(3, 10), lambda seed: cells(scale, seed, data)[0])
    shares = [] if scale.quick else scale.repeat(10, lambda seed: cells(scale, seed, data, unit=True)[0], least=0)
    sizes, real = scale.pick((5, 15), SIZES), data.find(FILE) is not None
    accuracy = np.array([[cell["accuracy"] for cell in row] for row in found])  # (times, sizes, methods)
    weights = np.array([row[-1]["weights"] for row in found]).mean(axis=0)  # (methods, M), at the largest size
    count = np.array([row[-1]["kernels"] for row in found])
    M = weights.shape[1]
    good = accuracy[:, :, [0, 3, 4, 5]].mean(axis=(0, 2))
    bad = accuracy[:, :, [2, 6]].mean(axis=(0, 2))
    near = np.abs(accuracy[:, :, [3, 4, 5]].mean(axis=0) - accuracy[:, :, [0]].mean(axis=0)).max()
    squares = np.abs(accuracy[:, :, 0].mean(axis=0) - accuracy[:, :, 1].mean(axis=0)).max()
    chi2 = weights[:, M // 2 :].sum(axis=1)
    section = Section(
        "Figures 1 to 3, on digits",
        compare.PROTOCOL
        + " 1,760 kernels of four kinds of SIFT × 22 regions × 2 families × 10 widths, Caltech 101. The paper "
        "shows curves and weights without a table.",
        "MNIST, 4 against 9: Caltech's images cannot be had. Local gradient histograms (2 × 2 cells × 8 "
        "directions of patches of "
        "8 × 8) on a grid of 11 × 11, 200 of them drawn as words; histograms of words in 22 regions, 440 kernels."
        if real
        else "the digits of scikit-learn, enlarged, in the place of MNIST; 5 regions.",
        findings=[
            Finding(
                "uniform, elastic net and ℓ2 are ahead of block 1-norm and empirical Bayes below 20 examples a class",
                "ahead",
                ", ".join(f"{g - b:.1f} points at {s}" for g, b, s in zip(good, bad, sizes, strict=True) if s < 20),
                all(g > b for g, b, s in zip(good, bad, sizes, strict=True) if s < 20),
                "means of the four and of the two",
                judged=len(found) >= ENOUGH,
                **SPARSE,
            ),
            Finding(
                "elastic net and ℓ2 are as accurate as uniform weights",
                "almost the same",
                f"{near:.1f} points apart at most",
                near < 3,
                "within 3 points of means",
                judged=len(found) >= ENOUGH,
                **NEAR,
            ),
            Finding(
                "uniform weights with logistic and squared loss differ little",
                "small",
                f"{squares:.1f} points at most",
                squares < 3,
                "within 3 points of means",
                judged=scale.quick or len(found) >= ENOUGH,
            ),
            Finding(
                "the elastic net is sparse where ℓ2 is not",
                "roughly half of the kernels, all",
                f"{count[:, 3].mean():.0f} and {count[:, 5].mean():.0f} of {M}",
                count[:, 3].mean() < 0.9 * M < count[:, 5].mean() + 0.05 * M,
                "less than 90 %, at least 85 %",
                judged=real,
            ),
            Finding(
                "empirical Bayes is extremely sparse",
                "extremely",
                f"{count[:, 6].mean():.0f} of {M}",
                count[:, 6].mean() < 0.1 * M,
                "less than 10 %",
            ),
            Finding(
                "χ² kernels are preferred to Gaussian ones",
                "792 χ² and 88 Gaussian kernels",
                f"{100 * chi2[3]:.0f} % of the elastic net's weight",
                chi2[3] > 0.6,
                "60 % of the weight",
                judged=real,
                **CHI,
            ),
        ],
        tables=[
            Table(
                "Accuracy, %",
                ["examples a class", *compare.NAMES],
                [[s, *(mean(accuracy[:, i, j], 1) for j in range(7))] for i, s in enumerate(sizes)],
            ),
            Table(
                f"Kernels with weight, of {M}, at {sizes[-1]} a class",
                list(compare.NAMES),
                [[f"{k:.0f}" for k in count.mean(axis=0)]],
            ),
        ],
        figures=[
            compare.draw(
                "tomioka2010_mnist",
                sizes,
                accuracy,
                weights,
                "Accuracy against examples a class; mean weights: Gaussian kernels on the left of the line, χ² "
                "on the right, "
                "region by region, widths ascending.",
                [M // 2],
            )
        ],
        deviations=[
            f"Other images, one kind of local feature, {len(found)} draws of the training examples; 500 test "
            f"images; pair 4 against "
            "9 (3 against 5 and 7 against 9 with `cells(..., pairs=PAIRS)`).",
            "The pyramid kernel has the weights ¼, ¼, ½ for its levels. Multiplicative normalisation. The hinge "
            "of ℓ2 and the others "
            "by our solvers, gap 1e-3.",
        ],
    )
    if shares:
        _unit(section, shares, sizes)
    plain = [] if scale.quick else scale.repeat(3, lambda seed: scale.cell(as_they_are, seed=seed, data=data), least=0)
    if plain:
        section.tables.append(
            Table(
                f"Kernels of elastic (0.5) by family and γ, ascending, of {REGIONS} each; histograms that sum to one, "
                f"kernels without normalisation, {SIZES[-1]} a class, {len(plain)} draws; C of 10^−3 (times the "
                "regularizer)",
                ["family", *(str(k + 1) for k in range(10))],
                [
                    [name, *(f"{v:.0f}" for v in np.mean([cell["used"][k] for cell in plain], axis=0))]
                    for k, name in enumerate(("Gaussian", "χ²"))
                ],
                f"Accuracy {mean([cell['accuracy'][0] for cell in plain], 1)} %, with equal weights "
                f"{mean([cell['accuracy'][1] for cell in plain], 1)} %.",
            )
        )
    return section


def as_they_are(seed, data, C=1e-3):
    """Kernels used by elastic (0.5) and its accuracy, and that of equal weights, without normalisation."""
    from manykernels import KernelStack, MKLClassifier
    from manykernels.regularizers import BlockElasticNet

    A, B, labels, truth = posed(PAIRS[0], SIZES[-1], seed, 500, REGIONS, data, True)
    K, T = KernelStack(kernels(A, A, REGIONS)), KernelStack(kernels(B, A, REGIONS))
    models = [
        MKLClassifier("precomputed", loss="logistic", regularizer=BlockElasticNet(v), C=1 / C, normalize=None).fit(
            K, labels
        )
        for v in (0.5, 1.0)
    ]
    theta = models[0].kernel_weights_
    used = (theta > 1e-6 * theta.max()).reshape(2, REGIONS, 10).sum(axis=1)
    return {"used": used, "accuracy": [100 * model.score(T, truth) for model in models]}


def _unit(section, found, sizes):
    """Adds the same with histograms that sum to one."""
    accuracy = np.array([[cell["accuracy"] for cell in row] for row in found])
    weights = np.array([row[-1]["weights"] for row in found]).mean(axis=0).reshape(7, 2, -1, 10).sum(axis=2)
    section.tables += [
        Table(
            f"Accuracy, %, of histograms that sum to one, {len(found)} draws",
            ["examples a class", *compare.NAMES],
            [[s, *(mean(accuracy[:, i, j], 1) for j in range(7))] for i, s in enumerate(sizes)],
        ),
        Table(
            f"Share of the weight of elastic (0.5) by family and width, γ ascending, {sizes[-1]} a class, histograms "
            "that sum to one",
            ["family", *(str(k + 1) for k in range(10))],
            [[name, *(f"{v:.2f}" for v in weights[3, k])] for k, name in enumerate(("Gaussian", "χ²"))],
        ),
    ]


def images(data):
    held = data.arrays(FILE) if data.find(FILE) is not None else None
    if held is not None:
        return held["X_train"].reshape(-1, 28, 28), held["y_train"]
    from sklearn.datasets import load_digits

    digits = load_digits()
    return np.kron(digits.images / 16 * 255, np.ones((3, 3)))[:, :, :].reshape(-1, 24, 24), digits.target


def local(image):
    """Local features of an image: (positions, positions, 32)."""
    dy, dx = np.gradient(image.astype(float))
    size, angle = np.hypot(dx, dy), np.arctan2(dy, dx)
    bins = ((angle + np.pi) / (2 * np.pi) * 8).astype(int) % 8
    maps = np.zeros((8, *image.shape))
    np.put_along_axis(maps, bins[None], size[None], axis=0)
    sums = np.pad(maps.cumsum(axis=1).cumsum(axis=2), ((0, 0), (1, 0), (1, 0)))
    half, at = PATCH // 2, np.arange(0, image.shape[0] - PATCH + 1, STEP)

    def cell(top, left):
        r, c = at + top, at + left
        a, b = np.ix_(r + half, c + half), np.ix_(r, c)
        return (sums[:, a[0], a[1]] - sums[:, b[0], a[1]] - sums[:, a[0], b[1]] + sums[:, b[0], b[1]]).transpose(
            1, 2, 0
        )

    found = np.concatenate([cell(i * half, j * half) for i in (0, 1) for j in (0, 1)], axis=2)
    return found / np.maximum(np.linalg.norm(found, axis=2, keepdims=True), 1.0)


def histograms(features, centres):
    """Counts of words in 21 regions, (n, 21, words)."""
    n, side = len(features), features.shape[1]
    words = (((centres**2).sum(axis=1) - 2 * features @ centres.T).argmin(axis=-1)).reshape(n, side, side)
    found = np.zeros((n, 21, len(centres)))
    region = 0
    for cells in (1, 2, 4):
        edges = np.linspace(0, side, cells + 1).astype(int)
        for i in range(cells):
            for j in range(cells):
                part = words[:, edges[i] : edges[i + 1], edges[j] : edges[j + 1]].reshape(n, -1)
                for row, held in enumerate(part):
                    found[row, region] = np.bincount(held, minlength=len(centres))
                region += 1
    return found


def kernels(A, B, regions):
    """(2 · regions · 10, |A|, |B|): Gaussian kernels region by region, then χ²; the last region is the pyramid."""
    single = regions - 1
    squares, chi = np.empty((2, single, len(A), len(B)))
    for r in range(single):
        a, b = A[:, r], B[:, r]
        squares[r] = np.maximum((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T, 0.0)
        used = np.flatnonzero(a.any(axis=0) | b.any(axis=0))
        total = 0.0
        for w in used:
            d, s = a[:, w, None] - b[:, w], a[:, w, None] + b[:, w]
            total = total + np.divide(d * d, s, out=np.zeros_like(s), where=s > 0)
        chi[r] = total
    levels = [0.25, *[0.25 / 4] * min(4, single - 1), *[0.5 / 16] * max(single - 5, 0)]
    families = []
    for distance, scale in ((squares, [1 / (2 * g * g) for g in GAUSS]), (chi, [g * g for g in CHI2])):
        each = np.exp(-distance[:, None] * np.array(scale)[None, :, None, None])  # (single, 10, n, n')
        pyramid = np.einsum("r,rwij->wij", levels, each)
        families.append(np.concatenate([each, pyramid[None]]).reshape(-1, *each.shape[2:]))
    return np.concatenate(families).astype(np.float32)


def posed(pair, size, seed, held_out, regions, data, unit):
    """(training histograms, test histograms, their labels)."""
    X, y = images(data)
    rng = np.random.default_rng([seed, *pair])
    own = [rng.permutation(np.flatnonzero(y == k)) for k in pair]
    train = np.concatenate([rows[:size] for rows in own])
    most = min(held_out // 2, min(len(rows) for rows in own) - 60)
    test = np.concatenate([rows[60 : 60 + most] for rows in own])
    features = np.array([local(image) for image in X[np.r_[train, test]]])
    flat = features[: len(train)].reshape(-1, features.shape[-1])
    centres = flat[rng.permutation(len(flat))[:WORDS]]
    H = histograms(features, centres)[:, : regions - 1]
    if unit:
        H = H / np.maximum(H.sum(axis=2, keepdims=True), 1)
    A, B = H[: len(train)], H[len(train) :]
    labels, truth = (np.where(y[rows] == pair[1], 1, -1) for rows in (train, test))
    return A, B, labels, truth


def one(pair, size, seed, folds, repeats, Cs, lambdas, held_out, regions, data, unit=False):
    A, B, labels, truth = posed(pair, size, seed, held_out, regions, data, unit)
    return compare.compared(kernels(A, A, regions), labels, kernels(B, A, regions), truth, folds, repeats, Cs, lambdas)


SPARSE = {}
NEAR = {
    "expected": "disagree",
    "reason": "Uniform weights are behind by 4.6 points at 5 examples a class, with standard errors of 3, and 3.8 "
    "at 10, and even at 40. On counts nine of the ten χ² widths make nearly diagonal kernels, which "
    "uniform weights have to carry; with histograms that sum to one it is 3.2 and 2.5 points.",
}
CHI = {
    "expected": "disagree",
    "reason": "The kernels of the paper must have been others than its text says (counts): it finds γ = 0.1 alone "
    "chosen of the Gaussian ones and γ from 1.2 on of χ². With histograms that sum to one and kernels "
    "without normalisation nearly this comes out, in the draw that was looked at 198 = 9 × 22 χ² kernels (the "
    "paper: 792 = 4 × 9 × 22) and 22, 14, 4, 1 Gaussian ones of the first four γ; see the last table. "
    "Multiplicative normalisation, which the other experiments use, blows wide Gaussian kernels up to the "
    "variance of the others.",
}

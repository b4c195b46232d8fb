"""The comparison that the three figures make, on any stack of kernels and any two classes."""

import warnings

import numpy as np

from .._page import Figure, Finding, Table, curves, gathered, listed, mean, means, panels, sticks
from .._verdict import AGREE, above, below, every, near

NAMES = (
    "uniform (logit)",
    "uniform (square)",
    "block 1-norm",
    "elastic (0.5)",
    "elastic (CV)",
    "ℓ2-norm",
    "emp. Bayes",
)
FEW, OTHERS = 20, {"block 1-norm": 2, "empirical Bayes": 6}  # examples a class; columns
THEIR_CS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)  # times the regularizer: ours are their reciprocals
ELL2_CS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
LAMBDAS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0)
PROTOCOL = (
    "Two classes, some examples a class for training; uniform weights, block 1-norm, elastic net with λ = 0.5 "
    "and with λ of 0, "
    "0.2, …, 1 by cross-validation, all with the logistic loss; uniform weights with the squared loss, ℓ2-norm "
    "with the hinge, "
    "empirical Bayes by MacKay's update. C of 10^−4, …, 10 (times the regularizer; 10^−2, …, 10³ times the loss "
    "for ℓ2) by "
    "4-fold cross-validation on the training examples, twice with other folds."
)

BAYES = (
    "The paper chooses C for each method by 2 × 4-fold cross-validation; empirical Bayes learns its noise here, by "
    "MacKay's update, and has no C."
)


def compared(train, labels, test, truth, folds, repeats, Cs, lambdas, normalize="multiplicative"):
    """{accuracy, weights, kernels} of the seven methods; train (M, n, n), test (M, n', n)."""
    from functools import partial

    from sklearn.model_selection import RepeatedStratifiedKFold

    from manykernels import KernelStack, MKLClassifier, MKLClassifierCV, MKLRegressor
    from manykernels.regularizers import BlockElasticNet, EmpiricalBayes, LpNorm, Uniform

    searched, fitted, regressed = (
        partial(model, "precomputed", normalize=normalize) for model in (MKLClassifierCV, MKLClassifier, MKLRegressor)
    )
    cv = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    K, T, result = KernelStack(train), KernelStack(test), {"accuracy": [], "weights": [], "kernels": []}

    def add(model, right):
        theta = np.ravel(model.kernel_weights_)
        result["accuracy"].append(100 * float(right))
        result["weights"].append((theta / max(theta.sum(), 1e-300)).round(6))
        result["kernels"].append(int(np.sum(theta > 1e-6 * theta.max())))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        omegas = [BlockElasticNet(v) for v in lambdas]
        ours = [1 / C for C in Cs]
        search = searched(loss="logistic", regularizer=omegas, Cs=ours, cv=cv).fit(K, labels)
        scores = np.asarray(search.cv_results_["mean_test_score"], dtype=float)
        C, lam = (np.asarray(search.cv_results_[key], dtype=object) for key in ("param_C", "param_regularizer"))
        lam = np.array([omega.lam for omega in lam])

        def elastic(keep):
            k = int(np.argmax(np.where(keep, scores, -1.0)))
            model = fitted(loss="logistic", regularizer=BlockElasticNet(float(lam[k])), C=float(C[k]))
            return model.fit(K, labels)

        square = searched(loss="squared", regularizer=Uniform(), Cs=ours, cv=cv).fit(K, labels)
        ell2 = searched(regularizer=LpNorm(2), Cs=list(ELL2_CS)[: len(Cs)], cv=cv).fit(K, labels)
        models = [elastic(lam == 1), square, elastic(lam == 0), elastic(lam == 0.5), elastic(lam != 0.5), ell2]
        for model in models:
            add(model, model.score(T, truth))
        bayes = regressed(loss="squared", regularizer=EmpiricalBayes(noise="learn")).fit(K, labels)
        add(bayes, np.mean(np.sign(bayes.predict(T)) == truth))
    return result


def gather(found):
    """Accuracies (times, sizes, 7), and at the largest size the mean weights (7, M) and counts (times, 7) of cells."""
    last = [row[-1] for row in found]
    return gathered(found, "accuracy"), gathered(last, "weights").mean(axis=0), gathered(last, "kernels")


def ahead(accuracy, other):
    """Points (times, sizes) by which uniform, elastic net (λ by cross-validation) and ℓ2 are ahead of another."""
    return accuracy[:, :, [0, 4, 5]].mean(axis=2) - accuracy[:, :, OTHERS[other]]


def overall(accuracy, other):
    """(text, verdict) of the points over all sizes."""
    points = ahead(accuracy, other).mean(axis=1)
    return f"{mean(points, 1)} points", above(points)


def by_size(sizes, accuracy, other):
    """A reason: the points at each size."""
    points = zip(means(ahead(accuracy, other), 1), sizes, strict=True)
    return f"Points by size: {listed('{} at {} a class', points)}."


def especially(sizes, accuracy):
    """(text, verdict, reason) of the points with few examples a class and with others, of both."""
    bound, texts, verdicts, more = min(FEW, max(sizes)), [], [], []  # a quick run has smaller sizes alone
    few = np.array(sizes) < bound
    for other in OTHERS:
        below, rest = (ahead(accuracy, other)[:, k].mean(axis=1) for k in (few, ~few))
        texts.append(f"of {other} by {mean(below, 1)} points below {bound}, {mean(rest, 1)} from {bound} on")
        more.append(f"of {other} by {mean(below - rest, 1)} points")
        verdicts += [above(below), above(below - rest)]
    reason = f"Below {bound} they are further ahead than from {bound} on {' and '.join(more)}."
    return "; ".join(texts), every(verdicts), reason


def apart(accuracy):
    """The most points between uniform weights and elastic net or ℓ2."""
    return np.abs(accuracy[:, :, [3, 4, 5]].mean(axis=0) - accuracy[:, :, [0]].mean(axis=0)).max()


def like_uniform(sizes, accuracy, judged, why, **known):
    """The finding; its reason names where they may be further apart than the margin."""
    points, doubtful = apart(accuracy), []
    differences = accuracy[:, :, [3, 4, 5]] - accuracy[:, :, [0]]  # (times, sizes, 3)
    each = {(k, j): near(differences[:, k, j], 3) for k in range(differences.shape[1]) for j in range(3)}
    for (k, j), verdict in each.items():
        if verdict != AGREE:
            doubtful.append(f"{NAMES[3 + j]} at {sizes[k]} a class ({mean(differences[:, k, j], 1)} points)")
    return Finding(
        "elastic net and ℓ2 are as accurate as uniform weights", "almost the same",
        f"{points:.1f} points apart at most", every(each.values()),
        "within 3 points, by two standard errors, each at every size", judged=judged,
        reason=f"Not within 3 points by two standard errors: {', '.join(doubtful)}. {why}" if doubtful else why,
        **known,
    )  # fmt: skip


def half(count, M):
    """(text, verdict) of the kernels that the elastic net (λ = 0.5) takes, and ℓ2."""
    elastic, ell2 = count[:, 3], count[:, 5]
    verdict = every([above(elastic, 0.35 * M), below(elastic, 0.65 * M), above(ell2, 0.85 * M)])
    return f"{mean(elastic, 0)} and {ell2.mean():.0f} of {M}", verdict


def spread(count, M):
    """How the draws differ in the share of the kernels that the elastic net takes."""
    many, few = int((count[:, 3] > 0.65 * M).sum()), int((count[:, 3] < 0.35 * M).sum())
    return f"In {many} of {len(count)} draws it takes more than 65 % of the kernels, in {few} fewer than 35 %."


def very_sparse(count, M, share, margin):
    few = count[:, 6]
    return Finding(
        "empirical Bayes is extremely sparse", "extremely", f"{few.mean():.0f} of {M}", below(few, share * M),
        f"{margin}, by two standard errors",
    )  # fmt: skip


def alike(found, judged, **known):
    """Whether the weights of ℓ2 go with those of the elastic net, at the largest size."""
    r = np.array([np.corrcoef(row[-1]["weights"][3], row[-1]["weights"][5])[0, 1] for row in found])
    return Finding(
        "ℓ2 finds qualitatively similar weights to the elastic net", "similar",
        f"correlation over the kernels {mean(r, 2)}", above(r, 0.5), "above 0.5, by two standard errors", judged=judged,
        **known,
    )  # fmt: skip


def accuracies(sizes, accuracy, title="Accuracy, %"):
    rows = [[size, *means(accuracy[:, i], 1)] for i, size in enumerate(sizes)]
    return Table(title, ["examples a class", *NAMES], rows)


def draw(name, sizes, accuracy, weights, caption, marks):
    """Accuracy against examples a class, and the weights of three methods at the largest size."""
    fig, axes = panels(4, width=3.6)
    curves(axes[0, 0], sizes, accuracy, NAMES, xlabel="examples a class", ylabel="accuracy, %")
    axes[0, 0].legend(fontsize=6)
    for ax, j in zip(axes[0, 1:], (3, 5, 6), strict=True):
        sticks(ax, weights[j], f"weights, {NAMES[j]}", marks)
    return Figure(name, caption, fig)

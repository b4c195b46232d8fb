"""Figure 2: the weights of five RBF kernels against the distance of two stars."""

import numpy as np

from .._page import Figure, Finding, Section, Table, gathered, mean, means, panels
from .._verdict import above, below, every, first

WIDTHS = (0.01, 0.1, 1.0, 10.0, 100.0)  # 2σ²
INNER, NOISE, POINTS, DEPTH = 4.0, 0.3, 5, 0.25
HARD = 0.25  # test error


def run(scale, data):
    radii = scale.pick((4.1, 4.8, 6.0, 8.0, 9.9), (4.1, 4.3, 4.5, 4.7, 5, 5.3, 5.7, 6.1, 6.5, 7, 7.5, 8, 8.7, 9.3, 9.9))
    Cs = scale.pick((0.5, 5.0), (0.05, 0.5, 5.0))
    n, repetitions = scale.pick(400, 2000), scale.pick(1, 3)
    found = {
        C: scale.repeat(
            repetitions,
            lambda seed, C=C: scale.all(radii, lambda r: scale.cell(one, radius=r, C=C, n=n, seed=seed)),
        )
        for C in Cs
    }
    errors = {C: gathered(found[C], "error") for C in Cs}
    C = min(Cs, key=lambda C: errors[C].mean())
    weights, error = gathered(found[C], "weights"), errors[C]  # (repetitions, radii, 5), (repetitions, radii)
    typical = weights.mean(axis=0)
    shares = np.log10(WIDTHS) @ typical.T  # the mean decade of the widths that are used
    moved = (weights[:, -1] - weights[:, 0]) @ np.log10(WIDTHS)
    near = typical[0]
    hard = [k for k, e in enumerate(error.mean(axis=0)) if e > HARD]
    separable = [k for k, e in enumerate(error.mean(axis=0)) if e == 0]
    slope = np.corrcoef(np.arange(len(radii)), shares)[0, 1]
    return Section(
        "Figure 2",
        "Two concentric stars, of radius 4 and 4.1 to 9.9, 1,000 examples of each class and Gaussian noise of 0.3; "
        "five RBF kernels exp(−‖x − x'‖²/w), w = 0.01 … 100, p = 1, gap 1e-3; one C for all distances, that of the "
        "smallest mean test error (the paper's: 0.5).",
        f"generated: r = R (1 + {DEPTH} cos {POINTS}φ), φ uniform, noise added to both coordinates.",
        findings=[
            Finding(
                "the test error falls to zero as the stars part", "0",
                f"{mean(error[:, 0], 1, 100)} % at first, {mean(error[:, -1], 1, 100)} % at last",
                bool(separable) and error[:, -1].mean() == 0, "0 at the largest distance",
            ),
            Finding(
                "the narrowest useful width loses weight with the distance, wider ones gain", "narrow to wide",
                f"mean decade of the widths {shares[0]:.2f} to {shares[-1]:.2f}, correlation {slope:.2f}",
                every([above(moved, 0.5), slope > 0.7]),
                "half a decade or more by two standard errors, correlation above 0.7",
            ),
            Finding(
                "the smallest width has the greatest weight while the problem is hard", "0.01",
                f"weights {_text(near)} for widths {', '.join(map('{:g}'.format, WIDTHS))} at the smallest distance, "
                f"{_text(typical[hard[-1]])} at the largest of {len(hard)} with an error above {100 * HARD:.0f} %",
                every(first(weights[:, k], 0) for k in hard),
                "the greatest weight at every distance with a test error above 25 %, by two standard errors",
            ),
            Finding(
                "the kernel of width 100 is never chosen", "0", f"{typical[:, 4].max():.3f} at most",
                below(weights[:, :, 4].max(axis=1), 0.01), "below 0.01 at every distance, by two standard errors",
            ),
        ],
        tables=[
            Table(
                f"Weights and test error at C = {C:g}",
                ["outer radius", *(f"width {w:g}" for w in WIDTHS), "test error, %"],
                [[f"{r:g}", *means(weights[:, k], 2), mean(error[:, k], 2, 100)] for k, r in enumerate(radii)],
            ),
            Table("Mean test error by C", ["C", "error, %"], [[f"{C:g}", 100 * errors[C].mean()] for C in Cs]),
        ],
        figures=[_draw(radii, typical, error.mean(axis=0))],
        deviations=[
            "The paper does not say how its stars are drawn; this one has five points.",
            f"{repetitions} training and test sets for each distance; {n} examples in each.",
            "The kernels have 1 on the diagonal, so that their traces are equal, as the paper assumes; it says that "
            "they are 1, which would divide its C by N. The C that it names is that of kernels as they are.",
        ],
    )  # fmt: skip


def stars(n, radius, rng):
    y = np.repeat([1.0, -1.0], n // 2)
    angle = rng.uniform(0, 2 * np.pi, n)
    r = np.where(y > 0, radius, INNER) * (1 + DEPTH * np.cos(POINTS * angle))
    return np.c_[r * np.cos(angle), r * np.sin(angle)] + NOISE * rng.normal(size=(n, 2)), y


def one(radius, C, n, seed):
    """Weights and test error for one training and one test set."""
    from manykernels import MKLClassifier
    from manykernels.kernels import RBF

    rng = np.random.default_rng([seed, int(100 * radius)])
    (X, y), (T, t) = stars(n, radius, rng), stars(n, radius, rng)
    kernels = [(f"width {w:g}", RBF(gamma=1 / w)) for w in WIDTHS]
    model = MKLClassifier(kernels, regularizer=1, C=C, normalize=None).fit(X, y)
    return {"weights": model.kernel_weights_, "error": np.mean(model.predict(T) != t), "gap": model.duality_gap_}


def _text(weights):
    return ", ".join(f"{w:.2f}" for w in weights)


def _draw(radii, weights, error):
    fig, axes = panels(4, width=3.2, height=3.0)
    for ax, radius in zip(axes[0], (4.1, 6.0, 9.9), strict=False):
        X, y = stars(2000, radius, np.random.default_rng(0))
        ax.scatter(*X.T, c=np.where(y > 0, "#1b7837", "#d6604d"), s=1.5)
        ax.set(aspect="equal", xticks=[], yticks=[])
        ax.set_title(f"radii 4 and {radius:g}", fontsize=9)
    ax = axes[0, 3]
    ax.plot(np.array(radii) - INNER, weights, marker=".", label=[f"width {w:g}" for w in WIDTHS])
    ax.plot(np.array(radii) - INNER, error, "ko--", markersize=3, linewidth=0.8, label="test error")
    ax.set(xlabel="distance of the radii", ylabel="weight")
    ax.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return Figure(
        "sonnenburg2006_figure2",
        "Stars at three distances, and the weights of five widths and the test error against the distance.", fig,
    )  # fmt: skip

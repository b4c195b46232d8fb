"""Section 5.1: what the bounds say of sparse and dense truths, beside what the toy experiment says."""

import numpy as np

from .._page import Figure, Finding, Section, Table, panels
from . import toy

NAMES = ("ℓ1", "ℓ4/3", "ℓ2", "ℓ4", "ℓ∞")


def run(scale, data):
    from manykernels.inspect import bounds

    n = 800
    terms = np.array(
        [[bounds.scenario(toy.truth(k).astype(float), p, n) for p in toy.NORMS] for k in toy.INFORMATIVE]
    )  # for predictors with equal norms on the informative kernels
    terms /= np.sqrt(toy.INFORMATIVE)[:, None]  # with the means' ‖μ‖ = ρ the norm of each is 1/√k
    best = [NAMES[k] for k in terms.argmin(axis=1)]
    sizes = scale.pick((10, 100, 1000), (10, 30, 100, 300, 1000, 3000, 10_000))
    uniform = [bounds.scenario(np.ones(M), 1, n) / bounds.scenario(np.ones(M), 2, n) for M in sizes]
    sparse = [bounds.scenario(np.eye(M)[0], 2, n) / bounds.scenario(np.eye(M)[0], 1, n) for M in sizes]
    growth = np.array(uniform) / np.sqrt(np.e * np.ceil(np.log(sizes)) / 2)
    signs = scale.cell(
        complexities, n=scale.pick(60, 200), informative=list(toy.INFORMATIVE), draws=scale.pick(100, 500)
    )
    return Section(
        "Bounds against sparsity",
        "The complexity term ‖w‖ √(c M^{1/p*} min(e⌈ln M⌉, ⌈p*⌉)/n) of the smallest H_p that holds the truth: the "
        "paper compares w = (1, …, 1), Example 1, and w = (1, 0, …, 0), Example 2. Here also the six scenarios of "
        "Figure 3, and the complexities themselves, computed with random signs on toy data.",
        "the toy data of Figure 3 for the random signs; the bounds need none.",
        findings=[
            Finding(
                "Example 1, a dense truth: p > 1 has the better bound, by a factor of log M under the root",
                "M² against M² log M, under the root",
                f"ratio of ℓ1 to ℓ2: {uniform[0]:.2f} at M = {sizes[0]}, {uniform[-1]:.2f} at M = {sizes[-1]:,}",
                min(uniform) > 1 and np.allclose(growth, 1), "above 1, and √(e⌈ln M⌉/2) to 1e-5",
            ),
            Finding(
                "Example 2, a sparse truth: ℓ1 has the considerably smaller bound with many kernels", "ℓ1",
                f"ratio of ℓ2 to ℓ1: {sparse[0]:.2f} at M = {sizes[0]}, {sparse[-1]:.2f} at M = {sizes[-1]:,}",
                sparse[-1] > 1.5 and np.all(np.diff(sparse) > 0), "above 1.5 at the most kernels, growing with M",
            ),
            Finding(
                "the sparser the truth, the smaller the p of the best bound", "the best p depends on the truth",
                " → ".join(dict.fromkeys(best)),
                best[0] == "ℓ∞" and best[-1] == "ℓ1" and np.all(np.diff(terms.argmin(axis=1)) <= 0),
                "ℓ∞ at 0 % noise, ℓ1 at 98 %, never growing", **SMALLEST,
            ),
        ],
        tables=[
            Table(
                f"Complexity terms for the scenarios of Figure 3, n = {n}, M = 50, ‖w‖₂ = 1",
                ["noise kernels", *NAMES, "smallest"],
                [[f"{100 * toy.sparsity(k):.0f} %", *row, name]
                 for k, row, name in zip(toy.INFORMATIVE, terms.tolist(), best, strict=True)],
            ),
            Table(
                f"The same complexities by random signs, n = {scale.pick(60, 200)}: no bound, the number itself",
                ["noise kernels", *NAMES, "smallest"],
                [[f"{100 * toy.sparsity(k):.0f} %", *row, NAMES[int(np.argmin(row))]]
                 for k, row in zip(toy.INFORMATIVE, signs, strict=True)],
            ),
            Table(
                "Ratios of bounds against the number of kernels",
                ["M", "dense truth: ℓ1 / ℓ2", "sparse truth: ℓ2 / ℓ1"],
                [[M, u, s] for M, u, s in zip(sizes, uniform, sparse, strict=True)],
            ),
        ],
        figures=[_draw(terms, np.array(signs))],
        deviations=[
            "The paper's bounds of Example 2 repeat M² from Example 1; the factor there is M^{1/p*}. That of Example "
            "1 at p = 1 has no C² left. Both as derived in `manykernels.inspect.bounds`.",
        ],
    )  # fmt: skip


SMALLEST = {}


def complexities(n, informative, draws):
    """The Rademacher complexity of the H_p that just holds the truth, for every scenario and norm."""
    from manykernels.inspect import bounds

    X, _ = toy.sample(n, informative[0], np.random.default_rng(0))
    X = X - X.mean(axis=0)
    K = np.einsum("im,jm->mij", X, X) / X.var(axis=0)[:, None, None]
    unit = [bounds.empirical_rademacher(K, p, draws)[0] for p in toy.NORMS]
    return [
        [bounds.block_norm(toy.truth(k) / np.sqrt(k), p) * value for p, value in zip(toy.NORMS, unit, strict=True)]
        for k in informative
    ]


def _draw(terms, signs):
    fig, axes = panels(2)
    x = [100 * toy.sparsity(k) for k in toy.INFORMATIVE]
    for ax, values, title in zip(axes[0], (terms, signs), ("bound of Corollary 9", "by random signs"), strict=True):
        for j, name in enumerate(NAMES):
            ax.plot(x, values[:, j], marker=".", label=name)
        ax.set_title(title, loc="left", fontsize=10)
        ax.set_xlabel("kernels of noise, %")
        ax.set_ylabel("complexity")
        ax.set_ylim(0)
    axes[0, 0].legend(fontsize=8)
    return Figure(
        "kloft2011_bounds", "Complexity of the smallest class that holds the truth, against its sparsity.", fig
    )

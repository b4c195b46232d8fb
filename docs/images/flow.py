"""Draws flow.png, the picture of docs/architecture.md: python docs/images/flow.py"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

INK, LINE, FILL, LIGHT = "#1b2a3a", "#5b7083", "#e8f0f7", "#fdf3e1"
FIT = [
    ("X, y, weights", "your data"),
    ("estimators/", "checks; labels → ±1, costs c"),
    ("kernels/", "which kernel sees what"),
    ("banks/", "normalise; products K_m a"),
    ("problem.py", "V, Ω, c: primal and dual"),
    ("solvers/ and inner/", "predictor ⇄ weights until gap ≤ tol"),
    ("solution.py", "θ, a, b and their certificate"),
]
PREDICT = [
    ("new X", "the same columns"),
    ("estimators/", "the same checks"),
    ("Predictor", "support examples only"),
    ("decision, parts", "Σ_m θ_m Σ_i a_i k_m(x_i, x) + b"),
]


def column(ax, x, boxes, top, colour):
    places = []
    for k, (title, text) in enumerate(boxes):
        y = top - 1.25 * k
        ax.add_patch(
            FancyBboxPatch((x - 1.75, y - 0.4), 3.5, 0.8, "round,pad=0.02,rounding_size=0.12", fc=colour, ec=LINE)
        )
        ax.text(x, y + 0.14, title, ha="center", va="center", fontsize=11, weight="bold", color=INK)
        ax.text(x, y - 0.17, text, ha="center", va="center", fontsize=9, color=INK)
        places.append(y)
    for above, below in zip(places, places[1:], strict=False):
        ax.annotate("", (x, below + 0.44), (x, above - 0.44), arrowprops=dict(arrowstyle="-|>", color=LINE))
    return places


def main():
    fig, ax = plt.subplots(figsize=(8.6, 7.4), dpi=130)
    left, right = 2.0, 7.0
    ax.text(left, 9.0, "One fit", ha="center", fontsize=13, color=INK)
    ax.text(right, 9.0, "One prediction", ha="center", fontsize=13, color=INK)
    fit = column(ax, left, FIT, 8.2, FILL)
    column(ax, right, PREDICT, 8.2, LIGHT)
    ax.annotate(
        "", (right - 1.82, 8.2 - 2.5), (left + 1.8, fit[-1]),
        arrowprops=dict(arrowstyle="-|>", color=LINE, connectionstyle="arc3,rad=0.04"),
    )  # fmt: skip
    ax.text(5.3, 2.6, "what is kept:\nsupport examples,\ntheir kernels, θ, a, b", fontsize=9, color=INK)
    ax.annotate(
        "", (left - 1.8, fit[3]), (left - 1.8, fit[5]),
        arrowprops=dict(arrowstyle="-|>", color=LINE, connectionstyle="arc3,rad=-0.35"),
    )  # fmt: skip
    ax.text(left - 2.85, fit[4], "a few\npasses", fontsize=9, color=INK, ha="center", va="center")
    ax.set_xlim(-1.5, 9.2)
    ax.set_ylim(0, 9.4)
    ax.axis("off")
    fig.savefig(Path(__file__).with_name("flow.png"), bbox_inches="tight")


if __name__ == "__main__":
    main()

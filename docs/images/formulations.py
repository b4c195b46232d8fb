"""Draws formulations.png, the picture of docs/formulations.md: python docs/images/formulations.py"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

INK, LINE, FILL, LIGHT = "#1b2a3a", "#5b7083", "#e8f0f7", "#fdf3e1"
LADDER = [
    ("Error bars, or no C to choose?", "squared loss, a few thousand examples", 'EmpiricalBayes("learn")',
     'loss="squared"'),
    ("Something known beforehand?", "an order, costs, kinship, a good guess", "Wedge()   WeightedLpNorm(p, w)",
     "NonIsotropic(E)   Ball(center, radius)"),
    ("Only a baseline?", "weights first, predictor second",
     "Uniform()   BestSingle()   AlignF()", "also Align(), EasyMKL(), Fixed(weights)"),
    ("Few kernels wanted in the model?", "to read it, or to measure less next time", "regularizer=1",
     "alike ones together: ElasticNet(0.5)"),
    ("Each kernel knows its own part?", "different sources, all of them useful", "regularizer=2",
     "nearly equal: 4, … np.inf, their plain sum"),
]  # fmt: skip
LAST = ("MKLClassifierCV(kernels, Cs=10, regularizer=[1, 4/3, 2, np.inf])", "held-out examples decide")


def box(ax, x, y, width, lines, colour, code=False):
    ax.add_patch(
        FancyBboxPatch((x - width / 2, y - 0.42), width, 0.84, "round,pad=0.02,rounding_size=0.12", fc=colour, ec=LINE)
    )
    lines = [line for line in lines if line]
    first = dict(fontsize=10, family="monospace") if code else dict(fontsize=10.5, weight="bold")
    for k, line in enumerate(lines):
        style = dict(fontsize=9) if k else first
        ax.text(x, y + 0.15 * (len(lines) - 1) - 0.31 * k, line, ha="center", va="center", color=INK, **style)


def main():
    fig, ax = plt.subplots(figsize=(9.4, 7.6), dpi=120)
    left, right = 2.25, 8.2
    for k, (question, hint, first, second) in enumerate(LADDER):
        y = 8.0 - 1.4 * k
        box(ax, left, y, 4.5, (question, hint), FILL)
        box(ax, right, y, 5.0, (first, second), LIGHT, code=True)
        arrow = dict(arrowstyle="-|>", color=LINE)
        ax.annotate("", (right - 2.56, y), (left + 2.3, y), arrowprops=arrow)
        ax.text((left + right) / 2 - 0.12, y + 0.14, "yes", ha="center", color=INK, fontsize=9.5)
        ax.annotate("", (left, y - 0.95), (left, y - 0.46), arrowprops=arrow)
        ax.text(left + 0.15, y - 0.76, "no" if k < len(LADDER) - 1 else "cannot say", color=INK, fontsize=9.5)
    box(ax, 5.35, 8.0 - 1.4 * len(LADDER), 10.7, LAST, LIGHT, code=True)
    ax.set_xlim(-0.2, 10.9)
    ax.set_ylim(0.4, 8.6)
    ax.axis("off")
    fig.savefig(Path(__file__).with_name("formulations.png"), bbox_inches="tight", pad_inches=0.05)


if __name__ == "__main__":
    main()

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier

from ..._pictures import COLOURS, left_out, note, plain, rows_of
from ..._validation import check_integer
from ...estimators import MKLSurvival
from ...estimators.check_inputs import check_y, is_precomputed, take_examples
from ...estimators.check_views import among_themselves
from ...estimators.plan import bank_of, read_examples
from ...kernels.normalize import centred_products, cosines
from ...kernels.rows import check_rows
from ...kernels.view_data import n_examples
from ..tables import check_model, chosen_model
from .base import Display


@dataclass(eq=False, repr=False)
class AlignmentDisplay(Display):
    """Centred alignments between kernels as a heat map, and with the target as bars.

    Hierarchical clustering orders the kernels (mean linkage of 1 − alignment, optimal order of the leaves).

    Parameters
    ----------
    alignments : array (M, M)
    names : list of M str
    target : array (M,), optional
        Alignments with the target.
    total : int, optional
        The number of all kernels, for a note on those left out.

    Examples
    --------
    >>> from manykernels.inspect import AlignmentDisplay
    >>> shown = AlignmentDisplay([[1, 0.1, 0.9], [0.1, 1, 0.2], [0.9, 0.2, 1]], ["a", "b", "c"]).plot()
    >>> "".join(label.get_text() for label in shown.ax_.get_yticklabels()) in ("acb", "cab", "bac", "bca")
    True
    """

    alignments: Any
    names: Sequence[str]
    target: Any = None
    total: Any = None

    shapes = {"alignments": ("names", "names"), "target": ("names",)}

    def __post_init__(self) -> None:
        super().__post_init__()
        self.total = len(self.names) if self.total is None else self.total
        self.order = _clustered(self.alignments)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any = None, *, top: int = 30, max_examples: int = 500, random_state: Any = 0,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw the kernels of a model, fitted or not, on X: the `top` kernels best aligned with y, or the first.

        If there are more than `max_examples` examples, a random sample of this size is used.
        """
        return cls.measured(model, X, y, top, max_examples, random_state).plot(ax)

    @classmethod
    def measured(
        cls, model: Any, X: Any, y: Any = None, top: int = 30, max_examples: int = 500, random_state: Any = 0
    ) -> Self:
        """The same display, not drawn."""
        from sklearn.utils import check_random_state

        check_integer("top", top)
        check_integer("max_examples", max_examples, 2)
        check_model(model)
        model = chosen_model(model)
        check_rows(X, y=y)
        X = among_themselves(X)
        n = n_examples(X)
        if n > max_examples:
            rows = np.sort(check_random_state(random_state).permutation(n)[:max_examples])
            X = X[np.ix_(rows, rows)] if is_precomputed(model) else take_examples(X, rows)
            y = None if y is None else np.asarray(y)[rows]
        bank, Y = bank_of(model, X), _aims(model, X, y)
        target, which, between = aligned(bank, np.zeros((1, bank.n)) if Y is None else Y, top)
        if not len(which):
            raise ValueError("no kernel varies over these examples: scale the columns, or choose other kernels.")
        return cls(between, [str(bank.names[m]) for m in which], None if Y is None else target[which], bank.M)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on a new figure; heat map and bars divide the space of `ax`."""
        M, order, target = len(self.names), self.order, self.target
        bars = target is not None
        size = 2.6 + 0.26 * max(M, 4)
        widths = {"gridspec_kw": {"width_ratios": [4, 1]}} if bars else {}
        axes = self._panels(ax, (size + 2.6 * bars, size - 0.4), 1, 1 + bars, **widths)[0]
        values = self.alignments[np.ix_(order, order)]
        low = min(0.0, values.min())
        look = dict(cmap="cividis", vmin=low, vmax=1.0, aspect="auto", interpolation="nearest")
        image = axes[0].imshow(values, **look)
        rows_of(axes[0], [self.names[m] for m in order])
        axes[0].set_ylim(M - 0.5, -0.5)
        axes[0].set_xticks([])
        axes[0].set_xlabel("the same kernels, in the same order")
        if M <= 8:
            for (i, j), value in np.ndenumerate(values):
                dark = value < (low + 1.0) / 2
                axes[0].text(j, i, f"{value:.2f}", ha="center", va="center", color="white" if dark else "black")
        self.figure_.colorbar(image, ax=axes[0], label="centred alignment", pad=0.02, aspect=30)
        if target is not None:
            plain(axes[1]).barh(range(M), target[order], color=COLOURS[1], height=0.7)
            axes[1].set(ylim=(M - 0.5, -0.5), yticks=[], xlabel="with the target")
            axes[1].set_xlim(left=min(0.0, float(target.min())))
        which = "the best aligned" if bars else "the first"
        said = left_out(M, self.total, "kernels")
        note(axes[0], said and f"{said}, {which}")
        return self


def _aims(model, X, y):
    """The targets that kernels are compared with, (T, n), or None."""
    if isinstance(model, MKLSurvival) and y is not None:
        examples = read_examples(clone(model), X, y, None)
        return examples.loss.alignment_target(examples.Y[0])[None]
    y = None if y is None else check_y(clone(model), y, numeric=not is_classifier(model))
    return target_rows(y, is_classifier(model))


def target_rows(y, labels):
    """The targets as rows (T, n), ±1 for each class, or each of several labels, if they are labels; None for None."""
    if y is None:
        return None
    y = np.asarray(y)
    if y.ndim == 2:
        return np.where(y.T > 0, 1.0, -1.0) if labels else np.asarray(y.T, float)
    return np.where(y == np.unique(y)[:, None], 1.0, -1.0) if labels else np.asarray(y, float)[None]


def aligned(bank, Y, top):
    """(alignments of all kernels with Y (T, n), the numbers of the `top` best aligned, alignments between these)."""
    target, squares, norm = centred_products(bank, Y)
    size = np.sqrt(squares * norm)
    found = np.divide(target, size, out=np.zeros_like(target), where=size > 0)
    best = np.argsort(-np.where(bank.usable[: bank.M], found, -np.inf), kind="stable")
    which = np.sort(best[: min(top, np.count_nonzero(bank.usable[: bank.M]))])
    if not len(which):
        return found, which, np.zeros((0, 0))
    part = bank.restrict(np.arange(bank.n), which)
    own = dict(bank=bank, kernels=which) if part is None else dict(bank=part)
    return found, which, cosines(centred_products(Y=Y, pairs=True, **own)[1])


def _clustered(A):
    """The order of the rows in which similar rows are neighbours."""
    if len(A) < 3:
        return np.arange(len(A))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    apart = np.clip(1.0 - 0.5 * (A + A.T), 0.0, None)
    np.fill_diagonal(apart, 0.0)
    return leaves_list(linkage(squareform(apart, checks=False), "average", optimal_ordering=True))

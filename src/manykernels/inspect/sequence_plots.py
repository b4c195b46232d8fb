"""Models of sequences as pictures; matplotlib is imported on first use."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._pictures import one_axes
from .oligomers import POIM
from .sequences import position_weights

LETTER_COLOURS = {"A": "#2a9d3a", "C": "#2b6cb0", "G": "#e09f1f", "T": "#c0392b", "U": "#c0392b"}
INK, BAND, PLANTED = "#1f3b57", "#9db8d3", "#d1495b"


def plot_positions(
    model: Any, boot: np.ndarray | None = None, information: ArrayLike | None = None, ax: Any = None, origin: int = 0
) -> Any:
    """The share of the kernel weights by letter.

    Parameters
    ----------
    model : estimator
        Fitted, as in `position_weights`.
    boot : array, optional
        Weights of `bootstrap_weights`, drawn as the band between their 5 % and 95 % quantiles.
    information : array (L,), optional
        Known information of the positions, in bits, drawn on a second axis.
    ax : matplotlib axes, optional
    origin : int, default 0
        The position called 0.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import plot_positions
    >>> from manykernels.strings import degree_kernels
    >>> model = MKLClassifier(degree_kernels(2), C=1.0).fit(["ACGT", "ACGA", "TTGT", "TTGA"], [1, 1, 0, 0])
    >>> plot_positions(model).get_xlabel()
    'position'
    """
    share = np.atleast_2d(position_weights(model).letters).mean(axis=0)
    if information is not None and np.shape(information) != share.shape:
        raise ValueError(
            f"information has shape {np.shape(information)}, but the model has {len(share)} positions: give one number "
            "for each"
        )
    ax = _axes(ax, (9, 3))
    x = np.arange(len(share)) - origin
    if boot is not None:
        boot = np.asarray(boot).reshape(len(boot), -1, np.shape(boot)[-1]).mean(axis=1)
        low, high = np.quantile(position_weights(model, boot).letters, [0.05, 0.95], axis=0)
        ax.fill_between(x, 100 * low, 100 * high, color=BAND, lw=0, label="bootstrap, 5 % to 95 %", step="mid")
    ax.step(x, 100 * share, where="mid", color=INK, lw=1.4, label="learned weight")
    ax.set(xlabel="position", ylabel="share of the weights in %", xlim=(x[0] - 0.5, x[-1] + 0.5))
    ax.set_ylim(bottom=0)
    lines, labels = ax.get_legend_handles_labels()
    if information is not None:
        other = ax.twinx()
        lines += other.plot(x, information, ".", color=PLANTED, ms=4, label="information")
        labels.append("information")
        other.set_ylim(bottom=0)
        other.set_ylabel("information in bits", color=PLANTED)
        other.tick_params(axis="y", colors=PLANTED)
        other.spines["top"].set_visible(False)
    ax.legend(lines, labels, frameon=False, loc="upper left")
    return ax


def plot_poim(poim: POIM | list[POIM], ax: Any = None, origin: int = 0, top: int = 16) -> Any:
    """Q(z, p) of a `POIM` as a heat map, positions × the words with the largest |Q|.

    Parameters
    ----------
    poim : POIM or list of POIM
        A list is drawn as the curves max_z |Q(z, p)|, one for each k.
    ax : matplotlib axes, optional
    origin : int, default 0
        The position called 0.
    top : int, default 16
        The largest number of words.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import POIM, plot_poim
    >>> plot_poim(POIM(np.array([[1.0, -2.0], [0.5, 0.0]]), 1, "AB")).get_xlabel()
    'position'
    """
    _check(poim)
    if isinstance(poim, list):
        return _curves(poim, _axes(ax, (9, 3)), origin)
    Q, words = poim.values, np.array(poim.words)
    rows = np.sort(np.argsort(-np.abs(Q).max(axis=0), kind="stable")[:top])
    ax = _axes(ax, (9, 0.9 + 0.2 * len(rows)))
    most = np.abs(Q).max() or 1.0
    extent = (-0.5 - origin, len(Q) - 0.5 - origin, len(rows) - 0.5, -0.5)
    options = dict(aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most, interpolation="nearest")
    image = ax.imshow(Q[:, rows].T, extent=extent, **options)
    ax.set_yticks(range(len(rows)), words[rows], family="monospace")
    ax.set_xlabel("position" if poim.k == 1 else "position of the first letter")
    ax.figure.colorbar(image, ax=ax, label="change of the decision", pad=0.01)
    return ax


def plot_logo(poim: POIM, ax: Any = None, origin: int = 0, start: int | None = None, stop: int | None = None) -> Any:
    """A sequence logo: the height of a letter is its change of the decision, up towards the class, down away from it.

    Parameters
    ----------
    poim : POIM
        Of k = 1.
    ax : matplotlib axes, optional
    origin : int, default 0
        The position called 0.
    start, stop : int, optional
        Cut the positions, counted as in the POIM.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import POIM, plot_logo
    >>> plot_logo(POIM(np.array([[1.0, -2.0], [0.5, 0.0]]), 1, "AC")).get_xlabel()
    'position'
    """
    if isinstance(poim, list):
        raise ValueError(f"poim is a list of {len(poim)}: a logo shows one of them, poim(model, 1)")
    _check(poim)
    if poim.k != 1:
        raise ValueError(f"poim has k={poim.k}: a logo shows single letters; give poim(model, 1)")
    L, given = len(poim.values), f"start={start} and stop={stop}"
    start, stop, _ = slice(start, stop).indices(L)
    if start >= stop:
        raise ValueError(f"{given} leave none of the {L} positions: give 0 <= start < stop <= {L}")
    Q = poim.values[start:stop]
    ax = _axes(ax, (9, 2.8))
    draw_letters(ax, Q, poim.letters, start - origin)
    ax.set(xlabel="position", ylabel="change of the decision")
    return ax


def draw_letters(ax: Any, Q: np.ndarray, letters: str, first: int = 0) -> None:
    """Letters as high as Q (L, A), stacked above and below the line 0, at first, first + 1, …"""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    bold: Any = {"weight": "bold"}  # the stubs of matplotlib do not accept it as a font
    glyphs = {letter: TextPath((0, 0), letter, size=1, prop=bold) for letter in letters}

    def draw(letter, x, low, height):
        box = glyphs[letter].get_extents()
        move = Affine2D().translate(-box.x0, -box.y0).scale(0.92 / box.width, height / box.height)
        path = Path(glyphs[letter].vertices, glyphs[letter].codes)
        colour = LETTER_COLOURS.get(letter, "#444444")
        ax.add_patch(PathPatch(path.transformed(move.translate(x - 0.46, low)), fc=colour, lw=0))

    for x, z, low, height in stacked(Q):
        draw(letters[z], first + x, low, height)
    up, down = (np.where(sign * Q > 0, Q, 0).sum(axis=1) for sign in (1, -1))
    low, high = (1.08 * down.min(), 1.08 * up.max()) if Q.any() else (-1.0, 1.0)
    ax.set(xlim=(first - 0.6, first + len(Q) - 0.4), ylim=(low, high))
    ax.axhline(0, color="black", lw=0.8)


def stacked(Q: np.ndarray) -> Iterator[tuple[int, int, float, float]]:
    """(place, letter, low, height) of letters as high as Q (L, A), the smallest next to the line 0."""
    for x, row in enumerate(Q):
        for sign in (1, -1):
            level = 0.0
            for z in sorted(np.flatnonzero(sign * row > 0).tolist(), key=lambda z: abs(row[z])):
                yield x, z, min(level, level + row[z]), abs(row[z])
                level += row[z]


def _check(poim):
    """A ValueError unless `poim` is a `POIM` or a list of them."""
    poims = poim if isinstance(poim, list) else [poim]
    if not poims:
        raise ValueError("poim is an empty list: give at least one poim(model, k)")
    for one in poims:
        if not isinstance(one, POIM):
            raise ValueError(f"poim is of type {type(one).__name__}: give what poim(model, k) returns")


def _curves(poims, ax, origin):
    import matplotlib

    shades = matplotlib.colormaps["viridis"](np.linspace(0.85, 0.1, len(poims)))
    for poim, shade in zip(poims, shades, strict=True):
        x = np.arange(len(poim.values)) + (poim.k - 1) / 2 - origin
        ax.plot(x, poim.importance, color=shade, lw=1.3, label=f"k = {poim.k}")
    length = len(poims[0].values) + poims[0].k - 1
    ax.set(xlabel="position of the word's middle", ylabel="largest change of the decision")
    ax.set_xlim(-0.5 - origin, length - 0.5 - origin)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, loc="upper left")
    return ax


def _axes(ax, size):
    ax = one_axes(ax, size)
    ax.spines["top"].set_visible(False)
    return ax

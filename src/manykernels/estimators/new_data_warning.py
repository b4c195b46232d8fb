"""One warning per call about values of new examples that no training example had."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._callers import caller_level
from ..kernels.new_data import LONGER, NewDataWarning, unequal, wordless
from ..kernels.rows import ids_of
from ..kernels.tasks import split
from ..kernels.view_data import n_examples

MAX_NAMED = 5  # columns, and examples of each column, in a warning


class Gathered:
    """The new values in all blocks of one call: {(kind, where): (names of the examples, an example)} of n examples."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], tuple[list[Any], Any]] = {}
        self.n = 0

    def add(self, X: Any, news: list[Any]) -> None:
        names = ids_of(X)
        for one in {(one.kind, one.where): one for one in news}.values():
            called = (one.rows + self.n).tolist() if names is None else [names[i] for i in one.rows]
            self.found.setdefault((one.kind, one.where), ([], one.example))[0].extend(called)
        self.n += n_examples(X)

    def tell(self) -> None:
        """A UserWarning, if anything was found."""
        if not self.found:
            return
        said = [self._words(*key, *value) for key, value in list(self.found.items())[:MAX_NAMED]]
        said += [f"{len(self.found) - MAX_NAMED} more such columns"] * (len(self.found) > MAX_NAMED)
        sentence = f"X has values that no training example had: {'; '.join(said)}."
        warnings.warn(sentence, NewDataWarning, stacklevel=caller_level())

    def _words(self, kind, where, names, example):
        some = ", ".join(map(str, names[:MAX_NAMED])) + ", …" * (len(names) > MAX_NAMED)
        count = f"{len(names)} of {self.n} examples ({some})"
        if kind == "missing":
            return f"{where} is missing in {count}"
        if kind == "category":
            return f"{where} has new categories, {example!r} for example, in {count}, and these count as none"
        if kind == "short":
            return (
                f"{where} reads words of {example[0]} letters, and {count} have fewer, {example[1]} in one of them: it "
                "is 0 there"
            )
        size, low, high = example
        return (
            f"{where} counts words and sees sequences of other lengths in {count}, {size} letters in one of them, "
            f'{low} to {high} in training: decisions grow with the length; fit with normalize="spherical"'
        )


_GATHERED: ContextVar[Gathered | None] = ContextVar("gathered", default=None)


@contextmanager
def gathered() -> Iterator[None]:
    """Gathers the findings of all calls within into one warning at the end."""
    found = Gathered()
    token = _GATHERED.set(found)
    try:
        yield
    finally:
        _GATHERED.reset(token)
    found.tell()


def new_data(model: Any, X: Any, told: bool = True) -> Any:
    """X as the fitted model takes it, after the checks of predictions and, with `told`, their warnings."""
    X = model._new_X(X)
    if told:
        tell_news(model, X)
    return X


def tell_news(model: Any, X: Any) -> None:
    """Warns of, or gathers, values of X that are new to the kernels with weight."""
    X = split(X)[0]
    found = model.predictor_.news(X, _used(model), model.normalize_ != "spherical")
    box = _GATHERED.get()
    here = Gathered() if box is None else box
    here.add(X, found)
    if box is None:
        here.tell()


def warn_of_data(model: Any) -> None:
    """A UserWarning if kernels that count words were trained on sequences without a word, or of very unequal lengths.

    Another one names the columns that kernels="auto" has left out.

    √k(x, x) grows with the length, and so does |f(x)|, unless normalize="spherical".
    """
    kernels = model.predictor_.kernel_list
    if kernels is None:
        return
    said = [vars(kernels).pop("note", "")]
    if lost := wordless(kernels, _used(model)):
        said.append(
            f"{lost[0]!r} reads words of {lost[1]} letters, and the shortest training sequence has {lost[2]}: the "
            "kernel is 0 for such a sequence; leave it out, or give shorter words."
        )
    if model.normalize_ != "spherical" and (found := unequal(kernels, _used(model))):
        name, low, high = found
        said.append(
            f"{name!r} counts words, and the training sequences have {low} to {high} letters, more than {LONGER:g} "
            f"times as many in some as in others: with normalize={model.normalize_!r} decisions grow with the length "
            'of a sequence; give normalize="spherical", which makes k(x, x) = 1.'
        )
    for sentence in filter(None, said):
        warnings.warn(sentence, UserWarning, stacklevel=caller_level())


def _used(model):
    """Which kernels have weight, (M,)."""
    return (np.atleast_2d(model.kernel_weights_) * model.predictor_.scale != 0).any(axis=0)

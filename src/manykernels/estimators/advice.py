"""Warnings after a fit, about gaps, units, kernels and data; and one warning per call about new values in new data."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._callers import caller_line, caller_module, warn
from ..kernels.new_data import LONGER, NewDataWarning, unequal, wordless
from ..kernels.normalize import centred_matrix
from ..kernels.rows import ids_of
from ..kernels.tasks import split
from ..kernels.view_data import n_examples
from ..solution import Solution, Status
from ..solvers.diagnosis import sentence_for

DOUBTFUL = Status.ROUGH, Status.NOISELESS  # of fits that have converged
MAX_NAMED_PROBLEMS = 3  # in a warning
MAX_EXAMPLES = 250  # of the estimate, evenly spread
MIN_EXAMPLES = 30  # for a warning
MIN_NEIGHBOURS = 0.1  # a kernel with fewer is nearly diagonal
MIN_NEIGHBOURS_ALONE = 1e-4  # the same for a single kernel, which has no weight to misread; gapped words have 1e-3
ALREADY_SAID: set[Any] = set()  # sentences and lines of the user, in the loops of scikit-learn
MIN_SHARE, MIN_UNIFORM_SHARES = 0.25, 1.05  # of the weights, and relative to 1/M, for a warning about one of M kernels


def warn_convergence(model: Any, solutions: list[Solution], labels: list[str]) -> None:
    """A ConvergenceWarning if a gap is above `tol`; a UserWarning if float64 cannot resolve a gap below it."""
    name, short = type(model).__name__, [s for s in solutions if not s.converged]
    if not short:
        rough = [(s, label) for s, label in zip(solutions, labels, strict=True) if s.status in DOUBTFUL]
        if rough:
            which, words = _listed(label for _, label in rough if label), rough[0][0].reason
            warn(f"{name} has converged{which}, but {words}.")
        return
    bayes = short[0].stationarity is not None
    what = f"stationarity of {model.stationarity_:.2e}" if bayes else f"duality gap of {model.duality_gap_:.2e}"
    which = _listed(label for s, label in zip(solutions, labels, strict=True) if label and not s.converged)
    warn(
        f"{name} stopped at a {'' if bayes else 'relative '}{what}, above tol={model.tol:g}, after "
        f"{max(s.n_iter for s in short)} steps{which}: {short[0].reason or sentence_for(Status.STALLED)}.",
        ConvergenceWarning,
    )


def _listed(labels):
    """The first labels, each with its comma."""
    labels = list(labels)
    return "".join(labels[:MAX_NAMED_PROBLEMS]) + ", …" * (len(labels) > MAX_NAMED_PROBLEMS)


def warn_units(loss, Y, c, C):
    """A UserWarning about a parameter of the loss that does not suit the targets Y (T, n) of costs c (n,).

    The spread is the standard deviation of the targets with c_i > 0; `Loss.misfit` has the rules.
    """
    spreads = np.std(Y[:, np.asarray(c) > 0], axis=1)
    for t, spread in enumerate(spreads):
        says = loss.misfit(float(spread), C) if spread > 0 else ""
        if says:
            which = "y" if len(Y) == 1 else f"y[:, {t}]"
            warn(
                f"The standard deviation of {which} is {spread:.3g}, and loss={loss.name!r} depends on the unit of y: "
                f"{says}. Scale y, TransformedTargetRegressor(model, transformer=StandardScaler()), or take "
                "loss='squared', which is the same in every unit."
            )
            return


def effective_widths(bank, kernels, examples=MAX_EXAMPLES):
    """The effective number of neighbours of an example under each kernel, (|kernels|,), 0 for the identity.

        n − 1  times the mean over i ≠ j of  k_ij²  /  the mean over i of  k_ii²,   less 1/n,

    with the centred kernel k: the sum of squares off the diagonal over the sum on it, estimated from evenly spread
    examples, less the 1/n of the centred identity. RBF kernels with gamma="scale" on d columns of noise have about
    n / 10d, linear kernels n / d.
    """
    rows = np.unique(np.linspace(0, bank.n - 1, min(bank.n, examples)).astype(int))
    size, found = len(rows), []
    for m in kernels:
        theta = np.zeros(bank.M)
        theta[m] = 1.0
        K = bank.combined(theta, rows, rows, dtype=np.float64)
        K = K / (np.abs(K).max() or 1.0)  # squares of large values overflow
        K = centred_matrix(K)
        own = float(np.sum(np.diag(K) ** 2))
        rest = float(np.sum(K**2)) - own
        ratio = max(rest / own - 1.0 / (size - 1), 0.0) if own > 0 else np.inf
        found.append(ratio * (bank.n - 1) / (size - 1))
    return np.array(found)


def warn_diagonal(model, bank):
    """A UserWarning that names heavy kernels, other than `Identity`, that are nearly diagonal on the training data.

    The message has no numbers, so that it is the same in every fold. In a search of scikit-learn, whose tasks forget
    earlier warnings, it appears once.
    """
    theta = np.mean(np.atleast_2d(model.kernel_weights_), axis=0)
    share = theta / (theta.sum() or 1.0)
    kernels = model.predictor_.kernel_list
    least = max(MIN_SHARE, MIN_UNIFORM_SHARES / len(share)) if len(share) > 1 else 0.0
    heavy = [m for m in np.flatnonzero(share > least) if kernels is None or kernels.kernels[m].base != "same"]
    if bank.n < MIN_EXAMPLES or not len(heavy):
        return
    least = MIN_NEIGHBOURS if len(share) > 1 else MIN_NEIGHBOURS_ALONE
    narrow = np.array(heavy)[effective_widths(bank, heavy) < least]
    if not len(narrow):
        return
    sentence = _sentence(model, narrow)
    if caller_module().startswith("sklearn."):
        said = sentence, caller_line()
        if said in ALREADY_SAID:
            return
        ALREADY_SAID.add(said)
    warn(sentence)


def _sentence(model, narrow):
    names, cure = (
        ", ".join(repr(model.kernel_names_[m]) for m in narrow[:5]),
        _cure(model.predictor_.kernel_list, narrow),
    )
    alike = "such a kernel sees an example as similar to itself and to hardly any other"
    if len(model.kernel_names_) == 1:
        return f"{names} is diagonal on the training data: {alike}, so that it learns nothing about new ones; {cure}."
    several = len(narrow) > 1
    cure += ", or slack=True" if model.get_params(deep=False).get("slack") is False else ""
    return (
        f"{names} {'are' if several else 'is'} nearly diagonal on the training data, and a quarter of the weight or "
        f"more is on {'each' if several else 'it'}: {alike}. It can fit the training examples one by one, so that its "
        f"weight does not say what it is worth on new examples; {cure}. inspect.relevance measures what each kernel is "
        "worth."
    )


def _cure(kernels, narrow):
    """The cure for these kernels; `kernels` is None if they are precomputed."""
    if kernels is None:
        return "compute it so that examples have others near them (an RBF with a smaller gamma), or leave it out"
    if all(kernels.kernels[m].reads == "sequences" for m in narrow):
        return "take shorter words"
    return "scale the columns, or take a smaller gamma"


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
        warn(sentence, NewDataWarning)

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
        warn(sentence)


def _used(model):
    """Which kernels have weight, (M,)."""
    return (np.atleast_2d(model.kernel_weights_) * model.predictor_.scale != 0).any(axis=0)

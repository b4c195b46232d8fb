"""Attribution: what every letter of a sequence does to the decision of a model."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._validation import check_choice, check_integer
from ..estimators.advice import new_data
from ..estimators.covariates import level_of
from ..kernels.frames import is_frame, is_pandas
from ..kernels.ids import take
from ..kernels.rows import check_rows
from ..kernels.view_data import n_examples
from ..kernels.views import Views
from ..sequences import Sequences
from ._letters import WordValues, counts_whole, has_values, word_parts
from .displays.base import check_fitted
from .explanation import SequenceExplanation
from .sequences import row_of

METHODS = ("mutagenesis", "gkmexplain")
COPIES = 4096  # of sequences with one letter changed, at a time


def explain_sequences(
    model: Any, X: Any, method: str = "mutagenesis", *, mode: int | None = None, label: Any = None,
    view: str | None = None, by_kernel: bool = False, covariates: Any = None,
) -> SequenceExplanation:  # fmt: skip
    """What every letter at every position of the sequences does to the decision f of a model.

    "mutagenesis" is the exact change f(x with letter a at p) − f(x) of all substitutions, for every model of sequences;
    other columns of X stay as they are. `Spectrum`, `Mismatch` and `GappedKmer` without gamma look up only the words
    that change; other kernels (and roots of counts), and sequences with unknown letters, are computed for every copy.

    "gkmexplain" divides the terms of `Spectrum`, `Mismatch` and `GappedKmer` among letters (Shrikumar, Prakash and
    Kundaje 2019). A pair of a window u of x and a window v of a support sequence with m <= d mismatches adds s = (its
    coefficient) · c(m) to f. With k(x, x) held fixed, letter a at position p of u gets of it, by `mode`,

    0. s / (l − m) if a is in both windows at p;
    1. this, and where v has a and u has not, what u with a there would give: c(m − 1) / (l − m + 1);
    2. as 1, also of windows with d + 1 mismatches;
    3. the change if u had a there, c(m ± 1) − c(m), of windows with m <= d;
    4. as 3, also of windows with d + 1 mismatches.

    Values of mode 0 plus `base` sum to f. With gamma, k is exp(gamma (k' − 1)), and all values of a support sequence
    are multiplied by (exp(gamma (k' − 1)) − exp(−gamma)) / k'.

    Parameters
    ----------
    model : estimator
        Fitted on sequences, by pairs or by features.
    X : as in predict
    method : {"mutagenesis", "gkmexplain"}
    mode : {0, 1, 2, 3, 4}, optional
        Of gkmexplain, 0 by default.
    label : optional
        The class if the model has more than two, or the number of the target.
    view : str, optional
        The view or column of the sequences to explain if the model reads several.
    by_kernel : bool, default False
        Whether the values are split by kernel, (n, M, L, A).
    covariates : (n, q), optional
        As in predict, if the model was fitted with covariates; their part of f is in `base`.

    Returns
    -------
    SequenceExplanation

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import explain_sequences
    >>> from manykernels.strings import Spectrum
    >>> model = MKLClassifier([Spectrum(k=2)], C=1.0).fit(["AAAA", "ACAA", "TTTT", "TTGT"], [1, 1, 0, 0])
    >>> found = explain_sequences(model, ["AACA"])
    >>> found.values.shape, bool((found.values[0, :, 3] < 0).all())
    ((1, 4, 4), True)
    """
    model = check_fitted(model)
    check_choice("method", method, METHODS)
    if mode is not None and method == "mutagenesis":
        raise ValueError(f"mode={mode!r} is for method='gkmexplain': leave it out.")
    mode = check_integer("mode", 0 if mode is None else mode, 0, 4)
    row = row_of(model, label)
    check_rows(X, covariates=covariates)
    source = _Source(model, X, row, view, covariates)
    out = np.zeros((source.M if by_kernel else 1, int(source.sequences.lengths.sum()), source.sequences.alphabet.size))
    base = source.unchanged()
    if method == "mutagenesis":
        _mutate(source, out)
    else:
        base = base + _divide(source, mode, out)
    values = _padded(out, source.sequences.lengths)
    return SequenceExplanation(
        values if by_kernel else values[:, 0], source.sequences.alphabet.letters, source.sequences, source.decision(),
        base, method, mode if method == "gkmexplain" else None, list(model.kernel_names_) if by_kernel else None,
    )  # fmt: skip


class _Source:
    """The sequences of X that are explained, and the kernels of the model that read them."""

    def __init__(self, model, X, row, view, covariates):
        self.predictor = model.predictor_
        kernels = self.predictor.kernel_list
        if kernels is None:
            raise ValueError("model has precomputed kernels, which read no sequences: fit kernels on sequences.")
        if kernels.tasks is not None:
            raise ValueError("model has several tasks, which explanations do not know: fit plain kernels.")
        self.X = X = new_data(model, X)
        self.M, self.kernels, self.n_jobs = kernels.M, kernels.kernels, model.n_jobs
        self.a, self.level = model.dual_coef_[row : row + 1], level_of(model, covariates, n_examples(X))[..., row]
        theta = np.atleast_2d(model.kernel_weights_)
        self.theta = np.zeros(self.M)
        self.theta[: theta.shape[1]] = theta[row if len(theta) > 1 else 0]
        self.spherical = model.normalize_ == "spherical"
        plans = [kernels.plans(m) for m in range(self.M)]
        found = [plan for own in plans for plan in own if plan.encoding is not None]
        known = {_name(plan): plan for plan in found}
        if view is not None:
            known = {name: plan for name, plan in known.items() if view in (name, plan.name)}
        if len(known) != 1:
            names = sorted({str(_name(plan)) for plan in found})
            raise ValueError(
                f"view={view!r}: give one of {', '.join(map(repr, names))}."
                if names
                else "model has no kernel on sequences: explain models of strings.Spectrum, GappedKmer and others."
            )
        self.plan = next(iter(known.values()))
        self.part = X if self.plan.name is None else X[self.plan.name]
        if is_frame(self.part) and not is_pandas(self.part):
            raise ValueError(
                f"X is a frame of {type(self.part).__module__}: give a frame of pandas, or a dict of columns."
            )
        self.reads = np.array([any(map(self._touched, own)) for own in plans])
        self.sequences = self._read(kernels)

    def _touched(self, plan):
        """Whether a plan reads the column of the sequences."""
        mine, other = self.plan.columns, plan.columns
        return plan.name == self.plan.name and (mine is None or other is None or bool(np.isin(mine, other).any()))

    def _read(self, kernels):
        plain = [plan.encoding is not None and not plan.has_fitted_parts and self._touched(plan)
                 for plan in kernels.view_plans]  # fmt: skip
        found = None
        for one in filter(None, kernels.views(self.X, np.flatnonzero(plain))):
            if one.X is None or one.present is not None and not one.present.all():
                raise ValueError("X lacks sequences of some examples: leave these examples out.")
            if found is not None and found != one.X:
                raise ValueError("kernels encode the sequences differently: give them one alphabet and unknown.")
            found = one.X
        return Sequences.encode(self._column(), *self.plan.encoding) if found is None else found

    def _column(self):
        part, columns = self.part, self.plan.columns
        if columns is None:
            return part
        return list(part.iloc[:, columns[0]]) if is_frame(part) else np.asarray(part)[:, columns[0]]

    def with_sequences(self, rows, copies):
        """The examples `rows` of X with other sequences."""
        name, columns, part = self.plan.name, self.plan.columns, copies
        if columns is not None:
            part, texts = take(self.part, rows).copy(), np.array(list(copies), object)
            if is_frame(part):
                part.isetitem(int(columns[0]), texts)
            else:
                part[:, columns[0]] = texts
        if name is None:
            return part
        if isinstance(self.X, Mapping):
            read = {key: x for key, x in self.X.items() if x is not None}  # without views that no kernel needs
            return self.X | {key: part if key == name else take(x, rows) for key, x in read.items()}
        X: Views = self.X[rows].copy()
        X[name] = part
        return X

    def decision(self):
        return self.predictor.decision(self.X, self.a, self.theta)[0] + self.level

    def unchanged(self):
        """The intercept, the part of the covariates and that of kernels that do not read the sequences, (n,)."""
        theta = np.where(self.reads, 0.0, self.theta)
        fixed = self.predictor.decision(self.X, self.a, theta)[0] if theta.any() else np.zeros(len(self.sequences))
        return fixed + self.level

    def used(self):
        return np.flatnonzero(self.reads & (self.theta * self.predictor.scale[: self.M] != 0))

    def words(self, m):
        """`WordValues` of kernel m, None if its decisions are no sums over words of few letters."""
        support = None if self.predictor.hashed else self.predictor.support_sequences(m)
        if not has_values(self.kernels[m], support):
            return None
        factors = self.predictor.row_factors()
        coef = self.a[0] * (self.theta[m] * self.predictor.scale[m])
        coef = coef if factors is None else coef * factors[m]
        return WordValues(self.kernels[m], support, coef, self.spherical, self.n_jobs)


def _mutate(source, out):
    """Adds f(x with letter a at p) − f(x) to `out` (M or 1, letters, A)."""
    X, rest = source.sequences, np.where(source.reads, source.theta, 0.0)
    strange = X.n_unknown() > 0
    known, all_kernels = np.flatnonzero(~strange), rest.copy()
    for m in source.used():
        words = source.words(m)
        if words is not None and words.gamma is None:
            out[m if len(out) > 1 else 0] += words.changes(X, known)
            rest[m] = 0.0
    for theta, rows in ((rest, known), (all_kernels, np.flatnonzero(strange))):
        if (theta * source.predictor.scale[: source.M]).any() and len(rows):
            _mutate_copies(source, theta, rows, out)


def _mutate_copies(source, theta, rows, out):
    """The same by decisions of copies with one letter changed."""
    X, size = source.sequences, source.sequences.alphabet.size
    decoder = np.frombuffer(X.alphabet.decoder(), np.uint8)
    first = X.bounds()

    def parts(rows, codes):
        copies = Sequences.encode(decoder[codes], X.alphabet, "ignore")
        found = source.predictor.parts(source.with_sequences(rows, copies), source.a, theta)[0]
        return found.T if len(out) > 1 else found.sum(axis=1)[None]

    for L in np.unique(X.lengths[rows]).tolist():
        same, step = rows[X.lengths[rows] == L], max(1, COPIES // (L * size))
        for low in range(0, len(same), step):
            some = same[low : low + step]
            codes = X.codes(some)
            changed = np.tile(codes[:, None, None, :], (1, L, size, 1))
            changed[:, np.arange(L), :, np.arange(L)] = np.arange(size)  # (L, some, A)
            new = codes[:, :, None] != np.arange(size)
            owner = np.nonzero(new)[0]
            before = parts(some, codes)
            found = np.zeros((len(out), *new.shape))
            found[:, new] = parts(some[owner], changed[new]) - before[:, owner]
            for k, r in enumerate(some):
                out[:, first[r] : first[r] + L] += found[:, k]


def _divide(source, mode, out):
    """Adds the values of gkmexplain to `out`; returns what they leave out of the decision, (n,)."""
    X, left = source.sequences, np.zeros(len(source.sequences))
    for m in source.used():
        words, kernel = source.words(m), source.kernels[m]
        if words is None:
            raise ValueError(
                f"method='gkmexplain' cannot divide {kernel!r}: it needs Spectrum with counts='all', Mismatch or "
                "GappedKmer, at most 2^24 words of l letters, exact features and a support that is kept, without "
                "unknown letters if filter='counts'; take method='mutagenesis'."
            )
        if not counts_whole(kernel, X):
            raise ValueError(f"X has unknown letters, which mismatch every letter in {kernel!r}: leave these out.")
        if mode <= 2 and any(len(c) > l for l, c in word_parts(kernel, X.alphabet.size)):  # noqa: E741
            raise ValueError(
                f"{kernel!r} counts windows without a common letter: take mode=3 or 4, or fewer mismatches."
            )
        found, rest = words.contributions(X, mode)
        out[m if len(out) > 1 else 0] += found
        left += rest
    return left


def _padded(values, lengths):
    """Values (M, letters of all sequences, A) as (n, M, L, A), NaN behind the end of a sequence."""
    out = np.full((len(lengths), len(values), int(lengths.max(initial=0)), values.shape[2]), np.nan)
    inside = np.arange(out.shape[2]) < lengths[:, None]
    out.transpose(0, 2, 1, 3)[inside] = values.transpose(1, 0, 2)
    return out


def _name(plan):
    """How a user names the column of a plan."""
    if plan.columns is None:
        return plan.name
    return plan.column_names[0] if plan.column_names else int(plan.columns[0])

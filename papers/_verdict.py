"""One rule for verdicts: a difference counts if it exceeds two standard errors; one that does not is a tie.

Differences are taken pair by pair where the same draws of examples stand behind both sides. Where something was run
once, as most times are, there is no standard error: then it counts as it is, and the page says that it was one run.
With two runs a standard error says nothing, and every difference is a tie.
"""

import numpy as np

TIMES, FEWEST = 2.0, 3  # standard errors; runs from which on they are computed
AGREE, TIE, DISAGREE = "agree", "tie", "disagree"


def error(values):
    """The standard error of the mean; 0 of one value, infinite of two."""
    values = np.ravel(np.asarray(values, dtype=float))
    if len(values) < FEWEST:
        return 0.0 if len(values) == 1 else np.inf
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def above(values, bound=0.0):
    """Whether the mean of the values lies above a bound."""
    values = np.ravel(np.asarray(values, dtype=float)) - bound
    return _judged(values.mean(), error(values))


def below(values, bound=0.0):
    return above(-np.asarray(values, dtype=float), -bound)


def near(values, within):
    """Whether the mean of differences is at most `within` away from 0."""
    values = np.ravel(np.asarray(values, dtype=float))
    return below(values * np.sign(values.mean() or 1.0), within)


def unpaired(a, b, bound=0.0):
    """Whether the mean of a lies above that of b, of other draws, by more than a bound."""
    return _judged(np.mean(a) - np.mean(b) - bound, float(np.hypot(error(a), error(b))))


def measured(difference, own):
    """Whether a difference of which the standard error is known lies above 0."""
    return _judged(difference, own)


def first(values, *columns):
    """Whether one of the columns of values (repetitions, columns) has the highest mean; against the best other."""
    values = np.asarray(values, dtype=float)
    means = values.mean(axis=0)
    others = [k for k in range(values.shape[1]) if k not in columns]
    return above(values[:, max(columns, key=means.__getitem__)] - values[:, max(others, key=means.__getitem__)])


def last(values, *columns):
    """Whether one of the columns has the lowest mean; against the lowest other."""
    return first(-np.asarray(values, dtype=float), *columns)


def every(verdicts):
    """All of them agree; one that disagrees suffices to disagree."""
    verdicts = [word(verdict) for verdict in verdicts]
    return DISAGREE if DISAGREE in verdicts else TIE if TIE in verdicts or not verdicts else AGREE


def most(verdicts):
    """More than half of them agree; where more disagree than agree, it disagrees."""
    verdicts = [word(verdict) for verdict in verdicts]
    ahead, behind = verdicts.count(AGREE), verdicts.count(DISAGREE)
    return AGREE if 2 * ahead > len(verdicts) else DISAGREE if behind > ahead else TIE


def counted(verdicts):
    """Such as 5 of 7, 1 tie, 1 against."""
    verdicts = [word(verdict) for verdict in verdicts]
    ties, against = verdicts.count(TIE), verdicts.count(DISAGREE)
    more = [f"{ties} tie{'s' * (ties > 1)}"] * bool(ties) + [f"{against} against"] * bool(against)
    return ", ".join([f"{verdicts.count(AGREE)} of {len(verdicts)}", *more])


def word(verdict):
    """The word for a verdict or for whether something is so."""
    if isinstance(verdict, str):
        if verdict not in (AGREE, TIE, DISAGREE):
            raise ValueError(f"a verdict is {AGREE!r}, {TIE!r} or {DISAGREE!r}, got {verdict!r}")
        return verdict
    return AGREE if verdict else DISAGREE


def _judged(difference, own):
    if not abs(difference) > TIMES * own:
        return TIE
    return AGREE if difference > 0 else DISAGREE

"""Times that may be censored: how users give them, how the losses read them, and how predictions are scored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.frames import check_entries, is_frame, listed
from ..kernels.rows import check_rows
from .check_inputs import refuse_iterator

EVENT_NAMES = ("event", "e", "status", "event_observed", "observed", "cens", "fstat", "death", "dead")
TIME_NAMES = ("time", "t", "duration", "durations", "survival_in_days", "lenfol", "futime", "t.tdm")
STRATA_NAMES = ("strata", "stratum")
TIED_RISKS = 1e-8  # risks closer than this are equal
PAIRS = 2**22  # compared at a time


def survival_targets(event: ArrayLike, time: ArrayLike, strata: ArrayLike | None = None) -> np.ndarray:
    """Targets of `MKLSurvival` as one array, in scikit-survival's form: the fields event, time and, if given, stratum.

    Parameters
    ----------
    event : array (n,) of bool or 0 and 1
        Whether the event was observed; False if the time is censored.
    time : array (n,)
        The time of the event or of censoring, at least 0. Durations, of timedelta64, become days.
    strata : array (n,), optional
        Groups with a baseline hazard of their own, such as hospitals.

    Returns
    -------
    structured array (n,)

    Examples
    --------
    >>> from manykernels import survival_targets
    >>> survival_targets([True, False], [3.0, 5.5])
    array([( True, 3. ), (False, 5.5)],
          dtype=[('event', '?'), ('time', '<f8')])
    """
    check_rows(None, event=event, time=time, strata=strata)
    parts: list[tuple[str, Any, np.ndarray]] = [
        ("event", "?", _events(np.asarray(event))),
        ("time", "<f8", _times(np.asarray(time))),
    ]
    if strata is not None:
        labels = np.asarray(strata)
        if labels.ndim != 1:
            raise ValueError(f"strata is not a column, its shape is {labels.shape}: give a stratum per example.")
        parts.append(("stratum", object if labels.dtype.kind in "OUST" else labels.dtype, labels))
    lengths = {len(values) for _, _, values in parts}
    if len(lengths) > 1:
        raise ValueError(f"event, time and strata have {sorted(lengths)} entries: give one of each for every example.")
    found = np.empty(lengths.pop(), dtype=[(name, dtype) for name, dtype, _ in parts])
    for name, _, values in parts:
        found[name] = values
    return found


def read_times(y: Any, strata: ArrayLike | None = None) -> np.ndarray:
    """The targets as `survival_targets` makes them, of a structured array, two columns (event, time), or a frame."""
    refuse_iterator("y", y)
    if y is None:
        raise ValueError("y=None: give the times, for example survival_targets(event, time).")
    if is_frame(y):
        names = {str(name).lower(): name for name in y.columns}
        event, time, own = (_named(names, known) for known in (EVENT_NAMES, TIME_NAMES, STRATA_NAMES))
        if event is None or time is None:
            raise ValueError(
                f"y has the columns {list(map(str, y.columns))}: name them 'event' and 'time' (and 'strata'), or give "
                "survival_targets(event, time)."
            )
        _refuse_unread(list(y.columns), [event, time, own], strata)
        strata = y[own].to_numpy() if own is not None else strata
        return survival_targets(y[event].to_numpy(), y[time].to_numpy(), strata)
    check_entries("y", y)
    array = np.asarray(y)
    if array.dtype.kind in "US" and array.size <= 3:
        raise ValueError(
            f"y={y!r} are names: give the columns themselves, such as survival_targets(data.obs['event'], "
            "data.obs['time'])."
        )
    if array.dtype.names and len(array.dtype.names) > 1:
        columns = list(array.dtype.names)
        known = columns[:2] + [name for name in columns[2:3] if name.lower() in STRATA_NAMES]
        fields = [array[name] for name in columns]
    elif array.ndim == 2 and array.shape[1] in (2, 3):
        columns = known = ["event", "time", "stratum"][: array.shape[1]]
        fields = list(array.T)
        if not set(np.unique(fields[0].astype(float))) <= {0.0, 1.0}:
            raise ValueError(
                "the first column of y has other values than 0 and 1: the columns are (event, time); give y[:, ::-1], "
                "or survival_targets(event, time)."
            )
        if array.dtype.kind == "f" and (array[:, 2:] % 1).any():
            raise ValueError(
                f"the third column of y has {array[array[:, 2] % 1 != 0][0, 2]:g}: the columns are (event, time, "
                "stratum), and strata are whole numbers. Times of entry are not read."
            )
    else:
        raise ValueError(
            f"y has shape {array.shape}: give the event and the time of every example, survival_targets(event, time)."
        )
    _refuse_unread(columns, known, strata)
    return survival_targets(fields[0], fields[1], strata if len(fields) < 3 else fields[2])


def _named(names, known):
    return next((names[name] for name in known if name in names), None)


def _refuse_unread(names, read, strata):
    """A ValueError if y has other columns than event, time and maybe stratum, or if strata are given beside its own."""
    strange = [name for name in names if name not in read]
    if strange:
        raise ValueError(
            f"y has the columns {names}, but only event, time and strata are read: leave out {listed(strange)}. "
            "Cox's model with delayed entry, where examples enter the study later, is not supported."
        )
    if strata is not None and len(names) > 2:
        raise ValueError(f"y has its own strata, {read[2]!r}, and strata is given too: leave out one of them.")


def _events(event):
    if event.dtype.kind == "b":
        return event
    numbers = _numbers("event", event, "True for events and False for censored times")
    if not np.isin(numbers, (0.0, 1.0)).all():
        raise ValueError(f"event has the values {np.unique(numbers)[:5]}: give 1 for events and 0 for censored times.")
    return numbers.astype(bool)


def _numbers(name, entries, wanted):
    """The entries as floats; a ValueError if one is missing or no number."""
    try:
        numbers = entries.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds {entries.ravel()[:1]}: give {wanted}.") from None
    if lost := np.isnan(numbers).sum():  # texts
        raise ValueError(f"{name} has {lost} missing values: leave these examples out of X and y.")
    return numbers


def _times(time):
    if time.dtype.kind == "M":
        raise ValueError("time holds dates: give the time since the start, time - start, as numbers or durations.")
    if time.dtype.kind == "m" and np.datetime_data(time.dtype)[0] in "MY":
        raise ValueError("time is in months or years, which have no fixed number of days: give days, or numbers.")
    time = time / np.timedelta64(1, "D") if time.dtype.kind == "m" else time
    check_entries("time", time)
    if time.dtype.kind == "b":
        raise ValueError(f"time holds truth values, {time[:1]}: give numbers, such as days.")
    time = _numbers("time", time, "numbers, such as days")
    if not np.isfinite(time).all():
        raise ValueError("time has infinite values: give the time of censoring, with event=False.")
    if (time < 0).any():
        raise ValueError(
            f"time has the negative value {time.min():g}: give times since the start, at least 0, or leave these "
            "examples out."
        )
    return time


def concordance(y: np.ndarray, risk: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Harrell's concordance: the share of comparable pairs whose order of risk is right, equal risks as half.

    A pair is comparable if one has its event while the other is known to live on; pairs of two strata are not.
    """
    event, time = y["event"], y["time"]
    stratum = y["stratum"] if "stratum" in (y.dtype.names or ()) else np.zeros(len(y))
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    right = pairs = 0.0
    deaths, step = np.flatnonzero(event), max(1, PAIRS // max(len(y), 1))
    for first in range(0, len(deaths), step):
        i = deaths[first : first + step, None]
        able = (time[i] < time) | ((time[i] == time) & ~event)
        able &= stratum[i] == stratum
        both, ahead = np.where(able, w[i] * w, 0.0), risk[i] - risk
        right += float(np.sum(both * np.where(np.abs(ahead) <= TIED_RISKS, 0.5, ahead > 0)))
        pairs += float(both.sum())
    if not pairs:
        raise ValueError("no pair of examples can be compared: concordance needs an event before another time.")
    return right / pairs


class StepFunction:
    """A function that is y[i] between x[i] and x[i + 1], and `before` from 0 to x[0]; as in scikit-survival.

    Parameters
    ----------
    x, y : arrays (n,)
        Ascending times and the values from there on.
    before : float
        The value before x[0].

    Examples
    --------
    >>> from manykernels.estimators import StepFunction
    >>> survival = StepFunction([1.0, 2.0], [0.8, 0.5], before=1.0)
    >>> survival([0.5, 1.0, 1.9, 2.0]).tolist()
    [1.0, 0.8, 0.8, 0.5]
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, before: float = 0.0) -> None:
        self.x, self.y, self.before = np.asarray(x, dtype=float), np.asarray(y, dtype=float), before

    @property
    def domain(self) -> tuple[float, float]:
        """The times at which it is known: from 0 to the last."""
        return 0.0, float(self.x[-1])

    def __call__(self, x: ArrayLike) -> Any:
        """The values at the times x, as an array, or as a number for a number."""
        x = np.asarray(x, dtype=float)
        if not np.all((x >= 0) & (x <= self.x[-1])):
            raise ValueError(f"x must lie between 0 and {self.x[-1]:g}, the last time of the training examples.")
        return np.append(self.before, self.y)[np.searchsorted(self.x, x, side="right")]

    def __repr__(self) -> str:
        return f"StepFunction(x={self.x!r}, y={self.y!r}, before={self.before!r})"

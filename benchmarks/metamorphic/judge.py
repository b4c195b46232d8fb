"""Runs a call on the base and on the changed data, and says what is wrong."""

import re
import traceback
import warnings
from dataclasses import dataclass, replace

import numpy as np

from ..journeys.judge import location
from .changes import REFUSED, SAID, SAME, SAME_AND_SAID

NEAR = 1e-3  # of the spread of a result
OURS = re.compile(r"[\\/](manykernels|sklearn)[\\/]")


@dataclass
class Outcome:
    """How one run ended."""

    answer: object
    error: object
    said: list


def run(call, world, args):
    """One run, with its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer, error = None, None
        try:
            answer = call.run(world, args)
        except Exception as raised:
            error = raised
    ours = [one for one in caught if issubclass(one.category, UserWarning)]
    return Outcome(answer, error, [str(one.message) for one in ours])


def apart(a, b, order=None):
    """What differs, "" if nothing does."""
    for name, value in a.items():
        other = b[name]
        if order is not None:
            value = value[order]
        if value.shape != other.shape:
            return f"{name}: shapes {value.shape} and {other.shape}"
        if value.dtype.kind not in "biuf" or other.dtype.kind not in "biuf":
            if not np.array_equal(value.astype(str), other.astype(str)):
                return f"{name}: other labels"
            continue
        value, other = value.astype(float), other.astype(float)
        gone = np.isnan(value)
        if not np.array_equal(gone, np.isnan(other)):
            return f"{name}: other NaN"
        if gone.all():
            continue
        off, spread = np.abs(value - other)[~gone].max(), np.ptp(value[~gone])
        if off > NEAR * max(spread, 1e-3 * np.abs(value[~gone]).max()) + 1e-9:
            return f"{name}: off by {off:.2g} of {spread:.2g}"
    return ""


def judge(call, world, args, trial):
    """What is wrong with a trial, "" if nothing is; None where the base itself is refused."""
    base_world = world if trial.base_new is None else replace(world, new=trial.base_new, fitted={})
    base = None
    if trial.want != (REFUSED,):
        base = run(call, base_world, args if trial.base is None else trial.base)
        if base.error is not None:
            if REFUSED in trial.want and trial.base is not None and purposeful(base.error):
                return ""  # neither form is taken
            return None if purposeful(base.error) else f"base: {shown(base.error)}"
    own = {"new": trial.new, "train": trial.train, "model": trial.model}
    own = {name: value for name, value in own.items() if value is not None}
    changed = replace(world, **own, fitted={}) if own else world
    outcome = run(call, changed, trial.args)
    if outcome.error is not None:
        if not purposeful(outcome.error):
            return f"crash: {shown(outcome.error)}"
        if REFUSED not in trial.want:
            return f"refused: {shown(outcome.error)}"
        return "" if named(str(outcome.error), trial.words) else f"refused in other words: {shown(outcome.error)}"
    if trial.want == (REFUSED,):
        return "taken"
    assert base is not None and base.answer is not None and outcome.answer is not None
    differs = apart(base.answer, outcome.answer, trial.order)
    told = any(named(text, trial.words) for text in outcome.said if text not in base.said)
    if SAME_AND_SAID in trial.want and not differs and not told:
        return "not said"
    right = {SAME: not differs, SAID: told, SAME_AND_SAID: told and not differs}
    if any(right.get(end, False) for end in trial.want):
        return ""
    return differs or "not said"


def named(text, words):
    """Whether a text has one of some words."""
    return not words or any(word.lower() in text.lower() for word in words)


def purposeful(error):
    """Whether an error was raised on purpose, by the package or by scikit-learn's checks."""
    last, known = traceback.extract_tb(error.__traceback__)[-1], isinstance(error, ValueError | TypeError)
    return known and bool(OURS.search(last.filename)) and "raise" in location(error)[1]


def shown(error):
    return f"{type(error).__name__}: {str(error)[:160]} [{location(error)[0]}]"

"""Faults that were there once: each is found by cases of one change, here those of one call."""

import zlib

import numpy as np

from .cases import attempt

FAULTS = {  # what was wrong: (change, argument, call or "", kind of data or "")
    "fit takes y in another order than the numbered rows of X": ("shuffled index", "y", "fit", "frame"),
    "score takes sorted covariates by position": ("sorted index", "covariates", "score", ""),
    "predict_survival_function takes sorted covariates by position": (
        "sorted index", "covariates", "predict_survival_function", ""),
    "survival_targets pairs events with the times of others": ("halves of survival targets", "", "", ""),
    "fit takes shuffled strata by position": ("shuffled index", "strata", "fit", ""),
    "fit takes a dict of shuffled covariates by position": ("shuffled index", "covariates", "fit", ""),
    "search takes shuffled groups by position": ("sorted index", "groups", "search", ""),
    "fit takes a shuffled task by position": ("shuffled index", "task", "fit", ""),
    "fit takes covariates of other ids": ("other ids", "covariates", "fit", ""),
    "a column of targets is not read": ("unread column", "y", "fit", ""),
    "masks in y are ignored": ("masked", "y", "fit", ""),
    "masks in y of score are ignored": ("masked", "y", "score", ""),
    "masks in weights are ignored": ("masked", "sample_weight", "fit", ""),
    "masks in covariates are ignored": ("masked", "covariates", "fit", ""),
    "masks in task are ignored": ("masked", "task", "fit", ""),
    "masks in groups are ignored": ("masked", "groups", "search", ""),
    "masks in strata are ignored": ("masked", "strata", "fit", ""),
    "masks in views are ignored": ("masked", "X", "fit", "views"),
    "masks in stacks are ignored": ("masked", "X", "fit", "stack"),
    "masks in KernelStack and Views are ignored": ("masks in stacks and views", "", "", ""),
    "masks in times are ignored": ("masks in survival targets", "", "", ""),
    "dates and durations in X are numbers": ("clock", "X", "fit", "array"),
    "dates and durations in y are numbers": ("clock", "y", "fit", ""),
    "numbers written as texts are lost": ("numbers as texts", "points", "fit", ""),
    "numbers with decimal commas are lost": ("numbers as texts", "commas", "fit", ""),
    "numbers with a marker for missing ones are lost": ("numbers as texts", "markers", "fit", ""),
    "a column of ids is left out unsaid": ("useless column", "id", "fit", ""),
    "a column that counts up is left out unsaid": ("useless column", "counter", "fit", ""),
    "words that no other row has get a kernel": ("useless column", "notes", "fit", ""),
    "a byte-order mark is part of a name": ("byte order mark", "", "", ""),
    "names with brackets are lost on the screen": ("names on the screen", "", "", ""),
    "gkm predict and explain take proteins and RNA": ("letters on the command line", "", "", ""),
    "a rare class lowers the number of folds unsaid": ("rare class", "y", "report", ""),
    "C is chosen by one or two events unsaid": ("few events", "y", "fit", ""),
}  # fmt: skip


def found(tries=12):
    """(fault, the first wrong case of its change, "" if none is wrong) of each fault, with random data."""
    for name in FAULTS:
        yield name, next((said for k in range(tries) if (said := wrong(name, k))), "")


def wrong(name, number):
    """What is wrong with one case of a fault."""
    return attempt(np.random.default_rng([zlib.crc32(name.encode()), number]), *FAULTS[name])[1]

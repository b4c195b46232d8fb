"""Seconds of a run: medians of three where these are short."""

import time

import numpy as np

SHORT = 10.0  # CPU seconds up to which a fit is repeated


def clocked(fit):
    """[(CPU seconds, seconds), …] of a run and, where that was short, of three more."""
    found = []
    while len(found) < 4 and sum(cpu for cpu, _ in found) < SHORT:
        start, spent = time.perf_counter(), time.process_time()
        fit()
        found.append((time.process_time() - spent, time.perf_counter() - start))
    return found


def median(runs):
    """(CPU seconds, seconds): medians of those after the first, which may compile, or of that one alone."""
    first, *others = runs
    return tuple(float(x) for x in np.median(others or [first], axis=0))


def spread(runs):
    """How far CPU seconds of those after the first lie apart, as a share of their median; None of fewer than two."""
    cpu = [cpu for cpu, _ in runs[1:]]
    return (max(cpu) - min(cpu)) / float(np.median(cpu)) if len(cpu) > 1 else None

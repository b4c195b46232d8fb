"""Times of events on held-out examples: Kaplan and Meier's curves of low, middle and high predicted risk."""

from __future__ import annotations

from typing import Any

import numpy as np

GROUPS = "low", "middle", "high"  # thirds of the predicted risk
LEAST = 10  # examples of a group, below which two groups are shown
MAX_STEPS = 200  # of a curve on the page


class NoRisk:
    """The baseline that ignores X: equal risks."""

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(len(X))

    def score(self, X: Any, y: Any) -> float:
        return 0.5


def kaplan_meier(event: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(times of events, the share that lives on after each): Π_{t_k ≤ t} (1 − d_k / n_k)."""
    times, deaths = np.unique(time[event], return_counts=True)
    at_risk = len(time) - np.searchsorted(np.sort(time), times)
    return times, np.cumprod(1.0 - deaths / at_risk)


def risk_ranks(risk: np.ndarray) -> np.ndarray:
    """The share of the examples with a lower risk, for each example."""
    return np.argsort(np.argsort(risk, kind="stable")) / len(risk)


def group_names(n: int) -> tuple[str, ...]:
    """The groups of n examples by risk."""
    return GROUPS if n >= 3 * LEAST else (GROUPS[0], GROUPS[-1])


def curves(y: np.ndarray, folds: list[np.ndarray], risks: list[np.ndarray]) -> dict[str, Any]:
    """The facts: a curve for each third of the risk, ranked within each fold, since folds have different models."""
    names, rank = group_names(len(y)), np.concatenate([risk_ranks(risk) for risk in risks])
    rows, group = np.concatenate(folds), (rank * len(names)).astype(int)
    event, time, found = y["event"][rows], y["time"][rows], []
    for k, name in enumerate(names):
        own = group == k
        at, share = kaplan_meier(event[own], time[own])
        some = np.unique(np.linspace(0, max(len(at) - 1, 0), min(len(at), MAX_STEPS)).astype(int))
        found.append({
            "name": name, "examples": int(own.sum()), "events": int(event[own].sum()),
            "last": float(time[own].max(initial=0.0)), "curve": [[float(at[i]), float(share[i])] for i in some],
        })  # fmt: skip
    return {"survival": {"groups": found}}

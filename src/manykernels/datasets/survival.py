"""Patients with several sources of data and times that may be censored."""

from __future__ import annotations

import numpy as np


def make_survival(
    n: int = 500, seed: int = 0, *, censored: float = 0.4, noise: int = 20
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Generated patients with three sources, of which two carry the risk of an event.

    Times have Weibull's hazard of shape 1.5, with the risk

        f = 0.8 clinical_1 + 0.5 (clinical_2² − 1) + 0.5 (genes_1 + … + genes_5)

    so that a linear model misses one clinical effect. The ten columns of the source "images" have none. Some patients
    leave the study early, and it ends for all others at a time that a twentieth of them lives beyond.

    Parameters
    ----------
    n : int, default 500
        The number of patients.
    seed : int, default 0
    censored : float, default 0.4
        About the share of censored times, 0 ≤ censored < 1.
    noise : int, default 20
        The number of genes, at least 5.

    Returns
    -------
    X : dict of arrays, "clinical" (n, 5), "genes" (n, noise), "images" (n, 10)
    y : structured array (n,) with the fields event and time, in days

    Examples
    --------
    >>> from manykernels.datasets import make_survival
    >>> X, y = make_survival(100)
    >>> list(X), y.dtype.names
    (['clinical', 'genes', 'images'], ('event', 'time'))
    >>> bool(0.4 < y["event"].mean() < 0.8)
    True
    """
    if n < 2 or noise < 5 or not 0 <= censored < 1:
        raise ValueError(f"n={n}, noise={noise}, censored={censored}: give n >= 2, noise >= 5 and 0 <= censored < 1.")
    rng = np.random.default_rng(seed)
    X = {"clinical": rng.normal(size=(n, 5)), "genes": rng.normal(size=(n, noise)), "images": rng.normal(size=(n, 10))}
    clinical = X["clinical"]
    f = 0.8 * clinical[:, 0] + 0.5 * (clinical[:, 1] ** 2 - 1) + 0.5 * X["genes"][:, :5].sum(axis=1)
    time = 1000.0 * (rng.exponential(size=n) * np.exp(-f)) ** (1 / 1.5)
    early = rng.random(n) < censored
    end = np.where(early, time * rng.uniform(0.2, 1.0, size=n), np.quantile(time, 0.95))
    y = np.empty(n, dtype=[("event", "?"), ("time", "<f8")])
    y["event"], y["time"] = time <= end, np.ceil(np.minimum(time, end))
    return X, y

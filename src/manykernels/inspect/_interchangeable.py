"""Interchangeable sources: leaving out one costs nothing, and leaving out all of them does."""

from typing import Any, NamedTuple

import numpy as np

from .sources import together

MAX_CANDIDATES = 20  # sources
NEVER_JOINED = -1e3  # in place of the alignment of sources that share kernels


class Group(NamedTuple):
    """Interchangeable sources: the drop of the score without all of them, and their mean alignment."""

    names: list[str]
    drop: float
    drop_se: float
    low: float
    high: float
    alignment: float


def find_groups(result: Any, rows: list, found: list[dict], fold: Any, n_jobs: int | None) -> list[Group]:
    """The smallest sets of sources whose joint drop is above 0 and above the sum of their single drops, by intervals.

    Candidates have gains above 0 and no drop. They are joined by alignment, the best aligned first, and each join is
    tested by a fit without its members, until one passes. Sources that share kernels, such as the drugs' and the
    targets' sides of products, are not joined, since the shared kernels make them alike.
    """
    from joblib import Parallel, delayed

    sources = np.array([m for m, row in enumerate(rows) if row.kind == "source"])
    own, gain = result.measure("drop"), result.measure("gain")
    chosen = [m for m in sources if own.low[m] <= 0 < gain.low[m]]
    chosen = sorted(sorted(chosen, key=lambda m: -gain.mean[m])[:MAX_CANDIDATES])
    if len(chosen) < 2:
        return []
    between = np.mean([measured["between"] for measured in found], axis=0)[np.ix_(chosen, chosen)]
    masks = np.array([rows[m].wanted for m in chosen])
    joins = _joins(np.where(masks @ masks.T, NEVER_JOINED, between))
    joins = [(members, near) for members, near in joins if masks[members].sum(axis=0).max() == 1]
    if not joins:
        return []
    joint = [together([rows[chosen[i]] for i in members]) for members, _ in joins]

    def scores(k):
        here = fold(k, found[k]["every"])
        return [here.score(f) for _, f, _ in here.refits(joint)]

    without = np.array(Parallel(n_jobs)(delayed(scores)(k) for k in range(len(found))))  # (J, joins)
    whole = np.array([measured["all"] for measured in found])
    groups: list[Group] = []
    done: set[int] = set()
    for (members, alignment), scored in zip(joins, without.T, strict=True):
        if done & set(members):
            continue
        lost = whole - scored
        single = np.sum([result.differences("drop")[:, chosen[i]] for i in members], axis=0)
        spread, excess = (result.spread(values[:, None]) for values in (lost, lost - single))
        if spread.low[0] > 0 and excess.low[0] > 0:
            done |= set(members)
            names = [rows[chosen[i]].name for i in members]
            drop, se, low, high = (float(values[0]) for values in spread)
            groups.append(Group(names, drop, se, low, high, alignment))
    return groups


def _joins(between):
    """[(members, mean alignment)] of the joins of average linkage, the best aligned first."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    distance = np.maximum(1.0 - between, 0.0)
    np.fill_diagonal(distance, 0.0)
    members = [[i] for i in range(len(between))]
    joins = []
    for left, right, far, _ in linkage(squareform(distance, checks=False), "average"):
        members.append(sorted(members[int(left)] + members[int(right)]))
        joins.append((members[-1], float(1.0 - far)))
    return joins

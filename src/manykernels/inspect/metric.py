"""Which columns count in a learned metric."""

from typing import Any

from .._pictures import short


def column_shares(metric: dict[str, dict[str, Any]] | None) -> dict[str, dict[str, float]]:
    """{source: {column: share}}, greatest first, of the `metric_` of a model; {} for None.

    The share of a column in the mean distance between examples; numbers made of one column, such as the indicators of
    its categories, count together.
    """
    found: dict[str, dict[str, float]] = {}
    for source, table in (metric or {}).items():
        own = found.setdefault(source, {})
        for column, share in zip(table["column"], table["share"], strict=True):
            own[column] = own.get(column, 0.0) + float(share)
        found[source] = dict(sorted(own.items(), key=lambda item: -item[1]))
    return found


def mean_shares(several: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """The mean of `column_shares` over folds, greatest first."""
    found: dict[str, dict[str, float]] = {}
    for shares in several:
        for source, own in shares.items():
            for column, share in own.items():
                there = found.setdefault(source, {})
                there[column] = there.get(column, 0.0) + share / len(several)
    return {source: dict(sorted(own.items(), key=lambda item: -item[1])) for source, own in found.items()}


def said(source: str, shares: dict[str, float], top: int = 5) -> str:
    """A sentence on the columns that count most."""
    some = ", ".join(f"{short(column, 24)} {share:.0%}" for column, share in list(shares.items())[:top])
    rest = len(shares) - top
    return f"learned metric of {source}: {some}{f', {rest} more columns' if rest > 0 else ''} of the distances"

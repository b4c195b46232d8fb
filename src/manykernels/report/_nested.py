"""A search for C and the regularizer, repeated within each training fold, so that held-out scores are fair."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators.search import grid_of_C, list_of_regularizers
from ._case import LIMIT, Case


def chosen_in_folds(case: Case, splits: list, one_pass: float) -> tuple[list[Any], dict[str, Any] | None]:
    """(the model of each fold, what was done): of a search the candidate that its training examples alone choose."""
    same = [case.model] * len(splits)
    if case.search is None:
        known = getattr(case.model, "searched_", None)
        return same, None if known in (None, 1) else {"done": False, "candidates": known, "why": _SAVED}
    search = case.search
    candidates = len(grid_of_C(search.Cs)) * len(list_of_regularizers(search.regularizer))
    if candidates == 1:
        return same, None
    found: dict[str, Any] = {"done": False, "candidates": candidates}
    fits = len(splits) * candidates * int(search.n_splits_)
    if fits * one_pass > 4 * LIMIT:
        return same, found | {"why": f"{fits:,} fits would take too long; with a smaller max_examples they are made."}
    if not (search.cv is None or isinstance(search.cv, int | np.integer) or hasattr(search.cv, "split")):
        return same, found | {"why": "the search was given fixed folds, which cannot be cut within other folds."}
    models, chosen = [], []
    for k, (train, _) in enumerate(splits):
        own = {} if case.groups is None else {"groups": case.groups[train]}
        try:
            inner = clone(search).set_params(verbose=False).fit(*case.part(train), **own)
        except ValueError as error:
            return same, found | {"why": f"the search failed on a training fold ({error})."}
        best = {"C": inner.C_, "regularizer": inner.regularizer_}
        models.append(clone(case.model).set_params(**best))
        chosen.append({"C": float(inner.C_), "regularizer": repr(inner.regularizer_)})
        case.tick("nested search", k + 1, len(splits))
    return models, found | {"done": True, "chosen": chosen}


_SAVED = "the model was saved without its search; report the search itself, before it is saved."

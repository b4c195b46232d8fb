"""Nested cross-validation: the search for C and the regularizer is repeated within each training fold."""

from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators.check_inputs import optional
from ..estimators.search import grid_of_C, list_of_regularizers
from ._case import MAX_ENTRIES, Case


def chosen_in_folds(case: Case, splits: list, one_pass: float) -> tuple[list[Any], dict[str, Any] | None]:
    """(the model of each fold, the facts): after a search, the candidate chosen on the training fold alone."""
    same = [case.model] * len(splits)
    if case.search is None:
        known = optional(case.model, "searched_")
        return same, None if known in (None, 1) else {"done": False, "candidates": known, "why": _SAVED}
    search = case.search
    candidates = len(grid_of_C(search.Cs)) * len(list_of_regularizers(search.regularizer))
    if candidates == 1:
        return same, None
    found: dict[str, Any] = {"done": False, "candidates": candidates}
    fits = len(splits) * candidates * int(search.n_splits_)
    if fits * one_pass > 4 * MAX_ENTRIES:
        return same, found | {"why": f"{fits:,} fits would take too long; give a smaller max_examples."}
    splitter = hasattr(search.cv, "split")  # of scikit-learn
    if not splitter and not isinstance(search.cv, int | np.integer | str | None):
        return same, found | {"why": "the search has fixed folds, which do not apply to a part of the examples."}
    models, chosen = [], []
    for k, (train, _) in enumerate(splits):
        own = {} if case.groups is None else {"groups": case.groups[train]}
        own |= case.adjusted(train)
        try:
            inner = clone(search).set_params(verbose=False).fit(*case.part(train), **own)
        except ValueError as error:
            return same, found | {"why": f"the search failed on a training fold ({error})."}
        best = {"C": inner.C_, "regularizer": inner.regularizer_}
        models.append(clone(case.model).set_params(**best))
        chosen.append({"C": float(inner.C_), "regularizer": repr(inner.regularizer_)})
        case.tick("nested search", k + 1, len(splits))
    return models, found | {"done": True, "chosen": chosen}


_SAVED = "the saved model does not include its search; make the report from the search, before you save it."

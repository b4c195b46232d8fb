"""Which explicit bank takes which kernels of a list."""

from importlib import import_module

import numpy as np

from .dense import report_unusable
from .joined import JoinedBank

# families of kernels, and the banks to try for them, the quickest first
FAMILIES = {
    "degree": ("degree.DegreeBank", "trie.TrieBank"),
    "shift": ("trie.TrieBank",),
    "channels": ("words.WordBank",),
    "features": ("features.FeatureBank",),
}
STORES = {
    "auto": FAMILIES,
    "trie": FAMILIES | {"degree": ("trie.TrieBank",)},
    **{store: FAMILIES | {"degree": ("words.WordBank",)} for store in ("map", "sorted", "hash")},
}


def explicit_bank(kernels, X, store="auto", **options):
    """The bank of the explicit features of a `KernelList`; None where a kernel has none.

    `store` says where v is kept: "auto", "map", "sorted", "trie" or "hash", see `banks.words` and `banks.trie`.
    """
    if store not in STORES:
        raise ValueError(f"store={store!r} is unknown: choose one of {', '.join(map(repr, STORES))}.")
    if kernels.tasks is not None:
        return None
    kinds = [kernel.family if kernel.family in FAMILIES else None for kernel in kernels.kernels]
    parts, which = [], []
    for kind in dict.fromkeys(kinds):
        own = np.array([m for m, other in enumerate(kinds) if other == kind])
        part = kernels.part(own)
        lacks = kind != "features" and any(view.present is not None for view in part.views(X))
        bank = None if kind is None or lacks else _first(STORES[store][kind], part, X, store, options)
        if bank is None:
            return None
        parts.append(bank)
        which.append(own)
    bank = parts[0] if len(parts) == 1 else JoinedBank(kernels, parts, which)
    bank.store = store
    report_unusable(bank)
    return bank


def _first(families, kernels, X, store, options):
    """The first of these banks that takes all the kernels."""
    for family in families:
        module, name = family.split(".")
        extra = {"store": store} if module == "words" else {}
        bank = getattr(import_module("." + module, __package__), name).from_list(kernels, X, **extra, **options)
        if bank is not None:
            return bank
    return None

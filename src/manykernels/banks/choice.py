"""Which bank takes which kernels: explicit features where they pay or are asked for, else kernel values by pairs."""

import warnings
from contextlib import suppress

import numpy as np

from ..kernels.normalize import Scaled
from ..kernels.pair_blocks import TooLarge
from ..kernels.view_data import n_examples
from .degree import DegreeBank
from .dense import DenseBank, report_unusable
from .features import FeatureBank
from .joined import JoinedBank
from .low_rank import LowRankBank
from .pairwise import PairwiseBank
from .trie import TrieBank
from .words import WordBank

# Up to so many examples all pairs are compared, beyond kernels that have explicit features use them; `WORDS` is for
# words anywhere or with shifts. Seconds of a fit by pairs and by features, splice sites of 141 letters, gap 1e-3, two
# cores that had other work besides: 20 degrees 1.6 and 5.7 at 3,000 examples, 9.0 and 8.1 at 6,000; two kernels with
# shifts 9 and 14 at 4,000, 36 and 30 at 8,000. Three spectra break even sooner, 5.0 and 3.7 at 4,000.
MATRICES = 3000
WORDS = 8000
EXACT = 1000  # examples up to which float64 pairs are cheap
CARD = 5000  # examples from which on a card pays: what it saves is more than what its start costs
SINGLE = 1e-4  # the least gap for which float32 pairs are fine enough

# families of kernels, and the banks to try for them, the quickest first
FAMILIES = {
    "degree": (DegreeBank, TrieBank),
    "shift": (TrieBank,),
    "channels": (WordBank,),
    "features": (FeatureBank,),
    "low_rank": (LowRankBank,),
}
STORES = {
    "auto": FAMILIES,
    "trie": FAMILIES | {"degree": (TrieBank,)},
    **{store: FAMILIES | {"degree": (WordBank,)} for store in ("map", "sorted", "hash")},
}
FEATURES = ("never", *STORES)  # what an estimator takes


def choose_device(name, n):
    """The name of PyTorch's device for n examples, None for the host; `name` is what an estimator takes."""
    if not isinstance(name, str):
        raise ValueError(f'device={name!r} is not allowed: give "cpu", "cuda", "cuda:1", "auto" or "torch".')
    if name == "auto" and n >= CARD:
        with suppress(ImportError, ValueError):
            from ._device_decisions import open_device

            return open_device("cuda").type
    return {"cpu": None, "auto": None, "torch": "cpu"}.get(name, name)


def stack_bank(X, device="cpu", **options):
    """The bank of precomputed kernels."""
    device = choose_device(device, n_examples(X))
    if device is None:
        return DenseBank(X, **options)
    from .device import DeviceStack

    return DeviceStack(X, device=device, **options)


def choose_bank(
    kernels, X, *, tol=1e-3, features="auto", wanted=False, exact=False, small=None, device="cpu", **options
):
    """The bank of a `KernelList` on X; `options` are those of every bank.

    features : "auto", as below, "never" for pairs always, or where the vectors of explicit features are kept, a key of
        `STORES`: then they are wanted, and a list that has none is refused
    wanted : whether the solver works on explicit features alone
    exact : whether the regularizer wants kernel values in float64, which then are those of pairs
    tol : the gap that is asked for
    device : where pairs are compared, as estimators take it; "auto" leaves explicit features to the host
    small : examples up to which pairs are compared in float64, `EXACT` unless given

    With "auto" lists whose kernels all have explicit features use them beyond `MATRICES` or `WORDS` examples. Pairs
    are compared in float32 where `tol` and the variance of the kernels allow it.
    """
    named = features not in ("auto", "never")
    features_pay = features != "never" and not exact and (named or wanted or worth_features(kernels, n_examples(X)))
    device = None if device == "auto" and features_pay else choose_device(device, n_examples(X))
    if device is not None and (named or wanted):
        raise ValueError(
            f"a device compares pairs, and {f'features={features!r}' if named else 'the solver'} asks for explicit "
            "features: take device='cpu', or features='auto' and another solver"
        )
    if wanted and features == "never":
        raise ValueError(
            "features='never' leaves no explicit features to a solver that works on them alone, such as 'coordinate': "
            "take features='auto', or another solver"
        )
    if named and exact:
        raise ValueError(
            f"features={features!r} does not suit a regularizer that wants kernel values in float64, such as "
            "EmpiricalBayes: take features='auto'"
        )
    if device is None and features_pay:
        bank = explicit_bank(kernels, X, features, single=tol >= SINGLE, **options)
        if bank is not None:
            return bank
    if named:
        raise ValueError(
            f"features={features!r} is for kernels with explicit features, such as those of `strings`, and not all "
            "kernels here have some: take features='auto'"
        )
    if tol >= SINGLE and n_examples(X) > (EXACT if small is None else small) and not exact:
        with warnings.catch_warnings(record=True) as caught, suppress(TooLarge):
            bank = _pairs(kernels, X, device, dtype=np.float32, **options)
            if bank.usable.all():
                for warning in caught:
                    warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
                return bank
    return _pairs(kernels, X, device, dtype=np.float64, **options)  # tells a small variance from none


def _pairs(kernels, X, device, **options):
    if device is None:
        return PairwiseBank(kernels, X, **options)
    from .device import DeviceBank

    return DeviceBank(kernels, X, device=device, **options)


def worth_features(kernels, n):
    """Whether all kernels have explicit features, and matrices of n examples are dearer."""
    families = {kernel.family for kernel in kernels.kernels}
    return None not in families and n > (WORDS if families & {"shift", "channels"} else MATRICES)


def explicit_bank(kernels, X, store="auto", single=False, **options):
    """The bank of the explicit features of a `KernelList`; None where a kernel has none.

    `store` says where v is kept: "auto", "map", "sorted", "trie" or "hash", see `banks.words` and `banks.trie`;
    `single` that features which are computed on the way may be float32, see `banks.low_rank`.
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
        lacks = kind not in ("features", "low_rank") and any(view.present is not None for view in part.views(X))
        normalize = options.get("normalize", "multiplicative")
        own_options = options | {"normalize": normalize.part(own)} if isinstance(normalize, Scaled) else options
        bank = None if kind is None or lacks else _first(STORES[store][kind], part, X, store, single, own_options)
        if bank is None:
            return None
        parts.append(bank)
        which.append(own)
    bank = parts[0] if len(parts) == 1 else JoinedBank(kernels, parts, which)
    report_unusable(bank)
    return bank


def _first(kinds, kernels, X, store, single, options):
    """The first of these kinds of banks that takes all the kernels."""
    for kind in kinds:
        extra = {WordBank: {"store": store}, LowRankBank: {"single": single}}.get(kind, {})
        bank = kind.from_list(kernels, X, **extra, **options)
        if bank is not None:
            return bank
    return None

"""The choice of the bank: explicit features if they are faster or if the user asks for them, else values of pairs."""

import warnings
from contextlib import suppress

import numpy as np

from .._limits import MIN_EXAMPLES_PER_FEATURE, MIN_FLOAT32_GAP
from ..kernels.normalize import Scaled
from ..kernels.pair_blocks import TooLarge
from ..kernels.view_data import n_examples
from .dense import DenseBank, report_unusable
from .features import FeatureBank
from .holders import HOLDERS, Holder
from .joined import JoinedBank
from .low_rank import LowRankBank
from .pairwise import PairwiseBank

# Above these numbers of examples, sequence kernels use their explicit features; `MAX_WORD_PAIRWISE` is for words at
# any place or with shifts. Both ways read every letter, the one for each pair and the other for each of some hundred
# visits of an example: so they cost the same at some number of examples, whatever the length and the number of
# kernels. Seconds of a fit by pairs and by features, splice sites of 141 letters, gap 1e-3, two cores with other work
# besides: 20 degrees 1.6 and 5.7 at 3,000 examples, 9.0 and 8.1 at 6,000; two kernels with shifts 9 and 14 at 4,000,
# 36 and 30 at 8,000; three spectra 5.0 and 3.7 at 4,000. `words.tables.tables_pay` decides for kernels of mismatches.
MAX_PAIRWISE = 3000
MAX_WORD_PAIRWISE = 8000
MAX_VALUE_RATIO = 64  # of multiplications within matrix products to kernel values read from memory, in the same time
MAX_FLOAT64_EXAMPLES = 1000
MIN_DEVICE_EXAMPLES = 5000  # with device="auto": below, the start of a card costs more than it saves

HOLDERS.update(features=Holder(FeatureBank), low_rank=Holder(LowRankBank))
STORES = ("auto", "trie", "map", "sorted", "hash")  # of the vectors of words
FEATURES = ("never", *STORES)  # values of the parameter of estimators


def choose_device(name, n):
    """The name of PyTorch's device for n examples, None for the host; `name` is the parameter of an estimator."""
    if not isinstance(name, str):
        raise ValueError(f'device={name!r} is not allowed: give "cpu", "cuda", "cuda:1", "auto" or "torch".')
    if name == "auto" and n >= MIN_DEVICE_EXAMPLES:
        with suppress(ImportError, ValueError):
            from ._device_parts import open_device

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
    kernels,
    X,
    *,
    tol=1e-3,
    features="auto",
    wanted=False,
    exact=False,
    small=None,
    device="cpu",
    smooth=False,
    before=None,
    **options,
):
    """The bank of a `KernelList` on X; `options` are those of every bank, and `keep` of `PairwiseBank` for the host.

    features : "auto", see below; "never" for pairs; or another of `STORES`, which says where the vectors of
        explicit features are kept and raises an error if a kernel has none
    wanted : whether the solver needs explicit features
    exact : whether the regularizer needs kernel values of pairs in float64
    tol : the target gap
    device : the parameter of estimators; with "auto", explicit features stay on the host
    smooth : whether the loss is, and is fitted at one C: then products with tables of words are few
    before : called with the number of kernels before the host compares pairs, if given
    small : examples up to which pairs are compared in float64, default `MAX_FLOAT64_EXAMPLES`

    "auto" uses explicit features if all kernels have some and `worth_features` and `cheaper` say so. Pairs are
    compared in float32 if `tol` and the variance of the kernels allow it.
    """
    keep, named = options.pop("keep", None), features not in ("auto", "never")
    pays = named or wanted or worth_features(kernels, n_examples(X), X, smooth)
    features_pay = features != "never" and not exact and pays
    device = None if device == "auto" and features_pay else choose_device(device, n_examples(X))
    there = device is not None and features == "auto" and not exact and _features_there(kernels, n_examples(X), wanted)
    if device is not None and not there and (named or wanted):
        raise ValueError(
            f"a device compares pairs, and {f'features={features!r}' if named else 'the solver'} asks for explicit "
            "features, of which it takes those of low rank (approximation='rff') with features='auto': take "
            "device='cpu', or features='auto' and another solver"
        )
    if wanted and features == "never":
        raise ValueError(
            "features='never' gives no explicit features to a solver that needs them, such as 'coordinate': "
            "take features='auto', or another solver"
        )
    if named and exact:
        raise ValueError(
            f"features={features!r} does not suit a regularizer that needs kernel values in float64, such as "
            "EmpiricalBayes: take features='auto'"
        )
    if there or device is None and features_pay:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            single = tol >= MIN_FLOAT32_GAP and n_examples(X) > MAX_PAIRWISE
            bank = explicit_bank(kernels, X, features, single=single, device=device, **options)
        many = named or wanted or there or n_examples(X) > MAX_PAIRWISE
        paid = bank is not None and (many or cheaper(bank))
        if paid or many:
            _tell(caught)
        if paid:
            return bank
    if named:
        raise ValueError(
            f"features={features!r} is for kernels with explicit features, such as those of `strings`, and not all "
            "kernels here have some: take features='auto'"
        )
    if device is None:
        options |= {} if keep is None else {"keep": keep}
        if before is not None:
            before(kernels.M)
    if tol >= MIN_FLOAT32_GAP and n_examples(X) > (MAX_FLOAT64_EXAMPLES if small is None else small) and not exact:
        bank = None
        with warnings.catch_warnings(record=True) as caught, suppress(TooLarge):
            warnings.simplefilter("always")  # as errors they would end the fit before float64 is tried
            bank = _pairs(kernels, X, device, dtype=np.float32, **options)
        if bank is not None and bank.usable.all():
            _tell(caught)
            return bank
    return _pairs(kernels, X, device, dtype=np.float64, **options)  # tells a small variance from none


def _features_there(kernels, n, wanted):
    """Whether a device computes the features of these kernels: all are of low rank, and examples suffice for `primal`.

    Fewer examples are compared pair by pair, unless features are `wanted`.
    """
    if kernels.tasks is not None or any(kernel.family != "low_rank" for kernel in kernels.kernels):
        return False
    return wanted or n >= MIN_EXAMPLES_PER_FEATURE * sum(kernel.rank for kernel in kernels.kernels)


def _tell(caught):
    """Repeats warnings that were held back until a bank was chosen."""
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _pairs(kernels, X, device, **options):
    if device is None:
        return PairwiseBank(kernels, X, **options)
    from .device import DeviceBank

    return DeviceBank(kernels, X, device=device, **options)


def worth_features(kernels, n, X=None, smooth=False):
    """Whether all kernels have explicit features that may be faster than pairs of n examples, X if at hand."""
    holders = {HOLDERS.get(kernel.family) for kernel in kernels.kernels}
    if None in holders:
        return False
    return holders.pop().pays(kernels, n, X, smooth) if len(holders) == 1 else n > max(one.most for one in holders)


def cheaper(bank):
    """Whether a step on these explicit features costs less than one on the n² M kernel values of their pairs.

    With D features, d of them different from 0 in an example, a step takes about n d min(n, D) multiplications.
    """
    owners = bank.owners()
    D = bank.n if owners is None else len(owners)
    return bank.entries() * min(bank.n, D) <= MAX_VALUE_RATIO * bank.n**2 * bank.M


def explicit_bank(kernels, X, store="auto", single=False, device=None, **options):
    """The bank of the explicit features of a `KernelList`; None if a kernel has none.

    `store` says where v is kept: "auto", "map", "sorted", "trie" or "hash", see `words.linadd` and `words.trie`.
    `single` allows float32 for features that are computed on the fly, and a `device` computes and keeps them, see
    `banks.low_rank`.
    """
    if store not in STORES:
        raise ValueError(f"store={store!r} is unknown: choose one of {', '.join(map(repr, STORES))}.")
    if kernels.tasks is not None:
        return None
    holders = [HOLDERS.get(kernel.family) for kernel in kernels.kernels]
    if None in holders:
        return None
    for holder, own in _members(holders):
        suited = holder.suited(kernels.part(own), X, store, options.get("memory_limit"))
        holders = [suited if one is holder else one for one in holders]
    parts, which = [], []
    for holder, own in _members(holders):
        part = kernels.part(own)
        if holder.whole and any(view.present is not None for view in part.views(X)):
            return None
        normalize = options.get("normalize", "multiplicative")
        own_options = options | {"normalize": normalize.part(own)} if isinstance(normalize, Scaled) else options
        asked = {"store": store, "single": single, "device": device}
        bank = _first(holder.banks(store), part, X, asked, own_options)
        if bank is None:
            return None
        parts.append(bank)
        which.append(own)
    bank = parts[0] if len(parts) == 1 else JoinedBank(kernels, parts, which)
    report_unusable(bank.names, bank.usable)
    return bank


def _members(holders):
    """[(holder, the numbers of its kernels)]."""
    return [(one, np.array([m for m, other in enumerate(holders) if other is one])) for one in dict.fromkeys(holders)]


def _first(kinds, kernels, X, asked, options):
    """The bank of the first of these classes that accepts all kernels."""
    for kind in kinds:
        bank = kind.from_list(kernels, X, **{name: asked[name] for name in kind.asks}, **options)
        if bank is not None:
            return bank
    return None

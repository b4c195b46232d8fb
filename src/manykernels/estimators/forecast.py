"""What a fit on pairs of examples takes, said before it begins: time and memory, from n, M and the machine."""

import sys
import warnings
from typing import Any

from .._limits import machine_memory
from .._threads import n_threads
from ..banks.choice import MIN_FLOAT32_GAP
from .progress import PLAIN_SECONDS, in_words

# Processor seconds of fits to a gap of 1e-3 on two x86-64 cores. For each pair of examples and each kernel, in float32:
# 2e-9 to 8e-9 at 4,000 to 16,000 examples, 11 and 36 kernels, classes with and without noise. A smooth loss keeps all
# examples active: for each triple 1e-10 at 4,000 examples and 5e-11 at 8,000.
PAIR_SECONDS, TRIPLE_SECONDS = 5e-9, 5e-11
LONG_SECONDS = 60.0
FIRST_SHARE = 4  # a solver begins with one example in so many, or with all of them
CURE = (
    'approximation="nystroem" (--approximation nystroem) takes time and memory in proportion to the examples, and less '
    "with a smaller rank"
)


def forecast(model: Any, examples: Any, M: int) -> None:
    """States the expected time and memory of a fit of M kernels; a ValueError if this machine lacks the memory.

    It warns above `LONG_SECONDS`. With `verbose` it prints what takes longer than `PLAIN_SECONDS`.
    """
    n, loss, unlimited = examples.n, examples.loss, model.memory_limit is None
    each = 4 if model.tol >= MIN_FLOAT32_GAP else 8
    pairs = f"{n:,} examples × {M} kernel{'s' * (M > 1)} are compared pair by pair"
    least = each * (n if loss.total or loss.interior else n // FIRST_SHARE) ** 2
    if unlimited and model.solver == "auto" and least > machine_memory():
        raise ValueError(
            f"{pairs}: this takes at least {least / 2**30:,.1f} GiB of memory, and this machine has "
            f"{machine_memory() / 2**30:,.1f} GiB. {CURE}; with memory_limit kernels are computed block by block, "
            "which takes many times longer."
        )
    work = PAIR_SECONDS * each / 4 * n**2 * M + loss.smooth * TRIPLE_SECONDS * n**3
    seconds = (1 if examples.joint else len(examples.Y)) * work / n_threads(model.n_jobs)
    held = f" and up to {each * n**2 / 2**29:,.1f} GiB of memory" * unlimited
    said = f"{pairs}: expect about {in_words(seconds)}{held}. {CURE}."
    if model.verbose and seconds > PLAIN_SECONDS:
        print(said, file=sys.stderr)
    elif seconds > LONG_SECONDS:
        warnings.warn(f"{said} verbose=True shows progress.", UserWarning, stacklevel=2)

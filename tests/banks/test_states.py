"""States of banks of words from files: what does not fit is refused, and what fits predicts as before."""

import numpy as np
import pytest

from manykernels.banks.choice import explicit_bank
from manykernels.kernels import KernelList
from manykernels.strings import Mismatch, Spectrum

rng = np.random.default_rng(4)
TEXTS = ["".join(rng.choice(list("ACGT"), size=8)) for _ in range(12)]
KERNELS = {"words": [Spectrum(2), Spectrum(3)], "tables": [Mismatch(3, 1), Mismatch(2, 1)]}


def wrong(state):
    """(what is wrong, the state)."""
    own, scale = state["own"], state["scale"]
    yield "a kernel too few", state | {"own": own[:, :1]}
    yield "one axis", state | {"own": own[:, 0].copy()}
    yield "float32", state | {"own": own.astype(np.float32)}
    yield "an example too few", state | {"own": own[:-1]}
    yield "scales of other kernels", state | {"scale": scale[:1]}
    yield "scales in float32", state | {"scale": scale.astype(np.float32)}
    yield "use as numbers", state | {"usable": state["usable"].astype(float)}
    yield "no limit of bytes", state | {"memory_limit": -5}
    yield "half a thread", state | {"n_jobs": 0.5}
    yield "another number of views", state | {"views": state["views"] * 2}
    yield "spherical as a number", state | {"spherical": 1}


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
@pytest.mark.parametrize("kind", KERNELS)
def test_a_state_is_checked_part_by_part_and_gives_the_same_predictor(kind, normalize):
    bank = explicit_bank(KernelList.from_spec(KERNELS[kind], TEXTS), TEXTS, normalize=normalize).take(np.arange(1, 9))
    state, A = bank.to_state(), rng.normal(size=(2, 8))
    again = type(bank).from_state(dict(state))
    for name in ("n", "M", "names", "n_jobs", "memory_limit"):
        assert getattr(again, name) == getattr(bank, name)
    everyone = np.arange(8)
    found, expected = (one.predictor(everyone).parts(TEXTS, A, np.ones(2)) for one in (again, bank))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(again.diagonals(), bank.diagonals())
    for words, bad in wrong(state):
        with pytest.raises((ValueError, TypeError)):
            pytest.fail(words) if type(bank).from_state(dict(bad)) else None

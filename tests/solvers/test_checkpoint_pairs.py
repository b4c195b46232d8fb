"""A fit that continues from its checkpoint compares no pair of strings or objects a second time."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manykernels import MKLClassifier
from manykernels.banks import pairwise

ENDS = np.random.default_rng(0).permutation(np.arange(1, 61))
THINGS = [frozenset(range(end)) for end in ENDS]
Y = np.where(ENDS > 30, 1, -1)
ROWS = 16  # of a block

compared, most = 0, np.inf


def common(A, B):
    """The share of what two sets have in common; interrupted after `most` pairs."""
    global compared
    if compared + len(A) * len(B) > most:
        raise KeyboardInterrupt
    compared += len(A) * len(B)
    return np.array([[min(len(a), len(b)) / max(len(a), len(b)) for b in B] for a in A])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(pairwise, "tile_shape", lambda *_, **__: (ROWS, ROWS))


def fitted(path, limit=np.inf, **params):
    """The model, and the number of pairs that the fit has compared."""
    global compared, most
    compared, most = 0, limit
    model = MKLClassifier([("common", common)], checkpoint=path, **{"C": 1.0} | params)
    return model.fit(THINGS, Y), compared


def test_a_finished_fit_compares_no_pair_again(tmp_path):
    whole, pairs = fitted(None)
    first, at_first = fitted(tmp_path / "fit.ckpt")
    again, later = fitted(tmp_path / "fit.ckpt")
    assert at_first == pairs > len(THINGS) ** 2 / 2
    assert later <= 2 * len(THINGS)  # k(x, x) of each, and a check of some
    for model in (first, again):
        assert_array_equal(model.dual_coef_, whole.dual_coef_)
        assert_array_equal(model.decision_function(THINGS), whole.decision_function(THINGS))


def test_a_fit_broken_off_while_it_compares_keeps_the_blocks_that_are_done(tmp_path):
    whole, pairs = fitted(None)
    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "fit.ckpt", limit=pairs / 2)
    before = compared
    model, after = fitted(tmp_path / "fit.ckpt")
    own, block = 2 * len(THINGS), ROWS * len(THINGS)
    assert 0 < before and before + after <= pairs + own + block  # the block of the interrupt at most twice
    assert_array_equal(model.dual_coef_, whole.dual_coef_)


def test_another_fit_takes_no_values_of_the_first_and_removes_its_file(tmp_path):
    _, pairs = fitted(tmp_path / "fit.ckpt")
    (values,) = tmp_path.glob("fit.ckpt.*.npy")
    (tmp_path / "fit.ckpt").unlink()
    assert fitted(tmp_path / "fit.ckpt", C=2.0)[1] == pairs
    assert not values.exists() and len([*tmp_path.glob("fit.ckpt.*.npy")]) == 1


@pytest.mark.parametrize("damage", [b"", b"no array", b"\x93NUMPY"])
def test_a_damaged_file_of_values_is_said_and_computed_anew(damage, tmp_path):
    whole, pairs = fitted(tmp_path / "fit.ckpt")
    (values,) = tmp_path.glob("fit.ckpt.*.npy")
    values.write_bytes(damage)
    with pytest.warns(RuntimeWarning, match=f"{values.name}.*cannot keep kernel values"):
        model, again = fitted(tmp_path / "fit.ckpt")
    assert again == pairs
    assert_array_equal(model.dual_coef_, whole.dual_coef_)

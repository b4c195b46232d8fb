"""Banks of two families joined: each kernel finds its own member, in the order of the list, in files too."""

import numpy as np
import pytest

from manykernels.banks.choice import explicit_bank
from manykernels.banks.joined import JoinedPredictor
from manykernels.kernels import RBF, KernelList, Linear, RandomFeatures

rng = np.random.default_rng(0)
n = 25
X = rng.normal(size=(n, 4))
WIDE, NARROW = RandomFeatures(RBF(gamma=0.3), 6, 0), RandomFeatures(RBF(gamma=1.0), 4, 1)
SPECS = [("r", WIDE), ("a", Linear(), [0, 1]), ("s", NARROW), ("b", Linear(), [2]), ("c", Linear(), [3, 0])]
COLUMNS = [range(4), [0, 1], range(4), [2], [3, 0]]


def predictor(support):
    bank = explicit_bank(KernelList.from_spec(SPECS, X), X, normalize="trace")
    return bank, bank.predictor(support)


def test_every_kernel_of_a_joined_predictor_is_its_own():
    support, new = np.array([1, 4, 9, 20]), rng.normal(size=(7, 4))
    bank, joined = predictor(support)
    assert isinstance(joined, JoinedPredictor) and bank.names == ["r", "a", "s", "b", "c"]
    A, kernels = rng.normal(size=(2, 4)), bank.kernels.kernels
    values = [k(new[:, c], X[support][:, c]) for k, c in zip(kernels, map(list, COLUMNS), strict=True)]
    values = np.array([scale * K for scale, K in zip(bank.scale, values, strict=True)])
    theta = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    parts = joined.parts(new, A, theta)
    np.testing.assert_allclose(parts, np.einsum("m,mij,tj->tim", theta, values, A), atol=1e-9)
    np.testing.assert_allclose(joined.decision(new, A, theta), parts.sum(axis=2), atol=1e-9)
    np.testing.assert_allclose(joined.combined(new, theta), np.tensordot(theta, values, 1), atol=1e-9)
    np.testing.assert_allclose(joined.prepared(A, theta, 10**6)(new), parts.sum(axis=2), atol=1e-9)
    found = 0
    for m in range(5):
        expansion = joined.expansion(m, A)
        if expansion is not None:
            kernel, Z, B = expansion
            own = kernel(new[:, list(COLUMNS[m])], np.asarray(Z)) @ np.asarray(B).T
            np.testing.assert_allclose(own, values[m] @ A.T, atol=1e-9)
            found += 1
    assert found >= 3
    one = joined.parts(new, A, np.array([[1.0, 0, 0, 0, 2.0], [0, 3.0, 0, 0, 0]]))  # weights of their own
    np.testing.assert_allclose(one[0, :, 4], 2 * values[4] @ A[0], atol=1e-9)
    np.testing.assert_allclose(one[1, :, 1], 3 * values[1] @ A[1], atol=1e-9)
    assert not one[1, :, 4].any() and not one[0, :, 1].any()


def test_kernels_that_no_member_has_or_two_have_are_refused():
    _, joined = predictor(np.array([1, 4, 9]))
    joined.check_state()
    good = [own.copy() for own in joined.which]
    for member, place, value in ((0, 0, good[1][0]), (1, 0, good[0][0]), (0, 0, 5), (1, 1, -1)):
        joined.which = [own.copy() for own in good]
        joined.which[member][place] = value
        with pytest.raises(ValueError):
            joined.check_state()
    joined.which, joined.members = good, joined.members[::-1]
    with pytest.raises(ValueError):
        joined.check_state()

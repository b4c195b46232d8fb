"""A kernel that varies little but honestly is kept by every bank, with its own scale."""

import numpy as np
import pytest

from manykernels.banks.dense import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import RBF, Constant, KernelList, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype, far", [(np.float64, 1e2), (np.float64, 1e4), (np.float64, 1e8), (np.float32, 1e4)])
@pytest.mark.parametrize("normalize", ["multiplicative", "trace", None])
def test_a_constant_beside_a_matrix_takes_neither_its_weight_nor_its_scale(dtype, far, normalize):
    """variance / mean diagonal is about 1 / far, above the rounding of the matrix."""
    K = RBF(gamma=0.5)(X)
    near, moved = (
        DenseBank(np.stack([K + shift, 2 * K], axis=2).astype(dtype), normalize=normalize) for shift in (0, far)
    )
    assert moved.usable.all()
    if normalize == "multiplicative":  # the variance does not see the constant
        np.testing.assert_allclose(moved.scale, near.scale, rtol=20 * far * np.finfo(dtype).eps)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype, far", [(np.float64, 1e8), (np.float32, 1e4)])
def test_a_constant_beside_a_kernel_computed_on_the_fly(dtype, far):
    kernels = KernelList.from_spec([RBF(gamma=0.5) + Constant(far), RBF(gamma=0.5)], X)
    bank = PairwiseBank(kernels, X, dtype=dtype)
    assert bank.usable.all()
    np.testing.assert_allclose(bank.scale[0], bank.scale[1], rtol=20 * far * np.finfo(dtype).eps)


@pytest.mark.filterwarnings("error")
def test_columns_far_from_the_origin_keep_their_linear_kernel():
    """Mean 100, spread 1: a share of 1e-4 of the squares is variance."""
    columns = [Linear(), ("one", Linear(), [1])]
    banks = [
        bank.from_list(KernelList.from_spec(columns, Z), Z) if bank is FeatureBank
        else bank(KernelList.from_spec(columns, Z), Z, dtype=np.float64)
        for bank in (FeatureBank, PairwiseBank) for Z in (X, X + 100)
    ]  # fmt: skip
    for bank in banks:
        assert bank.usable.all()
        np.testing.assert_allclose(bank.scale, banks[0].scale, rtol=1e-9)  # 1e-16 of (100 + x)²

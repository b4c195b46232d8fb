"""What every kernel promises; a kernel exported from manykernels.kernels joins by being given an example here."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from naive_kernels import matrix
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, polynomial_kernel, rbf_kernel

from manykernels import kernels as mk

EXAMPLES = [
    mk.Linear(),
    mk.Polynomial(2),
    mk.Polynomial(3, gamma=0.5, coef0=0.0),
    mk.RBF(),
    mk.RBF(0.7),
    mk.Laplacian(0.3),
    mk.Chi2(),
    mk.HistogramIntersection(),
    mk.Tanimoto(),
    mk.Cosine(),
    mk.Constant(2.0),
    mk.Identity(),
    mk.RBF(0.2) + mk.RBF(2.0),
    mk.RBF(0.2) * mk.Linear() + mk.Identity(),
    2 * mk.Linear() + 1,
    mk.RBF(0.2) * mk.Polynomial(2),
    mk.Features(RBFSampler(n_components=20, random_state=0)),
    mk.RandomFeatures(mk.RBF(0.7), 20),
    mk.RandomFeatures(mk.Laplacian(0.7), 20, random_state=3),
    mk.Nystroem(mk.RBF(), 6),
    mk.Nystroem(mk.Polynomial(2), 5, "uniform"),
    mk.Categorical(),
    mk.Gower(),
    mk.On([0, 2], mk.RBF(0.5)),
]
BY_FEATURES = (mk.Features, mk.RandomFeatures, mk.Nystroem, mk.Gower)  # not functions of two examples alone
EVERY = pytest.mark.parametrize("kernel", EXAMPLES, ids=repr)
rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(12, 3)))
X[3] = 0
X[5] = X[6]
Y = np.abs(rng.normal(size=(5, 3)))


def test_every_exported_kernel_has_an_example():
    base = (mk.Kernel, mk.Function, mk.GaussianProcess, mk.Fitted, mk.Precomputed)  # functions of others, or tables
    exported = {k for k in vars(mk).values() if inspect.isclass(k) and issubclass(k, mk.Kernel) and k not in base}
    assert exported == {type(kernel) for kernel in EXAMPLES}


@pytest.mark.parametrize("kernel", [k for k in EXAMPLES if not isinstance(k, BY_FEATURES)], ids=repr)
def test_equals_a_naive_loop(kernel):
    assert_allclose(kernel(X), matrix(kernel, X), rtol=1e-12, atol=1e-13)
    assert_allclose(kernel(X, Y), matrix(kernel, X, Y), rtol=1e-12, atol=1e-13)


@EVERY
def test_symmetric_positive_semidefinite_and_diag_is_the_diagonal(kernel):
    K = kernel(X)
    assert_allclose(K, K.T, atol=1e-13)
    assert kernel.psd
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)
    assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-14)


@EVERY
def test_clone_pickle_and_params_keep_the_kernel(kernel):
    for twin in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert_array_equal(twin(X), kernel(X))
        assert repr(twin) == repr(kernel)


@pytest.mark.parametrize("kernel", [k for k in EXAMPLES if k.base in ("dot", "sqdist", "same")], ids=repr)
def test_sparse_equals_dense(kernel):
    assert_allclose(kernel(sp.csr_array(X)), kernel(X), atol=1e-12)
    assert_allclose(kernel(sp.csr_array(X), sp.csr_array(Y)), kernel(X, Y), atol=1e-12)


@pytest.mark.parametrize("kernel", [k for k in EXAMPLES if type(k).features is not mk.Kernel.features], ids=repr)
@pytest.mark.parametrize("as_data", [np.asarray, sp.csr_array])
def test_products_of_features_are_the_kernel(kernel, as_data):
    kernel = kernel.resolve(as_data(X))
    F, G = kernel.features(as_data(X)), kernel.features(as_data(Y))
    K = F @ G.T
    assert_allclose(K.toarray() if sp.issparse(K) else K, kernel(X, Y), atol=1e-13)


def test_defaults_are_those_of_scikit_learn():
    for kernel, reference in ((mk.RBF(), rbf_kernel), (mk.Laplacian(), laplacian_kernel), (mk.Chi2(), chi2_kernel)):
        assert_allclose(kernel(X, Y), reference(X, Y), rtol=1e-12)
    assert_allclose(mk.Polynomial()(X, Y), polynomial_kernel(X, Y), rtol=1e-12)
    assert_allclose(mk.RBF("scale")(X), rbf_kernel(X, gamma=1 / (3 * X.var())), rtol=1e-12)


def test_identity_is_zero_on_new_data():
    assert_array_equal(mk.Identity()(X), np.eye(len(X)))
    assert_array_equal(mk.Identity()(X, X), 0)


def test_far_from_the_origin_distances_keep_their_digits():
    assert_allclose(mk.RBF(1.0)(X + 1e6), mk.RBF(1.0)(X), atol=1e-8)


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, "auto", True])
def test_a_bad_gamma_is_refused(gamma):
    with pytest.raises(ValueError, match="gamma"):
        mk.RBF(gamma)(X)


@pytest.mark.parametrize("kernel", [mk.Chi2(), mk.HistogramIntersection()], ids=repr)
def test_negative_data_are_refused_by_histogram_kernels(kernel):
    with pytest.raises(ValueError, match="negative value"):
        kernel(X - 1)
    with pytest.raises(ValueError, match="toarray"):
        kernel(sp.csr_array(X))


def test_callables_and_gaussian_process_kernels_are_wrapped():
    K = mk.as_kernel(lambda A, B: A @ B.T)
    assert_allclose(K(X, Y), X @ Y.T)
    assert_allclose(K.diag(X), (X**2).sum(axis=1))
    process = gp.RBF(2.0) + gp.WhiteKernel(0.1)
    assert_allclose(mk.as_kernel(process)(X), process(X))
    assert_allclose((mk.RBF(1.0) * process)(X, Y), mk.RBF(1.0)(X, Y) * process(X, Y))
    with pytest.raises(ValueError, match="not a kernel"):
        mk.as_kernel(3)
    with pytest.raises(ValueError, match="shape"):
        mk.as_kernel(lambda A, B: A)(X, Y)

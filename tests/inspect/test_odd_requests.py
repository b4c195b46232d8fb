"""What a stranger asks of the tools around a model: data in odd forms, kernels that come and go with the folds."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import bootstrap_weights, relevance, suggest
from manykernels.kernels import RBF, Constant, GaussianProcess, Linear

X = np.random.default_rng(0).normal(size=(40, 3))
y = (X[:, 0] > 0).astype(int)
KERNELS = [("line", Linear()), ("near", RBF())]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_relevance_takes_every_sparse_format(form):
    """Fit takes all seven, relevance and report took four."""
    S = scipy.sparse.csr_matrix(X)
    model = MKLClassifier(KERNELS, C=1.0)
    found, same = (relevance(model, data, y, cv=2, n_permutations=1) for data in (S.asformat(form), S))
    np.testing.assert_array_equal(found.score_all, same.score_all)


def test_a_suggestion_with_a_constant_kernel():
    """A constant kernel has no alignment; NumPy warned of 0/0, and redundancy was NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = suggest(X, y, [*KERNELS, ("one", Constant())], Cs=[1.0], cv=2)
    assert np.isfinite(found.redundancy) and np.isfinite(found.alignments).all()


def test_a_suggestion_for_targets_in_a_column():
    """Fit takes y (n, 1), and so does suggest."""
    column, flat = (suggest(X, t, KERNELS, Cs=[1.0], cv=2) for t in (y[:, None], y))
    np.testing.assert_array_equal(column.alignments, flat.alignments)


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, pd.DataFrame])
def test_samples_of_a_bootstrap_have_the_kernels_that_are_chosen_for_all_examples(form):
    """A sample without the one true entry of a column had a kernel less, and NumPy's error
    spoke of an inhomogeneous shape."""
    table = np.zeros((12, 4))
    table[:, 0], table[[1, 5, 7], [1, 2, 3]] = np.arange(12), 1.0
    model = MKLRegressor(C=1.0).fit(form(table), np.arange(12.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # columns that do not vary in a sample
        found = bootstrap_weights(model, form(table), np.arange(12.0), n_boot=6)
    assert found.shape == (6, len(model.kernel_weights_)) and found[:, -3:].min() == 0 < found[:, -3:].max()


def test_a_path_takes_the_targets_that_fit_takes():
    """Several labels or targets were refused by path alone."""
    Y = np.column_stack([y, X[:, 1] > 0]).astype(int)
    path = MKLClassifier(KERNELS, multi_class="shared").path(X, Y, Cs=[0.1, 1.0])
    single = MKLClassifier(KERNELS, multi_class="shared", C=1.0).fit(X, Y)
    np.testing.assert_allclose(path.weights[0, 1], single.kernel_weights_, atol=0.05)
    assert MKLRegressor(KERNELS).path(X, X[:, :2], Cs=[1.0]).weights.shape == (1, 1, 2)


def test_a_gaussian_process_kernel_says_that_it_needs_dense_data():
    """It said "XB must be a 2-dimensional array"."""
    from sklearn.gaussian_process.kernels import Matern

    with pytest.raises(ValueError, match=r"X.toarray\(\)"):
        MKLClassifier([GaussianProcess(Matern())]).fit(scipy.sparse.csr_matrix(X), y)


def test_a_memory_limit_may_be_a_whole_float():
    """1e9 bytes are bytes, as the signature says."""
    assert MKLClassifier(KERNELS, memory_limit=1e9).fit(X, y).kernel_weights_.shape == (2,)


def test_what_is_left_of_weights_may_be_tiny():
    """A source of all weight goes, and the ratio of the sums overflowed."""
    from manykernels.inspect.fold import _without
    from manykernels.solution import Solution

    a = np.zeros((1, 4))
    whole = Solution(
        np.array([1.0, 1e-310]), a=a, b=np.zeros(1), primal=1.0, dual=1.0, gap=0.0, n_iter=1, history=[], converged=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _without(whole, np.array([False, True])).theta.tolist() == [0.0, 1.0]


def test_an_empty_sparse_table_is_refused_by_name():
    """Sums of no entries are integers, and NumPy could not divide into them."""
    with pytest.raises(ValueError, match="no kernel varies"):
        MKLClassifier([Linear()], normalize=None, solver="interior").fit(scipy.sparse.csr_matrix((4, 3)), [0, 1, 0, 1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_tables_with_columns_that_a_fold_lacks_have_relevance_and_a_page(seed):
    """Kernels are chosen on all examples, so that every fold has the same ones."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.choice(["red", "blue", "green"], 12), "b": rng.choice(["x", "y"], 12)})
    frame["c"] = np.where(np.arange(12) < 3, rng.normal(size=12), np.nan)
    y = np.tile([0, 1], 6)
    found = relevance(MKLClassifier(C=1.0), frame, y, cv=2)
    assert {row["name"] for row in found.table()} >= {"a", "b"}
    assert "<html" in MKLClassifier(C=1.0).fit(frame, y).report(frame, y, cv=2, stability=2).html()

"""Lists of kernels in special cases, and what files refuse of their kernels, transformers and texts."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, OneHotEncoder, RobustScaler, StandardScaler

from manykernels import MKLClassifier, _archive
from manykernels import load as load_model
from manykernels.kernels import RBF, Categorical, Identity, KernelList, Linear, multi_task
from manykernels.kernels.tasks import Tasked
from manykernels.kernels.transformers import Transformer

rng = np.random.default_rng(6)
X, y = rng.normal(size=(20, 3)), np.arange(20) % 2


def test_views_of_tasks_have_the_number_of_each_task():
    task = np.array(["b", "a", "c", "b"] * 5)
    kernels = KernelList.from_spec(multi_task([Linear()]), Tasked(X, task))
    assert kernels.tasks.tolist() == ["a", "b", "c"]
    (view,) = kernels.views(Tasked(X[:5], np.array(["c", "a", "z", "b", "b"])))
    assert view.task.tolist() == [2, 0, -1, 1, 1]
    np.testing.assert_array_equal(view.X, X[:5])
    some = view.of(np.array([3, 0]))
    assert some.task.tolist() == [1, 2] and some.present is None


def test_kernels_are_changed_by_their_numbers():
    seen = []

    def change(kernel, m):
        seen.append((type(kernel).__name__, m))
        return RBF(0.1 * (m + 1))

    found = KernelList.from_spec([RBF(9.0), ("l", Linear(), [1]), Identity()], X, change=change)
    assert seen == [("RBF", 0), ("Linear", 1), ("Identity", 2)]
    assert [kernel.gamma for kernel in found.kernels] == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize("missing", ["error", "zero"])
def test_infinity_is_no_missing_value(missing):
    bad = X.copy()
    bad[3, 1], bad[5, 2] = np.inf, np.nan
    for columns, frame in (([0, 1], bad), (["b"], pd.DataFrame(bad, columns=list("abc")))):
        with pytest.raises(ValueError, match="X contains infinity in column"):
            KernelList.from_spec([("k", RBF("scale"), columns, missing)], frame)


TEXTS = ["red fox", "blue sky sky", "red sky", "fox fox blue"] * 3
LETTERS = np.array([["a", 1.0], ["b", 2.5], ["a", 2.5], ["c", 1.0]] * 3, object)
COUNTS = rng.integers(0, 4, (12, 3)).astype(float)
HOLES = np.where(rng.random((12, 3)) < 0.2, np.nan, COUNTS)
HOLES[0] = 1.0
NUMERIC = [
    StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False), MinMaxScaler((-1, 2), clip=True),
    MaxAbsScaler(), RobustScaler(), RobustScaler(with_centering=False, quantile_range=(10.0, 80.0)), Normalizer("l1"),
    PCA(1, whiten=True), TruncatedSVD(1, random_state=0), RBFSampler(gamma=0.3, n_components=4, random_state=1),
    Nystroem(gamma=0.2, n_components=5, random_state=1), TfidfTransformer(sublinear_tf=True),
    OneHotEncoder(drop="first"), OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    make_pipeline(StandardScaler(), PCA(1)),
]  # fmt: skip
IMPUTERS = [
    SimpleImputer(),
    SimpleImputer(strategy="median"),
    SimpleImputer(strategy="most_frequent"),
    SimpleImputer(strategy="constant", fill_value=7.0),
]
WORDS = [
    CountVectorizer(binary=True), CountVectorizer(ngram_range=(1, 2), lowercase=False), TfidfVectorizer(norm="l1"),
    TfidfVectorizer(use_idf=False), TfidfVectorizer(sublinear_tf=True, smooth_idf=False, stop_words=["sky"]),
]  # fmt: skip


def cases():
    for transformer in NUMERIC:
        for d in (1, 3):
            if not (d == 1 and isinstance(transformer, TruncatedSVD)):
                yield transformer, COUNTS[:, :d]
    yield from ((transformer, HOLES[:, :d]) for transformer in IMPUTERS for d in (1, 3))
    yield from ((transformer, TEXTS) for transformer in WORDS)
    yield from ((OneHotEncoder(), data) for data in (LETTERS, LETTERS[:, :1], LETTERS[:, 1:]))


@pytest.mark.parametrize("k", range(len(list(cases()))))
def test_transformers_of_one_or_several_columns_come_back(k):
    """With their parameters, and with what they have learned."""
    transformer, data = list(cases())[k]
    fitted = transformer.fit(data)
    again = Transformer.from_state(copy.deepcopy(Transformer.to_state(fitted)))
    if not hasattr(fitted, "steps"):  # a file names the steps of a pipeline as parts of their own
        assert repr(again.get_params()) == repr(fitted.get_params())
    one, other = fitted.transform(data), again.transform(data)
    np.testing.assert_array_equal(*(z.toarray() if hasattr(z, "toarray") else z for z in (one, other)))
    assert type(one) is type(other) and one.dtype == other.dtype


def test_parameters_that_a_file_must_not_set_are_refused():
    state = Transformer.to_state(CountVectorizer().fit(TEXTS))
    with pytest.raises(ValueError, match="dtype is 'V8'"):
        Transformer.from_state(state | {"parameters": state["parameters"] | {"dtype": "V8"}})
    scaler, steps = StandardScaler().fit(COUNTS), [["a", RBF(0.1)]]
    for params in ({"steps": steps}, {"steps": [["a", scaler]], "memory": "folder"}):
        with pytest.raises(ValueError, match="a step is no transformer|it reads other files"):
            Transformer.from_state({"name": "Pipeline", "parameters": params, "fitted": None})


def test_a_list_with_a_kernel_that_was_never_fitted_is_refused():
    state = KernelList.from_spec([Linear(), RBF(0.1)], X).to_state()
    again = KernelList.from_state(dict(state))
    assert again.names == state["names"] and [type(kernel) for kernel in again.kernels] == [Linear, RBF]
    with pytest.raises(ValueError, match="Categorical in it was never fitted"):
        KernelList.from_state(state | {"kernels": [Linear(), Categorical()]})


def test_attributes_of_special_fits_are_checked_when_they_are_loaded():
    model = MKLClassifier([RBF(0.1), Linear()], C=1.0).fit(X, y)
    state = model.to_state()
    sound = {"kernel_scale_error_": np.zeros(2), "noise_": 0.5}
    assert MKLClassifier.from_state(copy.copy(state) | sound).noise_ == 0.5
    for name, bad in (("kernel_scale_error_", np.zeros(3)), ("kernel_scale_error_", [0.0, 0.0]), ("noise_", "one"),
                      ("noise_", np.zeros(2)), ("noise_", [0.5])):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            MKLClassifier.from_state(copy.copy(state) | {name: bad})


@pytest.mark.parametrize("content", [3.5, "text", [1, 2], {"a": 1}, RBF(0.1), np.arange(3.0)], ids=str)
def test_a_file_that_holds_something_else_than_a_model_is_refused(content, tmp_path):
    _archive.write(tmp_path / "m.mk", "model", {"model": content})
    with pytest.raises(ValueError, match=f"it holds a {type(content).__name__}"):
        load_model(tmp_path / "m.mk")

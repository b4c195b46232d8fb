"""Transformers in files: what they were is what is made again, and a file says nothing that is not theirs."""

import json
import re

import numpy as np
import pytest
from hostile import pack, unpack
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import manykernels
from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import RBF, Categorical, Features, Linear, On
from manykernels.kernels.transformers import Transformer
from manykernels.pairs import Pairs, Pairwise

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 4)), np.arange(20) % 2
TEXTS = [" ".join(rng.choice(["red", "fox", "blue", "sky"], 3)) for _ in range(20)]
LETTERS = np.array([["abc"[i % 3], "xy"[i % 2]] for i in range(20)], dtype=object)


def saved(transformer, data):
    return Transformer.to_state(transformer.fit(data))


@pytest.mark.parametrize("change", [
    {"input": "filename"}, {"input": "file"}, {"analyzer": "none"}, {"token_pattern": "["}, {"ngram_range": (1,)},
    {"dtype": "V8"}, {"tokenizer": "eval"}, {"other": 1}, {"norm": StandardScaler()},
], ids=str)  # fmt: skip
def test_a_file_cannot_make_a_vectorizer_read_files(change):
    state = saved(TfidfVectorizer(), TEXTS)
    assert Transformer.from_state(state).transform(TEXTS).shape == (20, 4)
    with pytest.raises((ValueError, TypeError, re.error)):
        Transformer.from_state(state | {"parameters": state["parameters"] | change})


@pytest.mark.parametrize("make, data, key, other", [
    (StandardScaler, X, "mean_", np.zeros(3)), (StandardScaler, X, "scale_", np.array(["a"] * 4)),
    (StandardScaler, X, "n_features_in_", 5), (StandardScaler, X, "n_features_in_", 2**40),
    (lambda: PCA(2), X, "components_", None), (lambda: RBFSampler(n_components=3), X, "random_offset_", np.zeros(4)),
    (OneHotEncoder, LETTERS, "categories_", [np.array(["a"], object)]),
    (OneHotEncoder, np.round(X), "categories_", [np.array([1.0, 0.0])] * 4),
    (OneHotEncoder, LETTERS, "drop_idx_", [0, 2]), (OneHotEncoder, LETTERS, "drop_idx_", [0]),
    (OneHotEncoder, LETTERS, "_infrequent_enabled", True), (OneHotEncoder, LETTERS, "handle_unknown", "ignore"),
    (CountVectorizer, TEXTS, "words", ["red", "red"]), (CountVectorizer, TEXTS, "words", [1, 2]),
    (TfidfVectorizer, TEXTS, "_tfidf", None),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
def test_attributes_that_do_not_fit_are_refused(make, data, key, other):
    state = saved(make(), data)
    with pytest.raises((ValueError, AttributeError, IndexError, TypeError)):  # `load` calls each a damaged file
        Transformer.from_state(state | {"fitted": state["fitted"] | {key: other}})


def test_only_classes_of_the_list_are_made():
    state = saved(StandardScaler(), X)
    for name in ("FunctionTransformer", "eval", "os.system", "TransformerMixin", "__class__"):
        with pytest.raises(ValueError, match="files cannot hold the class"):
            Transformer.from_state(state | {"name": name})


def test_a_subclass_of_what_stands_in_files_is_refused():
    class Scaler(StandardScaler):
        pass

    Scaler.__module__ = "sklearn.preprocessing"
    with pytest.raises(ValueError, match="cannot be saved"):
        Transformer.to_state(Scaler().fit(X))


def test_what_is_loaded_transforms_new_data_the_same(tmp_path):
    kernels = [
        ("a", make_pipeline(StandardScaler(), PCA(3)), RBF()), ("b", MinMaxScaler(clip=True), RBF()),
        Features(RBFSampler(n_components=30, random_state=0)), On([0], Categorical()) * On([1], Linear())]  # fmt: skip
    rounded = np.round(X)
    for model in (MKLClassifier(kernels, slack=True), MKLClassifierCV(kernels, Cs=[1.0, 10.0], cv=2)):
        model.fit(rounded[:12], y[:12]).save(tmp_path / "model.mk")
        again = manykernels.load(tmp_path / "model.mk")
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        models = again, getattr(model, "best_estimator_", model)
        pipe, other = (m.predictor_.kernel_list.view_plans[0].transformer for m in models)
        assert repr(pipe.given) == repr(other.given) and not hasattr(pipe.given.steps[0][1], "mean_")


def test_an_imputer_before_an_encoder_is_saved(tmp_path):
    holes = np.where(rng.random((20, 2)) < 0.2, np.nan, np.round(X[:, :2]) + 9)
    before = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    model = MKLClassifier([("a", before, RBF())]).fit(holes, y)
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(holes), model.decision_function(holes))


def test_a_pipeline_that_cannot_be_tried_is_refused_when_it_is_saved(tmp_path):
    model = MKLClassifier([("a", make_pipeline(StandardScaler(), OneHotEncoder()), RBF())]).fit(np.round(X) + 9, y)
    with pytest.raises(ValueError, match="cannot be saved.*cannot transform an example"):
        model.save(tmp_path / "model.mk")


def test_pairs_of_new_objects_are_predicted_the_same(tmp_path):
    pairs = Pairs.grid(X[:6], LETTERS[:4])
    kernels = Pairwise([("p", PCA(2), RBF()), Linear()], [Categorical()], ["kronecker", "cartesian"])
    model = MKLRegressor(kernels, normalize="spherical", tol=1e-2).fit(pairs[:15], np.sin(np.arange(15)))
    model.save(tmp_path / "model.mk")
    again, new = manykernels.load(tmp_path / "model.mk"), Pairs.grid(X, LETTERS)
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(
        again.predictor_.gram(new, None, np.ones(5)), model.predictor_.gram(new, None, np.ones(5))
    )


def test_a_list_of_the_first_version_is_read(tmp_path):
    path = tmp_path / "model.mk"
    model = MKLClassifier([RBF(gamma=0.1)]).fit(X, y)
    model.save(path)
    tree, arrays = unpack(path)
    text = json.dumps(tree)
    assert text.count('"tag": "kernel/list", "version": 3') == 1
    tree = json.loads(text.replace('"tag": "kernel/list", "version": 3', '"tag": "kernel/list", "version": 1')
                      .replace(', "pipe": null, "join": null', ""))  # fmt: skip
    pack(path, tree, arrays)
    np.testing.assert_array_equal(manykernels.load(path).decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("kind", [CountVectorizer, TfidfVectorizer])
def test_words_given_in_an_order_of_their_own_keep_their_columns(kind):
    given = ["sky", "blue", "red", "fox"]
    vectorizer = kind(vocabulary=given).fit(TEXTS)
    again = Transformer.from_state(Transformer.to_state(vectorizer))
    assert list(again.get_feature_names_out()) == given
    np.testing.assert_array_equal(again.transform(TEXTS).toarray(), vectorizer.transform(TEXTS).toarray())

"""Every family of kernels with every estimator: what is loaded predicts the same, bit by bit."""

import pickle
import warnings

import numpy as np
import pytest
from same_objects import differences
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.gaussian_process.kernels import RationalQuadratic
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, OneHotEncoder, RobustScaler, StandardScaler

import manykernels
from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, kernels, strings
from manykernels.datasets import make_splice
from manykernels.kernels import RBF, Categorical, Features, Linear, On, Polynomial
from manykernels.pairs import Pairs, Pairwise

X, y = make_classification(24, 5, random_state=0)
POSITIVE, BITS = np.abs(X), (X > 0).astype(float)
S = list(make_splice(24, length=15, positives=0.5, strength=0.6)[0])
STACK = np.stack([X @ X.T, (1 + X @ X.T) ** 2], axis=2)
CLASSES = np.arange(24) % 3
TASK = np.arange(24) // 2 % 2
WORDS = np.array("one two three four five six seven".split())
TEXTS = [" ".join(WORDS[[i % 7, i % 5, i % 3, i % 2]]) for i in range(24)]
LETTERS = np.array([["abc"[i % 3], "xy"[i % 2 if i % 5 else 0]] for i in range(24)], dtype=object)
LACKING = np.where(LETTERS == "c", None, LETTERS)
HOLES = np.where(np.arange(120).reshape(24, 5) % 11 == 0, np.nan, X)
GRID = Pairs.grid(X[:6], X[6:10, :2])

FAMILIES = {
    "chi2": ([kernels.Chi2()], POSITIVE),
    "constant": ([kernels.Constant(2.0), RBF(gamma=0.2)], X),
    "cosine": ([kernels.Cosine(), Linear()], X),
    "histogram intersection": ([kernels.HistogramIntersection()], POSITIVE),
    "identity": ([kernels.Identity(), Linear()], X),
    "laplacian": ([kernels.Laplacian(gamma="scale")], X),
    "linear": ([("a", Linear(), [0, 1]), ("b", Linear(), slice(2, 5))], X),
    "polynomial": ([Polynomial(degree=2), Polynomial(degree=2.5, gamma=0.1, coef0=3.0)], POSITIVE),
    "rbf": ([RBF(gamma=np.float64(0.1)), RBF(), RBF(gamma="scale")], X),
    "tanimoto": ([kernels.Tanimoto()], BITS),
    "low rank": ([kernels.RandomFeatures(RBF(gamma="scale"), 8), kernels.RandomFeatures(RBF(), 6)], X),
    "landmarks": ([kernels.Nystroem(Polynomial(degree=2), 8), ("a", kernels.Nystroem(RBF(), 5), [0, 1])], X),
    "landmarks of strings": ([kernels.Nystroem(strings.Spectrum(2), 8)], S),
    "sums and products": ([RBF(gamma=1.0) + Polynomial(degree=2) * Linear()], X),
    "function": ([laplacian_kernel, RBF(gamma=0.1)], X),
    "Gaussian process": ([RationalQuadratic(alpha=0.7)], X),
    "single columns": ([(f"column {j}", RBF(gamma=0.5), [j]) for j in range(5)], X),
    "automatic": ("auto", X),
    "sparse": ([RBF(gamma=0.1), Linear()], sparse.csr_array(BITS)),
    "sparse features": ("features", sparse.csr_array(BITS * (np.arange(5) == 1))),
    "explicit features": ("features", X),
    "precomputed": ("precomputed", STACK),
    "a stack": ("precomputed", KernelStack([STACK[:, :, 0], STACK[:, :, 1]], ["one", "two"])),
    "views": ([("s", strings.Spectrum(2), "s"), ("x", RBF(gamma=0.1), "x")], {"s": S, "x": X}),
    "missing views": ([("s", strings.Spectrum(2), "s", "zero"), ("x", Linear(), "x")], {"s": [None, *S[1:]], "x": X}),
    "tasks": (kernels.multi_task([RBF(gamma=0.1), Linear()]), X),
    "degree": (strings.degree_kernels(3), S),
    "positions": (strings.position_kernels(3, 15, block=5), S),
    "spectrum": ([strings.Spectrum(3), strings.Spectrum((1, 2), start=2)], S),
    "weighted degree": ([strings.WeightedDegree(3), strings.WeightedDegree(2, start=3)], S),
    "shifts": ([strings.WeightedDegreeShift(3, 2)], S),
    "gapped": ([strings.GappedKmer(4, 2)], S),
    "mismatch": ([strings.Mismatch(3, 1)], S),
    "categories": ([Categorical(), ("b", Categorical(match_missing=True), [1])], LACKING),
    "categories times numbers": ([Categorical() * RBF(gamma=0.1)], np.round(X)),
    "products across columns": ([2 * On([0], RBF(), StandardScaler()) * On([1, 2], Linear()) + On([3], Linear())], X),
    "products across views": (
        [On("x", RBF(gamma=1)) * On("t", Features(TfidfVectorizer())), On("s", strings.Spectrum(2)) + On("x", RBF())],
        {"x": X, "t": TEXTS, "s": S}),
    "scaled": ([
        (type(t).__name__, t, RBF(gamma="scale"), [0, 1, 3]) for t in
        (StandardScaler(), MinMaxScaler((-1, 1), clip=True), MaxAbsScaler(), RobustScaler(), Normalizer(), PCA(2))], X),
    "projected": ([("a", make_pipeline(StandardScaler(), PCA(2, whiten=True), "passthrough"), RBF()), Linear()], X),
    "random features": (
        [Features(RBFSampler(n_components=9, random_state=0)), Features(Nystroem(n_components=4, random_state=0))], X),
    "random features times": ([Features(RBFSampler(n_components=9, random_state=0)) * RBF(gamma=0.1)], X),
    "transformed features": ("transformed", X),
    "texts": ([
        Features(TfidfVectorizer(stop_words=["one"])), Features(CountVectorizer(analyzer="char", ngram_range=(1, 2))),
        ("t", make_pipeline(TfidfVectorizer(use_idf=False), TruncatedSVD(2, random_state=0)), RBF())], TEXTS),
    "encoded": ([
        ("a", OneHotEncoder(), Linear()), ("b", OneHotEncoder(drop="if_binary", sparse_output=False), RBF(), [1])],
        LETTERS),
    "filled in": (
        [("a", SimpleImputer(), RBF()), ("b", make_pipeline(SimpleImputer(strategy="median"), PCA(2)), RBF())], HOLES),
    "pairs": (Pairwise([RBF(0.3), ("p", PCA(2), RBF())], [Linear(), kernels.Identity()], ["kronecker", "sum"]), GRID),
    "pairs of strings": (Pairwise([strings.Spectrum(2)], [Categorical()], "cartesian"), Pairs.grid(S[:6], LETTERS[:4])),
    "precomputed pairs": (Pairwise("precomputed", [RBF(gamma=0.1)]), Pairs.grid(STACK[:6, :6], X[:4])),
    "words": ("coordinate", S),
    "trie": ("trie", S),
}  # fmt: skip
LISTS = {  # kernels that are learned by their explicit features, and how
    "features": ([("a", Linear(), [0, 1]), ("b", Linear()), ("c", kernels.Cosine(), [1, 2])], {"solver": "coordinate"}),
    "transformed": ([("a", PCA(2), Linear()), Features(RBFSampler(n_components=7, random_state=0)), Linear()],
                    {"solver": "coordinate"}),
    "coordinate": ([strings.Spectrum(3), *strings.degree_kernels(2)], {"solver": "coordinate"}),
    "trie": ([strings.WeightedDegreeShift(3, 2)], {"solver": "coordinate", "features": "trie"}),
}  # fmt: skip
ESTIMATORS = {
    "two classes": (MKLClassifier, y),
    "three classes": (MKLClassifier, CLASSES),
    "numbers": (MKLRegressor, X[:, 0]),
    "one class": (MKLOneClass, None),
}


def crossed():
    """Every family with two classes, or by turns with another estimator; all others store the same parts: slow."""
    for k, family in enumerate(FAMILIES):
        for j, estimator in enumerate(ESTIMATORS):
            yield pytest.param(family, estimator, marks=[pytest.mark.slow] * (j != k % len(ESTIMATORS)))


@pytest.mark.parametrize("family, estimator", list(crossed()))
@pytest.mark.filterwarnings("ignore")
def test_what_is_loaded_predicts_the_same(family, estimator, tmp_path):
    given, data = FAMILIES[family]
    cls, target = ESTIMATORS[estimator]
    given, options = LISTS.get(given, (given, {})) if isinstance(given, str) else (given, {})
    C = "auto" if family == "automatic" else 1.0
    options = {} if cls is MKLOneClass else options | {"C": C}
    task = {"task": TASK} if family == "tasks" else {}
    model = cls(given, tol=1e-2, **options).fit(data, target, **task)
    model.save(tmp_path / "model.mk")
    for again in (pickle.loads(pickle.dumps(model)), manykernels.load(tmp_path / "model.mk")):
        for method in ("predict", "decision_parts", "combined_kernel"):
            found, wanted = (getattr(m, method)(data, **task) for m in (again, model))
            np.testing.assert_array_equal(found, wanted)
        assert repr(again) == repr(model) and vars(again).keys() == vars(model).keys()
        assert list(differences(model, again)) == []
    again.save(tmp_path / "again.mk")
    again = manykernels.load(tmp_path / "again.mk")
    np.testing.assert_array_equal(again.predict(data, **task), model.predict(data, **task))


@pytest.mark.parametrize("approximation", [None, "nystroem"])
def test_a_model_without_support_comes_back(approximation, tmp_path):
    """Seed 420000 of the journeys: the mean of no examples was NaN, and the file was called damaged."""
    X = np.random.default_rng(0).normal(size=(9, 2))
    options = {"loss": "epsilon_insensitive", "epsilon": 5.0, "C": 1.0, "approximation": approximation, "rank": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ε is far from the spread of y
        model = MKLRegressor([RBF(gamma=0.4), ("line", Linear(), [0])], **options).fit(X, 0.1 * X[:, 0])
    assert not len(model.support_)
    model.save(tmp_path / "model.mk")
    np.testing.assert_array_equal(manykernels.load(tmp_path / "model.mk").predict(X), model.predict(X))

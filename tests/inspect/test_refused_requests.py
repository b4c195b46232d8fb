"""What a tool around a model cannot answer is an error that names the argument and the cure: a table for all tools."""

from functools import cache

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, inspect
from manykernels import strings as ms
from manykernels.kernels import RBF, Cosine, Linear, Polynomial, RandomFeatures

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")
rng = np.random.default_rng(0)
X = rng.normal(size=(12, 2))
Y = (X[:, 0] > 0).astype(int)
KERNELS = [("a", RBF(0.1), [0]), ("b", Linear(), [1])]
TEXTS = ["".join(row) for row in rng.choice(list("ACGT"), (12, 6))]
NEW = TEXTS[:2]
AGE = {"age": np.arange(12.0) % 5}


@cache
def texts(*kernels, **options):
    """A model of sequences."""
    return MKLClassifier(list(kernels), C=1.0, **options).fit(TEXTS, Y)


@cache
def numbers(*kernels, normalize="multiplicative"):
    """A model of a table."""
    return MKLRegressor(list(kernels), C=1.0, normalize=normalize).fit(X, X[:, 0])


@cache
def adjusted(read):
    """A model with a covariate, of the table or of the sequences."""
    kernels, data = (KERNELS, X) if read == "numbers" else ([ms.GappedKmer(4, 3)], TEXTS)
    return MKLClassifier(kernels, C=1.0).fit(data, Y, covariates=AGE)


@cache
def matrices():
    return MKLClassifier("precomputed", C=1.0).fit(np.eye(12)[:, :, None], Y)


@cache
def two_texts():
    kernels = [("s", ms.Spectrum(2), "s"), ("t", ms.Spectrum(2), "t")]
    return MKLClassifier(kernels, C=1.0).fit({"s": TEXTS, "t": TEXTS}, Y)


NEAR, WORDS, PLACES = ms.WeightedDegree(3), ms.Spectrum(2), ms.Degree(2)
MODEL = MKLClassifier(KERNELS, C=1.0)
HALVES = KFold(2)


def relevance(y=Y, model=MODEL, **options):
    return inspect.relevance(model, X, y, **{"cv": HALVES, "n_permutations": 1, "refits": 0} | options)


def explain(model, new=NEW, *method, **options):
    return inspect.explain_sequences(model, new, *method, **options)


REFUSED = {  # the words of the error: the call
    # relevance, samples
    "n_permutations": lambda: relevance(n_permutations=0),
    "level": lambda: relevance(level=1.5),
    "sources": lambda: relevance(sources={}),
    "sources.*'a'": lambda: relevance(sources={"a": []}),
    "y=None": lambda: relevance(None),
    "give one target per example": lambda: relevance(Y[:-1]),
    "for 12 examples": lambda: relevance(np.zeros(13)),
    "or a row of targets": lambda: relevance(np.zeros((12, 2, 2))),
    "scoring gave nan on a fold of 6 examples": lambda: relevance(scoring=lambda *own: np.nan),
    "MKLOneClass has no method score": lambda: relevance(model=MKLOneClass(KERNELS)),
    "sample_weight is 0 for every held-out example of a fold: take fewer": lambda: relevance(
        np.arange(12) % 2, cv=KFold(6), sample_weight=np.repeat([0.0, 1.0], [2, 10])),
    "fitted with the covariates 'age': give covariates=.*": lambda: relevance(model=adjusted("numbers")),
    "source='nothing'": lambda: inspect.column_relevance(MODEL, X, Y, "nothing", cv=2),
    "no columns": lambda: inspect.column_relevance(texts(WORDS), TEXTS, Y, cv=2),
    "n_boot": lambda: inspect.bootstrap_weights(MODEL, X, Y, n_boot=0),
    "y=None: MKLRegressor learns from labels": lambda: inspect.bootstrap_weights(numbers(Linear()), X, None),
    "fitted with the covariates 'age'": lambda: inspect.bootstrap_weights(adjusted("numbers"), X, Y),
    "best_estimator_": lambda: inspect.bootstrap_weights(MKLClassifierCV(KERNELS, Cs=[1.0], cv=2).fit(X, Y), X, Y),
    # shares of columns
    "Cosine": lambda: inspect.feature_shares(numbers(Cosine()), X),
    "RandomFeatures": lambda: inspect.feature_shares(numbers(RandomFeatures(RBF(1.0), 8)), X),
    "spherical": lambda: inspect.feature_shares(numbers(Linear(), normalize="spherical"), X),
    "several columns": lambda: inspect.feature_shares(numbers(Linear() * Polynomial(2)), X),
    "explain_sequences": lambda: inspect.feature_shares(texts(WORDS), NEW),
    "kernel matrices|precomputed": lambda: inspect.feature_shares(matrices(), np.eye(12)[:, :, None]),
    # single letters
    r"WeightedDegree.*mutagenesis": lambda: explain(texts(NEAR, WORDS), NEW, "gkmexplain"),
    "method": lambda: explain(texts(NEAR), NEW, "shap"),
    "mode=1 is for": lambda: explain(texts(NEAR), mode=1),
    "mode=5": lambda: explain(texts(WORDS), NEW, "gkmexplain", mode=5),
    "no kernel on sequences": lambda: explain(numbers(RBF(1.0)), X),
    "precomputed kernels, which read no sequences": lambda: explain(matrices(), np.eye(12)[:, :, None]),
    "without a common letter": lambda: explain(texts(ms.Mismatch(2, 1)), NEW, "gkmexplain"),
    "unknown letters": lambda: explain(texts(ms.GappedKmer(5, 3)), ["ACGTNA"], "gkmexplain"),
    "view=None.*'s', 't'": lambda: explain(two_texts(), {"s": NEW, "t": NEW}),
    "with the covariates 'age': give covariates=": lambda: explain(adjusted("texts")),
    "ids has 1 names": lambda: explain(texts(WORDS)).to_gkmexplain("never.txt", ids=["a"]),
    "mode=1": lambda: explain(texts(WORDS), NEW, "gkmexplain").to_modisco("never.npz", "never.npz"),
    # words and positions
    "spectrum.*WeightedDegreeShift.*position_kernels": lambda: inspect.poim(texts(NEAR, WORDS), 2),
    "all Degree or WeightedDegree": lambda: inspect.position_weights(texts(ms.WeightedDegreeShift(3, 2))),
    "precomputed": lambda: inspect.position_weights(matrices()),
    "k=0": lambda: inspect.poim(texts(PLACES), 0),
    "k=7": lambda: inspect.poim(texts(PLACES), 7),
    "k=2.0": lambda: inspect.poim(texts(PLACES), 2.0),
    "k=True": lambda: inspect.poim(texts(PLACES), True),
    r"4\^16 words.*shorter": lambda: inspect.top_kmers(
        MKLClassifier([PLACES], C=1.0).fit([3 * x for x in TEXTS], Y), 16),
    "background.*got .0.5, 0.5.$": lambda: inspect.poim(texts(PLACES), 1, background=[0.5, 0.5]),
    "background.*got .0.5, 0.5, 0.5, 0.5.$": lambda: inspect.poim(texts(PLACES), 1, background=[0.5, 0.5, 0.5, 0.5]),
    "background.*got .-0.5": lambda: inspect.poim(texts(PLACES), 1, background=[-0.5, 0.5, 0.5, 0.5]),
    "background.*'M' at position 0.*'dna'": lambda: inspect.poim(texts(PLACES), 1, background=["MKV"]),
    "label": lambda: inspect.poim(texts(PLACES), 1, label=3),
    "weights": lambda: inspect.position_weights(texts(PLACES), np.ones(3)),
    "n=0": lambda: inspect.top_kmers(texts(PLACES), 2, n=0),
    'features="hash".*features="auto"': lambda: inspect.poim(texts(PLACES, solver="coordinate", features="hash"), 2),
    # pictures of them
    r"poim is of type MKLClassifier: give what poim\(model, k\)": lambda: inspect.plot_poim(texts(PLACES)),
    "poim is an empty list": lambda: inspect.plot_poim([]),
    "poim is a list of 1": lambda: inspect.plot_logo([inspect.poim(texts(PLACES), 1)]),
    "start=5 and stop=4 leave none of the 6 positions": lambda: inspect.plot_logo(
        inspect.poim(texts(PLACES), 1), start=5, stop=4),
    r"information has shape \(5,\).*6 positions": lambda: inspect.plot_positions(texts(PLACES), information=np.ones(5)),
    # motifs
    "explanation is of type list": lambda: inspect.find_motifs(["ACGT"]),
    "window": lambda: inspect.find_motifs(explain(texts(WORDS)), window=2),
    "max_motifs": lambda: inspect.find_motifs(explain(texts(WORDS)), max_motifs=0),
    "min_seqlets": lambda: inspect.find_motifs(explain(texts(WORDS)), min_seqlets=1),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_answered_names_the_argument_or_the_cure(words):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=words):
        REFUSED[words]()
    assert plt.get_fignums() == before


LOOKS = {
    "weights_table": inspect.weights_table,
    "plot_weights": inspect.plot_weights,
    "position_weights": inspect.position_weights,
    "plot_positions": inspect.plot_positions,
    "poim": lambda model: inspect.poim(model, 1),
    "top_kmers": lambda model: inspect.top_kmers(model, 1),
    "bootstrap_weights": lambda model: inspect.bootstrap_weights(model, TEXTS, Y),
    "weights": inspect.WeightsDisplay.from_estimator,
    "weights along": inspect.WeightsAlongDisplay.from_estimator,
    "convergence": inspect.ConvergenceDisplay.from_estimator,
    "alignment": lambda model: inspect.AlignmentDisplay.from_estimator(model, TEXTS, Y),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("wrap", [make_pipeline, lambda model: GridSearchCV(model, {"C": [1.0]}, cv=2)])
def test_what_is_around_a_model_is_refused(look, wrap):
    around = wrap(MKLClassifier([PLACES], C=1.0)).fit(TEXTS, Y)
    with pytest.raises(ValueError, match="best_estimator_, or the last step of the pipeline"):
        LOOKS[look](around)

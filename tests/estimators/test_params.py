"""Parameters by name: losses, regularizers and named kernels within estimators, as a search reaches them."""

import numpy as np
import pytest
from members import EVERY
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, losses
from manykernels.kernels import RBF, KernelSpec, Linear, Polynomial, multi_task
from manykernels.regularizers import (
    Align,
    Ball,
    BestSingle,
    EasyMKL,
    ElasticNet,
    EmpiricalBayes,
    GammaPrior,
    LpNorm,
    LpPenalty,
    NonIsotropic,
    Uniform,
    WeightedLpNorm,
)

PARTS = [
    *EVERY,
    *(loss() for loss in losses.LOSSES.values()),
    *(Uniform(), Align(), BestSingle(3), EasyMKL(0.3), EmpiricalBayes("learn", GammaPrior(2, 0.5))),
]
NAMED = [("width", RBF(gamma=0.1), [0, 1]), ("line", Linear(), slice(2, 4)), Polynomial(degree=2)]


@pytest.fixture(scope="module")
def data():
    return make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: repr(part)[:60])
def test_a_clone_is_an_equal_part_of_its_own(part):
    for twin in (clone(part), clone(MKLClassifier(regularizer=part)).regularizer, clone(MKLClassifier(loss=part)).loss):
        assert twin == part and twin is not part and hash(twin) == hash(part) and repr(twin) == repr(part)


def test_parameters_within_parameters():
    omega = EmpiricalBayes("learn", GammaPrior(2, 0.5))
    assert omega.get_params() == {"noise": "learn", "prior": omega.prior, "prior__shape": 2, "prior__rate": 0.5}
    assert omega.get_params(deep=False) == {"noise": "learn", "prior": omega.prior}
    before = omega.prior
    assert omega.set_params(prior__rate=3.0, noise=None) is omega
    assert omega == EmpiricalBayes(None, GammaPrior(2, 3.0)) and before == GammaPrior(2, 0.5)
    assert omega.set_params(prior=GammaPrior(1, 1), prior__rate=2) == EmpiricalBayes(None, GammaPrior(1, 2))


def test_what_a_constructor_derives_follows_its_parameters():
    omega, E = NonIsotropic(np.eye(3)), np.eye(3) + 0.2
    omega.set_params(E=E)
    assert omega.conjugate(np.arange(3.0)) == NonIsotropic(E).conjugate(np.arange(3.0))


@pytest.mark.parametrize(
    ("part", "params", "message"),
    [
        (LpNorm(2), {"p": 0.5}, "p.*1 <= p <= inf"),
        (ElasticNet(0.5), {"v": 2}, "v.*0 <= v <= 1"),
        (LpPenalty(1, 1), {"p": 2, "mu": -1}, "mu"),
        (WeightedLpNorm(2, [1, 2]), {"weights": [1, 0]}, "weights"),
        (Ball([1.0, 1.0], 1.0), {"radius": 0}, "radius"),
        (losses.EpsilonInsensitive(0.1), {"epsilon": -1}, "epsilon"),
        (losses.Huber(1.0), {"delta": "a"}, "delta"),
        (BestSingle(3), {"cv": 1}, "cv=1"),
        (EmpiricalBayes(0.5, GammaPrior()), {"prior__shape": 0}, "shape=0"),
        (LpNorm(2), {"q": 3}, r"Invalid parameter 'q' for LpNorm\(p=2.0\).*\['p'\]"),
        (losses.Hinge(), {"C": 3}, r"Invalid parameter 'C' for Hinge\(\)"),
        (LpNorm(2), {"p__q": 3}, "Invalid parameter 'q' for p=2.0, which has no parameters"),
    ],
)
def test_wrong_parameters_are_refused_and_leave_the_part_as_it_was(part, params, message):
    before = clone(part)
    with pytest.raises(ValueError, match=message):
        part.set_params(**params)
    assert part == before


def test_estimators_reach_their_parts_and_named_kernels():
    model = MKLClassifier(NAMED, regularizer=ElasticNet(0.5), loss=losses.SmoothHinge(5))
    params = model.get_params()
    assert params["regularizer__v"] == 0.5 and params["loss__sigma"] == 5 and params["kernels"] is NAMED
    assert params["kernels__width"] is NAMED[0][1] and params["kernels__width__gamma"] == 0.1
    assert [key for key in params if key.startswith("kernels__")] == [
        "kernels__width", "kernels__width__gamma", "kernels__width__metric", "kernels__line",
    ]  # fmt: skip
    assert not any("__" in key for key in model.get_params(deep=False))
    model.set_params(regularizer__v=0.9, loss__sigma=2.0, kernels__width__gamma=7.0, kernels__line=RBF(gamma=1.0), C=3)
    assert model.regularizer == ElasticNet(0.9) and model.loss == losses.SmoothHinge(2) and model.C == 3
    (_, width, columns), (_, line, _), other = model.kernels
    assert width.gamma == 7 and columns == [0, 1] and line.gamma == 1 and other is NAMED[2]
    assert NAMED[0][1].gamma == 0.1 and isinstance(NAMED[1][1], Linear)  # the list that was given is another's


def test_names_as_they_come():
    """Names with underscores, kernels that share an object, specifications, and one name for several tasks."""
    shared = RBF(gamma=1.0)
    model = MKLClassifier([("a", shared), ("a__b", shared), KernelSpec("c", shared, [1])])
    model.set_params(kernels__a__b__gamma=2.0, kernels__c__gamma=3.0)
    assert [spec[1].gamma for spec in model.kernels] == [1, 2, 3] and model.kernels[2].columns == [1]
    tasks = MKLClassifier(multi_task([("k", RBF(gamma=1.0))])).set_params(kernels__k__gamma=5.0)
    assert [spec.kernel.gamma for spec in tasks.kernels] == [5, 5]
    assert MKLClassifier(RBF(gamma=1.0)).set_params(kernels__gamma=2.0).kernels.gamma == 2


@pytest.mark.parametrize(
    ("model", "params", "message"),
    [
        (MKLClassifier(), {"regularizer__p": 1}, r"Invalid parameter 'p' for regularizer=2, .*LpNorm\(2\)"),
        (MKLClassifier(), {"loss__epsilon": 1}, "Invalid parameter 'epsilon' for loss='hinge'"),
        (MKLOneClass(), {"nu__p": 1}, "Invalid parameter 'p' for nu=0.5"),
        (MKLClassifier(), {"kernels__a__gamma": 1}, "Invalid parameter 'a__gamma' for kernels='auto'"),
        (MKLClassifier(NAMED), {"kernels__a__gamma": 1}, r"'a__gamma' for kernels: none.*\['line', 'width'\]"),
        (MKLClassifier(NAMED), {"kernels__width__p": 1}, "Invalid parameter 'p'"),
        (MKLClassifier([("f", np.dot)]), {"kernels__f__p": 1}, "'p' for kernels__f=.*has no parameters"),
        (MKLClassifier(regularizer=LpNorm(1)), {"regularizer__v": 1}, "Invalid parameter 'v'"),
        (MKLClassifier(regularizer=LpNorm(1)), {"regularizer__p": 0}, "1 <= p <= inf"),
        (MKLClassifier(), {"metric__p": 1}, "Invalid parameter 'metric'"),
    ],
)
def test_names_that_lead_nowhere_are_refused(model, params, message):
    with pytest.raises(ValueError, match=message):
        model.set_params(**params)


def test_a_search_over_parts_is_the_fits_one_by_one(data):
    X, y = data
    model = MKLClassifier(NAMED, regularizer=LpNorm(1))
    grid = {"regularizer__p": [1, 3], "kernels__width__gamma": [0.01, 1.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    scores = []
    for gamma, p in ((0.01, 1), (0.01, 3), (1.0, 1), (1.0, 3)):
        one = MKLClassifier([("width", RBF(gamma=gamma), [0, 1]), *NAMED[1:]], regularizer=p)
        scores.append(GridSearchCV(one, {}, cv=3).fit(X, y).best_score_)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores)
    assert model.regularizer == LpNorm(1) and NAMED[0][1].gamma == 0.1


def test_a_search_takes_the_parameters_of_the_plain_class_but_those_it_chooses():
    plain, search = MKLClassifier().get_params().keys(), MKLClassifierCV().get_params().keys()
    assert plain - search == {"C", "calibrate", "warm_start", "checkpoint"}
    assert search - plain == {"Cs", "cv", "scoring", "refit"}
    assert not {"loss", "slack"} & MKLOneClass().get_params().keys()
    with pytest.raises(TypeError, match="MKLClassifierCV.__init__.. got an unexpected keyword argument 'C'"):
        MKLClassifierCV(C=1.0)
    with pytest.raises(TypeError, match="positional"):
        MKLClassifier(NAMED, 2)


def test_dask_tells_fits_with_equal_parameters_apart(data):
    tokenize = pytest.importorskip("dask.base").tokenize
    X, y = data
    assert tokenize(MKLClassifier(NAMED, C=1.0).fit(X, y)) != tokenize(MKLClassifier(NAMED, C=1.0).fit(X, 1 - y))


def test_parameters_that_are_taken_away_are_no_attributes_of_a_new_model():
    for model, names in ((MKLOneClass(), ["loss"]), (MKLClassifierCV(), ["C", "warm_start", "checkpoint"])):
        assert [name for name in names if hasattr(model, name)] == []

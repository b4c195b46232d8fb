"""What docs/support.md says is refused is refused, before anything is computed."""

import numpy as np
import pytest

from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.regularizers import BlockElasticNet, BlockNorm, EmpiricalBayes, LpSum, Wedge

X = np.random.default_rng(0).normal(size=(30, 3))
y, K = np.arange(30) % 2, [RBF(gamma=0.3), Linear()]
STACK = KernelStack([kernel(X) for kernel in K])
BAYES = dict(loss="squared", regularizer=EmpiricalBayes())


def deviations(model, X):
    return model.predict(X, return_std=True)


REFUSED = {
    "EmpiricalBayes with the hinge": lambda: MKLClassifier(K, regularizer=EmpiricalBayes()).fit(X, y),
    "one-class with LpSum(1)": lambda: MKLOneClass(K, regularizer=LpSum(1)).fit(X),
    "one-class with BlockElasticNet(0)": lambda: MKLOneClass(K, regularizer=BlockElasticNet(0)).fit(X),
    "one-class with Wedge()": lambda: MKLOneClass(K, regularizer=Wedge()).fit(X),
    "BlockNorm with newton": lambda: MKLClassifier(K, regularizer=BlockNorm(3), solver="newton").fit(X, y),
    "silp with p = 2": lambda: MKLClassifier(K, solver="silp").fit(X, y),
    "simplemkl with p = 2": lambda: MKLClassifier(K, solver="simplemkl").fit(X, y),
    "chunking with logistic": lambda: MKLClassifier(K, loss="logistic", solver="chunking").fit(X, y),
    "nesterov with logistic": lambda: MKLClassifier(K, loss="logistic", solver="nesterov").fit(X, y),
    "coordinate with RBF": lambda: MKLClassifier(K, solver="coordinate").fit(X, y),
    "return_std of the hinge's kin": lambda: deviations(MKLRegressor(K).fit(X, X[:, 0]), X),
    "return_std of matrices": lambda: deviations(MKLRegressor("precomputed", **BAYES).fit(STACK, y), STACK),
    "slack with features": lambda: MKLClassifier([Linear()], slack=True, solver="coordinate").fit(X, y),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case):
    with pytest.raises(ValueError):
        REFUSED[case]()


def test_the_hinge_has_no_probabilities():
    assert not hasattr(MKLClassifier(K).fit(X, y), "predict_proba")

"""slack=True: the identity as a kernel of its own, apart from weights and predictions."""

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels import regularizers as r
from manykernels.kernels import RBF, Identity, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 30))
y = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int)
KERNELS = [("signal", RBF("scale"), [0, 1]), ("noise", RBF("scale"), slice(2, 30))]
NEW = rng.normal(size=(20, 30))


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("solver", ["newton", "chunking"])
def test_it_is_the_identity_reported_apart(p, solver):
    options = dict(regularizer=p, C=10, solver=solver, tol=1e-5)
    model = MKLClassifier(KERNELS, slack=True, **options).fit(X, y)
    same = MKLClassifier([*KERNELS, ("identity", Identity())], **options).fit(X, y)
    np.testing.assert_allclose([*model.kernel_weights_, model.slack_weight_], same.kernel_weights_, atol=2e-2)
    np.testing.assert_allclose(model.objective_, same.objective_, rtol=2e-5)
    np.testing.assert_allclose(model.decision_function(NEW), same.decision_function(NEW), atol=2e-2)
    assert model.kernel_names_ == ["signal", "noise"] and model.kernel_scale_.shape == (2,)
    assert model.duality_gap_ <= 1e-5 and model.slack_weight_ > 0.2


def test_training_examples_are_predicted_as_others_are():
    model = MKLClassifier(KERNELS, slack=True, C=10).fit(X, y)
    np.testing.assert_allclose(model.decision_parts(X).sum(axis=1) + model.intercept_, model.decision_function(X))
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(X + 1e-9), atol=1e-6)


def test_classes_have_slack_each_and_a_new_fit_forgets_it():
    several = MKLClassifier(KERNELS, slack=True, C=1.0).fit(X, np.arange(80) % 3)
    assert several.kernel_weights_.shape == (3, 2) and several.slack_weight_.shape == (3,)
    model = MKLRegressor(KERNELS, slack=True, C=1.0).fit(X, X[:, 0])
    assert not hasattr(model.set_params(slack=False).fit(X, X[:, 0]), "slack_weight_")


def test_who_cannot_take_it_says_so():
    for change, why in (
        (dict(slack="yes"), "slack='yes'"),
        (dict(regularizer=r.Uniform()), "finds weights before"),
        (dict(regularizer=r.EmpiricalBayes(), loss="squared"), "its noise already does what slack does"),
        (dict(regularizer=r.WeightedLpNorm(1, [1.0, 2.0])), "add a last entry for slack"),
    ):
        with pytest.raises(ValueError, match=why):
            MKLClassifier(KERNELS, **{"slack": True, **change}).fit(X, y)
    with pytest.raises(ValueError, match="slack=True needs kernels computed pair by pair.*features='never'"):
        MKLClassifier([Linear()], solver="coordinate", slack=True).fit(X, y)
    for p in (1, 2):
        with pytest.raises(ValueError, match="slack=True adds the same kernel as 'own'.*leave it out"):
            MKLClassifier([*KERNELS, ("own", Identity())], regularizer=p, slack=True).fit(X, y)
    three = r.WeightedLpNorm(1, [1.0, 2.0, 3.0])
    assert MKLClassifier(KERNELS, regularizer=three, slack=True).fit(X, y).kernel_weights_.shape == (2,)

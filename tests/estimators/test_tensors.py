"""PyTorch's tensors as X and y: fitted where they lie."""

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.banks import choice
from manykernels.estimators.check_inputs import card_for
from manykernels.kernels import RBF

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(3)
X = RNG.standard_normal((60, 4)).astype(np.float32)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
KERNELS = [RBF(0.1), RBF(1.0)]


def test_tensors_are_what_arrays_are():
    plain = MKLClassifier(KERNELS).fit(X, Y)
    model = MKLClassifier(KERNELS).fit(torch.tensor(X, requires_grad=True), torch.tensor(Y))
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(model.predict(torch.tensor(X)), plain.predict(X))
    half = torch.tensor(X).to(torch.bfloat16)
    rounded = MKLRegressor(KERNELS).fit(half, torch.tensor(X[:, 0]))
    np.testing.assert_array_equal(rounded.predict(half), rounded.predict(half.float().numpy()))


def test_a_tensor_on_a_card_is_fitted_there(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(choice, "choose_device", lambda name, n: asked.append(name))
    monkeypatch.setattr("manykernels.estimators._checks.to_host", lambda X: (np.asarray(X), "cuda:1"))
    for device in ("cpu", "auto", "cuda", "cuda:1"):
        MKLClassifier(KERNELS, device=device).fit(torch.tensor(X), Y).save(tmp_path / "model.mk")
    assert asked == ["cuda:1"] * 4
    with pytest.raises(ValueError, match=r"X lies on 'cuda:1', but device='cuda:0': move X there"):
        MKLClassifier(KERNELS, device="cuda:0").fit(torch.tensor(X), Y)
    assert card_for("torch", None) == "torch"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no card")
def test_on_a_card():
    plain, x = MKLClassifier(KERNELS, tol=1e-5).fit(X, Y), torch.tensor(X, device="cuda")
    model = MKLClassifier(KERNELS, tol=1e-5).fit(x, torch.tensor(Y, device="cuda"))
    assert model.predictor_.device == "cuda:0"
    np.testing.assert_allclose(model.decision_function(x), plain.decision_function(X), atol=1e-3)

"""`save` and `load`: the same model back, no pickle, and honest errors."""

import json
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.gaussian_process.kernels import RationalQuadratic
from sklearn.metrics.pairwise import laplacian_kernel

import manykernels
from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.estimators import persist
from manykernels.kernels import RBF, Linear, Polynomial

X, y = make_classification(60, 6, random_state=0)
KERNELS = [
    ("rbf", RBF(gamma=0.3), slice(0, 3)),
    ("sum", RBF(gamma=1.0) + Polynomial(degree=2) * Linear()),
    ("gp", RationalQuadratic()),
    ("function", laplacian_kernel),
]


def names(a):
    return np.array(["no", "yes"], dtype=object)[a]


@pytest.mark.parametrize("model", [MKLClassifier(KERNELS), MKLRegressor(KERNELS), MKLOneClass(KERNELS[:2])])
def test_a_loaded_model_predicts_the_same(model, tmp_path):
    path = tmp_path / "model.mk"
    model.fit(X, names(y) if isinstance(model, MKLClassifier) else y)
    model.save(path)
    again = manykernels.load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.decision_parts(X), model.decision_parts(X))
    assert type(again) is type(model) and repr(again) == repr(model) and again.history_ == model.history_
    assert vars(again).keys() == vars(model).keys()


@pytest.mark.parametrize("kind", ["sparse", "precomputed", "automatic"])
def test_every_kind_of_data_is_saved(kind, tmp_path):
    data = {"sparse": sparse.csr_array(X), "precomputed": np.stack([X @ X.T, (X @ X.T) ** 2], axis=2)}.get(kind, X)
    kernels = {"sparse": KERNELS[:2], "precomputed": "precomputed"}.get(kind, "auto")
    model = MKLClassifier(kernels, regularizer=1).fit(data, y)
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(data), model.decision_function(data))
    assert again.fit(data, y).score(data, y) > 0.8


def test_a_callable_that_cannot_be_saved_is_named(tmp_path):
    def my_kernel(A, B):
        return A @ B.T

    model = MKLClassifier([("mine", my_kernel), RBF(gamma=1.0)]).fit(X, y)
    with pytest.raises(ValueError, match="my_kernel.*cannot be saved"):
        model.save(tmp_path / "model.mk")
    assert not (tmp_path / "model.mk").exists()


def rewrite(path, name, change):
    with zipfile.ZipFile(path) as file:
        members = {n: file.read(n) for n in file.namelist()}
    members[name] = change(members[name])
    with zipfile.ZipFile(path, "w") as file:
        for n, data in members.items():
            file.writestr(n, data)


def test_damaged_newer_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "model.mk"
    model = MKLClassifier(KERNELS[:1]).fit(X, y)
    model.save(path)
    rewrite(path, "model.json", lambda data: data.replace(b"rbf", b"rbg"))
    with pytest.raises(ValueError, match="damaged"):
        manykernels.load(path)
    model.save(path)
    rewrite(path, "header.json", lambda data: json.dumps(json.loads(data) | {"format": 99}).encode())
    with pytest.raises(ValueError, match="format 99.*upgrade"):
        manykernels.load(path)
    path.write_text("not a model")
    with pytest.raises(ValueError, match="not a whole manykernels model"):
        manykernels.load(path)


def test_a_file_cannot_name_code_outside_the_package():
    for module, name in (("os", "system"), ("manykernels.estimators.persist", "zipfile")):
        with pytest.raises(ValueError, match="not part of this release"):
            persist._find({"module": module, "name": name}, persist._CLASSES)

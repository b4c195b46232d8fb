"""A ViewPlan says how one view is made of X, and is never changed: what is fitted or merged is a new plan."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from manykernels.kernels import RBF, Identity, KernelList, Linear, On, Views
from manykernels.kernels.view_data import ViewArrays
from manykernels.kernels.view_plan import ViewPlan
from manykernels.strings import Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 5))


def test_a_plan_is_frozen_and_fitting_makes_another():
    plan = KernelList.from_spec([("k", StandardScaler(), Linear(), [0, 1])], X).view_plans[0]
    with pytest.raises(FrozenInstanceError):
        plan.zero = True
    before = plan.transformer.fitted.mean_.copy()
    again = plan.fitted(ViewArrays(X + 1.0), None)
    np.testing.assert_allclose(again.transformer.fitted.mean_, before + 1.0)
    np.testing.assert_array_equal(plan.transformer.fitted.mean_, before)


def test_a_plan_says_what_it_reads_and_what_it_is_called():
    data = {"x": X, "s": ["ACGT"] * 12}
    specs = [
        ("x", RBF(1.0), ("x", [0, 2])),
        ("s", Spectrum(2), "s"),
        On("x", Linear()) * On("s", Spectrum(2)),
        Identity(),
    ]
    plans = KernelList.from_spec(specs, data).view_plans
    assert [plan.reads for plan in plans] == ["numeric", "sequences", "views", "nothing"]
    assert [plan.label() for plan in plans] == ["x", "s", "x × s", None]
    assert [plan.needs() for plan in plans] == [{"x": {0, 2}}, {"s": None}, {"x": None, "s": None}, {"x": set()}]
    assert [plan.has_fitted_parts for plan in plans] == [False, False, True, False]
    assert plans[0].width({"x": 5, "s": 1}) == 2 and plans[1].width({"x": 5, "s": 1}) is None


def test_a_file_says_the_whole_plan():
    for plan in KernelList.from_spec([("a", RBF(1.0), [1, 3], "zero"), Linear(), Identity()], X).view_plans:
        again = ViewPlan.from_state(plan.to_state())
        assert again.to_state() == plan.to_state()


def test_a_pickled_list_takes_examples_that_lack_a_view_which_no_kernel_sees():
    ids = np.arange(12)
    data = Views({"x": X[:8], "z": X}, ids={"x": ids[:8], "z": ids})
    kernels = KernelList.from_spec([("z", RBF(1.0), "z"), Identity()], data)
    for one in (kernels, pickle.loads(pickle.dumps(kernels))):
        assert [view.present for view in one.views(data)] == [None, None]

"""What a report says of held-out examples is that of models which had not seen them, each example once."""

import numpy as np
import pandas as pd
from report_cases import a_case
from sklearn.model_selection import KFold

from manykernels import KernelStack, MKLClassifier, MKLRegressor
from manykernels.kernels import RBF
from manykernels.report._measure import _sample

ONLY = dict(relevance="fast", stability=0)
rng = np.random.default_rng(3)
X = rng.normal(size=(90, 2))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=90) > 0, "ill", "well")


def test_drawn_examples_of_matrices_are_chosen_by_their_own_decisions():
    """Without folds, some labels wrong: what is called mistaken is, and the clearest are right."""
    labels = np.where(np.arange(90) % 5 == 0, Y[::-1], np.where(X[:, 0] > 0, "ill", "well"))
    stack = KernelStack([RBF(0.5)(X)])
    model = MKLClassifier("precomputed", C=0.1).fit(stack, labels)
    shown = model.report(stack, labels, cv=None, max_examples=40, **ONLY).facts["examples"]["rows"]
    reasons = ("among the most mistaken", "a close call", "among the clearest")
    mistaken, close, clear = ([one for one in shown if one["why"] == why] for why in reasons)
    assert mistaken and all(one["prediction"] != one["true"] for one in mistaken)
    assert clear and all(one["prediction"] == one["true"] for one in clear)
    assert close and max(abs(one["sum"]) for one in close) < min(abs(one["sum"]) for one in clear)


def test_parts_of_a_held_out_decision_have_the_names_of_the_kernels_of_the_folds():
    """The first column is 0 in all drawn rows: the folds have no kernel of it, but the model of all rows has."""
    noise = np.random.default_rng(0)
    table = pd.DataFrame(noise.normal(size=(60, 3)), columns=["rare", "noise", "signal"])
    target = 3 * table["signal"].to_numpy()
    drawn = _sample(a_case(target, "regression", seed=5)._replace(X=table), 50)
    table.loc[drawn, "rare"] = 0.0
    model = MKLRegressor(C=1.0).fit(table, target)
    options = dict(cv=KFold(2), max_examples=50, random_state=5, examples=drawn[::10], **ONLY)
    shown = model.report(table, target, **options).facts["examples"]["rows"]
    assert "rare" in model.kernel_names_ and all(one["held_out"] for one in shown)
    for one in shown:
        parts = {part["name"]: part["value"] for part in one["parts"]}
        assert "rare" not in parts and abs(parts["signal"]) > abs(parts.get("noise", 0.0))

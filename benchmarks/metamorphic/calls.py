"""The public methods, each as a function of a world and its arguments that returns arrays."""

import json
from dataclasses import dataclass

import numpy as np

from .worlds import fit


@dataclass(frozen=True)
class Call:
    """A method: the arguments that it takes, of training examples or of new ones, and what it returns.

    `by_row`: the arrays have a row per example. `ordered`: the order of the examples decides on folds or samples.
    """

    name: str
    takes: tuple
    run: object
    new: bool = False
    by_row: bool = False
    ordered: bool = False

    def args(self, world):
        """The arguments of the world that the method takes."""
        own = world.new if self.new else world.train
        return {name: own[name] for name in self.takes if name in own}

    def able(self, world):
        """Whether the world can be given to the method."""
        return world.target in ABLE[self.name] and not (
            ("task" in world.train and "task" not in self.takes)
            or ("covariates" in world.train and "covariates" not in self.takes)
            or ("strata" in world.train and self.name in NO_STRATA)
            or (self.name == "predict_proba" and world.model.loss != "logistic")
            or (world.target == "times" and world.kind.startswith("pairs"))  # no solver takes them
        )


def decide(world, model):
    """The decisions on the new examples."""
    given = {name: world.new[name] for name in ("X", "task", "covariates") if name in world.new}
    ask = model.decision_function if world.target in ("classes", "one class") else model.predict
    return {"decisions": np.asarray(ask(**given))}


def _fit(world, args):
    return decide(world, fit(world.model, args))


def _search(world, args):
    import manykernels as mk

    kinds = {"classes": mk.MKLClassifierCV, "numbers": mk.MKLRegressorCV, "times": mk.MKLSurvivalCV}
    options = {"Cs": [0.1, 1.0], "regularizer": 2, "cv": 3, "tol": 1e-6, "loss": world.model.loss}
    model = kinds[world.target](world.model.kernels, **options).fit(**args)
    return {**decide(world, model), "scores": model.cv_results_["mean_test_score"]}


def _path(world, args):
    return {"weights": world.model.path(Cs=[0.1, 1.0], **args).weights}


def _relevance(world, args):
    from manykernels.inspect import relevance

    found = relevance(world.model, **args, cv=2, n_permutations=1, refits=0)
    return {"score": found.score_all, "permuted": found.score_permuted, "alone": found.score_alone}


def _columns(world, args):
    from manykernels.inspect import column_relevance

    return {"permuted": column_relevance(world.model, **args, cv=2, n_permutations=1).score_permuted}


def _bootstrap(world, args):
    from manykernels.inspect import bootstrap_weights

    return {"weights": bootstrap_weights(world.model, **args, n_boot=2)}


def _suggest(world, args):
    from manykernels.inspect import suggest

    return {"text": np.array([len(str(suggest(**args, kernels=world.model.kernels, Cs=[1.0], cv=2)))])}


def _report(world, args):
    options = {"cv": 2, "stability": 0, "relevance": "fast", "examples": 1, "n_jobs": 1}
    facts = world.fit().report(**args, **options).facts
    parts = {name: facts.get(name) for name in ("score", "sources")}
    return {"numbers": np.array(sorted(numbers(json.loads(json.dumps(parts, default=float)))))}


def numbers(facts):
    """All numbers in nested facts that say nothing of seconds."""
    if isinstance(facts, dict):
        return [x for key, part in facts.items() if "second" not in key for x in numbers(part)]
    if isinstance(facts, list):
        return [x for part in facts for x in numbers(part)]
    return [float(facts)] if isinstance(facts, int | float) and np.isfinite(facts) else []


def _score(world, args):
    return {"score": np.array([world.fit().score(**args)])}


def _method(name, **options):
    return lambda world, args: {name: np.asarray(getattr(world.fit(), name)(**args, **options))}


def _combined(world, args):
    model = world.fit()
    return {"kernel": np.asarray(model.combined_kernel(**args))}


def _shares(world, args):
    from manykernels.inspect import feature_shares

    return {"shares": np.asarray(feature_shares(world.fit(), **args).values)}


def _explain(world, args):
    from manykernels.inspect import explain_sequences

    model = world.fit()
    several = len(getattr(model, "classes_", ())) > 2
    found = explain_sequences(model, **args, **({"label": model.classes_[0]} if several else {}))
    rows = [np.ravel(values) for values in found.values]
    most = max(map(len, rows), default=0)
    return {"values": np.array([np.append(row, np.full(most - len(row), np.nan)) for row in rows])}


FIT = ("X", "y", "sample_weight", "task", "covariates")
NEW = ("X", "task", "covariates")
CALLS = [
    Call("fit", (*FIT, "strata"), _fit),
    Call("search", (*FIT, "groups"), _search, ordered=True),
    Call("path", FIT, _path),
    Call("relevance", ("X", "y", "sample_weight", "groups", "covariates"), _relevance, ordered=True),
    Call("column_relevance", ("X", "y", "groups", "covariates"), _columns, ordered=True),
    Call("bootstrap_weights", ("X", "y", "covariates"), _bootstrap, ordered=True),
    Call("suggest", ("X", "y", "groups"), _suggest, ordered=True),
    Call("report", ("X", "y", "groups", "covariates"), _report, ordered=True),
    Call("score", FIT, _score, new=True),
    Call("predict", NEW, _method("predict"), new=True, by_row=True),
    Call("decision_function", NEW, _method("decision_function"), new=True, by_row=True),
    Call("predict_proba", NEW, _method("predict_proba"), new=True, by_row=True),
    Call("decision_parts", NEW, _method("decision_parts"), new=True, by_row=True),
    Call("predict_survival_function", (*NEW, "strata"), _method("predict_survival_function", return_array=True),
         new=True, by_row=True),
    Call("predict_cumulative_hazard_function", (*NEW, "strata"),
         _method("predict_cumulative_hazard_function", return_array=True), new=True, by_row=True),
    Call("combined_kernel", ("X", "task"), _combined, new=True),
    Call("feature_shares", ("X", "covariates"), _shares, new=True, by_row=True),
    Call("explain_sequences", ("X", "covariates"), _explain, new=True, by_row=True),
]  # fmt: skip
LEARN, ALL = ("classes", "numbers", "times"), ("classes", "numbers", "times", "one class")
ABLE = {call.name: LEARN for call in CALLS} | {
    "fit": ALL, "predict": ALL, "decision_parts": ALL, "combined_kernel": ALL, "suggest": ("classes", "numbers"),
    "decision_function": ("classes", "one class"), "predict_proba": ("classes",),
    "predict_survival_function": ("times",), "predict_cumulative_hazard_function": ("times",),
}  # fmt: skip
NO_STRATA = ("search", "path", "relevance", "column_relevance", "bootstrap_weights", "report", "score")


def calls(world):
    """The calls that take the data of a world."""
    kind = world.kind.split()[0]
    own = [call for call in CALLS if call.able(world)]
    only = {"explain_sequences": ("sequences",), "feature_shares": ("frame", "array", "views"),
            "column_relevance": ("frame", "array"), "suggest": ("frame", "array", "views")}  # fmt: skip
    own = [call for call in own if kind in only.get(call.name, (kind,))]
    return [call for call in own if not (kind == "tasks" and call.name == "report")]

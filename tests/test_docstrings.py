"""Every public name says, in numpydoc's form, what it is, takes and gives, and shows it by an example that runs."""

import doctest
import inspect
import re
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import manykernels
from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, MKLSurvival
from manykernels.kernels import RBF, Linear, multi_task
from manykernels.problem import Problem
from manykernels.regularizers import EmpiricalBayes
from manykernels.solution import Solution

ROOMS = (
    "banks", "datasets", "estimators", "genome", "inspect", "kernels", "losses", "pairs", "regularizers", "report",
    "sequences", "solvers", "streaming", "strings", "weighting",
)  # fmt: skip
EXTRAS = {  # by the last part of the module
    "plots": "matplotlib", "sequence_plots": "matplotlib", "hdf5": "h5py", "zarr": "zarr",
    "tables": "pyarrow", "collection": "dask", "streaming": "dask", "reference": "pyfaidx", "peaks": "pyfaidx",
    "training": "pyfaidx", "scores": "pyfaidx", "kmers": "pyfaidx",
}  # fmt: skip
# classes that the README and the tables of docs/ call and that are not ours
OUTSIDE = {
    "CalibratedClassifierCV", "GridSearchCV", "MySolver", "RBFSampler", "StandardScaler", "TfidfVectorizer",
}  # fmt: skip

SOURCE = Path(manykernels.__file__).parent


@cache
def public():
    """{qualified name: class or function} of all that the rooms export."""
    found = {}

    def walk(module):
        own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
            thing = getattr(module, name)
            if isinstance(thing, ModuleType):
                walk(thing)
            elif inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing

    for room in ROOMS:
        walk(import_module(f"manykernels.{room}"))
    for thing in (Problem, Solution):  # which solvers take and give
        found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    walk(manykernels)
    return found


def sections(doc):
    """{title: lines} of a docstring, the text before the first title under ""."""
    lines, found, title = doc.splitlines(), {"": []}, ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and below == "-" * len(line):
            title = line
            found[title] = []
        elif line != "-" * max(len(title), 3):
            found[title].append(line)
    return found


def named(lines):
    """The parameters that a section names, `a, b : type` or `**options` before their indented text."""
    heads = [line.partition(" : ")[0] for line in lines if line and not line[0].isspace()]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def complaints(thing):
    doc, wrong = inspect.getdoc(thing) or "", []
    first, *rest = doc.splitlines() or [""]
    if not first.endswith(".") or rest[:1] not in ([], [""]):
        wrong.append(f"its first line is no sentence: {first!r}")
    found, wanted = sections(doc), inspect.signature(thing).parameters
    if sorted(named(found.get("Parameters", []))) != sorted(wanted):
        wrong.append(f"Parameters names {named(found.get('Parameters', []))}, it takes {list(wanted)}")
    if inspect.isfunction(thing) and inspect.signature(thing).return_annotation not in (None, "None"):
        if not {"Returns", "Yields"} & found.keys():
            wrong.append("Returns is missing")
    if not any(line.startswith(">>> ") for line in found.get("Examples", [])):
        wrong.append("Examples is missing")
    return wrong


@pytest.mark.parametrize("thing", [pytest.param(thing, id=name) for name, thing in public().items()])
def test_a_public_name_says_what_it_takes_and_gives_and_shows_it(thing):
    assert "__doc__" in vars(thing) or inspect.isfunction(thing), "its docstring is that of its base"
    assert not complaints(thing)


@pytest.mark.filterwarnings("ignore:.*the learned noise")
def test_estimators_list_what_fit_sets():
    rng = np.random.default_rng(0)
    X, y, kernels = rng.normal(size=(40, 2)), np.arange(40) % 2, [RBF(gamma=0.1), Linear()]
    times = np.column_stack([np.arange(40) % 3 > 0, rng.exponential(size=40)])
    bayes, frame = dict(regularizer=EmpiricalBayes(), loss="squared"), pd.DataFrame(X, columns=["a", "b"])
    fitted = [
        *(MKLClassifier(kernels, **params).fit(frame, y) for params in ({}, {"slack": True}, bayes)),
        MKLClassifier(kernels, C="auto", calibrate="sigmoid", class_weight={0: 1, 1: 2}).fit(frame, y),
        MKLRegressor(kernels, C="auto").fit(frame, X[:, 0]),
        *(MKLRegressor(kernels, **params).fit(frame, X[:, 0]) for params in ({}, {"slack": True}, bayes)),
        MKLClassifier(multi_task([Linear()])).fit(X, y, task=X[:, 1] > 0),
        MKLRegressor(multi_task([Linear()])).fit(X, X[:, 0], task=y),
        MKLOneClass(multi_task([RBF(gamma=0.1)])).fit(X, task=y),
        MKLOneClass(kernels, formulation="svdd", normalize="spherical").fit(frame),
        MKLClassifier([RBF(gamma=0.1, metric="learn")]).fit(frame, y),
        MKLRegressor([RBF(gamma=0.1, metric="learn")]).fit(frame, X[:, 0]),
        *(kind("auto").fit(frame, y) for kind in (MKLClassifier, MKLRegressor, MKLOneClass)),
        *(kind(kernels).fit(frame, y, covariates=X[:, :1] ** 2) for kind in (MKLClassifier, MKLRegressor)),
        *(MKLSurvival(given, C=1.0).fit(frame, times) for given in (kernels, "auto")),
        *(kind(kernels, C=1.0).fit({"v": frame}, y) for kind in (MKLClassifier, MKLRegressor)),
        *(kind(kernels, C=1.0).fit(X, (frame > 0).astype(int)) for kind in (MKLClassifier, MKLRegressor)),
        MKLOneClass(kernels).fit({"v": frame}),
        MKLSurvival(kernels, C=1.0).fit({"v": frame}, times),
        MKLSurvival(kernels, slack=True).fit(frame, times, covariates=X[:, :1] ** 2),
        MKLSurvival(multi_task([Linear()]), C=1.0).fit(X, times, task=y),
    ]
    for kind in (MKLClassifier, MKLRegressor, MKLOneClass, MKLSurvival):
        found = {name for model in fitted if type(model) is kind for name in vars(model) if name[-1] == "_" != name[0]}
        listed = named(sections(inspect.getdoc(kind))["Attributes"])
        elsewhere = {"normalize_", "kernel_scale_error_"} | ({"offset_"} if kind is MKLOneClass else set())
        assert sorted(listed) == sorted(found | elsewhere)


def modules():
    """The modules with examples."""
    for path in sorted(SOURCE.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            yield ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", list(modules()))
def test_examples_run_without_a_warning(name):
    extra = "matplotlib" if name.endswith("_display") else EXTRAS.get(name.rpartition(".")[2])
    if extra is not None:
        pytest.importorskip(extra, reason=f"the examples of {name} need {extra}")
    if extra == "matplotlib":
        from matplotlib import pyplot

        pyplot.switch_backend("Agg")
        pyplot.close("all")  # figures of other tests
    runner, said = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), []
    module = import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for test in doctest.DocTestFinder().find(module, name):
            runner.run(test, out=said.append)
    assert runner.tries and not runner.failures, "".join(said)


@pytest.mark.parametrize("page", ["README.md", "docs/words.md", "docs/formulations.md"])
def test_a_page_calls_nothing_that_is_not_there(page):
    text = (Path(__file__).parents[1] / page).read_text(encoding="utf-8")
    called = set(re.findall(r"\b([A-Z]\w*[a-z]\w*)\(", text))
    assert called - OUTSIDE <= {thing.__name__ for thing in public().values()}

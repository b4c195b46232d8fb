"""Small models with reports, for the tests of pages; names that would break a page that does not escape them."""

from functools import cache

import numpy as np
import pandas as pd

from manykernels import MKLClassifier
from manykernels.kernels import RBF
from manykernels.report._words import clean

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; drop & <b>bold</b>",
    "שלום \u202eevil",
    "a\x00b\ud800",
    "x" * 3000,
    "</style></title>]]>-->",
    "{{7*7}}${1}%s",
    "   ",
)


@cache
def hostile_report():
    """A kernel on a column of its own for each of these names; columns and classes have such names too."""
    X = np.random.default_rng(0).normal(size=(60, len(HOSTILE)))
    y = np.array(["<i>no</i>", 'yes & "quoted"'])[(X[:, 0] > 0).astype(int)]
    X = pd.DataFrame(X, columns=[f"c{k} {clean(name)}" for k, name in enumerate(HOSTILE)])
    model = MKLClassifier([(name, RBF(0.5), [k]) for k, name in enumerate(HOSTILE)], C=10).fit(X, y)
    return model.report(X, y, cv=3, relevance="fast", stability=3, title=HOSTILE[0], target=HOSTILE[1])


@cache
def plain_report():
    """Three classes, twelve sources of two kernels, all sections."""
    rng = np.random.default_rng(1)
    y = np.repeat(["barbera", "barolo", "grignolino"], 30)
    X = pd.DataFrame(rng.normal(size=(90, 12)), columns=[f"measure {k}" for k in range(12)])
    X["measure 0"] += 3 * (y == "barolo")
    X["measure 1"] += 3 * (y == "barbera")
    kernels = [(f"{c}, width {g}", RBF(g), [c]) for c in X.columns for g in (0.1, 1.0)]
    model = MKLClassifier(kernels, multi_class="ovr").fit(X, y)
    return model.report(X, y, cv=3, relevance="fast", stability=3, target="cultivar")

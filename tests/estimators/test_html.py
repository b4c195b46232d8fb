"""What a notebook shows of a model: its parameters by name, and once it is fitted the weights and the gap."""

import re
from html import unescape

import numpy as np
import pytest
import sklearn
from markupsafe import escape
from sklearn.datasets import load_iris, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier, MKLRegressor
from manykernels.estimators._notebook import weights_html
from manykernels.kernels import RBF, Linear
from manykernels.regularizers import EmpiricalBayes, Fixed, LpNorm

X, y = make_classification(40, 3, n_informative=3, n_redundant=0, random_state=0)


def fitted(names=("a", "b"), weights=None, **options):
    weights = np.arange(1.0, len(names) + 1) if weights is None else weights
    kernels = [(name, RBF(gamma=0.1 + m)) for m, name in enumerate(names)]
    return MKLClassifier(kernels, regularizer=Fixed(weights), **options).fit(X, y)


def test_parameters_of_parts_are_shown_by_name():
    html = MKLClassifier([("wide", RBF(gamma=0.125))], regularizer=LpNorm(1.25))._repr_html_()
    for text in ("LpNorm(p=1.25)", "regularizer__p", "kernels__wide__gamma", "0.125"):
        assert text in html
    many = MKLClassifier([(f"k{m}", Linear()) for m in range(500)])._repr_html_()
    assert "kernels__k499" not in many and len(many) < 200_000


def test_a_model_that_is_not_fitted_has_no_weights_to_show():
    model = MKLClassifier()
    assert weights_html(model) == "" and "duality gap" not in model._repr_html_()


def test_shares_and_gap_stand_before_the_diagram():
    model = fitted(("a", "b", "none"), [1.0, 3.0, 0.0])
    html = weights_html(model)
    assert "2 of 3 kernels have weight" in html and f"duality gap {model.duality_gap_:.1e}" in html
    assert html.index("75.0%") < html.index("25.0%") and "none" not in html
    assert "width:100.0%" in html and "width:33.3%" in html and "more" not in html
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert shown.startswith(html) and shown.count("duality gap") == 1 and "sk-top-container" in shown
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_the_heaviest_twelve_and_how_many_more():
    html = weights_html(fitted([f"kernel {m}" for m in range(20)]))
    assert html.count("<tr") == 13 and "… and 8 more" in html
    assert "kernel 19<" in html and "kernel 8<" in html and "kernel 7<" not in html
    assert f"{36 / 210:.1%}" in html  # the share of the others, 1 + … + 8 of 210


def test_names_are_text():
    name = '<script>alert("1 & 2")</script>'
    html = fitted((name, "x" * 500))._repr_html_()
    assert "<script>alert" not in html and "&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;" in html
    assert "x" * 59 + "…" in html and "x" * 60 not in weights_html(fitted((name, "x" * 500)))


@pytest.mark.parametrize("names", [("a[0", "b("), ("**", "\\"), ("x'),hacked(1),('", "{0}"), ("(?P<n>", "$ %")])
def test_names_may_hold_what_patterns_and_scripts_are_made_of(names):
    """Scikit-learn makes a pattern, and a script, of the name of each parameter."""
    model = fitted(names)
    for one in (model, MKLClassifier([(name, RBF(0.5)) for name in names]), make_pipeline(StandardScaler(), model)):
        html = one._repr_html_()
        for written in re.findall(r"copyToClipboard\('(.*?)',\s*this", html, re.DOTALL):
            assert re.fullmatch(r"[\w %\-.,:=/]*", unescape(written))
    assert "kernels__a%5B0__gamma" in html or names[0] != "a[0"
    assert model.get_params()[f"kernels__{names[0]}__gamma"] == 0.1
    page = model.report(X, y, cv=2, relevance="fast", stability=0).html()
    assert all(escape(name) in page for name in names)


@pytest.mark.filterwarnings("ignore:.*the learned noise")
def test_classes_are_averaged_and_other_certificates_named():
    model = MKLClassifier([RBF(gamma=0.1), Linear()]).fit(*load_iris(return_X_y=True))
    assert "mean over 3 classes" in weights_html(model)
    bayes = MKLRegressor([RBF(gamma=0.1), Linear()], loss="squared", regularizer=EmpiricalBayes("learn")).fit(
        X, X[:, 0]
    )
    assert f"stationarity {bayes.stationarity_:.1e}" in weights_html(bayes) and "gap" not in weights_html(bayes)


def test_text_where_scikit_learn_is_set_to_text():
    model = fitted()
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_() and not hasattr(model, "_repr_html_")
        with pytest.raises(AttributeError):
            model._repr_html_()

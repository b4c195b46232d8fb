"""Whatever text comes in, in whatever field, is text on the page."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from injected import ATTACKS, KERNELS, Reader, X, hostile_reports, strangers

import manykernels
from manykernels import MKLClassifier
from manykernels.inspect import relevance
from manykernels.report import Report, _words

ROOT = Path(manykernels.__file__).parent
CHOICES = {"kind", "measure", "method", "what"}  # the page looks these up


@pytest.fixture(scope="module")
def reports():
    return hostile_reports()


def test_no_name_label_id_or_text_becomes_an_element(reports):
    """Of three classes and more the table of steps held labels as they stood."""
    found = {kind: strangers(report.html()) for kind, report in reports.items()}
    assert found == {kind: [] for kind in reports} and len(reports) == 10
    shown = " ".join(text for _, text in Reader(reports["3 classes"].html()).texts)
    assert f"class {ATTACKS[0]}, " in shown and f"class {ATTACKS[1]}, " in shown


FREE = {("weights", "sources"), ("model", "parameters"), ("versions",)}  # dicts whose keys are shown


def filled(value, put, path=()):
    """Facts with `put(path)` for every text in them, but for those that the page looks up."""
    if isinstance(value, dict):
        names = {key: put((*path, key)) + key if path in FREE else key for key in value}
        return {names[key]: filled(inner, put, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, put, (*path, str(k))) for k, inner in enumerate(value)]
    return put(path) if isinstance(value, str) and path[-1] not in CHOICES else value


@pytest.mark.parametrize("kind", ["3 classes", "frame"])
def test_no_fact_becomes_an_element(reports, kind):
    """Every text of the facts is every attack in its turn; the elements are those of harmless text as long."""
    facts, seen = reports[kind].facts, set()
    for turn in range(len(ATTACKS)):

        def attack(path, turn=turn):
            seen.add(path)
            return ATTACKS[(turn + sum(map(ord, "".join(path)))) % len(ATTACKS)]

        page = Report(filled(facts, attack)).html()
        harmless = Report(filled(facts, lambda path: "x" * len(attack(path)))).html()  # noqa: B023
        assert strangers(page) == [] and Reader(page).tags == Reader(harmless).tags
    assert len(seen) > 40


def test_a_notebook_shows_names_as_text():
    """`_repr_html_` of relevance and of a model; scikit-learn puts the names of parameters into scripts."""
    y = np.tile([0, 1], 24)
    model = MKLClassifier(KERNELS, multi_class="shared").fit(X, y)
    read = Reader(relevance(model, X, y, cv=2, kernels=False, sources={ATTACKS[0]: [0]})._repr_html_())
    assert read.strange == [] and ATTACKS[0] in "".join(text for _, text in read.texts)
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        read = Reader(html)
        assert not {"img", "meta", "i"} & set(read.tags) and read.tags.count("script") == 1


def test_templates_escape_all_but_the_files_of_the_package():
    """No text of the code holds a tag, no template trusts a value, and values of attributes are quoted."""
    tag = re.compile(r"</?(p|div|span|b|i|strong|bdi|code|t[dhr]|table|svg|text|rect|line|a|section)\b[^>]*>")
    for folder in ("report", "inspect", "estimators"):
        for path in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(path.read_text())
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
            found = [node.value for node in texts if id(node) not in docs and tag.search(node.value)]
            assert set(found) <= set(_words.MARKS.values()), path
    templates = list(ROOT.rglob("*.jinja"))
    assert len(templates) > 10
    for path in templates:
        text = path.read_text()
        assert re.findall(r"(\w+)\|safe", text) == (["style", "script"] if path.name == "page.html.jinja" else [])
        assert "autoescape" not in text and "Markup" not in text and not re.search(r"=\{\{", text)


def test_the_script_writes_texts_and_no_markup():
    script = (ROOT / "report" / "page.js").read_text()
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser"):
        assert way not in script

"""The page is one file that loads nothing, small, with what users wrote as text and nothing else."""

import base64
import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from injected import Reader
from reports import hostile_report, plain_report

from manykernels import MKLClassifier
from manykernels.kernels import Linear
from manykernels.report._words import number, percent


@pytest.fixture(scope="module", params=["hostile", "plain"])
def page(request):
    return (hostile_report() if request.param == "hostile" else plain_report()).html()


def test_nothing_is_loaded_and_the_policy_names_what_is_there(page):
    assert not re.search(r"(?:src|href|action)\s*=\s*[\"'](?!#)", page) and "@import" not in page and "url(" not in page
    for address in re.findall(r"https?://[^\s\"'<]+", page):
        pytest.fail(f"the page names {address}")
    policy = next(meta["content"] for meta in Reader(page).metas if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "*" not in policy
    for tag in ("style", "script"):
        inner = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()}'" in policy


def test_a_table_is_behind_every_chart(page):
    figures = re.findall(r"<figure>(.*?)</figure>", page, re.DOTALL)
    assert len(figures) >= 2 and all("<table" in figure and "aria-label" in figure for figure in figures)
    for attributes in re.findall(r"<svg([^>]*)>", page):
        assert 'aria-hidden="true"' in attributes or 'role="img"' in attributes and "aria-label" in attributes
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        assert "<caption>" in table and 'scope="col"' in table and 'scope="row"' in table


def test_the_largest_page_is_under_500_kb():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(56, 60)), np.repeat(np.arange(14), 4)
    names = [f"{j:03d} " + '"&<é' * 80 for j in range(60)]
    kernels = [(name + end, Linear(), [j]) for j, name in enumerate(names) for end in "ab"]
    frame = pd.DataFrame(X, columns=names)
    model = MKLClassifier(kernels, multi_class="ovr", tol=1e-2, C=1.0).fit(frame, y)
    page = model.report(frame, y, cv=2, relevance="fast", stability=1, title='"' * 300).html()
    assert 200_000 < len(page.encode()) < 500_000 and "12 of 14 classes" in page


def test_the_same_facts_make_the_same_page():
    assert plain_report().html() == plain_report().html()


@pytest.mark.parametrize(
    ("value", "shown"), [(-0.0001, "0.000"), (0.5, "+0.500"), (-2, "−2.000"), (np.nan, "–"), (3e7, "+3.00e+07")]
)
def test_numbers_have_a_true_minus_and_no_negative_zero(value, shown):
    assert number(value, 3, True) == shown


def test_a_little_is_not_none():
    assert (percent(0.0), percent(1e-6), percent(0.5)) == ("0.0 %", "<0.1 %", "50.0 %")

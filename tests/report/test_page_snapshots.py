"""What pages of ten reports say, word by word; MANYKERNELS_WRITE_PAGES=1 writes the texts anew."""

import json
import os
from pathlib import Path

import pytest
from injected import strangers
from pages import Story

from manykernels.report import Report

FOLDER = Path(__file__).parent / "pages"
FACTS = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("place", FACTS, ids=[place.stem for place in FACTS])
def test_a_page_says_what_it_said(place):
    page = Report(json.loads(place.read_text(encoding="utf-8"))).html()
    assert strangers(page) == []
    told, kept = str(Story(page)), place.with_suffix(".txt")
    if os.environ.get("MANYKERNELS_WRITE_PAGES"):
        kept.write_text(told, encoding="utf-8")
    assert told.splitlines() == kept.read_text(encoding="utf-8").splitlines()


def test_there_is_a_page_of_each_kind():
    kinds = {json.loads(place.read_text(encoding="utf-8"))["kind"] for place in FACTS}
    assert kinds == {"classification", "regression", "survival", "one-class"} and len(FACTS) == 10

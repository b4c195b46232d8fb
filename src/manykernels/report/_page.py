"""The HTML file of a report, made from the facts by the templates beside it."""

import base64
import hashlib
import math
from importlib.resources import files
from typing import Any

from .._pictures import render
from ..inspect.sources import listed
from . import _charts, _words, _worth
from ._case import MAX_INSIDE, MAX_SOURCES, Facts

TOOLS = {  # what the templates may call
    **{key: value for key, value in vars(_words).items() if callable(value) and value.__module__ == _words.__name__},
    "charts": _charts, "log10": _charts.log10, "exp": math.exp, "words": _words, "few": listed, "worth": _worth,
    "MAX_INSIDE": MAX_INSIDE, "MAX_SOURCES": MAX_SOURCES,
}  # fmt: skip


def page(facts: Facts) -> str:
    """The whole page."""
    style, script = (files(__package__).joinpath(f"page.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return section("page", facts, style=style, script=script, policy=policy)


def section(key: str, facts: Facts, **values: Any) -> str:
    """The HTML of one of the templates."""
    given = {"facts": _words.foreign(facts), **values, **TOOLS}
    return render(f"report/templates/{key}.html.jinja", _words.MARKS, **given)


def _hash(content):
    """Of a style or script, for the content policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()

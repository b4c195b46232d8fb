"""HTML from the jinja2 templates of the package, which escape every value."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_LOST = dict.fromkeys(range(0xFDD0, 0xFDF0), "\ufffd")  # noncharacters, which mark elements in sentences of a report


def render(template: str, marks: dict[int, str] = _LOST, **values: Any) -> str:
    """The HTML of a template of the package; every value is escaped, then `marks` become elements of sentences."""
    return _clean(_templates().get_template(template).render(**values)).translate(marks)


def writable(text: str) -> str:
    """The text with lone surrogates, control characters and marks replaced, so that every file can hold it."""
    return text if text.isascii() and text.isprintable() else _clean(text).translate(_LOST)


def _clean(text):
    return _CONTROL.sub("\ufffd", text.encode("utf-8", "replace").decode("utf-8"))


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # on first use: `import manykernels` stays cheap

    return Environment(loader=PackageLoader("manykernels", ""), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.do"])  # fmt: skip

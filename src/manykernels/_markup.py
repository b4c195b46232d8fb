"""HTML by construction: `element` alone makes tags, and every str is text that is escaped when it is rendered.

Noncharacters of Unicode (U+FDD0 to U+FDEF) mark the inline elements of a sentence, such as `strong` and `name`, so that
the sentence stays a str. `foreign` removes these marks from text that users wrote. A mark that slips through becomes a
pair of inert tags, never more.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Generator
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

_ALONE = {"meta": ">", **dict.fromkeys(("rect", "circle", "line", "polyline"), "/>")}  # elements without children
TAGS = frozenset(
    "html head title body header nav main section article footer div p span a small h1 h2 ol li dl dt dd pre code "
    "details summary figure figcaption table caption thead tbody tr th td button svg g text tspan".split()
) | frozenset(_ALONE)
ATTRIBUTES = frozenset(
    "id class title role lang style hidden tabindex scope type href charset name content http-equiv focusable x y x1 "
    "x2 y1 y2 cx cy r rx dx dy width height points transform viewBox text-anchor fill-opacity data-t data-n data-v "
    "data-sort data-tools data-marks aria-label aria-labelledby aria-hidden aria-live".split()
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_MARKS = re.compile("[\ufdd0-\ufdef]")
_LOST = dict.fromkeys(range(0xFDD0, 0xFDF0), "\ufffd")
_END, _TITLED, _AFTER = "\ufdd0", "\ufdd1", "\ufdd2"
_OPEN = {"\ufdd3": ("strong", ""), "\ufdd4": ("bdi", ' class="name"'), "\ufdd5": ("span", ' class="soft"'),
         "\ufdd6": ("code", "")}  # fmt: skip
_PARTS = re.compile(f"({_TITLED}[^\ufdd0-\ufdef]*{_AFTER}|[\ufdd0-\ufdef])")


class Markup:
    """A piece of a page; made by `element`, and joined to others by `+` or `together`."""

    __slots__ = ("_html",)

    def __init__(self) -> None:
        self._html = ""

    def html(self) -> str:
        """The HTML of the piece."""
        return self._html

    def __add__(self, other: Any) -> Markup:
        return together(self, other)

    def __radd__(self, other: Any) -> Markup:
        return together(other, self)

    def __bool__(self) -> bool:
        return bool(self._html)

    def __format__(self, spec: str) -> str:
        raise TypeError("an element cannot be formatted into a text: give both to element().")


def together(*parts: Any) -> Markup:
    """Elements and texts one after the other; lists of them count as their members, None as nothing."""
    made = Markup()
    made._html = "".join(_rendered(part) for part in parts)
    return made


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """<tag attributes>children</tag>: class_ is class, data_t is data-t, True an attribute alone, None is left out."""
    if tag not in TAGS:
        raise ValueError(f"tag={tag!r} is not allowed on a page: use one of {', '.join(sorted(TAGS))}.")
    head = tag + "".join(_attribute(name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    made = Markup()
    made._html = f"<{head}{_ALONE[tag]}" if tag in _ALONE else f"<{head}>{together(*children).html()}</{tag}>"
    return made


def own_file(tag: str, package: str, name: str) -> tuple[Markup, str]:
    """(<style> or <script> that holds a file of the package as it stands, its hash for a content policy)."""
    content, made = files(package).joinpath(name).read_text(encoding="utf-8"), Markup()
    made._html = f"<{tag}>{content}</{tag}>"
    return made, "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def render(template: str, marks: dict[int, str] = _LOST, **values: Any) -> str:
    """The HTML of a template of the package; every value is escaped, then `marks` become elements of sentences."""
    made = _templates().get_template(template).render(**values)
    return _CONTROL.sub("\ufffd", made.encode("utf-8", "replace").decode("utf-8")).translate(marks)


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # on first use: `import manykernels` stays cheap

    return Environment(loader=PackageLoader("manykernels", ""), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.do"])  # fmt: skip


def strong(text: str) -> str:
    """The text in bold, within a sentence."""
    return f"\ufdd3{text}{_END}"


def name(text: str, title: str = "") -> str:
    """A name that a user gave, within a sentence: isolated, so that its direction changes nothing around it."""
    return f"{f'{_TITLED}{title}{_AFTER}' if title else chr(0xFDD4)}{text}{_END}"


def soft(text: str) -> str:
    """The text in grey, within a sentence."""
    return f"\ufdd5{text}{_END}"


def code(text: str) -> str:
    """The text as code, within a sentence."""
    return f"\ufdd6{text}{_END}"


def plain(text: str) -> str:
    """A sentence without its marks, for attributes."""
    return _PARTS.sub("", text)


def writable(text: str) -> str:
    """The text with lone surrogates, control characters and marks replaced, so that every file can hold it."""
    if text.isascii() and text.isprintable():
        return text
    return _MARKS.sub("\ufffd", _CONTROL.sub("\ufffd", text.encode("utf-8", "replace").decode("utf-8")))


def foreign(value: Any) -> Any:
    """Text of users, alone or in dicts and lists, without marks."""
    if isinstance(value, dict):
        return {foreign(key): foreign(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [foreign(inner) for inner in value]
    return _MARKS.sub("\ufffd", value) if isinstance(value, str) else value


def _rendered(part: Any) -> str:
    if isinstance(part, Markup):
        return part.html()
    if isinstance(part, str):
        return _sentence(part)
    if part is None:
        return ""
    if isinstance(part, list | tuple | Generator):
        return "".join(_rendered(inner) for inner in part)
    raise TypeError(f"{type(part).__name__} on a page: give a text or an element.")


def _sentence(text: str) -> str:
    """The escaped text, with its marks as elements that are always closed in order."""
    out, opened = [], []
    for part in _PARTS.split(text):
        if part[:1] == _TITLED and part[-1:] == _AFTER:
            out.append(f'<bdi class="name" title="{_escaped(part[1:-1])}">')
            opened.append("bdi")
        elif part in _OPEN:
            out.append("<{}{}>".format(*_OPEN[part]))
            opened.append(_OPEN[part][0])
        elif part == _END:
            out.append(f"</{opened.pop()}>" if opened else "")
        else:
            out.append(_escaped(part))
    return "".join([*out, *(f"</{tag}>" for tag in reversed(opened))])


def _attribute(name: str, value: Any) -> str:
    if name not in ATTRIBUTES:
        raise ValueError(f"{name!r} is not allowed as an attribute: use one of {', '.join(sorted(ATTRIBUTES))}.")
    if value is None:
        return ""
    if value is True:
        return f" {name}"
    if name == "href" and not str(value).startswith("#"):
        raise ValueError(f"href={value!r}: a page refers to its own sections only, '#name'.")
    return f' {name}="{_escaped(plain(str(value)))}"'


def _escaped(text: str) -> str:
    return escape(writable(text))

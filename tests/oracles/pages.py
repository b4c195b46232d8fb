"""Reads pieces of the report page, and makes up facts for them."""

import math
import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """The tables of a piece of a page, {caption: (heads, rows of (text, sort number), note)}, its marks and words."""

    def __init__(self, piece):
        super().__init__(convert_charrefs=True)
        self.tables, self.marks, self.words, self.path, self.cell, self.note = {}, [], "", [], None, ""
        self.feed(piece if isinstance(piece, str) else piece.html())

    def handle_starttag(self, tag, given):
        given = dict(given)
        if tag in ("rect", "circle", "line", "polyline"):
            self.marks.append((tag, given))
            return
        self.path.append(tag)
        if tag == "table":
            self.heads, self.rows, self.caption, self.note = [], [], "", ""
        if tag == "tr" and "tbody" in self.path:
            self.rows.append([])
        if tag in ("th", "td"):
            self.cell = ["", None if given.get("data-v") is None else float(given["data-v"])]
            (self.rows[-1] if "tbody" in self.path else self.heads).append(self.cell)
        if tag == "g":
            self.marks.append((tag, given))

    def handle_startendtag(self, tag, given):
        self.marks.append((tag, dict(given)))

    def handle_endtag(self, tag):
        assert self.path.pop() == tag
        if tag in ("th", "td"):
            self.cell = None
        if tag == "table":
            heads = [text for text, _ in self.heads]
            self.tables[self.caption] = heads, [[tuple(cell) for cell in row] for row in self.rows], self.note

    def handle_data(self, data):
        if "svg" in self.path:
            return
        if self.cell is not None:
            self.cell[0] += data
        elif "small" in self.path:
            self.note += data
        elif "caption" in self.path:
            self.caption += data
        else:
            self.words += data + ("" if "p" in self.path else " ")


def plain(sentence):
    """A sentence without the marks of its inline elements."""
    return re.sub("[\ufdd0-\ufdef]", "", sentence)


def said(value, digits=3, sign=False):
    """A number as the page writes it."""
    text = f"{value:+,.{digits}f}" if sign and round(value, digits) else f"{value:,.{digits}f}"
    return ("–" if math.isnan(value) else text).replace("-", "−")


def percent(value, digits=1):
    return f"{100 * value:.{digits}f} %"


def at(scale, value):
    """The place of a value, as a mark has it."""
    return f"{1.5 + 97 * (value - scale[0]) / (scale[1] - scale[0]):.2f}%"


def spread(key, mean, se, low, high):
    return {key: mean, f"{key}_se": se, f"{key}_low": low, f"{key}_high": high}


def a_source(name, share, kernels=1, **own):
    return {"name": name, "share": share, "kernels": kernels, "joined": None, "several": False, **own}


def facts_of(**own):
    plain = {
        "kind": "classification",
        "model": {"covariates": None, "quantile": None, "stationarity": None, "gap": 3e-4, "tol": 1e-3},
        "sampled": {"examples": 60, "used": 60, "asked": False},
        "weights": {"kernels": 3, "sources": {"a": {}, "b": {}, "c": {}}},
        "data": {"examples": 60, "identical": [], "unused": [], "target": {}},
        "score": {"measure": "accuracy", "mean": 0.8, "se": 0.05, "baseline": 0.55, "better": True},
        "sources": {
            "settled": True,
            "measure": "relevance",
            "method": "fast",
            "scoring": "roc_auc",
            "total": 3,
            "rows": [],
            "units": [],
            "left_share": 0.0,
            "groups": [],
            "shared": [],
            "refitted": None,
            "alike": {},
            "sites": [],
        },
    }
    return plain | own

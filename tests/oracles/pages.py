"""Reads pieces of the report page, and makes up facts for them."""

from html.parser import HTMLParser

from manykernels import _pictures
from manykernels.report._report import TOOLS
from manykernels.report._words import MARKS


class Story(HTMLParser):
    """What a page says, as lines: texts, tables with their sort numbers, what charts say of their marks, titles."""

    SAID = ("id", "href", "role", "aria-label", "title", "data-n", "data-t", "data-v")
    ALONE = ("meta", "rect", "circle", "line", "polyline")

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.lines = [], [""]
        self.feed(page)
        self.close()
        assert not self.open

    def __str__(self):
        return "".join(f"{line}\n" for line in (" ".join(line.split()) for line in self.lines) if line)

    def handle_starttag(self, tag, given):
        given = dict(given)
        if tag not in self.ALONE:
            self.open.append(tag)
        if tag in ("th", "td"):
            self.lines[-1] += " | "
        elif tag not in ("span", "bdi", "strong", "code", "small", "text", "tspan", *self.ALONE):
            self.lines.append(tag + " " if tag in ("h1", "h2", "section", "summary") else "")
        said = [" ".join(given[key].split()) for key in self.SAID if given.get(key)]
        said += ["tools"] if "data-tools" in given else []
        if tag in ("circle", "rect", "polyline", "span") and given.get("class") and "shape" not in given["class"]:
            said.insert(0, given["class"])
        self.lines[-1] += f"⟨{'; '.join(said)}⟩" if said else ""

    def handle_endtag(self, tag):
        if tag not in self.ALONE:
            assert self.open.pop() == tag
        self.lines[-1] += " " if tag == "text" else ""

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.lines[-1] += data


def sentence(macro, facts):
    """A sentence of templates/sentences.html.jinja as text."""
    template = _pictures._templates().get_template("report/templates/sentences.html.jinja")
    made = getattr(template.make_module({**TOOLS, "facts": facts}), macro)()
    return " ".join(str(Story(f"<p>{str(made).translate(MARKS)}</p>")).split())


def merged(facts, own):
    """The facts with these in place of theirs, dict by dict."""
    return facts | {
        key: merged(facts[key], value) if isinstance(value, dict) and isinstance(facts.get(key), dict) else value
        for key, value in own.items()
    }


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

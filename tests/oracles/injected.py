"""Text that would break out of a page, and a reader that says what is on a page beside the page's own elements."""

from functools import cache
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, Views, strings
from manykernels.kernels import RBF, Categorical, multi_task

ATTACKS = (
    "<img src=x onerror=hacked=1>",
    "<meta http-equiv=refresh content=0;url=//a.b>",
    "</script><script>hacked=1</script>",
    '"onmouseover="hacked=1"x="',
    "' onload='hacked=1",
    "--><i><!--",
    "javascript:hacked=1",
    "${hacked=1}{{1}}`';hacked=1;//",
    "&lt;i&gt; & &#60;i&#62;",
    "]]></title></style></svg><i>",
    "\ufdd3bold\ufdd0\ufdd0",
    "\ufdd1a\ufdd2\ud800\x00",
)
TAGS = frozenset(
    "html head meta title style body script a header nav main section article footer div p span bdi strong small h1 h2 "
    "ol li dl dt dd pre code details summary figure figcaption table caption thead tbody tr th td button svg g text "
    "tspan rect circle line polyline".split()
)
ALONE = {"meta", "rect", "circle", "line", "polyline"}


class Reader(HTMLParser):
    """The elements of a page in their order, and what is there that no page of ours has."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.strange, self.open, self.texts, self.metas = [], [], [], [], []
        self.feed(page)
        self.close()
        self.strange += [f"{tag} is open" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        given = dict(attributes)
        if tag not in TAGS or len(given) < len(attributes):
            self.strange.append(self.get_starttag_text())
        for name, value in given.items():
            refers = name in ("src", "srcset", "action", "formaction", "style", "data", "xlink:href")
            if name.startswith("on") or refers or name == "href" and not value.startswith("#"):
                self.strange.append(self.get_starttag_text())
        if tag == "meta":
            self.metas.append(given)
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ALONE:
            return
        if not self.open or self.open.pop() != tag:
            self.strange.append(f"</{tag}>")

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def handle_comment(self, data):
        self.strange.append(f"<!--{data}-->")

    def unknown_decl(self, data):
        self.strange.append(f"<![{data}")

    def handle_pi(self, data):
        self.strange.append(f"<?{data}")


def strangers(page):
    """What is on a page of the report that is not the page's own: [] where text stayed text."""
    read = Reader(page)
    texts = {tag: [text for where, text in read.texts if where == tag] for tag in ("style", "script")}
    for tag, end in (("style", "css"), ("script", "js")):
        own = files("manykernels.report").joinpath(f"page.{end}").read_text(encoding="utf-8")
        if read.tags.count(tag) != 1 or "".join(texts[tag]) != own:
            read.strange.append(f"<{tag}> of {texts[tag]}")
    equivalents = [meta["http-equiv"] for meta in read.metas if "http-equiv" in meta]
    return read.strange + ([] if equivalents == ["Content-Security-Policy"] else equivalents)


rng = np.random.default_rng(0)
X = rng.normal(size=(48, 4))
KERNELS = [(attack, RBF(0.5), [k]) for k, attack in enumerate(ATTACKS[:4])]
OPTIONS = dict(cv=2, relevance="fast", stability=1, title=ATTACKS[1], target=ATTACKS[0])


def _labels(classes):
    """So many classes with names such as these."""
    names = np.array([f"{ATTACKS[k % 10]}{k if k >= 10 else ''}" for k in range(classes)])
    return names[np.arange(48) % classes]


def _frame():
    """Columns, categories, texts and ids with such names."""
    frame = pd.DataFrame({ATTACKS[0]: X[:, 0], ATTACKS[2]: X[:, 1]}, index=[f"{ATTACKS[k % 10]}{k}" for k in range(48)])
    frame[ATTACKS[3]] = np.array(ATTACKS[:3])[np.arange(48) % 3]
    frame[ATTACKS[4]] = [f"{ATTACKS[k % 10]} {k}" for k in range(48)]
    return frame


def _labelled(classes, **options):
    """A report of so many classes."""
    y = _labels(classes)
    return MKLClassifier(KERNELS, **options).fit(X, y).report(X, y, **OPTIONS)


def _several_labels():
    both = (X[:, :2] > 0).astype(int)
    return MKLClassifier(KERNELS, multi_class="shared", C=1.0).fit(X, both).report(X, both, **OPTIONS)


def _of_a_frame():
    frame, two = _frame(), _labels(2)
    kernels = [("a", RBF(0.5), [ATTACKS[0]]), (ATTACKS[1], Categorical(), [ATTACKS[3]])]
    sources = {ATTACKS[5]: ["a"], ATTACKS[6]: [ATTACKS[1]]}
    return MKLClassifier(kernels, C=1.0).fit(frame, two).report(frame, two, sources=sources, **OPTIONS)


def _of_views():
    two, ids = _labels(2), {ATTACKS[0]: range(48), ATTACKS[3]: range(40)}
    views = Views({ATTACKS[0]: X[:, :2], ATTACKS[3]: X[:40, 2:]}, ids=ids)
    kernels = [(ATTACKS[0], RBF(0.5)), (ATTACKS[3], RBF(0.5), ATTACKS[3], "zero")]
    return MKLClassifier(kernels, C=1.0).fit(views, two).report(views, two, **OPTIONS)


def _of_texts():
    texts, two = [f"{ATTACKS[k % 10]}{k}" for k in range(48)], _labels(2)
    model = MKLClassifier(strings.Spectrum(2, alphabet="bytes"), C=1.0).fit(texts, two)
    return model.report(texts, two, **OPTIONS)


def _of_tasks():
    two, tasks = _labels(2), np.array(ATTACKS[:2])[np.arange(48) // 2 % 2]
    model = MKLClassifier(multi_task([(ATTACKS[4], RBF(0.5))]), C=1.0).fit(X, two, task=tasks)
    return model.report(X, two, **OPTIONS)


REPORTS = {  # one for each way that names come in
    "2 classes": lambda: _labelled(2, C=1.0),
    "3 classes": lambda: _labelled(3),
    "13 classes": lambda: _labelled(13, C=1.0),
    "labels": _several_labels,
    "frame": _of_a_frame,
    "views": _of_views,
    "number": lambda: MKLRegressor(KERNELS, loss="squared").fit(X, X[:, 0]).report(X, X[:, 0], **OPTIONS),
    "one-class": lambda: MKLOneClass(KERNELS).fit(X).report(X, stability=0, title=ATTACKS[2]),
    "texts": _of_texts,
    "tasks": _of_tasks,
}


@cache
def injected_report(kind):
    """The report of a model whose names are attacks."""
    return REPORTS[kind]()


def hostile_reports():
    """{kind: report} of all of them."""
    return {kind: injected_report(kind) for kind in REPORTS}

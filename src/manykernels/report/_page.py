"""The HTML file of a report: sections of text, pictures and tables, made from the facts."""

from typing import Any

from .._markup import foreign, own_file
from . import _details as details
from . import _rate_views as rate_views
from . import _results as results
from . import _words as words
from ._html import element, gap, name, number, paragraphs, text

_SHORT = {"sure": "How sure", "sources": "Sources", "stability": "Stability", "alignment": "Alignment",
          "settings": "Settings"}  # fmt: skip


def page(facts: dict[str, Any]) -> str:
    """The whole page."""
    facts = foreign(facts)
    (style, style_hash), (script, script_hash) = (
        own_file(tag, __package__, f"page.{end}") for tag, end in (("style", "css"), ("script", "js"))
    )
    sections = [
        ("sure", "How sure is it?", results.sure(facts)),
        ("sources", "Which sources matter?", results.sources(facts)),
        ("stability", "Would other data say the same?", results.stability(facts)),
        ("examples", "Single examples", results.examples(facts)),
        ("kernels", "Kernels", details.kernels(facts)),
        ("alignment", "Which kernels say the same?", details.alignment(facts)),
        ("convergence", "Convergence", details.convergence(facts)),
        ("data", "Data", details.data(facts)),
        ("settings", "Settings, and how to repeat this report", details.settings(facts)),
    ]
    sections = [section for section in sections if section[2]]
    links = [element("li", element("a", _SHORT.get(key, head), href=f"#{key}")) for key, head, _ in sections]
    body = [
        element("section", element("h2", head, id=f"{key}-head"), inner, id=key, aria_labelledby=f"{key}-head")
        for key, head, inner in sections
    ]
    policy = (
        f"default-src 'none'; style-src '{style_hash}'; script-src '{script_hash}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    top = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{text(facts['title'], 120)} – manykernels report"),
        style,
    )
    right = [element("span", text(facts["made"]), class_="made"),
             element("button", "Dark", type="button", id="theme", hidden=True)]  # fmt: skip
    main = element(
        "main",
        element("h1", name(facts["title"], 120)),
        element("div", paragraphs(*words.lead(facts), *rate_views.warnings(facts)), class_="lead"),
        _figures(facts), body, _footer(facts), id="main", tabindex="-1",
    )  # fmt: skip
    whole = element(
        "body",
        element("a", "Skip to the report", class_="skip", href="#main"),
        element("header", element("p", "manykernels report", class_="brand"), element("div", right, class_="right")),
        element("div", element("nav", element("ol", links), aria_label="Contents"), main, class_="page"),
        element("div", id="tip", role="status", aria_live="polite", hidden=True),
        script,
    )
    return f"<!doctype html>{element('html', top, whole, lang='en').html()}\n"


def _figures(facts):
    """The main numbers, at the top of the page."""
    score, model, weights = facts["score"], facts["model"], facts["weights"]
    items = []
    if "why" not in score:
        head = (
            "of held-out examples are predicted correctly"
            if score["measure"] == "accuracy"
            else f"{name(score['measure'], 30)}, held out"
        )
        items.append((words.score_text(facts, score["mean"], score["se"]), head))
        base = "for the covariates alone" if model["covariates"] else "for a guess without the features"
        items.append((words.score_text(facts, score["baseline"]), base))
        if "threshold" in score and score["areas"]["rows"]:
            items.append((number(score["areas"]["rows"][0]["mean"], 3), "area under the ROC curve, held out"))
    if model["gap"] is not None:
        items.append((f"{100 * model['gap']:.1g} %", "from the optimum at most (duality gap)"))
    elif model["stationarity"] is not None:
        items.append((gap(model["stationarity"]), "from a stationary point"))
    items.append((f"{weights['alive']:,} of {weights['kernels']:,}", "kernels have weight"))
    return element("dl", [element("div", element("dt", head), element("dd", value)) for value, head in items],
                   class_="figures")  # fmt: skip


def _footer(facts):
    cost = facts["cost"]
    total = sum(cost.values())
    head = {"score": "held-out scores and relevance", "stability": "stability", "alignment": "alignment",
            "examples": "single examples"}  # fmt: skip
    parts = ", ".join(f"{head[key]} {value:.1f} s" for key, value in cost.items() if value >= 0.05)
    return element(
        "footer",
        paragraphs(
            f"The measurements took {total:.1f} s{f': {parts}' if parts else ''}. This page loads nothing from other "
            "places and sends nothing. Click the header of a column to sort a table; TSV saves the table."
        ),
    )

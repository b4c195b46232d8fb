"""From facts to one HTML file: sections, each of words, a picture and the table behind it."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from . import _details as details
from . import _results as results
from . import _words as words
from ._html import gap, name, text

_SHORT = {"sure": "How sure", "sources": "Sources", "stability": "Stability", "alignment": "Alignment",
          "settings": "Settings"}  # fmt: skip


def page(facts: dict[str, Any]) -> str:
    """The whole page."""
    style, script = (files(__package__).joinpath(f"page.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    sections = [
        ("sure", "How sure is it?", results.sure(facts)),
        ("sources", "Which sources matter?", results.sources(facts)),
        ("stability", "Would other data say the same?", results.stability(facts)),
        ("examples", "Single examples", results.examples(facts)),
        ("kernels", "Kernels", details.kernels(facts)),
        ("alignment", "Which kernels say the same?", details.alignment(facts)),
        ("convergence", "Convergence", details.convergence(facts)),
        ("data", "Data", details.data(facts)),
        ("settings", "Settings, and how to repeat this", details.settings(facts)),
    ]
    sections = [section for section in sections if section[2]]
    links = "".join(f'<li><a href="#{key}">{_SHORT.get(key, head)}</a></li>' for key, head, _ in sections)
    body = "".join(
        f'<section id="{key}" aria-labelledby="{key}-head"><h2 id="{key}-head">{head}</h2>{inner}</section>'
        for key, head, inner in sections
    )
    title = text(facts["title"], 120)
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    lead = "".join(f"<p>{said}</p>" for said in words.lead(facts))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f"<title>{title} – manykernels report</title><style>{style}</style></head><body>"
        '<a class="skip" href="#main">Skip to the report</a>'
        '<header><p class="brand">manykernels report</p><div class="right">'
        f'<span class="made">{text(facts["made"])}</span><button type="button" id="theme" hidden>Dark</button></div>'
        "</header>"
        f'<div class="page"><nav aria-label="Contents"><ol>{links}</ol></nav>'
        f'<main id="main" tabindex="-1"><h1>{name(facts["title"], 120)}</h1><div class="lead">{lead}</div>'
        f"{_figures(facts)}{body}{_footer(facts)}</main></div>"
        '<div id="tip" role="status" aria-live="polite" hidden></div>'
        f"<script>{script}</script></body></html>\n"
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _figures(facts):
    """The few numbers that everybody asks for."""
    score, model, weights = facts["score"], facts["model"], facts["weights"]
    items = []
    if "why" not in score:
        head = (
            "of held-out examples are right"
            if score["measure"] == "accuracy"
            else f"{name(score['measure'], 30)}, held out"
        )
        items.append((words.score_text(facts, score["mean"], score["se"]), head))
        items.append((words.score_text(facts, score["baseline"]), "without looking at the data"))
    if model["gap"] is not None:
        items.append((f"{100 * model['gap']:.1g} %", "from the optimum at most (duality gap)"))
    elif model["stationarity"] is not None:
        items.append((gap(model["stationarity"]), "from stationary"))
    items.append((f"{weights['alive']:,} of {weights['kernels']:,}", "kernels have weight"))
    inner = "".join(f"<div><dt>{head}</dt><dd>{value}</dd></div>" for value, head in items)
    return f'<dl class="figures">{inner}</dl>'


def _footer(facts):
    cost = facts["cost"]
    total = sum(cost.values())
    head = {"score": "held-out scores and relevance", "stability": "stability", "alignment": "alignment",
            "examples": "single examples"}  # fmt: skip
    parts = ", ".join(f"{head[key]} {value:.1f} s" for key, value in cost.items() if value >= 0.05)
    return (
        f"<footer><p>This page took {total:.1f} s to measure{f': {parts}' if parts else ''}. It loads nothing from "
        "anywhere and sends nothing. Tables sort by their heads; TSV saves the one above it.</p></footer>"
    )

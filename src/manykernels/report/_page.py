"""From facts to one HTML file: sections, each of words, a picture and the table behind it."""

from __future__ import annotations

import base64
import hashlib
import math
from importlib.resources import files
from typing import Any

from . import _charts as charts
from . import _words as words
from ._html import (
    Column,
    behind,
    cell,
    clean,
    count,
    decimals,
    figure,
    figures,
    gap,
    name,
    number,
    percent,
    table,
    text,
)

_SHORT = {"sure": "How sure", "sources": "Sources", "stability": "Stability", "alignment": "Alignment",
          "settings": "Settings"}  # fmt: skip


def page(facts: dict[str, Any]) -> str:
    """The whole page."""
    style, script = (files(__package__).joinpath(f"page.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    sections = [
        ("sure", "How sure is it?", _sure(facts)),
        ("sources", "Which sources matter?", _sources(facts)),
        ("stability", "Would other data say the same?", _stability(facts)),
        ("examples", "Single examples", _examples(facts)),
        ("kernels", "Kernels", _kernels(facts)),
        ("alignment", "Which kernels say the same?", _alignment(facts)),
        ("convergence", "Convergence", _convergence(facts)),
        ("data", "Data", _data(facts)),
        ("settings", "Settings, and how to repeat this", _settings(facts)),
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


def _p(*said: str) -> str:
    return "".join(f"<p>{one}</p>" for one in said if one)


def _sure(facts):
    score = facts["score"]
    out = [_p(words.certificate(facts))]
    if "why" in score:
        return "".join([*out, _p(f"Nothing is known of new examples. {text(score['why'], 400)}")])
    folds, base = score["folds"], score["baseline_folds"]
    scale = charts.covering([*folds, *base, score["low"], score["high"]], zero=False)
    accuracy = score["measure"] == "accuracy"
    if accuracy:
        scale = charts.Scale(max(0.0, scale.low - 0.02), min(1.0, scale.high + 0.02))
    out.append(
        _p(
            f"{count(len(folds), 'fold')}: each part of the examples was predicted by a model that had learned from "
            "the others. ± is one standard error, widened for training sets that overlap.",
            words.sampled(facts),
        )
    )

    def row(head, values, mean, se, kind):
        said = [f"fold {k + 1}: {words.score_text(facts, v)}" for k, v in enumerate(values)]
        each = ", ".join(number(v, 3) for v in values)
        return [head, charts.dots(scale, values, mean, kind, said), words.score_text(facts, mean, se),
                f'<span class="soft">{each}</span>']  # fmt: skip

    guess = words.GUESSES[facts["kind"]]
    out.append(
        table(
            [
                Column(""),
                Column("each fold", "graph worth", below=charts.axis(scale, 3, shares=accuracy)),
                Column("mean", "num"),
                Column("folds", "num folds"),
            ],
            [
                row("this model", folds, score["mean"], score["se"], "own"),
                row(guess, base, score["baseline"], None, "base"),
            ],
            f"Scores of held-out examples: {name(score['measure'], 40)}",
            kind="stack score",
        )
    )
    out.append(_told(facts))
    return "".join(out)


def _told(facts):
    score = facts["score"]
    if "confusion" in score:
        classes, counts = score["confusion"]["classes"], score["confusion"]["counts"]
        rows = []
        for k, (label, line) in enumerate(zip(classes, counts, strict=True)):
            total = sum(line) or 1
            cells = [(f'<span class="shade q{round(9 * v / total)}">{v:,}</span>', v) for v in line]
            rows.append([name(label, 30), *cells, percent(line[k] / total, 0)])
        columns = [Column("true ↓ predicted →"), *(Column(name(c, 20), "num") for c in classes), Column("right", "num")]
        return table(columns, rows, "Held-out examples by true and by predicted class", kind="confusion")
    if "points" in score:
        points = [(a, b) for a, b in score["points"]]
        label = "Predictions of held-out examples against their true values; the line is where both are the same"
        shown = f"{len(points):,} of {score['points_total']:,} examples are shown. " if len(points) < score[
            "points_total"] else ""  # fmt: skip
        d = decimals(max(abs(v) for point in points for v in point))
        rows = [[number(a, d), number(b, d), number(b - a, d, True)] for a, b in points[:100]]
        below = behind(
            f"The numbers{f', the first 100 of {len(points)}' if len(points) > 100 else ''}",
            table([Column("true", "num"), Column("predicted", "num"), Column("error", "num")], rows, label),
        )
        caption = (
            f"{shown}Predictions are off by {figures(score['error'])} on average. On the line prediction and truth are "
            "the same."
        )
        return figure(charts.scatter(points, label, "true", "predicted"), caption, below)
    return _p(score.get("confusion_why", ""))


def _sources(facts):
    found = facts["sources"]
    rows, measure, method = found["rows"], found["measure"], found["method"]
    explain = {
        "full": "<strong>Relevance</strong> is what a source is worth on new examples: the mean of what the score "
        "loses when the source is left out and what it gains by it alone. The line is a 95 % interval; where it "
        "does not reach 0 the source is clearly worth something. <strong>Weight</strong> says how much of a source "
        "the fit uses. The two differ where a source fits the training examples without telling anything of new ones, "
        "and where sources stand in for each other: either can go, so neither is missed.",
        "fast": "<strong>Loss when shuffled</strong> is what the score loses on held-out examples when the rows of a "
        "source change places, so that it says nothing of its example any more. The line is a 95 % interval; where it "
        'does not reach 0 the source is clearly used to good effect. relevance="full" also refits without each source. '
        "<strong>Weight</strong> says how much of a source the fit uses, which may be for the training examples alone.",
        None: "<strong>Weight</strong> says how much of a source the fit uses to fit the training examples. It does "
        "not say that the source tells anything about new ones; that needs targets and held-out examples.",
    }[method]
    weight = charts.covering([row["share"] for row in rows])
    columns = [Column("source"), Column("weight", "graph", below=charts.axis(weight, 2, True)), Column("share", "num")]
    if method:
        ends = [row.get(f"{measure}{end}") for row in rows for end in ("", "_low", "_high")]
        worth = charts.covering(ends)
        head = "relevance" if method == "full" else "loss when shuffled"
        columns += [Column(head, "graph worth", below=charts.axis(worth, 3)), Column("± one s.e.", "num")]
    if method == "full":
        columns += [Column(head, "num more") for head in ("left out", "shuffled", "alone")]
    columns.append(Column("kernels", "num more"))
    body = []
    for row in rows:
        line: list[Any] = [
            name(row["name"], 60),
            cell(charts.bar(weight, row["share"], f"{clean(row['name'])}: {percent(row['share'])}"), row["share"]),
            cell(percent(row["share"]), row["share"]),
        ]
        if method:
            mean, se = row.get(measure, math.nan), row.get(f"{measure}_se", math.nan)
            low, high = row.get(f"{measure}_low", math.nan), row.get(f"{measure}_high", math.nan)
            said = f"{clean(row['name'])}: {number(mean, 3, True)}, 95 % from {number(low, 3)} to {number(high, 3)}"
            shown = f"{number(mean, 3, True)} <span class='soft'>± {number(se, 3)}</span>" if mean == mean else (
                "<span class='soft'>not measured</span>")  # fmt: skip
            line += [cell(charts.interval(worth, low, mean, high, said), mean), cell(shown, mean)]
        if method == "full":
            values = [row.get(key, math.nan) for key in ("drop", "permute", "alone")]
            line += [cell(number(v, 3, key < 2), v) for key, v in enumerate(values)]
        body.append([*line, cell(f"{row['kernels']:,}", row["kernels"])])
    note = ""
    if found["total"] > len(rows):
        note = (
            f"{len(rows)} of {found['total']:,} sources; the others, less relevant or not measured, hold "
            f"{percent(found['left_share'])} of the weight."
        )
    title = f"Sources, the {'most relevant' if method else 'heaviest'} first"
    out = [_p(explain), table(columns, body, title, note=note, tools=True, kind=f"stack {'four' if method else ''}")]
    for group in found["groups"]:
        out.append(
            _p(
                f"{words._list([name(one, 40) for one in group['names']])} stand in for each other: one of them can go "
                f"at little cost, but without all of them the score falls by {number(group['drop'], 3)} "
                f"± {number(group['drop_se'], 3)}."
            )
        )
    return "".join([*out, _classes(facts)])


def _classes(facts):
    found = facts["weights"].get("classes")
    if not found:
        return ""
    rows = [
        [
            name(source, 50),
            *((f'<span class="shade q{min(9, round(9 * v))}">{percent(v, 0)}</span>', v) for v in shares),
        ]
        for source, shares in zip(found["sources"], found["shares"], strict=True)
    ]
    few = len(found["names"])
    notes = [f"{few} of {found['total']} classes."] if found["total"] > few else []
    notes += [f"{len(rows)} of {len(facts['weights']['sources']):,} sources, the heaviest."] if len(rows) < len(
        facts["weights"]["sources"]) else []  # fmt: skip
    columns = [Column("source"), *(Column(name(c, 20), "num") for c in found["names"])]
    return behind(
        "Weights by class",
        table(columns, rows, "Share of each source in the weights of each class", note=" ".join(notes), tools=True),
    )


def _kernels(facts):
    weights = facts["weights"]
    rows = weights["rows"]
    if weights["kernels"] == len(weights["sources"]):
        return ""  # each source is a kernel, and has its row
    scale = charts.covering([row["share"] for row in rows])
    columns = [Column("kernel"), Column("weight", "graph", below=charts.axis(scale, 3, True)), Column("share", "num"),
               Column("source", "more")]  # fmt: skip
    body = []
    for row in rows:
        line = [
            name(row["name"], 60),
            cell(charts.bar(scale, row["share"], f"{clean(row['name'])}: {percent(row['share'])}"), row["share"]),
            cell(percent(row["share"]), row["share"]),
        ]
        body.append([*line, name(row["source"] or "–", 40)])
    left = weights["alive"] - len(rows)
    note = ""
    if left > 0:
        rest = 1.0 - sum(row["share"] for row in rows)
        note = f"The {len(rows)} heaviest; {left:,} more have weight and hold {percent(rest)} of it."
    none = weights["kernels"] - weights["alive"]
    said = f"{count(none, 'kernel has', 'kernels have')} no weight at all." if none else "All kernels have weight."
    said += " Shares are those of the weights' sum; of several classes, the mean." if "classes" in weights else ""
    return _p(said) + table(columns, body, "Kernels, the heaviest first", note=note, tools=True, kind="stack")


def _stability(facts):
    found = facts["stability"]
    if "why" in found:
        return _p(text(found["why"], 400))
    rows = found["rows"]
    scale = charts.covering([row[key] for row in rows for key in ("low", "high", "share")])
    columns = [
        Column("source"),
        Column("share of the weights", "graph worth", below=charts.axis(scale, 3, True)),
        Column("90 % within", "num"),
        Column("all data", "num"),
        Column("has weight", "num more"),
    ]
    body = []
    for row in rows:
        ends = f"90 % from {percent(row['low'])} to {percent(row['high'])}"
        said = f"{clean(row['name'])}: median {percent(row['median'])}, {ends}"
        picture = charts.interval(scale, row["low"], row["median"], row["high"], said, row["share"])
        body.append(
            [
                name(row["name"], 60),
                cell(picture, row["median"]),
                cell(f"{100 * row['low']:.1f}–{100 * row['high']:.1f} %", row["median"]),
                cell(percent(row["share"]), row["share"]),
                cell(percent(row["selected"], 0), row["selected"]),
            ]
        )
    left = found["alive"] - len(rows)
    note = f"The {len(rows)} heaviest; {left:,} more have weight in some sample." if left > 0 else ""
    return _p(
        f"The model was fitted again to {found['samples']} samples drawn with replacement from the data. The dot is "
        "the median share of the weights, the line holds 90 % of the samples, the upright stroke is the share on all "
        "data. A short line says that the weight is well determined, not that the source is relevant.",
        words.sampled(facts),
    ) + table(columns, body, "Shares of the weights over samples", note=note, tools=True, kind="stack three")


def _alignment(facts):
    found = facts["alignment"]
    if "why" in found:
        return _p(text(found["why"], 400))
    names, values, target = found["names"], found["values"], found["target"]
    label = "Centred alignments between kernels"
    scale = charts.covering(target or [])
    columns = [Column("", "num"), Column("kernel")]
    columns += [Column("with the target", "graph", below=charts.axis(scale, 3)), Column("", "num")] if target else []
    rows = []
    for k, called in enumerate(names):
        line: list[Any] = [(str(k + 1), k + 1), name(called, 50)]
        if target:
            line += [cell(charts.bar(scale, target[k]), target[k]), cell(number(target[k], 2), target[k])]
        rows.append(line)
    key = table(columns, rows, "Kernels in the order of the picture", tools=True)
    inner = [[str(k + 1), *(number(v, 2) for v in row)] for k, row in enumerate(values)]
    heads = [Column("", "num"), *(Column(str(k + 1), "num") for k in range(len(names)))]
    note = (
        f"{len(names)} of {found['total']:,} kernels, {'the best aligned with the target' if target else 'the first'}."
    )
    picture = charts.heat_map(values, [clean(n) for n in names], label)
    caption = (
        "The stronger the colour, the more two kernels liken the same examples to each other (1: the same, 0: "
        "unrelated). Alike kernels are neighbours. " + (note if len(names) < found["total"] else "")
    )
    below = behind("The numbers", table(heads, inner, label, kind="tight"))
    return f'<div class="pair">{figure(picture, caption, below)}{key}</div>'


def _examples(facts):
    found = facts["examples"]
    if "why" in found:
        return _p(text(found["why"], 400))
    every = [part["value"] for row in found["rows"] for part in row["parts"]]
    every += [row["others"]["value"] for row in found["rows"]]
    reach = max([abs(v) for v in every if math.isfinite(v)], default=1.0) or 1.0
    scale, d = charts.Scale(-reach, reach), decimals(reach)
    cards = []
    for row in found["rows"]:
        called = f"Row {row['row']}" + (f" · {name(row['id'], 40)}" if row["id"] is not None else "")
        true = "" if row["true"] is None else f" · true {_value(row['true'])}"
        told = f" · predicted {name(row['prediction'], 30) if row['prediction'] else number(row['sum'], d)}"
        told = told if facts["kind"] != "one-class" else ""
        lines = [
            [name(p["name"], 40), charts.bar(scale, p["value"]), number(p["value"], d, True)] for p in row["parts"]
        ]
        if row["others"]["count"]:
            more = f'<span class="soft">{count(row["others"]["count"], "other")}</span>'
            value = row["others"]["value"]
            lines.append([more, charts.bar(scale, value), number(value, d, True)])
        value = row["intercept"]
        lines.append(['<span class="soft">intercept</span>', "", number(value, d, True)])
        lines.append(["<strong>sum</strong>", "", f"<strong>{number(row['sum'], d, True)}</strong>"])
        columns = [Column("source", sort=False), Column("adds", "graph"), Column("", "num")]
        title = f"{called}{told}{true}"
        cards.append(f'<article class="card">{table(columns, lines, title, note=text(row["why"]))}</article>')
    what = {"regression": "prediction", "one-class": "decision, which is negative outside,"}.get(facts["kind"])
    what = what or name(found["label"], 80)
    return (
        _p(
            f"Each {what} is exactly the sum of what the sources add to it and of an intercept. Blue to the right "
            "raises it, orange to the left lowers it. These are decisions of the fitted model on rows of the data, "
            "which it may have learned from.",
        )
        + f'<div class="cards">{"".join(cards)}</div>'
    )


def _value(value):
    return figures(value) if isinstance(value, float) else name(value, 30)


def _convergence(facts):
    found = facts["convergence"]
    if "why" in found:
        return _p(text(found["why"], 400))
    runs = [(f"class {clean(run['class'])}, " if run["class"] is not None else "",
             [(s["step"], s["gap"]) for s in run["steps"]]) for run in found["runs"]]  # fmt: skip
    up = "relative duality gap" if found["measure"] == "gap" else "distance from stationary"
    label = f"The {up} after each step of the fit"
    rows = [
        [called + str(s["step"]), (gap(s["gap"]), s["gap"]), (f"{s['time']:.3f}", s["time"])]
        for (called, _), run in zip(runs, found["runs"], strict=True)
        for s in run["steps"]
    ][:200]
    below = behind("The numbers", table([Column("step"), Column("gap", "num"), Column("seconds", "num")], rows, label))
    more = f" {len(runs)} of {found['total']} classes, the longest fits." if found["total"] > len(runs) else ""
    many = f" One curve for each of {len(runs)} classes; the longest fit in colour." if len(runs) > 1 else ""
    seconds = f"{found['seconds']:.2f} s in all." if found["seconds"] < 100 else f"{found['seconds']:.0f} s in all."
    return _p(
        "After every step the objective is compared with a lower bound that no model can beat; the gap between them "
        "is the proof of how good the fit is."
    ) + figure(charts.descent(runs, found["tol"], label, up), f"{label}; {seconds}{many}{more}", below)


def _data(facts):
    data = facts["data"]
    out = [_p(f"{count(data['examples'], 'example')}: {text(data['form'])}.")]
    target = data.get("target", {})
    if target.get("kind") == "classes":
        most = max(c["count"] for c in target["classes"])
        scale = charts.Scale(0, most)
        rows = [[name(c["name"], 40), charts.bar(scale, c["count"]), (f"{c['count']:,}", c["count"]),
                 (percent(c["count"] / data["examples"]), c["count"])] for c in target["classes"]]  # fmt: skip
        note = f"{len(rows)} of {target['total']:,} classes." if target["total"] > len(rows) else ""
        head = name(facts["target"]) if facts.get("target") else "class"
        columns = [Column(head), Column("", "graph"), Column("examples", "num"), Column("share", "num")]
        out.append(table(columns, rows, "Classes", note=note))
    elif target.get("kind") == "numbers":
        rows = [[name(facts.get("target") or "target"), charts.histogram(target["counts"]), *_middle(target)]]
        out.append(table([Column("target"), Column("", "graph"), *_MIDDLE], rows, "The target"))
    if data["parts"] and data["what"] == "view":
        rows = [[name(v["name"], 60), text(v["kind"]), (f"{v['missing']:,}", v["missing"])] for v in data["parts"]]
        out.append(table([Column("view"), Column("holds"), Column("lack it", "num")], rows, "Views", tools=True))
    elif data["parts"]:
        out.append(_columns(data))
    return "".join(out)


_MIDDLE = [Column("mean", "num"), Column("s.d.", "num"), Column("least", "num more"), Column("greatest", "num more")]


def _middle(column):
    values = (column["mean"], column["sd"], column["low"], column["high"])
    return [cell(figures(v), v) for v in values]


def _columns(data):
    rows = []
    for column in data["parts"]:
        lost = column["missing"]
        first = [
            name(column["name"], 50),
            charts.histogram(column.get("counts", [])),
            cell(f"{lost:,}" if lost else "–", lost),
        ]
        if column["kind"] == "numbers":
            rows.append([*first, *_middle(column)])
        elif column["kind"] == "categories":
            common = ", ".join(name(c, 16) for c in column["common"])
            rows.append([*first, f'<span class="soft">{column["different"]:,} categories</span>', common, "", ""])
        else:
            rows.append([*first, '<span class="soft">empty</span>', "", "", ""])
    note = f"The first {len(rows)} of {data['total']:,} columns." if data["total"] > len(rows) else ""
    columns = [Column("column"), Column("values", "graph"), Column("missing", "num"), *_MIDDLE]
    return table(columns, rows, "Columns", note=note, tools=True, kind="stack data")


def _settings(facts):
    model = facts["model"]
    rows = [[key, f"<code>{text(value, 120)}</code>"] for key, value in model["parameters"].items()]
    rows += [["support", f"{model['support']:,} examples"], ["steps", f"{model['steps']:,}"]]
    versions = [[text(key), text(value)] for key, value in facts["versions"].items()]
    code = "\n".join(facts["reproduce"])
    return (
        f'<pre tabindex="0" aria-label="How to repeat this"><code>{text_block(code)}</code></pre><div class="pair">'
        + table([Column("setting"), Column("value")], rows, text(model["estimator"]), kind="plain")
        + table([Column("of"), Column("version")], versions, "Versions", kind="plain")
        + "</div>"
    )


def text_block(code: str) -> str:
    """Lines of code, escaped and kept as lines."""
    return "\n".join(line[: len(line) - len(line.lstrip(" "))] + text(line, 400) for line in code.split("\n"))


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

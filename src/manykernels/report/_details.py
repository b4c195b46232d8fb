"""HTML of the detailed sections: kernels, alignment, convergence, data and settings."""

from typing import Any

from .._pictures import short
from . import _charts as charts
from . import _words as words
from ._case import MAX_INSIDE
from ._html import (
    Column,
    behind,
    cell,
    clean,
    code,
    count,
    element,
    figure,
    figures,
    gap,
    name,
    number,
    paragraphs,
    percent,
    soft,
    strong,
    table,
    text,
    together,
)

METRIC = "The metric of {} was learned: the share of each column in the distances.", "Columns in the learned metric"
SHARES = (
    "Inside {}: the share of each column in the mean size of the Shapley values, which divide decisions among columns "
    "(inspect.feature_shares of some of the examples; an absent column adds nothing).",
    "Columns inside the source",
)


def kernels(facts):
    weights = facts["weights"]
    rows = weights["rows"]
    learned = [_inside(source, shares, METRIC) for source, shares in weights.get("metric", {}).items()]
    inside = [_inside(source, shares, SHARES) for source, shares in weights.get("columns", {}).items()]
    if inside and len(weights["sources"]) > MAX_INSIDE:
        learned.append(paragraphs(f"The columns of the {MAX_INSIDE} heaviest of {len(weights['sources']):,} sources:"))
    learned += inside
    if weights["kernels"] == len(weights["sources"]):
        return together(learned)  # the section on sources already has a row for each kernel
    scale = charts.covering([row["share"] for row in rows])
    columns = [Column("kernel"), Column("weight", "graph", below=charts.axis(scale, 3, True)), Column("share", "num"),
               Column("source", "more")]  # fmt: skip
    body = []
    for row in rows:
        share = percent(row["share"])
        line = [
            name(row["name"], 60),
            cell(charts.bar(scale, row["share"], f"{short(clean(row['name']))}: {share}"), row["share"]),
            cell(share, row["share"]),
        ]
        body.append([*line, name(row["source"] or "–", 40)])
    left = weights["alive"] - len(rows)
    note = ""
    if left > 0:
        rest = 1.0 - sum(row["share"] for row in rows)
        note = f"The {len(rows)} heaviest kernels; {left:,} more hold {percent(rest)} of the weight."
    none = weights["kernels"] - weights["alive"]
    said = f"{count(none, 'kernel has', 'kernels have')} no weight at all." if none else "All kernels have weight."
    said += " Each share is the mean over the classes." if "classes" in weights else ""
    shown = table(columns, body, "Kernels, the heaviest first", note=note, tools=True, kind="stack")
    return together([paragraphs(said), shown, *learned])


def _inside(source, shares, words):
    """The columns of a source, by their share in the distances between examples or in the decisions."""
    scale = charts.covering([share for _, share in shares])
    columns = [Column("column"), Column("share", "graph", below=charts.axis(scale, 3, True)), Column("", "num")]
    rows = [
        [name(column, 60), cell(charts.bar(scale, share, percent(share)), share), cell(percent(share), share)]
        for column, share in shares
    ]
    said, title = words
    return paragraphs(said.format(strong(name(source, 40)))) + table(columns, rows, title, tools=True, kind="stack")


def alignment(facts):
    found = facts["alignment"]
    if "why" in found:
        return paragraphs(text(found["why"], 400))
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
    key = table(columns, rows, "Kernels, as numbered in the picture", tools=True)
    inner = [[str(k + 1), *(number(v, 2) for v in row)] for k, row in enumerate(values)]
    heads = [Column("", "num"), *(Column(str(k + 1), "num") for k in range(len(names)))]
    note = (
        f"{len(names)} of {found['total']:,} kernels, {'the best aligned with the target' if target else 'the first'}."
    )
    picture = charts.heat_map(values, [clean(n) for n in names], label)
    caption = (
        "A strong colour means that two kernels find the same examples similar (1: identical, 0: unrelated). Similar "
        "kernels are next to each other. " + (note if len(names) < found["total"] else "")
    )
    below = behind("The numbers", table(heads, inner, label, kind="tight"))
    return element("div", figure(picture, caption, below), key, class_="pair")


def convergence(facts):
    found = facts["convergence"]
    if "why" in found:
        return paragraphs(text(found["why"], 400))
    runs = [(f"class {clean(run['class'])}, " if run["class"] is not None else "",
             [(s["step"], s["gap"]) for s in run["steps"]]) for run in found["runs"]]  # fmt: skip
    up = "relative duality gap" if found["measure"] == "gap" else "distance from a stationary point"
    label = f"The {up} after each step of the fit"
    rows = [
        [called + str(s["step"]), (gap(s["gap"]), s["gap"]), (f"{s['time']:.3f}", s["time"])]
        for (called, _), run in zip(runs, found["runs"], strict=True)
        for s in run["steps"]
    ][:50]
    below = behind("The numbers", table([Column("step"), Column("gap", "num"), Column("seconds", "num")], rows, label))
    more = f" Shown are the {len(runs)} longest fits of {found['total']} classes." if found["total"] > len(runs) else ""
    many = f" Each of {len(runs)} classes has a curve; the longest fit is in colour." if len(runs) > 1 else ""
    seconds = f"{found['seconds']:.2f} s in all." if found["seconds"] < 100 else f"{found['seconds']:.0f} s in all."
    return paragraphs(
        "After every step the fit compares the objective with a lower bound that no model can beat. The gap between "
        "the two proves how close the fit is to the optimum."
    ) + figure(charts.descent(runs, found["tol"], label, up), f"{label}; {seconds}{many}{more}", below)


def data(facts):
    data = facts["data"]
    out = [paragraphs(f"{count(data['examples'], 'example')}: {text(data['form'])}.")]
    target = data.get("target", {})
    if target.get("kind") == "classes":
        most = max(c["count"] for c in target["classes"])
        scale = charts.Scale(0, most)
        rows = [[name(c["name"], 40), charts.bar(scale, c["count"]), (f"{c['count']:,}", c["count"]),
                 (percent(c["count"] / data["examples"]), c["count"])] for c in target["classes"]]  # fmt: skip
        note = f"{len(rows)} of {target['total']:,} classes." if target["total"] > len(rows) else ""
        head = name(facts["target"]) if facts.get("target") else "class"
        columns = [Column(head), Column("", "graph", unseen="bar"), Column("examples", "num"), Column("share", "num")]
        out.append(table(columns, rows, "Classes", note=note))
    elif target.get("kind") == "times":
        rows = [[part["name"], cell(f"{part['examples']:,}", part["examples"]), charts.histogram(part["counts"]),
                 *_middle(part)] for part in target["parts"]]  # fmt: skip
        columns = [Column("times"), Column("examples", "num"), Column("values", "graph"), *_MIDDLE]
        note = "An event was seen at its time; a censored example was last seen without one."
        out.append(table(columns, rows, "The target", note=note))
    elif target.get("kind") == "numbers":
        rows = [[name(facts.get("target") or "target"), charts.histogram(target["counts"]), *_middle(target)]]
        out.append(table([Column("target"), Column("values", "graph"), *_MIDDLE], rows, "The target"))
    if data["parts"] and data["what"] in _TABLES:
        what, lost, head = _TABLES[data["what"]]
        rows = [[name(v["name"], 60), text(v["kind"]), (f"{v['missing']:,}", v["missing"])] for v in data["parts"]]
        out.append(table([Column(what), Column("holds"), Column(lost, "num")], rows, head, tools=True))
    elif data["parts"]:
        out.append(_columns(data))
    out.append(paragraphs(words.identical(facts), words.unused(facts)))
    return together(out)


_TABLES = {"view": ("view", "lack it", "Views"), "side": ("side", "in no pair", "The two sides of the pairs")}
_MIDDLE = [Column("mean", "num"), Column("s.d.", "num"), Column("minimum", "num more"), Column("maximum", "num more")]


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
            rows.append([*first, soft(f"{column['different']:,} categories"), common, "", ""])
        elif column["kind"] == "texts":
            lengths = f"{column['shortest']:,} to {column['longest']:,} letters"
            rows.append([*first, soft(f"{column['different']:,} texts"), lengths, "", ""])
        else:
            rows.append([*first, soft("empty"), "", "", ""])
    note = f"The first {len(rows)} of {data['total']:,} columns." if data["total"] > len(rows) else ""
    columns = [Column("column"), Column("values", "graph"), Column("missing", "num"), *_MIDDLE]
    return table(columns, rows, "Columns", note=note, tools=True, kind="stack data")


def settings(facts):
    model = facts["model"]
    rows = [[key, code(text(value, 120))] for key, value in model["parameters"].items()]
    rows += [["support", f"{model['support']:,} examples"], ["steps", f"{model['steps']:,}"]]
    versions = [[text(key), text(value)] for key, value in facts["versions"].items()]
    lines = element("code", "\n".join(facts["reproduce"]))
    return together(
        element("pre", lines, tabindex=0, role="region", aria_label="How to repeat this"),
        element(
            "div",
            table([Column("setting"), Column("value")], rows, text(model["estimator"]), kind="plain"),
            table([Column("package"), Column("version")], versions, "Versions", kind="plain"),
            class_="pair",
        ),
    )

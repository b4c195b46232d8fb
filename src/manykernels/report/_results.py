"""HTML of the main sections: scores, sources, stability and single examples."""

import math
from typing import Any

from .._pictures import short
from ..inspect.sources import Shared
from . import _charts as charts
from . import _covariate_table as covariate_table
from . import _rate_views as rate_views
from . import _survival as survival
from . import _words as words
from ._case import MAX_SOURCES
from ._html import (
    Column,
    behind,
    cell,
    clean,
    count,
    decimals,
    element,
    figure,
    figures,
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
from ._worth import certain, worth_of

MAX_SITE_UNITS = 4  # columns of the table of groups


def sure(facts):
    score = facts["score"]
    out = [paragraphs(words.certificate(facts))]
    if "why" in score:
        return together(out, paragraphs(f"There is no score on new examples. {text(score['why'], 400)}"))
    folds, base = score["folds"], score["baseline_folds"]
    scale = charts.covering([*folds, *base, score["low"], score["high"]], zero=False)
    accuracy = score["measure"] == "accuracy"
    if accuracy:
        scale = charts.Scale(max(0.0, scale.low - 0.02), min(1.0, scale.high + 0.02))
    out.append(
        paragraphs(
            f"{count(len(folds), 'fold')}: a model that learned from the other folds predicted the examples of each "
            "fold. ± is one standard error, which allows for the overlap of the training sets.",
            words.sampled(facts),
        )
    )

    def row(head, values, mean, se, kind):
        said = [f"fold {k + 1}: {words.score_text(facts, v)}" for k, v in enumerate(values)]
        each = ", ".join(number(v, 3) for v in values)
        return [head, charts.dots(scale, values, mean, kind, said), words.score_text(facts, mean, se),
                soft(each)]  # fmt: skip

    guess = words.guess(facts)
    out.append(
        table(
            [
                Column("", unseen="what"),
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
    out += [rate_views.searched(facts), _told(facts), rate_views.rates(facts)]
    return together(out)


def _told(facts):
    score = facts["score"]
    if "confusion" in score:
        classes, counts = score["confusion"]["classes"], score["confusion"]["counts"]
        rows = []
        for k, (label, line) in enumerate(zip(classes, counts, strict=True)):
            total = sum(line) or 1
            cells = [(element("span", f"{v:,}", class_=f"shade q{round(9 * v / total)}"), v) for v in line]
            rows.append([name(label, 30), *cells, percent(line[k] / total, 0)])
        columns = [Column("true ↓ predicted →"), *(Column(name(c, 20), "num") for c in classes), Column("right", "num")]
        caption = "Held-out examples by true and by predicted class"
        return rate_views.moved(score) + table(columns, rows, caption, kind="confusion")
    if "points" in score:
        points = [(a, b) for a, b in score["points"]]
        label = "Predictions of held-out examples against their true values; on the line, both are equal"
        shown = f"{len(points):,} of {score['points_total']:,} examples are shown. " if len(points) < score[
            "points_total"] else ""  # fmt: skip
        d = decimals(max(abs(v) for point in points for v in point))
        rows = [[number(a, d), number(b, d), number(b - a, d, True)] for a, b in points[:100]]
        below = behind(
            f"The numbers{f', the first 100 of {len(points)}' if len(points) > 100 else ''}",
            table([Column("true", "num"), Column("predicted", "num"), Column("error", "num")], rows, label),
        )
        q = facts["model"]["quantile"]
        said = f"The mean absolute error is {figures(score['error'])}."
        if q is not None:
            said = f"{percent(score['below'])} of the values lie at or below their prediction; q = {q:g} asks for "
            said += f"{percent(q)}."
        caption = f"{shown}{said} On the line, the prediction equals the true value."
        return figure(charts.scatter(points, label, "true", "predicted"), caption, below)
    if "survival" in score:
        return survival.shown(score["survival"])
    return paragraphs(score.get("confusion_why", ""))


_HEADS = {"drop": "left out", "permute": "shuffled", "alone": "alone"}
_EXPLAINED = {
    "relevance": f"{strong('Relevance')} says how much a source helps on new examples. It is the mean of two numbers: "
    "the loss in {score} when the model is fitted again without the source, and the gain from the source alone. The "
    "line is a 95 % interval. The dot is filled if the line lies above 0, the model is not better without the source, "
    "and the whole model is clearly better than a guess. The model clearly needs such a source if the interval of the "
    "loss without it lies above 0.",
    "permute": f"{strong('Shuffled')} says how much the model uses a source on new examples: the loss in {{score}} "
    "when the values of the source change places between examples. The line is a 95 % interval. The model clearly uses "
    "a source if the line lies above 0 and the whole model is clearly better than a guess. "
    'relevance="full" also fits the model without the source.',
    "share": "The relevance of sources on new examples was not measured: it needs targets and held-out examples.",
}
_JOINED = (
    "Sources that share half of the columns of the smaller one, or their values, are left out together: without one, "
    "the model still sees these values."
)
_COLUMNS = (
    "Kernels share columns here, so that the columns are the sources: a column is left out, or shuffled, in every "
    "kernel that sees it. The weight of a column is that of the kernels that see it alone."
)
_LIGHTEST = "The lightest sources are left out together, to limit the time."
_SINGLY = "Single sources of a group were left out too, which says little if other sources see their columns."
_WEIGHT = (
    f"{strong('Weight')} says how much the fit uses a source. A heavy source may fit the training examples without "
    "helping on new ones. If sources can replace each other, the model needs only one of them: leaving out one costs "
    "little, even if it costs much to leave out all of them."
)


def _score_called(scoring):
    """A score in words."""
    if scoring == "roc_auc":
        return (
            "area under the ROC curve (the probability that an example of the second class has a higher decision than "
            "an example of the first)"
        )
    return name(scoring, 40) if scoring else "score"


def sources(facts):
    found = facts["sources"]
    measure, method = found["measure"], found["method"]
    joined = [unit for unit in found["units"] if unit["why"]]
    kinds = {unit["why"] for unit in joined}
    said = (
        [words.shuffled(facts).strip()] * (found["refitted"] is not None)
        + [_COLUMNS] * any(row.get("several") for row in found["rows"])
        + [_JOINED] * ("columns" in kinds)
        + [_LIGHTEST] * ("rest" in kinds)
        + [_SINGLY] * ("columns" in kinds and found["refitted"] is None)
    )
    explain = " ".join([_EXPLAINED[measure].replace("{score}", _score_called(found["scoring"])), *said, _WEIGHT])
    rows = found["rows"]
    every = sorted([*joined[:MAX_SOURCES], *rows], key=lambda row: worth_of(row, measure))
    weight = charts.covering([row["share"] for row in every])
    columns = [Column("source"), Column("weight", "graph", below=charts.axis(weight, 2, True)), Column("share", "num")]
    if method:
        ends = [row.get(f"{measure}{end}") for row in every for end in ("", "_low", "_high")]
        worth = charts.covering(ends)
        head = "relevance" if measure == "relevance" else _HEADS[measure]
        columns += [Column(head, "graph worth", below=charts.axis(worth, 3)), Column("± one s.e.", "num")]
    more = ("drop", "permute", "alone") if method and measure == "relevance" else ()
    columns += [Column(_HEADS[key], "num more") for key in more]
    several = any(row["kernels"] > 1 for row in every)
    columns += [Column("kernels", "num more")] if several else []
    body: list[Any] = []
    sure = certain(found)
    for row in every:
        share = percent(row["share"])
        line: list[Any] = [
            words.called(row) if "members" in row else name(row["name"], 60),
            cell(charts.bar(weight, row["share"], f"{short(clean(row['name']))}: {share}"), row["share"]),
            cell(share, row["share"]),
        ]
        if method:
            mean, se = row.get(measure, math.nan), row.get(f"{measure}_se", math.nan)
            low, high = row.get(f"{measure}_low", math.nan), row.get(f"{measure}_high", math.nan)
            ends = f"95 % from {number(low, 3)} to {number(high, 3)}"
            said = f"{short(clean(row['name']))}: {number(mean, 3, True)}, {ends}"
            lost = "only shuffled" if "permute" in row else "not measured"
            lost = "by its columns" if row.get("several") else "not by itself" if row.get("joined") else lost
            shown = f"{number(mean, 3, True)} {soft(f'± {number(se, 3)}')}" if mean == mean else soft(lost)
            line += [cell(charts.interval(worth, low, mean, high, said, row["name"] in sure), mean), cell(shown, mean)]
        line += [cell(number(v, 3, key != "alone"), v) for key in more for v in [row.get(key, math.nan)]]
        body.append([*line, cell(f"{row['kernels']:,}", row["kernels"])] if several else line)
    note = ""
    if found["total"] > len(rows):
        left = f", and {len(joined) - MAX_SOURCES:,} groups of sources more" if len(joined) > MAX_SOURCES else ""
        note = (
            f"{len(rows)} of {found['total']:,} sources; the others are less relevant or not measured, and hold "
            f"{percent(found['left_share'])} of the weight{left}."
        )
    first = {"relevance": "the most relevant first", "permute": "the largest loss first", "share": "the heaviest first"}
    title = f"Sources, {first[measure]}"
    out = [
        covariate_table.coefficients(facts),
        paragraphs(explain),
        table(columns, body, title, note=note, tools=True, kind=f"stack {'four' if method else ''}"),
    ]
    for group in found["groups"]:
        out.append(
            paragraphs(
                f"{words._list([name(one, 40) for one in group['names']])} can replace each other: for none of them is "
                "it clear that the score falls without it, but without all of them it falls by "
                f"{number(group['drop'], 3)} ± {number(group['drop_se'], 3)}."
            )
        )
    for one in found["shared"]:
        out.append(paragraphs(f"{Shared(**one).said(lambda other: name(other, 40))}."))
    return together(out, _sites(facts), paragraphs(words.identical(facts)), _classes(facts))


def _sites(facts):
    """The scores of each held-out group, and what the most relevant units are worth there."""
    found = facts["sources"]
    if not found["sites"]:
        return None
    units = [unit["name"] for unit in found["units"] if unit["name"] in found["sites"][0]["relevance"]][:MAX_SITE_UNITS]
    columns = [Column("group"), Column("examples", "num"), Column("this model", "num"), Column("guess", "num")]
    body = [
        [name(row["name"], 40), cell(f"{row['examples']:,}", row["examples"]),
         *(cell(words.score_text(facts, row[key]), row[key]) for key in ("score", "baseline")),
         *(cell(number(row["relevance"][unit], 3, True), row["relevance"][unit]) for unit in units)]
        for row in found["sites"]
    ]  # fmt: skip
    worth = "relevance" if found["measure"] == "relevance" else "loss when shuffled"
    said = (
        "Each group was held out in turn: a model that learned from the other groups predicted it. The columns on the "
        f"right have the {worth} of the first sources: if it is above 0 in all groups, it is not owed to one of them."
    )
    columns += [Column(short(clean(unit)), "num") for unit in units]
    return together([paragraphs(said), table(columns, body, "Each group held out", tools=True)])


def _classes(facts):
    found = facts["weights"].get("classes")
    if not found:
        return together()
    rows = [
        [
            name(source, 50),
            *((element("span", percent(v, 0), class_=f"shade q{min(9, round(9 * v))}"), v) for v in shares),
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


def stability(facts):
    found = facts["stability"]
    if "why" in found:
        return paragraphs(text(found["why"], 400))
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
        said = f"{short(clean(row['name']))}: median {percent(row['median'])}, {ends}"
        picture = charts.interval(scale, row["low"], row["median"], row["high"], said, row["low"] > 0, row["share"])
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
    note = f"The {len(rows)} heaviest sources; {left:,} more have weight in some sample." if left > 0 else ""
    return paragraphs(
        f"The model was fitted again to {found['samples']} samples, drawn from the data with replacement. The dot is "
        "the median share of the weights, the line covers 90 % of the samples, and the vertical tick is the share on "
        "all data. A short line means that the weight is well determined, not that the source is relevant.",
        _outside(rows),
        words.sampled(facts),
    ) + table(columns, body, "Shares of the weights over samples", note=note, tools=True, kind="stack three")


def _outside(rows):
    """A sentence if the share on all data lies outside an interval."""
    names = [name(row["name"], 40) for row in rows if not row["low"] - 1e-9 <= row["share"] <= row["high"] + 1e-9]
    if not names:
        return ""
    some = names[:5] + [f"{len(names) - 5:,} more"] * (len(names) > 5)
    return (
        f"The share on all data lies outside the line of {words._list(some)}. A sample has some examples twice and "
        "lacks about a third of them, which also shifts its weights. The line says how much a share varies between "
        "samples; the share on all data need not lie on it."
    )


def examples(facts):
    found = facts["examples"]
    if "why" in found:
        return paragraphs(text(found["why"], 400))
    every = [part["value"] for row in found["rows"] for part in row["parts"]]
    every += [row["others"]["value"] for row in found["rows"]] + [row["covariates"] or 0.0 for row in found["rows"]]
    reach = max([abs(v) for v in every if math.isfinite(v)], default=1.0) or 1.0
    scale, d = charts.Scale(-reach, reach), decimals(reach)
    cards: list[Any] = []
    for row in found["rows"]:
        called = f"Row {row['row']}" if row["id"] is None else name(row["id"], 40)
        true = "" if row["true"] is None else f" · true {_value(row['true'])}"
        told = f" · predicted {name(row['prediction'], 30) if row['prediction'] else number(row['sum'], d)}"
        told = told if facts["kind"] != "one-class" else ""
        if facts["kind"] == "survival":
            above = f"above {percent(row['risk']['above'], 0)} of {'its fold' if row['held_out'] else 'all'}"
            told, true = f" · {row['risk']['group']} risk, {above}", f" · {_value(row['true'])}"
        lines = [
            [name(p["name"], 40), charts.bar(scale, p["value"]), number(p["value"], d, True)] for p in row["parts"]
        ]
        if row["others"]["count"]:
            more = soft(count(row["others"]["count"], "other"))
            value = row["others"]["value"]
            lines.append([more, charts.bar(scale, value), number(value, d, True)])
        if row["covariates"] is not None:
            value = row["covariates"]
            lines.append([soft("covariates"), charts.bar(scale, value), number(value, d, True)])
        if row["intercept"] is not None:
            lines.append([soft("intercept"), "", number(row["intercept"], d, True)])
        lines.append([strong("sum"), "", strong(number(row["sum"], d, True))])
        columns = [Column("source", sort=False), Column("contribution", "graph"), Column("value", "num")]
        title = f"{called}{told}{true}"
        mixed = any(other["held_out"] for other in found["rows"]) and not row["held_out"]
        note = text(row["why"]) + (", by the fitted model" if mixed else "")
        note += f", row {row['row']}" if row["id"] is not None else ""
        cards.append(element("article", table(columns, lines, title, note=note), class_="card"))
    what = "decision (negative for outliers)" if facts["kind"] == "one-class" else name(found["label"], 80)
    some, level = found["rows"][0], found["rows"][0]["intercept"] is not None
    adds = ["the sources"] + ["the covariates"] * (some["covariates"] is not None) + ["an intercept"] * level
    means = f"The covariates count from their mean{', which the intercept holds' * level}. "
    means = means if some["covariates"] is not None else ""
    times = "Titles compare the predicted risk with the time of the event, or the time at which it was censored. "
    return paragraphs(
        f"Each {what} is exactly the sum of the contributions of {words._list(adds)}. "
        f"{means}Blue bars to the right raise the sum, orange bars to the left lower it. "
        f"{times * (facts['kind'] == 'survival')}{_whose(found['rows'])} Row numbers start at 0."
    ) + element("div", cards, class_="cards")


def _whose(rows):
    """Which models made the decisions on the page."""
    if not any(row["held_out"] for row in rows):
        return (
            "No example was held out: these are decisions of the fitted model, which may have learned from these rows. "
            "It makes more mistakes on new examples."
        )
    said = (
        "The examples were held out: each decision is that of a model of the cross-validation, which has different "
        "weights and did not learn from the example."
    )
    if all(row["held_out"] for row in rows):
        return said
    return f"{said} The notes mark decisions of the fitted model, which may have learned from their rows."


def _value(value):
    return figures(value) if isinstance(value, float) else name(value, 30)

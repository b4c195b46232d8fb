"""Areas under ROC curves, rates at a threshold, calibration and nested searches, in words, tables and pictures."""

from __future__ import annotations

from typing import Any

from . import _charts as charts
from ._html import (
    Column,
    Markup,
    behind,
    cell,
    count,
    element,
    figure,
    name,
    number,
    paragraphs,
    percent,
    strong,
    table,
    text,
    together,
)


def warnings(facts: dict[str, Any]) -> list[str]:
    """What must stand beside the first score."""
    nested = facts["score"].get("nested")
    if nested is None or nested["done"]:
        return []
    return [
        f"{strong('This score is not nested, and a little too good:')} C and the regularizer are the best of "
        f"{count(nested['candidates'], 'candidate')}, chosen with the examples that score them here. The search was "
        f"not repeated within the folds: {text(nested['why'], 400)}"
    ]


def searched(facts: dict[str, Any]) -> Markup:
    """How C and the regularizer were chosen within the folds."""
    nested = facts["score"].get("nested")
    if nested is None or not nested["done"]:
        return paragraphs(*warnings(facts))
    several = [f"C = {one['C']:.3g} and regularizer={one['regularizer']}" for one in nested["chosen"]]
    most = max(set(several), key=several.count)
    return paragraphs(
        f"The score is nested: in each fold C and the regularizer were chosen anew among "
        f"{count(nested['candidates'], 'candidate')} by the training examples alone, so that the search is scored with "
        f"the model. {several.count(most)} of {len(several)} folds chose {most}.",
        "The relevance of sources below is measured with the C and the regularizer that were chosen on all examples."
        if facts["sources"]["method"] == "full"
        else "",
    )


def rates(facts: dict[str, Any]) -> Markup:
    """Areas, rates and calibration of a classifier."""
    score = facts["score"]
    if "areas" not in score:
        return together()
    said, picture = _calibration(score["calibration"])
    pictures = [one for one in (_curve(score), picture) if one is not None]
    pair = element("div", pictures, class_="pair") if pictures else None
    return together(_areas(score), _threshold(score), said, pair)


def _error(value: float, se: float) -> str:
    return number(value, 3) + (f" ± {se:.3f}" if se == se else "")


def _areas(score):
    found = score["areas"]
    if not found["rows"]:
        return paragraphs("No fold has both classes, so that there is no ROC curve.")
    said = (
        "the chance that, of two held-out examples, one of the class and one not, the first has the higher decision; "
        "0.5 is a coin, 1 is without a mistake."
    )
    left = max(row["left"] for row in found["rows"])
    said += f" {count(left, 'fold')} without both classes {'is' if left == 1 else 'are'} left out." if left else ""
    if found["total"] == 1:
        row = found["rows"][0]
        return paragraphs(f"The area under the ROC curve is {strong(_error(row['mean'], row['se']))}: {said}")
    rows = [[name(row["name"], 30), cell(_error(row["mean"], row["se"]), row["mean"]),
             ", ".join(number(v, 3) for v in row["folds"])] for row in found["rows"]]  # fmt: skip
    note = f"{len(rows)} of {found['total']} classes." if len(rows) < found["total"] else ""
    columns = [Column("class against the others"), Column("area", "num"), Column("folds", "num folds")]
    said = f"The area under the ROC curve of a class is {said}"
    return paragraphs(said) + table(columns, rows, "Area under the ROC curve, held out", note=note, tools=True)


def moved(score: dict[str, Any]) -> Markup:
    """That the table of classes goes by another threshold than `predict`."""
    found = score.get("threshold", {"at": 0.0})
    if not found["at"]:
        return together()
    return paragraphs(
        f"The table counts an example as {name(found['positive'], 30)} where its decision is above the threshold, "
        f"{number(found['at'], 3)}. The model's own predictions, and their {name(score['measure'], 40)}, go by 0."
    )


def _threshold(score):
    """Sensitivity and specificity."""
    if "threshold" not in score:
        return together()
    found, rows = score["threshold"], []
    for key, label, plain in (
        ("sensitivity", found["positive"], "of those that are {}, so many are found"),
        ("specificity", found["negative"], "of those that are {}, so many are left alone"),
    ):
        rate = found[key]
        error = f" ± {100 * rate['se']:.1f}" if rate["se"] == rate["se"] else ""
        rows.append([key, f"{100 * rate['value']:.1f}{error} %", f"{rate['right']:,} of {rate['of']:,}",
                     plain.replace("{}", name(label, 30))])  # fmt: skip
    columns = [Column("rate"), Column("held out", "num"), Column("examples", "num"), Column("in words")]
    said = f"An example counts as {name(found['positive'], 30)} where its decision is above {number(found['at'], 3)}."
    said += " A lower threshold finds more of them and raises more false alarms; threshold sets it."
    return paragraphs(said) + table(columns, rows, "Sensitivity and specificity", kind="plain")


def _curve(score):
    if "curve" not in score:
        return None
    label = "Sensitivity against false alarms as the threshold falls; held-out examples of all folds"
    points = [(wrong, right) for wrong, right, _ in score["curve"]]
    body = [[number(at, 3), percent(right), percent(1 - wrong)] for wrong, right, at in score["curve"]]
    heads = [Column("decision above", "num"), Column("sensitivity", "num"), Column("specificity", "num")]
    picture = charts.scatter(points, label, "false alarms (1 − specificity)", "sensitivity", joined=True)
    caption = "The ROC curve: what each threshold finds, against its false alarms. The straight line is a coin."
    return figure(picture, caption, behind("The numbers", table(heads, body, label)))


def _calibration(found):
    """(Whether probabilities mean what they say, its picture)."""
    if "why" in found:
        return paragraphs(text(found["why"], 400)), None
    event = f"are {name(found['event'], 30)}" if found["event"] is not None else "are answered rightly"
    said = (
        f"Calibration: of held-out examples that were given a probability of 70 %, 70 % should be so. Here the shares "
        f"that {event} differ from the probabilities by {percent(found['off'])} on average (Brier score "
        f"{number(found['brier'], 3)})."
    )
    rows = [[f"{percent(row['low'])} to {percent(row['high'])}", cell(percent(row["said"]), row["said"]),
             cell(percent(row["came"]), row["came"]), cell(f"{row['count']:,}", row["count"])]
            for row in found["rows"]]  # fmt: skip
    heads = [Column("probability"), Column("mean", "num"), Column("came true", "num"), Column("examples", "num")]
    label = "Probabilities of held-out examples, and how often they came true"
    points = [(row["said"], row["came"]) for row in found["rows"]]
    picture = charts.scatter(points, label, "probability", "came true", limits=(0.0, 1.0))
    caption = "Bins of as many examples each; on the line probabilities hold."
    return paragraphs(said), figure(picture, caption, behind("The numbers", table(heads, rows, label)))

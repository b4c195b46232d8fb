"""HTML for ROC curves, rates at a threshold, calibration and nested searches."""

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
    """Warnings that belong next to the first score."""
    nested = facts["score"].get("nested")
    if nested is None or nested["done"]:
        return []
    return [
        f"{strong('This score is not nested, and a little too good:')} the same examples that score the model here "
        f"also chose C and the regularizer among {count(nested['candidates'], 'candidate')}. The search was "
        f"not repeated within the folds: {text(nested['why'], 400)}"
    ]


def searched(facts: dict[str, Any]) -> Markup:
    """How the folds chose C and the regularizer."""
    nested = facts["score"].get("nested")
    if nested is None or not nested["done"]:
        return paragraphs(*warnings(facts))
    several = [f"C = {one['C']:.3g} and regularizer={one['regularizer']}" for one in nested["chosen"]]
    most = max(set(several), key=several.count)
    return paragraphs(
        f"The score is nested: in each fold, the training examples alone chose C and the regularizer among "
        f"{count(nested['candidates'], 'candidate')}, so that the score includes the search. "
        f"{several.count(most)} of {len(several)} folds chose {most}."
    )


def rates(facts: dict[str, Any]) -> Markup:
    """Areas under ROC curves, rates and calibration of a classifier."""
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
        "the probability that a random held-out example of the class has a higher decision than a random example of "
        "another class; 0.5 is a coin flip, 1 is perfect."
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
    """A sentence if the confusion matrix uses another threshold than `predict`."""
    found = score.get("threshold", {"at": 0.0})
    if not found["at"]:
        return together()
    return paragraphs(
        f"The table counts an example as {name(found['positive'], 30)} if its decision is above the threshold, "
        f"{number(found['at'], 3)}. The predictions of the model, and their {name(score['measure'], 40)}, use 0."
    )


def _threshold(score):
    """Sensitivity and specificity."""
    if "threshold" not in score:
        return together()
    found, rows = score["threshold"], []
    for key, label, plain in (
        ("sensitivity", found["positive"], "the share of {} that is predicted as such"),
        ("specificity", found["negative"], "the share of {} that is predicted as such"),
    ):
        rate = found[key]
        error = f" ± {100 * rate['se']:.1f}" if rate["se"] == rate["se"] else ""
        rows.append([key, f"{100 * rate['value']:.1f}{error} %", f"{rate['right']:,} of {rate['of']:,}",
                     plain.replace("{}", name(label, 30))])  # fmt: skip
    columns = [Column("rate"), Column("held out", "num"), Column("examples", "num"), Column("in words")]
    said = f"An example counts as {name(found['positive'], 30)} if its decision is above {number(found['at'], 3)}."
    said += " A lower threshold finds more of them and raises more false alarms; the option threshold sets it."
    return paragraphs(said) + table(columns, rows, "Sensitivity and specificity", kind="plain")


def _curve(score):
    if "curve" not in score:
        return None
    label = "Sensitivity against false alarms for falling thresholds; held-out examples of all folds"
    points = [(wrong, right) for wrong, right, _ in score["curve"]]
    body = [[number(at, 3), percent(right), percent(1 - wrong)] for wrong, right, at in score["curve"]]
    heads = [Column("decision above", "num"), Column("sensitivity", "num"), Column("specificity", "num")]
    picture = charts.scatter(points, label, "false alarms (1 − specificity)", "sensitivity", joined=True)
    caption = "The ROC curve: sensitivity against false alarms at each threshold. The straight line is a coin flip."
    return figure(picture, caption, behind("The numbers", table(heads, body, label)))


def _calibration(found):
    """(a paragraph on calibration, its picture or None)."""
    if "why" in found:
        return paragraphs(text(found["why"], 400)), None
    event = f"are {name(found['event'], 30)}" if found["event"] is not None else "are predicted correctly"
    said = (
        f"Calibration: a predicted probability of 70 % should be right for 70 % of the examples. Here the shares of "
        f"held-out examples that {event} differ from the predicted probabilities by {percent(found['off'])} on average "
        f"(Brier score {number(found['brier'], 3)})."
    )
    rows = [[f"{percent(row['low'])} to {percent(row['high'])}", cell(percent(row["said"]), row["said"]),
             cell(percent(row["came"]), row["came"]), cell(f"{row['count']:,}", row["count"])]
            for row in found["rows"]]  # fmt: skip
    heads = [Column("probability"), Column("mean", "num"), Column("observed", "num"), Column("examples", "num")]
    label = "Predicted probabilities of held-out examples, and observed frequencies"
    points = [(row["said"], row["came"]) for row in found["rows"]]
    picture = charts.scatter(points, label, "predicted probability", "observed frequency", limits=(0.0, 1.0))
    caption = "All bins have equally many examples; on the line, frequencies equal probabilities."
    return paragraphs(said), figure(picture, caption, behind("The numbers", table(heads, rows, label)))

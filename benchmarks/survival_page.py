"""python -m benchmarks.survival_page [OUT/survival.json]: writes the table of docs/comparison.md."""

import json
import re
import sys
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[1] / "docs" / "comparison.md"
OURS = "MKLSurvival"  # the default, which the others are compared with
BEGIN, END = "<!-- tables of benchmarks.survival_page -->", "<!-- end of the tables -->"


def filled(page, document):
    """The text of the page with the tables of the results between the two marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"the page must have {BEGIN} and {END} once each")
    rows, machine = document["results"]["rows"], document["machine"]
    said = [
        f"Measured on {machine['cores']} cores ({machine['machine']}), one for each fit, with scikit-survival "
        f"{document['packages']['scikit-survival']}; means over {1 + max(row['split'] for row in rows)} folds.",
        "Concordance of each set, greater is better; the integrated Brier score, less is better, is a mean over the "
        "sets; the\nseconds of a fit on one core, with the choice of penalties, are a median over them:",
        table(rows),
        "The default beside the best other method, in concordance on the same folds (± one standard error):\n\n"
        + "\n".join(beside(rows, name) for name in sets_of(rows)),
    ]
    return re.sub(f"{BEGIN}.*?{END}", lambda _: "\n\n".join([BEGIN, *said, END]), page, flags=re.S)


def sets_of(rows):
    return sorted({row["set"] for row in rows})


def methods_of(rows):
    return sorted({row["method"] for row in rows}, key=lambda name: (not name.startswith(OURS), name))


def scores(rows, name, method, measure="concordance"):
    """The values of a method on a set, in the order of the splits."""
    own = [row for row in rows if row["set"] == name and row["method"] == method and row[measure] is not None]
    return np.array([row[measure] for row in sorted(own, key=lambda row: row["split"])])


def error(values, folds):
    """The standard error of a mean over repeated folds, which share training examples (Nadeau and Bengio 2003)."""
    return float(values.std(ddof=1) * np.sqrt(1 / len(values) + 1 / (folds - 1))) if len(values) > 1 else 0.0


def table(rows):
    """A line for each method: concordance and standard error of each set, the mean Brier score, the median seconds."""
    sets, folds = sets_of(rows), rows[0]["folds"]
    lines = [f"| method | {' | '.join(sets)} | Brier | s |", "|---|" + "---|" * (len(sets) + 2)]
    for method in methods_of(rows):
        means = {
            measure: [own.mean() for name in sets if len(own := scores(rows, name, method, measure))]
            for measure in ("brier", "seconds")
        }
        found = [scores(rows, name, method) for name in sets]
        cells = [f"{own.mean():.3f} ± {error(own, folds):.3f}" if len(own) else "–" for own in found]
        cells.append(f"{np.mean(means['brier']):.3f}" if means["brier"] else "–")
        lines.append(f"| {method} | {' | '.join(cells)} | {np.median(means['seconds']):.1f} |")
    return "\n".join(lines)


def beside(rows, name):
    """A line: the default less the best of the other methods on one set."""
    ours, folds = scores(rows, name, OURS), rows[0]["folds"]
    others = {method: scores(rows, name, method) for method in methods_of(rows) if not method.startswith(OURS)}
    if not len(ours) or not others:
        return f"- {name}: not measured."
    best = max(others, key=lambda method: others[method].mean())
    less = ours - others[best]
    won = sum(ours.mean() >= other.mean() for other in others.values())
    ahead = f"{less.mean():+.3f} ± {error(less, folds):.3f}"
    return f"- {name}: {ahead} to {best}; ahead of {won} of {len(others)}."


def main():
    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".benchmarks/survival.json")
    PAGE.write_text(filled(PAGE.read_text(), json.loads(path.read_text())))
    print(f"wrote {PAGE.name} from {path}")


if __name__ == "__main__":
    main()

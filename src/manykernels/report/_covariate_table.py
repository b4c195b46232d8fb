"""HTML of the coefficients of covariates."""

import math
from typing import Any

from ._html import Column, cell, figures, name, table

MAX_OUTPUTS, MAX_COVARIATES = 4, 40  # of the table


def coefficients(facts):
    """The coefficients of the covariates, for each output, and e^w where it is a ratio."""
    found = facts["model"]["covariates"]
    if not found:
        return ""
    outputs, ratio = found["coefficients"][:MAX_OUTPUTS], found["ratio"]
    heads = [f" of {name(label, 20)}" for label in facts["model"]["classes"] or []] if len(outputs) > 1 else [""]
    heads = heads if len(heads) >= len(outputs) else [f" of output {t}" for t in range(len(outputs))]
    columns = [Column("covariate")]
    for head in heads[: len(outputs)]:
        columns += [Column(f"coefficient{head}", "num")] + [Column(f"{ratio}{head}", "num")] * bool(ratio)
    rows = []
    for k, key in enumerate(found["names"][:MAX_COVARIATES]):
        line: list[Any] = [name(key, 40)]
        for coefficients in outputs:
            w = coefficients[k]
            line.append(cell(figures(w), w))
            if ratio:
                e = math.exp(min(w, 700.0))
                line.append(cell(figures(e), e))
        rows.append(line)
    left = len(found["names"]) - len(rows)
    note = "A coefficient is the change of the decision for one unit of the covariate, or for a level against the "
    note += "first level of its column, with the other covariates and the sources unchanged."
    note += f" The {ratio} is e to the coefficient." * bool(ratio)
    note += f" {left:,} more are in the JSON file." * (left > 0)
    return table(columns, rows, "Covariates, in the fit on all data", note=note, tools=len(rows) > 10)

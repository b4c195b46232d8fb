"""Reports of pure noise: does any p that they print, and any verdict, come too often?

    python -m benchmarks.null_reports [--cases 200] [--jobs 16]

Each case draws X, or two views, and a target that has nothing to do with them: numbers, two or three classes of
different shares, or censored times. Every "p = …" and "p < …" of the page, every key of the JSON and the facts that is
called p, and every p in words is collected. At most 7 % of them may be below .05. If no p is printed, the output says
so. Verdicts are counted as well: how many pages say that the model is better than a guess, or that a source is
relevant.
"""

import argparse
import html
import json
import re
import warnings

import numpy as np
from joblib import Parallel, delayed

from manykernels import MKLClassifier, MKLRegressor, MKLSurvival, survival_targets

from .report import show

KINDS = "numbers", "two classes", "rare class", "three classes", "times"
P = re.compile(r"\bp(?:-?\s?values?)?\s*(?:of|is|[=<≤:])\s*(\d*\.?\d+(?:e[-−+]?\d+)?)", re.IGNORECASE)


def case(seed):
    """(kind, model, X, y) of one set of noise."""
    rng = np.random.default_rng(seed)
    kind, n, d = KINDS[seed % len(KINDS)], int(rng.integers(60, 160)), int(rng.integers(2, 7))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.4:
        X = {"one": X, "two": rng.normal(size=(n, 3))}
    if kind == "numbers":
        return kind, MKLRegressor(), X, rng.normal(size=n)
    if kind == "times":
        return kind, MKLSurvival(), X, survival_targets(rng.random(n) < 0.7, rng.exponential(size=n))
    shares = {"two classes": [0.5, 0.5], "rare class": [0.85, 0.15], "three classes": [0.5, 0.3, 0.2]}[kind]
    return kind, MKLClassifier(), X, rng.choice(len(shares), n, p=shares)


def keyed(facts, path=""):
    """Numbers under keys that are called p, such as p, p_value or pvalue, anywhere in the facts."""
    for key, value in facts.items() if isinstance(facts, dict) else enumerate(facts):
        if isinstance(value, dict | list):
            yield from keyed(value, f"{path}/{key}")
        elif re.fullmatch(r"p|p[-_ ]?values?|.*_p", str(key)) and isinstance(value, float):
            yield value


def printed(report):
    """Every p of the page, its text and the JSON."""
    page = report.html()
    body = page[page.index("<main") :]
    body = re.sub(r"<(script|style).*?</\1>", "", body, flags=re.DOTALL)
    text = html.unescape(re.sub("<[^>]+>", " ", body)).partition("Settings, and how to repeat")[0]
    return [float(found.replace("−", "-")) for found in P.findall(text)], list(keyed(json.loads(report.json())))


def measured(seed):
    warnings.simplefilter("ignore")
    kind, model, X, y = case(seed)
    report = model.fit(X, y).report(X, y, cv=5, stability=0)
    facts = report.facts
    texts, keys = printed(report)
    return kind, texts + keys, bool(facts["score"]["better"]), bool(facts["sources"]["verdict"])


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("cases", 200), ("jobs", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args(argv)
    found = Parallel(asked.jobs)(delayed(measured)(asked.seed + k) for k in range(asked.cases))
    rows = []
    for kind in (*KINDS, "all"):
        own = [one for one in found if kind in ("all", one[0])]
        low = [p for one in own for p in one[1]]
        share = f"{np.mean(np.array(low) < 0.05):.1%} of {len(low)}" if low else "none printed"
        rows.append([kind, str(len(own)), share, *(f"{np.mean([one[k] for one in own]):.1%}" for k in (2, 3))])
    columns = ["pages of noise", "pages", "p < .05", "“better than a guess”", "a source is relevant"]
    show("Null simulation of the report", columns, rows)
    if not any(one[1] for one in found):
        print("No report printed a p: nothing can be too small.")
    return found


if __name__ == "__main__":
    main()

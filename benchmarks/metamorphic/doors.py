"""Changes of one kind of data alone: columns, letters, targets, classes, views."""

import numpy as np

from .changes import REFUSED, SAID, SAME, SAME_AND_SAID, Trial, array, change, kind_of, length

MARKERS = ["<null>", "NA", "?", "-", "n/a", "NULL", "."]


@change("unread column", "y")
def unread_column(rng, world, call, args, argument):
    """Targets have a column that is not read, such as the time of entry."""
    import pandas as pd

    if world.target != "times" or "y" not in args or "strata" in args:
        return None
    name = str(rng.choice(["entry", "start", "enter", "age", "id", "tstart"]))
    y, more = args["y"], np.round(rng.random(length(args)) * 5)
    if hasattr(y, "columns") or rng.random() < 0.5:
        frame = pd.DataFrame({key: array(y[key]) for key in ("event", "time")}, index=getattr(y, "index", None))
        made = frame.assign(**{name: more})
    else:
        made = np.empty(len(y), dtype=[*y.dtype.descr, (name, "<f8")])
        made["event"], made["time"], made[name] = y["event"], y["time"], more
    return Trial({**args, "y": made}, (REFUSED,), (name,))


@change("U for T", "X")
def rna(rng, world, call, args, argument):
    """Sequences are written with the letters of RNA."""
    if kind_of(world) != "sequences" or not call.new:
        return None
    return Trial({**args, "X": [text.replace("T", "U") for text in args["X"]]}, (SAME, REFUSED), ("rna",))


@change("protein letters", "X")
def proteins(rng, world, call, args, argument):
    """New sequences are proteins, and the kernels read DNA."""
    if kind_of(world) != "sequences" or not call.new:
        return None
    made = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), len(text))) for text in args["X"]]
    return Trial({**args, "X": made}, (REFUSED,), ("letter",))


@change("strange letters", "X")
def strange_letters(rng, world, call, args, argument):
    """A few letters of new sequences match nothing."""
    if kind_of(world) != "sequences" or not call.new:
        return None
    made = list(args["X"])
    made[0] = "Z" + made[0][1:-1] + str(rng.choice(list("ZJ*")))
    return Trial({**args, "X": made}, (SAID, REFUSED), ("letter",))


def column(X, name, values):
    """The frame with other values of a column, in the same place."""
    return X.assign(**{name: values})


def as_texts(rng, form, values, marker):
    """Numbers as texts: with points or with commas, NaN as a marker."""
    texts = [marker if np.isnan(value) else f"{value:.4f}" for value in values]
    return [text.replace(".", ",") if form == "commas" and text != marker else text for text in texts]


@change("numbers as texts", "points", "commas", "markers")
def texts(rng, world, call, args, argument):
    """A column of numbers holds texts, for the fit and for new examples, or for new examples alone."""
    if kind_of(world) != "auto" or call.name not in ("fit", "search", "path", "relevance", "predict", "score"):
        return None
    X, name = args["X"], str(rng.choice(["age", "glucose"]))
    marker = str(rng.choice(MARKERS))
    parts = []
    for part in (X, world.new["X"]):
        values = array(part[name]).copy()
        if argument == "markers":
            values[rng.choice(len(values), max(2, len(values) // 8), replace=False)] = np.nan
        form = "commas" if argument == "commas" else "points"
        parts.append((column(part, name, values), column(part, name, as_texts(rng, form, values, marker))))
    (plain, made), (new_plain, new) = parts
    if call.new:
        return Trial({**args, "X": made}, (SAME, REFUSED), (name, "column"), base={**args, "X": plain})
    base_new, changed_new = ({**world.new, "X": part} for part in (new_plain, new))
    return Trial({**args, "X": made}, (SAME, SAID), (name,), {**args, "X": plain}, new=changed_new, base_new=base_new)


@change("useless column", "counter", "id", "notes", "constant", "empty", "recorded")
def useless(rng, world, call, args, argument):
    """A column says nothing: it is left out, and named."""
    if kind_of(world) != "auto" or call.name != "fit":
        return None
    parts = []
    for part, first in ((args["X"], 0), (world.new["X"], 100)):
        parts.append(part.assign(aside=useless_column(rng, argument, len(part), first)))
    return Trial({**args, "X": parts[0]}, (SAME_AND_SAID,), ("aside",), new={**world.new, "X": parts[1]})


def useless_column(rng, kind, n, first):
    """n entries that tell nothing: row numbers, ids, notes of words that no other row has, one value, none, dates."""
    import pandas as pd

    if kind == "counter":
        return np.arange(first, first + n) + 1
    if kind == "id":
        return [f"P{k:04}" for k in range(first, first + n)]
    if kind == "notes":
        letters = list("abcdefghijklmnopqrstuvwxyz")
        return [" ".join("".join(rng.choice(letters, 7)) for _ in range(4)) for _ in range(n)]
    if kind == "recorded":
        return pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d")
    return np.full(n, 3.0 if kind == "constant" else np.nan)


@change("order of views", "X")
def order_of_views(rng, world, call, args, argument):
    """The views stand in another order."""
    if kind_of(world) != "views":
        return None
    return Trial({**args, "X": {name: args["X"][name] for name in reversed(args["X"])}}, (SAME,))


@change("renamed view", "X")
def renamed_view(rng, world, call, args, argument):
    """A view has another name, in the data and in the kernels."""
    from sklearn.base import clone

    if kind_of(world) != "views" or call.new or call.name in ("suggest", "report"):
        return None
    other = str(rng.choice(["a b", "[rna]", "größe", "zz", "columns"]))

    def rename(X):
        return {other if name == "rna" else name: part for name, part in X.items()}

    kernels = [(other if name == "rna" else name, kernel, other if view == "rna" else view)
               for name, kernel, view in world.model.kernels]  # fmt: skip
    new = {**world.new, "X": rename(world.new["X"])}
    model = clone(world.model).set_params(kernels=kernels)
    return Trial({**args, "X": rename(args["X"])}, (SAME,), model=model, new=new)


@change("rare class", "y")
def rare_class(rng, world, call, args, argument):
    """One example is of a rare class, and there are more folds."""
    if world.target != "classes" or call.new or not call.ordered or "y" not in args:
        return None
    if call.name not in ("search", "report"):
        return None
    args, y = {name: args[name] for name in ("X", "y", "task") if name in args}, args["y"].copy()
    y[:1] = 77 if array(y).dtype.kind in "iu" else "rare"
    return Trial({**args, "y": y}, (SAID,), ("77", "rare", "least populated"), args, train={**args, "y": y})


@change("few events", "y")
def few_events(rng, world, call, args, argument):
    """C="auto" has one or two events to choose by."""
    from sklearn.base import clone

    if world.target != "times" or call.name != "fit" or "strata" in args:
        return None
    y = args["y"].copy()
    y["event"] = np.arange(len(y)) < rng.integers(1, 3)
    model = clone(world.model).set_params(C="auto")
    return Trial({**args, "y": y}, (SAID, REFUSED), ("event",), model=model)

"""Changes of the arguments of a call, and what must come of each."""

from dataclasses import dataclass

import numpy as np

from .worlds import SIDES, choose, labelled

REFUSED, SAID, SAME, SAME_AND_SAID = "refused", "said", "same", "same and said"


@dataclass
class Trial:
    """Changed arguments, and the ends that are right: an error, a warning, or the result of the `base` arguments.

    `words`: one of them stands in the error or the warning. `order`: rows of the base result in the changed one.
    `model`, `train` and `new`: what the world has in place of its own, `base_new` what the base has.
    """

    args: dict
    want: tuple
    words: tuple = ()
    base: object = None
    order: object = None
    model: object = None
    train: object = None
    new: object = None
    base_new: object = None


CHANGES = {}  # name: (function, its arguments)
ANY = ("X", *SIDES)


def change(name, *arguments):
    """Registers a change of each of some arguments; None means that it does not apply."""

    def register(function):
        CHANGES[name] = function, arguments or ("all",)
        return function

    return register


def kind_of(world):
    return world.kind.split()[0]


def length(args):
    """The number of examples of a call's arguments."""
    X = args["X"]
    return length({"X": next(iter(X.values()))}) if isinstance(X, dict) else len(X)


def index_of(args):
    """The labels of the rows of X, as pandas has them; None if it has none."""
    X = args["X"]
    parts = X.values() if isinstance(X, dict) else [X]
    return next((part.index for part in parts if hasattr(part, "iloc")), None)


def array(value):
    """The values of one column."""
    return value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value)


def turned(rng, n):
    """An order of n rows other than 0, 1, …"""
    order = rng.permutation(n)
    return order if np.mean(order == np.arange(n)) < 0.5 else order[::-1]


@change("permuted rows")
def permuted(rng, world, call, args, argument):
    """All that belongs together, in another order."""
    if call.ordered or world.model.get_params().get("C") == "auto" or kind_of(world) == "auto":
        return None
    order, stack = turned(rng, length(args)), kind_of(world) == "stack"
    made = {key: choose(part, order, stack and not call.new and key == "X") for key, part in args.items()}
    if stack and not call.new:  # the kernels of new examples with the training examples follow
        new = {**world.new, "X": world.new["X"][:, order]}
        return Trial(made, (SAME,), new=new) if call.name == "fit" else None
    if call.name == "combined_kernel":
        return None
    return Trial(made, (SAME,), order=order if call.by_row else None)


def part_turned(value, order):
    """A value with labels in another order; of a dict its first column alone."""
    if isinstance(value, dict):
        return {key: choose(part, order) if k == 0 else part for k, (key, part) in enumerate(value.items())}
    return choose(value, order)


@change("shuffled index", *SIDES)
def shuffled(rng, world, call, args, argument):
    """One argument carries the labels of X in another order."""
    if argument not in args or index_of(args) is None:
        return None
    made = {**args, argument: part_turned(args[argument], turned(rng, length(args)))}
    return Trial(made, (REFUSED, SAID, SAME), (argument, "index", "covariate"))


@change("sorted index", *SIDES)
def sorted_rows(rng, world, call, args, argument):
    """One argument is sorted by its values, as `frame.sort_values("age")` is."""
    if argument not in args or index_of(args) is None:
        return None
    value = args[argument]
    first = next(iter(value.values())) if isinstance(value, dict) else value
    key = array(first.iloc[:, -1] if getattr(first, "ndim", 1) == 2 else first)
    order = np.argsort(key, kind="stable")
    made = {**args, argument: part_turned(value, order)}
    return Trial(made, (REFUSED, SAID, SAME), (argument, "index", "covariate"))


@change("other ids", *SIDES)
def other_ids(rng, world, call, args, argument):
    """X and one argument have ids that do not overlap."""
    index = index_of(args)
    if argument not in args or index is None or index.dtype.kind in "iuM":
        return None
    made = {**args, argument: labelled(args[argument], [f"q{i}" for i in range(len(index))])}
    return Trial(made, (REFUSED,), (argument, "index", "ids"))


@change("numbered rows", *SIDES)
def numbered(rng, world, call, args, argument):
    """One argument has the default labels 0, 1, …: it is taken by position."""
    index = index_of(args)
    if argument not in args or index is None:
        return None
    other = labelled(args[argument], range(len(index)))
    return Trial({**args, argument: other}, (SAME,))


@change("two orders", *SIDES[1:])
def two_orders(rng, world, call, args, argument):
    """X has no labels, y and another argument have the same in two orders."""
    if argument not in args or "y" not in args or index_of(args) is not None or kind_of(world) in ("pairs", "stack"):
        return None
    ids = [f"p{i}" for i in range(length(args))]
    base = {**args, "y": labelled(args["y"], ids), argument: labelled(args[argument], ids)}
    made = {**base, argument: part_turned(base[argument], turned(rng, len(ids)))}
    return Trial(made, (REFUSED, SAID, SAME), (argument, "index"), base)


@change("shuffled view", "X")
def shuffled_view(rng, world, call, args, argument):
    """Two views have the same labels in two orders."""
    if kind_of(world) != "views":
        return None
    X = {name: part if hasattr(part, "iloc") else labelled(part, index_of(args)) for name, part in args["X"].items()}
    base = {**args, "X": {key: part.to_numpy() if key == "rna" else part for key, part in X.items()}}
    order = turned(rng, length(args))
    return Trial({**args, "X": {**X, "rna": X["rna"].iloc[order]}}, (REFUSED, SAID), ("rna", "index"), base)


def masked(rng, value):
    """The same with one entry masked, which holds an absurd number if it can."""
    if isinstance(value, dict):
        name = list(value)[rng.integers(len(value))]
        return {**value, name: masked(rng, value[name])}
    values = np.array(array(value))
    if values.dtype.names:
        mask = np.zeros(values.shape, [(name, bool) for name in values.dtype.names])
        mask[values.dtype.names[rng.integers(2)]][0] = True
        return np.ma.MaskedArray(values, mask)
    mask = np.zeros(values.shape, bool)
    mask[tuple(rng.integers(size) for size in values.shape)] = True
    if values.dtype.kind == "f" and values.ndim < 3 and rng.random() < 0.5:
        values[mask] = 1000.0
    return np.ma.MaskedArray(values, mask)


@change("masked", *ANY)
def mask(rng, world, call, args, argument):
    """One entry is masked."""
    value = args.get(argument)
    if value is None or (argument == "X" and not isinstance(value, np.ndarray | dict)):
        return None
    if hasattr(value, "columns"):  # a frame holds no masks: its columns may
        value = {name: value[name] for name in value} if argument == "covariates" else value.to_records(index=False)
        value = {key: array(part) for key, part in value.items()} if argument == "covariates" else np.asarray(value)
    return Trial({**args, argument: masked(rng, value)}, (REFUSED,), ("mask",))


def clock(rng, values):
    """Numbers as dates or durations of some unit."""
    kind = ["M8[ns]", "M8[D]", "m8[us]", "m8[ns]", "m8[s]"][rng.integers(5)]
    made = (np.abs(values) * 1e6).astype("i8").astype(kind)
    if rng.random() < 0.2:
        made.flat[0] = "NaT"
    return made


@change("clock", "X", "y", "sample_weight", "covariates")
def clocks(rng, world, call, args, argument):
    """Numbers are dates or durations."""
    kind = kind_of(world)
    if argument not in args or (argument == "y" and world.target != "numbers"):
        return None
    if argument == "X" and kind not in ("frame", "array", "views", "stack", "tasks"):
        return None
    value = args[argument]
    if isinstance(value, dict):
        name = list(value)[rng.integers(len(value))]
        made = {**value, name: as_clock(rng, value[name])}
    else:
        made = as_clock(rng, value)
    return Trial({**args, argument: made}, (REFUSED,), ("date", "time", "duration", "number", "real", "missing"))


def as_clock(rng, value):
    """A frame with one column of dates, or an array of them."""
    if hasattr(value, "columns"):
        name = value.columns[rng.integers(len(value.columns))]
        return value.assign(**{name: clock(rng, array(value[name]))})
    return clock(rng, array(value).astype(float))


@change("no time", "y")
def no_time(rng, world, call, args, argument):
    """NaT stands among labels."""
    if world.target != "classes" or "y" not in args:
        return None
    y = array(args["y"]).astype(object)
    y[0] = np.datetime64("NaT")
    return Trial({**args, "y": y}, (REFUSED,), ("missing", "NaT", "date", "time", "label"))


@change("durations", "y")
def durations(rng, world, call, args, argument):
    """Times of survival as durations of two units: the same, or an error."""
    import pandas as pd

    if world.target != "times" or "y" not in args:
        return None
    y = pd.DataFrame({name: array(args["y"][name]) for name in ("event", "time")})
    made = [{**args, "y": y.assign(time=pd.to_timedelta(y["time"], unit="D").dt.as_unit(u))} for u in ("ns", "us")]
    return Trial(made[0], (SAME, REFUSED), ("time", "duration"), base=made[1])


FLOATS, WHOLE = ["f4", "f2", ">f8", "O"], ["i8", "i4", "i2", "u1", ">i4"]


@change("dtype", "X", "y", "sample_weight", "groups")
def dtypes(rng, world, call, args, argument):
    """The same numbers in another dtype."""
    if argument not in args or (argument == "X" and kind_of(world) not in ("frame", "array", "views", "tasks")):
        return None
    value, dtype = args[argument], str(rng.choice(FLOATS + WHOLE))
    if isinstance(value, dict):
        made = {name: part.astype(dtype.lstrip(">")) for name, part in value.items()}
        return Trial({**args, argument: made}, (SAME,))
    if hasattr(value, "columns") and argument == "X" and rng.random() < 0.5:
        dtype = str(rng.choice(["Int64", "Float32", "Float64", "Int8"]))
    if array(value if not hasattr(value, "columns") else 0).dtype.kind not in "iuf" or world.target == "times":
        if argument != "X":
            return None
    if argument == "y" and world.target == "numbers" and dtype == "u1":
        dtype = "i1"
    if dtype == "O" and argument in ("groups", "y") or dtype.startswith(">") and hasattr(value, "iloc"):
        dtype = "i2"  # scikit-learn takes no numbers as objects for labels, and pandas no other order of bytes
    return Trial({**args, argument: value.astype(dtype)}, (SAME,))


@change("bool", "X")
def bools(rng, world, call, args, argument):
    """0 and 1 as truth values."""
    if not isinstance(args["X"], np.ndarray) or kind_of(world) == "stack" or call.new:
        return None
    flat = {**args, "X": (args["X"] > 4.0) * 1.0}
    if len(np.unique(flat["X"][:, :2])) < 2:
        return None
    return Trial({**args, "X": flat["X"] > 0}, (SAME,), base=flat)


@change("container", *ANY)
def container(rng, world, call, args, argument):
    """The same values in another container."""
    import pandas as pd
    import scipy.sparse

    if argument not in args:
        return None
    value, kind = args[argument], kind_of(world)
    if isinstance(value, dict) and argument == "covariates":
        made = [{key: part.tolist() for key, part in value.items()}, {key: array(p) for key, p in value.items()},
                pd.DataFrame(value), polars_frame(value)]  # fmt: skip
        return Trial({**args, argument: made[rng.integers(4)]}, (SAME,))
    if hasattr(value, "columns"):
        if argument == "y":
            made = [value.to_records(index=False), np.column_stack([value["event"], value["time"]]).astype(float),
                    polars_frame(value), value.rename(columns={"event": "E", "time": "T"})]  # fmt: skip
            return Trial({**args, argument: made[rng.integers(len(made))]}, (SAME,))
        made = [polars_frame(value), value.copy(), *([value.convert_dtypes()] if argument == "X" else [])]
        return Trial({**args, argument: made[rng.integers(len(made))]}, (SAME,))
    if argument == "X":
        if kind in ("array", "tasks"):
            forms = [value.tolist(), np.asfortranarray(value), tuple(map(tuple, value)), scipy.sparse.csr_array(value),
                     scipy.sparse.csc_matrix(value)]  # fmt: skip
            dense = call.name in ("feature_shares", "column_relevance", "suggest", "relevance", "report")
            return Trial({**args, "X": forms[rng.integers(3 if dense else 5)]}, (SAME,))
        if kind == "sequences":
            forms = [tuple(value), np.array(value), np.array(value, object), pd.Series(value),
                     [text.lower() for text in value]]  # fmt: skip
            return Trial({**args, "X": forms[rng.integers(5)]}, (SAME,))
        return None
    values = array(value)
    if values.dtype.names:
        forms = [np.column_stack([values["event"], values["time"]]).astype(float), pd.DataFrame(values)]
        return Trial({**args, argument: forms[rng.integers(2)]}, (SAME,))
    forms = [values.tolist(), tuple(values.tolist()), values.copy(), polars_series(values), pd.Series(values)]
    if argument in ("y", "groups", "task", "strata"):
        forms.append(pd.Series(values).astype("category").to_numpy())
    if argument == "covariates":  # its name says which column it is
        forms = [pd.DataFrame({value.name: values}), {value.name: values.tolist()}, polars_frame({value.name: values})]
    return Trial({**args, argument: forms[rng.integers(len(forms))]}, (SAME,))


def polars_series(values):
    """A polars column, or a list where polars is not installed."""
    try:
        import polars
    except ImportError:
        return values.tolist()
    return polars.Series(values.tolist())


def polars_frame(value):
    """A polars frame, or a pandas one where polars is not installed."""
    import pandas as pd

    try:
        import polars
    except ImportError:
        return pd.DataFrame({name: array(value[name]) for name in value})
    return polars.DataFrame({name: array(value[name]).tolist() for name in value})

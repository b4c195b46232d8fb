"""Random frames, texts, strings, views and pairs: data that are no array of numbers."""

import numpy as np

from .worlds import World, cast, lay, numbers, size, table_kernels

WORDS = "fever pain home ward well again night cough rest <b> & naïve 37 °C".split()
ODD_NAMES = ["", "a[0", "b(", "**", "x y", "größe", "columns", "0", "kernels", "__a__", "'q'", "<i>", "a" * 70, "\n"]


def texts(rng, n):
    """n notes of one to six words."""
    return [" ".join(rng.choice(WORDS, int(rng.integers(1, 7)))) for _ in range(n)]


def polars_or_none():
    """The module, where it is installed."""
    try:
        import polars
    except ImportError:
        return None
    return polars


def frame(rng):
    """A pandas or polars frame with numbers, categories, texts, gaps, dates, odd names and an odd index."""
    import pandas as pd

    n, m = size(rng, 4, 150), size(rng, 1, 20)
    total, data = n + m, {}
    names = [str(name) for name in rng.permutation(ODD_NAMES + [f"c{i}" for i in range(12)])]
    count = size(rng, 1, 9)
    gaps = rng.random() < 0.4
    kinds = rng.choice(["number", "number", "number", "int", "bool", "category", "text", "date", "constant"], count)
    if rng.random() < 0.4:
        kinds = np.array(["number"] * count)
    for kind in kinds:
        values = column(rng, str(kind), total)
        if gaps and kind in ("number", "category", "text") and rng.random() < 0.6:
            holes = rng.random(total) < rng.choice([0.05, 0.3, 0.95])
            values = pd.Series(values).astype("object" if kind != "number" else float)
            values[holes] = None if kind != "number" else np.nan
        data[names.pop()] = values
    X = pd.DataFrame({key: np.asarray(value) if kind_free(value) else value for key, value in data.items()})
    number_columns = [name for name, kind in zip(data, kinds, strict=True) if kind in ("number", "int")]
    kernels = "auto"
    if number_columns and rng.random() < 0.4:
        kernels = named_kernels(
            rng, number_columns, [c for c, kind in zip(data, kinds, strict=True) if kind == "category"]
        )
    index = str(rng.choice(["range", "text", "repeated", "dates", "multi", "reversed"]))
    X.index = {
        "range": pd.RangeIndex(total),
        "text": pd.Index([f"p{i}" for i in range(total)]),
        "repeated": pd.Index(np.zeros(total, int)),
        "dates": pd.date_range("2020-01-01", periods=total),
        "multi": pd.MultiIndex.from_arrays([np.arange(total) // 2, np.arange(total) % 2]),
        "reversed": pd.RangeIndex(total - 1, -1, -1),
    }[index]
    signal = X[number_columns[0]].fillna(0).to_numpy(float)[:n] if number_columns else None
    train, new, forms = X[:n], X[n:], []
    forms.append(("reset index", train.reset_index(drop=True), new.reset_index(drop=True)))
    name, polars = f"pandas {n}×{count} {index} {'/'.join(kinds)}{' gaps' if gaps else ''}", polars_or_none()
    if polars is not None and rng.random() < 0.35 and "" not in data:
        plain = X.reset_index(drop=True)
        train, new, forms = polars.from_pandas(plain[:n]), polars.from_pandas(plain[n:]), []
        name = "polars" + name[6:]
    world = World(name, train, new, kernels, n, forms, signal=signal)
    world.take = lambda data, rows: data.iloc[rows] if hasattr(data, "iloc") else data[rows.tolist()]
    if name.startswith("pandas") and isinstance(kernels, list) and not gaps:
        world.sources = lambda folder: frame_files(folder, train, new, rng)
    return world


def kind_free(values):
    """Whether a column is a plain sequence of numbers."""
    return isinstance(values, np.ndarray)


def column(rng, kind, n):
    """One column of n entries."""
    import pandas as pd

    if kind == "number":
        return rng.normal(size=n) * 10.0 ** rng.integers(-4, 5)
    if kind == "int":
        return rng.integers(-5, 50, n)
    if kind == "bool":
        return rng.random(n) < 0.5
    if kind == "category":
        values = pd.Series(rng.choice(["red", "green", "blue", "<b>"], n))
        return values.astype("category") if rng.random() < 0.5 else values
    if kind == "text":
        return pd.Series(texts(rng, n))
    if kind == "date":
        return pd.Series(pd.date_range("2021-03-01", periods=n, freq="h"))
    return np.full(n, 7)


def named_kernels(rng, number_columns, categories):
    """Kernels on columns by their names."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from manykernels import kernels as k

    first = number_columns[0]
    made = [("all", make_pipeline(SimpleImputer(), StandardScaler()), k.RBF(), number_columns)]
    made.append(("one", k.RBF(gamma="median"), [first], "zero"))
    if rng.random() < 0.5:
        made.append(("line", StandardScaler(), k.Linear(), [first], "zero"))
    if rng.random() < 0.5:
        made = [("plain", k.RBF(gamma=float(10 ** rng.uniform(-3, 0))), number_columns), ("line", k.Linear(), [first])]
    if categories:
        made.append(("kinds", k.Categorical(), categories, "zero"))
        if rng.random() < 0.5:
            made.append(
                ("both", k.On([first], k.RBF(), missing="zero") * k.On(categories, k.Categorical(), missing="zero"))
            )
    return made


def frame_files(folder, X, new, rng):
    """The frame in two CSV or Parquet files."""
    from manykernels.streaming import CSVFiles, ParquetFiles

    half = max(1, len(X) // 2)
    X, new = X.reset_index(drop=True), new.reset_index(drop=True)
    for number, part in enumerate((X[:half], X[half:])):
        part.to_csv(f"{folder}/part{number}.csv", index=False)
    new.to_csv(f"{folder}/new.csv", index=False)
    names = [f"{folder}/part{number}.csv" for number in (0, 1)]
    made = [("CSV", CSVFiles(names, rows=9), CSVFiles(f"{folder}/new.csv"))]
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return made
    X.to_parquet(f"{folder}/all.parquet", row_group_size=11)
    new.to_parquet(f"{folder}/new.parquet")
    made.append(("Parquet", ParquetFiles(f"{folder}/all.parquet"), ParquetFiles(f"{folder}/new.parquet")))
    return made


def choose(data, rows):
    """Some of a list, a tuple, an array or a pandas column."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return data[rows] if isinstance(data, np.ndarray) else type(data)(data[i] for i in rows)


def strings(rng):
    """DNA or proteins as lists, arrays or pandas columns: unknown letters, lower case, unequal lengths."""
    import pandas as pd

    from manykernels import strings as s

    n, m, length = size(rng, 2, 120), size(rng, 1, 20), size(rng, 3, 40)
    dna = rng.random() < 0.8
    letters = list("ACGT" if dna else "ACDEFGHIKLMNPQRSTVWY")
    equal = rng.random() < 0.6
    lengths = np.full(n + m, length) if equal else rng.integers(1, length + 1, n + m)
    if rng.random() < 0.2:
        letters.append("N" if dna else "X")
    data = ["".join(rng.choice(letters, k)) for k in lengths]
    if rng.random() < 0.15 and dna:
        data = [text.lower() if rng.random() < 0.5 else text for text in data]
    alphabet = {"alphabet": "dna" if dna else "protein"}
    d = int(rng.integers(1, min(6, length) + 1))
    anywhere = [
        lambda: s.Spectrum(d, **alphabet),
        lambda: s.Spectrum(1, **alphabet),
        lambda: s.Mismatch(max(d, 2), 1, **alphabet),
        lambda: s.GappedKmer(d + 1, d, **alphabet),
    ]
    aligned = [
        lambda: s.WeightedDegree(d, **alphabet),
        lambda: s.WeightedDegreeShift(d, int(rng.integers(0, 4)), **alphabet),
        lambda: s.Degree(d, **alphabet),
        lambda: s.WeightedDegree(2, start=1, stop=length, **alphabet),
    ]
    makers = anywhere + (aligned if equal else [])
    kernels = [(f"s{i}", makers[rng.integers(len(makers))]()) for i in range(int(rng.integers(1, 5)))]
    if equal and rng.random() < 0.4:
        kernels = [
            lambda: s.degree_kernels(d, **alphabet),
            lambda: s.position_kernels(length, d, int(rng.integers(1, 5)), **alphabet),
            lambda: s.degree_position_kernels(length, min(d, 2), 3, **alphabet),
        ][rng.integers(3)]()
    makes = {
        "list": list,
        "array": np.array,
        "objects": lambda rows: np.array(rows, dtype=object),
        "bytes": lambda rows: [text.encode() for text in rows],
        "pandas": pd.Series,
        "tuple": tuple,
    }
    chosen, other = rng.permutation(list(makes))[:2]
    X, new = makes[chosen](data[:n]), makes[chosen](data[n:])
    forms = [(str(other), makes[other](data[:n]), makes[other](data[n:]))]
    name = f"strings {n}×{length}{'' if equal else ' unequal'} {alphabet['alphabet']} {chosen} d={d}"
    world = World(name, X, new, kernels, n, forms)
    world.signal = np.array([text.upper().count("A") - 0.3 * text.upper().count("C") for text in data[:n]], float)
    world.take = choose
    if dna:
        world.sources = lambda folder: fasta(folder, data[:n], data[n:], rng)
    return world


def fasta(folder, X, new, rng):
    """The sequences in two FASTA files."""
    try:
        import dnaio  # noqa: F401
    except ImportError:
        return []
    from manykernels.streaming import FastaFiles

    half = max(1, len(X) // 2)
    for name, rows in (("a.fa", X[:half]), ("b.fa", X[half:]), ("new.fa", new)):
        with open(f"{folder}/{name}", "w") as file:
            file.writelines(f">s{i}\n{text}\n" for i, text in enumerate(rows))
    paths = [f"{folder}/a.fa"] + ([f"{folder}/b.fa"] if len(X) > half else [])
    return [("FASTA", FastaFiles(paths, rows=int(rng.choice([3, 65536]))), FastaFiles(f"{folder}/new.fa"))]


def views(rng):
    """Several sources, matched by id or by row, of which examples may lack one."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import StandardScaler

    from manykernels import Views
    from manykernels import kernels as k
    from manykernels import strings as s

    n, m, p = size(rng, 4, 120), size(rng, 1, 20), size(rng, 1, 20)
    total, holes = n + m, rng.random() < 0.5
    whole = {
        "rna": lay(cast(numbers(rng, total, p), str(rng.choice(["f8", "f4", "i4"]))), str(rng.choice(["C", "F"]))),
        "notes": texts(rng, total),
        "dna": ["".join(rng.choice(list("ACGT"), 12)) for _ in range(total)],
    }
    names = ["rna", *[name for name in ("notes", "dna") if rng.random() < 0.7]]
    if not holes and rng.random() < 0.3:
        names.append("network")
        points = rng.normal(size=(total, 3))
        nets = {
            0: k.Precomputed.table(points[:n] @ points[:n].T),
            n: k.Precomputed.table(points[n:] @ points[:n].T, new=True),
        }
    zero = ("zero",) if holes else ()
    options = {
        "rna": [("rna", k.RBF(gamma=0.1)), ("scaled", StandardScaler(), k.RBF(), "rna"), ("line", k.Linear(), "rna")],
        "network": [("network", k.Precomputed())],
        "notes": [("words", k.Features(TfidfVectorizer(token_pattern=r"\S+")), "notes", *zero)],
        "dna": [("letters", s.Spectrum(2), "dna", *zero), ("sites", s.WeightedDegree(3), "dna", *zero)],
    }
    kernels = [entry for name in names for entry in options[name] if rng.random() < 0.8] or options["rna"][:1]
    if rng.random() < 0.15:
        kernels, names = "auto", [name for name in names if name in ("rna", "notes")]
    ids = [f"p{i}" for i in range(total)]

    def make(low, high):
        if not holes:
            return Views({name: nets[low] if name == "network" else whole[name][low:high] for name in names})
        data, known = {}, {}
        for name in names:
            keep = [i for i in range(low, high) if name == "rna" or rng.random() < 0.7] or [low]
            keep = [int(i) for i in rng.permutation(keep)]
            rows = whole[name]
            data[name] = rows[keep] if isinstance(rows, np.ndarray) else [rows[i] for i in keep]
            known[name] = [ids[i] for i in keep]
        return Views(data, ids=known, examples=ids[low:high])

    X, new = make(0, n), make(n, total)
    forms = [] if holes else [("dict", {k: X[k] for k in names}, {k: new[k] for k in names})]
    name = f"views {n}: {'/'.join(names)}{' with holes' if holes else ''}"
    table = whole["rna"][:n].astype(float)
    return World(name, X, new, kernels, n, forms, numbers=table, signal=table[:, 0])


def notes(rng):
    """Texts alone, as a list, an array or a pandas column."""
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    from manykernels.kernels import Features

    n, m = size(rng, 3, 100), size(rng, 1, 20)
    data = texts(rng, n + m)
    kernels = [("words", Features(TfidfVectorizer(token_pattern=r"\S+")))]
    kernels += [("letters", Features(CountVectorizer(analyzer="char")))] if rng.random() < 0.5 else []
    makes = {"list": list, "objects": lambda rows: np.array(rows, dtype=object), "pandas": pd.Series, "array": np.array}
    chosen, other = rng.permutation(list(makes))[:2]
    forms = [(str(other), makes[other](data[:n]), makes[other](data[n:]))]
    world = World(f"texts {n} {chosen}", makes[chosen](data[:n]), makes[chosen](data[n:]), kernels, n, forms)
    world.signal = np.array([float(len(text)) for text in data[:n]])
    world.take = choose
    return world


def pairs(rng):
    """Pairs of objects, each side a table, strings or matrices."""
    from manykernels import kernels as k
    from manykernels import strings as s
    from manykernels.pairs import Pairs, Pairwise

    a, b, n, m = size(rng, 2, 20), size(rng, 2, 20), size(rng, 4, 150), size(rng, 1, 20)
    index = np.column_stack([rng.integers(a, size=n + m), rng.integers(b, size=n + m)])
    left = rng.normal(size=(a, 3)) * 10.0 ** rng.integers(-2, 3)
    words = ["".join(rng.choice(list("ACGT"), 10)) for _ in range(b)]
    table = rng.normal(size=(b, 2))
    kind = str(rng.choice(["strings", "table", "matrices"]))
    combine = ["kronecker", "cartesian", "sum", ["kronecker", "sum"]][rng.integers(4)]
    mine = [("shape", k.RBF(gamma=0.3)), ("charge", k.Linear())][: int(rng.integers(1, 3))]
    if kind == "strings":
        right, other = words, [("sequence", s.Spectrum(2)), ("sites", s.WeightedDegree(2))]
    elif kind == "table":
        right, other = table, table_kernels(rng, 2, False, plain=True)
    else:
        right, other = np.stack([table @ table.T, np.eye(b)], axis=2), "precomputed"
    X, new = Pairs(index[:n], left, right), Pairs(index[n:], left, right)
    as_list = Pairs(index[:n].astype(np.int32), left.tolist(), right), Pairs(index[n:].tolist(), left.tolist(), right)
    kernels = Pairwise(mine, other, combine)
    signal = left[index[:n, 0], 0] / np.abs(left).max() + table[index[:n, 1], 0]
    return World(f"pairs {n} of {a}×{b} {kind} {combine}", X, new, kernels, n, [("lists", *as_list)], signal=signal)


def tasks(rng):
    """A table whose examples belong to several tasks."""
    from manykernels import kernels as k

    n, m, p, T = size(rng, 4, 100), size(rng, 1, 20), size(rng, 1, 8), int(rng.integers(1, 4))
    data = rng.normal(size=(n + m, p))
    kernels = k.multi_task([k.RBF(gamma=0.2), k.Linear()][: int(rng.integers(1, 3))], bool(rng.random() < 0.3))
    names = np.array(["a", "b", "c"]) if rng.random() < 0.5 else np.arange(3)
    which = names[np.concatenate([np.arange(n) % T, rng.integers(T, size=m)])]
    world = World(f"tasks {n}×{p}, {T} tasks", data[:n], data[n:], kernels, n, [], signal=data[:n, 0])
    world.tasks = (which[:n], which[n:])
    return world

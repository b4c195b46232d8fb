"""Checkpoints that lie, as `hostile` has it for models: every array and number changed, and the fit begun again."""

import json
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from hostile import LABELS, First, S, X, Y, as_npy, changed_arrays, changed_tree, pack, sweep, unpack, y
from sklearn.base import clone

from manykernels import MKLClassifier
from manykernels.kernels import RBF, Linear
from manykernels.solvers import checkpoint_file, coordinate
from manykernels.strings import degree_kernels

STRINGS = MKLClassifier(degree_kernels(2), solver="coordinate", tol=1e-6, C=1.0)
NUMBERS = MKLClassifier([RBF(gamma=0.1), Linear()], solver="newton", tol=1e-8, C=1.0)
FITS = {  # model, data, and how many writes there are before it is killed
    "within a pass": (STRINGS, S, LABELS, 4),
    "with cuts": (clone(STRINGS).set_params(regularizer=1), S, LABELS, 30),
    "of several classes": (clone(STRINGS).set_params(multi_class="shared"), S, Y, 6),
    "at a point": (NUMBERS, X, y, 3),
    "one against the rest": (NUMBERS, X, Y, 8),
    "solved": (NUMBERS, X, y, 10**6),
}


class Killed(BaseException):
    """Nothing catches it."""


def broken(name, path):
    """The model, its data and the checkpoint of a fit that was killed."""
    model, data, target, writes = FITS[name]
    model, write, count = clone(model).set_params(checkpoint=path), checkpoint_file.Checkpoint.write, 0

    def counted(self, parts):
        nonlocal count
        write(self, parts)
        count += 1
        if count == writes:
            raise Killed

    checkpoint_file.Checkpoint.write = counted
    try:
        model.fit(data, target)
    except Killed:
        pass
    finally:
        checkpoint_file.Checkpoint.write = write
    return model, data, target


def outcome(model, data, target):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            clone(model).fit(data, target).predict(data)
    except ValueError as error:
        return "refused" if "checkpoint=" in str(error) else f"ValueError: {error}"
    except BaseException as error:
        return f"fit: {type(error).__name__}: {error}"
    return "predicts"


def cases_of(name, path, thorough):
    """(what is changed, function that tries it)."""
    fit = broken(name, path)
    header, arrays = unpack(path)
    same = {key: as_npy(array) for key, array in arrays.items()}

    def attempt(*parts):
        pack(path, *parts)
        return outcome(*fit)

    assert attempt(header, same) == "predicts", (name, attempt(header, same))
    for what, key, other in changed_arrays(arrays, thorough):
        yield f"{name}: {what}", partial(attempt, header, same | {key: other})
    content = header["content"]
    for what, parts in changed_tree(content["parts"], First(1 if thorough else 5)):
        yield f"{name}: {what}", partial(attempt, header | {"content": content | {"parts": parts}}, same)


if __name__ == "__main__":
    checkpoint_file.WRITE_INTERVAL, checkpoint_file.WRITE_PAUSE, coordinate.VISITS_PER_SUM = 0.0, 0, 128
    with tempfile.TemporaryDirectory() as folder:
        names = [name for name in sys.argv[1:] if name in FITS] or list(FITS)
        cases = (
            case
            for name in names
            for case in cases_of(name, Path(folder) / name.replace(" ", "_"), "thorough" in sys.argv)
        )
        print(json.dumps(sweep(cases)))

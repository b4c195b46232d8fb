"""Model files in which one part is another of its kind: each must be refused when it is loaded, or predict.

Run as a program, `python retagged.py classifier tasks`, it takes these files of tests/files, gives each loss, kernel,
regularizer, weighting and solver in them the tag of each other, or of those named, with the state that is there and
with that of the other part, and loads and predicts. The last line of its output is JSON, as that of `hostile.py`.
"""

import copy
import json
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np

FILES = Path(__file__).parents[1] / "files"
sys.path += [str(FILES), str(Path(__file__).parent)]
import write as written  # noqa: E402
from hostile import as_npy, pack, sweep, unpack  # noqa: E402

import manykernels  # noqa: E402
from manykernels._archive import Encoder  # noqa: E402
from manykernels._state import TAGS, reader  # noqa: E402
from manykernels.kernels import RBF, Linear  # noqa: E402

KINDS = ("kernel", "loss", "regularizer", "weighting", "solver", "prior")
GIVEN = {
    "Mismatch": (3, 1), "GappedKmer": (3, 2), "Spectrum": (2,), "WeightedDegree": (3,), "Degree": (2,),
    "WeightedDegreeShift": (3, 1), "Sum": (RBF(), Linear()), "Product": (RBF(), Linear()), "Fixed": (np.ones(1),),
    "Nystroem": (RBF(1.0), 3), "RandomFeatures": (RBF(1.0), 4), "On": ("x", RBF()), "ViewKernel": (0, RBF()),
}  # fmt: skip


@cache
def state_of(tag):
    """The state of a part with that tag as JSON, None where it cannot be made of numbers and texts alone."""
    cls = reader(tag, {})
    encoder = Encoder()
    try:
        state = encoder.encode(cls(*GIVEN.get(cls.__name__, ())), "")["state"]
    except (TypeError, ValueError, AttributeError):
        return None
    return None if encoder.arrays else json.dumps(state)


def parts(node):
    """The parts in a tree that may be retagged."""
    for value in node.values() if isinstance(node, dict) else node:
        if isinstance(value, dict | list):
            yield from parts(value)
    if isinstance(node, dict) and str(node.get("tag", "")).split("/")[0] in KINDS:
        yield node


def changed(tree, tags):
    """(what is changed, another tree)."""
    for i, node in enumerate(parts(tree)):
        for tag in tags:
            if tag[0].split("/")[0] == node["tag"].split("/")[0] and tag[0] != node["tag"]:
                for state in (None, state_of(tag)):
                    again = copy.deepcopy(tree)
                    part = list(parts(again))[i]
                    what = f"{i}: {part['tag']} -> {tag[0]}" + (" with its state" if state else "")
                    part |= {"tag": tag[0], "version": tag[1]} | ({"state": json.loads(state)} if state else {})
                    yield what, again
                    if state_of(tag) is None:
                        break


def outcome(path, given):
    """What becomes of it: "refused" by its name, "predicts", or what should not be."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = manykernels.load(path)
        except ValueError as error:
            return "refused" if str(path) in str(error) else f"says: {error}"
        except Exception as error:
            return f"load: {type(error).__name__}: {error}"
        try:
            model.decision_parts(**given)
            model.predict(**given)
        except Exception as error:
            return f"predict: {type(error).__name__}: {error}"
    return "predicts"


def cases_of(name, path, tags):
    tree, arrays = unpack(FILES / f"{name}.mk")
    same, given = {key: as_npy(array) for key, array in arrays.items()}, written.given(name, written.NEW)

    def attempt(other):
        pack(path, other, same)
        return outcome(path, given)

    for what, other in changed(tree, tags):
        yield f"{name} {what}", lambda other=other: attempt(other)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model.mk"
        files = [name for name in sys.argv[1:] if name in written.MODELS]
        tags = [tag for tag in TAGS if tag[0] in sys.argv] or list(TAGS)
        print(json.dumps(sweep(case for name in files for case in cases_of(name, place, tags))))

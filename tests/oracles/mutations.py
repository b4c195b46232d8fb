"""Files changed at random in every way that we could think of, and what becomes of reading them.

Run as a program, in a process of its own: `python mutations.py 2000` changes the files of some models so many times,
loads each and predicts. The last line of its output is JSON: for each kind of change how many were refused and how many
still gave a model with finite answers, those that did neither, the longest time that one took, and by how many bytes
the process has grown. While a file is read an audit hook listens for what runs code.
"""

import io
import json
import pickle
import random
import resource
import struct
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
from hostile import fitted, sweep

import manykernels
from manykernels._archive import TEXT

NAMES = ("pairwise called", "several classes", "regressor", "one class", "tasks", "linear sparse", "views", "degree",
         "trie spherical", "words", "mismatch hash", "walks", "precomputed spherical", "transformed", "texts",
         "across views", "pairs")  # fmt: skip
RUNS = ("pickle.find_class", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "os.remove")
LISTENING, HEARD = [], []


def listen(event, _):
    if LISTENING and event in RUNS:
        HEARD.append(event)


class Bomb:
    """A pickle that says when it is loaded."""

    def __reduce__(self):
        return exec, ("import os; os.system('true')",)


def unzip(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def rezip(members, good=True):
    """A file of these members; `good`: with the checksums that belong to them."""
    if good and TEXT in members:
        try:
            sums = {name: zlib.crc32(data) for name, data in members.items() if name != TEXT}
            members = members | {TEXT: json.dumps(json.loads(members[TEXT]) | {"checksums": sums}).encode()}
        except (ValueError, TypeError):
            pass
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def arrays(members):
    return [name for name in members if name != TEXT]


def nodes(tree):
    """All dicts of a JSON text."""
    if isinstance(tree, dict):
        yield tree
    for item in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from nodes(item)


def with_text(members, change):
    tree = json.loads(members[TEXT])
    change(tree)
    return rezip(members | {TEXT: json.dumps(tree).encode()})


def flip_bits(data, rng):
    bad = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        bit = rng.randrange(8 * len(bad))
        bad[bit // 8] ^= 1 << bit % 8
    return bytes(bad)


def flip_bits_inside(data, rng):
    """Of a member, with good checksums."""
    members = unzip(data)
    name = rng.choice(list(members))
    return rezip(members | {name: flip_bits(members[name], rng)})


def truncate(data, rng):
    return data[: rng.randrange(len(data))] + bytes(rng.choice((0, 0, 100)))


def overwrite(data, rng):
    at, size = rng.randrange(len(data)), rng.randrange(1, 64)
    return data[:at] + rng.randbytes(size) + data[at + size :]


def swap_members(data, rng):
    members = unzip(data)
    one, other = rng.sample(list(members), 2)
    return rezip(members | {one: members[other], other: members[one]}, rng.random() < 0.5)


def drop_or_double(data, rng):
    members = unzip(data)
    name = rng.choice(list(members))
    if rng.random() < 0.5:
        return rezip({other: member for other, member in members.items() if other != name})
    buffer = io.BytesIO(data)
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a") as file:
        warnings.simplefilter("ignore")
        file.writestr(name, rng.choice(list(members.values())))
    return buffer.getvalue()


def declare_huge(data, rng):
    members = unzip(data)
    huge = rng.choice((2**20, 2**31, 2**40, 2**62, -1))
    if rng.random() < 0.5:
        name = rng.choice(arrays(members))
        head = repr({"descr": "<f8", "fortran_order": False, "shape": (huge,)}).encode() + b"\n"
        return rezip(members | {name: b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(64)})
    if rng.random() < 0.3:  # the size that the directory declares
        at = data.rindex(b"PK\x01\x02") + rng.choice((20, 24))
        return data[:at] + struct.pack("<I", huge % 2**32) + data[at + 4 :]

    def change(tree):
        node = rng.choice([node for node in nodes(tree) if isinstance(node.get("shape"), list)])
        node["shape"] = [huge, *node["shape"][1:]]

    return with_text(members, change)


def rename_tags(data, rng):
    tags = "os.system", "kernel/new", "builtins:eval", "", "kernel/rbf", "predictor/pairwise", "../x", "bank/words"

    def change(tree):
        node = rng.choice([node for node in nodes(tree) if node.get("is") in ("part", "process", "function")])
        if rng.random() < 0.3:
            node["version"] = rng.choice((0, 2, -1, 2**40, "1", None))
        else:
            node["tag" if "tag" in node else "name"] = rng.choice(tags)

    return with_text(unzip(data), change)


def name_paths(data, rng):
    members = unzip(data)
    path = rng.choice(("../../evil.npy", "/tmp/evil.npy", "a/../b.npy", "C:\\evil.npy", "a" * 5000))
    old = rng.choice(arrays(members))
    members = {path if name == old else name: member for name, member in members.items()}
    stem = rng.choice((path.removesuffix(".npy"), old.removesuffix(".npy")))
    text = members[TEXT].replace(f'"{old[:-4]}"'.encode(), json.dumps(stem).encode())
    return rezip(members | {TEXT: text})


def insert_pickles(data, rng):
    bomb, members = pickle.dumps(Bomb()), unzip(data)
    if rng.random() < 0.1:
        return bomb
    if rng.random() < 0.3:
        return rezip(members | {rng.choice(("data.pkl", "a99.npy")): bomb})
    name, shape = rng.choice(arrays(members)), rng.choice(((), (1,), (2**40,)))
    head = repr({"descr": "|O", "fortran_order": False, "shape": shape}).encode() + b"\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bomb
    return rezip(members | {name: rng.choice((array, bomb))})


def change_text(data, rng):
    """One value of the text for another, or for one from elsewhere in it."""

    def change(tree):
        places = [(node, key) for node in nodes(tree["content"]) for key in node]
        node, key = rng.choice(places)
        other, name = rng.choice(places)
        copy = json.loads(json.dumps(other[name]))
        values = (None, True, -1, 0, 2**62, 1.5, float("nan"), "x", [], {}, [[]], copy)
        node[key] = rng.choice(values)

    return with_text(unzip(data), change)


KINDS = (flip_bits, flip_bits_inside, truncate, overwrite, swap_members, drop_or_double, declare_huge, rename_tags,
         name_paths, insert_pickles, change_text)  # fmt: skip


def outcome(path, data, given):
    """What reading a file comes to, and predicting with it."""
    path.write_bytes(data)
    HEARD.clear()
    LISTENING.append(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = manykernels.load(path)
    except ValueError as error:
        return "refused" if str(path) in str(error) else f"says: {error}"
    except BaseException as error:
        return f"load: {type(error).__name__}: {error}"
    finally:
        LISTENING.clear()
        if HEARD:
            return f"runs: {HEARD}"  # noqa: B012
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = model.decision_parts(**given)
            model.predict(**given)
    except ValueError:
        return "refused later"
    except BaseException as error:
        return f"predict: {type(error).__name__}: {error}"
    return "predicts" if np.isfinite(found).all() else "predict: not finite"


def main(count):
    sys.addaudithook(listen)
    rng, totals, longest = random.Random(0), {}, 0.0
    with tempfile.TemporaryDirectory() as folder:
        path, good = Path(folder) / "model.mk", []
        for name in NAMES:
            model, given = fitted(name)
            model.save(path)
            good.append((name, path.read_bytes(), given))
            assert outcome(path, good[-1][1], given) == "predicts", outcome(path, good[-1][1], given)
        before, wrong = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
        for k in range(count):
            kind, (name, data, given) = KINDS[k % len(KINDS)], good[k // len(KINDS) % len(good)]
            data, begun = kind(data, rng), time.monotonic()
            found = sweep([(f"{k} {kind.__name__} {name}", lambda data=data, given=given: outcome(path, data, given))])
            longest = max(longest, time.monotonic() - begun)
            wrong += found["wrong"]
            counts = totals.setdefault(kind.__name__, {})
            for what, number in found["counts"].items():
                counts[what] = counts.get(what, 0) + number
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(json.dumps({"counts": totals, "wrong": wrong, "longest": round(longest, 2), "grown": grown}))


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""What objects keep in files: a class declares it once, and one engine writes it, reads it, and checks all of it.

Compiled loops use what was read as indices without a check, so that each index, shape and type has to be right. A class
declares `saved` = {entry: spec}. The entry "known as objects" is called `known` in files, and is the attribute
`objects`. A spec is a kind and what follows it; "?" before it allows None, and an entry that old files lack:

    "f8 T n"            an array of float64 with two axes; a letter is the same number everywhere in one object,
                        "_" is any number, and 2 is 2; "csr M d" is a CSR matrix of float64, "csr|f8 M d" is either
    "i8 n <M"           integers 0 <= i < M; ">=-1" sets the smallest, "asc" wants them to ascend without repetition
    "f8 n finite"       no NaN, no infinity; "positive" wants each to be more than 0
    "i8 _ asc 0..D"     offsets, from 0 to D
    "list M f8 n _"     a list of M entries with that spec
    "int 1 <n"          an integer from 1 to n - 1, and a letter of its own name for the specs that follow it
    "of clip shift"     one of these texts
    "KernelList M"      an object of this class, or of a subclass; M is its attribute of this name, or its length
    "plain", "flag", …  the names in `CHECKS`
    "number or f8 T"    either

A class without `saved` keeps the parameters of its constructor.

Every class that can be saved declares a `file_tag`, a name and a version, and is registered when it is defined. A
class may be renamed or moved: its tag stays. If the result of its `to_state` changes, its tag gets the next version,
and `former_tags` names the versions that its `from_state` still reads. Never remove a tag.

A class from outside the package declares a `file_tag` too. It is not registered: pass it to `load(path, parts=[...])`.
"""

from contextlib import suppress
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

BIG = 2**48  # the letter "big" in specs: a number of examples, features or steps
Tag = tuple[str, int]
TAGS: dict[Tag, type] = {}  # the classes of the package whose modules are loaded
TRANSFORMER: Tag = ("transformer/sklearn", 1)  # every transformer of scikit-learn, by the name of its class


class Tagged:
    """The base of classes that declare a `file_tag`."""

    __slots__ = ()
    file_tag: ClassVar[Tag]
    former_tags: ClassVar[tuple[Tag, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "file_tag" in vars(cls) and _is_own(cls):
            register(cls)


def tagged(name, version):
    """Gives a class its `file_tag` and its state: for named tuples, which cannot be `Tagged`."""

    def give(cls):
        cls.file_tag, cls.to_state = (name, version), cls._asdict
        cls.from_state = classmethod(lambda cls, state: cls(**state))
        register(cls)
        return cls

    return give


def register(cls):
    """Makes `reader` find the class by its tags."""
    for tag in (cls.file_tag, *vars(cls).get("former_tags", ())):
        known = TAGS.setdefault(tag, cls)
        if known.__qualname__ != cls.__qualname__:
            raise ValueError(f"{known.__qualname__} and {cls.__qualname__} have the same file_tag={tag!r}.")


def _is_own(cls):
    return cls.__module__.partition(".")[0] == __package__


def _names():
    return {name for name, _ in TAGS}


class Refused(ValueError):
    """The file looks undamaged, but this release cannot read it, or needs an argument to read it."""


def tag_of(cls):
    """The tag (name, version) that files hold for objects of the class; None if they cannot be saved."""
    if "file_tag" not in vars(cls):  # an inherited tag belongs to another class
        return None
    return cls.file_tag if _is_own(cls) else own_tag(cls)


def own_tag(cls):
    """The `file_tag` that a class from outside declares, or a ValueError."""
    tag = vars(cls).get("file_tag")
    if not (isinstance(tag, tuple) and len(tag) == 2 and isinstance(tag[0], str) and type(tag[1]) is int):
        raise ValueError(
            f"{cls.__qualname__} has file_tag={tag!r}: a class whose objects are saved declares its own "
            'file_tag = ("name", version), such as ("example/overlap", 1).'
        )
    if tag[0] in _names():
        raise ValueError(f"file_tag={tag!r} of {cls.__qualname__} is one of manykernels itself: take another name.")
    return tag


def outside(parts):
    """{tag: class} of the classes that a user gives, or a ValueError."""
    found = {}
    for cls in parts:
        if not isinstance(cls, type):
            raise ValueError(f"parts has {cls!r}: give classes, such as parts=[{type(cls).__name__}].")
        if found.setdefault(own_tag(cls), cls) is not cls:
            raise ValueError(f"two of parts have file_tag={own_tag(cls)!r}: give each another name.")
    return found


def reader(tag, found, called=""):
    """The class whose `from_state` reads this tag; `found` are the classes of `outside`."""
    if tag in found:
        return found[tag]
    if tag in TAGS:
        return TAGS[tag]
    name, version = tag
    if name in _names():
        raise Refused(f"holds {name!r} of version {version}, which this release does not read: upgrade manykernels")
    if called:
        raise Refused(
            f"holds a part of the class {called}, under the tag {(name, version)}, which is no class of manykernels: "
            f"give it, load(path, parts=[{called.rpartition('.')[2]}])"
        )
    raise Refused(f"holds {name!r}, which is no part of this release: upgrade manykernels")


class Stored(Tagged):
    """An object that files hold: the attributes that it declares as `saved`, or its parameters."""

    saved: ClassVar[dict[str, str]] = {}

    def to_state(self) -> dict[str, Any]:
        """A dictionary of numbers, texts, arrays, lists of them and other parts; `from_state` reverses it."""
        own = vars(type(self)).get("saved")
        if own is None:  # a subclass may have other parameters
            return self.get_params(deep=False)  # type: ignore[attr-defined]  # the subclass defines it
        return {
            entry: getattr(self, name, None) if spec[0] == "?" else getattr(self, name)  # as it declares
            for entry, name, spec in entries(own)
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The checked object from the result of `to_state`; a ValueError or TypeError if it is damaged."""
        if "saved" in vars(cls):
            found = cls.__new__(cls)
            own = read_entries(cls.saved, state)  # what `fit` has not set is no attribute, as in scikit-learn
            vars(found).update({name: own[name] for name in own if own[name] is not None or name[-1] != "_"})
        else:
            found = cls(**state)
        found.check_state()
        return found

    def check_state(self) -> None:
        """Raises a ValueError for what `saved` cannot say, and sets the attributes that follow from the others."""
        if "saved" not in vars(type(self)):
            for name, value in self.to_state().items():
                check_plain(name, value, (Stored,))


def entries(saved):
    """(entry, attribute, spec) of each entry of a `saved`."""
    for key, spec in saved.items():
        entry, _, name = key.partition(" as ")
        yield entry, name or entry, spec


def read_entries(saved, state, **sizes):
    """{attribute: value} of a state, each checked against its spec; `sizes` are letters that are known before."""
    check_is("a state", state, dict)
    sizes, found = {"big": BIG, **sizes}, {}
    for entry, name, spec in entries(saved):
        found[name] = state.get(entry) if spec[0] == "?" else state[entry]
        check_value(entry, found[name], spec, sizes)
    return found


def check_value(name, value, spec, sizes):
    """A ValueError that names the entry unless its value is what the spec says; sets letters in `sizes`."""
    if spec[0] == "?" and value is None:
        return
    spec, _, other = spec.removeprefix("?").partition(" or ")
    if other:
        tried = dict(sizes)
        with suppress(ValueError):
            check_value(name, value, spec, tried)
            return sizes.update(tried)
        spec = other
    kind, *tokens = spec.split()
    if kind == "list":
        _check_sizes(name, [len(check_is(name, value, list))], tokens[:1], sizes)
        for item in value:
            check_value(f"an entry of {name}", item, " ".join(tokens[1:]), sizes)
    elif kind == "int":
        low, high = ([*tokens, "<big"] if len(tokens) < 2 else tokens)[:2]
        sizes[name] = check_integer(name, value, _number(low, sizes), _number(high[1:], sizes) - 1)
    elif kind == "of":
        check(isinstance(value, str) and value in tokens, f"{name} is {value!r:.80}")
    elif kind in CHECKS:
        CHECKS[kind](name, value)
    elif kind[0].isupper():
        check(kind in {cls.__name__ for cls in type(value).__mro__}, f"{name} is of type {type(value).__name__}")
        known = [getattr(value, letter, None) or len(value) for letter in tokens]  # as the spec says
        _check_sizes(name, known, tokens, sizes)
    else:
        _check_array(name, value, kind, tokens, sizes)


def _check_array(name, value, kind, tokens, sizes):
    sparse = "csr" in kind and getattr(value, "format", None) == "csr"  # a matrix of scipy
    array, dtype = (value.data, "f8") if sparse else (value, kind.rpartition("|")[2])
    if type(array) is not np.ndarray or dtype == "csr" or array.dtype != dtype:
        found = getattr(value, "dtype", type(value).__name__)  # anything from a file
        raise ValueError(f"{name} is {found}, not an array of {kind}")
    _check_sizes(name, value.shape, [token for token in tokens if not _is_rule(token)], sizes)
    for rule in filter(_is_rule, tokens):
        if ".." in rule:
            end = _number(rule[3:], sizes)
            check(array[:1].tolist() == [0] and array[-1] == end, f"{name} does not go from 0 to {end}")
        elif rule[0] == "<":
            low, high = next((int(t[2:]) for t in tokens if t[0] == ">"), 0), _number(rule[1:], sizes)
            wrong = array[(array < low) | (array >= high)]
            check(not wrong.size, f"{name} has the entry {wrong[:1]}, which is not within {low} … {high - 1}")
        elif rule in RULES:
            check(RULES[rule](array), f"{name} is not {rule}")


RULES = {
    "asc": lambda array: (array[1:] > array[:-1]).all(),
    "finite": lambda array: np.isfinite(array).all(),
    "positive": lambda array: (array > 0).all(),
}


def _is_rule(token):
    return token[0] in "<>" or ".." in token or token in RULES


def _number(token, sizes):
    return int(token) if token.lstrip("-").isdigit() else sizes[token]


def _check_sizes(name, shape, axes, sizes):
    wanted = [here if axis == "_" else int(axis) if axis.isdigit() else sizes.setdefault(axis, here)
              for axis, here in zip(axes, shape, strict=False)]  # fmt: skip
    if len(shape) != len(axes) or list(shape) != wanted:
        raise ValueError(f"{name} has shape {tuple(shape)} where ({', '.join(axes)}) = {tuple(wanted)} is wanted")


def check(holds, what):
    """A ValueError that says `what` unless it holds."""
    if not holds:
        raise ValueError(what)


def check_is(name, value, kinds):
    """`value` if it is one of these kinds, else a ValueError."""
    if not isinstance(value, kinds) or isinstance(value, bool) and kinds is not bool:
        raise ValueError(f"{name} is of type {type(value).__name__}")
    return value


def check_integer(name, value, low, high):
    """`value` if it is an integer with low <= value <= high, else a ValueError."""
    check_is(name, value, Integral)
    if not low <= value <= high:
        raise ValueError(f"{name} = {value} is not within {low} … {high}")
    return int(value)


def check_sparse(data, indices, indptr, rows, columns):
    """The parts of a CSR matrix of that shape; scipy's own check trusts the last entry of indptr."""
    check(type(data) is np.ndarray and data.dtype.kind in "fiub" and data.ndim == 1, "data are no numbers")
    sizes = {"n": len(data), "columns": columns, "ends": len(data) + 1, "rows": check_integer("rows", rows, 0, BIG) + 1}
    check_value("indices", indices, "i4 n <columns or i8 n <columns", sizes)
    check_value("indptr", indptr, "i4 rows <ends or i8 rows <ends", sizes)
    check(indptr[0] == 0 and (indptr[1:] >= indptr[:-1]).all(), "indptr does not ascend from 0")


def check_plain(name, value, also=()):
    """A parameter: a number, a text, None, an array of numbers, one of the types `also`, or a list or dict of them."""
    if isinstance(value, (list, tuple)):
        for item in value:
            check_plain(name, item, also)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_plain(name, key)
            check_plain(name, item, also)
    elif isinstance(value, np.ndarray):
        check(value.dtype.kind in "biufUS", f"{name} is an array of {value.dtype}")
    elif value is not None and not isinstance(value, (bool, Real, str, slice, np.generic, *also)):
        raise ValueError(f"{name} is of type {type(value).__name__}")


def check_labels(name, value):
    """An array of one axis whose entries are plain."""
    check(type(value) is np.ndarray and value.ndim == 1, f"{name} is no list")
    check_plain(name, value.tolist())


def check_records(name, value):
    """A history: a list of {text: a number or a text}."""
    for record in check_is(name, value, list):
        for key, item in check_is(name, record, dict).items():
            check_is(name, key, str)
            check(item is None or isinstance(item, (Real, str, np.generic)), f"{name} has {key} = {item!r}")


CHECKS = {
    "any": lambda name, value: None,
    "dict": lambda name, value: check_is(name, value, dict),
    "finite": lambda name, value: check(isinstance(value, Real) and np.isfinite(float(value)), f"{name} is {value!r}"),
    "flag": lambda name, value: check_is(name, value, bool),
    "jobs": lambda name, value: check(value is None or check_integer(name, value, -1024, 1024) != 0, f"{name} is 0"),
    "labels": check_labels,
    "number": lambda name, value: check_is(name, value, Real),
    "plain": check_plain,
    "records": check_records,
    "tuple": lambda name, value: check_is(name, value, tuple),
    "text": lambda name, value: check_is(name, value, str),
}

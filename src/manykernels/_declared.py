"""Constructors that keep each parameter under its name, made from the annotated names of a class."""

from dataclasses import MISSING, Field, field, make_dataclass
from inspect import get_annotations
from typing import dataclass_transform


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def declared(cls, kw_only=False):
    """The class with a constructor of the names that its bases and it annotate, in this order.

    A name may have a `field` as value: `kw_only=False` makes it positional, `init=False` takes it away, and without a
    default the attribute too. The constructor is that of a dataclass, whose other traces stay away: Dask would take
    fits with equal parameters for one fit.
    """
    own, found = dict(vars(cls)), {}
    cls._declared = {name: (name, kind, own.get(name, field())) for name, kind in get_annotations(cls).items()}
    for name in cls._declared:
        given = own.get(name)
        if isinstance(given, Field):
            delattr(cls, name)
            if not given.init:
                setattr(cls, name, _Absent(name) if given.default is MISSING else given.default)
    for base in reversed(cls.__mro__):
        found |= vars(base).get("_declared", {})
    cls.__init__ = make_dataclass(cls.__name__, found.values(), eq=False, kw_only=kw_only).__init__
    return cls


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def declared_by_keyword(cls):
    """`declared`, with all parameters but those with `kw_only=False` by keyword."""
    return declared(cls, kw_only=True)


class _Absent:
    """An attribute that a base has and a class does not, until an object sets it."""

    def __init__(self, name):
        self.name = name

    def __get__(self, owner, kind=None):
        raise AttributeError(f"{kind.__name__} has no {self.name!r}")

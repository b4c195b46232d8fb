"""Constructors that keep each parameter under its name, made from the annotated names of a class."""

from dataclasses import Field, field, make_dataclass
from inspect import get_annotations
from typing import dataclass_transform


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def declared(cls):
    """The class with a constructor of the names that its bases and it annotate and give a value, all by keyword.

    A name may have a `field` as value: `kw_only=False` makes it positional, `init=False` takes it away. The constructor
    is that of a dataclass, whose other traces stay away: Dask would take fits with equal parameters for one fit.
    """
    own, found = dict(vars(cls)), {}
    cls._declared = {name: (name, kind, own[name]) for name, kind in get_annotations(cls).items() if name in own}
    for name, _, value in cls._declared.values():
        if isinstance(value, Field):
            delattr(cls, name)
    for base in reversed(cls.__mro__):
        found |= vars(base).get("_declared", {})
    cls.__init__ = make_dataclass(cls.__name__, found.values(), kw_only=True).__init__
    return cls

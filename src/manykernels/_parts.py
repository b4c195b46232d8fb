"""Objects that equal their parameters, and constructors made from the annotated names of a class."""

from dataclasses import MISSING, Field, field, make_dataclass
from functools import lru_cache
from inspect import get_annotations, signature
from typing import Any, Self, dataclass_transform

import numpy as np

from ._state import Stored
from ._validation import shown


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


class Part(Stored):
    """An object that is printed, compared and copied by the parameters of its constructor, arrays included.

    The constructor stores each parameter under its name; losses and regularizers also check it. `get_params`,
    `set_params` and `sklearn.base.clone` follow scikit-learn, so that a search reaches `regularizer__p` or
    `solver__tau` of an estimator.
    """

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The parameters of the constructor and their default values."""
        return dict(_defaults(cls))  # type: ignore[arg-type]  # a class can be hashed

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """{name: value}; `deep` with the parameters of parts within, as `name__parameter`."""
        params = {name: getattr(self, name) for name in self.defaults()}
        for name, value in list(params.items()) if deep else ():
            if hasattr(value, "get_params") and not isinstance(value, type):  # any object in scikit-learn's manner
                params |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets these parameters through the constructor and returns the part; if one is invalid, none is set."""
        inner: dict[str, dict[str, Any]]
        own, inner = self.get_params(deep=False), {}
        for key, value in params.items():
            name, nested, rest = key.partition("__")
            if name not in own:
                raise ValueError(f"Invalid parameter {name!r} for {self!r}. Valid parameters are: {list(own)}.")
            if nested:
                inner.setdefault(name, {})[rest] = value
            else:
                own[name] = value
        for name, values in inner.items():
            own[name] = with_params(own[name], values, name)
        twin = type(self)(**own)
        vars(self).clear()
        vars(self).update(vars(twin))
        return self

    def __sklearn_clone__(self):
        from sklearn.base import clone

        return type(self)(**{name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()})

    def __repr__(self) -> str:
        shown = (f"{name}={_show(value)}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: Any) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, others = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], others[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(type(self))  # parameters may be set later, and hold arrays


@lru_cache
def _defaults(cls):
    named = (p for p in signature(cls).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))
    return {p.name: p.default for p in named}


def with_params(value: Any, params: dict[str, Any], called: str, such_as: str = "") -> Any:
    """A copy of `value`, the parameter `called`, with these parameters set; a ValueError if it has none."""
    from sklearn.base import clone

    if not hasattr(value, "set_params") or isinstance(value, type):  # any object in scikit-learn's manner
        raise ValueError(
            f"Invalid parameter {next(iter(params))!r} for {called}={value!r}, which has no parameters: give an object "
            f"that has some{such_as and f', such as {such_as}'}."
        )
    return clone(value, safe=False).set_params(**params)


def _show(value):
    if isinstance(value, np.ndarray):
        return np.array2string(value, separator=", ", threshold=8)
    return getattr(value, "__name__", None) or shown(value)  # a user's function


def _same(x, y):
    return np.array_equal(x, y) if isinstance(x, np.ndarray) or isinstance(y, np.ndarray) else x == y

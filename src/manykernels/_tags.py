"""Tags: the names of parts in files, and the classes that read them.

Every class that can be saved declares a `file_tag`, a name and a version, and is registered when it is defined. A
class may be renamed or moved: its tag stays. If the result of its `to_state` changes, its tag gets the next version,
and `former_tags` names the versions that its `from_state` still reads. Never remove a tag.

A class from outside the package declares a `file_tag` too. It is not registered: pass it to `load(path, parts=[...])`.
"""

from typing import Any, ClassVar

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

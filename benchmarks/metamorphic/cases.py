"""The number of a case decides on its change, world and call."""

import numpy as np

from . import doors  # noqa: F401  (registers its changes)
from .calls import calls
from .changes import CHANGES
from .judge import judge, shown
from .places import PLACES
from .worlds import KINDS, TARGETS, make

ALL = [(name, argument) for name, (_, arguments) in CHANGES.items() for argument in arguments]
ALL += [(name, "") for name in PLACES]
TRIES = 500
NEEDS = {  # what a change needs of a world, so that it is soon drawn
    "strata": ("", "times"), "task": ("tasks", ""), "unread column": ("", "times"), "few events": ("", "times"),
    "U for T": ("sequences", ""), "protein letters": ("sequences", ""), "strange letters": ("sequences", ""),
    "numbers as texts": ("auto", ""), "useless column": ("auto", ""), "order of views": ("views", ""),
    "renamed view": ("views", ""), "shuffled view": ("views", ""), "rare class": ("", "classes"),
    "durations": ("", "times"), "no time": ("", "classes"),
}  # fmt: skip


def case(number):
    """("change: argument | call | world", what is wrong or "") of a case."""
    return attempt(np.random.default_rng(number), *ALL[number % len(ALL)])


def attempt(rng, change, argument, call="", kind=""):
    """One case of a change; a world and a call to which it applies are drawn."""
    if change in PLACES:
        try:
            return change, PLACES[change](rng)
        except Exception as error:
            return change, f"crash: {shown(error)}"
    function = CHANGES[change][0]
    wanted = NEEDS.get(change) or NEEDS.get(argument, ("", ""))
    for _ in range(TRIES):
        drawn = str(rng.choice(KINDS)), str(rng.choice(TARGETS))
        world = make(rng, kind or wanted[0] or drawn[0], wanted[1] or drawn[1])
        able = [one for one in calls(world) if not call or one.name == call]
        if not able:
            continue
        chosen = able[rng.integers(len(able))]
        args = chosen.args(world)
        trial = function(rng, world, chosen, args, argument)
        verdict = None if trial is None else judge(chosen, world, args, trial)
        if verdict is not None:
            label = change if argument == "all" else f"{change}: {argument}"
            return f"{label} | {chosen.name} | {world.kind}", verdict
    raise RuntimeError(f"no world for {change} of {argument}")

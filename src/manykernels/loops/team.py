"""Threads that meet in compiled code: a barrier, and a word that tells the others what to do next.

A pool hands out tasks through Python, tens of microseconds each, one after the other under its lock. Loops with shorter
steps run as a team instead: every thread is inside the same compiled loop, does its part of each step, and waits for
the others. Waiting threads spin, then yield their core, and after a while sleep, which happens only on a busy machine.

`gate` is an array of GATE int64, zero at first: the number of arrived threads, the number of the meeting, and the
command, each on a separate cache line.
"""

import sys

from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from . import INNER, OPTIONS

GATE = 48
ARRIVED, MEETING, COMMAND = 0, 16, 32
SPINS, OFFERS = 4_000, 2_000  # some ten microseconds, and about a millisecond
NAP = 50  # microseconds

POSIX = sys.platform != "win32"
_yield = types.ExternalFunction("sched_yield", types.int32())
_sleep = types.ExternalFunction("usleep", types.int32(types.uint32))


def _pointer(context, builder, signature, args):
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, [args[1]])


@intrinsic
def _add(typing_context, array, index, value):
    """array[index] += value as one atomic step; returns the old value."""

    def generate(context, builder, signature, args):
        return builder.atomic_rmw("add", _pointer(context, builder, signature, args), args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), generate


@intrinsic
def _read(typing_context, array, index):
    """array[index], with the writes of other threads."""

    def generate(context, builder, signature, args):
        return builder.load_atomic(_pointer(context, builder, signature, args), "seq_cst", 8)

    return types.int64(array, types.intp), generate


@njit(**INNER)
def _wait(spins):
    if POSIX and spins > SPINS + OFFERS:
        _sleep(NAP)
    elif POSIX and spins > SPINS:
        _yield()


@njit(**OPTIONS)
def meet(gate, threads):
    """Returns when all threads have arrived; all then see what the others wrote before."""
    if threads == 1:
        return
    meeting = _read(gate, MEETING)
    if _add(gate, ARRIVED, 1) == threads - 1:
        _add(gate, ARRIVED, -threads)
        _add(gate, MEETING, 1)
        return
    spins = 0
    while _read(gate, MEETING) == meeting:
        spins += 1
        _wait(spins)


@njit(**OPTIONS)
def command(gate, value):
    """Sets the word that the others read after the next meeting."""
    _add(gate, COMMAND, value - _read(gate, COMMAND))


@njit(**OPTIONS)
def commanded(gate):
    return _read(gate, COMMAND)

"""The tasks of examples, for multi-task kernels."""

from typing import Any, NamedTuple

import numpy as np

from .._parts import declared
from .._state import tagged
from .frames import check_entries

ALL, SAME = -1, -2


@tagged("kernel/task", 1)
class Task(NamedTuple):
    """The pairs that a kernel compares: "shared" all, "each" and "one" pairs in one task, "same" pairs in any task."""

    kind: str
    label: Any = None

    @property
    def suffix(self):
        return {"shared": "@shared", "same": "@same task"}.get(self.kind, f"@task={self.label}")


@declared
class Tasked:
    """Data X with the task of each example."""

    X: Any
    task: Any

    def __len__(self):
        return len(self.task)


def split(X):
    """(data, task) of X, with task None unless X is `Tasked`."""
    return (X.X, X.task) if isinstance(X, Tasked) else (X, None)


def checked(task, n, name="task"):
    """The tasks (n,) as an array of labels, or a ValueError."""
    check_entries(name, task)
    labels = np.asarray(task)
    if labels.shape != (n,):
        raise ValueError(f"{name} has shape {labels.shape}, but there are {n} examples: give one task per example.")
    return labels


def numbers(tasks, task):
    """The number of each example's task, (n,), −1 for tasks not in `tasks`; None without tasks."""
    if tasks is None:
        if task is not None:
            raise ValueError("task is given, but the model has no task kernels: leave it out.")
        return None
    if task is None:
        raise ValueError("the model has task kernels: give task=, the task of each example.")
    number = {label: k for k, label in enumerate(tasks.tolist())}
    return np.array([number.get(label, -1) for label in np.asarray(task).tolist()], int)

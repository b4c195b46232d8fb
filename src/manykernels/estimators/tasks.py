"""The argument `task` of fit and of prediction: the task of each example."""

import warnings

import numpy as np

from .._validation import shown
from ..kernels.tasks import ALL, Tasked, checked


def with_task(X, task):
    """X as kernels take it, with the tasks of its examples, if any."""
    return X if task is None else Tasked(X, task)


def check_task(task, n, known=None, predictor=None):
    """`task` (n,) as an array; with a `predictor`, of new data, compared with the tasks `known` from fit."""
    if predictor is None:
        return None if task is None else checked(task, n)
    if known is None:
        raise ValueError("task is given, but the model has no task kernels: leave it out.")
    if task is None:
        raise ValueError(
            f"the model has kernels for the tasks {shown(known.tolist()[:10])}: give task=, one per example."
        )
    task = checked(task, n)
    strange = [label for label in dict.fromkeys(task.tolist()) if label not in set(known.tolist())]
    if strange:
        if ALL not in predictor.kernel_list.task_of:
            raise ValueError(f"task has {shown(strange[:10])}, not seen in fit, and no kernel is shared by all tasks.")
        warnings.warn(
            f"task has {shown(strange[:10])}, not seen in fit: these are predicted by the shared kernels only.",
            UserWarning,
            stacklevel=5,
        )
    return task


def check_classes_of_tasks(task, y, weight):
    """A ValueError if a task has examples of one class only."""
    if task is None:
        return
    for label in dict.fromkeys(task.tolist()):
        classes = np.unique(y[(task == label) & (weight > 0)])
        if len(classes) == 1:
            raise ValueError(
                f"task {shown(label)} has one class only ({shown(classes[0])}) among the examples with weight: a "
                "classifier needs at least two classes in each task; leave the task out or join it with another."
            )

"""Multi-task kernels: functions shared by all tasks beside functions of single tasks (Tomioka and Suzuki 2011, Ex. 3).

    f(x, task t) = f_t(x) + f_shared(x):   k(x, y) beside k(x, y) · [x and y are of task t], one for each t

A task kernel is 0 unless both examples belong to its task. The tasks come from the training data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .spec import KernelSpec, as_spec, is_list
from .stack import KernelStack
from .tasks import ALL, SAME, Task, checked


def multi_task(kernels: Any, one_parameter: bool = False) -> list[KernelSpec]:
    """Kernel specifications for several tasks: for each kernel k, one shared by all tasks and one for each task.

    Their names are k@shared and k@task=t. With `one_parameter` (Evgeniou and Pontil 2004) each k gives two kernels,
    k@shared and k@same task = n_tasks · k(x, y) [x and y are of the same task]: with regularizer=1 the block norm is
    ½ (√(Σ_t ‖f_t‖² / n_tasks) + ‖f_shared‖)² (Tomioka and Suzuki 2011, Corollary 5), else ½ (Σ_t ‖f_t‖ + ‖f_shared‖)².
    Both formulas hold for normalize=None. With the first formula the shared part is never used, since equal f_t cost no
    more (the paper does not say so). To learn the share, use another normalisation, which scales each kernel
    separately, or p > 1; or fix the share by Fixed([1 - lam, lam]).

    Give the tasks as `fit(X, y, task=task)`, `predict(X, task=task)`. A task that was not in the training data is
    predicted by the shared kernels, with a warning. Cross-validation passes the tasks by scikit-learn's metadata
    routing:

        with sklearn.config_context(enable_metadata_routing=True):
            model = MKLClassifier(multi_task(kernels)).set_fit_request(task=True).set_score_request(task=True)
            cross_validate(model, X, y, params={"task": task})

    Scores then come from `model.score`; named scorers, such as "roc_auc", do not pass the tasks on.

    Parameters
    ----------
    kernels : Kernel, KernelSpec or list of them
    one_parameter : bool, default False
        Whether each kernel gives two kernels for any number of tasks.

    Returns
    -------
    list of KernelSpec

    Examples
    --------
    >>> from manykernels.kernels import RBF, multi_task
    >>> [spec.task.kind for spec in multi_task([RBF(gamma=0.1)])]
    ['shared', 'each']
    """
    if isinstance(kernels, str):
        raise ValueError(f"kernels={kernels!r} must be a list of kernels: use multi_task(auto_kernels(X)).")
    kernels = kernels if is_list(kernels) else [kernels]
    specs = [as_spec(kernel) for kernel in kernels]
    inner = Task("same") if one_parameter else Task("each")
    return [spec._replace(task=task) for spec in specs for task in (Task("shared"), inner)]


def multi_task_stack(
    stack: Any, task: ArrayLike, train_task: ArrayLike | None = None, one_parameter: bool = False
) -> KernelStack:
    """The precomputed kernels of `multi_task` as a KernelStack.

    Parameters
    ----------
    stack : array (M, n, n_train) or KernelStack
    task : array (n,)
        The tasks of the n examples.
    train_task : array (n_train,), optional
        The tasks of the training examples; None if these are the same examples.
    one_parameter : bool, default False
        As in `multi_task`.

    Returns
    -------
    KernelStack

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import multi_task_stack
    >>> multi_task_stack(np.ones((1, 3, 3)), ["a", "a", "b"]).names
    ['kernel 0@shared', 'kernel 0@task=a', 'kernel 0@task=b']
    """
    K = stack if isinstance(stack, KernelStack) else KernelStack(stack)
    names = K.names or [f"kernel {m}" for m in range(K.shape[2])]
    task = checked(task, K.shape[0])
    train = checked(task if train_task is None else train_task, K.shape[1], "train_task")
    tasks = np.unique(train)
    masks = [np.multiply.outer(task == t, train == t).astype(K.dtype) for t in tasks]
    kinds = [Task("one", t) for t in tasks.tolist()]
    if one_parameter:
        masks, kinds = [len(tasks) * np.sum(masks, axis=0)], [Task("same")]
    parts, called = [], []
    for name, matrix in zip(names, K.matrices, strict=True):
        parts += [matrix, *(matrix * mask for mask in masks)]
        called += [name + kind.suffix for kind in (Task("shared"), *kinds)]
    own, diagonals = [task == t for t in tasks], None
    own = [len(tasks) * np.any(own, axis=0)] if one_parameter else own
    if K.test_diagonals is not None:
        diagonals = [diagonal * mask for diagonal in K.test_diagonals for mask in (1.0, *own)]
    found = KernelStack(parts, called, diagonals)
    found.ids, found.train_ids = K.ids, K.train_ids
    return found


def spread(specs, task):
    """(specifications, with "each" replaced by one per task; their task numbers; the tasks)."""
    wanted = [spec.task for spec in specs if spec.task is not None and spec.task.kind != "shared"]
    if task is None:
        if wanted:
            raise ValueError("kernels has task kernels (multi_task), but there is no task: give fit(X, y, task=task).")
        return specs, [ALL] * len(specs), None
    if not wanted:
        raise ValueError("task is given, but no kernel uses it: give kernels=multi_task([...]) or leave task out.")
    try:
        tasks = np.unique(task)
    except TypeError as error:
        raise ValueError(f"task mixes kinds of labels that cannot be sorted ({error}): use strings.") from error
    found, codes = [], []
    for spec in specs:
        kind = None if spec.task is None else spec.task.kind
        if kind == "each":
            found += [spec._replace(task=Task("one", label)) for label in tasks.tolist()]
            codes += range(len(tasks))
        else:
            found.append(spec)
            codes.append(SAME if kind == "same" else ALL)
    return found, codes, tasks

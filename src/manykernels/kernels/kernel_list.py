"""`KernelList`: kernel specifications `(name, kernel, columns, missing)` resolved on one data set, and their views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from .._state import Stored
from .._validation import check_number
from ._list_checks import check_kernels
from ._requests import names_of, object_views, plan_of, read_spec
from .auto import choose_kernels
from .base import Kernel, as_kernel
from .frames import cut, is_frame
from .new_data import News, TrainingFacts, facts_of_state, learn_facts, learn_growth, news
from .normalize import scales
from .placed import ViewKernel, resolved
from .spec import KernelSpec, as_spec
from .task_kernels import spread
from .tasks import numbers, split
from .transformers import signatures
from .view_data import View, ViewArrays
from .view_plan import ViewPlan, by_source
from .views import JoinedViews


class KernelList(Stored):
    """Kernels resolved on one data set; `KernelList.from_spec(kernels, X)` reads the `kernels` of an estimator.

    Parameters
    ----------
    specs : list of KernelSpec
    X : array, DataFrame, sequences or dict of views
        The training data, which determine parameters such as gamma="scale".
    weights : array (n,), optional
        Weights of the examples.

    Attributes
    ----------
    kernels : list of Kernel
        The kernels, resolved.
    names : list of str
        The names of the kernels.
    view_of, columns : array (M,) of int, list
        Kernel m sees view number `view_of[m]`, the columns `columns[m]` of X.
    task_of, tasks : list of int, array or None
        `task_of[m]` is ALL, SAME or the number of its task in `tasks`; `tasks` is None without task kernels.
    view_plans : list of ViewPlan
        How each view is made of X.
    priors : array (M,)
        The `prior` of each kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import RBF, KernelList, Linear
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]])
    >>> found = KernelList.from_spec([("width", RBF(gamma="scale"), [0]), Linear()], X)
    >>> found.names, found.n_views
    (['width', 'linear[all]'], 2)
    >>> [view.X.shape for view in found.views(X)]
    [(3, 1), (3, 2)]
    """

    file_tag = ("kernel/list", 3)
    former_tags = (("kernel/list", 1), ("kernel/list", 2))
    saved = {
        "views as view_states": "list V dict", "known": "?dict", "kernels": "list M Kernel", "names": "list M text",
        "columns": "list M any", "view_of": "i8 M <V", "n_features": "any", "tasks": "?labels", "task_of": "list M any",
    }  # fmt: skip
    columns: list[Any]
    task_of: Any = ()
    tasks: Any = None
    priors: Any = 1.0  # of a list from a file, whose kernels have their scale already
    training_facts: TrainingFacts | None = None  # facts of the training examples, to which new ones are compared
    unscaled: Any = None  # the same list before its columns were rescaled by `with_metric`
    note: str = ""  # a warning on the columns of "auto", which a fit takes away
    chosen: str | None = None  # the sentence that describes the kernels of "auto"; a file has it with the model

    @classmethod
    def from_spec(
        cls,
        kernels: Any,
        X: Any,
        memory_limit: float | None = None,
        weights: np.ndarray | None = None,
        change: Callable[[Kernel, int], Kernel] | None = None,
    ) -> KernelList:
        """The list of the `kernels` that a user gives: specifications, one kernel, or "auto".

        The examples have `weights` (n,), None for equal ones; `change(kernel, m)` replaces kernel m of the list.
        """
        if isinstance(kernels, KernelList):
            return kernels
        chosen, note = None, ""
        if isinstance(kernels, str) and kernels == "auto":
            kernels, chosen, note = choose_kernels(split(X)[0], memory_limit, weights)
        if isinstance(kernels, dict):
            raise ValueError("kernels is a dict: give a list [(name, kernel), ...], list(kernels.items()).")
        if isinstance(kernels, Kernel | str | KernelSpec) or not isinstance(kernels, Iterable):
            kernels = [kernels]
        specs = [as_spec(k) for k in kernels]
        if not specs:
            raise ValueError("kernels=[] has no kernel; give at least one, such as RBF(gamma=0.1).")
        if change is not None:
            specs = [spec._replace(kernel=change(as_kernel(spec.kernel), m)) for m, spec in enumerate(specs)]
        found = cls(specs, X, weights)
        learn_facts(found, found.arrays(X))
        learn_growth(found, X)
        found.chosen = chosen
        if note:
            found.note = note
        return found

    def __init__(self, specs: list[KernelSpec], X: Any, weights: np.ndarray | None = None) -> None:
        data, task = split(X)
        specs, self.task_of, self.tasks = spread(specs, task)
        requests = [read_spec(spec) for spec in specs]
        arrays = ViewArrays(data, objects=object_views(requests))
        self.n_features = arrays.n_features
        joins = [KernelList(own, data, weights) if (own := request.operands()) else None for request in requests]
        signed = signatures([request.transformer for request in requests])
        parts = zip(requests, joins, signed, strict=True)
        seen = [plan_of(request, arrays, join, signature) for request, join, signature in parts]
        plans: dict[Any, ViewPlan] = {}
        for key, plan, _ in seen:
            plans[key] = plans[key].beside(plan) if key in plans else plan
        number = {key: v for v, key in enumerate(plans)}
        self.view_of = np.array([number[key] for key, *_ in seen])
        self.view_plans = [plan.fitted(arrays, weights) for plan in plans.values()]
        self.columns = [None if plan.sees_nothing else plan.columns for _, plan, _ in seen]
        self.priors = np.array([check_number("prior", spec.prior, of=spec.kernel) for spec in specs])
        self.kernels = self._resolve([request.kernel for request in requests], X, weights)
        named = [request.named(kernel) for request, kernel in zip(requests, self.kernels, strict=True)]
        self.names = names_of(specs, named, [label for *_, label in seen])

    def _resolve(self, kernels, X, weights):
        """The kernels resolved on the examples; a view that no kernel needs is not made."""
        joins = [self.view_plans[v].join for v in self.view_of]
        looks = [
            join is None and type(kernel).resolve is not Kernel.resolve
            for kernel, join in zip(kernels, joins, strict=True)
        ]
        views = self.views(X, np.unique(self.view_of[looks]))
        return [
            _resolved(kernel, views[v], weights) if look else kernel if join is None else _across(kernel, join)
            for kernel, v, look, join in zip(kernels, self.view_of, looks, joins, strict=True)
        ]

    def arrays(self, X: Any) -> ViewArrays:
        """X by views, from which plans cut their columns; lists of objects stay lists."""
        return ViewArrays(split(X)[0], self.n_features, [plan.name for plan in self.view_plans if plan.takes_objects])

    def news(self, X: Any, used: np.ndarray, growing: bool = True) -> list[News]:
        """What is new in X to the kernels in the mask `used` (M,), see `new_data`."""
        return news(self, self.arrays(X), used, growing)

    def normalization(self, normalize: str | None, usual: str) -> str | None:
        """What `normalize` means for these kernels: "auto" is "spherical" if only lengths set k(x, x), else `usual`."""
        grows = self.training_facts is not None and self.training_facts.grows
        return normalize if normalize != "auto" else "spherical" if grows else usual

    @property
    def M(self) -> int:
        return len(self.kernels)

    @property
    def n_views(self) -> int:
        return len(self.view_plans)

    @property
    def encodings(self) -> Sequence[Any]:
        """The `encoding` of the kernels of each view."""
        return [plan.encoding for plan in self.view_plans]

    @property
    def reads(self) -> list[str]:
        """What the kernels of each view read."""
        return [plan.reads for plan in self.view_plans]

    @property
    def widths(self) -> list[Any]:
        """The number of columns of each view, None for strings; for kernels across views a list of (width, reads)."""
        return [plan.width(self.n_features) for plan in self.view_plans]

    @property
    def view_states(self) -> list[dict[str, Any]]:
        """What files hold of the views, and of the training examples."""
        return [plan.to_state() for plan in self.view_plans]

    @property
    def known(self) -> dict[str, Any] | None:
        return None if self.training_facts is None else self.training_facts.to_state()

    def check_state(self) -> None:
        """Version 1 of the tag has no transformers, version 2 has no `known`."""
        own = vars(self)
        self.view_plans = [ViewPlan.from_state(view) for view in own.pop("view_states")]
        self.training_facts = facts_of_state(own.pop("known"), check_kernels(self), self.n_views)
        read = {v: kernel.encoding for v, kernel in zip(self.view_of.tolist(), self.kernels, strict=True)}
        self.view_plans = [replace(plan, encoding=read.get(v)) for v, plan in enumerate(self.view_plans)]

    def seen(self, m: int) -> str | None:
        """The name of the view of kernel m, or of its columns of a single table, see `ViewPlan.label`."""
        return self._plan_of([m]).label()

    def made_columns(self, m: int, X: Any, d: int) -> list[str]:
        """The name of the column of X behind each of the d columns that kernel m sees."""
        return self.view_plans[self.view_of[m]].made_columns(self.arrays(X), d)

    def plans(self, m: int) -> list[ViewPlan]:
        """The plan of the columns that kernel m sees; of a kernel across views, the plans of its parts."""
        plan = self._plan_of([m])
        return [plan] if plan.join is None else list(plan.join.view_plans)

    def _plan_of(self, which):
        """The plan of the view of these kernels, with their columns alone if others share the view."""
        plan, seen = self.view_plans[self.view_of[which[0]]], [self.columns[m] for m in which]
        if plan.join is not None or plan.columns is None or any(columns is None for columns in seen):
            return plan
        own = seen[0] if len(seen) == 1 else np.unique(np.concatenate(seen))
        if own is plan.columns or np.array_equal(own, plan.columns):
            return plan
        names = plan.column_names and [plan.column_names[k] for k in np.searchsorted(plan.columns, own)]
        return replace(plan, columns=own, column_names=names)

    def needs(self, used: np.ndarray) -> dict[Any, set | None]:
        """{view: names or positions of its columns, None for all} of the kernels in the mask `used` (M,)."""
        found: dict[Any, set | None] = {}
        kernels = np.flatnonzero(used)
        kernels = kernels[np.argsort(self.view_of[kernels], kind="stable")]
        for which in np.split(kernels, np.flatnonzero(np.diff(self.view_of[kernels])) + 1) if len(kernels) else ():
            for view, seen in self._plan_of(which).needs().items():
                if seen is None or found.get(view, seen) is None:
                    found[view] = None
                elif seen:
                    found.setdefault(view, set()).update(seen)  # type: ignore[union-attr]  # not None here
        return found

    def __len__(self):
        return len(self.kernels)

    def part(self, which: Sequence[int] | np.ndarray) -> KernelList:
        """The list of these kernels alone."""
        seen, view_of = np.unique(self.view_of[which], return_inverse=True)
        part = self._on_views([self.view_plans[v] for v in seen], view_of, seen)
        part.kernels, part.names = [self.kernels[m] for m in which], [self.names[m] for m in which]
        part.columns = [self.columns[m] for m in which]
        part.task_of = [self.task_of[m] for m in which] if len(self.task_of) else self.task_of
        part.priors = np.broadcast_to(self.priors, self.M)[which]
        return part

    def _on_views(self, plans, view_of, former):
        """A copy with other views; `former` has the number of the view that each of them was."""
        found, facts = copy(self), self.training_facts
        found.view_plans, found.view_of = plans, view_of
        if facts is not None:
            found.training_facts = facts._replace(lengths=[facts.lengths[v] for v in former])
        return found

    def with_metric(self, scales: dict[int, np.ndarray]) -> KernelList:
        """The list whose kernels m see their columns times `scales[m]` (d,), after any transformer."""
        seen = dict[Any, Any]()
        keys = [(v, scales[m].tobytes() if m in scales else b"") for m, v in enumerate(self.view_of.tolist())]
        for m, (v, key) in enumerate(keys):
            plan = self.view_plans[v]
            seen.setdefault((v, key), plan.rescaled(scales[m]) if m in scales else plan)
        order = list(seen)
        view_of = np.array([order.index(key) for key in keys])
        found = self._on_views(list(seen.values()), view_of, [v for v, _ in order])
        found.unscaled = self if scales else None
        return found

    def scales(
        self, diagonal: np.ndarray, variance: np.ndarray, normalize: str | None, precision: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """(scale, usable) of the kernels, (M,) each: `normalize.scales` times the priors; 1 for exempt kernels."""
        scale, usable = scales(diagonal, variance, normalize, precision)
        exempt = np.array([kernel.exempt for kernel in self.kernels])
        return np.where(exempt, 1.0, scale * self.priors), usable | exempt

    def by_source(self) -> tuple[KernelList, list[np.ndarray | None]]:
        """(the list with one view of numbers for each part of X, [the columns of each kernel there, None for all])."""
        plans, number, columns = by_source(self.view_plans)
        former = np.unique(number, return_index=True)[1]
        return self._on_views(plans, number[self.view_of], former), [columns[v] for v in self.view_of]

    def _by_name(self, arrays):
        """Whether views have other numbers of columns than in fit only where all kernels find theirs by name."""
        if not isinstance(self.n_features, dict) or arrays.n_features.keys() != self.n_features.keys():
            return False
        other = {view for view, width in self.n_features.items() if arrays.n_features[view] != width}
        plans = [plan for plan in self.view_plans if plan.name in other]
        joined = any(plan.join is not None for plan in self.view_plans)
        return not joined and all(plan.column_names is not None and is_frame(arrays.X[plan.name]) for plan in plans)

    def views(self, X: Any, which: Iterable[int] | None = None) -> list[Any]:
        """The checked views of X: a list of View, None for views whose number is not in `which`."""
        arrays = self.arrays(X)
        X, task = split(X)
        if arrays.n_features != self.n_features and not self._by_name(arrays):
            raise ValueError(
                f"X has {arrays.n_features} features, but the kernels were specified on {self.n_features}; "
                "give X with the columns of the training data."
            )
        code = numbers(self.tasks, task)
        views: list[Any] = [None] * self.n_views
        for v in range(self.n_views) if which is None else which:
            plan = self.view_plans[v]
            view = plan.view(arrays) if plan.join is None else plan.join.joined(X)
            views[v] = view if code is None else view._replace(task=code)
        return views

    def joined(self, X: Any) -> View:
        """All views of X as one, for products and sums across views; an example that lacks one view lacks all."""
        views = self.views(X)
        masks = [view.present for view in views if view.present is not None]
        present = np.all(masks, axis=0) if masks else None
        if any(view.X is None for view in views):
            return View(None, np.zeros(len(present), bool))  # type: ignore[arg-type]  # a view without X has a mask
        return View(JoinedViews([view.X for view in views]), present)


def _across(kernel, join):
    """A kernel across views, with each On replaced by its resolved kernel."""
    return resolved(kernel, [ViewKernel(int(part), k) for part, k in zip(join.view_of, join.kernels, strict=True)])


def _resolved(kernel, view, weights):
    """The kernel resolved on the weighted examples that have the view."""
    X = view.X
    if X is None:
        raise ValueError(f"X has no example at all in the view of {kernel!r}: leave the kernel out.")
    if view.present is not None and view.present.any() and kernel.reads != "sequences":
        X, weights = X[view.present], cut(weights, view.present)
    found = kernel.resolve(X) if weights is None else kernel.resolve(X, weights)
    if not isinstance(found, Kernel):
        raise ValueError(f"resolve of {kernel!r} returned {found!r}: it must return a kernel, such as `self`.")
    return found

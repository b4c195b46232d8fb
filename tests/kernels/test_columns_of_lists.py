"""Which columns the kernels of a list see: alone, where kernels share a table, in parts of the list and in views."""

import numpy as np
import pandas as pd
import pytest

from manykernels.kernels import RBF, KernelList, Linear
from manykernels.kernels.spec import KernelSpec
from manykernels.strings import Spectrum


@pytest.mark.parametrize("holder", ["frame", "array", "views"])
@pytest.mark.parametrize("seed", range(6))
def test_kernels_see_the_columns_that_were_asked_for(holder, seed):
    rng = np.random.default_rng(seed)
    d, M = 6, 6
    tables = {view: rng.normal(size=(9, d)) for view in (("u", "w") if holder == "views" else (None,))}
    names = {view: [f"{view or ''}{c}" for c in "abcdef"] for view in tables}
    frames = {view: x if holder == "array" else pd.DataFrame(x, columns=names[view]) for view, x in tables.items()}
    X = frames if holder == "views" else frames[None]
    asked, specs = [], []
    for m in range(M):
        view = list(tables)[rng.integers(len(tables))]
        own = None if rng.random() < 0.2 else rng.permutation(d)[: rng.integers(1, 4)]
        columns = None if own is None else own.tolist() if holder == "array" else [names[view][j] for j in own]
        where = columns if view is None else view if own is None else (view, columns)
        asked.append((view, own))
        specs.append(KernelSpec(f"k{m}", RBF(0.1 + m) if rng.random() < 0.6 else Linear(), where, prior=1.0 + m))
    kernels = KernelList.from_spec(specs, X)

    def label(view, own):
        return own.tolist() if holder == "array" else [names[view][j] for j in own]

    def values(found, m, columns=None):
        seen = np.asarray(found.views(X)[found.view_of[m]].X)
        return seen if columns is None else seen[:, columns]

    shared, columns = kernels.by_source()
    for m, (view, own) in enumerate(asked):
        x = tables[view] if own is None else tables[view][:, own]
        np.testing.assert_array_equal(values(kernels, m), x)
        np.testing.assert_array_equal(values(shared, m, columns[m]), x)
        whole, before = range(d) if own is None else own, "" if view is None else f"{view}: "
        called = [f"column {j}" if holder == "array" else before + names[view][j] for j in whole]
        assert kernels.made_columns(m, X, x.shape[1]) == called
        for found in (kernels, shared):
            (plan,) = found.plans(m)
            assert plan.name == view and (
                plan.columns is None if own is None else plan.columns.tolist() == own.tolist()
            )
            if own is not None and holder != "array":
                assert plan.column_names == label(view, own)
    for _ in range(8):
        used = rng.random(M) < 0.5
        expected: dict = {}
        for m in np.flatnonzero(used):
            view, own = asked[m]
            if own is None or expected.get(view, ()) is None:
                expected[view] = None
            else:
                expected.setdefault(view, set()).update(label(view, own))
        assert kernels.needs(used) == shared.needs(used) == expected
        which = rng.permutation(np.flatnonzero(used))
        if not len(which):
            continue
        for found, where in ((kernels, [None] * M), (shared, columns)):
            part = found.part(which)
            assert part.names == [f"k{m}" for m in which] and part.priors.tolist() == [1.0 + m for m in which]
            assert part.needs(np.ones(len(which), bool)) == expected and part.M == len(which)
            for k, m in enumerate(which):
                view, own = asked[m]
                x = tables[view] if own is None else tables[view][:, own]
                np.testing.assert_array_equal(values(part, k, where[m]), x)
                assert part.seen(k) == found.seen(m) and repr(part.kernels[k]) == repr(found.kernels[m])


def test_a_metric_scales_the_columns_of_its_kernels_alone():
    """Kernels of one view with other scales have views of their own; those with the same scale share one."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(7, 3))
    kernels = KernelList.from_spec([("a", RBF(0.1)), ("b", RBF(0.2)), ("c", Linear()), ("d", RBF(0.3), [2, 0])], X)
    one, two, three = rng.random(3), rng.random(3), rng.random(2)
    for scales in ({0: one, 1: one, 3: three}, {0: one, 1: two}, {1: two}, {}):
        found = kernels.with_metric(scales)
        for m in range(4):
            x = X[:, [2, 0]] if m == 3 else X
            np.testing.assert_allclose(found.views(X)[found.view_of[m]].X, x * scales.get(m, 1.0))
        same = {(3 if m == 3 else 0, scales[m].tobytes() if m in scales else b"") for m in range(4)}
        assert found.n_views == len(same) and len(found.training_facts.lengths) == found.n_views
        assert (found.unscaled is kernels) == bool(scales)


def test_a_part_of_a_list_has_the_lengths_of_its_own_views():
    texts = {"short": ["ACG", "ACGT"], "x": np.zeros((2, 1)), "long": ["ACGTACGT", "ACGTACG"]}
    kernels = KernelList.from_spec(
        [("s", Spectrum(2), "short"), ("x", Linear(), "x"), ("l", Spectrum(3), "long")], texts
    )
    assert kernels.training_facts.lengths == [(3, 4), None, (7, 8)]
    for which, lengths in (([2], [(7, 8)]), ([2, 1], [None, (7, 8)]), ([0, 2], [(3, 4), (7, 8)]), ([1], [None])):
        assert kernels.part(which).training_facts.lengths == lengths
    kernels.task_of = ["all", 0, 1]
    assert kernels.part([2, 0]).task_of == [1, "all"] and len(kernels.part([1]).task_of) == 1

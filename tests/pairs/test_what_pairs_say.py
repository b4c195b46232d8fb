"""What a model of pairs says of new objects, and its kernels, parts and files, on the left side and on the right."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLRegressor, Views, load
from manykernels.kernels import RBF, Categorical, Identity, KernelStack, Linear
from manykernels.pairs import Pairs, PairSplit, Pairwise

rng = np.random.default_rng(6)
LEFT = pd.DataFrame({"size": rng.normal(size=10), "kind": list("xyxyzxyxyz")})
RIGHT = pd.DataFrame({"mass": rng.normal(size=8), "type": list("prqrqprq"), "idle": rng.normal(size=8)})
INDEX = np.array([(i, j) for i in (1, 2, 4, 5, 7, 9) for j in (0, 2, 3, 6)])
Y = LEFT["size"].to_numpy()[INDEX[:, 0]] * RIGHT["mass"].to_numpy()[INDEX[:, 1]] + 0.1 * rng.normal(size=len(INDEX))
KERNELS = Pairwise(
    [("size", RBF(0.5), ["size"], "zero"), ("kind", Categorical(), ["kind"])],
    [("mass", RBF(0.3), ["mass"], "zero"), ("type", Categorical(), ["type"])],
    ["kronecker", "sum"],
)
NEW = np.array([(0, 1), (3, 5), (1, 1), (6, 2), (0, 7), (3, 3), (8, 4)])


def told(model, X):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.predict(X)
    return [str(one.message) for one in found]


@pytest.mark.parametrize("side", ["left", "right"])
def test_new_values_are_named_with_their_side_and_the_pairs_that_hold_them(side, tmp_path):
    model = MKLRegressor(KERNELS, C=1.0, regularizer=2).fit(Pairs(INDEX, LEFT, RIGHT), Y)
    model.save(tmp_path / "m.mk")
    column, number, category = (0, "size", "kind") if side == "left" else (1, "mass", "type")
    tables = {"left": LEFT.copy(), "right": RIGHT.copy()}
    assert told(model, Pairs(NEW, **tables)) == []
    gap, strange = (0, 3) if side == "left" else (1, 4)
    tables[side].loc[gap, number] = np.nan
    tables[side].loc[strange, category] = "odd"
    rows, others = (np.flatnonzero(NEW[:, column] == one).tolist() for one in (gap, strange))
    for one in (model, load(tmp_path / "m.mk")):
        (said,) = told(one, Pairs(NEW, **tables))
        shown = ", ".join(map(str, rows))
        assert f"{side}: column {number!r} is missing in {len(rows)} of {len(NEW)} examples ({shown})" in said
        shown = ", ".join(map(str, others))
        odd = f"{side}: column {category!r} has new categories, 'odd' for example, in {len(others)} of {len(NEW)}"
        assert f"{odd} examples ({shown})" in said
        assert said.count("column") == 2


FRAME = pd.DataFrame(rng.normal(size=(10, 2)), columns=["a", "b"])
K = pd.DataFrame(FRAME @ FRAME.T).set_axis(list("defghijklm")).set_axis(list("defghijklm"), axis=1)
TURNED, VIEWS, RBFS = FRAME[["b", "a"]], {"A": FRAME, "B": FRAME}, [("A", RBF(0.5)), ("B", RBF(2.0))]
ORDER = "has the columns of fit in another order, 'b', 'a'"


@pytest.mark.parametrize(("kernels", "known", "given", "said"), [
    (RBF(0.5), FRAME, TURNED, rf"X.left {ORDER}: give X.left\[names\], names = model.view_feature_names_in_\['left'\]"),
    (RBF(0.5), FRAME, "polars", rf"X.left {ORDER}"),
    (RBF(0.5), FRAME, FRAME.rename(columns={"a": "q"}), "X.left has 'q', which fit did not have, and lacks 'a'"),
    (RBFS, VIEWS, VIEWS | {"B": TURNED}, rf"X.left\['B'\] {ORDER}: give X.left\['B'\]\[names\]"),
    (RBFS, Views(VIEWS), Views(VIEWS | {"B": TURNED}), rf"X.left\['B'\] {ORDER}"),
    ("precomputed", KernelStack({"u": K, "v": K * K}), KernelStack({"v": K * K, "u": K}), "left has the kernels v, u"),
    ("precomputed", KernelStack([K]), KernelStack([K[K.columns[::-1]]]), "X.left has other ids in its rows"),
    ("precomputed", KernelStack([K]), KernelStack([K.iloc[::-1, ::-1]]), r"objects of fit in another.*K.loc\[names"),
])  # fmt: skip
def test_a_side_has_the_columns_the_kernels_and_the_objects_of_the_fit(kernels, known, given, said, tmp_path):
    given = pytest.importorskip("polars").from_pandas(TURNED) if isinstance(given, str) else given
    model = MKLRegressor(Pairwise(kernels, Linear()), C=1.0).fit(Pairs(INDEX, known, RIGHT[["mass"]]), Y)
    model.save(tmp_path / "m.mk")
    for one in (model, load(tmp_path / "m.mk")):
        for ask in (one.predict, one.decision_parts, one.combined_kernel):
            with pytest.raises(ValueError, match=said):
                ask(Pairs(NEW, given, RIGHT[["mass"]]))
        np.testing.assert_array_equal(
            one.predict(Pairs(NEW, known, RIGHT[["mass"]])), model.predict(Pairs(NEW, known, RIGHT[["mass"]]))
        )


def test_columns_that_kernels_of_a_side_name_and_new_objects_behind_the_known_ones_are_taken():
    model = MKLRegressor(KERNELS, C=1.0, regularizer=2).fit(Pairs(INDEX, LEFT, RIGHT), Y)
    turned = Pairs(NEW, LEFT[["kind", "size"]], RIGHT[["type", "idle", "mass"]])
    np.testing.assert_array_equal(model.predict(turned), model.predict(Pairs(NEW, LEFT, RIGHT)))
    model = MKLRegressor(Pairwise("precomputed", Linear()), C=1.0).fit(
        Pairs(INDEX, KernelStack([K]), RIGHT[["mass"]]), Y
    )
    more = K.reindex(index=[*K, "new"], columns=[*K, "new"], fill_value=1.0)
    np.testing.assert_array_equal(
        *(model.predict(Pairs(NEW, KernelStack([one]), RIGHT[["mass"]])) for one in (K, more))
    )


@pytest.mark.parametrize(
    "wrong", [{"left": ["a"]}, {"left": ["a", 3]}, {"middle": ["a", "b"]}, {"left['A']": ["a", "b"]}]
)
def test_names_that_do_not_fit_the_sides_of_a_file_are_refused(wrong):
    model = MKLRegressor(Pairwise(RBF(0.5), Linear()), C=1.0).fit(Pairs(INDEX, FRAME, RIGHT[["mass"]]), Y)
    with pytest.raises(ValueError, match="view"):
        MKLRegressor.from_state(model.to_state() | {"view_feature_names_in_": wrong})


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace"])
@pytest.mark.parametrize("precomputed", [False, True])
def test_kernels_between_pairs_of_different_tables_are_products_of_those_of_their_sides(normalize, precomputed):
    """New objects in tables of their own, with the identity on the right side: objects are equal by their numbers."""
    A, B = rng.normal(size=(9, 2)), rng.normal(size=(7, 3))
    index = np.array([(i, j) for i in (0, 2, 3, 5, 8) for j in (1, 2, 4, 6)])
    y = A[index[:, 0], 0] + B[index[:, 1], 1]
    left, right = [RBF(0.4), Linear()], [RBF(0.2), Identity()]
    K, H = [k(A) for k in left], [RBF(0.2)(B), np.eye(7)]
    train = Pairs(index, A, B)
    kernels = Pairwise(left, right)
    if precomputed:
        train, kernels = Pairs(index, KernelStack(K), KernelStack(H)), Pairwise("precomputed", "precomputed")
    model = MKLRegressor(kernels, C=1.0, normalize=normalize, tol=1e-8).fit(train, y)
    one, two = np.array([(1, 0), (4, 6), (2, 2), (7, 5)]), np.array([(6, 3), (2, 2), (1, 6), (4, 0), (5, 1)])

    def products(p, q):
        sides = []
        for side, column in ((K, 0), (H, 1)):
            if normalize == "spherical":
                side = [M / np.sqrt(np.outer(np.diag(M), np.diag(M))) for M in side]
            sides.append([M[np.ix_(p[:, column], q[:, column])] for M in side])
        return np.array([a * b for a in sides[0] for b in sides[1]])

    theta = model.kernel_weights_ * model.kernel_scale_
    some = (Pairs(rows, train.left, train.right) for rows in (one, two))
    first, second = some
    expected = np.tensordot(theta, products(one, two), 1)
    np.testing.assert_allclose(model.combined_kernel(first, second), expected, atol=1e-10)
    np.testing.assert_allclose(model.combined_kernel(first), np.tensordot(theta, products(one, one), 1), atol=1e-10)
    support = index[model.support_]
    parts = theta * np.einsum("mij,j->im", products(one, support), model.dual_coef_[0])
    np.testing.assert_allclose(model.decision_parts(first), parts, atol=1e-9)
    np.testing.assert_allclose(model.predict(first), parts.sum(axis=1) + model.intercept_[0], atol=1e-9)


@pytest.mark.parametrize("setting", ["left", "right", "both", "pair"])
@pytest.mark.parametrize("as_pairs", [True, False])
def test_folds_of_a_setting_hold_out_every_pair_once_and_no_object_of_its_sides(setting, as_pairs):
    """Objects whose numbers have gaps, and whose pairs come in any order."""
    order = rng.permutation(len(INDEX))
    index = INDEX[order] * [3, 2]
    X = Pairs(index, rng.normal(size=(30, 2)), rng.normal(size=(20, 2))) if as_pairs else index
    split = PairSplit(setting, n_splits=3, random_state=4)
    folds = list(split.split(X))
    assert len(folds) == split.get_n_splits() == (9 if setting == "both" else 3)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(len(index)))
    for train, test in folds:
        for column, side in enumerate(("left", "right")):
            common = set(index[train, column]) & set(index[test, column])
            assert not common or setting not in (side, "both")
        if setting in ("left", "right"):
            assert len(train) + len(test) == len(index)
            own = index[:, ("left", "right").index(setting)]
            assert np.isin(np.arange(len(index)), test).tolist() == np.isin(own, own[test]).tolist()
        if setting == "both":
            expected = ~np.isin(index[:, 0], index[test, 0]) & ~np.isin(index[:, 1], index[test, 1])
            assert expected[train].all()
    other = list(PairSplit(setting, n_splits=3, random_state=5).split(X))
    assert any(not np.array_equal(a[1], b[1]) for a, b in zip(folds, other, strict=True))
    zero, none = (list(PairSplit(setting, n_splits=3, random_state=s).split(X)) for s in (0, None))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(zero, none, strict=True))

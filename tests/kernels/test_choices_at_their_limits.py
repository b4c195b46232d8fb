"""What "auto" takes a column for, and which kernels it gets, on either side of each limit."""

import numpy as np
import pandas as pd
import pytest

from manykernels.kernels import RBF, Categorical, Laplacian, auto_kernels, table
from manykernels.kernels.auto import choose_kernels
from manykernels.kernels.column_kinds import ColumnFacts, describe
from manykernels.kernels.features import Features
from manykernels.kernels.table import choose_for

rng = np.random.default_rng(1)


def kind(values):
    (found,) = describe([("x", np.array(values, object))])
    return found.kind, found.why


def many(k, n, stem="k"):
    """n texts of k different kinds, without spaces."""
    return [f"{stem}{i % k}" for i in range(n)]


def test_texts_that_repeat_are_categories_up_to_fifty_and_half_of_the_rows():
    assert kind(many(50, 100))[0] == kind(many(5, 10))[0] == "categories"
    assert kind(many(51, 200)) == ("many", "51 different texts") and kind(many(5, 9)) == ("many", "5 different texts")
    assert kind(many(1, 9)) == ("constant", "one value only")
    assert kind(many(12, 12)) == ("ids", "12 different texts, one a row as ids are")


def test_texts_of_numbers_and_dates_are_told_by_their_share():
    numbers = [f"{k}.5" for k in range(20)]
    assert kind(numbers)[0] == kind([*numbers, "n.a.", " NONE", "?"])[0] == "numbers"
    spoiled = [*numbers[:16], "lost", "void", "late", "odd"]
    assert kind(spoiled) == ("spoiled", "numbers, but none in 4 of 20 rows, 'lost' for example")
    assert kind([*spoiled[1:], "left", "-"])[0] == "ids"  # one in four is none
    dates = [f"2024-03-{k:02}" for k in range(2, 22)]
    assert kind(dates) == ("days of rows", "days that count the rows") and kind(dates[:19])[0] == "dates"
    dates[0] = "2024-02-29"
    assert kind(dates)[0] == "dates" and kind([f"{k}.3.2024" for k in range(1, 21)])[0] == "other dates"
    assert kind([*dates, "?"])[0] == "dates"
    assert kind([*dates[:17], "a b", "c d", "e f"]) == ("other dates", "dates in another form than 2024-03-01")
    assert kind([*dates[:16], "ab", "cd", "ef", "gh"])[0] == "ids"  # not more than four fifths
    days = np.array(["2024-01-01", "2024-01-02"] * 3, "M8[D]")
    assert [one.kind for one in describe([("d", days), ("e", days[:1].repeat(4)), ("f", days - days[0])])] == [
        "dates", "constant", "times"]  # fmt: skip


def test_texts_with_spaces_are_texts_if_some_of_them_share_a_word():
    rows = [f"word{k} other{k}" for k in range(12)]
    assert kind(rows) == ("many", "12 different texts, whose words hardly repeat")  # no word stands in two
    assert kind([f"patient {k}a" for k in range(12)])[0] == "many"  # one stands in all
    shared = [*rows[:9], "word3 other4", "word5 other6", "word7 b"]  # 10 of 23 words stand in two; b is no word
    assert kind(shared)[0] == "texts"
    assert kind([*rows[:10], "word3 again", "word4 more"]) == ("many", "12 different texts, whose words hardly repeat")
    few = [row.replace(" ", "_") if k < 6 else row for k, row in enumerate(shared)]
    assert kind(few)[0] == "many"  # half of them are one word


def test_numbers_of_rows_are_told_from_twenty_rows_on():
    assert kind(list(range(7, 27)))[0] == "rows" and kind(list(range(19)))[0] == "numbers"
    assert kind([*range(19), 20])[0] == "numbers" and kind([0.5 + k for k in range(20)])[0] == "numbers"
    columns = [ColumnFacts("a", "rows", why="numbers of the rows"), ColumnFacts("b", "ids", why="ids")]
    specs, said = choose_for(columns, 20)  # the only column: it is used
    assert [spec.columns for spec in specs] == [[0]] and "left out 'b' (ids)" in said and "rows" not in said


def facts(names, kinds="numbers", gaps=0):
    kinds = [kinds] * len(names) if isinstance(kinds, str) else kinds
    return [ColumnFacts(name, kind, gaps) for name, kind in zip(names, kinds, strict=True)]


def shown(specs):
    return [(spec.name, spec.columns) for spec in specs]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_single_columns_beyond_a_number_share_a_kernel(most, monkeypatch):
    monkeypatch.setattr(table, "MAX_COLUMN_KERNELS", most)
    columns = facts(["u", "g.a", "v", "g.b", "h:x", "w"])
    specs, said = choose_for(columns, 50)
    together, single = specs[:6], shown(specs[6:])
    assert all(spec.columns == list(range(6)) and spec.prior == 1 for spec in together)
    groups = [("g", [1, 3]), ("h", [4])]
    if most == 3:
        assert single == [("u", [0]), groups[0], ("v", [2]), groups[1], ("w", [5])]
        assert "'g' (2 columns together)" in said
    else:
        assert single == [*groups, ("others", [0, 2, 5])] and "'others' (3 columns together)" in said
    assert all(spec.prior == 0.2 for spec in specs[6:]) and f"{len(specs)} kernels" in said
    taken, _ = choose_for(facts(["others.a", "others.b", "x", "y"]), 50)
    names = [("others", [0, 1]), *([("other columns", [2, 3])] if most == 1 else [("x", [2]), ("y", [3])])]
    assert shown(taken[6:]) == names
    kinds = ["categories"] * 3 + ["numbers"]
    mixed, said = choose_for(facts(list("pqrs"), kinds), 50)
    own = [(spec.name, spec.columns) for spec in mixed if isinstance(spec.kernel, Categorical)]
    assert own == ([("p", [0]), ("q", [1]), ("r", [2])] if most == 3 else [("categories", [0, 1, 2])])
    assert ("'p', 'q', 'r' together" in said) == (most < 3)


def test_kernels_are_fewer_where_all_pairs_would_take_long(monkeypatch):
    columns = facts(list("abc"))
    for n, single, laplacian in ((100, 3, 3), (101, 3, 0)):
        monkeypatch.setattr(table, "MAX_DIFFERENCES", 100**2 * 3)
        specs, said = choose_for(columns, n)
        assert sum(isinstance(spec.kernel, Laplacian) for spec in specs) == laplacian
        assert ("RBF and Laplacian of 3 widths each on all 3" in said) == (laplacian > 0)
        assert sum(len(spec.columns) == 1 for spec in specs) == single
    monkeypatch.setattr(table, "MAX_KERNEL_ENTRIES", 100**2 * 3)
    assert [len(choose_for(columns, n)[0]) for n in (100, 101)] == [9, 3]  # single columns have none
    widths = [spec.kernel.gamma for spec in choose_for(columns, 50)[0][:6]]
    assert widths == pytest.approx([0.3 / 6, 1 / 6, 3 / 6, 0.3 / 3, 1 / 3, 3 / 3])
    small = 4 * 50**2  # a matrix of float32
    counts = [sum(len(s.columns) == 1 for s in choose_for(columns, 50, limit)[0]) for limit in (1e12, 40 * small)]
    assert counts[0] == 3 and len(choose_for(columns, 50, small)[0]) < len(choose_for(columns, 50, 1e12)[0])


def test_gaps_are_said_and_columns_alone_have_no_prior():
    specs, said = choose_for(facts(["a"]), 30)
    assert shown(specs) == [("a", [0])] and specs[0].prior == 1.0 and isinstance(specs[0].kernel, RBF)
    assert said == "1 kernel: an RBF on one column of numbers"
    assert "gaps filled in by means" in choose_for(facts(["a", "b"], gaps=1), 30)[1]
    assert "gaps" not in choose_for(facts(["a", "b"], ["categories"] * 2, gaps=1), 30)[1]
    specs, said = choose_for(facts(["d", "t", "c", "n"], ["dates", "texts", "categories", "numbers"]), 30)
    assert [spec.columns for spec in specs] == [[0, 2, 3]] * 6 + [[3], [0], [2], [1]]
    assert [spec.prior for spec in specs[6:]] == [0.2, 0.2, 0.2, 1.0] and isinstance(specs[-1].kernel, Features)
    assert "(single columns: prior 0.2)" in said and "tf-idf of the words in 't'" in said
    assert specs[0].name == "all columns, RBF 0.3" and specs[7].kernel.gamma == 0.5


def test_views_with_few_entries_other_than_0_are_taken_as_they_are():
    X = np.zeros((20, 10))
    X[np.arange(20), np.arange(20) % 10] = 1.0 + rng.random(20)
    for more, scaled in ((0, True), (-1, False)):
        part = X.copy()
        part[: more or None] = part[: more or None]
        part = part if more == 0 else np.where(np.arange(20)[:, None] == 19, 0.0, X)
        specs, said, _ = choose_kernels({"v": part, "w": rng.normal(size=(20, 2))})
        own = [spec for spec in specs if spec.columns == "v"]
        assert [spec.transformer is not None for spec in own] == [scaled] * (6 if scaled else 4), said
    part[0, 1] = np.nan  # a gap is no count
    specs = auto_kernels({"v": part, "w": rng.normal(size=(20, 2))})
    assert all(spec.transformer is not None for spec in specs if spec.columns == "v")


def test_columns_of_a_frame_that_are_nearly_empty_are_left_out():
    frame = pd.DataFrame(
        {"full": rng.normal(size=20), "most": [1.0, 2.0] + [np.nan] * 18, "one": [1.0] + [np.nan] * 19}
    )
    specs, said, _ = choose_kernels(frame)
    assert {name for spec in specs for name in (spec.columns or ())} == {"full", "most"}
    assert "left out 'one' (one value only)" in said
    frame["most"] = [1.0, 2.0, *[np.nan] * 18]
    wide = pd.concat([frame, frame[1:2].assign(most=np.nan)])
    assert "left out 'most' (empty in 19 of 21 rows)" in choose_kernels(wide)[1]
    assert len(auto_kernels(frame)) == len(specs)

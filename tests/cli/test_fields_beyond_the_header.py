"""Every field of a table belongs to the column that the header names: no line is shifted, and none is lost."""

from pathlib import Path

import numpy as np
import pytest

from tables import done, refused, run

N = 40
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
Y = (X[:, 0] > 0).astype(int)
ROWS = [",".join(f"{value:.3f}" for value in x) for x in X]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("widths")
    write(home / "d.csv", "a,b,c,y", [f"{row},{y}" for row, y in zip(ROWS, Y, strict=True)])
    write(home / "new.csv", "a,b,c", ROWS)
    done(f"fit {home}/d.csv -t y -C 1 -o {home}/m.mk")
    return home


def write(path, head, rows):
    sep = "," if path.suffix == ".csv" else "\t"
    path.write_text("\n".join([head, *rows, ""]).replace(",", sep))


@pytest.mark.parametrize("kind", ["csv", "tsv", "txt"])
@pytest.mark.parametrize("lines", [[0], range(N)], ids=["the first line", "every line"])
def test_an_empty_field_at_the_end_shifts_nothing(folder, kind, lines):
    write(Path(f"x.{kind}"), "a,b,c", [row + "," * (k in lines) for k, row in enumerate(ROWS)])
    found = done(f"predict m.mk x.{kind}")
    assert found.stdout == run("predict m.mk new.csv").stdout


@pytest.mark.parametrize("kind", ["csv", "tsv", "txt"])
@pytest.mark.parametrize(
    "change",
    [
        lambda k, row: f"{row},7",
        lambda k, row: f"{row},NA",
        lambda k, row: f"{row},,",
        lambda k, row: f"{k},{row}",
        lambda k, row: row + ",7" * (k == 0),
        lambda k, row: row + "," + "7" * (k == N - 1),
    ],
    ids=["a number", "NA", "two empty fields", "names of rows", "only the first line", "only the last line"],
)
def test_fields_without_a_name_are_refused(folder, kind, change):
    write(Path(f"x.{kind}"), "a,b,c", [change(k, row) for k, row in enumerate(ROWS)])
    assert "more fields than the header, which has 3" in refused(f"predict m.mk x.{kind}")


def test_a_table_without_a_header_is_refused():
    Path("d.csv").write_text("".join(f"{row},{y}\n" for row, y in zip(ROWS, Y, strict=True)))
    said = refused("fit d.csv -t 1 -C 1 -o m.mk")
    assert "looks like data" in said and not Path("m.mk").exists()


def test_scores_without_a_header_are_refused():
    letters = rng.choice(list("ACGT"), (N, 30))
    Path("s.tsv").write_text("".join(f"{''.join(s)}\t{v:.2f}\n" for s, v in zip(letters, X[:, 0], strict=True)))
    assert "looks like data" in refused("gkm train --scores s.tsv g -l 6 -k 4")


def test_whole_numbers_may_be_names_and_are_noted():
    write(Path("d.csv"), "5340,1956,2020", [f"{x[0]},{x[1]},{y}" for x, y in zip(X, Y, strict=True)])
    found = done("fit d.csv -t 2020 -C 1 -o m.mk")
    assert "the names of the columns are numbers (5340, 1956, 2020)" in found.stderr


@pytest.mark.parametrize("sep", [";", "\t", "|"])
def test_a_csv_file_may_have_another_separator_and_decimal_commas(sep):
    for name, mark, decimal in (("a.csv", ",", "."), ("b.csv", sep, ",")):
        rows = [mark.join([*(f"{v:.3f}".replace(".", decimal) for v in x), str(y)]) for x, y in zip(X, Y, strict=True)]
        write(Path(name), mark.join("abcy"), rows)
        done(f"fit {name} -t y -C 1 -o m.mk")
        done(f"predict m.mk {name} -o {name}.tsv")
    assert Path("a.csv.tsv").read_text() == Path("b.csv.tsv").read_text()


@pytest.mark.parametrize("kind", ["csv", "txt"])
@pytest.mark.parametrize("head", ["größe,y", "a,y"])
def test_a_file_of_latin_letters_is_told_to_be_utf_8(kind, head):
    rows = [f"{'ä' if y else 'b'},{y}" for y in Y]
    Path(f"d.{kind}").write_bytes("\n".join([head, *rows]).encode("latin-1"))
    assert "save it as UTF-8" in refused(f"fit d.{kind} -t y -C 1 -o m.mk")


@pytest.mark.parametrize("marks, names", [("?", "01"), ("-", "01"), ("NA", "01"), ("?", ("well", "sick"))])
def test_a_mark_among_targets_is_a_missing_one_and_no_class(marks, names):
    rows = [f"{row},{names[y]}" for row, y in zip(ROWS, Y, strict=True)]
    write(Path("d.csv"), "a,b,c,y", [f"{ROWS[0]},{marks}", *rows[1:]])
    found = done("fit d.csv -t y -C 1 -o m.mk")
    assert "'y' is missing in 1 of" in found.stderr and "2 different values" in found.stderr


def test_decimal_commas_of_a_target_are_read_and_said():
    write(Path("d.csv"), "a;b;y", [f"{x[0]:.3f};{x[1]:.3f};{x[2]:.3f}".replace(".", ",") for x in X])
    found = done("fit d.csv -t y -C 1 -o m.mk")
    assert "'y' has decimal commas" in found.stderr and "regression" in found.stderr
    assert "'y' has decimal commas" in done("score m.mk d.csv").stderr


def test_numbers_of_rows_are_used_for_want_of_other_columns_and_said():
    write(Path("d.csv"), "pid,age,y", [f"{k},{X[k, 0]},{Y[k]}" for k in range(N)])
    said = done("fit d.csv -t y --adjust age -C 1 -o m.mk").stderr
    assert "used 'pid' for want of others (numbers of the rows" in said and "is left out" not in said


def test_files_of_a_folder_that_are_not_read_are_named():
    Path("st").mkdir()
    write(Path("st/rna.csv"), "id,a,b,c,y", [f"p{k},{row},{y}" for k, (row, y) in enumerate(zip(ROWS, Y, strict=True))])
    Path("st/proteins.xlsx").write_bytes(b"PK")
    assert "not read, as neither tables nor matrices: proteins.xlsx." in done("fit st -t y -C 1 -o m.mk").stderr


@pytest.mark.parametrize("more", ["y", "sex"])
def test_a_table_of_a_folder_may_have_fewer_or_more_columns_than_in_fit(more):
    """Its only column is called without the table; the target, or another column, makes the difference."""
    for folder, extra in (("st", more == "y"), ("new", more != "y")):
        Path(folder).mkdir()
        for name, head, columns in (("rna", "id,a,b", X[:, :2]), ("bmi", "id,c", X[:, 2:])):
            also = extra if name == "bmi" else more != "y"
            cells = zip(columns, Y, strict=True)
            rows = [",".join([f"p{k}", *map(str, x), *[str(y)] * also]) for k, (x, y) in enumerate(cells)]
            write(Path(folder, f"{name}.csv"), head + (f",{more}" if name == "bmi" else ",y") * also, rows)
    target = "y" if more == "y" else "rna.y"
    done(f"fit st -t {target} -C 1 -o m.mk")
    for folder in ("st", "new"):
        done(f"predict m.mk {folder} -o {folder}.tsv")
    assert Path("st.tsv").read_text() == Path("new.tsv").read_text()

"""A folder of kernel matrices, tables and sequences is matched by id, in every command, and what is wrong is said."""

import json

import numpy as np
import pandas as pd
import pytest

from manykernels import KernelStack, MKLClassifier, load
from tables import run

N, OLD = 36, 28
rng = np.random.default_rng(0)
IDS = np.array([f"s{i}" for i in range(N)])
LABEL = np.arange(N) % 2
POINTS = rng.normal(size=(N, 3)) + 1.2 * LABEL[:, None]
NETWORK = POINTS @ POINTS.T
ALIGNED = np.exp(-0.2 * ((POINTS[:, None] - POINTS) ** 2).sum(axis=2)) + np.eye(N)
OLD_ROWS, NEW_ROWS = np.arange(OLD), np.arange(OLD, N)
LACKING = 5  # of the old examples are not in `network`


def table(K, rows, columns, order=None):
    frame = pd.DataFrame(K[np.ix_(rows, columns)], index=pd.Index(IDS[rows], name="id"), columns=IDS[columns])
    return frame if order is None else frame.iloc[order, rng.permutation(len(columns))]


def write(folder, rows):
    """Matrices of these rows with the old examples in three formats and orders, a table, labels."""
    folder.mkdir()
    known = OLD_ROWS[:-LACKING]
    own = np.intersect1d(rows, known) if rows is OLD_ROWS else rows
    table(NETWORK, own, known, rng.permutation(len(own))).to_csv(folder / "network.csv")
    np.save(folder / "aligned.npy", ALIGNED[np.ix_(rows, OLD_ROWS)])
    (folder / "aligned.ids.txt").write_text("\n".join(IDS[rows]))
    if rows is not OLD_ROWS:
        (folder / "aligned.columns.txt").write_text("\n".join(IDS[OLD_ROWS]) + "\n")
    np.savez(folder / "packed.npz", ids=IDS[rows], columns=IDS[OLD_ROWS], K=(NETWORK**2)[np.ix_(rows, OLD_ROWS)])
    clinic = pd.DataFrame({"id": IDS, "age": POINTS[:, 0], "dose": POINTS[:, 1]}).iloc[rows]
    clinic[::-1].to_csv(folder / "clinic.tsv", sep="\t", index=False)
    kinds = pd.DataFrame({"id": IDS, "kind": np.where(LABEL, "ill", "well")}).iloc[rows]
    kinds.to_csv(folder / "kinds.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    place = tmp_path_factory.mktemp("study")
    write(place / "old", OLD_ROWS), write(place / "new", NEW_ROWS)
    result = run("fit", place / "old", "-t", "kind", "-o", place / "model.mk")
    assert result.exit_code == 0, result.output
    place.joinpath("said.txt").write_text(result.stderr)
    return place


def test_what_is_found_and_what_is_missing_is_said(study):
    said = (study / "said.txt").read_text()
    assert f"network: {LACKING} of {OLD} examples lack it." in said
    assert f"'network' is a kernel matrix of {OLD - LACKING} examples" in said
    for name in ("aligned", "packed"):
        assert f"'{name}' is a kernel matrix of {OLD} examples" in said
    names = load(study / "model.mk").kernel_names_
    assert names[:4] == ["aligned", "network", "packed", "clinic, RBF 0.3"]


def test_new_examples_are_predicted_from_their_values_with_old_ones(study):
    result = run("predict", study / "model.mk", study / "new")
    assert result.exit_code == 0, result.output
    found = [line.split(",") for line in result.stdout.splitlines()]
    assert sorted(row[0] for row in found[1:]) == sorted(IDS[NEW_ROWS]) and found[0][:2] == ["id", "prediction"]
    score = json.loads(run("score", study / "model.mk", study / "new", "-t", "kind", "--json").stdout)
    right = sum(row[1] == ("ill" if LABEL[int(row[0][1:])] else "well") for row in found[1:])
    assert score["accuracy"] == pytest.approx(right / len(NEW_ROWS)) and score["accuracy"] > 0.6


def test_the_model_is_that_of_the_stack_of_matrices(tmp_path):
    """Against `kernels="precomputed"`, in the order of the files; columns in another order than rows change nothing."""
    for name, rows in (("old", OLD_ROWS), ("new", NEW_ROWS)):
        folder = tmp_path / name
        folder.mkdir()
        table(ALIGNED, rows, OLD_ROWS, rng.permutation(len(rows))).to_csv(folder / "a.csv")
        table(NETWORK, rows, OLD_ROWS).to_csv(folder / "b.tsv", sep="\t")
        pd.DataFrame({"id": IDS[rows], "y": LABEL[rows]}).to_csv(tmp_path / f"{name}.csv", index=False)
    result = run("fit", tmp_path / "old", "--labels", tmp_path / "old.csv", "-o", tmp_path / "m.mk", "--json")
    assert result.exit_code == 0, result.output
    stack = KernelStack([K[:, OLD_ROWS] for K in (ALIGNED, NETWORK)])
    model = MKLClassifier("precomputed").fit(stack[OLD_ROWS], LABEL[OLD_ROWS])
    twin = load(tmp_path / "m.mk")
    np.testing.assert_allclose(twin.kernel_weights_, model.kernel_weights_, atol=0.02)
    text = run("predict", tmp_path / "m.mk", tmp_path / "new").stdout
    decisions = {row.split(",")[0]: float(row.split(",")[2]) for row in text.splitlines()[1:]}
    np.testing.assert_allclose(
        [decisions[id] for id in IDS[NEW_ROWS]], model.decision_function(stack[NEW_ROWS]), atol=0.05
    )


def test_every_other_command_takes_the_folder(study):
    for command in (
        ("cv", study / "old", "-t", "kind", "-C", "1", "-p", "1,2", "--folds", "2"),
        ("inspect", study / "model.mk", study / "old", "-t", "kind"),
        ("report", study / "model.mk", study / "old", "-t", "kind", "-o", study / "page.html",
         "--cv", "2", "--stability", "2", "--relevance", "full"),
    ):  # fmt: skip
        result = run(*command)
        assert result.exit_code == 0, result.output
    page = (study / "page.html").read_text()
    assert "network" in page and "sha256" in page


def test_init_writes_a_matrix_in_a_line_and_fit_reads_it(study):
    config = study / "kernels.toml"
    assert run("init", study / "old", "-t", "kind", "-o", config).exit_code == 0
    text = config.read_text()
    assert 'kernel = "Precomputed"\ncolumns = ["network.*"]\nmissing = "zero"' in text and "s3" not in text
    result = run("fit", study / "old", "--config", config, "-o", study / "twin.mk")
    assert result.exit_code == 0, result.output
    twin, model = load(study / "twin.mk"), load(study / "model.mk")
    np.testing.assert_array_equal(twin.kernel_weights_, model.kernel_weights_)


def test_sequences_in_a_folder_are_a_source_like_others(tmp_path):
    letters = np.array(list("ACGT"))
    for name, rows in (("old", OLD_ROWS), ("new", NEW_ROWS)):
        folder = tmp_path / name
        folder.mkdir()
        table(ALIGNED, rows, OLD_ROWS).to_csv(folder / "aligned.csv")
        with open(folder / "sites.fa", "w") as file:
            for i in rows[2:]:
                text = "".join(rng.choice(letters[:2] if LABEL[i] else letters, 20))
                file.write(f">{IDS[i]} kind={'ill' if LABEL[i] else 'well'}\n{text}\n")
        pd.DataFrame({"id": IDS[rows], "y": LABEL[rows]}).to_csv(tmp_path / f"{name}.csv", index=False)
    result = run("fit", tmp_path / "old", "--labels", tmp_path / "old.csv", "-o", tmp_path / "m.mk")
    assert result.exit_code == 0, result.output
    assert f"sites: 2 of {OLD} examples lack it" in result.stderr and f"sites, {OLD - 2} sequences" in result.stderr
    model = load(tmp_path / "m.mk")
    assert "sites, 2 letters anywhere" in model.kernel_names_ and "sites.kind" not in str(model.kernels)
    result = run("score", tmp_path / "m.mk", tmp_path / "new", "--labels", tmp_path / "new.csv", "--json")
    assert result.exit_code == 0 and json.loads(result.stdout)["accuracy"] > 0.6, result.output
    result = run("fit", tmp_path / "old", "-t", "sites.kind", "-o", tmp_path / "m.mk")
    assert result.exit_code == 0, result.output


def wrong(folder, frame, *texts, name="a.csv", command="fit"):
    folder.mkdir(exist_ok=True)
    if frame is not None:
        frame.to_csv(folder / name)
    pd.DataFrame({"id": IDS, "y": LABEL}).to_csv(folder.parent / "y.csv", index=False)
    result = run(command, folder, "--labels", folder.parent / "y.csv", "-o", folder.parent / "m.mk")
    last = result.stderr.strip().splitlines()[-1]
    assert result.exit_code == 1 and result.stdout == "" and last.startswith("manykernels: "), result.output
    for text in texts:
        assert text in last


def test_wrong_matrices_are_refused_in_a_sentence(tmp_path):
    good = table(NETWORK, OLD_ROWS, OLD_ROWS)
    wrong(tmp_path / "row", good.iloc[:, 1:], "a: row 's0' has no column", "square")
    wrong(tmp_path / "column", good.iloc[1:], "a: column 's0' has no row", "square")
    skew = good.copy()
    skew.loc["s2", "s3"] += 9
    wrong(tmp_path / "skew", skew, "a: it is not symmetric, 's2' with 's3' is", "the mean of the two")
    gap = good.copy()
    gap.loc["s4", "s5"] = np.nan
    wrong(tmp_path / "gap", gap, "a: the value of 's4' with 's5' is nan, not a finite number")
    text = good.astype(object)
    text.loc["s4", "s5"] = "high"
    wrong(tmp_path / "text", text, "a: the value of 's4' with 's5' is high, not a finite number")


def test_wrong_ids_are_refused_in_a_sentence(tmp_path):
    good = table(NETWORK, OLD_ROWS, OLD_ROWS)
    other = good.rename(index=str.upper, columns=str.upper)
    (tmp_path / "case").mkdir()
    good.to_csv(tmp_path / "case" / "b.csv")
    wrong(tmp_path / "case", other, "no id is in all of a, b", "'S0'", "'s0'")
    named = good.rename(index=lambda id: f"id={id}", columns=lambda id: f"id={id}")
    named["kind"] = LABEL[OLD_ROWS]
    (tmp_path / "equals").mkdir()
    named.drop(columns="kind").to_csv(tmp_path / "equals" / "a.csv")
    named[["kind"]].to_csv(tmp_path / "equals" / "kind.csv")
    result = run("fit", tmp_path / "equals", "-t", "kind", "-o", tmp_path / "m.mk")
    assert result.exit_code == 1 and "a: an id contains =" in result.stderr
    good.to_csv(tmp_path / "alone.csv")
    result = run("fit", tmp_path / "alone.csv", "-t", "s1", "-o", tmp_path / "m.mk")
    assert result.exit_code == 1 and "looks like a kernel matrix: put it into a folder" in result.stderr


def test_wrong_npy_files_are_refused_in_a_sentence(tmp_path):
    folder = tmp_path / "npy"
    folder.mkdir()
    np.save(folder / "a.npy", NETWORK[:5, :5])
    wrong(folder, None, "a.npy has no ids", "a.ids.txt or ids.txt")
    (folder / "ids.txt").write_text("\n".join(IDS[:4]))
    wrong(folder, None, "a.npy has shape (5, 5), but there are ids of 4 rows and 4 columns")
    np.save(folder / "a.npy", NETWORK[0])
    wrong(folder, None, "a.npy has shape (36,)", "a matrix of numbers")
    (tmp_path / "npz").mkdir()
    np.savez(tmp_path / "npz" / "b.npz", ids=IDS[:4], columns=IDS[:3], K=NETWORK[:4, :4])
    wrong(tmp_path / "npz", None, "b.npz: the matrix has shape (4, 4), but ids and columns say (4, 3)")


def test_wrong_matrices_at_prediction_are_refused_in_a_sentence(study, tmp_path):
    folder = write(tmp_path / "less", NEW_ROWS)
    frame = table(NETWORK, NEW_ROWS, OLD_ROWS[:-LACKING])
    frame.drop(columns=["s1", "s2"]).to_csv(folder / "network.csv")
    result = run("predict", study / "model.mk", folder)
    assert result.exit_code == 1 and result.stdout == ""
    assert "lack the values of 'network' with 2 training examples ('s1', for example)" in result.stderr
    frame.iloc[3, 4] = np.nan
    frame.to_csv(folder / "network.csv")
    result = run("predict", study / "model.mk", folder)
    assert result.exit_code == 1 and f"network: the value of '{IDS[NEW_ROWS[3]]}' with 's4' is missing" in result.stderr
    frame.drop(index=IDS[NEW_ROWS[3]]).to_csv(folder / "network.csv")
    result = run("predict", study / "model.mk", folder)
    assert result.exit_code == 0 and f"network: 1 of {len(NEW_ROWS)} examples lack it" in result.stderr


def test_a_configuration_that_names_no_matrix(study):
    (study / "k.toml").write_text('[[kernel]]\nkernel = "Precomputed"\ncolumns = ["clinic.*"]')
    result = run("fit", study / "old", "-t", "kind", "--config", study / "k.toml", "-o", study / "x.mk")
    assert result.exit_code == 1 and "'clinic.*' is not a kernel matrix" in result.stderr
    assert 'columns = ["aligned.*"]' in result.stderr

"""A folder of kernel matrices, tables and sequences is matched by id, in every command, and what is wrong is said."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manykernels import KernelStack, MKLClassifier, load
from tables import done, fasta, json_of, refused, table_of

N, OLD = 36, 28
rng = np.random.default_rng(0)
IDS = np.array([f"s{i}" for i in range(N)])
LABEL = np.arange(N) % 2
POINTS = rng.normal(size=(N, 3)) + 1.2 * LABEL[:, None]
NETWORK = POINTS @ POINTS.T
ALIGNED = np.exp(-0.2 * ((POINTS[:, None] - POINTS) ** 2).sum(axis=2)) + np.eye(N)
OLD_ROWS, NEW_ROWS = np.arange(OLD), np.arange(OLD, N)
LACKING = 5  # of the old examples are not in `network`
EXAMPLES = pd.DataFrame({"id": IDS, "age": POINTS[:, 0], "dose": POINTS[:, 1], "kind": np.where(LABEL, "ill", "well")})


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
    EXAMPLES[["id", "age", "dose"]].iloc[rows][::-1].to_csv(folder / "clinic.tsv", sep="\t", index=False)
    EXAMPLES[["id", "kind"]].iloc[rows].to_csv(folder / "kinds.csv", index=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("study")
    write(home / "old", OLD_ROWS), write(home / "new", NEW_ROWS)
    (home / "said.txt").write_text(done(f"fit {home}/old -t kind -o {home}/model.mk").stderr)
    return home


def test_what_is_found_and_what_is_missing_is_said(folder):
    said = Path("said.txt").read_text()
    assert f"network: {LACKING} of {OLD} examples lack it." in said
    assert f"'network' is a kernel matrix of {OLD - LACKING} examples" in said
    for name in ("aligned", "packed"):
        assert f"'{name}' is a kernel matrix of {OLD} examples" in said
    names = load("model.mk").kernel_names_
    assert names[:4] == ["aligned", "network", "packed", "clinic, RBF 0.3"]


def test_new_examples_are_predicted_from_their_values_with_old_ones(folder):
    found = table_of("predict model.mk new").set_index("id").prediction
    assert set(found.index) == set(IDS[NEW_ROWS])
    right = (found == EXAMPLES.set_index("id").kind[found.index]).mean()
    assert json_of("score model.mk new -t kind")["accuracy"] == pytest.approx(right) and right > 0.6


def test_the_model_is_that_of_the_stack_of_matrices():
    """Against `kernels="precomputed"`, in the order of the files; columns in another order than rows change nothing."""
    for name, rows in (("old", OLD_ROWS), ("new", NEW_ROWS)):
        Path(name).mkdir()
        table(ALIGNED, rows, OLD_ROWS, rng.permutation(len(rows))).to_csv(f"{name}/a.csv")
        table(NETWORK, rows, OLD_ROWS).to_csv(f"{name}/b.tsv", sep="\t")
    EXAMPLES[["id", "kind"]].to_csv("labels.csv", index=False)
    done("fit old --labels labels.csv -o m.mk")
    stack = KernelStack([K[:, OLD_ROWS] for K in (ALIGNED, NETWORK)])
    model = MKLClassifier("precomputed").fit(stack[OLD_ROWS], EXAMPLES.kind[OLD_ROWS])
    np.testing.assert_allclose(load("m.mk").kernel_weights_, model.kernel_weights_, atol=0.02)
    decisions = table_of("predict m.mk new").set_index("id").decision[IDS[NEW_ROWS]]
    np.testing.assert_allclose(decisions, model.decision_function(stack[NEW_ROWS]), atol=0.05)


def test_every_other_command_takes_the_folder(folder):
    done("cv old -t kind -C 1 -p 1,2 --folds 2")
    done("inspect model.mk old -t kind")
    done("report model.mk old -t kind -o page.html --cv 2 --stability 2 --relevance full")
    page = Path("page.html").read_text()
    assert "network" in page and "sha256" in page


def test_init_writes_a_matrix_in_a_line_and_fit_reads_it(folder):
    done("init old -t kind -o kernels.toml")
    text = Path("kernels.toml").read_text()
    assert 'kernel = "Precomputed"\ncolumns = ["network.*"]\nmissing = "zero"' in text and "s3" not in text
    done("fit old --config kernels.toml -o twin.mk")
    twin, model = load("twin.mk"), load("model.mk")
    np.testing.assert_array_equal(twin.kernel_weights_, model.kernel_weights_)


def test_sequences_in_a_folder_are_a_source_like_others():
    letters = np.array(list("ACGT"))
    for name, rows in (("old", OLD_ROWS), ("new", NEW_ROWS)):
        Path(name).mkdir()
        table(ALIGNED, rows, OLD_ROWS).to_csv(f"{name}/aligned.csv")
        texts = ["".join(rng.choice(letters[:2] if LABEL[i] else letters, 20)) for i in rows[2:]]
        fasta(f"{name}/sites.fa", texts, [f"{IDS[i]} kind={EXAMPLES.kind[i]}" for i in rows[2:]])
    EXAMPLES[["id", "kind"]].to_csv("labels.csv", index=False)
    said = done("fit old --labels labels.csv -o m.mk").stderr
    assert f"sites: 2 of {OLD} examples lack it" in said and f"sites, {OLD - 2} sequences" in said
    model = load("m.mk")
    assert "sites, 2 letters anywhere" in model.kernel_names_ and "sites.kind" not in str(model.kernels)
    assert json_of("score m.mk new --labels labels.csv")["accuracy"] > 0.6
    done("fit old -t sites.kind -o m.mk")


GOOD = table(NETWORK, OLD_ROWS, OLD_ROWS)
UPPER = GOOD.rename(index=str.upper, columns=str.upper)
WRONG = [  # the files of a folder, by what writes them, and what is said
    ({"a.csv": GOOD.iloc[:, 1:].to_csv}, "a: row 's0' has no column", "square"),
    ({"a.csv": GOOD.iloc[1:].to_csv}, "a: column 's0' has no row", "square"),
    ({"a.csv": (GOOD + 9 * np.eye(OLD, k=1)).to_csv}, "a: it is not symmetric, 's", "the mean of the two"),
    ({"a.csv": GOOD.mask(GOOD == GOOD.loc["s4", "s5"]).to_csv}, "a: the value of 's4' with 's5' is nan, not a finite"),
    ({"a.csv": GOOD.replace(GOOD.loc["s4", "s5"], "high").to_csv}, "a: the value of 's4' with 's5' is high, not a fin"),
    ({"a.csv": UPPER.to_csv, "b.csv": GOOD.to_csv}, "no id is in all of a, b", "'S0'", "'s0'"),
    ({"a.npy": lambda path: np.save(path, NETWORK[:5, :5])}, "a.npy has no ids", "a.ids.txt or ids.txt"),
    ({"a.npy": lambda path: np.save(path, NETWORK[:5, :5]), "ids.txt": lambda path: Path(path).write_text("s0\ns1")},
     "a.npy has shape (5, 5), but there are ids of 2 rows and 2 columns"),
    ({"a.npy": lambda path: np.save(path, NETWORK[0])}, "a.npy has shape (36,)", "a matrix of numbers"),
    ({"b.npz": lambda path: np.savez(path, ids=IDS[:4], columns=IDS[:3], K=NETWORK[:4, :4])},
     "b.npz: the matrix has shape (4, 4), but ids and columns say (4, 3)"),
]  # fmt: skip


@pytest.mark.parametrize("case", WRONG, ids=[case[1] for case in WRONG])
def test_wrong_matrices_are_refused_in_a_sentence(case):
    files, *says = case
    Path("study").mkdir()
    for name, write_to in files.items():
        write_to(f"study/{name}")
    EXAMPLES[["id", "kind"]].to_csv("y.csv", index=False)
    said = refused("fit study --labels y.csv -o m.mk")
    assert all(text in said for text in says), said


def test_a_matrix_without_a_folder_is_told_to_go_into_one():
    GOOD.to_csv("alone.csv")
    assert "looks like a kernel matrix: put it into a folder" in refused("fit alone.csv -t s1 -o m.mk")


def test_wrong_matrices_at_prediction_are_refused_in_a_sentence(folder):
    write(Path("less"), NEW_ROWS)
    frame = table(NETWORK, NEW_ROWS, OLD_ROWS[:-LACKING])
    frame.drop(columns=["s1", "s2"]).to_csv("less/network.csv")
    says = "lack the values of 'network' with 2 training examples ('s1', for example)"
    assert says in refused("predict model.mk less")
    frame.iloc[3, 4] = np.nan
    frame.to_csv("less/network.csv")
    assert f"network: the value of '{IDS[NEW_ROWS[3]]}' with 's4' is missing" in refused("predict model.mk less")
    frame.drop(index=IDS[NEW_ROWS[3]]).to_csv("less/network.csv")
    assert f"network: 1 of {len(NEW_ROWS)} examples lack it" in done("predict model.mk less").stderr


def test_a_configuration_that_names_no_matrix(folder):
    Path("k.toml").write_text('[[kernel]]\nkernel = "Precomputed"\ncolumns = ["clinic.*"]')
    said = refused("fit old -t kind --config k.toml -o x.mk")
    assert "'clinic.*' is not a kernel matrix" in said and 'columns = ["aligned.*"]' in said

"""Gene sets: files, names of genes, kernels of sets, databases."""

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manykernels import MKLClassifier, Views
from manykernels.banks.choice import choose_bank
from manykernels.datasets import make_multiomics
from manykernels.inspect import held_out, relevance
from manykernels.kernels import RBF, KernelList
from manykernels.kernels.annotated import NamedMatrix
from manykernels.omics import databases, match_sets, read_gmt, set_kernels
from manykernels.regularizers import GroupNorm

DATA = make_multiomics(160, effect=1.5)
FRAME = pd.DataFrame(DATA.matrices["rna"].toarray(), columns=DATA.names["rna"])
SPARSE = Views({"X": NamedMatrix(DATA.matrices["rna"], DATA.names["rna"])})
Y = DATA.obs["disease"]


def test_gmt_files_are_read_by_set_and_by_database(tmp_path):
    plain, packed = tmp_path / "go.gmt", tmp_path / "kegg.gmt.gz"
    plain.write_text("A\tnote\tX1\tX2\tX1\n\nB\t\tX3\r\n")
    packed.write_bytes(gzip.compress(b"C\thttp://c\tX4\t\n"))
    assert read_gmt(plain) == {"A": ["X1", "X2"], "B": ["X3"]}
    assert read_gmt([plain, str(packed)]) == {"go": read_gmt(plain), "kegg": {"C": ["X4"]}}


@pytest.mark.parametrize(
    "text, says",
    [
        ("A\tnote\n", "line 1, has no gene"),
        ("A\t\tx\nA\t\ty\n", "line 2, has the set 'A' again"),
        ("\n", "no gene set"),
    ],
)
def test_wrong_gmt_files_are_named_with_their_line(tmp_path, text, says):
    path = tmp_path / "wrong.gmt"
    path.write_text(text)
    with pytest.raises(ValueError, match=says):
        read_gmt(path)


def test_genes_match_in_any_case_and_the_others_are_reported():
    sets = {"one": ["gene1", "GENE2", "NOPE"], "two": ["GENE3"]}
    found = match_sets(sets, FRAME, min_size=2)
    assert found.sets == {"one": ["GENE1", "GENE2"]} and found.left_out == {"two": 1}
    assert found.unmatched == ["NOPE"] and found.respelled == {"gene1": "GENE1"}
    with pytest.warns(UserWarning, match="1 sets have too few .* two \\(1\\).*lacks 1 genes .*'NOPE'.*another case"):
        set_kernels(sets, FRAME, min_size=2)


def test_columns_that_case_alone_tells_apart_match_only_their_own_spelling():
    X = pd.DataFrame(np.eye(3), columns=["Abc", "ABC", "Def"])
    found = match_sets({"s": ["Abc", "abc", "DEF"]}, X, min_size=1)
    assert found.sets == {"s": ["Abc", "Def"]} and found.unmatched == ["abc"]


@pytest.mark.parametrize(
    "sets, X, options, says",
    [
        ({"a": ["ENSG1"]}, FRAME, {}, "no gene of the sets is a column of X.*'ENSG1'.*'GENE0'.*same names"),
        ({"a": ["GENE1"]}, FRAME, {}, "no set has at least 5 genes in X: the sizes are 1 to 1; change min_size"),
        (
            DATA.gene_sets,
            FRAME,
            {"max_size": 5},
            "at least 5 and at most 5 genes in X: the sizes are .*change min_size",
        ),
        (DATA.gene_sets, FRAME, {"min_size": "5"}, "min_size='5' must be an integer >= 1"),
        (DATA.gene_sets, FRAME, {"max_size": 2}, "max_size=2 must be an integer >= 5"),
        ({"a": [1, 2]}, FRAME, {}, r"gene_sets\['a'\] has 1, which is no name of a gene: give texts"),
        (
            {"a": ["GENE1"]},
            FRAME.set_axis(["GENE1", *FRAME.columns[1:]], axis=1),
            {},
            "2 columns called 'GENE1': rename",
        ),
        ({"a": "GENE1"}, FRAME, {}, r"gene_sets\['a'\] is the text 'GENE1': give a list"),
        ({}, FRAME, {}, "gene_sets is empty: give"),
        (["GENE1"], FRAME, {}, "gene_sets is a list: give"),
        ({"a": ["GENE1"]}, FRAME.to_numpy(), {}, "without names of columns: give a DataFrame, an AnnData"),
        ({"a": ["GENE1"]}, SPARSE, {"view": "rna"}, r"view='rna' is not in X.*\['X'\]"),
    ],
)
def test_sets_without_genes_are_refused_with_the_cure(sets, X, options, says):
    with pytest.raises(ValueError, match=says):
        set_kernels(sets, X, **options)


def test_kernels_of_sets_find_the_planted_ones_and_read_sparse_columns():
    kernels = set_kernels(DATA.gene_sets, SPARSE)
    assert all(sp.issparse(view.X) for view in KernelList.from_spec(kernels, SPARSE).views(SPARSE))
    rare = Views({"X": NamedMatrix(SPARSE["X"].matrix.multiply(SPARSE["X"].matrix > 1.5), DATA.names["rna"])})
    bank = choose_bank(KernelList.from_spec(kernels, rare), rare)
    assert sp.issparse(bank.phi.F) and bank.phi.F.nnz < 0.2 * bank.phi.F.shape[0] * bank.phi.F.shape[1]
    model = MKLClassifier(kernels, regularizer=1).fit(SPARSE, Y)
    dense = MKLClassifier(set_kernels(DATA.gene_sets, FRAME), regularizer=1).fit(FRAME, Y)
    assert model.objective_ == pytest.approx(dense.objective_, rel=2e-3)
    heavy = {model.kernel_names_[m] for m in np.argsort(-model.kernel_weights_)[:3]}
    assert {"SET_0", "SET_1"} <= heavy
    mixed = Views({"X": SPARSE["X"][:, np.random.default_rng(0).permutation(400)]})
    np.testing.assert_allclose(model.decision_function(mixed), model.decision_function(SPARSE), atol=1e-9)


def test_new_data_may_have_other_genes_but_lack_none_of_the_sets():
    model = MKLClassifier(set_kernels({"s": DATA.gene_sets["SET_0"]}, SPARSE), C=1.0).fit(SPARSE, Y)
    own = np.flatnonzero(np.isin(DATA.names["rna"], DATA.gene_sets["SET_0"]))
    few = Views({"X": SPARSE["X"][:, own[::-1]]})
    np.testing.assert_allclose(model.decision_function(few), model.decision_function(SPARSE), atol=1e-9)
    with pytest.raises(ValueError, match="X lacks columns"):
        model.predict(Views({"X": SPARSE["X"][:, np.arange(10)]}))


def test_databases_are_groups_of_the_regularizer():
    sets = {"good": {name: DATA.gene_sets[name] for name in ("SET_0", "SET_1")},
            "poor": {name: DATA.gene_sets[name] for name in ("SET_6", "SET_7", "SET_8")}}  # fmt: skip
    kernels = set_kernels(sets, FRAME)
    of = databases(kernels)
    assert of == ["good"] * 2 + ["poor"] * 3
    model = MKLClassifier(kernels, regularizer=GroupNorm(of), C=0.1, tol=1e-4).fit(FRAME, Y)
    good = np.array(of) == "good"
    assert model.duality_gap_ <= 1e-4
    assert (model.kernel_weights_[good] > 0.1).all() and model.kernel_weights_[~good].max() < 0.1


def test_any_kernel_of_a_set_and_missing_samples():
    views = Views({"rna": FRAME, "other": np.arange(120.0)}, ids={"rna": range(160), "other": range(40, 160)})
    kernels = [*set_kernels(DATA.gene_sets, views, RBF("median")), ("other", RBF("median"), "other", "zero")]
    assert kernels[0].missing == "error" and kernels[0].columns[0] == "rna"
    part = Views({"rna": FRAME.iloc[:100], "other": np.arange(160.0)}, ids={"rna": range(100), "other": range(160)})
    assert {spec.missing for spec in set_kernels(DATA.gene_sets, part)} == {"zero"}


def test_relevance_refits_without_the_first_of_many_sets(monkeypatch):
    """By default, where the kernels of the folds do not fit in memory; all sets are permuted."""
    monkeypatch.setattr(held_out, "MAX_REFIT_ENTRIES", 2**17)
    monkeypatch.setattr(held_out, "MAX_REFITS", 30)
    found = relevance(MKLClassifier(set_kernels(DATA.gene_sets, SPARSE), C=0.1), SPARSE, Y, cv=2)
    assert found.refitted.sum() == 5 and not np.isnan(found.measure("permute").mean).any()
    assert {"SET_0", "SET_1"} <= {name for name, done in zip(found.names, found.refitted, strict=True) if done}

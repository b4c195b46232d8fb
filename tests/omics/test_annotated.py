"""AnnData and MuData as X, with targets and groups by the names of columns of obs."""

import numpy as np
import pytest

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
import pandas as pd  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLSurvival, load  # noqa: E402
from manykernels.datasets import make_multiomics  # noqa: E402
from manykernels.inspect import bootstrap_weights, column_relevance, feature_shares, relevance, suggest  # noqa: E402
from manykernels.kernels import Linear  # noqa: E402
from manykernels.omics import annotate, set_kernels, views  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")
DATA = make_multiomics(120, effect=2.0)


@pytest.fixture(scope="module")
def adata():
    found = DATA.to_anndata()
    found.layers["twice"] = 2 * found.X
    found.obsm["pca"] = np.asarray(found.X[:, :5].todense())
    return found


@pytest.fixture(scope="module")
def mdata():
    return DATA.to_mudata()


def test_a_mudata_and_a_column_of_obs_are_all_that_a_fit_needs(mdata):
    model = MKLClassifier(C=1.0).fit(mdata, "disease")
    assert model.n_features_in_ == 3 and model.score(mdata, "disease") > 0.9
    assert "0 for examples that lack it" in model.kernels_chosen_
    np.testing.assert_array_equal(model.predict(mdata[:7]), model.predict(mdata)[:7])


def test_an_anndata_is_a_view_whose_genes_are_found_by_name(adata, tmp_path):
    model = MKLClassifier(set_kernels(DATA.gene_sets, adata), C=1.0).fit(adata, "disease")
    mixed = adata[:, np.random.default_rng(0).permutation(adata.n_vars)]
    np.testing.assert_allclose(model.decision_function(mixed), model.decision_function(adata))
    model.save(tmp_path / "model.mk")
    np.testing.assert_allclose(load(tmp_path / "model.mk").decision_function(mixed), model.decision_function(adata))


def test_genes_may_have_another_order_where_a_kernel_reads_all_of_them(adata, mdata):
    for data in (adata, mdata):
        model, moved = MKLClassifier(C=1.0).fit(data, "disease"), data.copy()
        if data is adata:
            moved = moved[:, ::-1]
        else:
            moved = mudata.MuData({name: part[:, ::-1].copy() for name, part in moved.mod.items()})
            moved.obs["disease"] = data.obs["disease"]
        np.testing.assert_array_equal(model.decision_function(moved), model.decision_function(data))
        assert model.score(moved, "disease") == model.score(data, "disease")
    model = MKLClassifier(C=1.0).fit(adata, "disease")
    with pytest.raises(ValueError, match="lacks .*: add or rename columns"):
        model.predict(adata[:, 1:])


@pytest.mark.filterwarnings("ignore:Trying to modify attribute")  # anndata copies it
def test_a_view_of_an_anndata_is_as_good_as_a_copy(adata):
    half = adata[::2, 50:]
    assert half.is_view
    kernels = set_kernels(DATA.gene_sets, half)
    fits = [MKLClassifier(kernels, C=1.0).fit(data, "disease") for data in (half, half.copy())]
    np.testing.assert_array_equal(fits[0].decision_function(adata[1::2]), fits[1].decision_function(adata[1::2]))
    annotate(half, fits[0])  # anndata makes a copy of the view
    assert "manykernels_decision" in half.obs and "manykernels_decision" not in adata.obs


def test_layers_obsm_and_columns_of_obs_are_views(adata, mdata):
    found = views(adata, layer="twice", obsm="pca", obs=["age"])
    assert found.names == ["X", "pca", "obs"] and found.shape == (120, 3)
    assert (found["X"].to_numpy() != 2 * adata.X).nnz == 0
    some = views(mdata, modalities=["rna", "protein"])
    assert some.names == ["rna", "protein"] and len(some.missing["protein"]) == 30
    assert list(some.ids) == mdata.obs_names.tolist()


def test_groups_and_targets_are_columns_of_obs_everywhere(adata):
    kernels = set_kernels({name: DATA.gene_sets[name] for name in ("SET_0", "SET_1", "SET_9")}, adata)
    search = MKLClassifierCV(kernels, Cs=[0.1, 1]).fit(adata, "disease", groups="site")
    sites = DATA.obs["site"]
    same = MKLClassifierCV(kernels, Cs=[0.1, 1]).fit(views(adata), DATA.obs["disease"], groups=sites)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"])
    model = MKLClassifier(kernels, C=1.0).fit(adata, "disease")
    found = relevance(model, adata, "disease", groups="site", cv=4)
    assert found.table() == relevance(model, views(adata), DATA.obs["disease"], groups=sites, cv=4).table()
    report = model.report(adata, "disease", groups="site", cv=4, stability=0)
    assert report.facts["target"] == "disease" and report.facts["sources"]["rows"][0]["name"] in ("SET_0", "SET_1")
    assert bootstrap_weights(model, adata, "disease", n_boot=2).shape == (2, 3)
    assert suggest(adata, "disease", kernels, groups="site", Cs=[1], cv=3).mixing
    assert MKLRegressor(kernels, C=1.0).fit(adata, "age").score(adata, "age") > 0
    assert len(MKLOneClass(kernels).fit(adata).predict(adata)) == 120
    assert model.path(adata, "disease", Cs=[1.0]).weights.shape == (1, 1, 3)
    assert len(cross_val_score(model, adata, DATA.obs["disease"], cv=3)) == 3


def test_covariates_are_columns_of_obs_everywhere(adata, mdata):
    """A name or a list of names; categories of pandas keep their levels."""
    kernels = set_kernels({name: DATA.gene_sets[name] for name in ("SET_0", "SET_1", "SET_9")}, adata)
    own, Z, y = adata.copy(), pd.DataFrame({name: DATA.obs[name] for name in ("age", "site")}), DATA.obs["disease"]
    own.obs["site"] = pd.Categorical(DATA.obs["site"], [*sorted(set(DATA.obs["site"])), "elsewhere"])
    named = ["age", "site"]
    model = MKLClassifier(kernels, C=1.0).fit(adata, "disease", covariates=named)
    same = MKLClassifier(kernels, C=1.0).fit(views(adata), y, covariates=Z)
    assert model.covariate_names_ == same.covariate_names_
    np.testing.assert_allclose(model.covariate_coef_, same.covariate_coef_)
    decision = model.decision_function(adata[:7], covariates=named)
    np.testing.assert_allclose(decision, same.decision_function(views(adata), covariates=Z)[:7])
    assert model.score(adata, "disease", covariates=named) == same.score(views(adata), y, covariates=Z)
    with pytest.warns(UserWarning, match="dropped 'site=elsewhere'"):
        wide = MKLClassifier(kernels, C=1.0).fit(own, "disease", covariates=named)
    assert wide.covariate_columns_["site"][-1] == "elsewhere"
    found = relevance(model, adata, "disease", covariates=named, cv=3)
    assert found.covariates == named and found.table() == relevance(same, views(adata), y, covariates=Z, cv=3).table()
    annotate(own, model)
    np.testing.assert_allclose(own.obs["manykernels_decision"][:7], decision)
    assert MKLRegressor(C=1.0).fit(mdata, "age", covariates="site").score(mdata, "age", covariates="site") > 0
    with pytest.raises(ValueError, match="obs has no column 'agee': give one of .*'age'"):
        MKLClassifier(kernels, C=1.0).fit(adata, "disease", covariates=["agee"])
    with pytest.raises(ValueError, match="covariates='age' names a column of obs.*X is a Views: give the columns"):
        MKLClassifier(kernels, C=1.0).fit(views(adata), y, covariates="age")


def test_columns_inside_a_set_take_annotated_data_by_names(adata):
    kernels = set_kernels({name: DATA.gene_sets[name] for name in ("SET_0", "SET_9")}, adata)
    Z, y = adata.obs[["age"]], DATA.obs["disease"]
    model = MKLClassifier(kernels, C=1.0).fit(adata, "disease", covariates="age")
    found = feature_shares(model, adata[:6], covariates="age", background=adata[:3])
    same = feature_shares(model, views(adata[:6]), covariates=Z[:6], background=views(adata[:3]))
    np.testing.assert_allclose(found.values, same.values)
    found = column_relevance(model, adata, "disease", "SET_0", cv=2, n_permutations=1, covariates="age")
    same = column_relevance(model, views(adata), y, "SET_0", cv=2, n_permutations=1, covariates=Z)
    assert [row["permute"] for row in found.table()] == [row["permute"] for row in same.table()]
    turned, plain = adata.obs["disease"][::-1], MKLClassifier(kernels, C=1.0)
    for fit in (plain.fit, MKLClassifierCV(kernels, Cs=[1.0]).fit, lambda *data: relevance(plain, *data)):
        with pytest.raises(ValueError, match="y has the index of X in another order"):
            fit(adata, turned)


def test_results_are_written_back_and_survive_a_file(adata, tmp_path):
    kernels = set_kernels({name: DATA.gene_sets[name] for name in ("SET_0", "SET_9")}, adata)
    model = MKLClassifier(kernels, C=1.0).fit(adata, "disease")
    own = adata.copy()
    annotate(own, model, relevance=relevance(model, adata, "disease", cv=3), key="mkl")
    assert own.uns["mkl"]["weights"].shape == (2, 1) and "mkl_decision" in own.obs
    if int(pd.__version__.split(".")[0]) >= 3 and tuple(map(int, anndata.__version__.split(".")[:2])) < (0, 13):
        pytest.skip("anndata below 0.13 does not write the strings of pandas 3")
    own.write_h5ad(tmp_path / "data.h5ad")
    read = anndata.read_h5ad(tmp_path / "data.h5ad")
    np.testing.assert_allclose(read.uns["mkl"]["weights"]["weight"], model.kernel_weights_)
    np.testing.assert_allclose(read.obs["mkl_decision"], model.decision_function(adata))
    assert set(read.obs["mkl_prediction"]) == {"case", "control"} and len(read.uns["mkl"]["relevance"]) == 2


def test_annotating_a_mudata_with_several_classes(mdata):
    own = mdata.copy()
    annotate(own, MKLClassifier([("rna", Linear())], C=1.0).fit(views(own, modalities="rna"), own.obs["site"]),
             X=views(own, modalities="rna"))  # fmt: skip
    assert "manykernels_decision_site 1" in own.obs and own.uns["manykernels"]["weights"].shape == (1, 4)


@pytest.mark.filterwarnings("ignore:Changing the sparsity")
def test_wrong_annotated_data_get_a_sentence_with_the_cure(adata, mdata):
    other = anndata.AnnData(np.eye(4), obs=pd.DataFrame(index=list("abcd")))
    gaps = adata.copy()
    gaps.obs["part"] = np.where(np.arange(120) < 5, None, "x")
    holes = adata.copy()
    holes.X[0, 3] = np.nan
    twice = adata.copy()
    twice.var_names = ["G"] * adata.n_vars
    for call, says in [
        (lambda: MKLClassifier().fit(adata, "diseas"), "obs has no column 'diseas': give one of .*'disease'"),
        (lambda: MKLClassifier().fit(gaps, "part"), r"missing in 5 of 120 samples: keep the others, data\[data.obs"),
        (lambda: views(mudata.MuData({"a": adata, "b": other})), "no sample in common .*same name in obs_names"),
        (lambda: views(adata, layer="raw"), r"layer='raw' is not in 'X': its layers are \['twice'\]"),
        (lambda: views(mdata, layer={"atac": "raw"}), r"names modalities that are not taken: they are \['rna', 'meth"),
        (lambda: views(anndata.AnnData(obs=adata.obs)), "'X' has no matrix X: fill it in"),
        (lambda: MKLSurvival().fit(adata, "age"), "y has shape .* give the event and the time of every"),
        (lambda: relevance(MKLClassifier(), adata, "disease", groups="town"), "obs has no column 'town'"),
        (lambda: views(adata, obsm="umap"), r"obsm has no 'umap': it has \['pca'\]"),
        (lambda: views(mdata, modalities="atac"), r"it has \['rna', 'methylation', 'protein'\]"),
        (lambda: views(adata, modalities="rna"), "is for a MuData"),
        (lambda: views(np.eye(3)), "give an AnnData or a MuData"),
        (lambda: annotate(np.eye(3), None), "give an AnnData or a MuData"),
        (lambda: views(twice), "'G' more than once: call data.var_names_make_unique"),
        (lambda: MKLClassifier([Linear()], C=1.0).fit(holes, "disease"), "NaN in column 'X: GENE3'"),
    ]:
        with pytest.raises(ValueError, match=says):
            call()

"""Modalities with samples, layers and columns of their own."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels.kernels.annotated import as_views, obs_column

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")

rng = np.random.default_rng(2)
RNA, ATAC = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
NAMES, OTHER = ["s0", "s1", "s2", "s3"], ["s3", "s1", "s0", "s2"]


def made():
    rna = anndata.AnnData(RNA, pd.DataFrame({"batch": list("uvuv")}, index=NAMES), layers={"log": RNA + 10})
    atac = anndata.AnnData(
        ATAC, pd.DataFrame({"age": [30, 10, 0, 20]}, index=OTHER), layers={"log": ATAC + 20, "raw": ATAC - 5}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mudata.MuData({"rna": rna, "atac": atac})


def test_a_column_of_one_modality_is_in_the_order_of_all_samples():
    data = made()
    at = [OTHER.index(name) for name in data.obs_names]
    assert obs_column(data, "age").tolist() == np.array([30, 10, 0, 20])[at].tolist()
    assert (
        obs_column(data, "batch").tolist() == np.array(list("uvuv"))[[NAMES.index(n) for n in data.obs_names]].tolist()
    )


@pytest.mark.parametrize("layer, rna, atac", [
    (None, RNA, ATAC), ("log", RNA + 10, ATAC + 20), ({"atac": "raw"}, RNA, ATAC - 5),
    ({"rna": "log", "atac": "raw"}, RNA + 10, ATAC - 5), ({"rna": "log"}, RNA + 10, ATAC),
])  # fmt: skip
def test_each_modality_has_its_own_layer_and_its_rows_are_matched(layer, rna, atac):
    data = made()
    views = as_views(data, layer)
    for name, wanted, order in (("rna", rna, NAMES), ("atac", atac, OTHER)):
        np.testing.assert_allclose(views[name], wanted[[order.index(sample) for sample in data.obs_names]], rtol=1e-6)


def test_modalities_that_share_no_sample_and_matrices_that_are_not_there_are_named():
    far = anndata.AnnData(ATAC, pd.DataFrame(index=["t0", "t1", "t2", "t3"]))
    near = anndata.AnnData(RNA, pd.DataFrame(index=NAMES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = mudata.MuData({"rna": near, "atac": far})
    with pytest.raises(ValueError, match="'rna' has no sample in common with the others"):
        as_views(data)
    empty = anndata.AnnData(obs=pd.DataFrame(index=NAMES), var=pd.DataFrame(index=list("abc")), layers={"log": RNA})
    with pytest.raises(ValueError, match=r"'X' has no matrix X: give views\(data, layer=…\), one of .'log'."):
        as_views(empty)
    np.testing.assert_allclose(as_views(empty, "log")["X"], RNA)

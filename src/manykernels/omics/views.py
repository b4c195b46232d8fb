"""The matrices of AnnData and MuData as views."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..kernels.annotated import as_views
from ..kernels.views import Views


def views(
    data: Any,
    *,
    layer: str | Mapping[str, str] | None = None,
    obsm: str | Iterable[str] = (),
    modalities: str | Iterable[str] | None = None,
    obs: str | Iterable[str] = (),
) -> Views:
    """The `Views` of an AnnData or a MuData, for other matrices than X; estimators take both directly too.

    ``MKLClassifier().fit(mdata, "cell_type")`` reads X of every modality, and y from obs. The matrix of an AnnData is
    the view "X"; each modality of a MuData is a view with the modality's name. Columns have the names of the genes, and
    kernels find the columns of new data by these names. Sparse matrices stay sparse. A sample that lacks a modality is
    missing in this view; the kernels of "auto" and of `set_kernels` are 0 for it.

    Parameters
    ----------
    data : AnnData or MuData
    layer : str, or dict {modality: str}, optional
        The layer to take in place of X.
    obsm : str or list of str
        Keys of obsm, such as "X_pca", each a further view; "modality:key" if several modalities have it.
    modalities : str or list of str, optional
        Of a MuData; None for all.
    obs : str or list of str
        Columns of obs, such as age and sex, that form the view "obs".

    Returns
    -------
    Views

    Examples
    --------
    >>> from manykernels.datasets import make_multiomics
    >>> from manykernels.omics import views
    >>> try:
    ...     found = views(make_multiomics(60).to_mudata(), obs="age")
    ... except ImportError:  # mudata is not installed
    ...     found = None
    >>> found is None or found.names == ["rna", "methylation", "protein", "obs"]
    True
    """
    return as_views(data, layer, obsm, modalities, obs)

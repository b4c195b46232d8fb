"""AnnData and MuData: their matrices as views, and results of a model written into them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..kernels.annotated import as_views, check_annotated, obs_columns
from ..kernels.rows import check_rows
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


def annotate(data: Any, model: Any, *, X: Any = None, relevance: Any = None, key: str = "manykernels") -> None:
    """Write a fitted model's weights, relevance, predictions and decisions into an AnnData or a MuData, in place.

    `data.uns[key]` gets "weights" (a frame: kernels × outputs), "duality_gap" and, if given, "relevance" (a frame);
    `data.obs` gets KEY_prediction and KEY_decision, or KEY_decision_CLASS for each of several classes. The decisions on
    samples that the model was fitted on are better than those on new samples. Covariates of the model are read from
    the columns of obs of the same names.

    Parameters
    ----------
    data : AnnData or MuData
    model : fitted estimator
    X : optional
        The samples of `data` as the model takes them, such as `views(data, layer="counts")`; None: `data` itself.
    relevance : Relevance, optional
        Of `inspect.relevance`.
    key : str, default "manykernels"

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.datasets import make_multiomics
    >>> from manykernels.omics import annotate
    >>> try:
    ...     mdata = make_multiomics(60).to_mudata()
    ... except ImportError:  # mudata is not installed
    ...     mdata = None
    >>> if mdata is not None:
    ...     annotate(mdata, MKLClassifier(C=1.0).fit(mdata, "disease"))
    >>> mdata is None or "manykernels_decision" in mdata.obs
    True
    """
    import pandas as pd
    from sklearn.utils.validation import check_is_fitted

    check_annotated(data)
    check_is_fitted(model)
    X = data if X is None else X
    check_rows(X, data=data)
    theta = np.atleast_2d(model.kernel_weights_)
    outputs = ["weight"] if len(theta) == 1 else [str(label) for label in model.classes_]
    found = {
        "weights": pd.DataFrame(theta.T, index=list(map(str, model.kernel_names_)), columns=outputs),
        "duality_gap": float(model.duality_gap_),
    }
    if relevance is not None:
        frame = relevance.to_frame()
        frame.columns = [str(name) for name in frame.columns]
        found["relevance"] = frame
    known = vars(model).get("covariate_columns_")  # of obs
    extra = {} if known is None else {"covariates": obs_columns(data, list(known))}
    predicted = model.predict(X, **extra)
    columns = {f"{key}_prediction": predicted} if np.ndim(predicted) == 1 else {}
    if "decision_function" in dir(model):
        decision = np.asarray(model.decision_function(X, **extra))
        names = [f"{key}_decision"] if decision.ndim == 1 else [f"{key}_decision_{label}" for label in model.classes_]
        columns |= dict(zip(names, decision.reshape(len(predicted), -1).T, strict=True))
    data.uns[key] = found
    own = (f"{key}_prediction", f"{key}_decision")
    for name in [name for name in data.obs.columns if name in own or str(name).startswith(f"{own[1]}_")]:
        del data.obs[name]  # of another model
    for name, values in columns.items():
        data.obs[name] = values

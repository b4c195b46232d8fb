"""AnnData and MuData as examples: matrices become views with named columns, and columns of obs become targets.

The matrices are those of the containers, sparse ones as CSR; nothing is copied but rows that are matched.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from .frames import listed, pick
from .views import Views

MATRIX = "X"  # the name of the view of the matrix of an AnnData


class NamedMatrix:
    """A CSR matrix (n, d) with the names of its columns; kernels select columns by these names, as those of a frame."""

    def __init__(self, matrix, columns):
        self.matrix, self.columns = sp.csr_matrix(matrix), list(columns)

    @property
    def shape(self):
        return self.matrix.shape

    def to_numpy(self):
        """The CSR matrix."""
        return self.matrix

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.matrix[:, [self.columns.index(key)]].toarray()[:, 0]
        rows, columns = (key[0], None if key[1] is Ellipsis else key[1]) if isinstance(key, tuple) else (key, None)
        if columns is None:
            return NamedMatrix(self.matrix[rows], self.columns)
        return NamedMatrix(self.matrix[:, columns][rows], [self.columns[k] for k in columns])

    def __repr__(self):
        return f"NamedMatrix({self.shape[0]} × {self.shape[1]}, {self.matrix.nnz} entries)"


def is_annotated(data: Any) -> bool:
    """Whether `data` is an AnnData or a MuData; the test imports neither package."""
    anndata = sys.modules.get("anndata")
    return is_several(data) or anndata is not None and isinstance(data, anndata.AnnData)


def check_annotated(data: Any) -> None:
    """A ValueError unless `data` is an AnnData or a MuData."""
    if not is_annotated(data):
        raise ValueError(f"data is a {type(data).__name__}: give an AnnData or a MuData.")


def read_annotated(X: Any, *columns: Any, order: Mapping[str, Any] = MappingProxyType({})) -> tuple[Any, ...]:
    """(X as `Views`, the columns of obs that are given by their names); all unchanged if X is no AnnData or MuData.

    Views in `order`, {view: names of its columns}, have these columns in this order if they have no others.
    """
    if not is_annotated(X):
        return X, *columns
    return as_views(X, order=order), *(opened_column(X, name) for name in columns)


def opened_column(X: Any, given: Any) -> Any:
    """The column of obs if `given` is its name and X an AnnData or a MuData; else `given`."""
    return obs_column(X, given) if isinstance(given, str) and is_annotated(X) else given


def obs_columns(X: Any, given: Any) -> Any:
    """{name: column of obs} if `given` is a name, or a list of names, and X an AnnData or a MuData; else `given`."""
    names = [given] if isinstance(given, str) else given
    if not (isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)):
        return given
    if is_annotated(X):
        return {name: _obs(X, name, True) for name in names}
    if isinstance(given, str):
        raise ValueError(
            f"covariates={given!r} names a column of obs, which an AnnData or a MuData has; X is a {type(X).__name__}: "
            "give the columns themselves."
        )
    return given


def as_views(
    data: Any, layer: Any = None, obsm: Iterable[str] = (), modalities: Iterable[str] | None = None,
    obs: Iterable[str] = (), order: Mapping[str, Any] = MappingProxyType({}),
) -> Views:  # fmt: skip
    """The `Views` of an AnnData or a MuData; `manykernels.omics.views` documents the parameters."""
    check_annotated(data)
    several = _modalities(data, modalities)
    if isinstance(layer, Mapping) and not set(layer) <= set(several):
        raise ValueError(f"layer={dict(layer)} names modalities that are not taken: they are {list(several)}.")
    found, ids = {}, {}
    for name, part in several.items():
        wanted = layer.get(name) if isinstance(layer, Mapping) else layer
        found[name] = _matrix(part, name, wanted)
        place = {column: k for k, column in enumerate(found[name].columns)}
        if place.keys() == set(order.get(name, ())):
            found[name] = pick(found[name], [place[column] for column in order[name]])
        ids[name] = _names(part.obs_names, f"obs_names of {name!r}" if len(several) > 1 else "obs_names")
    for key in [obsm] if isinstance(obsm, str) else obsm:
        owners = [(name, part) for name, part in several.items() if key in part.obsm]
        if not owners:
            raise ValueError(f"obsm has no {key!r}: it has {sorted({k for p in several.values() for k in p.obsm})}.")
        for name, part in owners:
            called = key if len(owners) == 1 and key not in found else f"{name}:{key}"
            values = part.obsm[key]
            found[called], ids[called] = sp.csr_matrix(values) if sp.issparse(values) else values, ids[name]
    _refuse_strangers({name: ids[name] for name in several})
    obs = [obs] if isinstance(obs, str) else list(obs)
    every = _names(data.obs_names, "obs_names")
    if obs:
        import pandas as pd

        found["obs"] = pd.DataFrame({name: obs_column(data, name, False) for name in obs}, index=data.obs_names)
        ids["obs"] = every
    if len(several) == 1 and all(own == every for own in ids.values()):
        return Views(found)
    return Views(found, ids, every)


def obs_column(data: Any, name: str, complete: bool = True) -> np.ndarray:
    """The column `name` of obs, (n,); of a MuData, also a column that one modality has alone."""
    return np.asarray(_obs(data, name, complete))


def _obs(data, name, complete):
    """The same as a column of pandas, with its categories."""
    column = data.obs[name] if name in data.obs else None
    if column is None and is_several(data):
        owners = [part for part in data.mod.values() if name in part.obs]
        if len(owners) == 1:
            column = owners[0].obs[name].reindex(data.obs_names)
    if column is None:
        known = [str(one) for one in data.obs.columns]
        known += [str(one) for part in (data.mod.values() if is_several(data) else ()) for one in part.obs.columns]
        near = get_close_matches(name, known, 3, 0.5) or known[:10]
        raise ValueError(f"obs has no column {name!r}: give one of {near}, or an array with an entry per sample.")
    lost = int(column.isna().sum())
    if lost and complete:
        raise ValueError(
            f"obs[{name!r}] is missing in {lost} of {len(column)} samples: keep the others, "
            f"data[data.obs[{name!r}].notna()]."
        )
    return column


def is_several(data: Any) -> bool:
    """Whether annotated `data` is a MuData, with modalities."""
    mudata = sys.modules.get("mudata")
    return mudata is not None and isinstance(data, mudata.MuData)


def _modalities(data, wanted):
    """{name of a view: AnnData}."""
    if not is_several(data):
        if wanted is not None:
            raise ValueError(f"modalities={wanted!r} is for a MuData: leave it out for an AnnData.")
        return {MATRIX: data}
    wanted = list(data.mod) if wanted is None else [wanted] if isinstance(wanted, str) else list(wanted)
    lost = [name for name in wanted if name not in data.mod]
    if lost or not wanted:
        raise ValueError(f"modalities={wanted} are not all in the MuData: it has {list(data.mod)}.")
    return {name: data.mod[name] for name in wanted}


def _matrix(part, view, layer):
    """X or a layer of an AnnData: a `NamedMatrix` if it is sparse, else a DataFrame."""
    if layer is not None and layer not in part.layers:
        known = f"its layers are {list(part.layers)}" if len(part.layers) else "it has no layers"
        raise ValueError(f"layer={layer!r} is not in {view!r}: {known}; None takes X.")
    values = part.X if layer is None else part.layers[layer]
    if values is None:
        cure = f"give views(data, layer=…), one of {list(part.layers)}" if len(part.layers) else "fill it in"
        raise ValueError(f"{view!r} has no matrix X: {cure}.")
    names = _names(part.var_names, f"var_names of {view!r}", "data.var_names_make_unique()")
    if sp.issparse(values) or hasattr(values, "to_memory"):  # a sparse matrix on disk
        values = values if sp.issparse(values) else values.to_memory()
        return NamedMatrix(values, names)
    import pandas as pd

    return pd.DataFrame(np.asarray(values), index=part.obs_names, columns=names)


def _names(index, called, cure="data.obs_names_make_unique()"):
    """The names as a list; a ValueError if two are equal."""
    if not index.is_unique:
        raise ValueError(f"{called} has {index[index.duplicated()][0]!r} more than once: call {cure} first.")
    return index.to_list()


def _refuse_strangers(ids):
    """A ValueError if a modality has no sample in common with any other."""
    for name, own in ids.items():
        others = {label for other, labels in ids.items() if other != name for label in labels}
        if others and not others & set(own):
            strange = next(labels for other, labels in ids.items() if other != name)
            raise ValueError(
                f"the modality {name!r} has no sample in common with the others ({listed(own[:2])} and "
                f"{listed(strange[:2])}): give a sample the same name in obs_names of every modality, or leave out "
                "modalities."
            )

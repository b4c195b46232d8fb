"""Generated multi-omics data: three modalities, gene sets, sites, and a disease that known sets predict."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

ACTIVE = ("SET_0", "SET_1")  # of rna
SIGNAL_PROTEINS = 3
MISSING = 0.25  # of the samples, without protein


class MultiOmics(NamedTuple):
    """The data of `make_multiomics`: n samples.

    Parameters
    ----------
    matrices : dict
        "rna" (CSR, log(1 + counts)), "methylation" and "protein" (arrays), a row per sample that has the modality.
    names : dict
        The names of the columns of each modality.
    samples : dict
        The names of the samples of each modality, the rows of its matrix.
    obs : dict
        {"disease": "case" or "control", "site": …, "age": …}, (n,) each, in the order of `samples["rna"]`.
    gene_sets : dict
        {set: genes of rna}; `ACTIVE`, SET_0 and SET_1, predict the disease.

    Examples
    --------
    >>> from manykernels.datasets import make_multiomics
    >>> data = make_multiomics(60)
    >>> data.matrices["rna"].shape, len(data.samples["protein"]), sorted(data.gene_sets)[:2]
    ((60, 400), 45, ['SET_0', 'SET_1'])
    """

    matrices: dict[str, Any]
    names: dict[str, list[str]]
    samples: dict[str, list[str]]
    obs: dict[str, np.ndarray]
    gene_sets: dict[str, list[str]]

    def to_anndata(self) -> Any:
        """The modality "rna" as an AnnData with obs; needs the package anndata."""
        return self._modality("rna")

    def to_mudata(self) -> Any:
        """All modalities as a MuData with obs; needs the package mudata."""
        from mudata import MuData

        found = MuData({name: self._modality(name, name == "rna") for name in self.matrices})
        for name, values in self.obs.items():
            found.obs[name] = values
        return found

    def _modality(self, name, with_obs=True):
        import pandas as pd
        from anndata import AnnData

        obs = pd.DataFrame(self.obs if with_obs and name == "rna" else {}, index=self.samples[name])
        return AnnData(self.matrices[name], obs=obs, var=pd.DataFrame(index=self.names[name]))


def make_multiomics(
    n: int = 200, *, genes: int = 400, sets: int = 20, sites: int = 4, effect: float = 1.0, random_state: int = 0
) -> MultiOmics:
    """Samples of several sites with counts of genes, methylation and proteins, a quarter of them without proteins.

    Of the gene sets of rna, SET_0 and SET_1 follow the disease, and SET_2 shares most of its genes with SET_0; three
    proteins follow it too. Methylation holds the age and nothing of the disease. The site shifts a tenth of all genes
    and the depth of the counts.

    Parameters
    ----------
    n : int, default 200
        Samples.
    genes : int, default 400
    sets : int, default 20
        Gene sets of 15 to 40 genes, which overlap.
    sites : int, default 4
    effect : float, default 1
        The size of the differences between cases and controls.
    random_state : int, default 0

    Returns
    -------
    MultiOmics

    Examples
    --------
    >>> from manykernels.datasets import make_multiomics
    >>> data = make_multiomics(60, effect=2.0)
    >>> sorted(set(data.obs["disease"].tolist())), len(set(data.obs["site"].tolist()))
    (['case', 'control'], 4)
    """
    rng = np.random.default_rng(random_state)
    names = {"rna": [f"GENE{k}" for k in range(genes)], "methylation": [f"cg{k:05d}" for k in range(60)],
             "protein": [f"PROT{k}" for k in range(15)]}  # fmt: skip
    case = rng.permutation(np.arange(n) % 2).astype(bool)
    site, age = rng.integers(0, sites, n), rng.normal(60, 10, n).round(1)
    own = [rng.choice(genes, rng.integers(15, min(41, genes)), replace=False) for _ in range(sets)]
    if sets > 2:
        own[2] = np.unique(np.concatenate([own[0][: int(0.8 * len(own[0]))], own[2][:5]]))
    log_rate = rng.normal(-1.7, 1.0, genes) + np.zeros((n, 1))
    for k in range(min(sets, len(ACTIVE))):
        direction = rng.choice([-1.0, 1.0], len(own[k]))
        log_rate[:, own[k]] += 0.5 * effect * np.outer(case, direction)
    log_rate[:, rng.choice(genes, genes // 10, replace=False)] += 0.5 * rng.normal(size=(sites, 1))[site]
    counts = rng.poisson(np.exp(log_rate + 0.2 * rng.normal(size=sites)[site][:, None]))
    methylation = rng.normal(size=(n, 60)) + 0.05 * (age[:, None] - 60) * (np.arange(60) < 10)
    protein = rng.normal(size=(n, 15)) + 0.6 * effect * case[:, None] * (np.arange(15) < SIGNAL_PROTEINS)
    samples = [f"sample{k}" for k in range(n)]
    has = np.sort(rng.permutation(n)[: n - int(MISSING * n)])
    return MultiOmics(
        {"rna": sp.csr_matrix(np.log1p(counts)), "methylation": methylation, "protein": protein[has]},
        names,
        {"rna": samples, "methylation": samples, "protein": [samples[k] for k in has]},
        {"disease": np.where(case, "case", "control"), "site": np.array([f"site {k + 1}" for k in site]), "age": age},
        {f"SET_{k}": [names["rna"][g] for g in np.sort(genes_of)] for k, genes_of in enumerate(own)},
    )

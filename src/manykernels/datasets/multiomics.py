"""Generated patients with several sources: multi-omics data that known gene sets predict, and censored times."""

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


def make_survival(
    n: int = 500, seed: int = 0, *, censored: float = 0.4, noise: int = 20
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Generated patients with three sources, of which two carry the risk of an event.

    Times have Weibull's hazard of shape 1.5, with the risk

        f = 0.8 clinical_1 + 0.5 (clinical_2² − 1) + 0.5 (genes_1 + … + genes_5)

    so that a linear model misses one clinical effect. The ten columns of the source "images" have none. Some patients
    leave the study early, and it ends for all others at a time that a twentieth of them lives beyond.

    Parameters
    ----------
    n : int, default 500
        The number of patients.
    seed : int, default 0
    censored : float, default 0.4
        About the share of censored times, 0 ≤ censored < 1.
    noise : int, default 20
        The number of genes, at least 5.

    Returns
    -------
    X : dict of arrays, "clinical" (n, 5), "genes" (n, noise), "images" (n, 10)
    y : structured array (n,) with the fields event and time, in days

    Examples
    --------
    >>> from manykernels.datasets import make_survival
    >>> X, y = make_survival(100)
    >>> list(X), y.dtype.names
    (['clinical', 'genes', 'images'], ('event', 'time'))
    >>> bool(0.4 < y["event"].mean() < 0.8)
    True
    """
    if n < 2 or noise < 5 or not 0 <= censored < 1:
        raise ValueError(f"n={n}, noise={noise}, censored={censored}: give n >= 2, noise >= 5 and 0 <= censored < 1.")
    rng = np.random.default_rng(seed)
    X = {"clinical": rng.normal(size=(n, 5)), "genes": rng.normal(size=(n, noise)), "images": rng.normal(size=(n, 10))}
    clinical = X["clinical"]
    f = 0.8 * clinical[:, 0] + 0.5 * (clinical[:, 1] ** 2 - 1) + 0.5 * X["genes"][:, :5].sum(axis=1)
    time = 1000.0 * (rng.exponential(size=n) * np.exp(-f)) ** (1 / 1.5)
    early = rng.random(n) < censored
    end = np.where(early, time * rng.uniform(0.2, 1.0, size=n), np.quantile(time, 0.95))
    y = np.empty(n, dtype=[("event", "?"), ("time", "<f8")])
    y["event"], y["time"] = time <= end, np.ceil(np.minimum(time, end))
    return X, y

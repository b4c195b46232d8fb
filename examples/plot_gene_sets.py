"""
Single cells: gene sets in AnnData
==================================

Cells, genes, and sets of genes that act together. A linear kernel for each set, few of them wanted: the weights rank
the sets, relevance says which the cell type cannot be told without. The counts are generated; with ``anndata``
installed they are put into an AnnData and taken out of it as one would with real ones, else a DataFrame stands for
it. A MuData of several modalities is a `Views`, ``Views({name: mod.to_df() for name, mod in mudata.mod.items()},
ids="index")``.
"""

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier
from manykernels.inspect import WeightsDisplay, relevance
from manykernels.kernels import Linear

rng = np.random.default_rng(0)
genes = [f"G{k:03d}" for k in range(240)]
sets = ["interferon", "cell cycle", "hypoxia", "apoptosis", "ribosome", "lipids", "adhesion", "noise A", "noise B"]
gene_sets = {name: [genes[k] for k in rng.choice(240, 20, replace=False)] for name in sets}
cell_type = np.repeat(["resting", "stimulated"], 150)
level = pd.DataFrame(rng.gamma(2, 1, size=(300, 240)), columns=genes)
for name, factor in (("interferon", 1.6), ("hypoxia", 1.4)):  # what the stimulus changes
    level.loc[cell_type == "stimulated", gene_sets[name]] *= factor
depth = rng.lognormal(0, 0.4, size=300)  # cells are not sequenced alike deeply
counts = rng.poisson(level.to_numpy() * depth[:, None])
names = [f"cell {k}" for k in range(300)]
try:
    from anndata import AnnData

    obs, var = pd.DataFrame({"cell_type": cell_type}, index=names), pd.DataFrame(index=genes)
    adata = AnnData(counts.astype(float), obs, var)
    cells, y = adata.to_df(), adata.obs["cell_type"].to_numpy()
except ImportError:
    cells, y = pd.DataFrame(counts, index=names, columns=genes), cell_type

# %%
# Counts are divided by the depth of their cell, over all genes, before the kernels see them; what depends on other
# cells (scaling) stands in the specification and is fitted on the training cells of each fold.

cells = np.log1p(cells.div(cells.sum(axis=1), axis=0) * 1000)
kernels = [(name, StandardScaler(), Linear(), members) for name, members in gene_sets.items()]
model = MKLClassifier(kernels, regularizer=1.2, C=0.1).fit(cells, y)
found = relevance(model, cells, y, cv=4)
print(found)

# %%
# Two of the nine sets were changed. Sets overlap by chance, a gene or two, and so the others are not quite innocent.

WeightsDisplay.from_estimator(model, relevance=found)

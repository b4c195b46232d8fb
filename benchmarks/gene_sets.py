"""300 gene sets on 2,000 cells × 5,000 genes, sparse: fit, relevance and report, and scMKL beside the fit.

The data are those of `datasets.make_multiomics`: SET_0 and SET_1 follow the label, and SET_2 shares genes with SET_0.
The model is fitted on four fifths of the cells and scored on the others. Relevance takes three folds: all sets are
permuted, the four that matter most are left out and tried alone. The report has the same folds. scMKL takes part where
it is installed, with random features of its own number and its group lasso at the best of three alpha on the test
cells, which favours it a little; its time is that of one alpha. Seconds are those of the wall; processor seconds, the
load of the machine and the peak of memory are beside them.
"""

import os
import time

import numpy as np

from .report import console, peak, show, write

RELEVANCE = dict(cv=3, refits=4, scoring="roc_auc")
ALPHAS = (0.1, 0.3, 1.0)


def main(data=None, out=".benchmarks", quick=False):
    results = study(*((200, 400, 20) if quick else (2000, 5000, 300)))
    write(out, f"gene_sets{'_quick' * quick}", results)
    show(
        f"{results['sets']} sets, {results['cells']} cells, {results['genes']} genes, {results['filled']:.0%} not 0",
        ["step", "seconds", "processor seconds", "load", "peak GB"],
        [[row["step"], row["seconds"], row["cpu"], row["load"], row["peak"]] for row in results["steps"]],
    )
    show("on the test cells", ["method", "accuracy", "area", "heaviest sets"], [
        [row["method"], row["accuracy"], row["area"], ", ".join(row["sets"])] for row in results["methods"]
    ])  # fmt: skip
    console.print(results["relevance"])


def study(cells, genes, sets):
    """The times of all steps, and the scores of both methods."""
    from manykernels import MKLClassifier, Views
    from manykernels.datasets import make_multiomics
    from manykernels.inspect import relevance
    from manykernels.kernels.annotated import NamedMatrix
    from manykernels.omics import set_kernels

    data = make_multiomics(cells, genes=genes, sets=sets, effect=0.6)
    X, y = Views({"rna": NamedMatrix(data.matrices["rna"], data.names["rna"])}), data.obs["disease"]
    order = np.random.default_rng(0).permutation(cells)
    train, test = np.sort(order[cells // 5 :]), np.sort(order[: cells // 5])
    steps = []
    model = MKLClassifier(set_kernels(data.gene_sets, X))
    timed(steps, "fit", lambda: model.fit(X[train], y[train]))
    found = timed(steps, "relevance", lambda: relevance(model, X[train], y[train], **RELEVANCE))
    timed(steps, "report", lambda: model.report(X[train], y[train], cv=RELEVANCE["cv"]))
    heavy = np.argsort(-model.kernel_weights_)[:3]
    methods = [
        scored("manykernels", model.decision_function(X[test]), y[test], [model.kernel_names_[m] for m in heavy])
    ]
    peer = scmkl(data, train, test, steps)
    return {
        "cells": cells, "genes": genes, "sets": sets, "filled": data.matrices["rna"].nnz / cells / genes,
        "steps": steps, "methods": methods + ([peer] if peer else []), "C": model.C_, "gap": model.duality_gap_,
        "alive": int((model.kernel_weights_ > 0).sum()), "relevance": str(found),
    }  # fmt: skip


def timed(steps, name, call):
    """The result of a call, whose time, load and peak of memory become a row of `steps`."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    row = {"step": name, "seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    row |= {"load": os.getloadavg()[0], "peak": peak()}
    console.print({key: value if isinstance(value, str) else round(value, 1) for key, value in row.items()})
    steps.append(row)
    return result


def scored(method, decision, y, sets):
    from sklearn.metrics import roc_auc_score

    case = y == "control"  # the second class
    right = float(np.mean((decision > 0) == case))
    return {"method": method, "accuracy": right, "area": float(roc_auc_score(case, decision)), "sets": sets}


def scmkl(data, train, test, steps):
    """The row of scMKL, None if it is not installed."""
    try:
        import scmkl as peer
    except ImportError:
        console.print("scMKL is not installed: left out")
        return None
    y = data.obs["disease"]
    split = np.where(np.isin(np.arange(len(y)), train), "train", "test")

    def fit():
        adata = peer.create_adata(
            X=data.matrices["rna"].tocsc(), feature_names=np.array(data.names["rna"]), cell_labels=y,
            group_dict={name: set(genes) for name, genes in data.gene_sets.items()}, split_data=split,
            scale_data=True, random_state=1,
        )  # fmt: skip
        adata = peer.estimate_sigma(adata, n_features=200)
        adata = peer.calculate_z(adata, n_features=5000)
        return adata, peer.train_model(adata, group_size=2 * adata.uns["D"], alpha=ALPHAS[0])

    adata, _ = timed(steps, "scMKL, one alpha", fit)
    results = peer.run(adata, alpha_list=np.array(ALPHAS))
    best = max(ALPHAS, key=lambda alpha: results["Metrics"][alpha]["Accuracy"])
    norms, names = np.asarray(results["Norms"][best]), np.asarray(results["Group_names"])
    metrics = results["Metrics"][best]
    heavy = [str(name) for name in names[np.argsort(-norms)[:3]]]
    return {
        "method": f"scMKL, alpha {best:g}",
        "accuracy": metrics["Accuracy"],
        "area": metrics["AUROC"],
        "sets": heavy,
    }

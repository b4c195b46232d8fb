"""Sites and many sources in a report. Issue 15, points 4 and 8."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, Views
from manykernels.datasets import make_multiomics
from manykernels.estimators.check_targets import make_splits
from manykernels.inspect import relevance
from manykernels.kernels import RBF
from manykernels.kernels.annotated import NamedMatrix
from manykernels.omics import set_kernels

DATA = make_multiomics(100, genes=600, sets=45, effect=2.5)
SITES, Y = DATA.obs["site"], DATA.obs["disease"]
X = Views({"rna": NamedMatrix(DATA.matrices["rna"], DATA.names["rna"])})


@pytest.mark.parametrize("cv, seed", [(5, None), (None, None), (5, 0), (4, 0)])
def test_no_more_groups_than_folds_are_held_out_one_by_one(cv, seed):
    splits = make_splits(cv, np.zeros((100, 1)), Y, True, SITES, seed)
    assert sorted(set(SITES[test].tolist()).pop() for _, test in splits) == sorted(set(SITES))
    assert all(len(set(SITES[test])) == 1 for _, test in splits)


def test_the_page_has_the_score_and_the_relevance_of_each_site():
    frame = pd.DataFrame(DATA.matrices["rna"].toarray(), columns=DATA.names["rna"])[DATA.gene_sets["SET_0"][:6]]
    frame["noise"] = np.random.default_rng(0).normal(size=100)
    kernels = [("set", RBF("scale"), list(frame)[:6]), ("noise", RBF("scale"), ["noise"])]
    model = MKLClassifier(kernels, C=1.0).fit(frame, Y)
    report = model.report(frame, Y, groups=SITES, stability=0, examples=0)
    sites = report.facts["sources"]["sites"]
    assert [row["name"] for row in sites] == sorted(set(SITES)) and sum(row["examples"] for row in sites) == 100
    assert [row["score"] for row in sites] == report.facts["score"]["folds"]
    units = {unit["name"]: unit["relevance"] for unit in report.facts["sources"]["units"]}
    assert units["set"] == pytest.approx(np.mean([row["relevance"]["set"] for row in sites]))
    assert "Each group held out" in report.html() and "site 3" in report.html()
    found = relevance(model, frame, Y, groups=SITES, scoring="roc_auc")
    own = [row["relevance"]["set"] for row in sites]
    np.testing.assert_allclose(found.differences("relevance")[:, found.row("set")], own)


def test_without_groups_or_with_many_the_page_has_no_sites():
    few = set_kernels({name: DATA.gene_sets[name] for name in ("SET_0", "SET_9")}, X)
    model = MKLClassifier(few, C=1.0).fit(X, Y)
    for groups in (None, np.arange(100) // 5):
        report = model.report(X, Y, groups=groups, cv=3, stability=0, examples=0, relevance="fast")
        assert report.facts["sources"]["sites"] == [] and "Each group held out" not in report.html()


def test_of_many_sets_all_are_shuffled_and_the_first_left_out():
    model = MKLClassifier(set_kernels(DATA.gene_sets, X), C=1.0, regularizer=1).fit(X, Y)
    found = model.report(X, Y, groups=SITES, stability=0, examples=0).facts["sources"]
    assert found["refitted"] >= 3 and len(found["units"]) > 5
    assert all("permute" in unit for unit in found["units"])
    best = found["units"][0]["members"]
    assert {"SET_0", "SET_1", "SET_2"} & set(best)

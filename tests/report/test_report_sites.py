"""Sites and many sources in a report."""

from manykernels import MKLClassifier, Views
from manykernels.datasets import make_multiomics
from manykernels.kernels.annotated import NamedMatrix
from manykernels.omics import set_kernels

DATA = make_multiomics(100, genes=600, sets=45, effect=2.5)
SITES, Y = DATA.obs["site"], DATA.obs["disease"]
X = Views({"rna": NamedMatrix(DATA.matrices["rna"], DATA.names["rna"])})


def test_of_many_sets_all_are_shuffled_and_the_first_left_out():
    model = MKLClassifier(set_kernels(DATA.gene_sets, X), C=1.0, regularizer=1).fit(X, Y)
    found = model.report(X, Y, groups=SITES, stability=0, examples=0).facts["sources"]
    assert found["refitted"] >= 3 and len(found["units"]) > 5
    assert all("permute" in unit for unit in found["units"])
    best = found["units"][0]["members"]
    assert {"SET_0", "SET_1", "SET_2"} & set(best)

"""Scores of sequences in several cell types: kernels that all share beside those of one type."""

import numpy as np
import pytest

from manykernels import MKLRegressor
from manykernels.kernels import multi_task
from manykernels.strings import GappedKmer, Spectrum, WeightedDegree

MOTIFS = {"all": "TGACTCA", "liver": "GATAAGG", "brain": "CACGTGC"}


def made(n, seed):
    """(sequences, scores, cell types): one motif counts in all types, the others in one type each."""
    rng = np.random.default_rng(seed)
    letters, cell = rng.choice(list("ACGT"), (n, 40)), np.array(["liver", "brain", "skin"])[np.arange(n) % 3]
    score = 0.1 * rng.normal(size=n)
    for i in range(n):
        for at, (name, motif) in enumerate(MOTIFS.items()):
            if rng.random() < 0.5:
                letters[i, 12 * at : 12 * at + 7] = list(motif)
                score[i] += name in ("all", cell[i])
    return np.array(["".join(row) for row in letters]), score, cell


KERNELS = [("gapped", GappedKmer(5, 3, reverse_complement=True)), ("words", Spectrum(4)), ("places", WeightedDegree(3))]


@pytest.mark.parametrize("one_parameter", [False, True])
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_parts_are_those_of_the_pairs_within_a_type(normalize, one_parameter):
    (X, y, cell), (new, _, of) = made(60, 0), made(21, 1)
    model = MKLRegressor(multi_task(KERNELS, one_parameter), C=1.0, normalize=normalize, regularizer=2)
    model.fit(X, y, task=cell)
    found = model.decision_parts(new, task=of)
    old, size = cell[model.support_], 3 if normalize == "multiplicative" else 1  # of "same task", if not normalised
    each = [np.outer(of == name, old == name) for name in model.tasks_]
    masks = [1, *([size * sum(each)] if one_parameter else each)]
    for m, name in enumerate(model.kernel_names_):
        kernel, mask = KERNELS[m // len(masks)][1], masks[m % len(masks)]
        K = kernel(new, X[model.support_])
        if normalize == "spherical":
            K /= np.sqrt(np.outer(kernel.diag(new), kernel.diag(X[model.support_])))
        weight = model.kernel_weights_[m] * model.predictor_.scale[m]
        want = weight * (K * mask) @ model.dual_coef_[0]
        np.testing.assert_allclose(found[:, m], want, rtol=1e-6, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(found.sum(axis=1) + model.intercept_, model.predict(new, task=of), atol=1e-9)

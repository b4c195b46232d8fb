"""What a streamed run keeps and tells: checkpoints, history, progress, sums of words."""

import itertools

import numpy as np
import pytest
from streams import groups

from manykernels import MKLClassifier
from manykernels.sequences import Sequences


def test_a_fit_that_ended_for_want_of_rounds_goes_on_with_more(tmp_path):
    X, y, source, kernels, solver = groups(tmp_path)
    model = MKLClassifier(kernels, solver=solver, tol=1e-6, C=1.0, n_jobs=1, checkpoint=tmp_path / "fit.ckpt")
    with pytest.warns(match="raise max_iter"):
        early = model.set_params(max_iter=1).fit(source, y).duality_gap_
    assert early > 1e-6 >= model.set_params(max_iter=1000).fit(source, y).duality_gap_
    with pytest.raises(ValueError, match="belongs to another fit"):
        model.set_params(C=3.0).fit(source, y)


def test_history_says_what_a_round_did(tmp_path):
    X, y, source, kernels, solver = groups(tmp_path)
    model = MKLClassifier(kernels, solver=solver).fit(source, y)
    last = model.history_[-1]
    assert last["certified"] and last["priced"] == len(y) and last["gap"] == model.duality_gap_ <= 1e-3
    assert [step["iteration"] for step in model.history_] == list(range(1, model.n_iter_ + 1))
    for step in model.history_:
        parts = [step[f"seconds_{part}"] for part in ("driver", "compute", "communication")]
        assert step["n_active"] <= len(y) and min(parts) >= 0 < step["seconds_compute"] <= step["seconds_shards"]
    assert sum(parts) <= step["time"] - model.history_[-2]["time"]
    assert all(step["gap"] > 1e-3 or not step["certified"] for step in model.history_[:-1])


def test_progress_shows_rounds_and_violators(tmp_path, capsys):
    X, y, source, kernels, solver = groups(tmp_path)
    MKLClassifier(kernels, solver=solver, verbose=True).fit(source, y)
    shown = capsys.readouterr().out
    assert "1,200 examples" in shown and "violators" in shown and "round" in shown


@pytest.mark.parametrize("letters", ["ACGT", "ACDEFGHIKLMNPQRSTVWY"])
def test_squares_of_word_counts_are_those_of_a_dictionary(letters):
    """Σ over words of (Σ_i w_i [x_i has the word at l])², words with unknown letters left out."""
    from manykernels.loops.degree_predictor import word_keys, word_squares
    from manykernels.sequences.alphabet import get

    rng, d = np.random.default_rng(0), 4
    texts = ["".join(rng.choice(list(letters[:3]), 7)) for _ in range(60)]
    alphabet = get("dna" if letters == "ACGT" else "protein")
    texts[5] = texts[6] = texts[5][:2] + alphabet.unknown + texts[5][3:]  # alike
    X, size = Sequences.encode(texts, alphabet), alphabet.size
    bits, w = size.bit_length(), rng.uniform(size=60)
    keys = np.empty((7, 60), np.uint64)
    for low in (0, 3):
        word_keys(X.data, X.starts, X.bits, 7, low, d, bits, keys[low : low + 4])
    for at, weighted in itertools.product(range(7), (True, False)):
        most, order, w = min(d, 7 - at), np.argsort(keys[at]), w if weighted else np.ones(60)
        found = np.empty(most)
        word_squares(keys[at][order], w[order] if weighted else np.empty(0), d, most, bits, size, found)
        for k in range(1, most + 1):
            counts = {}
            for text, weight in zip(texts, w, strict=True):
                word = text[at : at + k]
                if alphabet.unknown not in word:
                    counts[word] = counts.get(word, 0.0) + weight
            assert found[k - 1] == pytest.approx(sum(count**2 for count in counts.values()))

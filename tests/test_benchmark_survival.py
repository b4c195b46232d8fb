"""The page that compares survival models is written from the file of the results."""

import numpy as np
import pytest
from benchmarks.survival import METHODS, SETS
from benchmarks.survival_page import BEGIN, END, PAGE, error, filled


def results(ours):
    """Rows of four folds: Cox ridge has 0.7, the default `ours`, the kernel machine 0.6 and no Brier score."""
    value = {"MKLSurvival": ours, "Cox ridge": 0.7, "kernel SVM": 0.6}
    rows = [
        {"set": "gbsg2", "method": method, "split": k, "folds": 4, "concordance": c + 0.01 * k, "seconds": 2.0,
         "brier": None if method == "kernel SVM" else 0.2}
        for method, c in value.items() for k in (3, 1, 0, 2)
    ]  # fmt: skip
    machine, packages = {"cores": 16, "machine": "x86_64"}, {"scikit-survival": "0"}
    return {"results": {"rows": rows}, "machine": machine, "packages": packages}


PLACES = [(0.65, "-0.050 ± 0.000 to Cox ridge; ahead of 1 of 2"), (0.7, "ahead of 2 of 2")]


@pytest.mark.parametrize("ours, place", PLACES)
def test_the_tables_say_what_the_rows_say(ours, place):
    page = filled(f"# Page\n\n{BEGIN}\nstale\n{END}\nafter", results(ours))
    assert page.startswith("# Page\n") and page.endswith(f"{END}\nafter") and "stale" not in page
    scores = np.array([0.6, 0.61, 0.62, 0.63])
    assert f"| kernel SVM | {scores.mean():.3f} ± {error(scores, 4):.3f} | – | 2.0 |" in page
    assert f"| Cox ridge | {0.1 + scores.mean():.3f} ± {error(scores, 4):.3f} | 0.200 | 2.0 |" in page
    assert place in page and filled(page, results(ours)) == page
    with pytest.raises(ValueError, match="once each"):
        filled("# Page", results(ours))


def test_the_standard_error_is_that_of_folds_that_share_examples():
    """Nadeau and Bengio: the variance times 1/J + n_test/n_train."""
    assert error(np.array([0.0, 2.0]), 5) == pytest.approx(np.sqrt(2 * (1 / 2 + 1 / 4)))


def test_the_page_names_every_set():
    page = PAGE.read_text()
    assert all(f"`{name}`" in page for name in SETS) and len(set(METHODS)) == len(METHODS)

"""Data changed in ways that must not matter, or must be refused or said: benchmarks/README.md has the list.

`python -m benchmarks.metamorphic --case NUMBER` runs one case, `--cases 2000` runs many.
"""

import pytest
from benchmarks.metamorphic.cases import ALL, case
from benchmarks.metamorphic.faults import FAULTS, wrong

CASES = range(50 * len(ALL), 51 * len(ALL))  # one of each change


@pytest.mark.parametrize("number", CASES)
def test_changed_data_have_the_same_result_or_are_refused_or_said(number):
    change, fault = case(number)
    assert not fault, f"{change}: {fault}"


PUT_BACK = {  # what is taken away: faults that are there then
    "manykernels.kernels.rows.ids_of": [
        "fit takes y in another order than the numbered rows of X",
        "predict_survival_function takes sorted covariates by position",
        "survival_targets pairs events with the times of others",
    ],
    "manykernels.kernels.rows.check_entries": ["masks in y of score are ignored", "masks in groups are ignored"],
}


@pytest.mark.parametrize("place", PUT_BACK)
def test_a_fault_that_is_put_back_is_found(place, monkeypatch):
    monkeypatch.setattr(place, lambda *args, **options: None)
    for fault in PUT_BACK[place]:
        assert any(wrong(fault, k) for k in range(6)), fault


def test_every_fault_is_of_a_change():
    assert {name for name, *_ in FAULTS.values()} <= {name for name, _ in ALL}

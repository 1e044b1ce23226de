"""benchmarks/split_gemm.py: errors as it defines them, and a run without a GPU."""

from __future__ import annotations

import numpy as np
import pytest
import split_gemm
from gemm_rounds import largest


def test_an_error_is_told_in_units_of_what_rounding_once_costs() -> None:
    exact = np.array([[3.0, -1.0]])
    mass = np.array([[4.0, 2.0]])
    found = (exact + np.array([[0.0, 3 * 2.0**-23]])).astype(np.float32)
    assert largest(found, exact, mass) == 3.0
    assert np.isnan(largest(np.full((1, 2), np.nan, np.float32), exact, mass))


@pytest.mark.soak(area="judge")
def test_without_a_gpu_it_shows_the_errors_of_both_kinds_of_rungs(capsys: pytest.CaptureFixture[str]) -> None:
    split_gemm.main(["--device", "emulator", "64"])
    said = capsys.readouterr().out
    assert "No GPU is used" in said
    errors = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line[:2].isdigit()}
    assert {"09_wide_tile", "12_tf32_parts"} <= set(errors)
    for found in errors.values():
        assert len(found) == len(split_gemm.KINDS)
        assert all(0 < float(error) < 64 for error in found[:-1])
    # What is lost of small factors beside large ones shows where the large ones meet zeros.
    assert float(errors["12_tf32_parts"][-1]) < 64 < float(errors["13_half_parts"][-1])

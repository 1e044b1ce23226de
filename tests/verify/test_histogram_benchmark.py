"""CUB's histogram, which benchmarks/histogram.py times beside the rungs, compiles and links. To run it takes a GPU."""

from __future__ import annotations

import histogram
import pytest


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("arch", ["sm_75", "sm_90a"])
def test_cub_is_compiled_into_a_function(arch: str) -> None:
    assert histogram.compiled(arch).__name__ == "cub_histogram"

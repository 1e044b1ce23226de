"""CUB's histogram, which benchmarks/histogram.py times beside the rungs, compiles and links. To run it takes a GPU."""

from __future__ import annotations

import histogram
import pytest
from tiers import sample

pytestmark = pytest.mark.verify


@pytest.mark.parametrize("arch", sample(["sm_75", "sm_90a"], ["sm_90a"], "judge"))
def test_cub_is_compiled_into_a_function(arch: str) -> None:
    assert histogram.compiled(arch).__name__ == "cub_histogram"

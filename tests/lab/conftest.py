"""What holds for the tests of notebooks' kernels."""

import pytest

from grader.lab import launching


@pytest.fixture(autouse=True)
def device_of_its_own() -> None:
    """A notebook keeps its device for good; here another test may have started the emulator over since."""
    launching.device.cache_clear()
    launching._emulator.cache_clear()
    launching._modules.clear()

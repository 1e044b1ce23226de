"""A notebook keeps its device for good; in a process of tests another may have started the emulator over since."""

import pytest

from grader.lab import launching


@pytest.fixture(autouse=True)
def device_of_its_own() -> None:
    launching.device.cache_clear()
    launching._emulator.cache_clear()
    launching._modules.clear()

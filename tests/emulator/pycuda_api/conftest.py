"""A fresh emulated GPU for each test, with a context current."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.driver.emulation import reset


@pytest.fixture
def gpu() -> Iterator[driver.Context]:
    reset()
    driver.init()
    context = driver.Device(0).make_context()
    yield context
    reset()

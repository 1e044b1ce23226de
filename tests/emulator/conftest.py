"""One emulated H200 for all tests of this folder, and the two ways to run a kernel on it."""

from __future__ import annotations

import pytest
from emulated import Bench

from grader.emulator.machine.machine import Machine


@pytest.fixture(scope="session")
def machine() -> Machine:
    return Machine(threads=2)


@pytest.fixture
def bench(machine: Machine) -> Bench:
    """Runs CUDA C++ or PTX on NumPy arrays."""
    return Bench(machine)

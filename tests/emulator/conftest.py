"""One emulated H200 for all tests of this folder, and the two ways to run a kernel on it."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.machine.machine import Machine

CASES = 6
"""So many cases of a test `make test` runs, where it has more: types, shapes, directions. The soak has all. Those that
a test leaves to the soak itself do not count."""


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = defaultdict[tuple[Path, str], list[pytest.Function]](list)
    for item in items:
        ours = item.path.is_relative_to(Path(__file__).parent) and not item.get_closest_marker("soak")
        if isinstance(item, pytest.Function) and ours:
            tests[item.path, item.originalname].append(item)
    for cases in (cases for cases in tests.values() if len(cases) > CASES):
        cases.sort(key=lambda item: [*item.callspec.indices.values()])  # in whatever order they are run
        spread = {len(cases) * place // CASES for place in range(CASES)}
        for rest in (item for place, item in enumerate(cases) if place not in spread):
            rest.add_marker(pytest.mark.soak(area="emulator"))


@pytest.fixture(autouse=True)
def same_numbers(request: pytest.FixtureRequest) -> None:
    """A test draws the same numbers from its module's RNG, whatever ran before it."""
    if hasattr(request.module, "RNG"):
        request.module.RNG = np.random.default_rng(3)


@pytest.fixture(scope="session")
def machine() -> Machine:
    return Machine(threads=2)


@pytest.fixture
def bench(machine: Machine) -> Bench:
    """Runs CUDA C++ or PTX on NumPy arrays."""
    return Bench(machine)

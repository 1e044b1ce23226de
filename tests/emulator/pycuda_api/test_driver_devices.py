"""The table of emulated GPUs."""

from __future__ import annotations

import itertools

import pytest

from grader.analysis.devices import board, capability
from grader.analysis.occupancy import occupancy
from grader.emulator import devices
from grader.emulator.pycuda_api.driver import device_attribute

ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_device_has_every_attribute(arch: str) -> None:
    device = devices.find(arch)
    canonical = {attribute.name.lower() for attribute in device_attribute}
    assert set(device.attributes) == canonical
    assert device.compute_capability == divmod(int(arch[3:]), 10)


def test_suffixes_of_architectures_name_the_same_device() -> None:
    assert devices.find("sm_90a") is devices.find("sm_90")
    assert devices.find("sm_100f") is devices.find("sm_100")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_occupancy_is_that_of_the_analysis(arch: str) -> None:
    """The emulator stands by itself, so the rule is written twice; here the two are held together."""
    device = devices.find(arch)
    for threads, registers, shared in itertools.product(
        (1, 32, 96, 128, 256, 768, 1024, 1025),
        (16, 32, 33, 64, 96, 128, 255),
        (0, 1, 4224, 49152, 100_000, 300_000),
    ):
        expected = occupancy(capability(arch), threads, registers, shared).blocks_per_sm
        assert devices.max_active_blocks(device, threads, registers, shared) == expected


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_boards_are_those_of_the_analysis(arch: str) -> None:
    device = devices.find(arch)
    known = board(device.name, arch)
    assert device.name.startswith(known.name)
    assert device.attributes["multiprocessor_count"] == known.sms
    assert device.attributes["l2_cache_size"] == known.l2_bytes

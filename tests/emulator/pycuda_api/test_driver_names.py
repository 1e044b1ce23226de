"""The emulator has PyCUDA's names, methods and constants: nothing is spelled differently, nothing is made up.

pycuda_2026_1.json lists what `pycuda.driver` of PyCUDA 2026.1 has.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.emulator.pycuda_api import driver

PYCUDA = json.loads((Path(__file__).parent / "pycuda_2026_1.json").read_text())
OURS = {"NotEmulated"}
WITHOUT_METHODS = {"CompileError"}  # PyCUDA's attributes of it are set by instances


@pytest.mark.parametrize("name", sorted(set(driver.__all__) - OURS))
def test_every_name_is_pycudas(name: str) -> None:
    assert name in PYCUDA["names"] or name in PYCUDA["enumerations"]


@pytest.mark.parametrize("name", sorted(set(driver.__all__) & set(PYCUDA["names"])))
def test_classes_have_pycudas_methods(name: str) -> None:
    emulated = getattr(driver, name)
    missing = {
        "Context": {"attach", "enable_peer_access", "disable_peer_access", "set_shared_config"},
        "Event": {"ipc_handle", "from_ipc_handle"},
    }
    if isinstance(emulated, type):
        methods = {method for method in dir(emulated) if not method.startswith("_")}
        instance_attributes = {"state", "handle", "array", "dev_alloc"}
        assert set(PYCUDA["names"][name]) - methods - instance_attributes <= missing.get(name, set())


@pytest.mark.parametrize("name", sorted(set(driver.__all__) & set(PYCUDA["enumerations"])))
def test_constants_have_pycudas_values(name: str) -> None:
    emulated = getattr(driver, name)
    values = {key: int(value) for key, value in vars(emulated).items() if key.isupper()}
    values |= {key: int(value) for key, value in getattr(emulated, "names", {}).items()}
    assert values
    assert values.items() <= PYCUDA["enumerations"][name].items()


def test_enumerations_read_as_pycudas_do() -> None:
    attribute = driver.device_attribute.WARP_SIZE
    assert str(attribute) == "WARP_SIZE"
    assert repr(attribute) == "pycuda._driver.device_attribute.WARP_SIZE"
    assert driver.func_cache.names["PREFER_L1"] is driver.func_cache.values[2]


def test_missing_names_are_refused_by_name() -> None:
    with pytest.raises(
        AttributeError, match=r"pycuda\.driver\.memcpy_peer is not emulated; emulated are .*mem_alloc"
    ):
        driver.memcpy_peer  # noqa: B018
    with pytest.raises(AttributeError, match=r"TextureReference.*gone since CUDA 12.*texture objects"):
        driver.TextureReference  # noqa: B018


def test_exceptions_derive_as_pycudas_do() -> None:
    for error in (driver.LogicError, driver.LaunchError, driver.MemoryError, driver.RuntimeError):
        assert issubclass(error, driver.Error)
    assert issubclass(driver.CompileError, driver.Error)
    assert issubclass(driver.NotEmulated, NotImplementedError)

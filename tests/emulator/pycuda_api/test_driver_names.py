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


INSTANCE_ATTRIBUTES = {"state", "handle", "array", "dev_alloc"}
NOT_EMULATED = {
    "Context": {"attach", "enable_peer_access", "disable_peer_access", "set_shared_config"},
    "Event": {"ipc_handle", "from_ipc_handle"},
}


def test_every_name_is_pycudas() -> None:
    assert set(driver.__all__) - OURS <= set(PYCUDA["names"]) | set(PYCUDA["enumerations"])


def test_classes_have_pycudas_methods() -> None:
    missing = {}
    for name in set(driver.__all__) & set(PYCUDA["names"]):
        emulated = getattr(driver, name)
        if isinstance(emulated, type):
            known = {*dir(emulated), *INSTANCE_ATTRIBUTES, *NOT_EMULATED.get(name, ())}
            missing[name] = set(PYCUDA["names"][name]) - known
    assert len(missing) > 10
    assert {name: methods for name, methods in missing.items() if methods} == {}


def test_constants_have_pycudas_values() -> None:
    others = {}
    for name in set(driver.__all__) & set(PYCUDA["enumerations"]):
        emulated = getattr(driver, name)
        values = {key: int(value) for key, value in vars(emulated).items() if key.isupper()}
        values |= {key: int(value) for key, value in getattr(emulated, "names", {}).items()}
        others[name] = dict(values.items() - PYCUDA["enumerations"][name].items()) if values else "no values"
    assert len(others) > 10
    assert {name: found for name, found in others.items() if found} == {}


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

"""The emulator's modules in PyCUDA's place."""

from __future__ import annotations

import importlib
import sys

import pytest

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.driver.emulation import reset
from grader.emulator.pycuda_api.shim import MODULES, emulated_pycuda

RUN_ANEW = {"pycuda.autoinit", "pycuda.autoprimaryctx"}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    reset()


def test_imports_give_the_emulators_modules() -> None:
    before = {name: module for name, module in sys.modules.items() if name.startswith("pycuda")}
    with emulated_pycuda():
        import pycuda.autoinit
        import pycuda.compiler
        import pycuda.driver

        assert pycuda.driver is driver
        assert pycuda.VERSION == (2026, 1)
        assert pycuda.compiler.SourceModule.__module__ == "grader.emulator.pycuda_api.compiler"
        assert driver.Context.get_current() is pycuda.autoinit.context
        assert pycuda.autoinit.device == driver.Device(0)
    assert {name: module for name, module in sys.modules.items() if name.startswith("pycuda")} == before


def test_autoinit_makes_a_context_each_time() -> None:
    for name in ("pycuda.autoinit", "pycuda.autoprimaryctx"):
        for _ in range(2):
            reset()
            with emulated_pycuda():
                importlib.import_module(name)
                assert driver.Context.get_current() is not None


def test_every_module_imports() -> None:
    with emulated_pycuda():
        for name in MODULES:
            importlib.import_module(name)


def test_a_module_that_is_not_emulated_is_refused_by_name() -> None:
    with (
        emulated_pycuda(),
        pytest.raises(
            ModuleNotFoundError, match=r"pycuda\.gl is not emulated; emulated are .*pycuda\.driver"
        ),
    ):
        importlib.import_module("pycuda.gl")


@pytest.mark.parametrize(
    "name", [name for name in MODULES if name not in ("pycuda", *RUN_ANEW, "pycuda.characterize")]
)
def test_a_name_that_is_missing_is_refused_by_name_however_it_is_asked_for(name: str) -> None:
    with emulated_pycuda():
        message = rf"{name}\.nothing is not emulated; emulated (is|are) "
        with pytest.raises(AttributeError, match=message):
            importlib.import_module(name).nothing  # noqa: B018
        with pytest.raises(ImportError, match=message):
            exec(f"from {name} import nothing")
        assert not hasattr(importlib.import_module(name), "nothing")


def test_tools() -> None:
    with emulated_pycuda():
        import pycuda.autoinit  # noqa: F401
        from pycuda.tools import context_dependent_memoize, dtype_to_ctype

        calls = []

        @context_dependent_memoize
        def remembered(x: int) -> int:
            calls.append(x)
            return 2 * x

        assert remembered(2) == remembered(2) == 4
        assert calls == [2]
        assert dtype_to_ctype("float32") == "float"
        with pytest.raises(ValueError, match="float16"):
            dtype_to_ctype("float16")

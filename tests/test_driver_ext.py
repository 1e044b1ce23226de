"""What the workbook adds to PyCUDA, as far as that shows without a GPU."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

WORDS = {"CUDA_ERROR_ILLEGAL_ADDRESS": "an illegal memory access was encountered", "CUDA_SUCCESS": "no error"}


@pytest.mark.parametrize(
    ("says", "status"),
    [
        ("cuCtxSynchronize failed: an illegal memory access was encountered", "ILLEGAL_ADDRESS"),
        ("cuMemFree failed: an illegal memory access was encountered - clean-up", "ILLEGAL_ADDRESS"),
        ("cuCtxSynchronize failed: something new", None),
        ("no context", None),
    ],
)
def test_the_status_behind_pycudas_exceptions(
    says: str, status: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyCUDA is not here, and the driver that has the words is not, either."""
    package, driver = ModuleType("pycuda"), ModuleType("pycuda.driver")
    driver.Error = type("Error", (Exception,), {})  # type: ignore[attr-defined]
    driver.Stream = object  # type: ignore[attr-defined]
    package.driver = driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pycuda", package)
    monkeypatch.setitem(sys.modules, "pycuda.driver", driver)
    monkeypatch.delitem(sys.modules, "grader.driver_ext", raising=False)
    driver_ext = importlib.import_module("grader.driver_ext")
    monkeypatch.delitem(sys.modules, "grader.driver_ext")  # the next test gets PyCUDA's own
    codes = driver_ext.cu.CUresult
    monkeypatch.setattr(
        driver_ext.cu, "cuGetErrorString", lambda code: (codes(0), WORDS.get(code.name, "other").encode())
    )
    assert driver_ext.status(driver.Error(says)) == status
    assert driver_ext.status(ValueError(says)) is None

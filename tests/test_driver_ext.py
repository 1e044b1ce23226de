"""What the workbook adds to PyCUDA, as far as that shows without a GPU."""

from __future__ import annotations

import importlib
import sys
from enum import IntEnum
from types import ModuleType
from typing import Any

import pytest


class CUresult(IntEnum):
    """Three of cuda-bindings' statuses; their words are `cuGetErrorString`'s."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


WORDS = {
    CUresult.CUDA_SUCCESS: b"no error",
    CUresult.CUDA_ERROR_OUT_OF_MEMORY: b"out of memory",
    CUresult.CUDA_ERROR_ILLEGAL_ADDRESS: b"an illegal memory access was encountered",
}


def module(name: str, **attributes: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(attributes)
    return made


@pytest.fixture
def driver_ext(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`grader.driver_ext` beside a PyCUDA and a cuda-bindings made up here: the two are installed with a GPU alone."""
    pycuda_driver = module("pycuda.driver", Error=type("Error", (Exception,), {}), Stream=object)
    bindings_driver = module(
        "cuda.bindings.driver",
        CUresult=CUresult,
        cuGetErrorString=lambda code: (CUresult.CUDA_SUCCESS, WORDS[code]),
    )
    for made in (
        pycuda_driver,
        module("pycuda", driver=pycuda_driver),
        bindings_driver,
        module("cuda.bindings", driver=bindings_driver),
        module("cuda"),
    ):
        monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.delitem(sys.modules, "grader.driver_ext", raising=False)
    imported = importlib.import_module("grader.driver_ext")
    monkeypatch.delitem(sys.modules, "grader.driver_ext")  # the next test gets PyCUDA's own
    return imported


@pytest.mark.parametrize(
    ("says", "status"),
    [
        ("cuCtxSynchronize failed: an illegal memory access was encountered", "ILLEGAL_ADDRESS"),
        ("cuMemFree failed: an illegal memory access was encountered - clean-up", "ILLEGAL_ADDRESS"),
        ("cuCtxSynchronize failed: something new", None),
        ("no context", None),
    ],
)
def test_the_status_behind_pycudas_exceptions(says: str, status: str | None, driver_ext: Any) -> None:
    assert driver_ext.status(driver_ext.pycuda.driver.Error(says)) == status
    assert driver_ext.status(ValueError(says)) is None

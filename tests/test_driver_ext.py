"""What the workbook adds to PyCUDA, as far as that shows without a GPU."""

from __future__ import annotations

import importlib
import sys
from enum import IntEnum
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from grader.errors import WarpladderError


class CUresult(IntEnum):
    """Some of cuda-bindings' statuses; their words are `cuGetErrorString`'s."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


WORDS = {
    CUresult.CUDA_SUCCESS: b"no error",
    CUresult.CUDA_ERROR_INVALID_VALUE: b"invalid argument",
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


class Modules:
    """cuda-bindings' calls for modules: which images are loaded."""

    def __init__(self) -> None:
        self.loaded: list[bytes] = []

    def load(self, image: bytes) -> tuple[Any, ...]:
        if image == b"broken":
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        self.loaded.append(image)
        return CUresult.CUDA_SUCCESS, image

    def unload(self, image: bytes) -> tuple[Any, ...]:
        self.loaded.remove(image)
        return (CUresult.CUDA_SUCCESS,)


@pytest.fixture
def modules(driver_ext: Any) -> Modules:
    made = Modules()
    driver_ext.cu.cuModuleLoadData, driver_ext.cu.cuModuleUnload = made.load, made.unload
    driver_ext.cu.cuModuleGetFunction = lambda module, symbol: (CUresult.CUDA_SUCCESS, symbol)
    return made


def test_a_module_stays_loaded_as_long_as_its_kernels(driver_ext: Any, modules: Modules) -> None:
    kernel = driver_ext.extended_module(b"image").get_function("kernel")
    assert modules.loaded == [b"image"]
    del kernel
    assert modules.loaded == []


def test_a_module_that_cannot_be_loaded_leaves_nothing_to_unload(
    driver_ext: Any, modules: Modules, recwarn: pytest.WarningsRecorder
) -> None:
    with pytest.raises(WarpladderError, match="cuModuleLoadData failed: CUDA_ERROR_INVALID_VALUE"):
        driver_ext.extended_module(b"broken")
    assert not recwarn.list  # of an exception in __del__


class Named:
    """An enumeration of cuda-bindings with every member."""

    def __getattr__(self, name: str) -> str:
        return name


@pytest.fixture
def encoded(driver_ext: Any) -> list[tuple[Any, ...]]:
    """The arguments of each call of cuTensorMapEncodeTiled."""
    calls: list[tuple[Any, ...]] = []

    def encode(*arguments: Any) -> tuple[Any, ...]:
        calls.append(arguments)
        return CUresult.CUDA_SUCCESS, SimpleNamespace(opaque=range(16))

    cu = driver_ext.cu
    cu.CUtensorMapDataType = cu.CUtensorMapSwizzle = cu.CUtensorMapL2promotion = Named()
    cu.CUtensorMapFloatOOBfill = cu.CUtensorMapInterleave = Named()
    cu.cuuint32_t = cu.cuuint64_t = int
    cu.cuTensorMapEncodeTiled = encode
    return calls


@pytest.mark.parametrize(
    ("dims", "strides", "given"),
    [([4096], [], [16]), ([64, 64], [256], [256]), ([8] * 5, [32] * 4, [32] * 4)],
)
def test_the_driver_gets_strides_for_tensor_maps_of_every_rank(
    dims: list[int], strides: list[int], given: list[int], driver_ext: Any, encoded: list[tuple[Any, ...]]
) -> None:
    """Of one dimension too: cuda-bindings makes a null pointer of no strides, which the driver refuses."""
    found = driver_ext.tensor_map(1 << 20, "FLOAT32", dims, strides, [8] * len(dims))
    assert len(found.tobytes()) == 128
    ((_, rank, _, _, passed, *_),) = encoded
    assert (rank, passed) == (len(dims), given)


def test_a_tensor_map_has_one_to_five_dimensions(driver_ext: Any, encoded: list[tuple[Any, ...]]) -> None:
    with pytest.raises(WarpladderError, match="1 to 5 dimensions, not 6"):
        driver_ext.tensor_map(1 << 20, "FLOAT32", [64] * 6, [256] * 5, [16] * 6)

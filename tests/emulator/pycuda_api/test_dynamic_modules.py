"""DynamicModule and DynamicSourceModule: modules linked from pieces, and kernels that launch kernels."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator.pycuda_api import compiler, driver, gpuarray

pytestmark = pytest.mark.usefixtures("gpu")

TWICE = "__global__ void twice(int *x) { x[threadIdx.x + blockIdx.x * blockDim.x] *= 2; }"


def launched(module: compiler.DynamicModule, name: str, threads: int = 64) -> list[int]:
    x = gpuarray.arange(64, dtype=np.int32)
    module.get_function(name)(x, block=(threads, 1, 1), grid=(1, 1))
    return list(x.get())


def test_a_kernel_launches_a_kernel() -> None:
    source = (
        TWICE + "__global__ void first(int *x) { x[threadIdx.x] += 1; __syncthreads();"
        "if (threadIdx.x == 0) twice<<<2, 32>>>(x); }"
    )
    module = compiler.DynamicSourceModule(source)
    assert launched(module, "first") == [2 * (value + 1) for value in range(64)]
    assert launched(module, "twice") == [2 * value for value in range(64)]


def test_tail_launches_begin_after_all_others() -> None:
    source = (
        TWICE + "__global__ void minus(int *x) { x[threadIdx.x] -= 1; }"
        "__global__ void first(int *x) {"
        "minus<<<1, 64, 0, cudaStreamTailLaunch>>>(x); twice<<<1, 64>>>(x); }"
    )
    assert launched(compiler.DynamicSourceModule(source), "first", 1) == [
        2 * value - 1 for value in range(64)
    ]


def test_a_kernel_that_launches_itself_for_ever_is_refused() -> None:
    module = compiler.DynamicSourceModule("__global__ void again(int *x) { again<<<1, 1>>>(x); }")
    with pytest.raises(driver.NotEmulated, match="again: kernels that launch kernels more than 24 deep"):
        launched(module, "again", 1)


@pytest.mark.soak(area="emulator")
def test_too_many_launches_are_refused() -> None:
    source = TWICE + "__global__ void many(int *x) { for (int i = 0; i < 100; ++i) twice<<<1, 64>>>(x); }"
    with pytest.raises(driver.NotEmulated, match=r"more than \d+ launches from within one launch"):
        launched(compiler.DynamicSourceModule(source), "many", 64)


def test_pieces_are_linked() -> None:
    module = compiler.DynamicModule()
    module.add_source(
        "#include <cstdio>\n__device__ int offset = 5; extern __device__ int changed(int);"
        "extern __global__ void twice(int *);"
        '__global__ void first(int *x) { x[threadIdx.x] = changed(x[threadIdx.x]); printf("");'
        "if (threadIdx.x == 0) twice<<<1, 64>>>(x); }"
    )
    module.add_source(
        "#include <cstdio>\nextern __device__ int offset;"
        f'__device__ int changed(int x) {{ printf(""); return x + offset; }} {TWICE}'
    )
    module.add_stdlib("cudadevrt").link()
    assert launched(module, "first") == [2 * (value + 5) for value in range(64)]


def test_what_two_pieces_define_is_refused_by_name() -> None:
    module = compiler.DynamicModule().add_source(TWICE).add_source(TWICE)
    with pytest.raises(driver.NotEmulated, match="twice, which two of the pieces define"):
        module.link()


def test_other_pieces_are_refused_by_name() -> None:
    with pytest.raises(driver.NotEmulated, match=r"add_stdlib\('cublas_device'\): cudadevrt is all there is"):
        compiler.DynamicModule().add_stdlib("cublas_device")
    with pytest.raises(driver.NotEmulated, match=r"DynamicModule\.add_data"):
        compiler.DynamicModule().add_data(b"\x7fELF", None)
    with pytest.raises(driver.NotEmulated, match=r"DynamicModule\.add_file"):
        compiler.DynamicModule().add_file("kernel.cubin", None)

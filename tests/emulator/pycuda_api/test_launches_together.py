"""driver_ext's launches: in clusters, cooperatively, with a pointer to each argument."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator.pycuda_api import driver, driver_ext
from grader.emulator.pycuda_api.compiler import compile as compiled

SOURCE = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void ranks(int* out) { out[blockIdx.x] = cg::this_cluster().block_rank(); }
extern "C" __global__ void sums(int* x, int* out)
{
    x[blockIdx.x] = blockIdx.x;
    cg::this_grid().sync();
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += x[i];
    out[blockIdx.x] = sum;
}
struct alignas(64) Map { int words[32]; };
extern "C" __global__ void last_word(char one, const __grid_constant__ Map map, int* out, short two)
{
    out[blockIdx.x] = map.words[31] + one + two;
}
"""


def launched(kernel: str, blocks: int, *others: np.uint64, **how: object) -> list[int]:
    out = driver.mem_alloc(4 * blocks)
    function = driver_ext.extended_module(compiled(SOURCE, no_extern_c=True)).get_function(kernel)
    function(*others, np.uint64(int(out)), grid=(blocks, 1, 1), block=(1, 1, 1), **how)
    result = np.empty(blocks, np.int32)
    driver.memcpy_dtoh(result, out)
    return result.tolist()


def test_a_launch_in_clusters(gpu: driver.Context) -> None:
    assert launched("ranks", 8, cluster=(4, 1, 1)) == [0, 1, 2, 3] * 2
    assert launched("ranks", 32, cluster=(16, 1, 1)) == [*range(16)] * 2
    assert launched("ranks", 3) == [0] * 3


def test_a_cooperative_launch(gpu: driver.Context) -> None:
    scratch = driver.mem_alloc(4 * 8)
    assert launched("sums", 8, np.uint64(int(scratch)), cooperative=True) == [28] * 8


@pytest.mark.parametrize(
    ("blocks", "how", "status"),
    [
        (3, {"cluster": (2, 1, 1)}, "INVALID_CLUSTER_SIZE"),
        (32, {"cluster": (32, 1, 1)}, "INVALID_CLUSTER_SIZE"),
        (1 << 20, {"cooperative": True}, "COOPERATIVE_LAUNCH_TOO_LARGE"),
    ],
)
def test_what_cuda_refuses(gpu: driver.Context, blocks: int, how: dict[str, object], status: str) -> None:
    with pytest.raises(driver.LogicError, match="cuLaunchKernelEx failed") as error:
        launched("ranks", blocks, **how)
    assert driver_ext.status(error.value) == status


def test_an_argument_lies_where_its_parameter_does(gpu: driver.Context) -> None:
    """A tensor map, aligned to 64 bytes, may be any argument."""
    out = driver.mem_alloc(4)
    function = driver_ext.extended_module(compiled(SOURCE, no_extern_c=True)).get_function("last_word")
    words = np.void(np.arange(32, dtype=np.int32).tobytes())
    given = np.int8(100), words, np.uint64(int(out)), np.int16(1000)
    function(*given, grid=(1, 1, 1), block=(1, 1, 1))
    result = np.empty(1, np.int32)
    driver.memcpy_dtoh(result, out)
    assert result.tolist() == [1131]
    for wrong in (given[:3], (*given[:3], np.int32(1000))):
        with pytest.raises(driver.LogicError, match="last_word takes"):
            function(*wrong, grid=(1, 1, 1), block=(1, 1, 1))

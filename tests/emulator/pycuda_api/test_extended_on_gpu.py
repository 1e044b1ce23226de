"""Where there is a Hopper GPU: what `driver_ext` adds to PyCUDA, on it and on the emulator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader import cuda
from grader.emulator.nvrtc.compilation import build
from grader.emulator.pycuda_api.driver.errors import LogicError
from grader.errors import WarpladderError


def problem() -> str:
    """Why these tests cannot run here; empty where they can."""
    found = cuda.gpu_problem()
    if found:
        return found
    import pycuda.driver

    return "" if pycuda.driver.Device(0).compute_capability() >= (9, 0) else "clusters and TMA need sm_90"


pytestmark = pytest.mark.skipif(bool(problem()), reason=problem() or "a GPU")

Array = np.ndarray[Any, np.dtype[Any]]

KERNELS = r"""
#include <cooperative_groups.h>
#include <cuda.h>

extern "C" __global__ void scaled(float* out, const float* in, double by, int n, short shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * float(by) + shift;
}
extern "C" __global__ void dynamic(int* out, int words) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) tile[i] = i;
  __syncthreads();
  out[threadIdx.x] = tile[words - 1 - threadIdx.x];
}
extern "C" __global__ void ranks(int* out) {
  int x, y, number;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x));
  asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(y));
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(number));
  int block = blockIdx.y * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0) out[3 * block] = x, out[3 * block + 1] = y, out[3 * block + 2] = number;
}
extern "C" __global__ void together(int* out, int* sums) {
  atomicAdd(sums, int(blockIdx.x));
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = *reinterpret_cast<volatile int*>(sums);
}
template <int RANK>
__device__ void box(const CUtensorMap* map, unsigned to, unsigned barrier) {
  if (RANK == 1)
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3}], [%2];"
                 ::"r"(to), "l"(map), "r"(barrier), "r"(4) : "memory");
  else
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, 3}], [%2];"
                 ::"r"(to), "l"(map), "r"(barrier), "r"(4) : "memory");
}
template <int RANK>
__device__ void load(const CUtensorMap& map, float* out, int words) {
  __shared__ __align__(1024) float tile[2048];
  __shared__ unsigned long long full;
  unsigned barrier = __cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(4 * words) : "memory");
    box<RANK>(&map, __cvta_generic_to_shared(tile), barrier);
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
               ::"r"(barrier) : "memory");
  for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = tile[i];
}
#define LOAD(RANK)                                                                                             \
  extern "C" __global__ void load##RANK(float* out, const __grid_constant__ CUtensorMap map, int words) {     \
    load<RANK>(map, out, words);                                                                              \
  }
LOAD(1)
LOAD(2)
"""


@pytest.fixture
def gpu() -> Iterator[cuda.Cuda]:
    device = cuda.select("pycuda")
    yield device
    device.release()


def launch(device: cuda.Cuda, kernel: str, out: Array, *args: Any, **how: Any) -> Array:
    """`out` as the kernel leaves it; it is the first argument, and further arrays are copied to the device too."""
    image = build(KERNELS, arch=device.arch).image("pycuda" if device.kind == "gpu" else "emulator")
    function = device.ext.extended_module(image).get_function(kernel)
    if how.get("shared", 0) > 48 * 1024:
        function.set_attribute(device.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, how["shared"])
    places = {id(a): device.driver.to_device(a) for a in (out, *args) if isinstance(a, np.ndarray)}
    given = [np.uint64(int(places[id(a)])) if isinstance(a, np.ndarray) else a for a in (out, *args)]
    function(*given, **how)
    device.driver.Context.synchronize()
    result = np.empty_like(out)
    device.driver.memcpy_dtoh(result, places[id(out)])
    return result


def both(gpu: cuda.Cuda, kernel: str, out: Array, *args: Any, **how: Any) -> tuple[Array, Array]:
    """What a kernel leaves on the GPU and on the emulator."""
    return launch(gpu, kernel, out, *args, **how), launch(cuda.select("emulator"), kernel, out, *args, **how)


def test_arguments_of_all_sizes(gpu: cuda.Cuda) -> None:
    x = np.random.default_rng(1).integers(-99, 99, 1000).astype(np.float32)  # exact, with or without FMA
    args = (np.zeros_like(x), x, np.float64(2.5), np.int32(1000), np.int16(-3))
    real, emulated = both(gpu, "scaled", *args, grid=(8, 1, 1), block=(128, 1, 1))
    np.testing.assert_array_equal(real, x * np.float32(2.5) - 3)
    np.testing.assert_array_equal(emulated, real)


def test_much_shared_memory(gpu: cuda.Cuda) -> None:
    how: dict[str, Any] = {"grid": (1, 1, 1), "block": (64, 1, 1), "shared": 100_000}
    real, emulated = both(gpu, "dynamic", np.zeros(64, np.int32), np.int32(25_000), **how)
    np.testing.assert_array_equal(real, 24_999 - np.arange(64))
    np.testing.assert_array_equal(emulated, real)


@pytest.mark.parametrize("cluster", [(1, 1, 1), (2, 1, 1), (2, 2, 1), (8, 1, 1), (8, 2, 1)])
def test_clusters(gpu: cuda.Cuda, cluster: tuple[int, int, int]) -> None:
    found = launch(gpu, "ranks", np.zeros(96, np.int32), grid=(8, 4, 1), block=(32, 1, 1), cluster=cluster)
    sizes, ranks = found.reshape(32, 3)[:, :2], found.reshape(32, 3)[:, 2]
    assert (sizes == cluster[:2]).all()
    assert sorted(ranks) == sorted(list(range(cluster[0] * cluster[1])) * (32 // (cluster[0] * cluster[1])))


def test_cooperative_launches(gpu: cuda.Cuda) -> None:
    out, sums = np.zeros(100, np.int32), np.zeros(1, np.int32)
    found = launch(gpu, "together", out, sums, grid=(100, 1, 1), block=(1, 1, 1), cooperative=True)
    np.testing.assert_array_equal(found, 4950)


def test_a_grid_that_does_not_fit_is_no_cooperative_launch(gpu: cuda.Cuda) -> None:
    out, sums = np.zeros(10**6, np.int32), np.zeros(1, np.int32)
    with pytest.raises(WarpladderError, match="COOPERATIVE_LAUNCH_TOO_LARGE"):
        launch(gpu, "together", out, sums, grid=(10**6, 1, 1), block=(1024, 1, 1), cooperative=True)


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("rank", [1, 2])
def test_tensor_maps(gpu: cuda.Cuda, rank: int, swizzle: int) -> None:
    tensor = np.arange(64 * 64, dtype=np.float32)
    row = swizzle // 4 or 32
    found = []
    for device in (gpu, cuda.select("emulator")):
        place = device.driver.to_device(tensor)
        dims, strides, box = ([4096], [], [row]) if rank == 1 else ([64, 64], [256], [row, 16])
        seen = device.ext.tensor_map(int(place), "FLOAT32", dims, strides, box, swizzle=swizzle)
        words = row * (16 if rank == 2 else 1)
        out = np.zeros(words, np.float32)
        found.append(
            launch(device, f"load{rank}", out, seen, np.int32(words), grid=(1, 1, 1), block=(32, 1, 1))
        )
    np.testing.assert_array_equal(found[0], found[1])
    if not swizzle:
        want = tensor[4 : 4 + row] if rank == 1 else tensor.reshape(64, 64)[3:19, 4 : 4 + row].ravel()
        np.testing.assert_array_equal(found[0], want)


@pytest.mark.parametrize(
    ("dims", "strides", "box", "options"),
    [
        ([64, 64], [250], [16, 16], {}),  # a stride that is no multiple of 16
        ([64, 64], [256], [16, 257], {}),
        ([64, 64], [256], [3, 16], {}),
        ([64, 64], [256], [64, 16], {"swizzle": 128}),
        ([64] * 6, [256] * 5, [16] * 6, {}),
        ([64, 64], [256], [16, 16], {"element_strides": [1, 9]}),
        ([64, 0], [256], [16, 16], {}),
    ],
)
def test_what_the_driver_refuses_is_refused_by_both(
    gpu: cuda.Cuda, dims: list[int], strides: list[int], box: list[int], options: dict[str, Any]
) -> None:
    with pytest.raises(WarpladderError):
        gpu.ext.tensor_map(1 << 20, "FLOAT32", dims, strides, box, **options)
    with pytest.raises(LogicError):
        cuda.select("emulator").ext.tensor_map(1 << 20, "FLOAT32", dims, strides, box, **options)

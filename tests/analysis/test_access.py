"""One warp's access to memory: sectors and bank wavefronts, held against what the emulator counts."""

import numpy as np
import pytest

from grader import cuda
from grader.analysis.access import global_access, shared_access
from grader.emulator.nvrtc import compilation

LOADS = """
template <class T> __device__ void through(const int* at, T* out, const T* in) {
  extern __shared__ char bytes[];
  int lane = threadIdx.x;
  for (int i = lane; i < 8192 / 4; i += 32) reinterpret_cast<int*>(bytes)[i] = i;
  __syncthreads();
  if (at[lane] >= 0) out[lane] = *reinterpret_cast<const T*>(bytes + at[lane]);
  __syncthreads();
  if (at[lane] >= 0) out[lane + 32] = *reinterpret_cast<const T*>(reinterpret_cast<const char*>(in) + at[lane]);
}
extern "C" __global__ void one(const int* at, char* out, const char* in) { through<char>(at, out, in); }
extern "C" __global__ void four(const int* at, float* out, const float* in) { through<float>(at, out, in); }
extern "C" __global__ void eight(const int* at, float2* out, const float2* in) { through<float2>(at, out, in); }
extern "C" __global__ void sixteen(const int* at, float4* out, const float4* in) { through<float4>(at, out, in); }
"""
KERNELS = {1: "one", 4: "four", 8: "eight", 16: "sixteen"}

WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"


def patterns(width: int) -> list[list[int | None]]:
    """Strides, broadcasts, pairs, gaps and chance; byte addresses below 8192."""
    random = np.random.default_rng(width)
    every: list[list[int | None]] = [
        [stride * width * lane % 8192 for lane in range(32)] for stride in (1, 2, 3, 8, 32)
    ]
    every += [
        [0] * 32,
        [lane // 2 * width for lane in range(32)],
        [(lane ^ 2) // 4 * width for lane in range(32)],
    ]
    every += [[lane * width if lane % 3 else None for lane in range(32)]]
    every += [[int(a) * width for a in random.integers(0, 8192 // width, 32)] for _ in range(12)]
    every += [[int(a) * width for a in random.integers(0, 64 // width + 1, 32)] for _ in range(4)]
    return every


@pytest.mark.parametrize("width", KERNELS)
def test_the_emulator_counts_the_same(width: int) -> None:
    chosen = cuda.select("emulator")
    load = chosen.driver.module_from_buffer(compilation.build(LOADS).image("emulator")).get_function(
        KERNELS[width]
    )
    rows = chosen.driver.mem_alloc(1024)
    source = chosen.driver.mem_alloc(8192)
    alone = None  # sectors of the kernel's other loads
    for addresses in [[None] * 32, *patterns(width)]:
        at = np.array([-1 if a is None else a for a in addresses], np.int32)
        chosen.ext.launch_records()
        load(chosen.driver.In(at), rows, source, block=(32, 1, 1), grid=(1, 1), shared=8192)
        (record,) = chosen.ext.launch_records()
        alone = record.counters[SECTORS] if alone is None else alone
        shared = shared_access(addresses, width)
        assert record.counters[WAVEFRONTS] == len(shared.wavefronts), addresses
        assert record.counters[CONFLICTS] == shared.conflicts, addresses
        assert record.counters[SECTORS] - alone == global_access(addresses, width).sectors, addresses


def test_who_collides() -> None:
    found = shared_access([128 * lane for lane in range(4)])
    assert [turn.lanes[0] for turn in found.wavefronts] == [(0,), (1,), (2,), (3,)]
    assert found.conflicts == 3
    everybody = shared_access([12] * 32)
    assert everybody.wavefronts[0].lanes == {3: tuple(range(32))}
    assert everybody.conflicts == 0


def test_a_padded_column_has_no_conflict_and_a_plain_one_has_31() -> None:
    assert shared_access([4 * 33 * lane for lane in range(32)]).conflicts == 0
    assert shared_access([4 * 32 * lane for lane in range(32)]).conflicts == 31


def test_sectors_and_what_is_moved_for_nothing() -> None:
    neighbours = global_access([4 * lane for lane in range(32)])
    assert (neighbours.sectors, neighbours.efficiency) == (4, 1.0)
    assert global_access([4 * lane + 4 for lane in range(32)]).sectors == 5
    column = global_access([4096 * lane for lane in range(32)])
    assert (column.sectors, column.efficiency) == (32, 0.125)
    assert global_access([None] * 32).efficiency == 0.0


@pytest.mark.parametrize(
    ("addresses", "width", "message"),
    [([0], 3, "1, 2, 4, 8 or 16"), ([2], 4, "lane 0: address 2"), ([0] * 33, 4, "32 lanes"), ([-4], 4, "-4")],
)
def test_what_no_warp_can_do_is_refused(addresses: list[int], width: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shared_access(addresses, width)

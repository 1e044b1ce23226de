"""What findings hold: both accesses, what they have in common, and where in memory they are."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench
from records import at

from grader.emulator.machine.records import TOOLS, Access, Allocation, Finding

SOURCE = r"""
__device__ float weights[3];

extern "C" __global__ void of_warps(float* out)
{
    __shared__ float head[8], tile[64];
    head[threadIdx.x & 7] = 0;
    tile[threadIdx.x] = threadIdx.x;  // written
    __syncwarp();
    out[threadIdx.x] = tile[63 - threadIdx.x];  // read
}

extern "C" __global__ void broadcast(const float* in, float* out)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = in[threadIdx.x];  // each writes
    out[threadIdx.x] = tile[0];  // all read
}

extern "C" __global__ void read_by_all(float* out)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[0];  // all read
    if (threadIdx.x == 63) tile[0] = 2;  // one writes
}

extern "C" __global__ void unfinished(const float* in, float* out)
{
    __shared__ float tile[32];
    unsigned to = __cvta_generic_to_shared(tile + threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(in + threadIdx.x));  // copied
    asm volatile("cp.async.commit_group;");
    out[threadIdx.x] = tile[threadIdx.x];
    asm volatile("cp.async.wait_all;");
}

extern "C" __global__ void variable(float* out) { out[0] = weights[threadIdx.x]; }

extern "C" __global__ void written_after(float* out)
{
    __shared__ float tile[64];
    if (threadIdx.x < 32) out[threadIdx.x] = tile[threadIdx.x];  // read first
    tile[63 - threadIdx.x] = 1;
}
"""


def line_of(part: str) -> int:
    return next(n for n, row in enumerate(SOURCE.splitlines(), 1) if part in row)


def found(bench: Bench, kernel: str, block: int, *arguments: object) -> list[Finding]:
    return list(bench.cuda(SOURCE, kernel, 1, block, *arguments).record.findings)


def floats(count: int) -> np.ndarray:
    return np.zeros(count, np.float32)


def test_a_race_between_warps_has_both_lines_and_threads(bench: Bench) -> None:
    *_, race = found(bench, "of_warps", 64, floats(64))
    assert (race.kind, race.line, race.scope) == ("race", line_of("// read"), "block")
    assert (race.action, race.space, race.array, race.size) == ("read", "shared", "tile", 4)
    number = race.thread[0] if race.thread else -1
    other = Access("write", at(line_of("// written")), (0, 0, 0), (63 - number, 0, 0))
    assert race.other == other
    assert not race.any_of_warp


def test_a_broadcast_is_read_by_a_warp_and_not_by_its_first_thread(bench: Bench) -> None:
    (race,) = found(bench, "broadcast", 32, floats(32), floats(32))
    assert (race.kind, race.line, race.scope, race.thread) == (
        "race",
        line_of("// all read"),
        "warp",
        (0, 0, 0),
    )
    assert race.any_of_warp
    assert race.other == Access("write", at(line_of("// each writes")), (0, 0, 0), (0, 0, 0))


def test_readers_of_several_warps_have_no_number(bench: Bench) -> None:
    (race,) = found(bench, "read_by_all", 64, floats(64))
    assert (race.kind, race.thread, race.scope) == ("race", (63, 0, 0), "block")
    all_read = [n for n, row in enumerate(SOURCE.splitlines(), 1) if "// all read" in row]
    assert race.other == Access("read", at(all_read[1]), (0, 0, 0), None)


COUNTED = """
extern "C" __global__ void k(int* out)
{{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    {}
}}
"""


@pytest.mark.parametrize(
    "use",
    [
        "atomicAdd(&total, 1); if (threadIdx.x == 0) *out = total;",
        "const int seen = total; atomicAdd(&total, seen + 1);",
        "if (threadIdx.x == 63) *out = total; else atomicMax(&total, 1);",
    ],
)
def test_an_atomic_races_with_plain_loads_of_other_warps(bench: Bench, use: str) -> None:
    record = bench.cuda(COUNTED.format(use), "k", 1, 64, np.zeros(1, np.int32)).record
    assert [(race.kind, race.array) for race in record.findings] == [("race", "total")]


@pytest.mark.parametrize(
    ("use", "threads"),
    [
        ("atomicAdd(&total, 1); __syncthreads(); *out = total;", 64),
        ("const int seen = total; __syncthreads(); atomicAdd(&total, seen);", 64),
        ("atomicAdd(&total, 1); __syncwarp(); *out = total;", 32),
        ("if (atomicAdd(&total, 1) == 63) *out = atomicAdd(&total, 0);", 64),
    ],
)
def test_an_atomic_races_with_nothing_else(bench: Bench, use: str, threads: int) -> None:
    record = bench.cuda(COUNTED.format(use), "k", 1, threads, np.zeros(1, np.int32)).record
    assert not record.findings


def test_an_unfinished_copy_has_the_copys_line(bench: Bench) -> None:
    (copy,) = found(bench, "unfinished", 32, floats(32), floats(32))
    assert copy.kind == "unfinished_copy"
    assert copy.other is not None
    assert (copy.other.action, copy.other.line, copy.scope) == ("write", line_of("// copied"), "warp")


def test_a_variable_of_the_module_has_its_name(bench: Bench) -> None:
    (beyond,) = found(bench, "variable", 4, floats(1))
    assert (beyond.kind, beyond.array, beyond.space, beyond.size) == ("out_of_bounds", "weights", "global", 4)
    assert beyond.allocation is not None
    assert (beyond.allocation.nbytes, beyond.address) == (12, beyond.allocation.base + 12)
    assert TOOLS[beyond.kind] == "memcheck"


def test_the_nearest_elements_that_are_stored_are_known(bench: Bench) -> None:
    source = """extern "C" __global__ void k(int* out) {
        __shared__ int some[8], none[8];
        if (*out) none[threadIdx.x & 7] = 1;
        if (threadIdx.x == 2 || threadIdx.x == 5) some[threadIdx.x] = 1;
        __syncthreads();
        *out = some[3];
        out[1] = none[*out & 7];
    }"""
    first, second = bench.cuda(source, "k", 1, 32, np.zeros(2, np.int32)).record.findings
    assert first.allocation is not None
    assert first.stored == (first.allocation.base + 8, first.allocation.base + 20)
    assert (second.array, second.stored) == ("none", (None, None))


def test_shared_memory_is_an_allocation_from_zero_on(bench: Bench) -> None:
    uninitialised, race = found(bench, "written_after", 64, floats(64))
    assert uninitialised.kind == "uninitialised_shared"
    assert uninitialised.allocation == Allocation(0, 256)
    assert race.kind == "race"
    assert race.other is not None
    assert (race.other.action, race.other.line) == ("read", line_of("// read first"))

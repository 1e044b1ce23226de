"""Work that blocks draw by a counter is shared by those that run together; what one block does alone, it does alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking
from records import record

from grader.emulator import metrics
from grader.judge.kernels import counting
from grader.workbook import topics

KERNEL = """// /// launch
// [[scratch]]
// name = "tickets"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "transpose"
// grid = ["min(SMS * 4, cdiv(M, 32) * cdiv(N, 32))"]
// block = [32, 8]
// args = ["in", "out", "tickets", "M", "N"]
// zero = ["tickets"]
// ///
extern "C" __global__ void transpose(const float* in, float* out, unsigned* tickets, int M, int N)
{
    __shared__ float tile[32][33];
    __shared__ unsigned ticket;
    const unsigned across = (N + 31) / 32, tiles = across * ((M + 31) / 32);
    for (unsigned drawn = 0; ; ++drawn) {
        if (threadIdx.x == 0 && threadIdx.y == 0) ticket = DRAW;
        __syncthreads();
        if (ticket >= tiles) return;
        const int y = ticket / across * 32, x = ticket % across * 32;
        for (int i = threadIdx.y; i < 32; i += 8)
            if (y + i < M && x + threadIdx.x < N) tile[i][threadIdx.x] = in[size_t(y + i) * N + x + threadIdx.x];
        __syncthreads();
        for (int i = threadIdx.y; i < 32; i += 8)
            if (x + i < N && y + threadIdx.x < M) out[size_t(x + i) * M + y + threadIdx.x] = tile[threadIdx.x][i];
        __syncthreads();
    }
}
"""
FIRST_COME = "atomicAdd(tickets, 1u)"
ONE_FOR_ALL = "drawn == 0 ? (atomicAdd(tickets, 1u) == 0 ? 0 : tiles) : ticket + 1"


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize(("draw", "reached"), [(FIRST_COME, "03_padded_tile"), (ONE_FOR_ALL, "00_naive")])
def test_whose_blocks_share_the_work_is_not_slow(
    draw: str, reached: str, tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "kernel.cu"
    file.write_text(KERNEL.replace("DRAW", draw), "utf-8")
    result = marked(topics.load("transpose"), file)
    assert result.verdict == "pass", result.reason
    assert result.rung_reached == reached


@pytest.mark.parametrize(
    ("longest", "draws", "whole"),
    [
        (25, True, 400),  # four blocks of 16 did as much each
        (100, True, 100),  # one did all that there is
        (70, True, 70 + 10 * 15),  # and here what three others did is every other block's
        (100, False, 400),
    ],
)
def test_work_that_one_block_has_drawn_is_counted_once(longest: int, draws: bool, whole: int) -> None:
    counters = {metrics.WARP_INSTRUCTIONS: 100, metrics.GLOBAL_REQUESTS["atom"]: int(draws)}
    found = record(counters=counters, blocks_run=4, grid_blocks=16, longest_block=longest)
    assert counting.of_whole_grids([found])[metrics.WARP_INSTRUCTIONS] == whole

"""What some blocks of a grid have touched, whatever cores have run them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.emulator.machine.machine import Machine
from grader.emulator.machine.records import Touched
from tests.helpers.emulated import THREADS, Bench

BLOCK, GRID = 64, 1000
SOURCE = """
extern "C" __global__ void k(const float* in, float* out, unsigned lost, unsigned longer) {
    unsigned block = blockIdx.x & ~lost;
    unsigned n = block == longer ? 32 : 1;
    for (unsigned i = 0; i < n; ++i) {
        unsigned at = (block + i) * 64 + threadIdx.x;
        out[at] = in[at] + in[threadIdx.x];
    }
}
"""


def touched(threads: int, blocks: list[int], enough: int, lost: int = 0, longer: int = GRID) -> Any:
    """How many blocks ran, and what they touched of each array."""
    arrays = [np.ones(GRID * BLOCK, np.float32), np.zeros(GRID * BLOCK, np.float32)]
    ran = Bench(Machine(threads=threads)).cuda(
        SOURCE, "k", GRID, BLOCK, *arrays, np.uint32(lost), np.uint32(longer), blocks=blocks, enough=enough
    )
    assert (ran.record.status, ran.record.findings) == ("completed", ())
    read, written = sorted(ran.record.touched, key=lambda item: item.written_bytes)
    return ran.record, read, written


def amounts(item: Touched) -> tuple[int, int, int, int]:
    return item.read_bytes, item.most_read_bytes, item.written_bytes, item.most_written_bytes


@pytest.mark.parametrize("threads", THREADS)
def test_what_blocks_touch_is_told_together_and_of_the_one_that_touches_most(threads: int) -> None:
    record, read, written = touched(threads, [700, 0, 999, 8, 4, 500], 10**6, longer=500)
    assert record.blocks_run == 6
    row = 4 * BLOCK
    assert amounts(read) == (37 * row, 32 * row, 0, 0)  # the first row is read by all, and before block 500
    assert amounts(written) == (0, 0, 37 * row, 32 * row)
    assert (record.dram_read_bytes, record.dram_write_bytes) == (37 * row, 37 * row)


@pytest.mark.parametrize("threads", THREADS)
def test_blocks_that_do_what_others_do_add_nothing(threads: int) -> None:
    _, read, written = touched(threads, [6, 7, 100, 101, 40, 41], 10**6, lost=1)
    assert (read.read_bytes, written.written_bytes) == (4 * 4 * BLOCK, 3 * 4 * BLOCK)


def test_however_many_cores_there_are_as_many_blocks_are_run() -> None:
    records = [touched(threads, list(range(1, 200, 3)), 2000)[0] for threads in THREADS]
    assert 3 < records[0].blocks_run < 67
    assert len({(item.blocks_run, str(item.counters), item.touched) for item in records}) == 1


def test_the_first_and_the_last_word_that_was_written_are_named() -> None:
    _, _, written = touched(2, [500, 0, 999, *range(30, 60)], 10**6)
    assert (written.words[0], written.words[-1]) == (0, GRID * BLOCK - 1)
    assert 256 <= len(written.words) < 256 + 3 * 64


def test_words_of_the_first_blocks_are_named_among_however_many_others() -> None:
    """As where the last block's indices wrap, and it writes in the middle."""
    _, _, written = touched(2, [500, 999, 0, *range(501, 600)], 10**6, lost=512)
    assert {word // BLOCK for word in written.words} >= {500, 999 - 512, 0}
    assert [word for word in written.words if word // BLOCK == 999 - 512] == [487 * 64 + i for i in range(64)]


def test_marks_of_one_launch_are_gone_in_the_next() -> None:
    bench = Bench(Machine(threads=2))
    arrays = [np.ones(GRID * BLOCK, np.float32), np.zeros(GRID * BLOCK, np.float32)]
    for blocks in ([1, 2, 3], [5]):
        ran = bench.cuda(
            SOURCE, "k", GRID, BLOCK, *arrays, np.uint32(0), np.uint32(GRID), blocks=blocks, enough=1
        )
        assert ran.record.dram_write_bytes == len(blocks) * 4 * BLOCK

"""Which bytes a launch reads and writes."""

from __future__ import annotations

from typing import Any

import numpy as np
from emulated import Bench

from grader.emulator.machine.tracing.extents import Extents

SOURCE = """
extern "C" __global__ void some(int *y, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[2 * i + 1] = x[i];
    if (i == 0)
        atomicAdd(y, 1);
}
extern "C" __global__ void bytes(unsigned char *y, const unsigned char *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[4 * i + 1] = x[4 * i + 2];
    if (i == n)
        *(int *)(y + 4 * i) = 7;
}
extern "C" __global__ void looks(int *y, volatile int *x, int n) { y[n] = x[n]; }
"""


def launched(bench: Bench, kernel: str, count: int, *arrays: np.ndarray[Any, Any]) -> Extents:
    extents = Extents()
    bench.cuda(SOURCE, kernel, count // 256 + 1, 256, *arrays, np.int32(count), extents=extents)
    return extents


def places(extents: Extents, action: str) -> set[int]:
    """The bytes of that kind, in the one allocation that they are in, from the first on."""
    (found,) = (each.parts for each in extents.found if each.action == action)
    assert (found[1:, 0] > found[:-1, 1]).all()
    return {byte for first, last in found for byte in range(first - found[0, 0], last - found[0, 0])}


def test_words_that_are_read_written_and_updated(bench: Bench) -> None:
    for count in (3, 40_000):  # of many pages of marks, some are full
        x, y = np.zeros(count, np.int32), np.zeros(2 * count, np.int32)
        extents = launched(bench, "some", count, y, x)
        assert places(extents, "read") == set(range(4 * count))
        assert places(extents, "write") == {8 * i + byte for i in range(count) for byte in range(4)}
        assert places(extents, "atomic") == {0, 1, 2, 3}
        assert {each.grain for each in extents.found} == {1}
        assert not extents.strong_loads


def test_bytes_that_are_written_and_words_that_hold_those_read(bench: Bench) -> None:
    count = 300
    x, y = np.zeros(4 * count, np.uint8), np.zeros(4 * count + 4, np.uint8)
    extents = launched(bench, "bytes", count, y, x)
    assert places(extents, "write") == {4 * i for i in range(count)} | {4 * count - 1 + at for at in range(4)}
    assert places(extents, "read") == set(range(4 * count))
    assert {each.action: each.grain for each in extents.found} == {"read": 4, "write": 1}


def test_volatile_loads_are_known(bench: Bench) -> None:
    assert launched(bench, "looks", 3, np.zeros(4, np.int32), np.zeros(4, np.int32)).strong_loads

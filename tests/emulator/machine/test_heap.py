"""malloc, free, new and delete in kernels (CUDA C++ Programming Guide, Dynamic Global Memory Allocation)."""

from __future__ import annotations

import itertools

import numpy as np
from emulated import Bench

from grader.emulator.machine.heap import HEAP_BYTES, Heap
from grader.emulator.machine.memory import Memory

SOURCE = """
struct Link { int number; Link* next; };

extern "C" __global__ void lists(int* x)
{
    Link* first = nullptr;
    for (int i = 0; i <= threadIdx.x % 5; ++i)
        first = new Link{i * x[threadIdx.x], first};
    int sum = 0;
    while (first) {
        Link* link = first;
        sum += link->number;
        first = link->next;
        delete link;
    }
    x[threadIdx.x] = sum;
}

extern "C" __global__ void keeps(int** kept) { *kept = (int*)malloc(4); **kept = 7; }
extern "C" __global__ void takes(float* out)
{
    float* p = (float*)malloc(40);
    out[0] = p[9];
    p[9] = 0;
    free(p);
    p = (float*)malloc(40);
    out[1] = p[9];
    free(p);
}
extern "C" __global__ void finds(int** kept, int* out) { *out = **kept; free(*kept); }
extern "C" __global__ void too_much(int* out) { *out = malloc(1 << 24) == nullptr; }
extern "C" __global__ void beyond(int* out) { int* p = (int*)malloc(8); p[2] = 1; *out = 1; }
extern "C" __global__ void after_free(int* out) { int* p = (int*)malloc(8); p[0] = 1; free(p); *out = p[0]; }
extern "C" __global__ void twice(int* out) { int* p = (int*)malloc(8); free(p); free(p); *out = 1; }
"""


def test_each_thread_has_a_list(bench: Bench) -> None:
    x = np.arange(64, dtype=np.int32)
    expected = [int(v) * sum(range(i % 5 + 1)) for i, v in enumerate(x)]
    assert bench.clean(SOURCE, "lists", 1, 64, x).tolist() == expected


def test_memory_outlives_the_kernel(bench: Bench) -> None:
    kept = bench.clean(SOURCE, "keeps", 1, 1, np.zeros(1, np.uint64))
    assert bench.clean(SOURCE, "finds", 1, 1, kept, np.zeros(1, np.int32))[1].tolist() == [7]


def test_what_malloc_gives_holds_no_zeros(bench: Bench) -> None:
    """Not even where they were left before it was freed."""
    assert np.isnan(bench.clean(SOURCE, "takes", 1, 1, np.zeros(2, np.float32))).all()


def test_a_heap_that_is_full_gives_nothing(bench: Bench) -> None:
    assert bench.clean(SOURCE, "too_much", 1, 1, np.zeros(1, np.int32)).tolist() == [1]


def test_misuse_is_found(bench: Bench) -> None:
    for kernel, status in (("beyond", "completed"), ("after_free", "completed"), ("twice", "trap")):
        ran = bench.cuda(SOURCE, kernel, 1, 1, np.zeros(1, np.int32))
        assert ran.findings == ["out_of_bounds"], kernel
        assert ran.record.status == status


def test_holes_that_meet_are_one() -> None:
    """In whatever order the pieces between them are freed."""
    for order in itertools.permutations(range(3)):
        heap = Heap(Memory(1 << 30))
        pieces = [heap.alloc(HEAP_BYTES // 4) for _ in range(3)]
        assert heap.alloc(HEAP_BYTES // 2) == 0
        for index in order:
            heap.free(pieces[index])
        assert heap.alloc(HEAP_BYTES) == heap.base


def test_freed_memory_is_taken_again() -> None:
    heap = Heap(Memory(1 << 30))
    first, second, third = (heap.alloc(1000) for _ in range(3))
    assert len({first, second, third}) == 3
    heap.free(second)
    assert heap.alloc(500) == second
    assert heap.alloc(HEAP_BYTES) == 0
    assert all(address % 16 == 0 for address in (first, second, third))

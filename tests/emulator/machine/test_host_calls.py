"""printf, assert and trap: what a kernel says to the host, and how it ends itself."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.machine.host import EFFORT, FIFO_BYTES, FREE, FULL, LINE_EFFORT, MALLOC, VPRINTF
from grader.emulator.machine.launch import TOGETHER
from grader.emulator.machine.machine import Machine
from grader.findings.kernels import message

SOURCE = r"""
#include <stdio.h>
#include <assert.h>

extern "C" __global__ void hello() { printf("block %d thread %d\n", blockIdx.x, threadIdx.x); }

extern "C" __global__ void kinds(const float* x)
{
    if (threadIdx.x) return;
    printf("%d %u %x %#o|%5d|%-5d|%05d|%+d\n", -3, 4000000000u, 255, 8, 42, 42, 42, 42);
    printf("%lld %llu %ld %zu %hhd\n", -(1LL << 40), 1ULL << 63, 1L << 33, sizeof(double), (char)-2);
    printf("%f %.3f %e %g %10.2f|%-8.1f|%G\n", 1.5f, 3.14159265358979, 12345.678, 1e-10, x[0], x[1], 1e20);
    printf("%c%c %s %% %*d %.*f %s\n", 'o', 'k', "text", 6, 7, 2, 2.71828, x[0] > 0 ? "yes" : "no");
    printf("%f %f %f\n", INFINITY, -INFINITY, NAN);
    printf("no arguments\n");
}

extern "C" __global__ void wide() { printf("%500000000d%.*f\n", 1, 500000000, 2.5); }

extern "C" __global__ void long_text() { printf("%*s%s\n", -500000000, "x", "y"); }

extern "C" __global__ void much() { for (int i = 0; i < 20000; i++) printf("%0100d\n", i); }

extern "C" __global__ void prints(int turns) { for (int i = 0; i < turns; i++) printf("%d\n", 1000 + i); }

extern "C" __global__ void nothing(int turns) { for (int i = 0; i < turns; i++) printf(""); }

extern "C" __global__ void takes(int turns) { for (int i = 0; i < turns; i++) free(malloc(i)); }

extern "C" __global__ void some() { if (threadIdx.x % 16 == 3) printf("%d;", threadIdx.x + 100 * blockIdx.x); }

extern "C" __global__ void count(int* out) { out[threadIdx.x] = printf("%d %d\n", 1, 2); }

extern "C" __global__ void astray(const char** text) { printf("%s\n", *text); }

struct Name { char text[8]; };
extern "C" __global__ void texts(Name given, int n)
{
    __shared__ char shared[8];
    char own[8];
    for (int i = 0; i < n; ++i) {
        own[i] = 'a' + i + threadIdx.x;
        shared[i] = 'p' + i;
    }
    own[n] = shared[n] = 0;
    __syncthreads();
    printf("%s %s %s\n", own, shared, given.text);
}

extern "C" __global__ void unended(int n)
{
    __shared__ char shared[8];
    for (int i = 0; i < n; ++i) shared[i] = 'x';
    printf("%s\n", shared);
}

extern "C" __global__ void check(const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(in[i] < 10 && "too large");
    out[i] = 1;
}

extern "C" __global__ void stop(const int* in, int* out)
{
    if (in[threadIdx.x] == 7) __trap();
    out[threadIdx.x] = 1;
}
"""


def test_printf_prints_in_the_order_of_the_threads(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.clean(SOURCE, "hello", 3, 40)
    assert capsys.readouterr().out == "".join(f"block {b} thread {t}\n" for b in range(3) for t in range(40))


def test_conversions(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.cuda(SOURCE, "kinds", 1, 32, np.array([12.345, -0.05], np.float32))
    assert capsys.readouterr().out.splitlines() == [
        "-3 4000000000 ff 010|   42|42   |00042|+42",
        f"{-(1 << 40)} {1 << 63} {1 << 33} 8 -2",
        "1.500000 3.142 1.234568e+04 1e-10      12.35|-0.1    |1E+20",
        "ok text %      7 2.72 yes",
        "inf -inf nan",
        "no arguments",
    ]


def test_printf_of_some_lanes(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.cuda(SOURCE, "some", 2, 64)
    assert capsys.readouterr().out == "3;19;35;51;103;119;135;151;"


@pytest.mark.parametrize("kernel", ["wide", "long_text", "much"])
def test_printf_keeps_what_its_buffer_holds(
    bench: Bench, kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.cuda(SOURCE, kernel, 1, 1)
    printed = capsys.readouterr().out
    full = FULL.format(FIFO_BYTES)
    assert len(printed) == FIFO_BYTES + len(full)
    assert printed.endswith(full)


def few_kept(nbytes: int) -> Bench:
    return Bench(Machine(threads=1, printf_bytes=nbytes))


@pytest.mark.parametrize("nbytes", [155, 158, 160])
def test_printf_says_once_that_something_is_lost(nbytes: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether or not the buffer ends with a line, or with a warp's."""
    few_kept(nbytes).clean(SOURCE, "prints", 1, 32, 3)
    assert capsys.readouterr().out == (32 * "1000\n")[:nbytes] + FULL.format(nbytes)


@pytest.mark.parametrize(
    ("kernel", "effort", "called"),
    [
        ("prints", 320 * EFFORT[VPRINTF] + 32 * LINE_EFFORT, {"printf": 320}),
        ("nothing", 320 * (EFFORT[VPRINTF] + LINE_EFFORT), {"printf": 320}),
        ("takes", 320 * (EFFORT[MALLOC] + EFFORT[FREE]), {"malloc": 320, "free": 320}),
    ],
)
def test_calls_of_the_host_take_from_the_budget(kernel: str, effort: int, called: dict[str, int]) -> None:
    """As many as the budget allows, and one more: 10 turns of a warp."""
    for budget, status in ((effort, "completed"), (effort - 1, "calls exhausted")):
        record = few_kept(158).cuda(SOURCE, kernel, 1, 32, 10, budget=budget).record
        assert (record.status, record.host_calls) == (status, called)


def test_blocks_together_may_call_as_often_as_some_budgets_allow() -> None:
    each = 320 * (EFFORT[MALLOC] + EFFORT[FREE])
    for blocks, status in ((TOGETHER, "completed"), (TOGETHER + 1, "calls exhausted")):
        assert few_kept(0).cuda(SOURCE, "takes", blocks, 32, 10, budget=each).record.status == status


def test_printf_returns_the_number_of_its_arguments(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    (out,) = bench.cuda(SOURCE, "count", 1, 4, np.zeros(4, np.int32)).arrays
    assert out.tolist() == [2] * 4
    assert capsys.readouterr().out == "1 2\n" * 4


def test_printf_of_a_string_that_is_not_there(bench: Bench) -> None:
    ran = bench.cuda(SOURCE, "astray", 1, 32, np.array([64], np.uint64))
    assert ran.record.status == "trap"
    assert ran.findings == ["out_of_bounds"]


def test_printf_of_texts_in_each_space(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.clean(SOURCE, "texts", 1, 2, np.frombuffer(b"given\0\0\0", "V8")[0], 2)
    assert capsys.readouterr().out == "ab pq given\nbc pq given\n"


def test_printf_of_a_text_without_an_end(bench: Bench) -> None:
    ran = bench.cuda(SOURCE, "unended", 1, 1, 8)
    (finding,) = ran.record.findings
    assert (finding.kind, finding.space, finding.address, finding.instruction) == (
        "out_of_bounds",
        "shared",
        8,
        "printf",
    )


def test_an_assertion_that_fails(bench: Bench) -> None:
    data = np.zeros(128, np.int32)
    data[70] = 10
    ran = bench.cuda(SOURCE, "check", 2, 64, data, np.zeros(128, np.int32))
    assert ran.record.status == "trap"
    (finding,) = ran.record.findings
    assert finding.kind == "assert"
    assert finding.line == SOURCE[: SOURCE.index("assert(in")].count("\n") + 1
    assert (finding.block, finding.thread) == ((1, 0, 0), (6, 0, 0))
    assert "in[i] < 10" in message(finding)
    assert ran.arrays[1][:64].all()


def test_an_assertion_that_holds(bench: Bench) -> None:
    assert bench.clean(SOURCE, "check", 2, 64, np.zeros(128, np.int32), np.zeros(128, np.int32))[1].all()


@pytest.mark.parametrize("value", [7, 8])
def test_a_trap(bench: Bench, value: int) -> None:
    data = np.zeros(32, np.int32)
    data[5] = value
    ran = bench.cuda(SOURCE, "stop", 1, 32, data, np.zeros(32, np.int32))
    assert ran.record.status == ("trap" if value == 7 else "completed")
    assert ran.findings == (["trap"] if value == 7 else [])

"""What probes say of code is what the compiler and the emulator make of it."""

import random
from functools import cache

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.machine.machine import Machine
from grader.emulator.machine.records import by_line
from grader.emulator.nvrtc import compilation
from grader.interview import bank
from grader.interview.probes.kinds import LineProbe, Probe
from grader.interview.probes.posing import compute

OPENED = 1  # lines of a kernel above a probe's first line

USES = {
    "`a[i]` in a loop over i from 0 to 7 that is fully unrolled": "for (int i = 0; i < 8; ++i) sum += a[i];",
    "`a[key % 8]`, where key was loaded from memory": "sum = a[key[0] % 8];",
    "`a[0] + a[7]`, and no other elements": "sum = a[0] + a[7];",
    "`a[i]` in a loop over i from 0 to n, with n an argument of the kernel": (
        "for (int i = 0; i <= n; ++i) sum += a[i];"
    ),
}


@pytest.fixture
def bench() -> Bench:
    return Bench(Machine(threads=1))


@cache
def probes(question: str) -> dict[str, Probe]:
    found = bank.find(bank.discover(), question)
    return {probe.name: probe for point in found.points for probe in point.probes}


def line_probe(question: str, name: str) -> LineProbe:
    found = probes(question)[name]
    assert isinstance(found, LineProbe)
    return found


def kernel(probe: LineProbe, parameters: str, before: str = "") -> str:
    """A kernel of a probe's code: `before` stands on the line of the brace."""
    return f'extern "C" __global__ void run({parameters}) {{ {before}\n' + "\n".join(probe.code) + "\n}\n"


def test_the_early_read_races_in_the_marked_line(bench: Bench) -> None:
    probe = line_probe("thread-hierarchy", "early_read")
    source = kernel(probe, "const float* in, float* out")
    ran = bench.cuda(source, "run", 2, 256, np.ones(512, np.float32), np.zeros(512, np.float32))
    assert ran.findings
    assert {finding.line - OPENED for finding in ran.record.findings} <= {
        probe.marked[0],
        probe.marked[0] - 1,
    }
    assert probe.marked[0] in {finding.line - OPENED for finding in ran.record.findings}


def test_the_sum_of_a_warp_races_where_the_barrier_is_missing(bench: Bench) -> None:
    probe = line_probe("generations", "warp_tail")
    before = "__shared__ float sums[64]; int t = threadIdx.x; sums[t] = t; sums[t + 32] = 0; __syncwarp();"
    ran = bench.cuda(kernel(probe, "float* out", before), "run", 1, 32, np.zeros(1, np.float32))
    assert {finding.kind for finding in ran.record.findings} == {"race"}
    assert {finding.line - OPENED for finding in ran.record.findings} <= set(probe.marked)
    mended = kernel(probe, "float* out", before).replace("v += s[t + 4];", "v += s[t + 4]; __syncwarp();")
    out = bench.clean(mended, "run", 1, 32, np.zeros(1, np.float32))
    assert out[0] == sum(range(32))


def test_every_block_counts_by_itself(bench: Bench) -> None:
    probe = probes("thread-hierarchy")["shared_count"]
    parameters = {"grid": 10, "block": 64, "step": 3, "index": 9}
    posed = compute(probe, parameters, random.Random(0))
    body = posed.text.split("```")[1]
    source = f'extern "C" __global__ void run(int* out) {{{body}}}'
    out = bench.clean(source, "run", parameters["grid"], parameters["block"], np.zeros(10, np.int32))
    assert out[parameters["index"]] == posed.value


def test_one_line_takes_32_sectors_a_warp(bench: Bench) -> None:
    probe = line_probe("coalescing", "strided_line")
    source = kernel(
        probe,
        "const float* in, const float* weight, const float* bias, float* out, int width, int height",
    )
    side = 64
    square, row = np.ones((side, side), np.float32), np.ones(side, np.float32)
    ran = bench.cuda(source, "run", (2, 8), (32, 8), square, row, row, square, np.int32(side), np.int32(side))
    requests = {"ld": "requests_pipe_lsu_mem_global_op_ld", "st": "requests_pipe_lsu_mem_global_op_st"}
    sectors = {
        line - OPENED: counters[f"l1tex__t_{name.replace('requests', 'sectors')}.sum"]
        / counters[f"l1tex__t_{name}.sum"]
        for line, counters in by_line(ran.record.lines).items()
        for name in requests.values()
        if counters.get(f"l1tex__t_{name}.sum")
    }
    assert {line for line, each in sectors.items() if each == 32} == set(probe.marked)
    assert all(each <= 4 for line, each in sectors.items() if line not in probe.marked)


@pytest.mark.parametrize("use", probes("memory-hierarchy")["array_home"].draw["use"])
def test_an_array_lives_where_the_probe_says(use: str) -> None:
    posed = compute(probes("memory-hierarchy")["array_home"], {"use": use}, random.Random(0))
    home = posed.options["abcd".index(posed.answer)]
    source = f"""
extern "C" __global__ void run(const float* in, const int* key, float* out, int n)
{{
    float a[8], sum = 0;
    #pragma unroll
    for (int i = 0; i < 8; ++i) a[i] = in[i * 32 + threadIdx.x] * n;
    {USES[use]}
    out[threadIdx.x] = sum;
}}
"""
    assert (".local" in compilation.build(source).ptx) == (home == "in local memory")

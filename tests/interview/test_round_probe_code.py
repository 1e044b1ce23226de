"""What probes of coding rounds say of code is what the compiler and the emulator make of it."""

import random
import struct

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.machine.machine import Machine
from grader.emulator.nvrtc import compilation
from grader.interview import rounds
from grader.interview.probes.kinds import LineProbe, Probe
from grader.interview.probes.posing import compute
from grader.lab.machine_code import INSTRUCTION, OPERATIONS, _sections
from grader.workbook import topics

OPENED = 1  # lines of a kernel above a probe's first line
NUMBERS = "const float* in, float* out, int N"


@pytest.fixture
def bench() -> Bench:
    return Bench(Machine(threads=1))


def probe(topic: str, name: str) -> Probe:
    return next(item for item in rounds.read_interview(topics.load(topic)).probes if item.name == name)


def line_probe(topic: str, name: str) -> LineProbe:
    found = probe(topic, name)
    assert isinstance(found, LineProbe)
    return found


def kernel(code: str, parameters: str, before: str = "", outside: str = "", after: str = "") -> str:
    """A kernel of a probe's code: `outside` and `before` stand on the line of the brace."""
    return f'{outside} extern "C" __global__ void run({parameters}) {{ {before}\n{code}\n{after} }}\n'


def without(found: LineProbe, number: int) -> str:
    """The code of a probe with an empty line in place of one of its own."""
    return "\n".join("" if line == number else text for line, text in enumerate(found.code, 1))


def test_a_sum_without_a_barrier_reads_too_early_in_the_marked_line(bench: Bench) -> None:
    found = line_probe("block_sum", "read_too_early")
    place = "const int i = blockIdx.x * 256 + threadIdx.x;"
    source = kernel("\n".join(found.code), NUMBERS, place)
    arguments = (np.ones(500, np.float32), np.zeros(1, np.float32), np.int32(500))
    ran = bench.cuda(source, "run", 2, 256, *arguments)
    lines = {finding.line - OPENED for finding in ran.record.findings if finding.kind != "race"}
    assert lines == set(found.marked)
    mended = source.replace("if (threadIdx.x == 0) {", "__syncthreads(); if (threadIdx.x == 0) {")
    ran = bench.cuda(mended, "run", 2, 256, *arguments)
    assert not ran.findings
    assert ran.arrays[1] == 500


def test_a_lane_that_has_left_is_missed_by_a_shuffle(bench: Bench) -> None:
    found = line_probe("reduce", "who_is_missing")
    before = "const int i = threadIdx.x; float* sums = out;"
    arguments = (np.ones(40, np.float32), np.zeros(2, np.float32), np.int32(40))
    ran = bench.cuda(kernel("\n".join(found.code), NUMBERS, before), "run", 1, 64, *arguments)
    assert ran.findings == ["undefined_shuffle"]
    (line,) = found.marked
    mended = without(found, line).replace("sum = in[i];", "if (i < N) sum = in[i];")
    ran = bench.cuda(kernel(mended, NUMBERS, before), "run", 1, 64, *arguments)
    assert not ran.findings
    assert ran.arrays[1].tolist() == [32, 8]


def test_threads_beyond_the_end_are_needed_to_fill_a_tile(bench: Bench) -> None:
    found = line_probe("stencil", "who_may_leave")
    tile = "__shared__ float tile[272];"
    element = (
        "__device__ float element(const float* in, int i, int N) { return i < 0 || i >= N ? 0 : in[i]; }"
    )
    arguments = (np.ones(300, np.float32), np.zeros(300, np.float32), np.int32(300))
    ran = bench.cuda(kernel("\n".join(found.code), NUMBERS, tile, element), "run", 2, 256, *arguments)
    assert ran.findings == ["uninitialised_shared"]
    (line,) = found.marked
    ran = bench.cuda(kernel(without(found, line), NUMBERS, tile, element), "run", 2, 256, *arguments)
    assert not ran.findings
    assert ran.arrays[1].tolist() == [min(i + 8, 299) - max(i - 8, 0) + 1 for i in range(300)]


def test_a_loop_that_stays_one_keeps_its_array_in_local_memory() -> None:
    found = line_probe("reduce2d", "to_local_memory")
    outside = "__device__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }"
    before = "float4 pack[8]; for (int k = 0; k < 8; ++k) pack[k] = in[k * 32 + threadIdx.x];"

    def local_bytes(code: str) -> int:
        after = "out[threadIdx.x] = number[0];"
        source = kernel(code, "const float4* in, float* out", before, outside, after)
        return compilation.build(source).resources["run"].local_bytes

    assert local_bytes("\n".join(found.code)) == 32
    assert local_bytes("\n".join(found.code).replace("#pragma unroll 1", "#pragma unroll")) == 0


def loads_before_a_store(source: str) -> int:
    """Loads from global memory above the first store to it, in the machine code of the only kernel."""
    ((_, code),) = _sections(compilation.build(source).cubin)
    numbers = [struct.unpack_from("<H", code, at)[0] & 0x1FF for at in range(0, len(code), INSTRUCTION)]
    operations = [OPERATIONS.get(number) for number in numbers]
    return operations[: operations.index("STG")].count("LDG")


@pytest.mark.parametrize("are", ["are", "are not"])
@pytest.mark.parametrize("unroll", [2, 4, 8])
def test_loads_come_before_the_first_store_where_pointers_are_restricted(unroll: int, are: str) -> None:
    word = "__restrict__" if are == "are" else ""
    source = kernel(
        f"const int i = blockIdx.x * {256 * unroll} + threadIdx.x;\n#pragma unroll\n"
        f"for (int k = 0; k < {unroll}; ++k) c[i + 256 * k] = a[i + 256 * k] + b[i + 256 * k];",
        f"const float* {word} a, const float* {word} b, float* {word} c",
    )
    given = probe("vector_add", "loads_before_store")
    posed = compute(given, {"unroll": unroll, "are": are}, random.Random(0))
    assert loads_before_a_store(source) == posed.value


def test_loads_of_rows_wait_behind_stores_unless_pointers_are_restricted() -> None:
    found = line_probe("add_bias", "loads_behind_stores")
    source = "\n".join(found.code)
    bias, rows = 1, 8
    assert loads_before_a_store(source) == bias + 1
    assert found.marked == (1,)
    assert loads_before_a_store(source.replace("*", "* __restrict__", 3)) == bias + rows


def test_a_sum_overwrites_a_maximum_that_others_have_not_read(bench: Bench) -> None:
    found = line_probe("softmax", "overwritten_too_early")
    before = "__shared__ float values[256]; const int thread = threadIdx.x; float maximum = in[thread];"
    arguments = (np.ones(300, np.float32), np.zeros(256, np.float32), np.int32(300))
    code, after = "\n".join(found.code).replace("x[column]", "in[column]"), "out[thread] = values[thread];"
    ran = bench.cuda(kernel(code, NUMBERS, before, after=after), "run", 1, 256, *arguments)
    assert {finding.kind for finding in ran.record.findings} == {"race"}
    read = "maximum = values[0];"
    lines = {finding.line - OPENED for finding in ran.record.findings}
    assert lines == {*found.marked, 1 + found.code.index(read)}
    mended = code.replace(read, f"{read} __syncthreads();")
    ran = bench.cuda(kernel(mended, NUMBERS, before, after=after), "run", 1, 256, *arguments)
    assert not ran.findings


def test_squares_of_the_distance_from_the_old_mean_are_too_large(bench: Bench) -> None:
    found = line_probe("layernorm", "wrong_update")
    numbers = np.array([1, 2, 4, 9, 9], np.float32)
    arguments = (numbers, np.zeros(1, np.float32), np.int32(numbers.size))
    before, after = "const float* const x = in;", "out[0] = variance;"
    code = "\n".join(found.code)
    ran = bench.cuda(kernel(code, NUMBERS, before, after=after), "run", 1, 1, *arguments)
    assert ran.arrays[1][0] > 1.2 * numbers.var()
    (line,) = found.marked
    assert found.code[line - 1].strip() == "squares += d * d;"
    mended = code.replace("squares += d * d;", "squares += d * (x[i] - mean);")
    ran = bench.cuda(kernel(mended, NUMBERS, before, after=after), "run", 1, 1, *arguments)
    assert ran.arrays[1][0] == pytest.approx(numbers.var(), rel=1e-6)


def test_sums_of_a_row_overwrite_those_that_other_warps_have_not_read(bench: Bench) -> None:
    found = line_probe("layernorm_backward", "overwritten_sums")
    sums = (
        "__device__ float warp_sum(float value) { for (int d = 16; d > 0; d /= 2) {"
        " value += __shfl_xor_sync(0xffffffff, value, d); } return value; }"
    )
    before, code = "const float* const x = in; const int M = N;", "\n".join(found.code)
    arguments = (np.ones(6 * 256, np.float32), np.zeros(6, np.float32), np.int32(6))
    ran = bench.cuda(kernel(code, NUMBERS, before, sums), "run", 2, 256, *arguments)
    assert {finding.kind for finding in ran.record.findings} == {"race"}
    read = "        sum += values[warp];"
    lines = {finding.line - OPENED for finding in ran.record.findings}
    assert set(found.marked) <= lines <= {*found.marked, 1 + found.code.index(read)}
    turns = code.replace("values[8]", "values[2][8]").replace("values[w", "values[row / gridDim.x % 2][w")
    turns = turns.replace("values[threadIdx", "values[row / gridDim.x % 2][threadIdx")
    for mended in (code[: code.rindex("}")] + "__syncthreads(); }", turns):
        ran = bench.cuda(kernel(mended, NUMBERS, before, sums), "run", 2, 256, *arguments)
        assert not ran.findings
        assert (ran.arrays[1] == 256).all()

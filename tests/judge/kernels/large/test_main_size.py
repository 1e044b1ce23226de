"""A few blocks at sizes too large to emulate whole: which are run, and what they prove.

Wrong kernels that only such sizes show are among tests/submissions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as replace_struct
from records import record
from tiers import sample

from grader.emulator.machine.records import Touched
from grader.emulator.runtime.layout import GLOBAL_BASE
from grader.findings.bounds import GUARD
from grader.judge.child import process
from grader.judge.child.protocol import Launch, Record
from grader.judge.correctness.findings import ArrayType
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.fresh import drawn
from grader.judge.kernels.large import main_size
from grader.judge.kernels.large.coverage import uncovered
from grader.judge.refused import Lost, Refused
from grader.judge.runners.pool import DevicePool
from grader.results import FindingResult
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

SUBMISSIONS = Path(__file__).parents[3] / "submissions"
NEVER = Event()
"""It is never left."""

TOPICS = [name for name, topic in topics.discover().items() if isinstance(topic, KernelTopic)]


def kernel_topic(name: str) -> KernelTopic:
    found = topics.load(name)
    assert isinstance(found, KernelTopic)
    return found


@pytest.fixture(scope="module")
def pool() -> Iterator[DevicePool]:
    with DevicePool("emulator", jobs=1, threads=1) as found:
        yield found


@pytest.mark.parametrize("name", TOPICS)
def test_elements_are_those_of_the_reference(name: str) -> None:
    topic = kernel_topic(name)
    assert topic.sampled is not None
    for problem in topic.judge_cases[:12:3]:
        inputs = topic.reference.make_inputs(problem, np.random.default_rng(3), "exact")
        flat = {key: array.reshape(-1).astype(np.float64) for key, array in inputs.items()}
        shapes = topic.sampled.shapes(problem)
        assert {key: array.shape for key, array in inputs.items()}.items() <= shapes.items()
        magnitudes = topic.reference.magnitude(inputs, problem)
        for output, expected in topic.reference.reference(inputs, problem).items():
            assert shapes[output] == expected.shape
            places = np.arange(expected.size)
            found, magnitude = topic.sampled.elements(
                lambda key, at, flat=flat: flat[key][at], problem, output, places
            )
            np.testing.assert_allclose(found, expected.reshape(-1))
            np.testing.assert_allclose(magnitude, magnitudes[output].reshape(-1))


def test_the_ends_of_a_grid_are_run_and_no_block_twice() -> None:
    chosen = main_size.blocks_to_run((300, 200, 1), 16, random.Random(1))
    assert len(chosen) == len(set(chosen)) == 16
    assert {0, 300 * 200 - 1} <= set(chosen[:3])
    assert {0, 299, 300 * 199, 300 * 200 - 1} <= set(chosen)
    assert sorted(main_size.blocks_to_run((3, 2, 2), 16, random.Random(1))) == list(range(12))


def test_a_pattern_repeats_at_no_power_of_two() -> None:
    for array in drawn(kernel_topic("gemm"), np.random.default_rng(1), "exact", 509 * 4096).values():
        assert array.nbytes == 509 * 4096


def wrote(blocks: int, run: int, most: int, together: int) -> Record:
    """A launch of which some blocks were run: bytes of `out` that one of them wrote at most, and all of them."""
    touched = Touched(0, 0, together, 0, most, 0, (0,), "out")
    return record(grid=(blocks, 1, 1), blocks_run=run, grid_blocks=blocks, touched=(touched,))


LAUNCH = Launch("k", (1, 1, 1), (32, 1, 1), 0, ())


@pytest.mark.parametrize(
    ("found", "nbytes", "covers"),
    [
        (wrote(100, 10, 40, 400), 4000, True),
        (wrote(100, 10, 40, 400), 4004, False),  # a grid that is one element short
        (wrote(100, 10, 40, 396), 4000, False),  # a block that leaves one out, where no other can do it
        (wrote(100, 2, 40, 80), 9000, True),  # two blocks prove nothing: each may have the rest of a tile
        (wrote(100, 3, 40, 120), 7880, True),  # three prove little: others may have one tile more
        (wrote(100, 3, 40, 120), 7884, False),
        (
            wrote(200, 60, 40, 1200),
            4000,
            True,
        ),  # a grid twice as large as need be: half of the blocks are idle
        (wrote(101, 60, 40, 1200), 4000, False),  # half are, where none should be
    ],
)
def test_what_blocks_write_has_to_cover_an_output(found: Record, nbytes: int, covers: bool) -> None:
    assert (uncovered([LAUNCH], [found], {}, {"out": nbytes}) is None) == covers


@pytest.mark.parametrize(("cluster", "covers"), [((16, 1, 1), True), ((1, 1, 1), False)])
def test_blocks_that_fill_up_the_last_cluster_may_be_idle(
    cluster: tuple[int, int, int], covers: bool
) -> None:
    """Of 13 clusters that are run, the last has 14 blocks without a tile, as a grid that is rounded up has."""
    found = wrote(65_552, 208, 40, 194 * 40)
    launch = Launch("k", (1, 1, 1), (32, 1, 1), 0, (), cluster=cluster)
    assert (uncovered([launch], [found], {}, {"out": 65_538 * 40}) is None) == covers


@pytest.mark.parametrize(("run", "covers"), [(3, True), (16, True), (60, False)])
def test_a_few_blocks_that_do_other_work_prove_nothing(run: int, covers: bool) -> None:
    """Half of them add to `rows`, and but one to `cols`: the last, which may have less to do than others."""
    rows = Touched(0, 0, 40 * (run - 1), 0, 40, 0, (0,), "rows", written_elsewhere=1)
    cols = Touched(4096, 0, 4, 0, 4, 0, (0,), "cols", written_elsewhere=run - 1)
    found = record(grid=(100, 1, 1), blocks_run=run, grid_blocks=100, touched=(rows, cols))
    assert (uncovered([LAUNCH], [found], {}, {"cols": 2000}) is None) == covers


@pytest.mark.parametrize(("run", "covers"), [(100, False), (60, True)])
def test_what_other_blocks_have_written_may_say_what_there_is_to_do(run: int, covers: bool) -> None:
    """Half of the blocks that store to `out` are idle. They read what a launch before has written, whole or not."""
    plan = Touched(4096, 0, 4 * run, 0, 4, 0, (0,), "plan")
    planning = record(grid=(100, 1, 1), blocks_run=run, grid_blocks=100, touched=(plan,))
    read = Touched(4096, 4 * run, 0, 4, 0, 4 * run, (), "plan")
    working = wrote(1301, 600, 40, 12_000)
    working = replace_struct(working, touched=(*working.touched, read))
    assert (uncovered([LAUNCH, LAUNCH], [planning, working], {}, {"out": 40_000}) is None) == covers


HEAD = """// /// launch
// [[scratch]]
// name = "tickets"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "transpose"
// grid = [{grid}]
// block = [64]
// args = ["in", "out", "tickets", "M", "N"]
// zero = ["tickets"]
// ///
extern "C" __global__ void transpose(const float* in, float* out, unsigned* tickets, int M, int N)
{{
"""

RIGHT = {
    "persistent blocks": (
        "528",
        "    for (size_t row = blockIdx.x; row < N; row += gridDim.x)\n"
        "        for (size_t i = threadIdx.x; i < M; i += 64) out[row * M + i] = in[i * N + row];\n",
    ),
    "a grid that is far too large": (
        '"3 * N"',
        "    for (size_t i = threadIdx.x; blockIdx.x < N && i < M; i += 64)\n"
        "        out[size_t(blockIdx.x) * M + i] = in[i * N + blockIdx.x];\n",
    ),
    "tickets": (
        "528",
        "    __shared__ unsigned row;\n"
        "    while (true) {\n"
        "        __syncthreads();\n"
        "        if (threadIdx.x == 0) row = atomicAdd(tickets, 1);\n"
        "        __syncthreads();\n"
        "        if (row >= N) return;\n"
        "        for (size_t i = threadIdx.x; i < M; i += 64) out[size_t(row) * M + i] = in[i * N + row];\n"
        "    }\n",
    ),
}


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_of_other_shapes_are_not_refused(name: str, pool: DevicePool, tmp_path: Path) -> None:
    grid, body = RIGHT[name]
    file = tmp_path / "kernel.cu"
    file.write_text(HEAD.format(grid=grid) + body + "}\n", encoding="utf-8")
    topic = kernel_topic("transpose")
    of_two_sizes = replace(topic, sampled_cases=topic.sampled_cases[-1:])
    made = prepare(topic.parse(file), pool.arch)
    assert main_size.look(made, of_two_sizes, pool, 5, NEVER).beyond is None


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("seed", [0, 6, 11, 21])
def test_a_kernel_whose_blocks_have_two_tasks_is_not_refused(seed: int, pool: DevicePool) -> None:
    """With these seeds three blocks are run: two that add rows, and the last one, which has four columns."""
    topic = kernel_topic("reduce2d")
    topic = replace(topic, sampled_cases=topic.sampled_cases[-1:])
    file = topic.parse(SUBMISSIONS / "reduce2d" / "right" / "doubles_all_the_way.cu")
    made = prepare(file, pool.arch)
    assert main_size.look(made, topic, pool, seed, NEVER).beyond is None


@pytest.mark.parametrize("name", sample(TOPICS, ["gemm"], "judge"))
def test_first_rungs_are_right_at_large_sizes(name: str, pool: DevicePool) -> None:
    topic = kernel_topic(name)
    assert main_size.look(prepare(topic.rungs[0].file, pool.arch), topic, pool, 5, NEVER).beyond is None


def test_once_it_is_left_no_further_size_is_looked_at(
    pool: DevicePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, left = kernel_topic("transpose"), Event()
    looked_at: list[object] = []

    def records(*given: object) -> tuple[()]:
        looked_at.append(given[3])
        left.set()
        return ()

    monkeypatch.setattr(main_size, "_records", records)
    main_size.look(prepare(topic.rungs[0].file, pool.arch), topic, pool, 5, left)
    assert looked_at == [topic.sizes_main]


def test_what_is_wrong_is_said_with_the_sizes(pool: DevicePool) -> None:
    topic = kernel_topic("transpose")
    file = topic.parse(SUBMISSIONS / "transpose" / "nothing_beyond_1040.cu")
    with pytest.raises(Refused, match="at the topic's main size, M = 16384, N = 16384"):
        main_size.look(prepare(file, pool.arch), topic, pool, 5, NEVER)


IN_INTS = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["{}"]
// block = [256]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{{
    {}
        out[i] = in[i] + bias[i % N];
}}
"""


@pytest.mark.parametrize(
    ("grid", "takes"),
    [
        ("SMS * 8", "for (int i = blockIdx.x * 256 + threadIdx.x; i < M * N; i += 256 * gridDim.x)"),
        ("cdiv(M * N, 256)", "if (int i = blockIdx.x * 256 + threadIdx.x; i < M * N)"),
    ],
)
def test_a_product_in_int_is_told_by_its_line(
    grid: str, takes: str, pool: DevicePool, tmp_path: Path
) -> None:
    topic = kernel_topic("add_bias")
    (tmp_path / "mine.cu").write_text(IN_INTS.format(grid, takes), "utf-8")
    beyond = main_size.look(
        prepare(topic.parse(tmp_path / "mine.cu"), pool.arch), topic, pool, 5, NEVER
    ).beyond
    assert beyond is not None
    assert "Line 9: `M * N` is formed in int. Write `size_t(M) * N`" in beyond


def look_at(name: str, file: str, pool: DevicePool) -> main_size.Look:
    """How a kernel of the corpus is looked at where there are 2,000,000,003 elements."""
    topic, problem = kernel_topic(name), {"N": 2_000_000_003}
    assert topic.sampled is not None
    kernel = prepare(topic.parse(SUBMISSIONS / name / file), pool.arch)
    known = main_size.patterns(topic, np.random.default_rng(5))
    with pool.emulator() as runner:
        planned = kernel.plan(problem, runner.hello().limits)
    return main_size.Look(kernel, topic, topic.sampled, problem, planned, known)


@pytest.mark.parametrize(
    ("array", "element"),
    [
        pytest.param(None, None, id="where nothing is"),
        pytest.param("c", -93_696, id="just below an array that is not meant"),
    ],
)
def test_an_int_that_goes_on_too_far_is_told_wherever_it_leads(
    array: str | None, element: int | None, pool: DevicePool
) -> None:
    look = look_at("vector_add", "int_goes_on_by_the_grid.cu", pool)
    finding = FindingResult("out_of_bounds", 15, "", remedy=GUARD, array=array, element=element)
    remedy = look.with_ranges(finding).remedy
    assert remedy is not None
    assert "Line 12: `index` is an int" in remedy


def test_of_an_index_that_is_read_from_memory_the_inner_one_has_passed_an_int(pool: DevicePool) -> None:
    look = look_at("histogram", "a_thread_for_each_of_four.cu", pool)
    remedy = look.with_ranges(FindingResult("out_of_bounds", 17, "", address=GLOBAL_BASE - 4096)).remedy
    assert remedy is not None
    assert remedy.startswith("The index, `j`, has passed")


OF_32 = """\
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    const int first = (blockIdx.x * 256 + threadIdx.x) * 32;
    for (int i = first; i < first + 32; ++i)
        if (i < N)
            c[i] = a[i] + b[i];
}
"""


def test_an_index_that_has_become_negative_is_no_guards_fault(pool: DevicePool, tmp_path: Path) -> None:
    topic = kernel_topic("vector_add")
    (tmp_path / "mine.cu").write_text(OF_32, "utf-8")
    with pytest.raises(Refused, match="The index, `i`, has passed 2,147,483,647") as refused:
        main_size.look(prepare(topic.parse(tmp_path / "mine.cu"), pool.arch), topic, pool, 5, NEVER)
    assert "does it compare" not in refused.value.reason


@pytest.mark.parametrize(
    ("found", "expected", "right"),
    [
        ([5.0, 3.0], [5.0, 3.0], True),
        ([0.0, 3.0], [5.0, 3.0], True),  # the second half of the word alone was written
        ([0.0, 0.0], [5.0, 0.0], True),  # so it was, and is zero by right
        ([0.0, 0.0], [5.0, 3.0], False),
        ([5.0, 4.0], [5.0, 3.0], False),
    ],
)
def test_a_word_of_two_halves_may_be_written_half(
    found: list[float], expected: list[float], right: bool
) -> None:
    topic = kernel_topic("layernorm_backward")
    look: Any = SimpleNamespace(
        topic=topic,
        problem={"M": 3, "N": 7},
        arrays={"dx": ArrayType(np.dtype(np.float16), (3, 7))},
        sampled=SimpleNamespace(elements=lambda *_: (np.array(expected), np.full(2, 0.01))),
        patterns=SimpleNamespace(read=None),
        _elements=lambda *_: np.array(found, np.float16),
    )
    if right:
        main_size.Look._compare(look, look, "dx", [0])
    else:
        with pytest.raises(Refused, match=r"`dx`\[0, "):
            main_size.Look._compare(look, look, "dx", [0])


@pytest.mark.parametrize(
    ("refused", "said"), [(Refused("fail", "Wrong."), "Wrong."), (Lost("error", "Gone."), None)]
)
def test_beyond_an_int_what_is_wrong_is_told_and_a_process_that_ended_is_not(
    refused: Refused, said: str | None, pool: DevicePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge's process that was killed says nothing of the kernel."""
    topic = kernel_topic("transpose")

    def run(self: main_size.Look, *_: object) -> list[Record]:
        if self.problem == topic.sizes_main or min(self.problem.values()) < 2**10:
            return []
        raise refused

    monkeypatch.setattr(main_size.Look, "run", run)
    kernel = prepare(topic.rungs[0].file, pool.arch)
    if said is None:
        with pytest.raises(Lost):
            main_size.look(kernel, topic, pool, 5, NEVER)
    else:
        beyond = main_size.look(kernel, topic, pool, 5, NEVER).beyond
        assert beyond is not None
        assert said in beyond


def test_what_this_machine_has_no_room_for_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that store far apart: each element takes a page."""
    monkeypatch.setattr(process, "_most_memory", lambda: 400 << 20)
    topic = kernel_topic("transpose")
    beyond_an_int = [case for case in topic.sampled_cases if case == {"M": 65540, "N": 65544}]
    file = topic.parse(SUBMISSIONS / "transpose" / "right" / "grid_stride_of_odd_blocks.cu")
    with DevicePool("emulator", jobs=1, threads=1) as pool:
        with pool.emulator() as runner:
            before = runner.generation
        alone = replace(topic, sampled_cases=tuple(beyond_an_int))
        assert main_size.look(prepare(file, pool.arch), alone, pool, 5, NEVER).beyond is None
        assert runner.generation > before

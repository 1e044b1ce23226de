"""One sum of more numbers than can be added again: what some blocks of a kernel add is known by counting ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from tiers import sample

from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.large import main_size
from grader.judge.kernels.large.one_sum import is_one
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

SUBMISSIONS = Path(__file__).parents[3] / "submissions" / "reduce"


@pytest.fixture(scope="module")
def topic() -> KernelTopic:
    found = topics.load("reduce")
    assert isinstance(found, KernelTopic)
    return replace(found, sampled_cases=())


@pytest.fixture(scope="module")
def pool() -> Iterator[DevicePool]:
    with DevicePool("emulator", jobs=1, threads=1) as found:
        yield found


def look(file: Path, topic: KernelTopic, pool: DevicePool) -> None:
    main_size.look(prepare(topic.parse(file), pool.arch), topic, pool, 5, Event())


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("block_sum", True),
        ("histogram", False),
        ("reduce", True),
        ("reduce2d", False),
        ("transpose", False),
        ("gemm", False),
    ],
)
def test_only_one_sum_of_numbers_as_they_are_is_counted(name: str, one: bool) -> None:
    found = topics.load(name)
    assert isinstance(found, KernelTopic)
    assert is_one(found, found.sizes_main) == one


@pytest.mark.verify
@pytest.mark.parametrize(
    ("name", "sum_of_ones"),
    [
        ("numbers_beyond_2_24_count_twice", r"\d+"),  # the sum itself comes out
        ("last_block_adds_the_first_2_24", "16777216"),  # it does not, as the last block is not run
    ],
)
def test_a_wrong_share_of_the_numbers_shows(
    name: str, sum_of_ones: str, topic: KernelTopic, pool: DevicePool
) -> None:
    with pytest.raises(Refused, match=f"main size.* ones, `out` is {sum_of_ones}"):
        look(SUBMISSIONS / "wrong" / f"{name}.cu", topic, pool)


SHAPES = (
    "atomics_of_blocks",  # add to the output
    "binary_counter_of_sums",  # two launches
    "last_block_adds",  # the sums of blocks lie in a scratch array
    "doubles_added_atomically",  # where they are not float32
    "ticket_and_sum_in_one_word",  # or not to be found: all blocks are run
    "decoupled_look_back",
)


@pytest.mark.parametrize("name", sample(SHAPES, ["atomics_of_blocks", "last_block_adds"], "judge"))
def test_sums_of_other_shapes_are_right(name: str, topic: KernelTopic, pool: DevicePool) -> None:
    look(SUBMISSIONS / "right" / f"{name}.cu", topic, pool)


READS_TWICE = """// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 1024)"]
// block = [256]
// zero = ["out"]
// ///
extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        const size_t i = (size_t(blockIdx.x) * 4 + k) * 256 + threadIdx.x;
        const float next = in[min(i + 1024, size_t(N) - 1)];  // the block's behind it
        if (i < N) sum += in[i] + 0.0f * next;
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
"""


@pytest.mark.soak(area="judge")
def test_a_kernel_may_read_more_than_it_adds(topic: KernelTopic, pool: DevicePool, tmp_path: Path) -> None:
    file = tmp_path / "reads_twice.cu"
    file.write_text(READS_TWICE, encoding="utf-8")
    look(file, topic, pool)

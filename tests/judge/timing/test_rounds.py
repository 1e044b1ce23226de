"""The rounds of a measurement, run on the emulator.

Its times mean nothing here, but who takes part, on which data, and what is checked is the same as on a GPU.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from grader.analysis.devices import board
from grader.errors import WarpladderError
from grader.judge.claims.pace import Times
from grader.judge.kernels import track as tracks
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.large import kept_right
from grader.judge.kernels.track import KernelCandidate, KernelTrack, Values
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.judge.timing import rounds
from grader.judge.timing.bounds import bound, too_fast
from grader.judge.timing.nvml import Watch
from grader.judge.timing.rounds import WARM_UP, Candidate, measure
from grader.workbook import topics

ROUNDS = 6
PROBLEM = {"M": 40, "N": 72}
TOPIC = topics.load("transpose")


class GuardedRunner(Runner):
    """An emulator that lays guard zones as a GPU's runner does."""

    guard = 4096


REACHES = "out[size_t(M) * N] = 1.0f; out["
"""What a store behind the end of the output comes in front of."""


@pytest.fixture
def runner() -> Iterator[Runner]:
    found = GuardedRunner("emulator", threads=1)
    yield found
    found.close()


@pytest.fixture
def track(runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelTrack:
    monkeypatch.setattr(kept_right, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(rounds, "ROUNDS", ROUNDS)
    monkeypatch.setattr(rounds, "FEWEST_ROUNDS", 2)
    monkeypatch.setattr(tracks, "FLUSH_BYTES", 4096)
    runner.hello().limits["l2_cache_size"] = 1024
    return KernelTrack(runner, Values.of(TOPIC, PROBLEM))


def kernel(rung: str, old: str = "", new: str = "") -> Kernel:
    found = TOPIC.rung(rung)
    assert old in found.source
    return prepare(dataclasses.replace(found.file, source=found.source.replace(old, new)), "sm_90a")


def candidate(track: KernelTrack, made: Kernel) -> KernelCandidate:
    return track.rung("some", made)


def test_what_this_machine_has_no_memory_for_is_said_before_anything_is_made() -> None:
    with pytest.raises(WarpladderError, match="needs some 32,768 GiB of memory"):
        Values.of(TOPIC, {"M": 1 << 20, "N": 1 << 20})


def test_rungs_and_the_copy_are_timed_in_every_round(track: KernelTrack) -> None:
    everyone = [
        candidate(track, kernel("00_naive")),
        candidate(track, kernel("03_padded_tile")),
        track.ceiling(),
    ]
    measure(track, everyone, Watch(None), random.Random(1))
    for item in everyone:
        assert item.refusal is None
        assert len(item.samples) == ROUNDS + 1  # one more pass is the one that is checked
        assert all(seconds > 0 for seconds in item.samples)


def test_what_is_right_is_right_when_it_is_timed_again(track: KernelTrack) -> None:
    """As beside the lower rungs, where it does not keep the limit of the highest."""
    for _ in range(2):
        item = candidate(track, kernel("00_naive"))
        measure(track, [item], Watch(None), random.Random(1))
        assert item.refusal is None, item.refusal.reason


def test_what_was_warmed_up_before_is_not_warmed_up_again(
    track: KernelTrack, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = candidate(track, kernel("00_naive"))
    rounds.warm_up(track, item)
    assert (item.refusal, item.samples) == (None, [])
    numbers: list[int] = []
    run = track.run
    monkeypatch.setattr(track, "run", lambda one, number: numbers.append(number) or run(one, number))
    measure(track, [item], Watch(None), random.Random(1))
    assert rounds.WARM_UP not in numbers
    assert len(item.samples) == len(numbers) == ROUNDS + 1


@pytest.mark.verify
def test_a_problem_that_only_reads_is_held_against_a_read(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "ROUNDS", 2)
    monkeypatch.setattr(rounds, "FEWEST_ROUNDS", 2)
    monkeypatch.setattr(tracks, "FLUSH_BYTES", 4096)
    topic, problem = topics.load("reduce"), {"N": 5003}
    track = KernelTrack(runner, Values.of(topic, problem))
    ceiling = track.ceiling()
    assert ceiling.name == "device read"
    measure(track, [ceiling], Watch(None), random.Random(1))
    assert ceiling.refusal is None
    floor = bound(topic, problem, H200, moved_s=1.0)
    assert floor is not None
    assert (floor.by, floor.source) == ("read", "measured")


def test_a_library_that_is_not_there_drops_out(track: KernelTrack) -> None:
    library = track.library("cupy.transpose")
    measure(track, [library], Watch(None), random.Random(1))
    assert library.refusal is not None
    assert library.samples == []


def test_a_wrong_result_is_found_in_the_warm_up(track: KernelTrack) -> None:
    item = candidate(track, kernel("00_naive", "row < M", "row < M - 1"))
    measure(track, [item], Watch(None), random.Random(1))
    assert item.refusal is not None
    assert "never written" in item.refusal.reason


def test_a_result_that_goes_wrong_later_is_found_too(
    track: KernelTrack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that does its work in the first launches only, so that the warm-up finds nothing."""
    monkeypatch.setattr(tracks, "VERIFIED", 0.0)  # nor does any round but the secret one
    source = TOPIC.rungs[0].source
    for old, new in (
        ('extern "C" __global__ void', '__device__ int launches = 0;\nextern "C" __global__ void'),
        ("if (row < M", "if (launches < 4 && row < M"),
    ):
        assert old in source
        source = source.replace(old, new)
    count = "if (blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(&launches, 1);"
    source = f"{source.rstrip().removesuffix('}')}    {count}\n}}\n"
    item = candidate(track, prepare(dataclasses.replace(TOPIC.rungs[0].file, source=source), "sm_90a"))
    measure(track, [item], Watch(None), random.Random(1))
    assert item.refusal is not None
    assert "never written" in item.refusal.reason
    assert len(item.samples) > 2


def test_looks_that_take_long_are_rare(track: KernelTrack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracks, "VERIFIED", 1.0)
    monkeypatch.setattr(tracks, "LOOKING_SECONDS", 1e-7)
    item, looked_at = candidate(track, kernel("00_naive")), []
    for number in range(3):
        track.run(item, number)
        looked_at.append(track._round.verified)
    assert looked_at == [True, False, False]


def test_damage_around_an_output_is_found(track: KernelTrack) -> None:
    item = candidate(track, kernel("00_naive", "out[", REACHES))
    measure(track, [item], Watch(None), random.Random(1))
    assert item.refusal is not None
    assert "out of bounds" in item.refusal.reason


@pytest.mark.parametrize(
    ("old", "new", "copied_back"),
    [("", "", False), ("out[", REACHES, True), ("row < M", "row < M - 1", True)],
)
def test_what_was_right_is_not_copied_back_again(
    old: str, new: str, copied_back: bool, runner: Runner, track: KernelTrack, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = candidate(track, kernel("00_naive"))
    track.run(right, WARM_UP)
    track.check(right, WARM_UP)

    again = KernelTrack(runner, Values.of(TOPIC, PROBLEM))
    fetched = Mock(side_effect=again._fetched)
    monkeypatch.setattr(again, "_fetched", fetched)
    item = candidate(again, kernel("00_naive", old, new))
    again.run(item, WARM_UP)
    with pytest.raises(Refused) if copied_back else nullcontext():
        again.check(item, WARM_UP)
    assert fetched.called == copied_back
    assert item.error == (None if copied_back else right.error)


def test_slow_candidates_take_part_in_fewer_rounds_spread_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "ROUNDS", 30)
    slow = Candidate("slow", checked=False, rounds=5)
    assert [number for number in range(30) if slow.takes_part(number)] == [0, 6, 12, 18, 24]


H200 = board("NVIDIA H200", "sm_90a")


def test_measured_times_come_with_the_ends_of_their_intervals() -> None:
    samples = [float(place) for place in range(1, 31)]
    own, rung = Candidate("own", True, samples), Candidate("rung", True, [2 * item for item in samples])
    dropped = Candidate("dropped", True, samples, refusal=Refused("error", "no memory"))
    assert rounds.times(own, [rung, dropped]) == Times(15.5, {"rung": 31.0}, "measured", 10.0, {"rung": 42.0})
    assert rounds.times(None, [rung]) == Times(None, {"rung": 31.0}, "measured", None, {"rung": 42.0})


def test_the_bound_is_the_slower_of_arithmetic_and_memory() -> None:
    gemm = topics.load("gemm")
    cube = {"M": 4096, "N": 4096, "K": 4096}
    floor = bound(gemm, cube, H200)
    assert floor is not None
    assert floor.by == "arithmetic"
    assert floor.time_s == pytest.approx(2 * 4096**3 / 64.9e12, rel=0.01)
    thin = bound(gemm, {"M": 4096, "N": 4096, "K": 1}, H200)
    assert thin is not None
    reads, moves = topics.load("reduce"), topics.load("transpose")
    floors = [bound(reads, {"N": 2**28}, H200), bound(moves, {"M": 2**13, "N": 2**14}, H200)]
    rates = [floor.min_bytes / floor.time_s for floor in floors if floor is not None]
    assert rates == pytest.approx([H200.dram_read, H200.dram_copy], rel=1e-6)
    assert (thin.by, thin.source) == ("memory", "modelled")
    copied = bound(gemm, {"M": 4096, "N": 4096, "K": 1}, H200, moved_s=1.0)
    assert copied is not None
    assert (copied.by, copied.source, copied.time_s) == ("copy", "measured", 1.0)


def test_packed_integers_beside_halves_leave_the_bound_of_halves() -> None:
    packed, square = topics.load("gemv_int4"), {"N": 16384, "K": 16384}
    floor = bound(packed, square, H200)
    assert floor is not None
    assert floor.by == "memory"
    assert floor.time_s == pytest.approx(packed.reference.min_bytes(square) / H200.dram_read, rel=0.01)


def test_without_arithmetic_memory_alone_is_the_bound() -> None:
    histogram = topics.load("histogram")
    floor = bound(histogram, {"N": 2**28}, H200)
    assert floor is not None
    assert (floor.by, floor.min_flop) == ("memory", 0)
    assert floor.time_s == pytest.approx(2**28 / H200.dram_read, rel=1e-4)


def test_halves_are_bound_by_tensor_cores() -> None:
    floor = bound(topics.load("hgemm"), {"M": 4096, "N": 4096, "K": 4096}, H200)
    assert floor is not None
    assert floor.by == "arithmetic"
    assert floor.time_s == pytest.approx(2 * 4096**3 / 989.4e12, rel=0.01)


def test_a_time_below_what_the_hardware_can_do_is_refused() -> None:
    large, small = {"M": 16384, "N": 16384}, {"M": 1024, "N": 1024}
    nbytes = TOPIC.reference.min_bytes(large)
    assert too_fast(TOPIC, large, H200, nbytes / 4.5e12) is None
    refusal = too_fast(TOPIC, large, H200, nbytes / 5e12)
    assert refusal is not None
    assert "cannot" in refusal.reason
    assert too_fast(TOPIC, small, H200, 1e-9) is None, "what fits into L2 need not come from memory"


def test_a_candidate_that_ends_the_child_does_not_take_the_others_along(track: KernelTrack) -> None:
    item = candidate(track, kernel("03_padded_tile"))
    track.runner.restart()
    measure(track, [item, track.ceiling()], Watch(None), random.Random(1))
    assert item.refusal is None
    assert len(item.samples) == ROUNDS + 1


KEEPS_ITS_FIRST_ANSWER = """
__device__ int kept = 0;
__device__ float answer[4096];
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    for (int i = threadIdx.x; i < M * N; i += blockDim.x) {
        out[i] = kept ? answer[i] : in[i % M * N + i / M];
        answer[i] = out[i];
    }
    __syncthreads();
    kept = 1;
}
"""

LOOKS_WHETHER_INPUTS_ARE_THE_SAME = """
__device__ float seen[4096];
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const bool same = seen[1] == in[1];
    __syncthreads();
    for (int i = threadIdx.x; !same && i < M * N; i += blockDim.x) {
        out[i] = in[i % M * N + i / M];
    }
    seen[1] = in[1];
}
"""

LOOKS_FOR_THE_ADDRESS = """
__device__ const float* known = nullptr;
extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const bool first = known != in;
    __syncthreads();
    for (int i = threadIdx.x; first && i < M * N; i += blockDim.x) {
        out[i] = in[i % M * N + i / M];
    }
    known = in;
}
"""


@pytest.mark.parametrize(
    "source", [KEEPS_ITS_FIRST_ANSWER, LOOKS_WHETHER_INPUTS_ARE_THE_SAME, LOOKS_FOR_THE_ADDRESS]
)
def test_what_is_kept_from_earlier_passes_is_of_no_use(source: str, track: KernelTrack) -> None:
    head = TOPIC.rungs[0].source.partition("extern")[0]
    naive = TOPIC.rungs[0].file
    made = prepare(dataclasses.replace(naive, source=head + source), "sm_90a")
    item = candidate(track, made)
    measure(track, [item], Watch(None), random.Random(1))
    assert item.refusal is not None


def test_every_round_has_other_inputs_and_they_are_known(track: KernelTrack) -> None:
    item, seen = candidate(track, kernel("00_naive")), []
    for number in range(3):
        track.run(item, number)
        track.check(item, number)
        inputs = track._round.inputs
        seen.append(inputs.read("in", np.arange(40 * 72)))
        assert (inputs.array("in", 40 * 72) == seen[-1]).all()
    assert all((one != other).mean() > 0.5 for one, other in itertools.pairwise(seen))


@pytest.mark.verify
@pytest.mark.parametrize(
    ("topic", "problem"),
    [("hgemm", {"M": 33, "N": 41, "K": 27}), ("reduce", {"N": 2_100_001}), ("reduce2d", {"M": 70, "N": 33})],
)
def test_passes_of_other_topics_are_verified_too(
    topic: str, problem: dict[str, int], runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracks, "FLUSH_BYTES", 4096)
    monkeypatch.setattr(tracks, "VERIFIED", 1.0)
    monkeypatch.setattr(tracks, "VERIFIED_WHOLE", 1.0)
    loaded = topics.load(topic)
    track = KernelTrack(runner, Values.of(loaded, problem))
    item = track.rung("naive", prepare(loaded.rungs[0].file, "sm_90a"))
    track.run(item, rounds.WARM_UP)
    track.check(item, rounds.WARM_UP)
    track.run(item, 0)
    found = track.accuracy(item)
    assert (found is None) == (loaded.tolerance.yardstick is None)
    assert found is None or 0 < found.error == item.error


MAKES_ITS_INPUTS_FIT = """\
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = [1]
// ///
__device__ int launches = 0;
extern "C" __global__ void reduce(float* in, float* out, int N)
{
    float sum = 0.0f;
    for (int i = 0; i < N; i++) {
        if (launches >= 1) in[i] = 0.0f;
        sum += in[i];
    }
    *out = sum;
    launches++;
}
"""


def test_outputs_are_held_against_the_inputs_as_they_were(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tracks, "FLUSH_BYTES", 4096)
    monkeypatch.setattr(tracks, "PLACES", 0)  # all of the output is compared
    monkeypatch.setattr(tracks, "VERIFIED_WHOLE", 1.0)
    loaded = topics.load("reduce")
    track = KernelTrack(runner, Values.of(loaded, {"N": 5003}))
    file = tmp_path / "reduce.cu"
    file.write_text(MAKES_ITS_INPUTS_FIT)
    item = track.rung("some", prepare(loaded.parse(file), "sm_90a"))
    track.run(item, rounds.WARM_UP)
    track.check(item, rounds.WARM_UP)
    with pytest.raises(Refused, match="wrong in a timed pass"):
        track.run(item, 0)

"""Climbing on the emulator: the numbers that are known by hand, and the same numbers every time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import msgspec
import pytest

from grader.analysis.devices import named
from grader.emulator.devices import DEFAULT_ARCH
from grader.judge.child.protocol import Hello
from grader.judge.climb import climb
from grader.judge.kernels import track
from grader.judge.kernels.climb import KernelClimb
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.runners import pool
from grader.judge.runners.runner import Runner
from grader.judge.timing import rounds
from grader.results import Climb, RungResult, from_json, to_json
from grader.workbook import topics
from grader.workbook.ladder import Rung
from grader.workbook.source_file import SourceFile
from grader.workbook.topic import KernelTopic, Topic

LD, ST = "l1tex__t_{}_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_{}_pipe_lsu_mem_global_op_st.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"


@pytest.fixture(scope="module")
def transpose() -> Climb:
    return climb(topics.load("transpose"), "emulator", {"M": 1024, "N": 1024})


def rung(result: Climb, name: str) -> RungResult:
    (found,) = [item for item in result.rungs if item.id == name]
    return found


def test_every_rung_passes_and_holds_its_claims(transpose: Climb) -> None:
    for item in transpose.rungs:
        assert (item.verdict, item.reason) == ("pass", None)
        assert item.claims
        assert all(claim.held for claim in item.claims), item.id
        assert item.findings == []


def test_naive_transpose_counts_what_a_hand_counts(transpose: Climb) -> None:
    counters = rung(transpose, "00_naive").counters
    assert counters is not None
    assert counters[LD.format("sectors")] == 131_072
    assert counters[LD.format("requests")] == 32_768
    assert counters[ST.format("sectors")] == 1_048_576


def test_bank_conflicts_of_the_tiles(transpose: Climb) -> None:
    def conflicts(name: str) -> list[int]:
        counters = rung(transpose, name).counters
        assert counters is not None
        return sorted(counters[CONFLICTS.format(side)] for side in ("ld", "st"))

    assert conflicts("02_shared_tile") == [0, 1_015_808]
    assert conflicts("03_padded_tile") == [0, 0]


def test_times_are_labelled_as_modelled(transpose: Climb) -> None:
    for item in transpose.rungs:
        assert item.time_s is not None
        assert item.time_s > 0
        assert (item.time_source, item.samples_s, item.vs_library) == ("modelled", None, None)
        assert item.counter_source == "emulated"
    assert rung(transpose, "00_naive").vs_naive == 1.0
    assert transpose.baselines == []
    assert transpose.provenance.driver is None
    assert transpose.device.kind == "emulator"


def test_the_bound_of_a_transpose_is_memory(transpose: Climb) -> None:
    assert transpose.bound is not None
    assert (transpose.bound.by, transpose.bound.min_flop) == ("memory", 0)
    assert transpose.bound.min_bytes == 2 * 4 * 1024 * 1024


def test_chosen_sizes_are_those_of_times_and_counters(transpose: Climb) -> None:
    assert transpose.problem == {"M": 1024, "N": 1024}
    assert transpose.counted == {"M": 1024, "N": 1024}


def test_a_climb_survives_json(transpose: Climb) -> None:
    assert from_json(to_json(transpose), Climb) == transpose


def without_provenance(result: Climb) -> Climb:
    fixed = dataclasses.replace(result.provenance, date=None, git_commit=None)
    return dataclasses.replace(result, provenance=fixed)


@pytest.mark.soak(area="judge")
@pytest.mark.slow
def test_numbers_do_not_depend_on_how_many_work_at_a_time() -> None:
    topic = topics.load("gemm")
    topic = dataclasses.replace(topic, judge_cases=topic.judge_cases[5:7])
    sizes = {"M": 64, "N": 128, "K": 32}
    two = climb(topic, "emulator", sizes, jobs=2)
    one = climb(topic, "emulator", sizes, jobs=1)
    assert without_provenance(one) == without_provenance(two)


def test_a_rung_is_marked_that_launches_other_kernels_where_it_is_counted() -> None:
    """Few rows of layernorm are counted, and there a row of rung 05 goes to several blocks."""
    topic = topics.load("layernorm")
    assert isinstance(topic, KernelTopic)
    with pool.DevicePool("emulator", DEFAULT_ARCH, jobs=1) as emulator:
        ladder = KernelClimb(emulator, topic, topic.sizes_main, None, pool.silent)
        for rung, others in ((topic.rungs[0], False), (topic.rungs[5], True)):
            kernel = prepare(rung.file, DEFAULT_ARCH)
            item = KernelSubmission(name=rung.id, file=rung.file, kernel=kernel, counted=((),))
            assert ladder.launches_others(item, named("H200").sms) == others, rung.id


def test_progress_is_reported_for_every_rung() -> None:
    topic = topics.load("transpose")
    topic = dataclasses.replace(topic, judge_cases=topic.judge_cases[:1])
    seen: list[tuple[str, str]] = []
    climb(topic, "emulator", {"M": 32, "N": 32}, lambda rung, stage: seen.append((rung, stage)))
    for item in topic.rungs:
        stages = [stage for rung, stage in seen if rung == item.id]
        assert stages == ["compile", "judge", "count", "model", "done"]


def with_source(rung: Rung[SourceFile], source: str) -> Rung[SourceFile]:
    return dataclasses.replace(rung, file=dataclasses.replace(rung.file, source=source))


@pytest.fixture
def broken() -> Iterator[Topic]:
    topic = topics.load("transpose")
    right, second, third = topic.rungs[:3]
    wrong = with_source(second, second.source.replace("row < M", "row < M - 1"))
    uncompiled = with_source(third, third.source + "\n}")
    ladder = dataclasses.replace(topic.ladder, rungs=(right, wrong, uncompiled))
    return dataclasses.replace(topic, ladder=ladder, judge_cases=topic.judge_cases[6:8])


def test_a_broken_rung_does_not_stop_the_others(broken: Topic) -> None:
    right, wrong, uncompiled = climb(broken, "emulator", {"M": 32, "N": 32}).rungs
    assert right.verdict == "pass"
    assert (wrong.verdict, wrong.time_s, wrong.counters, wrong.vs_naive) == ("fail", None, None, None)
    assert (uncompiled.verdict, uncompiled.registers) == ("error", None)
    assert uncompiled.reason is not None
    assert "compiler" in uncompiled.reason


class StandIn(Runner):
    """An emulator in the place of a GPU: with guard zones, and a cache that small problems exceed."""

    guard = 4096

    def hello(self) -> Hello:
        found = super().hello()
        return msgspec.structs.replace(found, limits=found.limits | {"l2_cache_size": 1024})


def test_the_way_through_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU adds: times in rounds with the baselines, the bound from the copy, the checks afterwards."""
    monkeypatch.setattr(pool, "_gpu", lambda first, arch: (StandIn("emulator", threads=1), DEFAULT_ARCH))
    monkeypatch.setattr(rounds, "ROUNDS", 6)
    monkeypatch.setattr(track, "FLUSH_BYTES", 4096)
    topic = topics.load("transpose")
    topic = dataclasses.replace(
        topic,
        ladder=dataclasses.replace(topic.ladder, rungs=topic.rungs[:3]),
        judge_cases=topic.judge_cases[5:7],
        sizes_count={"M": 64, "N": 64},
    )
    result = climb(topic, "auto", {"M": 48, "N": 80})
    assert (result.problem, result.counted) == ({"M": 48, "N": 80}, {"M": 64, "N": 64})
    assert [item.name for item in result.baselines] == ["device copy"]  # the library needs CuPy
    assert result.bound is not None
    assert (result.bound.by, result.bound.source) == ("copy", "measured")
    assert (result.provenance.rounds, result.provenance.l2_flush_bytes) == (6, 4096)
    for item in result.rungs:
        assert (item.verdict, item.reason, item.time_source) == ("pass", None, "measured")
        assert item.samples_s is not None
        assert item.time_low_s is not None
        assert item.time_s is not None
        assert item.time_high_s is not None
        assert item.time_low_s <= item.time_s <= item.time_high_s
        assert len(item.samples_s) >= 5
        assert item.counter_source == "emulated"
        assert all(claim.held for claim in item.claims)
        assert item.vs_bound == result.bound.time_s / item.time_s

"""The rounds of schedules, run on the emulator in the place of a GPU.

Times mean nothing here, but who takes part and what is checked is the same.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator

import msgspec
import pytest

from grader.emulator.devices import DEFAULT_ARCH
from grader.emulator.streams.commands import Copy
from grader.judge.climb import climb
from grader.judge.refused import Refused
from grader.judge.runners import pool
from grader.judge.runners.pool import DevicePool
from grader.judge.runners.runner import Runner
from grader.judge.schedules import measured
from grader.judge.schedules.job import ScheduleJob, schedule_job
from grader.judge.schedules.submission import ScheduleSubmission, check_all
from grader.judge.schedules.track import ReplayCandidate, ReplayTrack
from grader.judge.timing import rounds
from grader.judge.timing.nvml import Watch
from grader.workbook import topics
from grader.workbook.topic import ScheduleTopic

PROBLEM = {"N": 4096, "R": 4}


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "ROUNDS", 4)
    monkeypatch.setattr(rounds, "FEWEST_ROUNDS", 2)


@pytest.fixture
def topic() -> ScheduleTopic:
    found = topics.load("streams")
    assert isinstance(found, ScheduleTopic)
    ladder = dataclasses.replace(found.ladder, rungs=found.ladder.rungs[:3])
    return dataclasses.replace(found, ladder=ladder, judge_cases=found.judge_cases[:2])


@pytest.mark.verify
def test_the_way_through_a_gpu(topic: ScheduleTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_gpu", lambda first, arch: (Runner("emulator", threads=1), DEFAULT_ARCH))
    result = climb(topic, "auto", PROBLEM)
    assert [rung.verdict for rung in result.rungs] == ["pass"] * 3, [rung.reason for rung in result.rungs]
    assert {rung.time_source for rung in result.rungs} == {"measured"}
    assert all(len(rung.samples_s or ()) > 2 for rung in result.rungs)
    assert result.bound is not None
    assert result.bound.source == "measured"
    assert {item.name for item in result.baselines} >= {"both copies at once", "the kernel alone"}


@pytest.fixture
def job(topic: ScheduleTopic) -> Iterator[ScheduleJob]:
    with DevicePool("emulator", jobs=1) as found:
        yield schedule_job(found, topic, PROBLEM)


def candidates(job: ScheduleJob) -> Iterator[ReplayCandidate]:
    for rung in job.topic.ladder.rungs:
        current = ScheduleSubmission(name=rung.id, file=rung.file)
        check_all(current, job, [PROBLEM])
        yield ReplayCandidate(name=rung.id, recording=current.recorded(PROBLEM), checked=True)


class EndsTheChild(ReplayTrack):
    """A track on which the first candidate never comes to its end."""

    def run(self, candidate: ReplayCandidate, number: int) -> float:
        if candidate.name == "00_naive":
            self.runner.restart()
            raise Refused("timeout", "it had not ended")
        return super().run(candidate, number)


@pytest.mark.verify
def test_a_candidate_that_ends_the_child_does_not_take_the_others_along(job: ScheduleJob) -> None:
    first, *others = candidates(job)
    with job.pool.emulator() as runner:
        track = EndsTheChild(runner, job)
        for candidate in (first, *others):
            track.stage(candidate)
        rounds.measure(track, [first, *others], Watch(None), random.Random(1))
    assert first.refusal is not None
    assert first.refusal.reason == "it had not ended"
    assert [item.refusal for item in others] == [None, None]
    assert all(item.samples for item in others)


def test_a_wrong_output_is_found_in_the_warm_up(job: ScheduleJob) -> None:
    right, wrong, _ = candidates(job)
    nothing_copied = tuple(item for item in wrong.recording.commands if not isinstance(item, Copy))
    wrong.recording = msgspec.structs.replace(wrong.recording, commands=nothing_copied)
    with job.pool.emulator() as runner:
        track = ReplayTrack(runner, job)
        for candidate in (right, wrong):
            track.stage(candidate)
        rounds.measure(track, [right, wrong], Watch(None), random.Random(1))
    assert right.refusal is None
    assert wrong.refusal is not None
    assert wrong.refusal.verdict == "fail"


def test_the_submission_is_compared_and_the_rungs_beside_it_are_not(
    topic: ScheduleTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[ReplayCandidate] = []

    def measure(track: object, candidates: list[ReplayCandidate], *_: object) -> None:
        for candidate in candidates:
            candidate.samples.append(1e-3)
            timed.append(candidate)

    monkeypatch.setattr(rounds, "measure", measure)
    topic = dataclasses.replace(topic, sizes_main=PROBLEM)
    _, rung, another = topic.ladder.rungs
    current = ScheduleSubmission(name="mine", file=another.file)
    with DevicePool("emulator", jobs=1) as found:
        check_all(current, schedule_job(found, topic, PROBLEM), [PROBLEM])
        measured.times(found, topic, current, [rung], pool.silent)
    assert [(item.name, item.checked) for item in timed] == [("the submission", True), (rung.id, False)]

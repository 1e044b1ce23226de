"""A schedule recorded and simulated once, without being tried on cases."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.emulator.streams.timeline import Timeline
from grader.errors import WarpladderError
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool
from grader.judge.schedules.facts import facts
from grader.judge.schedules.job import schedule_job
from grader.judge.schedules.submission import ScheduleSubmission, check_all
from grader.workbook.expressions import Number
from grader.workbook.reference import Problem
from grader.workbook.topic import ScheduleTopic, Topic


@dataclass(frozen=True)
class Simulated:
    """What a schedule asks for, and when each engine works."""

    facts: dict[str, Number]
    timeline: Timeline
    refusal: Refused | None  # the first fault; a schedule with faults can be simulated as well


def simulate_once(topic: Topic, file: Path, name: str, problem: Problem) -> Simulated:
    """Simulate a schedule at a problem's sizes.

    Raises WarpladderError where it is no schedule, or cannot be written down at all.
    """
    if not isinstance(topic, ScheduleTopic):
        raise WarpladderError(f"`{name}` is a kernel, no schedule", remedy=f'use lab.counters("{name}")')
    with DevicePool("emulator", jobs=1) as pool:
        job = schedule_job(pool, topic, problem)
        current = ScheduleSubmission(name=name, file=topic.parse(file))
        with current.stages():
            check_all(current, job, [problem])
        recording = current.recording(problem)
        if recording is None:
            reason = current.refusal.reason if current.refusal else "it asks for nothing"
            raise WarpladderError(f"`{name}` cannot be run: {reason}")
        timeline = job.simulate(recording)
        return Simulated(facts(recording, timeline, job.reach, job.results), timeline, current.refusal)

"""The timeline of one schedule: simulated, or on a GPU taken from events around each piece of work."""

from __future__ import annotations

from pathlib import Path

from grader.judge.child.protocol import Replay, Stage, Trace
from grader.judge.provenance import provenance
from grader.judge.runners.pool import DevicePool, Progress
from grader.judge.schedules import intervals, submission
from grader.judge.schedules.job import ScheduleJob, schedule_job
from grader.judge.schedules.submission import ScheduleSubmission
from grader.judge.timing.rounds import PASS_SECONDS
from grader.results import Interval, Profile
from grader.workbook.reference import Problem
from grader.workbook.topic import ScheduleTopic


def profile(
    topic: ScheduleTopic,
    file: Path,
    device: str,
    overrides: Problem | None,
    progress: Progress,
    arch: str | None,
) -> Profile:
    """Write a schedule down at the `main` sizes, check it, and say what each engine does when.

    A schedule with faults has a simulated timeline as well, since that shows them. On a GPU it is replayed with arrays
    that hold nothing, and its results are not compared: `grade` does that.
    """
    problem = topic.problem("main", overrides)
    current = ScheduleSubmission(name=str(file), file=topic.parse(file))
    timeline: list[Interval] = []
    with DevicePool(device, arch, jobs=1) as pool:
        progress(file.stem, "compile")
        job = schedule_job(pool, topic, problem)
        with current.stages():
            submission.check_all(current, job, [problem])
            if pool.gpu is not None:
                progress(file.stem, "time")
                timeline = _traced(current, job)
        recording = current.recording(problem)
        if pool.gpu is None and recording is not None:
            progress(file.stem, "model")
            timeline = intervals.simulated(job.simulate(recording))
        progress(file.stem, "done")
        gpu, refusal = pool.gpu, current.refusal
        return Profile(
            topic=topic.name,
            file=current.name,
            device=pool.device,
            problem=problem,
            verdict="pass" if refusal is None else refusal.verdict,
            reason=None if refusal is None else refusal.reason,
            launches=[],
            provenance=provenance(None if gpu is None else gpu.hello().driver),
            timeline=timeline,
            timeline_source=None if not timeline else "modelled" if gpu is None else "measured",
            printed=current.printed,
        )


def _traced(current: ScheduleSubmission, job: ScheduleJob) -> list[Interval]:
    """What the engines of a GPU do. Raises Refused."""
    gpu, recording = job.pool.gpu, current.recorded(job.problem)
    assert gpu is not None
    gpu.load(job.kernel, PASS_SECONDS)
    stage = Stage("", recording, job.kernel.module)
    trace = gpu.do([stage, Replay(""), Replay("", traced=True)], PASS_SECONDS).values[-1]
    return intervals.measured(recording, trace.spans if isinstance(trace, Trace) else ())

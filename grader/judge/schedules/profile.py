"""The timeline of one schedule: simulated, or on a GPU taken from events around each piece of work."""

from __future__ import annotations

from pathlib import Path

from grader.judge.child.protocol import Replay, Stage, Trace
from grader.judge.correctness.verdict import of_failure
from grader.judge.kernels.pool import DevicePool, Progress
from grader.judge.provenance import provenance
from grader.judge.refused import Refused
from grader.judge.schedules import submission as schedules
from grader.judge.schedules.submission import ScheduleJob, ScheduleSubmission
from grader.judge.timing.rounds import PASS_SECONDS
from grader.results import Interval, Profile
from grader.workbook.topics import Problem, Topic


def profile(
    topic: Topic,
    file: Path,
    device: str,
    problem_overrides: Problem | None,
    report: Progress,
    arch: str | None,
) -> Profile:
    """Write a schedule down at the `main` sizes, check it, and say what each engine does when.

    On a GPU it is replayed with arrays that hold nothing, and its results are not compared: `grade` does that.
    """
    problem = topic.problem("main", problem_overrides)
    rung = topic.parse(file)
    with DevicePool(device, arch, jobs=1) as session:
        report(rung.id, "compile")
        shared = schedules.schedule_job(session, topic, problem)
        current = ScheduleSubmission(rung, str(file))
        schedules.check_all(current, shared, [problem])
        report(rung.id, "time" if session.gpu else "model")
        timeline = _timeline(current, shared)
        report(rung.id, "done")
        gpu, refusal = session.gpu, current.refusal
        return Profile(
            topic=topic.name,
            file=str(file),
            device=session.device,
            problem=problem,
            verdict="pass" if refusal is None else refusal.verdict,
            reason=None if refusal is None else refusal.reason,
            launches=[],
            provenance=provenance(None if gpu is None else gpu.hello().driver),
            timeline=timeline,
            timeline_source=None if not timeline else "modelled" if gpu is None else "measured",
            printed=current.printed,
        )


def _timeline(current: ScheduleSubmission, shared: ScheduleJob) -> list[Interval]:
    """What the engines do; a schedule with faults has a simulated timeline as well, since that shows them."""
    recording = current.recording(shared.problem)
    if recording is None:
        return []
    gpu = shared.session.gpu
    if gpu is None:
        return schedules.simulated(shared.simulate(recording))
    if current.refusal is not None or gpu.load(shared.kernel, PASS_SECONDS) is not None:
        return []
    stage = Stage("", recording, shared.kernel.module)
    reply = gpu.ask([stage, Replay(""), Replay("", traced=True)], PASS_SECONDS)
    if isinstance(reply, Refused):
        current.refusal = reply
        return []
    if reply.failure is not None:
        current.refusal = of_failure(reply.failure)
        return []
    trace = reply.values[-1]
    return schedules.measured(recording, trace.spans if isinstance(trace, Trace) else ())

"""A submission and rungs beside it, replayed on a GPU in the same rounds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from grader.errors import WarpladderError
from grader.judge.child.protocol import Release
from grader.judge.claims.pace import Times
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool, Progress, greeting
from grader.judge.schedules import submission
from grader.judge.schedules.job import schedule_job
from grader.judge.schedules.submission import ScheduleSubmission
from grader.judge.schedules.track import ReplayCandidate, ReplayTrack
from grader.judge.timing import rounds
from grader.judge.timing.nvml import Watch
from grader.workbook.content import name_of
from grader.workbook.ladder import Rung
from grader.workbook.schedule_file import ScheduleFile
from grader.workbook.topic import ScheduleTopic


def times(
    pool: DevicePool,
    topic: ScheduleTopic,
    current: ScheduleSubmission,
    rungs: Sequence[Rung[ScheduleFile]],
    progress: Progress,
) -> Times:
    """Measured times at the main sizes. A submission that is wrong there is refused; the workbook's own rungs are
    compared in a climb."""
    progress(current.file.path.stem, "time")
    job = schedule_job(pool, topic, topic.sizes_main)

    def recorded(rung: Rung[ScheduleFile]) -> ReplayCandidate:
        found = ScheduleSubmission(name=name_of(rung.path), file=rung.file)
        submission.check_all(found, job, [job.problem])
        return ReplayCandidate(name=rung.id, recording=found.recorded(job.problem), checked=False)

    with ThreadPoolExecutor() as helpers:
        beside = list(helpers.map(recorded, rungs))
    own = ReplayCandidate(name="the submission", recording=current.recorded(job.problem), checked=True)
    with pool.judge() as runner:
        runner.do([Release()], rounds.PASS_SECONDS)
        try:
            track = ReplayTrack(runner, job)
            for candidate in beside:
                track.stage(candidate)
        except Refused as refused:
            raise WarpladderError(f"nothing could be timed: {refused.reason}") from None
        with current.stages():
            track.stage(own)
            rounds.measure(track, [own, *beside], Watch(greeting(runner).bus_id), random.SystemRandom())
    found = rounds.times(own if current.refusal is None else None, beside)
    if own.refusal is not None and own.refusal.verdict == "fail":
        current.refusal = own.refusal
    return found

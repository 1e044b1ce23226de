"""Replays of recordings on one GPU, over the same host arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.streams.commands import Recording
from grader.judge.child.protocol import Fetch, Operation, Put, Replay, Reply, Span, Stage, Trace
from grader.judge.correctness import cases, pieces
from grader.judge.correctness.cases import check_room
from grader.judge.kernels.fresh import Fresh
from grader.judge.kernels.large.results import known
from grader.judge.runners.runner import Runner
from grader.judge.schedules.case_replay import check_outputs, compare_outputs, fill, host_regions
from grader.judge.schedules.job import ScheduleJob
from grader.judge.timing.rounds import PASS_SECONDS, Candidate

Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


@dataclass(kw_only=True)
class ReplayCandidate(Candidate):
    """A rung or a baseline: what is replayed."""

    recording: Recording
    spans: tuple[Span, ...] = ()  # of one further replay, traced


class ReplayTrack:
    """Replays of many recordings, taking turns on one GPU, with one input. Raises Refused where it has no room."""

    def __init__(self, runner: Runner, job: ScheduleJob) -> None:
        self.runner, self.job = runner, job
        self.case = cases.make(job.problem, "real")
        check_room(job.topic, job.problem)
        self.data = known(job.topic, job.problem, Fresh.known(job.topic, job.problem))
        self._right: dict[str, Bytes] = {}  # outputs found right
        self._staged: list[ReplayCandidate] = []
        self._set_up()

    def _set_up(self) -> None:
        """Give a child everything that replays need, but for those of candidates that have dropped out."""
        self._generation = self.runner.generation
        self.regions = host_regions(self.runner, self.job.topic, self.data)
        self.runner.load(self.job.kernel, PASS_SECONDS)
        for candidate in self._staged:
            if candidate.refusal is None:
                self._stage(candidate)

    def stage(self, candidate: ReplayCandidate) -> None:
        """Make what a recording needs, with the inputs in its host arrays. Raises Refused."""
        self._stage(candidate)
        self._staged.append(candidate)

    def _stage(self, candidate: ReplayCandidate) -> None:
        self._do([Stage(candidate.name, candidate.recording, self.job.kernel.module)])
        if candidate.checked:
            fill(self.runner, self.regions, self.data)
            self._do([Put(candidate.name, region.name, region.offset) for region in self.regions])

    def run(self, candidate: ReplayCandidate, number: int) -> float:
        """Seconds of one replay. Raises Refused."""
        seconds = self._do([Replay(candidate.name)]).values[0]
        assert isinstance(seconds, float)
        return seconds

    def check(self, candidate: ReplayCandidate, number: int) -> None:
        """Replay on poisoned outputs and compare what comes out: with the bytes that were right, if there are some
        already. Raises Refused where it is wrong."""
        outputs = [region for region in self.regions if region.name in self.data.expected]
        fill(self.runner, outputs, self.data)
        put = [Put(candidate.name, item.name, item.offset) for item in outputs]
        fetch = [Fetch(candidate.name, item.name, item.offset) for item in outputs]
        self._do([*put, Replay(candidate.name), *fetch])
        found = {region.name: self.runner.payload(region) for region in outputs}
        if self._right and all(pieces.equal(found[name], right) for name, right in self._right.items()):
            return
        check_outputs(compare_outputs(self.runner, self.job.topic, self.regions, self.data), self.case)
        self._right = {name: pieces.copied(output) for name, output in found.items()}

    def trace(self, candidate: ReplayCandidate) -> None:
        """Note when each command was worked on. Raises Refused."""
        (found,) = self._do([Replay(candidate.name, traced=True)]).values
        if isinstance(found, Trace):
            candidate.spans = found.spans

    def _do(self, operations: Sequence[Operation]) -> Reply:
        if self.runner.generation != self._generation:  # a candidate has ended the child
            self._set_up()
        return self.runner.do(operations, PASS_SECONDS)

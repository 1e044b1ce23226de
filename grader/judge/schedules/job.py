"""What the schedules of a topic share while they are judged: the kernel they launch, and how long it takes."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from grader.analysis.devices import DeviceSpec, board
from grader.analysis.model import launch_stats, modelled_time
from grader.emulator.streams.commands import LaunchKernel, Recording
from grader.emulator.streams.ordering import Extent
from grader.emulator.streams.timeline import Timeline, simulate
from grader.errors import WarpladderError
from grader.judge.child.protocol import Record
from grader.judge.kernels import sampling
from grader.judge.kernels.case_runner import emulator_seconds, instruction_budget
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.counting import product
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool
from grader.judge.runners.runner import Runner
from grader.judge.schedules import launches
from grader.workbook.reference import Problem
from grader.workbook.topic import ScheduleTopic


class KernelClock:
    """The modelled time of launches of a topic's kernel, from a few blocks of the whole problem."""

    def __init__(self, topic: ScheduleTopic, kernel: Kernel, problem: Problem) -> None:
        self.topic, self.kernel, self.problem = topic, kernel, problem
        self._record: Record | None = None
        self._nbytes = 0
        self._lock = threading.Lock()

    def sample(self, runner: Runner) -> None:
        """Run those blocks, the first time this is called."""
        with self._lock:
            if self._record is not None:
                return
            planned = self.kernel.plan(self.problem, runner.hello().limits)
            self._nbytes = sampling.array_bytes(self.topic, planned, self.problem)
            launches = [sampling.sampled(launch, sampling.MOST_BLOCKS) for launch in planned.launches[:1]]
            budget = instruction_budget(self.topic, self.problem)
            seconds = emulator_seconds(self.topic, self.problem)
            try:
                runner.load(self.kernel, seconds)
                (self._record,) = sampling.sample(
                    runner, self.kernel, launches, self._nbytes, budget, seconds, inputs={}
                )
            except Refused as refused:
                raise WarpladderError(refused.reason, file=self.kernel.file.path) from None

    def seconds(self, device: DeviceSpec, grid: tuple[int, int, int]) -> float:
        """How long a launch of this grid takes alone; a part of a grid is taken to do its part of the work."""
        assert self._record is not None, "sample first"
        record = msgspec.structs.replace(self._record, grid=grid, grid_blocks=product(grid))
        found = modelled_time(device, [launch_stats(record, self._nbytes)])
        return found.seconds - found.terms["launch"]  # what launching costs is the timeline's to know


@dataclass(frozen=True)
class ScheduleJob:
    """What the schedules of a topic share in one climb or grade."""

    pool: DevicePool
    topic: ScheduleTopic
    kernel: Kernel
    clock: KernelClock
    device: DeviceSpec
    problem: Problem  # that times and claims are for

    @property
    def results(self) -> tuple[str, ...]:
        """The names of the job's results."""
        return tuple(item.name for item in self.topic.signature.outputs)

    def reach(self, launch: LaunchKernel) -> Sequence[Extent]:
        """The bytes that a launch reads and writes."""
        return launches.reach(self.topic.kernel, launch)

    def simulate(self, recording: Recording) -> Timeline:
        """A recording's run on the device, in simulated time."""
        with self.pool.emulator() as runner:
            self.clock.sample(runner)
        return simulate(
            recording, self.device.link, lambda launch: self.clock.seconds(self.device, launch.grid)
        )


def schedule_job(pool: DevicePool, topic: ScheduleTopic, problem: Problem) -> ScheduleJob:
    """Compile the topic's kernel. Raises WarpladderError where it cannot be."""
    try:
        kernel = prepare(topic.kernel.file, pool.arch)
    except Refused as refused:
        raise WarpladderError(refused.reason, file=topic.kernel.file.path) from None
    device = pool.device
    return ScheduleJob(
        pool, topic, kernel, KernelClock(topic, kernel, problem), board(device.name, device.arch), problem
    )

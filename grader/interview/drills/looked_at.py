"""What a kernel file of a drill does: counted by the emulator, its time modelled at the topic's main sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.analysis.model import ModelledTime
from grader.errors import WarpladderError
from grader.judge.claims.derived import with_sums
from grader.judge.kernels.submission import KernelSubmission
from grader.judge.kinds import kind_of
from grader.judge.profile import profile
from grader.judge.runners.pool import DevicePool, silent
from grader.results import Profile
from grader.workbook.expressions import Number
from grader.workbook.topic import Topic


@dataclass(frozen=True)
class LookedAt:
    """One kernel file, on the emulated device."""

    profile: Profile  # counters at the topic's `count` sizes, by launch and by line
    values: Mapping[str, Number]  # what claims may name, at those sizes; and `threads_an_instruction`
    modelled: ModelledTime  # at the topic's `main` sizes
    bound_s: float  # under which no version can run there

    @property
    def share(self) -> float:
        """The bound's time over the kernel's: 1 is as fast as can be."""
        return self.bound_s / self.modelled.seconds


def look_at(topic: Topic, file: Path) -> LookedAt:
    """Count and model a kernel file. Raises WarpladderError where it does not run, or computes something else."""
    with DevicePool("emulator", None, jobs=1) as pool:
        kind = kind_of(topic)
        current = kind.once(pool, topic.parse(file), str(file))
        assert isinstance(current, KernelSubmission), "a kernel"
        if current.refusal is not None:
            raise WarpladderError(current.refusal.reason, file=file)
        times = kind.times(pool, current, [], silent)
    if current.modelled is None or times.bound_s is None or current.counters is None:
        raise WarpladderError("its time cannot be modelled", file=file)
    sizes = topic.signature.with_derived(topic.problem("count", None))
    values = {**with_sums(current.counters), **sizes, **(current.facts or {})}
    return LookedAt(profile(topic, file, "emulator"), values, current.modelled, times.bound_s)

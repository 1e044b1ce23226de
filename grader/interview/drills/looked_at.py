"""What a kernel file or a schedule of a drill does: counted by the emulator, its time modelled at the main sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.analysis.model import ModelledTime
from grader.emulator.streams.timeline import ENGINES
from grader.errors import WarpladderError
from grader.interview.counted import counted_file
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kinds import kind_of
from grader.judge.profile import profile
from grader.judge.runners.pool import DevicePool, silent
from grader.judge.schedules import intervals
from grader.judge.schedules.submission import ScheduleSubmission
from grader.results import Profile
from grader.workbook import topics
from grader.workbook.expressions import parse
from grader.workbook.strict_toml import read
from grader.workbook.topic import Topic

SOURCES = (".cu", ".schedule.py")
"""How the name of a drill's source ends; `.cure` stands before it in the name of what cures it."""

OVERLAP = "overlap"
"""What limits a schedule of which no engine works most of the time."""
MOST = 0.8
"""So much of a schedule's time an engine works that limits it."""


def source_of(file: Path) -> Path:
    """The kernel or the schedule of a drill's TOML."""
    found = (path for suffix in SOURCES if (path := file.with_suffix(suffix)).is_file())
    return next(found, file.with_suffix(SOURCES[0]))


def cure_of(file: Path) -> Path:
    """What cures it."""
    source = source_of(file)
    return source.with_name(source.name.replace(file.stem, f"{file.stem}.cure", 1))


@dataclass(frozen=True)
class Modelled:
    """A kernel's time at the topic's main sizes on the emulated device, and what it is compared with."""

    time: ModelledTime
    bound_s: float  # under which no version can run there
    rung_s: float | None  # the time of a rung that was asked for; None: none was


@cache
def profiled(topic: str, file: Path) -> Profile:
    """A kernel file's counters by launch and line, at the topic's `count` sizes. Raises WarpladderError."""
    found = profile(topics.load(topic), file, "emulator")
    if found.verdict != "pass":
        raise WarpladderError(found.reason or "it does not pass", file=file)
    return found


@cache
def modelled(topic: str, file: Path, rung: str | None = None) -> Modelled:
    """A kernel file's modelled time, and that of a rung of its topic. Raises WarpladderError."""
    loaded: Topic = topics.load(topic)
    beside = [] if rung is None else [loaded.rung(rung)]
    with DevicePool("emulator", None, jobs=1) as pool:
        kind = kind_of(loaded)
        current = kind.once(pool, loaded.parse(file), str(file))
        if current.refusal is not None:
            raise WarpladderError(current.refusal.reason, file=file)
        if isinstance(current, ScheduleSubmission) and current.timeline is not None:
            return _scheduled(current)
        times = kind.times(pool, current, beside, silent)
    if not isinstance(current, KernelSubmission) or current.modelled is None or times.bound_s is None:
        raise WarpladderError("its time cannot be modelled", file=file)
    return Modelled(current.modelled, times.bound_s, None if rung is None else times.rungs.get(rung))


def _scheduled(current: ScheduleSubmission) -> Modelled:
    """How long each engine works; the bound is the work of the busiest."""
    assert current.timeline is not None, "simulated"
    terms: dict[str, float] = dict.fromkeys(ENGINES, 0.0)
    for item in intervals.simulated(current.timeline):
        if item.engine in terms:
            terms[item.engine] += item.end_s - item.start_s
    busiest, seconds = max(terms, key=terms.__getitem__), current.timeline.seconds
    limit = busiest if terms[busiest] >= MOST * seconds else OVERLAP
    return Modelled(ModelledTime(seconds, terms, limit), terms[busiest], None)


def prediction(module: str, value: str) -> dict[str, float]:
    """What `value`, an expression over what claims may name, is of the drill's cure (`answer`), and what it was
    of its kernel (`before`), counted on both. `module` is the __file__ of the drill's functions."""
    file = Path(module).with_suffix(".toml")
    topic = read(file.read_text(encoding="utf-8").splitlines(), file).table("kernel").get("topic", str)
    before, after = (
        float(parse(value).evaluate(counted_file(topic, path))) for path in (source_of(file), cure_of(file))
    )
    return {"answer": after, "before": before}

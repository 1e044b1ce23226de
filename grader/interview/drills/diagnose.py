"""Slow kernels to diagnose: `lessons/drills/diagnose/NAME.toml`, its kernel NAME.cu and what cures it, NAME.cure.cu.

Of a topic of schedules they are NAME.schedule.py and NAME.cure.schedule.py. The kernel is right, and slow for one
reason. What the candidate is given is a page of counters, made when it is asked for; predictions are counted on the
cure. `[kernel]` says what judges it and what limits it, `[mend]` what a version has to reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.errors import WarpladderError
from grader.interview.counted import counted_file
from grader.interview.drills import page
from grader.interview.drills.drill import HEAD, Drill, Format, look_back, read_head, read_table
from grader.interview.drills.looked_at import SOURCES, cure_of, modelled, source_of
from grader.interview.drills.mending import difference, file_of
from grader.interview.points import check_weights, read_weight
from grader.interview.probes.kinds import Parameters
from grader.interview.prompts import Flow, Work
from grader.interview.reading import prose
from grader.interview.session import Counted
from grader.interview.talks import Talks
from grader.interview.writing import Task, Worth, write
from grader.judge import values
from grader.results import Grade
from grader.workbook import topics, units
from grader.workbook.expressions import Expression, Number
from grader.workbook.strict_toml import Table

SLOWEST, FASTEST = 0.14, 0.6
"""The share of its bound, or of the rung it is compared with, that a kernel to diagnose reaches."""

GAIN = 1.5
"""So many times as fast is the cure at the least, by the time model."""

SLACK = 1.1
"""A mended version may take so many times what the cure takes."""


@dataclass(frozen=True)
class Mend:
    """What is asked last: to change the kernel."""

    weight: int  # of 100
    text: str
    goal: Expression  # over what claims may name: not zero for a version that is cured


@dataclass(frozen=True, kw_only=True)
class Diagnosis(Drill):
    """A kernel that is right and slow."""

    topic: str  # whose judge grades it
    limited_by: str  # the time model's largest part
    against: str | None  # the rung that it is slow beside; None: the bound
    mend: Mend

    @property
    def further(self) -> tuple[tuple[str, int], ...]:
        """Mending it."""
        return (("mend", self.mend.weight),)

    @property
    def kernel(self) -> Path:
        """The slow one."""
        return source_of(self.file)

    @property
    def cure(self) -> Path:
        """The one that is not."""
        return cure_of(self.file)

    def given(self, parameters: Parameters) -> str:
        """The text, and the kernel's page."""
        return f"{super().given(parameters)}\n\n{page.page(self.topic, self.kernel)}"


def read_diagnosis(path: Path) -> Diagnosis:
    """A drill of this format; raises WarpladderError."""
    table = read_table(path)
    table.allow(*HEAD, "kernel", "mend")
    head, mend = read_head(table), _mend(table.table("mend"))
    check_weights(table, "step", [*(step.weight for step in head["steps"]), mend.weight])
    kernel = table.table("kernel")
    kernel.allow("topic", "limited_by", "against")
    for file in (source_of(path), cure_of(path)):
        if not file.is_file():
            raise table.error(f"{file.name} is missing")
    return Diagnosis(
        **head,
        topic=kernel.get("topic", str),
        limited_by=kernel.get("limited_by", str),
        against=kernel.get("against", str, "") or None,
        mend=mend,
    )


def _mend(table: Table) -> Mend:
    table.allow("weight", "text", "goal")
    return Mend(read_weight(table), prose(table, "text"), table.expression("goal"))


# ---- asked after the steps -----------------------------------------------------------------------------------


def mended(drill: Diagnosis, talks: Talks, step: str) -> Flow[None]:
    """Have it mended; then show what would have done, and how the steps went."""
    interviewer = talks.interviewer
    if not interviewer.clock.up:
        topic, slow = topics.load(drill.topic), drill.kernel.read_text(encoding="utf-8")
        file = file_of(interviewer, drill.name, drill.kernel.suffix)
        task = Task(
            step=f"{step}.mend",
            heading=drill.title,
            text=drill.mend.text,
            hint=drill.steps[0].probe.explain,
            topic=drill.topic,
            file=file,
            starter=slow,
            judge=lambda file, progress: interviewer.judge.grade(topic, file, progress),
            worth=lambda result, source: worth(drill, result),
        )
        yield from write(interviewer, task)
        times = yield from interviewer.done(Work(task.step, None, lambda _: _times(drill, task.step)))
        assert isinstance(times, Counted)
        before, after = (units.seconds(times.values[name], "modelled") for name in ("kernel", "cure"))
        cure = difference(slow, drill.cure.read_text(encoding="utf-8"))
        interviewer.say(f"{before} become {after}, modelled:\n\n{cure}", "A cure")
    yield from look_back(drill, talks, step)


def _times(drill: Diagnosis, step: str) -> Counted:
    """Seconds that the kernel and its cure take, by the model."""
    files = {"kernel": drill.kernel, "cure": drill.cure}
    return Counted(step, {name: modelled(drill.topic, file).time.seconds for name, file in files.items()})


def worth(drill: Diagnosis, result: Grade) -> Worth:
    """All for a version that is right and reaches the goal, or is as fast as the cure by the model."""
    counted = values.of_grade(topics.load(drill.topic), result)
    if counted is None:
        return Worth(0.0)
    if drill.mend.goal.evaluate(counted) or _as_fast(drill, result):
        return Worth(1.0)
    return Worth(0.0, f"Not reached is `{drill.mend.goal.text}`: {_found(drill, counted)}.")


def _as_fast(drill: Diagnosis, result: Grade) -> bool:
    """By the model at the main sizes; measured times are not compared with modelled ones."""
    if result.time_s is None or result.time_source != "modelled":
        return False
    return result.time_s <= SLACK * modelled(drill.topic, drill.cure).time.seconds


def _found(drill: Diagnosis, counted: Mapping[str, Number]) -> str:
    """What was counted of what the goal names, sizes left out."""
    sizes = topics.load(drill.topic).claim_sizes
    return ", ".join(
        f"`{name}` is {units.number(counted[name])}"
        for name in sorted(drill.mend.goal.names)
        if name not in sizes
    )


# ---- the proof -----------------------------------------------------------------------------------------------


def prove(drill: Diagnosis) -> Iterator[WarpladderError]:
    """The kernel is right and slow for the reason that is declared, and the cure is right and takes it away."""
    try:
        slow, cure = modelled(drill.topic, drill.kernel, drill.against), modelled(drill.topic, drill.cure)
        reached = [
            bool(drill.mend.goal.evaluate(counted_file(drill.topic, file)))
            for file in (drill.kernel, drill.cure)
        ]
    except (WarpladderError, ValueError) as error:
        yield WarpladderError(str(error), file=drill.file)
        return
    if slow.time.limited_by != drill.limited_by:
        yield _wrong(drill, f"the model says it is limited by {slow.time.limited_by}, not {drill.limited_by}")
    floor = slow.bound_s if slow.rung_s is None else slow.rung_s
    share, gain = floor / slow.time.seconds, slow.time.seconds / cure.time.seconds
    if not SLOWEST <= share <= FASTEST:
        beside = drill.against or "the bound"
        yield _wrong(drill, f"it reaches {share:.2f} of {beside}, not {SLOWEST} to {FASTEST}")
    if gain < GAIN:
        yield _wrong(drill, f"the cure is {gain:.2f} times as fast, not {GAIN}")
    if reached != [False, True]:
        yield _wrong(drill, f"`goal` is {reached[0]} of the kernel and {reached[1]} of its cure")


def _wrong(drill: Diagnosis, message: str) -> WarpladderError:
    return WarpladderError(message, file=drill.file)


FORMAT = Format(
    "diagnose",
    "a slow kernel, its counters and its cure",
    1,
    read_diagnosis,
    prove,
    mended,
    (".toml", ".py", *SOURCES, *(f".cure{suffix}" for suffix in SOURCES)),
)

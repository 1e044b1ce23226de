"""Bug hunts: a source with one planted fault, `lessons/drills/review/NAME.toml` and NAME.cu or NAME.schedule.py.

A drill's faulty source is whole: a kernel file or a schedule that a topic judges, a program that an exercise judges,
or a program whose output is known (`[[run]]`). Lines that may be named as the fault's end with `//!`, in Python with
`#!`; those where the judge sees its effect, with `//~` or `# ~`. `[mend]` has replacements that cure it; `[fault]` says
how the judge refuses what is not cured. The judge is the emulator's: a GPU finds no races.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from grader.errors import WarpladderError
from grader.interview.drills.drill import HEAD, Drill, Format, look_back, read_head, read_table
from grader.interview.drills.mending import changed, difference, file_of
from grader.interview.points import check_weights, read_weight
from grader.interview.probes.kinds import MARK, LineProbe
from grader.interview.prompts import Flow
from grader.interview.talks import Talks
from grader.interview.writing import Task, Worth, write
from grader.judge.grade import grade
from grader.judge.programs.judging import judge
from grader.judge.programs.printing import Expected, judge_output
from grader.judge.runners.pool import Progress, silent
from grader.results import Grade
from grader.sandbox.scratch import Scratch
from grader.workbook import programs, topics
from grader.workbook.strict_toml import Table

SOURCES = (".cu", ".schedule.py")
PROGRAM = "program"
"""What judges a source that has [[run]]s."""

MEND = "Now fix it, with as small a change as you can. Everything else should stay as it is."

FREE_LINES = 8
"""A change may have so many lines more than the drill's own cure; beyond, it is another program, not a mending."""
REWRITTEN = 0.5
"""What of the points such a program is worth."""

_MARKED = re.compile(r"[ \t]*(?://|#) ?([!~])[ \t]*$")
_LINE = re.compile(r"\bline (\d+)")


@dataclass(frozen=True)
class Change:
    """A replacement of text that is found once."""

    old: str
    new: str


@dataclass(frozen=True)
class Fault:
    """How the judge refuses the faulty source."""

    judged_by: str  # a topic, an exercise that is a whole program, or PROGRAM
    kind: str | None  # of a finding; None where the values alone tell
    reason: re.Pattern[str]  # found in its reason


@dataclass(frozen=True, kw_only=True)
class Review(Drill):
    """A bug hunt."""

    source: Path
    fault: Fault
    mend_weight: int  # of 100
    changes: tuple[Change, ...]  # that cure it
    runs: tuple[Expected, ...]  # of a program whose output is known

    @property
    def further(self) -> tuple[tuple[str, int], ...]:
        """Mending it."""
        return (("mend", self.mend_weight),)

    @cached_property
    def shown(self) -> str:
        """The source as the candidate gets it."""
        return shown(self.source.read_text(encoding="utf-8"))

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """The lines that may be named as the fault's."""
        return marked(self.source.read_text(encoding="utf-8"), "!")

    @cached_property
    def effects(self) -> tuple[int, ...]:
        """The lines in which the fault shows and does not lie."""
        return marked(self.source.read_text(encoding="utf-8"), "~")

    @property
    def cured(self) -> str:
        """The source with the fault mended. Raises WarpladderError where a replacement does not fit."""
        text = self.shown
        for change in self.changes:
            if (count := text.count(change.old)) != 1:
                message = f"`old` of a [[mend.change]] is found {count} times in {self.source.name}"
                raise WarpladderError(message, file=self.file, remedy="give a text that is there once")
            text = text.replace(change.old, change.new)
        return text

    def judge(self, file: Path, progress: Progress = silent) -> Grade:
        """What the judge says of a file. Raises WarpladderError for one that cannot be read."""
        name = self.fault.judged_by
        if name == PROGRAM:
            return judge_output(file, self.runs)
        if (exercise := programs.find(name)) is not None:
            return judge(exercise, file, progress=progress)
        graded = grade(topics.load(name), file, "emulator", progress=progress)
        if graded.beyond is None:
            return graded
        return replace(graded, verdict="fail", reason=graded.beyond)  # a fault that review finds


def shown(source: str) -> str:
    """A source without its marks."""
    return "".join(_MARKED.sub("", line) + "\n" for line in source.splitlines())


def marked(source: str, sign: str) -> tuple[int, ...]:
    """The numbers of the lines that end with //! or, as `sign` says, //~."""
    found = ((number, _MARKED.search(line)) for number, line in enumerate(source.splitlines(), 1))
    return tuple(number for number, mark in found if mark and mark[1] == sign)


def read_review(path: Path) -> Review:
    """A bug hunt; raises WarpladderError naming file and line."""
    table = read_table(path)
    table.allow(*HEAD, "fault", "mend", "run")
    source = _source(table)
    _give_code(table, source.read_text(encoding="utf-8"))
    mending = table.table("mend")
    mending.allow("weight", "change")
    changes = tuple(_change(item) for item in mending.tables("change"))
    if not changes:
        raise mending.error("no [[mend.change]] cures the fault")
    drill = Review(
        **read_head(table),
        source=source,
        fault=_fault(table),
        mend_weight=read_weight(mending),
        changes=changes,
        runs=tuple(_run(item) for item in table.tables("run")),
    )
    check_weights(table, "step", [drill.mend_weight, *(step.weight for step in drill.steps)])
    if (drill.fault.judged_by == PROGRAM) != bool(drill.runs):
        raise table.table("fault").error(f'[[run]]s go with judged_by = "{PROGRAM}"', "judged_by")
    return drill


def _source(table: Table) -> Path:
    found = [path for suffix in SOURCES if (path := table.file.with_suffix(suffix)).is_file()]
    if len(found) == 1:
        return found[0]
    expected = " or ".join(table.file.with_suffix(suffix).name for suffix in SOURCES)
    raise table.error(f"the drill has {len(found)} sources", remedy=f"one lies beside it: {expected}")


def _give_code(table: Table, source: str) -> None:
    """The step that asks for a line shows the source."""
    numbers = marked(source, "!")
    if not numbers:
        raise table.error("no line of the source is marked", remedy=f"end the fault's line with {MARK}")
    lines = enumerate(shown(source).splitlines(), 1)
    code = "\n".join(f"{line}  {MARK}" if number in numbers else line for number, line in lines)
    for step in table.tables("step"):
        if step.values.get("kind") == "line":
            step.values.setdefault("code", code)


def _fault(table: Table) -> Fault:
    fault = table.table("fault")
    fault.allow("judged_by", "kind", "reason")
    try:
        reason = re.compile(fault.get("reason", str), re.DOTALL)
    except re.error as error:
        raise fault.error(f"`reason` is no regular expression: {error}", "reason") from None
    return Fault(fault.get("judged_by", str), fault.get("kind", str, "") or None, reason)


def _change(table: Table) -> Change:
    table.allow("old", "new")
    return Change(table.get("old", str), table.get("new", str))


def _run(table: Table) -> Expected:
    table.allow("arguments", "prints")
    return Expected(table.names("arguments"), table.get("prints", str))


# ---- asked after the steps ---------------------------------------------------------------------------------------


def mended(drill: Review, talks: Talks, step: str) -> Flow[None]:
    """Have it mended; then show what would have done, and how the steps went."""
    interviewer = talks.interviewer
    if not interviewer.clock.up:
        file = file_of(interviewer, drill.name, drill.source.suffix)
        task = Task(
            step=f"{step}.mend",
            heading=drill.title,
            text=MEND,
            hint=_hint(drill),
            topic=drill.fault.judged_by,
            file=file,
            starter=drill.shown,
            judge=drill.judge,
            worth=lambda result, source: worth(drill, result, source),
        )
        yield from write(interviewer, task)
        interviewer.say(difference(drill.shown, drill.cured), "A cure")
    yield from look_back(drill, talks, step)


def worth(drill: Review, result: Grade, source: str) -> Worth:
    """All points for what the judge passes and is a mending; a part for another program that it passes."""
    if result.verdict != "pass":
        return Worth(0.0)
    lines, most = changed(drill.shown, source), changed(drill.shown, drill.cured) + FREE_LINES
    if lines <= most:
        return Worth(1.0)
    said = f"But {lines} lines differ from what you were given: for all points, change at most {most}."
    return Worth(REWRITTEN, said)


def _hint(drill: Review) -> str:
    return next(
        (step.probe.explain for step in drill.steps if isinstance(step.probe, LineProbe)), drill.title
    )


# ---- the proof ---------------------------------------------------------------------------------------------------


def prove(drill: Review) -> Iterator[WarpladderError]:
    """Run fault and cure: problems where the judge does not refuse the one for its reason, or refuses the other."""
    result = judged(drill, drill.shown)
    if result.verdict == "pass":
        yield WarpladderError("the fault passes", file=drill.source)
    elif (problem := refused_otherwise(drill, result)) is not None:
        yield WarpladderError(problem, file=drill.file, remedy=result.reason)
    cured = judged(drill, drill.cured)
    if cured.verdict != "pass":
        yield WarpladderError("the cure does not pass", file=drill.file, remedy=cured.reason)


def judged(drill: Review, text: str) -> Grade:
    """What the judge says of a text."""
    with Scratch() as folder:
        file = folder / f"{drill.name}{drill.source.suffix}"
        file.write_text(text, encoding="utf-8")
        return drill.judge(file)


def refused_otherwise(drill: Review, result: Grade) -> str | None:
    """What of a refusal is not as [fault] and the marks say; None where all is."""
    fault, kinds = drill.fault, sorted({finding.kind for finding in result.findings})
    if fault.kind is None and kinds:
        return f"[fault] names no kind, and the judge finds {', '.join(kinds)}"
    if fault.kind is not None and fault.kind not in kinds:
        return f"the judge finds {', '.join(kinds) or 'nothing'}, not {fault.kind}"
    if not fault.reason.search(result.reason or ""):
        return f"`reason` is not found in what the judge says: {fault.reason.pattern}"
    named = _named(result, fault.kind)
    if named and not named & {*drill.lines, *drill.effects}:
        return f"the judge names {_list(named)}, and {_list(drill.lines)} are marked"
    return None


def _named(result: Grade, kind: str | None) -> set[int]:
    """Lines that the judge names in findings of a kind, for what happens or for what causes it."""
    found: set[int | None] = set()
    for finding in result.findings:
        if finding.kind == kind:
            found |= {finding.line, *(call.line for call in finding.callers)}
            if (other := finding.other) is not None:
                found |= {other.line, *(call.line for call in other.callers)}
            found |= {int(line) for line in _LINE.findall(finding.remedy or "")}
    return {line for line in found if line}


def _list(lines: Iterable[int]) -> str:
    return "lines " + ", ".join(map(str, sorted(lines)))


FORMAT = Format("review", "a bug in a source", 1, read_review, prove, mended, (".toml", ".py", *SOURCES))

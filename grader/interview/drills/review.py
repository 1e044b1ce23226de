"""Bug hunts: a source with one planted fault, `lessons/drills/review/NAME.toml` and NAME.cu or NAME.schedule.py.

A drill's faulty source is whole: a kernel file or a schedule that a topic judges, a program that an exercise judges,
or a program whose output is known (`[[run]]`). Lines that may be named as the fault's end with `//!`, in Python with
`#!`; those where the judge sees its effect, with `//~` or `#~`. `[mend]` has replacements that cure it; `[fault]` says how the judge refuses what is not cured.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from grader.errors import WarpladderError
from grader.judge.grade import grade
from grader.judge.programs.judging import judge
from grader.judge.programs.printing import Expected, judge_output
from grader.results import FindingResult, Verdict
from grader.workbook import programs, topics
from grader.workbook.content import content_root
from grader.workbook.strict_toml import Table, read

FOLDER = "review"
SOURCES = (".cu", ".schedule.py")
PROGRAM = "program"  # what judges a source that has [[run]]s
_MARK = re.compile(r"[ \t]*(?://|#)([!~])[ \t]*$")
_LINE = re.compile(r"\bline (\d+)")
_FAULT_KEYS = ("judged_by", "kind", "reason")
_MEND_KEYS = ("weight", "change")


@dataclass(frozen=True)
class Change:
    """A replacement of text that is found once."""

    old: str
    new: str


@dataclass(frozen=True)
class Fault:
    """How the judge refuses the faulty source."""

    judged_by: str  # a topic, an exercise that is a whole program, or PROGRAM
    kind: str | None  # of its first finding; None where the values alone tell
    reason: re.Pattern[str]  # found in its reason


@dataclass(frozen=True)
class Judged:
    """What came of a source."""

    verdict: Verdict
    reason: str | None  # null for a pass
    findings: Sequence[FindingResult]


@dataclass(frozen=True)
class Hunt:
    """What a review has besides what all drills share."""

    path: Path  # of the TOML file
    source: Path
    fault: Fault
    mend_weight: int
    changes: tuple[Change, ...]
    runs: tuple[Expected, ...]

    @cached_property
    def marked(self) -> str:
        """The source as it lies there."""
        return self.source.read_text(encoding="utf-8")

    @cached_property
    def shown(self) -> str:
        """The source without marks: what the candidate gets."""
        return "".join(_MARK.sub("", line) + "\n" for line in self.marked.splitlines())

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """The numbers of the marked lines."""
        return self._with("!")

    @property
    def effects(self) -> tuple[int, ...]:
        """The numbers of the lines in which the fault shows and does not lie."""
        return self._with("~")

    def _with(self, sign: str) -> tuple[int, ...]:
        marks = ((n, _MARK.search(line)) for n, line in enumerate(self.marked.splitlines(), 1))
        return tuple(n for n, mark in marks if mark and mark[1] == sign)

    @property
    def cured(self) -> str:
        """The source with the fault mended. Raises WarpladderError where a replacement does not fit."""
        text = self.shown
        for change in self.changes:
            if (count := text.count(change.old)) != 1:
                message = f"`old` of a [[mend.change]] is found {count} times in {self.source.name}"
                raise WarpladderError(message, file=self.path, remedy="give a text that is there once")
            text = text.replace(change.old, change.new)
        return text

    @property
    def file_name(self) -> str:
        """What the candidate's file is called."""
        return self.path.stem + self.source.suffix

    def judge(self, file: Path) -> Judged:
        """Judge what the candidate has made of it. Raises WarpladderError for a file that cannot be read."""
        name = self.fault.judged_by
        if name == PROGRAM:
            found = judge_output(file, self.runs)
            return Judged(found.verdict, found.reason, found.findings)
        exercise = programs.find(name)
        result = grade(topics.load(name), file, "emulator") if exercise is None else judge(exercise, file)
        return Judged(result.verdict, result.reason, result.findings)

    def judge_text(self, text: str) -> Judged:
        """The same of a text."""
        with tempfile.TemporaryDirectory(prefix="ladder-review-") as folder:
            file = Path(folder, self.file_name)
            file.write_text(text, encoding="utf-8")
            return self.judge(file)


def names(root: Path | None = None) -> list[str]:
    """The drills there are."""
    folder = (root or content_root()) / "lessons" / "drills" / FOLDER
    return sorted(path.stem for path in folder.glob("*.toml"))


def load(name: str, root: Path | None = None) -> Hunt:
    """One drill's own part. Raises WarpladderError for one that is not complete."""
    path = (root or content_root()) / "lessons" / "drills" / FOLDER / f"{name}.toml"
    return read_hunt(read(path.read_text(encoding="utf-8").splitlines(), path))


def read_hunt(table: Table) -> Hunt:
    """What is a review's own in its TOML file; raises WarpladderError."""
    found = [path for suffix in SOURCES if (path := table.file.with_suffix(suffix)).is_file()]
    if len(found) != 1:
        expected = " or ".join(table.file.with_suffix(suffix).name for suffix in SOURCES)
        raise table.error("the drill has no source", remedy=f"{expected} lies beside it")
    mend = table.table("mend")
    mend.allow(*_MEND_KEYS)
    changes = tuple(_change(item) for item in mend.tables("change"))
    if not changes:
        raise mend.error("no [[mend.change]] cures the fault")
    hunt = Hunt(table.file, found[0], _fault(table), mend.get("weight", int), changes, _runs(table))
    if not hunt.lines:
        raise table.error(f"no line of {hunt.source.name} is marked", remedy="end the fault's lines with //!")
    return hunt


def _fault(table: Table) -> Fault:
    fault = table.table("fault")
    fault.allow(*_FAULT_KEYS)
    kind = fault.get("kind", str, "") or None
    try:
        return Fault(fault.get("judged_by", str), kind, re.compile(fault.get("reason", str), re.DOTALL))
    except re.error as error:
        raise fault.error(f"`reason` is no regular expression: {error}", "reason") from None


def _change(table: Table) -> Change:
    table.allow("old", "new")
    return Change(table.get("old", str), table.get("new", str))


def _runs(table: Table) -> tuple[Expected, ...]:
    found = []
    for run in table.tables("run"):
        run.allow("arguments", "prints")
        found.append(Expected(run.names("arguments"), run.get("prints", str)))
    return tuple(found)


def prove(hunt: Hunt) -> Iterator[WarpladderError]:
    """Run fault and cure: problems where the judge does not refuse the one for its reason, or the other at all."""
    found = hunt.judge_text(hunt.shown)
    if found.verdict == "pass":
        yield WarpladderError("the fault passes", file=hunt.source)
    elif problem := _off(hunt, found):
        yield WarpladderError(problem, file=hunt.path, remedy=found.reason)
    cured = hunt.judge_text(hunt.cured)
    if cured.verdict != "pass":
        yield WarpladderError("the cure does not pass", file=hunt.path, remedy=cured.reason)


def _off(hunt: Hunt, found: Judged) -> str | None:
    """What is not as [fault] says in the judge's refusal; None where all is."""
    kinds = sorted({finding.kind for finding in found.findings})
    if hunt.fault.kind is None and kinds:
        return f"[fault] names no kind, and the judge finds {', '.join(kinds)}"
    if hunt.fault.kind is not None and hunt.fault.kind not in kinds:
        return f"the judge finds {', '.join(kinds) or 'nothing'}, not {hunt.fault.kind}"
    if not hunt.fault.reason.search(found.reason or ""):
        return f"`reason` is not found in what the judge says: {hunt.fault.reason.pattern}"
    named = _named(hunt, found)
    if named and not named & {*hunt.lines, *hunt.effects}:
        return f"the judge names {_list(named)}, and {_list(hunt.lines)} are marked"
    return None


def _named(hunt: Hunt, found: Judged) -> set[int]:
    """Lines that the judge names in findings of the fault's kind, for what happens or for what causes it."""
    lines = set()
    for finding in found.findings:
        if finding.kind == hunt.fault.kind:
            lines |= {finding.line, finding.other.line if finding.other else None}
            lines |= {int(line) for line in _LINE.findall(finding.remedy or "")}
    return {line for line in lines if line}


def _list(lines: Sequence[int] | set[int]) -> str:
    return "lines " + ", ".join(map(str, sorted(lines)))

"""Submissions of a notebook: graded, profiled, and counted at any size."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeVar

import msgspec
from rich.console import RenderableType
from rich.text import Text

from grader.errors import WarpladderError
from grader.judge.accesses import of_file as accesses_of
from grader.judge.grade import grade as judge_it
from grader.judge.profile import profile as profile_it
from grader.lab import cells, show
from grader.lab.cells import Cell, cell
from grader.lab.counts import About, Counts
from grader.lab.show import Shown
from grader.lab.sliders import Picture
from grader.report import console as views
from grader.report import pictures, profiles
from grader.results import CaseResult, Climb, Grade, Profile, load, whole_lines
from grader.workbook import topics, units
from grader.workbook.content import name_of, record_file

Result = TypeVar("Result", Grade, Profile)

_counted: dict[tuple[str, str, tuple[tuple[str, int], ...]], Counts] = {}


def grade(name: str, /, seed: int | None = None, **sizes: int) -> Grade:
    """The grade of the kernel NAME: right or wrong, the rung it reached, and why not the next.

    With sizes, `lab.grade("mine", M=33, N=31, seed=7)`, that case alone is tried, and no rung is given. Raises
    WarpladderError where there is no such kernel, or it is not a submission.
    """
    kept = cell(name)
    result = judge_it(kept.load_topic(), kept.path, seed=seed, problem_overrides=sizes or None)
    named = _named(result, kept)
    return replace(named, cases=[_in_notebook(case, kept.name) for case in named.cases])


def profile(name: str, /, **sizes: int) -> Profile:
    """What each launch and each line of the kernel NAME does, at the topic's `count` sizes or those given.

    Of a schedule, its timeline. Raises WarpladderError as `grade` does.
    """
    kept = cell(name)
    return _named(profile_it(kept.load_topic(), kept.path, problem_overrides=sizes or None), kept)


def counters(name: str, /, **sizes: int) -> Counts:
    """The counters of the kernel NAME, all its launches together, at the topic's `count` sizes or those given.

    Counted once for each text and size. Raises WarpladderError where it cannot be run; a kernel that runs and is
    wrong is counted, and says so.
    """
    kept = cell(name)
    key = (kept.topic or "", kept.text, tuple(sorted(sizes.items())))
    if key not in _counted:
        _counted[key] = _counts(name, profile(name, **sizes))
    return _counted[key]


def accesses(name: str) -> Picture:
    """What one block of the kernel NAME accesses of each array: drawn from the addresses that the emulator sees.

    The sizes are small, so that the block's part can be seen, the part of one instruction of a warp, and one thread's.
    Raises WarpladderError where there is no such kernel, or it is no submission, or does not run.
    """
    kept = cell(name)
    return Picture(pictures.accesses(accesses_of(kept.load_topic(), kept.path), name))


def _counts(name: str, run: Profile) -> Counts:
    """All launches of a profile together."""
    launches = [launch for launch in run.launches if launch.counters is not None]
    if not launches:
        reason = run.reason or "it is a schedule: lab.profile shows its timeline"
        raise WarpladderError(f"{run.file} was not counted: {reason}")
    total: dict[str, int] = {}
    for launch in launches:
        for counter, value in (launch.counters or {}).items():
            total[counter] = total.get(counter, 0) + value
    about = About(
        name=name,
        where=units.problem(run.problem),
        registers=max(launch.registers for launch in launches),
        spill_bytes=max(launch.spill_bytes or 0 for launch in launches),
        shared_bytes=max(launch.shared_bytes for launch in launches),
        occupancy=min(launch.occupancy or 0.0 for launch in launches),
        dram_bytes=sum(launch.dram_bytes or 0 for launch in launches),
        lines=tuple(whole_lines(line for launch in launches for line in launch.lines)),
        findings=tuple(finding for launch in launches for finding in launch.findings),
        wrong=None if run.verdict == "pass" else f"{run.verdict}: {run.reason}",
    )
    return Counts(total, about)


def source(name: str, start: str = "", end: str = "") -> Shown:
    """The text of the kernel NAME with line numbers, from the first line with `start` in it to the next with `end`.

    Raises WarpladderError where a line is not found.
    """
    lines = cell(name).text.splitlines()
    first = next((at for at, line in enumerate(lines) if start in line), None)
    last = (
        next((at for at in range(first or 0, len(lines)) if end in lines[at]), None)
        if end
        else len(lines) - 1
    )
    if first is None or last is None:
        missing = start if first is None else end
        raise WarpladderError(
            f"`{name}` has no line with `{missing}`", remedy="lab.source without it shows all"
        )
    shown = [f"{at + 1:4}  {lines[at]}" for at in range(first, last + 1)]
    return Shown(Text("\n".join(shown), no_wrap=True, overflow="ignore"))


def record(topic: str) -> Climb:
    """The record of a topic's ladder, measured on a GPU and committed; raises WarpladderError without one."""
    path = record_file(topic)
    if not path.is_file():
        raise WarpladderError(
            f"there is no record of {topic}", file=path, remedy="work in a clone of the repository"
        )
    return load(path, Climb)


# ---- how they are shown ------------------------------------------------------------------------------------


def register(shell: object) -> None:
    """Have IPython show grades, profiles and records as the terminal does."""
    kinds = {Grade: _grade_view, Profile: _profile_view, Climb: _climb_view}
    formatters = shell.display_formatter.formatters  # type: ignore[attr-defined]
    for kind, view in kinds.items():
        formatters["text/html"].for_type(kind, lambda result, view=view: show.as_html(view(result)))
        formatters["text/plain"].for_type(
            kind, lambda result, printer, cycle, view=view: printer.text(show.as_text(view(result)))
        )


def _grade_view(result: Grade) -> RenderableType:
    rungs = topics.load(result.topic).ladder.ids
    return views.grade(result, rungs, cells.lines_of(result.file))


def _profile_view(result: Profile) -> RenderableType:
    return profiles.profile(result, cells.lines_of(result.file))


def _climb_view(result: Climb) -> RenderableType:
    return views.climb(result, topics.load(result.topic).title)


def _named(result: Result, kept: Cell) -> Result:
    """The result with the kernel's name where it has the path of a temporary file or of this installation."""
    text = msgspec.json.encode(result).decode()
    path = json.dumps(str(kept.path), ensure_ascii=False)[1:-1]
    return msgspec.json.decode(text.replace(path, name_of(kept.path)), type=type(result))


def _in_notebook(case: CaseResult, name: str) -> CaseResult:
    """A case that is run again as the kernel `name` of this notebook."""
    if case.reproduce is None:
        return case
    return replace(case, reproduce=replace(case.reproduce, cell=name))

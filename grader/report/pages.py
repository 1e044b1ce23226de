"""Results as pages: a climb, a grade or a profile as one HTML file with its pictures, which loads nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath

import jinja2
from markupsafe import Markup

from grader.analysis.cycles import cycles
from grader.analysis.intensity import Ratio
from grader.emulator import metrics
from grader.errors import WarpladderError
from grader.report import console, occupancies, pictures, rooflines
from grader.report.occupancies import Block
from grader.report.profiles import NO_LINE, calls, costliest, launched, listed, listing
from grader.report.rendering import environment
from grader.report.reproducing import again
from grader.results import (
    Accesses,
    ClaimResult,
    Climb,
    Device,
    Grade,
    LaunchProfile,
    LineProfile,
    Profile,
    Provenance,
    RungResult,
)
from grader.workbook import units
from grader.workbook.ladder import figures
from grader.workbook.topic import Topic


@dataclass(frozen=True)
class Timeline:
    """A rung of a ladder of schedules, drawn."""

    rung: str
    picture: Markup


@dataclass(frozen=True)
class ListedLine:
    """A line of the source with what it cost in one launch."""

    number: int
    text: str
    instructions: int
    share: float  # of the launch's cycles
    loads: str  # sectors a request
    stores: str
    conflicts: str
    local: str  # requests to local memory
    calls: list[str]  # by which it was run, where its function was inlined
    code: list[ListedLine]  # the PTX or SASS that was made of it, where asked for


@dataclass(frozen=True)
class LaunchView:
    """A launch as the page shows it."""

    profile: LaunchProfile
    files: dict[str, list[ListedLine]]  # "" is the learner's own; of others what did something
    picture: Markup | None  # occupancy by block size; None where nothing is known of the device
    advice: str  # the next step up, in words; empty where nothing is known
    launched: str  # where a program launches it, and how often


def climb(result: Climb, title: str) -> str:
    """A whole ladder: its picture, its table, its roofline or timelines, and what each rung claims."""
    scheduled = any(rung.timeline for rung in result.rungs)
    counted = any(rung.counters for rung in result.rungs)
    return _page(
        "climb.html.j2",
        result=result,
        title=title,
        ladder=Markup(pictures.ladder(result)),
        roofline=Markup(pictures.roofline(result)) if counted and not scheduled else None,
        timelines=_timelines(result) if scheduled else [],
        computes=any(rung.flop for rung in result.rungs),
        ratios={rung.id: rooflines.ratio_of(rung) for rung in result.rungs if rung.counters},
        against="vs_library" if any(rung.vs_library for rung in result.rungs) else "vs_bound",
        shown=_own_claims,
        bound=console.bound_of(result),
    )


def grade(result: Grade, topic: Topic, source: Sequence[str], accesses: Accesses | None = None) -> str:
    """What a submission is worth and why; `source` are the submission's lines, `accesses` what it accesses, where that
    is to be drawn."""
    return _page("grade.html.j2", **_grade(result, topic, source, topic.ladder.ids, accesses))


def graded(result: Grade, topic: Topic, source: Sequence[str], rungs: Sequence[str], level: int) -> Markup:
    """The same as a part of another page, below a heading of `level`; `rungs` are those that may be seen."""
    return Markup(_page("grade_body.html.j2", level=level, **_grade(result, topic, source, rungs)))


def counters(result: Grade, level: int) -> Markup:
    """What was counted of a submission, as a part of another page, below a heading of `level`."""
    return Markup(_page("grade_counters.html.j2", result=result, level=level))


def what_was_seen(result: Grade, source: Sequence[str]) -> Markup:
    """Why a submission does not pass, as a part of another page."""
    return Markup(_page("grade_seen.html.j2", result=result, line=_quoting(source)))


def _quoting(source: Sequence[str]) -> Callable[[int | None], str]:
    """What shows a line of a source; "" where there is none of that number."""
    return lambda number: source[number - 1].strip() if number and number <= len(source) else ""


def _grade(
    result: Grade,
    topic: Topic,
    source: Sequence[str],
    rungs: Sequence[str],
    accesses: Accesses | None = None,
) -> dict[str, object]:
    """What the templates of a grade show; `rungs` are those that may be seen."""
    paid = topic.ladder.up_to(result.rung_reached)
    claims = console.told_claims(result, paid)
    return {
        "result": result,
        "title": topic.title,
        "rungs": rungs,
        "reached": len(paid) - 1,
        "claims": claims,
        "unused": console.UNUSED_SHARED if claims != result.claims else "",
        "earned": lambda claim: claim.points if claim.held and claim.rung in paid else 0,
        "line": _quoting(source),
        "accesses": _accesses(accesses),
    }


def profile(result: Profile, source: Sequence[str], accesses: Accesses | None = None) -> str:
    """Counters, resources and findings of a submission, launch by launch, each beside its source; `accesses` as for
    `grade`."""
    shown, left = costliest(result.launches)
    return _page(
        "profile.html.j2",
        result=result,
        launches=[_launch(result.device, launch, source, whole=bool(result.topic)) for launch in shown],
        left=left,
        listing=listing(shown),
        timeline=Markup(pictures.timeline(result)) if result.timeline else None,
        accesses=_accesses(accesses),
    )


def _accesses(result: Accesses | None) -> Markup | None:
    """The picture of what a block accesses, under the name that the submission's file has."""
    if result is None:
        return None
    return Markup(pictures.accesses_for_pages(result, PurePath(result.file).name))


def _timelines(result: Climb) -> list[Timeline]:
    return [
        Timeline(rung.id, Markup(pictures.intervals(rung.timeline, rung.time_source, rung.id)))
        for rung in result.rungs
        if rung.timeline
    ]


def _own_claims(rung: RungResult) -> list[ClaimResult]:
    """A rung's own claims, and those of earlier rungs that it breaks."""
    return [claim for claim in rung.claims if claim.rung in ("", rung.id) or claim.held is False]


def _launch(device: Device, launch: LaunchProfile, source: Sequence[str], whole: bool) -> LaunchView:
    """A launch with the whole source; of a program, whose host code is no part of it, from the first of the launch's
    lines to the last."""
    cost = listed(launch)
    total = sum(cycles(line.counters) for line in cost) or 1
    own = [line.line for line in cost if line.line and line.file is None]
    shown = range(1, len(source) + 1) if whole else range(min(own, default=1), max(own, default=0) + 1)
    texts = {
        ("", number): LineProfile(number, line, {})
        for number, line in enumerate(source, 1)
        if number in shown
    }
    for line in cost:
        key = line.file or "", line.line
        text = texts[key].source.rstrip() if key in texts else line.source if line.line else NO_LINE
        texts[key] = replace(line, source=text)
    code: dict[tuple[str, int], list[ListedLine]] = {}
    for each in launch.code:
        made = _line(each.line, f"{each.at:>4} {each.text}", each.counters or {}, total, [], [])
        code.setdefault((each.file or "", each.line), []).append(made)
    files: dict[str, list[ListedLine]] = {}
    for key in sorted(texts, key=lambda key: (key[0], key[1] or math.inf)):
        line = texts[key]
        by, below = calls(line, launch), code.get(key, [])
        files.setdefault(key[0], []).append(_line(line.line, line.source, line.counters, total, by, below))
    return LaunchView(launch, files, *_occupancy(device, launch), launched(launch))


def _line(
    number: int,
    text: str,
    counters: Mapping[str, int],
    total: float,
    by: list[str],
    code: list[ListedLine],
) -> ListedLine:
    few = console.bank_conflicts(counters), console.local_requests(counters)
    conflicts, local = (units.NOTHING if shown == "0" else shown for shown in few)
    return ListedLine(
        number,
        text,
        counters.get(metrics.WARP_INSTRUCTIONS, 0),
        cycles(counters) / total,
        console.sectors_a_request(counters, "ld"),
        console.sectors_a_request(counters, "st"),
        conflicts,
        local,
        by,
        code,
    )


def _occupancy(device: Device, launch: LaunchProfile) -> tuple[Markup | None, str]:
    """The occupancy of a launch, drawn, and the next step up in words."""
    try:
        spec = rooflines.spec_of(device)
    except WarpladderError:
        return None, ""
    block = Block(math.prod(launch.block), launch.registers, launch.shared_bytes)
    drawn = pictures.occupancy(
        spec, threads=block.threads, registers=block.registers, shared_bytes=block.shared_bytes
    )
    return Markup(drawn), occupancies.advice(spec, block)


# ---- the page ----------------------------------------------------------------------------------------------


def _page(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    return environment(
        {
            "seconds": units.seconds,
            "percent": units.percent,
            "ratio": units.ratio,
            "count": units.count,
            "kib": units.kib,
            "problem": units.problem,
            "extents": units.extents,
            "loads": lambda counters: console.sectors_a_request(counters, "ld"),
            "stores": lambda counters: console.sectors_a_request(counters, "st"),
            "conflicts": console.bank_conflicts,
            "provenance": _provenance,
            "again": again,
            "figures": figures,
        },
        {
            "NOTHING": units.NOTHING,
            "VERDICTS": console.VERDICTS,
            "cases_right": console.cases_right,
            "time_limit": console.time_limit,
            "no_ratio": Ratio(None, None, None),
        },
    )


def _provenance(found: Provenance) -> str:
    """Where a result comes from, in a line."""
    parts = [f"Warpladder {found.warpladder}", f"Python {found.python}", f"NumPy {found.numpy}"]
    parts += [f"NVRTC {found.nvrtc}"] if found.nvrtc else []
    parts += [f"driver {found.driver}"] if found.driver else []
    parts += [f"{found.rounds} rounds"] if found.rounds else []
    parts += [f"clock at least {found.sm_clock_mhz} MHz"] if found.sm_clock_mhz else []
    parts += [f"commit {found.git_commit[:12]}"] if found.git_commit else []
    return ", ".join([*parts, *([found.date] if found.date else [])])

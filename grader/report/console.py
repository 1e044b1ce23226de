"""Results in a terminal of 80 columns: each function turns a result into something that rich prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.emulator import metrics
from grader.errors import WarpladderError
from grader.report import gantt, records, words
from grader.report.grades.corners import corner, small
from grader.report.reproducing import again
from grader.report.terminal import unbroken
from grader.results import (
    MUCH_WASTE,
    Accuracy,
    CaseResult,
    ClaimResult,
    Climb,
    FindingResult,
    Grade,
    Hint,
    LineCost,
    RungResult,
    TimeLimit,
    Verdict,
)
from grader.workbook import units
from grader.workbook.exercises import SOLUTION
from grader.workbook.ladder import figures
from grader.workbook.topics import load

SIDE_STEP = "†"
NOT_MEASURED = "not measured"  # of a rung that a record does not have
UNUSED_SHARED = "– is of shared memory, and this kernel uses none."
LINES_PRINTED = 12
FAR, APART = 1.5, 1.2  # times a modelled time: of a rung in a climb, of the rung that a kernel has reached
SCATTERED = 16.5  # sectors a request, of which 16 are coalesced float4s
NO_SPEED = "for understanding, not for speed"
SHORT = 8  # lines of a ladder in a short table, one of which says how many rungs are left out
MODELLED = "≈ modelled: from what the emulator counted, for a device like this one. Not measured."

BASELINES = {
    "device copy": "a copy in the GPU's memory that moves as many bytes, half of them read and half written",
    "device read": "a kernel that reads as many bytes, and does nothing else",
    "CUB": "NVIDIA's library of sums, sorts and the like for arrays",
    "CuPy": "NumPy's functions on a GPU",
    "cuBLAS": "NVIDIA's library of matrix products",
    "cuDNN": "NVIDIA's library for neural networks",
}
"""What stands in the names of what a ladder is timed beside."""

DATA = {
    "exact": "small integers",
    "real": "random numbers",
    "special": "NaN, infinities and the like",
}

VERDICT_STYLES = {"pass": "green", "fail": "red", "error": "red", "timeout": "red", "skip": "yellow"}


def mark(good: bool | None) -> Text:
    """✓, ✗, or a dash for what is not known."""
    if good is None:
        return Text(units.NOTHING, "dim")
    return Text("✓", "green") if good else Text("✗", "red")


def sectors_a_request(counters: Mapping[str, int] | None, kind: str) -> str:
    """Sectors of 32 bytes that a request touches on average; `kind` is "ld" or "st"."""
    found = _sectors(counters, kind)
    return units.NOTHING if found is None else units.digits(found)


def _sectors(counters: Mapping[str, int] | None, kind: str) -> float | None:
    """The same as a number; None where there are no requests."""
    if counters is None or not counters.get(metrics.GLOBAL_REQUESTS[kind]):
        return None
    return counters.get(metrics.GLOBAL_SECTORS[kind], 0) / counters[metrics.GLOBAL_REQUESTS[kind]]


def bank_conflicts(counters: Mapping[str, int] | None) -> str:
    """Bank conflicts of shared loads, stores and atomics together."""
    if counters is None:
        return units.NOTHING
    return units.count(sum(counters.get(name, 0) for name in metrics.SHARED_CONFLICTS.values()))


def local_requests(counters: Mapping[str, int] | None) -> str:
    """Requests to local memory: spilled registers, and arrays that are not in registers."""
    if counters is None:
        return units.NOTHING
    return units.count(sum(counters.get(name, 0) for name in metrics.LOCAL_REQUESTS.values()))


# ---- climb -------------------------------------------------------------------------------------------------


def climb(result: Climb, title: str, measured: Climb | None = None, every: bool = True) -> RenderableType:
    """A whole ladder: what the numbers are, one line a rung, then what each rung claims, and bounds.

    `measured` is a record of the same problem on the GPU that was emulated. Unless `every` is asked for, only of rungs
    that did not pass is more shown than their line.
    """
    parts: list[RenderableType] = [_heading(result, title), "", _legend([result]), "", _ladder(result)]
    shown = [rung for rung in result.rungs if every or not _passed(rung)]
    explained = [block for rung in shown for block in _explanation(rung)]
    parts += ["", *explained] if explained else []
    parts += ["", *_footnotes(result, measured, every)]
    return Group(*parts)


def climbs(results: Sequence[Climb], titles: Sequence[str]) -> RenderableType:
    """Several ladders, a short table each: of a long one the rungs that gain most over the one before, and its ends."""
    parts: list[RenderableType] = [_legend(results, modelled=_modelled(results))]
    for result, title in zip(results, titles, strict=True):
        kept = _most_gained(result.rungs)
        parts += ["", _heading(result, title), _ladder(replace(result, rungs=kept))]
        if left := len(result.rungs) - len(kept):
            parts.append(Text(f"  … {left} more: ladder climb {result.topic}", "dim"))
        parts += [block for rung in result.rungs if not _passed(rung) for block in _explanation(rung)]
    return Group(*parts)


def _most_gained(rungs: Sequence[RungResult]) -> list[RungResult]:
    if len(rungs) <= SHORT:
        return list(rungs)
    gains = {
        rung.id: below.time_s / rung.time_s
        for below, rung in pairwise(rungs[:-1])
        if below.time_s and rung.time_s
    }
    most = {rungs[0].id, rungs[-1].id, *sorted(gains, key=gains.__getitem__)[-(SHORT - 3) :]}
    return [rung for rung in rungs if rung.id in most]


def _modelled(results: Sequence[Climb]) -> bool:
    return any(rung.time_source == "modelled" for result in results for rung in result.rungs)


def _heading(result: Climb, title: str) -> Text:
    return Text.assemble(
        (title, "bold"), f"   {unbroken(units.problem(result.problem))}   on {result.device.name}"
    )


def _ladder(result: Climb) -> Table:
    if any(rung.timeline for rung in result.rungs):
        return _schedules(result)
    library = any(rung.vs_library is not None for rung in result.rungs)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("", width=1)
    table.add_column("rung", no_wrap=True, overflow="ellipsis", max_width=20)
    against = "%lib" if library else "%bound"
    for column in ("time", "×naive", against, "regs", "smem", "occ%", "ld", "st", "confl"):
        table.add_column(column, justify="right", no_wrap=True)
    for rung in result.rungs:
        table.add_row(
            mark(_passed(rung)),
            f"{rung.id} {SIDE_STEP}" if rung.side_step else rung.id,
            _outcome(rung),
            units.ratio(rung.vs_naive),
            units.percent(rung.vs_library if library else rung.vs_bound),
            units.count(rung.registers),
            units.kib(rung.shared_bytes),
            units.percent(rung.occupancy),
            sectors_a_request(rung.counters, "ld"),
            sectors_a_request(rung.counters, "st"),
            bank_conflicts(rung.counters),
            style=None if rung.verdict == "pass" else VERDICT_STYLES[rung.verdict],
        )
    return table


def _passed(rung: RungResult) -> bool | None:
    """None where the device cannot run it."""
    return None if rung.verdict == "skip" else rung.verdict == "pass"


def _outcome(rung: RungResult) -> str:
    """Its time; else why there is none, in a word or two."""
    if rung.verdict == "pass":
        return units.seconds(rung.time_s, rung.time_source)
    return rung.reason or rung.verdict if rung.verdict == "skip" else rung.verdict


def _schedules(result: Climb) -> Table:
    """A ladder of schedules: how much of the time each engine of the device works."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("", width=1)
    table.add_column("rung", no_wrap=True, overflow="ellipsis", max_width=24)
    for column in ("time", "×naive", "%bound", "in%", "compute%", "out%"):
        table.add_column(column, justify="right", no_wrap=True)
    for rung in result.rungs:
        worked = gantt.shares(rung.timeline, rung.time_s)
        table.add_row(
            mark(_passed(rung)),
            f"{rung.id} {SIDE_STEP}" if rung.side_step else rung.id,
            _outcome(rung),
            units.ratio(rung.vs_naive),
            units.percent(rung.vs_bound),
            *(units.percent(worked.get(engine)) for engine in gantt.ROWS),
            style=None if rung.verdict == "pass" else VERDICT_STYLES[rung.verdict],
        )
    return table


def _explanation(rung: RungResult) -> Iterable[RenderableType]:
    """What a rung claims itself, what it breaks of the earlier rungs' claims, and why it did not pass."""
    shown = [claim for claim in rung.claims if claim.rung in ("", rung.id) or claim.held is False]
    reason = None if rung.verdict == "skip" else rung.reason  # it stands in the table
    others = (reason, rung.findings, rung.accuracy, rung.error_bound)
    if not shown and not any(others):
        return
    yield Text(rung.id, "bold")
    if reason is not None:
        yield Padding(Text(reason, VERDICT_STYLES[rung.verdict]), (0, 0, 0, 2))
    yield from findings(rung.findings, rung.file, ())
    if shown:
        yield claims(shown)
    if rung.accuracy is not None:
        yield Padding(accuracy(rung.accuracy), (0, 0, 0, 4))
    if rung.error_bound is not None:
        yield Padding(error_bound(rung.error_bound), (0, 0, 0, 4))
    if rung.timeline:
        yield gantt.gantt(rung.timeline, rung.time_source)


def accuracy(found: Accuracy) -> Text:
    """The largest error, beside the yardstick's."""
    return Text.assemble(
        f"largest error {units.percent(found.error)} % of what is allowed ",
        (
            f"({units.problem(found.problem)}; {found.yardstick}: {units.percent(found.yardstick_error)} %)",
            "dim",
        ),
    )


def error_bound(algorithm: str) -> Text:
    """Which bound errors are within, where it is not that of the sum as written."""
    return Text(f"errors within the bound of {algorithm}, which is wider than that of the sum as written")


def claims(items: Sequence[ClaimResult], paid: Sequence[str] | None = None) -> Padding:
    """Claims with ✓ or ✗, and what was found where one does not hold; with `paid`, the rungs that earn points,
    their points as well."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(width=1)
    table.add_column(ratio=1)
    if paid is not None:
        table.add_column(justify="right", no_wrap=True)
    for claim in items:
        text = Text(claim.text)
        if claim.held is False and (told := figures(claim)):
            where = (
                ", at the main size"
                if claim.at_main
                else f", at {units.problem(claim.at)}"
                if claim.at
                else ""
            )
            text.append(f"  ({told}{where})", "red")
        row = [mark(claim.held), text]
        if paid is not None:
            row.append(Text(f"{claim.points if claim.held and claim.rung in paid else 0}/{claim.points}"))
        table.add_row(*row)
    return Padding(table, (0, 0, 0, 2))


def _times_of_all(result: Climb, measured: Climb) -> Iterable[str]:
    """The measured time of each rung, in the ladder's order. A learner's own row claims nothing, and is no rung."""
    times = {rung.id: units.seconds(rung.time_s, rung.time_source) for rung in measured.rungs}
    missing = {rung.id: NOT_MEASURED for rung in result.rungs if rung.claims and rung.id not in times}
    return (time for _, time in sorted({**times, **missing}.items()))


def bound_of(result: Climb) -> str:
    """Below what no version comes; and which rungs do, as the bound is of other units. "" where none is known."""
    bound = result.bound
    if bound is None:
        return ""
    time = units.seconds(bound.time_s, bound.source)
    if not bound.units:
        return f"No version can take less than {time}: the {bound.by} bound."
    ids = [rung.id for rung in result.rungs if rung.time_s is not None and rung.time_s < bound.time_s]
    below = f" Below it, by other units or fewer operations: {', '.join(ids)}." if ids else ""
    return f"No version that computes on {bound.units} can take less than {time}.{below}"


def _footnotes(result: Climb, measured: Climb | None, every: bool) -> Iterable[Text]:
    for baseline in result.baselines:
        yield Text(unbroken(f"{baseline.name}: {units.seconds(baseline.time_s)}"))
    names = " ".join(baseline.name for baseline in result.baselines)
    if known := [f"{name}: {meaning}." for name, meaning in BASELINES.items() if name in names]:
        yield Text(" ".join(known), "dim")
    if said := bound_of(result):
        yield Text(unbroken(said))
    if _modelled([result]):
        yield Text(MODELLED, "dim")
    if measured is not None:
        times = ", ".join(_times_of_all(result, measured))
        yield Text(unbroken(f"Measured on a real {measured.device.name}, rung by rung: {times}."), "dim")
        yield from _beside_model(result, measured)
    if any(rung.side_step for rung in result.rungs):
        yield Text(f"{SIDE_STEP} {NO_SPEED}: an idea that need not be faster here.", "dim")
    if every and any(claim.held is None for rung in result.rungs for claim in rung.claims):
        yield Text(
            f"{units.NOTHING} a claim is for the sizes that are taken without --set, and where it does not hold at "
            "others it says nothing.",
            "dim",
        )
    if any(rung.timeline and rung.time_source == "measured" for rung in result.rungs):
        yield Text(gantt.INSTRUMENTED, "dim")


def _beside_model(result: Climb, measured: Climb) -> Iterable[Text]:
    """The rungs that take far longer than modelled, and what the model lacks."""
    modelled = {rung.id: rung for rung in result.rungs if rung.time_source == "modelled" and rung.time_s}
    for rung in measured.rungs:
        own = modelled.get(rung.id)
        if own is None or own.time_s is None or rung.time_s is None or rung.time_s < FAR * own.time_s:
            continue
        times = f"{rung.id} takes {units.ratio(rung.time_s / own.time_s)} times as long as modelled"
        yield Text(f"There {times}{_not_modelled(own.counters)}.", "dim")


def _not_modelled(counters: Mapping[str, int] | None) -> str:
    """Why it takes longer than modelled, where that is known: the model has a cache line stay in the L1 cache until
    every lane has had its part of it, for which there is no room where warps go through whole lines a lane."""
    scattered = any((_sectors(counters, kind) or 0) > SCATTERED for kind in ("ld", "st"))
    return ": the model has each line stay in the L1 cache until all lanes have used it" if scattered else ""


def _coalesced(results: Sequence[Climb]) -> str:
    """How many sectors a request of a warp takes whose threads access neighbours, from an element to 16 bytes each."""
    types = set()
    for result in results:
        try:
            types |= {item.dtype.name for item in load(result.topic).signature.inputs[:1]}
        except WarpladderError:  # a record's topic need not be one of this workbook's
            continue
    widths = sorted((np.dtype(name).itemsize, _ELEMENTS.get(name, name)) for name in types or {"float32"})
    return f"{', '.join(f'{size} ({name})' for size, name in widths)} to 16"


_ELEMENTS = {
    "float16": "halves",
    "bfloat16": "bfloat16 elements",
    "float32": "floats",
    "float64": "doubles",
    "int32": "ints",
    "uint32": "words",
    "uint8": "bytes",
}


def _legend(results: Sequence[Climb], modelled: bool = False) -> Text:
    """What the columns of the ladders' tables are, and the sign of times that are modelled."""
    rungs = [rung for result in results for rung in result.rungs]
    said = ["≈: modelled, not measured."] if modelled else []
    said.append("×naive: speed over rung 00.")
    if any(rung.vs_library is not None for rung in rungs):
        said.append("%lib: speed over the library's.")
    if any(all(rung.vs_library is None for rung in result.rungs) for result in results):
        other = ", more than 100 by others" if any((rung.vs_bound or 0) > 1 for rung in rungs) else ""
        said.append(f"%bound: speed over the bound, the highest these units and operations allow{other}.")
    if any(rung.timeline for rung in rungs):
        said.append(gantt.LEGEND)
    if not all(rung.timeline for rung in rungs):
        said.append(
            "regs: registers a thread. smem: shared memory a block. occ%: occupancy. ld, st: 32-byte sectors a global "
            "request; where coalesced, a thread's bytes: "
            f"{_coalesced(results)}. confl: bank conflicts."
        )
        counted = {
            unbroken(units.problem(result.counted))
            for result in results
            if result.counted != result.problem and result.counted
        }
        if len(results) == 1 and counted:
            said.append(f"Counted at {counted.pop()}.")
    return Text(" ".join(said), "dim")


def next_step(commands: Sequence[str], activate: str) -> RenderableType:
    """What to do after a climb in a terminal, to be copied. `activate` is what makes `ladder` known to the shell, ""
    where it is."""
    lines = [activate, *commands] if activate else commands
    return Group(
        "", Text("Next:", "bold"), *(Text(f"  {line}", no_wrap=True, overflow="ignore") for line in lines)
    )


# ---- grade -------------------------------------------------------------------------------------------------


def grade(result: Grade, rungs: Sequence[str], source: Sequence[str], best: str = "") -> RenderableType:
    """All of what a submission is worth; `rungs` are the ladder's ids, `source` the submission's lines, `best` says
    what a better one was worth."""
    parts: list[RenderableType] = [_verdict(result), *_better(best), *_cases(result)]
    if result.accuracy is not None:
        parts.append(accuracy(result.accuracy))
    parts += [
        error_bound(name) for name in sorted({case.error_bound for case in result.cases if case.error_bound})
    ]
    parts += what_was_seen(result, source)
    if result.time_s is not None:
        parts.append(_time(result))
    if result.rung_reached is not None and _is_ladder(rungs):
        parts += ["", _reached(result.rung_reached, rungs)]
    if result.claims:
        paid = _paid(result, rungs)
        listed = told_claims(result, paid)
        parts += ["", claims(listed, paid)]
        if any(claim.held and claim.rung not in paid for claim in listed):
            parts += [
                "",
                Text("Points are earned rung by rung: ✓ above a missing rung earns none yet.", "dim"),
            ]
        if listed != result.claims:
            parts += ["", Text(UNUSED_SHARED, "dim")]
    if result.time_limits:
        parts += ["", time_limits(result)]
    if result.costliest is not None:
        parts += ["", *costliest(result.costliest, source)]
    for hint in result.hints:
        parts += ["", _next(hint)]
    return Group(*parts)


def _is_ladder(rungs: Sequence[str]) -> bool:
    """Whether rungs are of a ladder, and not what the task of a small exercise asks for."""
    return len(rungs) > 1 and rungs[-1] != SOLUTION


def step(result: Grade, rungs: Sequence[str], source: Sequence[str], best: str = "") -> RenderableType:
    """A grade as its owner reads it: right or why not, the rung, and the one thing to do now, with what no claim says.
    The rest by --all."""
    parts: list[RenderableType] = [_verdict(result), *_better(best), *_cases(result)]
    parts += what_was_seen(result, source)
    if result.time_s is not None:
        parts.append(_time(result))
    if result.rung_reached is not None and _is_ladder(rungs):
        parts += ["", _reached(result.rung_reached, rungs)]
    shown = [hint for number, hint in enumerate(result.hints) if number == 0 or hint.claim is None]
    for number, hint in enumerate(shown):
        parts += ["", _next(hint, "Also" if number else "Next")]
    if result.costliest is not None:
        parts += ["", *costliest(result.costliest, source)]
    parts += words.told([*said(result), *(hint.text for hint in shown)])
    command = shlex.join(["ladder", "grade", result.topic, result.file])
    if result.verdict != "pass":
        parts += ["", _more("Stuck?", shlex.join(["ladder", "hint", result.topic, result.file]))]
    elif result.claims and result.rung_reached is not None and _is_ladder(rungs):
        parts += ["", _more("All claims, and what each pays:", f"{command} --all")]
    if result.verdict == "pass" and result.rung_reached is not None and not result.hints:
        parts += ["", _more("What is next:", "ladder next")]
    return Group(*parts)


def said(result: Grade) -> Iterable[str | None]:
    """What a grade says in sentences, besides its hints."""
    yield result.reason
    for finding in result.findings:
        yield from (finding.message, finding.remedy)
    if result.costliest is not None:
        yield from (result.costliest.says, result.costliest.remedy)


def _next(hint: Hint, lead: str = "Next") -> Text:
    return Text.assemble((f"{lead}: ", "bold"), unbroken(hint.text))


def _more(what: str, command: str) -> Text:
    """In one line, to be copied."""
    return Text(f"{what} {command}", "dim", no_wrap=True, overflow="ignore")


def what_was_seen(result: Grade, source: Sequence[str]) -> Iterable[RenderableType]:
    """Why a submission does not pass: the reason, what surrounds a wrong element, all findings; and what it printed."""
    if result.reason is not None:
        yield from ("", Text(result.reason))
        # The reason tells of the first finding; its line is shown below, and the others follow.
        yield from (quoted(finding, source) for finding in result.findings[:1])
    if result.beyond is not None:
        yield from ("", Text(result.beyond, "yellow"))
    if result.small is not None:
        yield from small(result.small)
    else:
        for case in result.cases:
            if case.first_mismatch:
                yield from corner(case.first_mismatch)
    told = [finding.remedy for finding in result.findings[:1] if finding.remedy]
    yield from findings(result.findings[1:], result.file, source, told)
    yield from printed(result.printed)


def costliest(cost: LineCost, source: Sequence[str]) -> Iterable[RenderableType]:
    """The line that wastes most, or that the next rung is lacking by, and what mends that."""
    named = "Costliest: " if cost.share >= MUCH_WASTE else "What is left: "
    yield Text.assemble((named, "bold"), f"line {cost.line}, {cost.says}. {cost.remedy}")
    if cost.line <= len(source):
        yield line_of(source[cost.line - 1])


def time_limits(result: Grade) -> Padding:
    """The time that decided with the claims: ✓ or ✗ for each rung that was looked at."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(width=1)
    table.add_column(ratio=1)
    for item in result.time_limits:
        table.add_row(mark(item.held), Text(unbroken(time_limit(result, item)), "" if item.held else "red"))
    return Padding(table, (0, 0, 0, 2))


def time_limit(result: Grade, limit: TimeLimit) -> str:
    """A time beside its limit, and what the limit is made of: it is wide where the rung before is slow."""
    own = "not known" if result.time_s is None else units.seconds(result.time_s, result.time_source)
    most = units.seconds(limit.limit_s, result.time_source)
    return (
        f"time: {own}; {limit.rung} asks for {most}, a tenth more than the slower of it and the rung before"
    )


def told_claims(result: Grade, paid: Sequence[str]) -> list[ClaimResult]:
    """A grade's claims as they are shown: those on shared memory say nothing of a kernel that uses none.

    "Without bank conflicts" holds there, but nobody has done anything for it. Where it earns points, it has its ✓.
    """
    counters, facts = result.counters or {}, result.facts or {}
    used = facts.get("shared_bytes", 1) or any(n for name, n in counters.items() if "shared" in name)
    if used:
        return result.claims
    return [
        replace(claim, held=None)
        if claim.held and claim.rung not in paid and "shared" in claim.expect
        else claim
        for claim in result.claims
    ]


def printed(text: str) -> Iterable[RenderableType]:
    """The first lines of what a submission printed."""
    if not text:
        return
    lines = text.splitlines()
    yield Text(
        f"\nIt printed{'' if len(lines) <= LINES_PRINTED else f', in its first {LINES_PRINTED} lines'}:"
    )
    yield Padding(Text("\n".join(lines[:LINES_PRINTED])), (0, 0, 0, 2))


VERDICTS = {"pass": "RIGHT", "fail": "WRONG", "error": "ERROR", "timeout": "TIMEOUT", "skip": "SKIPPED"}


def _verdict(result: Grade) -> Text:
    style = VERDICT_STYLES[result.verdict]
    text = Text.assemble((VERDICTS[result.verdict], f"bold {style}"), f"  {result.file}")
    if result.verdict != "pass" or result.rung_reached is not None:  # what passed uncounted has no points yet
        text.append(f"  {result.points} of {result.max_points} points", "bold")
    return text


def _better(best: str) -> Iterable[Text]:
    if best:
        yield Text(best, "dim")


def _time(result: Grade) -> Text:
    """How long it takes at the main sizes, beside rung 0 and the bound.

    What is on record for its GPU stands on a line of its own, the rung's time beside the library's: a modelled time is
    not to be compared with a measured one.
    """
    modelled = ", modelled" if result.time_source == "modelled" else ""
    text = Text(f"{units.seconds(result.time_s, result.time_source)} at the main size{modelled}")
    if result.vs_naive is not None:
        text.append(f": {units.ratio(result.vs_naive)} times as fast as rung 0")
    if result.vs_bound is not None:
        text.append(f", {units.percent(result.vs_bound)} % of the bound")
    if (record := records.on_same_gpu(result.topic, result.device)) is not None:
        own = [rung for rung in record.rungs if rung.id == result.rung_reached]
        timed = [(f"rung {rung.id}", rung.time_s) for rung in own if rung.time_s is not None]
        timed += [(baseline.name, baseline.time_s) for baseline in record.baselines[:1]]
        times = ", ".join(f"{name} {units.seconds(seconds)}" for name, seconds in timed)
        text.append(f"\nMeasured on a real {record.device.name}: {times}")
        for place, rung in enumerate(record.rungs):
            if rung in own and (said := _against_expectation(result, rung, record.rungs[:place])):
                text.append(f"\nThere {rung.id} {said}.")
    return text


def _against_expectation(result: Grade, rung: RungResult, before: Sequence[RungResult]) -> str:
    """What a rung's measured time has that neither the model nor the ladder's order leads to expect; "" for nothing."""
    said = []
    if rung.time_s is not None and result.time_s and result.time_source == "modelled":
        times = rung.time_s / result.time_s
        if times > APART:
            longer = f"takes {units.ratio(times)} times as long as the model expects of yours"
            said.append(f"{longer}{_not_modelled(result.counters)}")
        elif times < 1 / APART:
            said.append(f"is {units.ratio(1 / times)} times as fast as the model expects of yours")
    last = before[-1] if before else None
    if rung.time_s and last and last.time_s:
        shown = units.seconds(last.time_s)
        if rung.time_s >= last.time_s or units.seconds(rung.time_s) == shown:
            why = f": it is {NO_SPEED}" if rung.side_step else ""
            said.append(f"is no faster than {last.id}, {shown}{why}")
    return ", and ".join(said)


def _paid(result: Grade, rungs: Sequence[str]) -> Sequence[str]:
    """The rungs whose claims earn points: up to the one reached."""
    return () if result.rung_reached is None else rungs[: rungs.index(result.rung_reached) + 1]


_LAST: Mapping[Verdict, str] = {
    "fail": "a wrong one",
    "error": "one that could not be run",
    "timeout": "one that did not come to its end",
    "skip": "one that was not run",
}
"""What is said of a case that is not right, by its verdict."""


def cases_right(result: Grade) -> str:
    """How many cases are right; where the last is the only wrong one, that it stopped there; and where none is wrong,
    though the kernel is, that the reason is no case."""
    cases = result.cases
    passed = sum(case.verdict == "pass" for case in cases)
    if passed == len(cases) - 1 and cases[-1].verdict != "pass":
        before = f"{units.number_of(passed, 'case')} right, then" if passed else "The first case is"
        return f"{before} {_LAST[cases[-1].verdict]}; none is tried after that"
    of_sizes = f"of {units.number_of(len({tuple(case.problem.items()) for case in cases}), 'size')}"
    if passed == len(cases) and result.verdict != "pass":
        return (
            f"{units.number_of(passed, 'case')} right, {of_sizes}; it failed in what is looked at after them"
        )
    return f"{passed} of {units.number_of(len(cases), 'case')} right, {of_sizes}"


def _cases(result: Grade) -> Iterable[RenderableType]:
    if not result.cases:
        return
    yield Text(cases_right(result))
    for case in result.cases:
        if case.verdict != "pass":
            yield from _failed_case(case)


def _failed_case(case: CaseResult) -> Iterable[RenderableType]:
    what = f"{units.problem(case.problem)}, {case.kind} data ({DATA[case.kind]}): {case.verdict}"
    yield Padding(Text.assemble(("✗ ", "red"), what), (0, 0, 0, 2))
    if case.reproduce is not None:  # in one line, to be copied: not padded, because padding crops
        command = (again(case.reproduce), "cyan")
        yield Text.assemble("    again: ", command, no_wrap=True, overflow="ignore")


def _reached(reached: str, rungs: Sequence[str]) -> Text:
    text = Text(f"Rung {rungs.index(reached):02d} of {len(rungs) - 1:02d}: ")
    below = True
    for position, rung in enumerate(rungs):
        text.append(" → " if position else "")
        text.append(rung, "bold green" if rung == reached else "green" if below else "dim")
        below = below and rung != reached
    return text


def findings(
    items: Sequence[FindingResult], file: str, source: Sequence[str], told: Iterable[str] = ()
) -> Iterable[RenderableType]:
    """Faults that the emulator saw, each with the line it happened in, and with what mends it where that is not `told`
    above it."""
    remedies = {*told}
    for finding in items:
        where = f"{finding.file or file}:{finding.line}" if finding.line else file
        times = f" ({units.count(finding.count)} times)" if finding.count > 1 else ""
        text = Text.assemble((f"{where}: ", "bold"), (finding.kind.replace("_", " "), "red"), ": ")
        text.append(f"{finding.message}{times}")
        if finding.remedy and finding.remedy not in remedies:
            text.append(f". {finding.remedy}")
            remedies.add(finding.remedy)
        yield Padding(text, (1, 0, 0, 2))
        yield quoted(finding, source)


def quoted(finding: FindingResult, source: Sequence[str]) -> RenderableType:
    """The source line of a finding, where there is one."""
    if not finding.line or finding.file or finding.line > len(source):
        return Group()
    return line_of(source[finding.line - 1])


def line_of(line: str) -> Text:
    """A line of source, which is neither broken nor cut: not padded, because padding crops."""
    return Text(f"{'':6}{line.strip()}", "cyan", no_wrap=True, overflow="ignore")

"""What one run of a program did wrong, each mistake with its line and what mends it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.emulator.cudart.events import HostCall, Outcome
from grader.emulator.places import Place
from grader.findings import host, kernels
from grader.results import FindingResult
from grader.workbook.programs import Program
from grader.workbook.reference import Problem

_TO_HOST = (2, 4)  # cudaMemcpyDeviceToHost, cudaMemcpyDefault
_UNSET = ("uninitialised_global", "never_written")
"""Findings of memory that nobody has written."""
_LOOK = "Look at what this call is given, and at what came before it."
_RETURN_0 = "Return 0 from main where all went well."


@dataclass(frozen=True)
class Run:
    """One run of a program."""

    problem: Problem
    outcome: Outcome
    text: str
    """What it printed, on both streams."""
    source: Sequence[str]
    """The program's lines."""

    def number(self, word: str) -> float | None:
        """The last number that was printed on a line of its own after `word`; None where there is none."""
        found = re.findall(rf"^{re.escape(word)}\s+(\S+)", self.text, re.MULTILINE)
        try:
            return float(found[-1]) if found else None
        except ValueError:
            return None

    def line_with(self, pattern: str) -> int | None:
        """The first line of the source that a pattern is found in."""
        return next((n for n, text in enumerate(self.source, 1) if re.search(pattern, text)), None)


def of_run(exercise: Program, run: Run) -> list[FindingResult]:
    """What the emulator found in a run; where that is nothing, or of memory that nobody has written, the first thing
    that is wrong with its end, its launches, its output or its times comes before."""
    found = seen(run.outcome)
    unset = [item for item in found if item.kind in _UNSET]
    causes = [item for item in found if item.kind not in _UNSET]
    for look in (_end, _launches, _output, _times, _handles):
        causes = causes or list(look(exercise, run))
    return causes + unset


def seen(outcome: Outcome) -> list[FindingResult]:
    """What the emulator found in a run, of the kernels and of the host's code. That nobody has written what is read
    comes last: a call is missing or short, and what else is seen says which."""
    return sorted((*_kernels(outcome), *_host(outcome)), key=lambda found: found.kind in _UNSET)


def _kernels(outcome: Outcome) -> Iterator[FindingResult]:
    for record, _ in outcome.launches:
        yield from (kernels.result(finding, record.kernel) for finding in record.findings)


def _host(outcome: Outcome) -> Iterator[FindingResult]:
    """Leaks of a program that ended early are no mistake of their own."""
    for found in outcome.findings:
        if found.kind != "leak" or outcome.status == 0:
            yield FindingResult(
                found.kind, _line(found.place), host.message(found), found.count, remedy=host.remedy(found),
                array=found.array,
            )  # fmt: skip


def _end(exercise: Program, run: Run) -> Iterator[FindingResult]:
    """An error that a call returned, and a status that says that something went wrong."""
    status = run.outcome.status
    if run.outcome.errors:
        error = run.outcome.errors[0]
        because = f": {error.reason}" if error.reason else ""
        remedy = host.cause(error.call, error.error) or _LOOK
        message = f"{error.call} returns {error.error}{because}"
        yield FindingResult("error", _line(error.place), message, remedy=remedy)
    elif status:
        message = f"the program ends with status {status}, and no call has failed"
        yield FindingResult("status", run.line_with(r"\bmain\s*\("), message, remedy=_RETURN_0)


def _launches(exercise: Program, run: Run) -> Iterator[FindingResult]:
    names = {record.kernel for record, _ in run.outcome.launches}
    if run.problem[exercise.elements] and exercise.kernel not in names:
        remedy = f"Launch it over all elements: {exercise.kernel}<<<grid, block>>>(…)."
        message = f"the kernel `{exercise.kernel}` is never launched"
        yield FindingResult("launch", run.line_with(r"\bmain\s*\("), message, remedy=remedy)


def _output(exercise: Program, run: Run) -> Iterator[FindingResult]:
    expected = exercise.reference.printed(run.problem)
    for word, statement in exercise.prints.items():
        found, line = run.number(word), run.line_with(rf'"{re.escape(word)}\b')
        if found is None:
            line = line or run.line_with(r"\bmain\s*\(")
            yield FindingResult(
                "output", line, f"no line `{word} …` is printed", remedy=f"Print it: {statement}"
            )
        elif word in expected and found != expected[word]:
            yield _explained(exercise, run, word, found, expected[word], line)
        elif word not in expected and not (math.isfinite(found) and found >= 0):
            yield FindingResult(
                "output", line, f"`{word} {found}` is no time", remedy="Print milliseconds, from 0 on."
            )


def _explained(
    exercise: Program, run: Run, word: str, found: float, expected: float, line: int | None
) -> FindingResult:
    """A wrong number, with the mistake that makes it where that is known."""
    wrong = f"`{word} {found:.0f}` is printed, and {expected:.0f} is right"
    launched = _last_launch(run.outcome)
    elements, threads = run.problem[exercise.elements], _threads(exercise, run.outcome)
    if launched is not None and threads < elements:
        mended = "One thread for each element: round the number of blocks up, (n + block - 1) / block."
        message = f"{wrong}: the launches have {threads:,} threads, and there are {elements:,} elements"
        return FindingResult("output", launched, message, remedy=mended)
    if launched is not None and not _copied_back(run.outcome.calls):
        mended = "Copy it to the host after the launch: cudaMemcpy(…, cudaMemcpyDeviceToHost)."
        return FindingResult(
            "output", launched, f"{wrong}: what this kernel writes is never copied back", remedy=mended
        )
    for printed, message, mended in exercise.reference.mistakes(run.problem):
        if launched is not None and printed.get(word) == found:
            return FindingResult("output", launched, f"{wrong}: {message}", remedy=mended)
    return FindingResult(
        "output", line, wrong, remedy="Follow one element: what is copied where, and when is it read?"
    )


def _last_launch(outcome: Outcome) -> int | None:
    return _line(outcome.launches[-1][1]) if outcome.launches else None


def _threads(exercise: Program, outcome: Outcome) -> int:
    """Of all launches of the exercise's kernel."""
    records = [record for record, _ in outcome.launches if record.kernel == exercise.kernel]
    return sum(math.prod(record.grid) * math.prod(record.block) for record in records)


def _copied_back(calls: Sequence[HostCall]) -> bool:
    """Whether anything is copied to the host after the last launch."""
    after = calls[_last(calls, "cudaLaunchKernel") + 1 :]
    return any(call.direction in _TO_HOST for call in after)


def _times(exercise: Program, run: Run) -> Iterator[FindingResult]:
    """Times are taken by two events around the launches."""
    calls = run.outcome.calls
    called = [call.name for call in calls]
    if "time" not in exercise.prints:
        return
    if "cudaEventElapsedTime" not in called:
        remedy = "Ask for the time between the two events: cudaEventElapsedTime(&ms, start, stop)."
        message = "the time that is printed is not one between two events"
        yield FindingResult("time", run.line_with(r'"time\b'), message, remedy=remedy)
    elif "cudaLaunchKernel" in called:
        first, last = called.index("cudaLaunchKernel"), _last(calls, "cudaLaunchKernel")
        if "cudaEventRecord" not in called[:first] or "cudaEventRecord" not in called[last:]:
            remedy = "Call cudaEventRecord(start) before the launch, and cudaEventRecord(stop) after it."
            message = (
                "the events are not recorded around this launch, so the time between them is not the kernel's"
            )
            yield FindingResult("time", _line(calls[first].place), message, remedy=remedy)


def _last(calls: Sequence[HostCall], name: str) -> int:
    """The place of the last call of that name; -1 where there is none."""
    return max((number for number, call in enumerate(calls) if call.name == name), default=-1)


def _handles(exercise: Program, run: Run) -> Iterator[FindingResult]:
    for call in run.outcome.undestroyed:
        what = "event" if call.name.startswith("cudaEvent") else "stream"
        destroy = f"cuda{what.capitalize()}Destroy"
        message = f"the {what} that {call.name} makes is never destroyed"
        yield FindingResult(
            "leak", _line(call.place), message, remedy=f"Call {destroy} before the program ends."
        )


def _line(place: Place | None) -> int | None:
    return None if place is None else place.line

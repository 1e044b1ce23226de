"""Failures, planted one at a time: each call that may fail does so once, and the program has to report it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.emulator.cudart.events import HostCall, Outcome, Trial
from grader.emulator.cudart.status import Status, text_of
from grader.results import FindingResult

_LAUNCH = "cudaLaunchKernel"
_STATUSES = {
    **dict.fromkeys(
        ("cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc"),
        Status.MemoryAllocation,
    ),
    **dict.fromkeys(("cudaMemcpy", "cudaMemcpyAsync", "cudaMemset", "cudaMemsetAsync"), Status.InvalidValue),
    _LAUNCH: Status.LaunchOutOfResources,
}
_REMEDIES = {
    "call": (
        "Compare what it returns with cudaSuccess; if it differs, print cudaGetErrorString of it and end the program "
        "with a status other than 0: CHECK(…) around the call."
    ),
    "launch": "A launch returns nothing: ask cudaGetLastError() right after it, CHECK(cudaGetLastError()).",
    "kernel": (
        "A kernel's failure is returned by the call that waits for it: check that one, cudaEventSynchronize or "
        "cudaDeviceSynchronize, CHECK(…) around the call."
    ),
}
_MOST_STATUS = 127
"""What is above is a signal, as a shell says it."""


@dataclass(frozen=True)
class Planted:
    """A failure, and where it is planted."""

    trial: Trial
    call: HostCall

    @property
    def error(self) -> Status:
        return Status(self.trial.status)

    @property
    def kind(self) -> str:
        """What fails: a call, a launch, or the kernel while it runs."""
        if self.call.name != _LAUNCH:
            return "call"
        return "kernel" if self.trial.while_running else "launch"

    @property
    def subject(self) -> str:
        """What fails, as it is told."""
        names = {"call": self.call.name, "launch": "the launch", "kernel": "the kernel"}
        return names[self.kind]

    @property
    def line(self) -> int | None:
        return None if self.call.place is None else self.call.place.line

    @property
    def text(self) -> str:
        """As a row of a list."""
        where = "" if self.line is None else f"line {self.line}: "
        return f"{where}{self.subject} fails, and the program says so and ends"


def plants(right: Outcome) -> Iterator[Planted]:
    """A failure for each place of the source that allocates, copies or launches, as a right run came by there."""
    seen = set()
    for number, call in enumerate(right.calls):
        if call.name in _STATUSES and (call.name, call.place) not in seen:
            seen.add((call.name, call.place))
            yield Planted(Trial(number, int(_STATUSES[call.name])), call)
            if call.name == _LAUNCH:
                yield Planted(Trial(number, int(Status.IllegalAddress), while_running=True), call)


def missed(planted: Planted, outcome: Outcome, text: str) -> FindingResult | None:
    """What a program did wrong about a failure; None where it reported it. `text` is what it printed."""
    says = planted.error.cuda_name in text or text_of(planted.trial.status) in text
    ends = 0 < outcome.status <= _MOST_STATUS and not outcome.timed_out
    if says and ends:
        return None
    then = "ends without naming this error" if ends else _goes_on(outcome)
    when = " while it runs" if planted.kind == "kernel" else ""
    message = f"where {planted.subject} fails{when} with {planted.error.cuda_name}, the program {then}"
    return FindingResult("unnoticed", planted.line, message, remedy=_REMEDIES[planted.kind])


def _goes_on(outcome: Outcome) -> str:
    if outcome.timed_out:
        return "never ends"
    return "goes on and ends with status 0" if outcome.status == 0 else "goes on and crashes"

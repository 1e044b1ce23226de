"""What is known of a kernel on its way through the judge."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from grader.analysis.model import ModelledTime
from grader.emulator import metrics
from grader.emulator.machine.records import by_line
from grader.findings.remedies import SAME_CHANGE
from grader.judge.child.protocol import Record
from grader.judge.claims import costs
from grader.judge.claims.hints import IssuedLine
from grader.judge.correctness.cases import Case
from grader.judge.kernels import counting
from grader.judge.kernels.case_run import Outcome
from grader.judge.kernels.case_runner import CaseRunner, case_result
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.counting import Resources
from grader.judge.submission import Submission
from grader.results import LineCost
from grader.workbook import cuda_source, units
from grader.workbook.kernel_file import KernelFile
from grader.workbook.suspects import shared_memory

if TYPE_CHECKING:
    from grader.judge.kernels.track import KernelCandidate, KernelTrack

_OWN_ELEMENTS = (
    "In line {line} each thread reads only what it has stored itself in `{array}`, so that `{array}` exchanges "
    "nothing: leave it out, or have each thread read what another has stored."
)

_HANDED_ON = (
    "Nearly all stores and atomics in global memory are those of line {line}, where each of {blocks} adds its `{copy}` "
    "to `{array}`: let fewer blocks do the work, each on more elements, as with the stride of the grid."
)
MOST = 0.9
"""The share of requests that is nearly all of them."""

_OF_SOME = (
    "The __syncthreads() in line {line} stands behind the `if` of line {condition}, which depends on the thread. CUDA "
    "allows a barrier in conditional code only where the condition evaluates identically for all threads of the block: "
    "put it in front of the `if` or behind, and the condition on the loads and on the stores."
)


@dataclass(kw_only=True)
class KernelSubmission(Submission):
    """What is known of a kernel file so far."""

    file: KernelFile
    kernel: Kernel | None = None  # once it is compiled
    last: Case | None = None  # that it was tried on
    resources: Resources | None = None  # at the sizes that were counted
    counted: tuple[
        tuple[Record, ...], ...
    ] = ()  # of each case at those sizes, its launches; empty: not counted
    at_main: Sequence[Record] = ()  # some blocks of its launches at the main size; none: not looked at
    modelled: ModelledTime | None = None
    track: Future[KernelTrack] | None = None  # what it is timed on; None: no GPU, or not counted
    warm: Future[KernelCandidate] | None = None  # what is timed there, warmed up and compared

    @property
    def records(self) -> tuple[Record, ...] | None:
        """Of the launches at the sizes that were counted, in the first case; None: not counted."""
        return self.counted[0] if self.counted else None

    @property
    def counters(self) -> dict[str, int] | None:
        """Counters of all launches together; None: not counted."""
        return None if self.records is None else counting.summed(self.records)

    @property
    def source(self) -> str:
        return self.file.source

    def costliest(self, later: Collection[str] = (), wanted: Collection[str] = ()) -> LineCost | None:
        if self.records is None:
            return None
        lines = _by_line(self.records)
        threads = {math.prod(record.block) for record in self.records}
        a_block = threads.pop() if len(threads) == 1 else 32
        return costs.costliest(lines, self.source, later, a_block, wanted)

    def most_issued(self) -> IssuedLine | None:
        lines = _by_line(self.at_main or self.records or ())
        issued = {line: counters.get(metrics.WARP_INSTRUCTIONS, 0) for line, counters in lines.items()}
        line = max(issued, key=lambda line: issued[line], default=0)
        return IssuedLine(line, issued[line] / sum(issued.values())) if line else None

    def advice(self, measured: Collection[str] = ()) -> str:
        """About blocks that are so many that what each hands on is most of the stores and atomics which are measured,
        barriers behind a thread's own condition, and shared memory by which threads hand nothing on to each other."""
        source = self.file.source
        barriers = cuda_source.barriers_of_some(source)
        own = shared_memory.of_own_elements(source)
        return " ".join(
            (
                *([handed_on] if "store_requests" in measured and (handed_on := self._handed_on()) else []),
                *(_OF_SOME.format(line=line, condition=condition) for line, condition in barriers),
                *(_OWN_ELEMENTS.format(array=array, line=line) for array, line in own.items()),
            )
        )

    def _handed_on(self) -> str:
        """In which line each block adds the elements that it has in shared memory to those of all, where these are most
        requests to store to global memory, or to update it, and no thread goes on by the grid; "" where there is
        none."""
        source, records = self.file.source, self.records or ()
        lines = by_line(chain.from_iterable(record.lines for record in records))
        names = [metrics.GLOBAL_REQUESTS[kind] for kind in ("st", *metrics.ATOMICS)]
        requests = {line: sum(counters.get(name, 0) for name in names) for line, counters in lines.items()}
        if len(records) != 1 or not requests or "gridDim" in cuda_source.plain(source):
            return ""
        most = max(requests, key=lambda line: requests[line])
        if requests[most] < MOST * sum(requests.values()):
            return ""
        for array in cuda_source.updated_in(source, most):
            copies = cuda_source.indexed_alike(source, most, array) & cuda_source.shared_arrays(source).keys()
            if copies:
                blocks = units.number_of(math.prod(records[0].grid), "block")
                return _HANDED_ON.format(line=most, blocks=blocks, copy=min(copies), array=array)
        return ""

    @property
    def failed(self) -> bool:
        """Whether it was run, and is wrong."""
        return self.kernel is not None and self.refusal is not None and self.refusal.verdict == "fail"

    def take(self, counted: KernelSubmission) -> None:
        """What an emulator has found of the same file."""
        self.refusal, self.facts, self.claims = counted.refusal, counted.facts, counted.claims
        self.counted, self.resources = counted.counted, counted.resources
        self.mended, self.mended_line = counted.mended, counted.mended_line
        self.cases += counted.cases
        self.findings += counted.findings

    @property
    def compiled(self) -> Kernel:
        """The kernel, for the stages after the first."""
        assert self.kernel is not None, "compile first"
        return self.kernel

    def tried(self, runner: CaseRunner, case: Case, outcome: Outcome) -> None:
        """Take note of a case."""
        self.last = case
        self.cases.append(case_result(case, outcome, runner, self.name))
        self.findings.extend(outcome.findings)

    def mended_by(self, change: str, line: int | None = None) -> None:
        """A change after which nothing is found any more: what else would mend a finding need not, and may mislead."""
        self.mended, self.mended_line = change, line
        self.findings = [
            replace(finding, remedy=SAME_CHANGE if place else change)
            for place, finding in enumerate(self.findings)
        ]


def _by_line(records: Sequence[Record]) -> dict[int, dict[str, int]]:
    """What the file's lines have caused in launches."""
    return by_line(chain.from_iterable(record.lines for record in records))

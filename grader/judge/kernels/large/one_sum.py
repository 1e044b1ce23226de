"""Sums too long to add up again are looked at with ones: what some of a kernel's blocks add is known by counting.

Where a topic's output is one sum of its inputs as they are, every number is a 1 at the main size. Launches that are
given an input run some of their blocks, those behind them all: what other blocks would have left is 0. The sum must be
how many numbers were read. Where it has not come out, as the block that arrives last would have written it, what the
blocks have left in one of the scratch arrays must add up to that. A right kernel may read more than it adds, and leave
more than sums: where nothing fits, all blocks are run, of as large a problem as does not take too long, and that
decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from grader.emulator import metrics
from grader.emulator.machine.records import WORD
from grader.judge.child.protocol import Launch, Record
from grader.judge.correctness.comparison import error_bound
from grader.judge.correctness.findings import ArrayType
from grader.judge.kernels.large.coverage import RANGES
from grader.judge.refused import Refused
from grader.workbook import units
from grader.workbook.reference import Problem
from grader.workbook.topic import KernelTopic, Topic

EXACT = 1 << 24
"""Whole numbers below this are exact in float32, and so are sums of ones, in any order."""

LATER = 12_000_000
"""Warp instructions of a launch without inputs after which no other block is begun."""

WHOLE, WHOLE_IN_DOUBT = 200_000_000, 16_000_000
"""Warp instructions of all blocks where all are run: a wrong output is all but certain when it has come out and does
not fit, and in doubt when nothing has come out."""

Array = np.ndarray[Any, np.dtype[Any]]


def is_one(topic: Topic, problem: Problem) -> bool:
    """Whether the only output is one float32, for which each element of the inputs is added once."""
    if topic.sampled is None or len(topic.signature.outputs) != 1:
        return False
    (output,) = topic.signature.outputs
    one = math.prod(topic.sampled.shapes(problem)[output.name]) == 1 and output.dtype == np.float32
    return one and topic.only_adds(problem, times=1)


def only_goes_on(launch: Launch, topic: KernelTopic) -> bool:
    """Whether a launch is given none of the inputs."""
    return launch.buffers.isdisjoint(item.name for item in topic.signature.inputs) and not launch.constant


def of_all_blocks(launch: Launch) -> Launch:
    """A launch of all of its blocks, as far as they do not take too long. Memory is zero already."""
    return replace(launch, blocks=tuple(range(math.prod(launch.grid))), enough=LATER, zero=())


@dataclass(frozen=True)
class OneSum:
    """What launches of some blocks have left, all inputs being ones."""

    elements: Callable[[str, Sequence[int]], Array]
    """Of an array of float32, by its name and their places."""
    topic: KernelTopic
    problem: Problem
    arrays: Mapping[str, ArrayType]
    records: Sequence[Record]

    def refusal(self, whole: Callable[[Problem], float | None]) -> Refused | None:
        """Why a kernel's sum is not the one it has to be. `whole` is its sum of a problem, all blocks run; None where
        they wait for each other."""
        count, totals = self._read(), self._totals()
        if any(self._fits(total, count) for total in totals.values()):
            return None
        problem = self._within_reach(totals)
        total, numbers = whole(problem), self.topic.input_elements(problem)
        if total is None or self._fits(total, numbers):
            return None
        return Refused(
            "fail",
            f"of {numbers:,} ones, `{self._output}` is {units.element(total)}. Are numbers left out, or added "
            f"more than once? {RANGES}",
        )

    @property
    def _output(self) -> str:
        (output,) = self.topic.signature.outputs
        return output.name

    def _read(self) -> int:
        """How many numbers were read; an atomic that reads counts as a store."""
        inputs = {item.name for item in self.topic.signature.inputs}
        touched = [item for record in self.records for item in record.touched]
        return sum(
            max(item.read_bytes, item.written_bytes) // WORD for item in touched if item.array in inputs
        )

    def _totals(self) -> dict[str, float]:
        """What has been left in the output or, where that was not written, in each array of float32 of which all words
        are known that were written."""
        found: dict[str, float] = {}
        touched = [item for record in self.records for item in record.touched if item.written_bytes]
        for name, array in self.arrays.items():
            items = [item for item in touched if item.array == name]
            known = all(len(item.words) * WORD == item.written_bytes for item in items)
            if items and known and array.dtype == np.float32:
                words = {word for item in items for word in item.words}
                found[name] = float(self.elements(name, sorted(words)).sum(dtype=np.float64))
        return {self._output: found[self._output]} if self._output in found else found

    def _fits(self, total: float, count: int) -> bool:
        """Whether `total` is the sum of `count` ones: exactly so, where such sums are exact."""
        tolerance = self.topic.tolerance
        unit = tolerance.unit[self._output]
        bound = error_bound(tolerance.lambda_, count, unit, np.array(float(count)))
        return total == count if count < EXACT else bool(abs(total - count) <= bound)

    def _within_reach(self, totals: Mapping[str, float]) -> Problem:
        """The problem, or one whose largest size is so much smaller that all blocks can be run."""
        work = sum(
            record.counters[metrics.WARP_INSTRUCTIONS] * record.grid_blocks / record.blocks_run
            for record in self.records
        )
        most = WHOLE if self._output in totals else WHOLE_IN_DOUBT
        largest = max(self.problem, key=self.problem.__getitem__)
        return {**self.problem, largest: int(self.problem[largest] * min(1.0, most / work))}

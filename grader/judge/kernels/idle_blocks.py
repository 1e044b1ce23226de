"""Grids that are several times too large at the main size: the blocks behind the first load nothing, or store nothing,
which makes no kernel wrong, and each takes its turn on a multiprocessor."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from msgspec import structs

from grader.judge.child.protocol import Launch
from grader.judge.claims.derived import with_sums
from grader.judge.kernels import sampling
from grader.judge.kernels.case_runner import CaseRunner, emulator_seconds
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.refused import Refused
from grader.workbook.expressions import Expression

FEWEST = 8
"""Blocks along a side of a grid: of fewer, it costs nothing that some are idle."""

DRAWN = 8
"""Blocks in the second half of a side that are looked at: all of them are to be idle."""

AT_ONCE = 15
"""Blocks that are looked at together to find the first that is idle."""


def told(runner: CaseRunner, kernel: Kernel, seed: int | None) -> str:
    """How many blocks of a grid have something to do at the main size, where half of them or more have nothing. ""
    where fewer are idle, and where what blocks do may depend on what others have stored."""
    topic = runner.topic
    planned = kernel.plan(topic.sizes_main, runner.child.hello().limits)
    scratch = {item.name for item in planned.scratch}
    try:
        for number, launch in enumerate(planned.launches):
            if (
                scratch & launch.buffers
                or set(topic.table_names) & launch.buffers
                or prod(launch.cluster) > 1
            ):
                continue
            for axis, blocks in enumerate(launch.grid):
                side = _Side(runner, kernel, planned, launch, axis)
                if blocks >= FEWEST and side.half_is_idle(random.Random(seed or 0)):
                    sides = [file.grid[axis] for file in kernel.file.launches]
                    return side.said(sides[number] if len(sides) == len(planned.launches) else None)
    except Refused:  # a block takes too long
        pass
    return ""


@dataclass(frozen=True)
class _Side:
    """One side of a launch's grid."""

    runner: CaseRunner
    kernel: Kernel
    planned: Planned
    launch: Launch
    axis: int

    @property
    def blocks(self) -> int:
        return self.launch.grid[self.axis]

    @property
    def step(self) -> int:
        """How far apart the numbers of two blocks are that lie side by side."""
        return prod(self.launch.grid[: self.axis])

    def half_is_idle(self, rng: random.Random) -> bool:
        """Whether the first block has something to do, and those of the second half have nothing."""
        first, last = self.blocks // 2, self.blocks - 1
        others = prod(self.launch.grid) // (self.step * self.blocks)
        drawn = [
            rng.randrange(self.step)
            + self.step * (rng.randint(first, last) + self.blocks * rng.randrange(others))
            for _ in range(DRAWN)
        ]
        return self._idle([0, first * self.step, last * self.step, *drawn]) == [False] + [True] * (DRAWN + 2)

    def said(self, grid: Expression | None) -> str:
        """The blocks that have something to do, and how many each then takes of a size that the grid names, as far as
        that is known."""
        busy, idle = 0, self.blocks // 2
        while idle - busy > 1:
            places = sorted(
                {busy + (idle - busy) * part // (AT_ONCE + 1) for part in range(1, AT_ONCE + 1)} - {busy}
            )
            nothing = self._idle([place * self.step for place in places])
            busy = max([busy, *(place for place, none in zip(places, nothing, strict=True) if not none)])
            idle = min([idle, *(place for place, none in zip(places, nothing, strict=True) if none)])
        count, side = busy + 1, "xyz"[self.axis]
        along = f" along {side}" if prod(self.launch.grid) > self.blocks else ""
        what = (
            f"Of the {self.blocks:,} blocks{along} at the main size, the first {count:,} have something to do, "
            "and the others have nothing."
        )
        sizes = self.runner.topic.sizes_main
        named = [name for name in sizes if grid and name in grid.names]
        size = int(sizes[named[0]]) if len(named) == 1 else 0
        each = -(-size // count)
        by = re.fullmatch(r"cdiv\(\w+, *([A-Za-z_]\w*)\)", grid.text) if grid else None
        times, rest = divmod(each * self.blocks, size or 1)
        takes = f"{times} * {by[1]}" if by and not rest else str(each)
        enough = f"cdiv({named[0]}, {takes})" if each > 1 and size % each == 0 else ""
        instead = (
            f"A block takes {each}: {enough} in place of {grid.text} is enough" if grid and enough else FEWER
        )
        return f"{what} {instead}."

    def _idle(self, blocks: Sequence[int]) -> list[bool]:
        """Whether each of these blocks loads nothing, or stores nothing: what hands on counts of zero has nothing to do
        either. Raises Refused."""
        topic = self.runner.topic
        problem, child = topic.sizes_main, self.runner.child
        seconds = emulator_seconds(topic, problem)
        child.load_afresh(self.kernel, seconds)
        records = sampling.sample(
            child,
            self.kernel,
            [structs.replace(self.launch, blocks=(block,)) for block in blocks],
            sampling.array_bytes(topic, self.planned, problem),
            sampling.LONGEST_BLOCK // len(blocks),
            seconds,
            sampling.contents(topic, problem),
        )
        sums = (with_sums(record.counters) for record in records)
        return [not (each["load_requests"] and each["store_requests"]) for each in sums]


FEWER = "Divide in `grid` by what a block takes, and not by fewer"

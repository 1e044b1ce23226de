"""Blocks that go a way of their own: comparisons of their numbers come out otherwise than in most blocks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.judge.child.protocol import Launch, Scalar
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.counting import product
from grader.judge.kernels.thresholds import MOST_CONDITIONS
from grader.workbook import comparisons
from grader.workbook.comparisons import Comparison, Given

Array = np.ndarray[Any, np.dtype[Any]]

MOST_BLOCKS = 1 << 14
"""Of a grid, so many are asked which way they go; where there are more, they are drawn."""

THREADS = 4
"""Of a block, that are asked: the first, the last, and others that are drawn."""

MOST = 12
"""Ways for which a block is found, the rarest first."""


def given_to(launch: Launch) -> Given:
    """What all threads of a launch are given."""
    values = [each.value if isinstance(each, Scalar) else None for each in launch.args]
    arguments = [value if isinstance(value, int) else None for value in values]
    return Given(arguments, launch.grid, launch.block)


def followed(kernel: Kernel, symbol: str) -> Sequence[Comparison]:
    """The comparisons of a kernel, as many as are followed of a stranger's code."""
    return comparisons.of(kernel.build.ptx, symbol)[:MOST_CONDITIONS]


def counts_in_few_bits(kernel: Kernel, symbol: str) -> bool:
    """Whether some loop of a kernel counts in 16 bits or fewer."""
    return any(comparison.counted for comparison in followed(kernel, symbol))


def found(kernel: Kernel, launch: Launch, rng: random.Random) -> list[int]:
    """A block, drawn, for each way that is taken by fewer than half of the blocks, as far as conditions follow from
    sizes, the launch, and a thread's place in it."""
    total = product(launch.grid)
    blocks = np.array(sorted(rng.sample(range(total), min(total, MOST_BLOCKS))), np.int64)
    last = product(launch.block) - 1
    ways: dict[bytes, Array] = {}
    for thread in {0, last, *(rng.randrange(last + 1) for _ in range(THREADS - 2))}:
        given = replace(
            given_to(launch),
            blocks=np.unravel_index(blocks, launch.grid, order="F"),
            threads=np.unravel_index([thread], launch.block, order="F"),
        )
        for comparison in followed(kernel, launch.symbol):
            sides = comparison.sides(given)
            if sides is None:
                continue
            taken = np.broadcast_to(comparison.holds(*sides), blocks.shape)
            rare = taken if 2 * np.count_nonzero(taken) < len(taken) else ~taken
            if rare.any():
                ways[rare.tobytes()] = blocks[rare]
    return [int(rng.choice(some)) for some in sorted(ways.values(), key=len)[:MOST]]

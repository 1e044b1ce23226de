"""Which way blocks go, by how comparisons of their numbers come out: those few that go another than most, and kinds of
blocks that there are many of."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.judge.child.protocol import Launch, Scalar
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.counting import product
from grader.workbook import comparisons
from grader.workbook.comparisons import MOST_CONDITIONS, Comparison, Given, Integers

Array = np.ndarray[Any, np.dtype[Any]]

MOST_BLOCKS = 1 << 14
"""Of a grid, so many are asked which way they go; where there are more, they are drawn."""

THREADS = 4
"""Of a block, that are asked: the first, the last, and others that are drawn."""

MOST = 12
"""Ways for which a block is found, the rarest first."""

MOST_KINDS = 4
"""Of blocks in a launch, that are told apart."""

FEWEST_OF_A_KIND = 1 / 64
"""Of all blocks: fewer are no kind of their own, such as those at an edge."""


def given_to(launch: Launch) -> Given:
    """What all threads of a launch are given."""
    values = [each.value if isinstance(each, Scalar) else None for each in launch.args]
    arguments = [value if isinstance(value, int) else None for value in values]
    return Given(arguments, launch.grid, launch.block)


def followed(kernel: Kernel, symbol: str) -> Sequence[Comparison]:
    """The comparisons of a kernel, as many as are followed of a stranger's code."""
    found = comparisons.of(kernel.build.ptx, symbol)
    return tuple(each for each in found if not each.of_limit)[:MOST_CONDITIONS]


def counts_in_few_bits(kernel: Kernel, symbol: str) -> bool:
    """Whether some loop of a kernel counts in 16 bits or fewer."""
    return any(comparison.counted for comparison in followed(kernel, symbol))


def found(kernel: Kernel, launch: Launch, rng: random.Random) -> list[int]:
    """A block, drawn, for each way that is taken by fewer than half of the blocks, as far as conditions follow from
    sizes, the launch, and a thread's place in it."""
    blocks = _asked(launch, rng)
    last = product(launch.block) - 1
    ways: dict[bytes, Array] = {}
    for taken in _taken(
        kernel, launch, blocks, {0, last, *(rng.randrange(last + 1) for _ in range(THREADS - 2))}
    ):
        rare = taken if 2 * np.count_nonzero(taken) < len(taken) else ~taken
        if rare.any():
            ways[rare.tobytes()] = blocks[rare]
    return [int(rng.choice(some)) for some in sorted(ways.values(), key=len)[:MOST]]


def kinds(kernel: Kernel, launch: Launch, rng: random.Random) -> list[list[int]]:
    """The blocks of a launch by what they execute, as far as that follows as in `found`: those of each large kind, the
    largest first, and last all others, if they are many. Of a large grid these are some of the blocks.

    The blocks of a cluster run together, and are no kinds.
    """
    blocks = _asked(launch, rng)
    if product(launch.cluster) > 1:
        return [blocks.tolist()]
    ends = {0, product(launch.block) - 1}
    taken = {each.tobytes(): each for each in _taken(kernel, launch, blocks, ends)}
    if not taken:
        return [blocks.tolist()]
    _, kind, sizes = np.unique(
        np.packbits(np.stack(list(taken.values())), axis=0), axis=1, return_inverse=True, return_counts=True
    )
    kind, fewest = kind.ravel(), FEWEST_OF_A_KIND * len(blocks)
    largest = [int(each) for each in np.argsort(-sizes, kind="stable")[: MOST_KINDS - 1]]
    large = [each for each in largest if sizes[each] >= fewest]
    others = ~np.isin(kind, large)
    if np.count_nonzero(others) < fewest:
        kind[others], others = largest[0], np.zeros_like(others)
    found = [*(blocks[kind == each] for each in large), blocks[others]]
    return [some.tolist() for some in found if len(some)]


def _asked(launch: Launch, rng: random.Random) -> Array:
    """The blocks that are asked which way they go, in their order."""
    total = product(launch.grid)
    drawn = np.random.default_rng(rng.getrandbits(64)).choice(
        total, min(total, MOST_BLOCKS), replace=False, shuffle=False
    )
    return np.sort(drawn)


def _taken(kernel: Kernel, launch: Launch, blocks: Array, threads: Iterable[int]) -> Iterator[Array]:
    """Of comparisons, for which of the blocks they hold in one of the threads."""
    for thread in threads:
        given = replace(
            given_to(launch),
            blocks=np.unravel_index(blocks, launch.grid, order="F"),
            threads=np.unravel_index([thread], launch.block, order="F"),
        )
        known: dict[str, Integers | None] = {}
        for comparison in followed(kernel, launch.symbol):
            sides = comparison.sides(given, known)
            if sides is not None:
                yield np.broadcast_to(comparison.holds(*sides), blocks.shape)

"""Inputs of timed passes: made on the device, of values that nobody has seen before at these addresses."""

from __future__ import annotations

import functools
import math
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace

from grader.emulator.runtime import build
from grader.judge.child.protocol import Pointer, Run
from grader.judge.correctness import pieces
from grader.judge.correctness.cases import PUBLIC_SEED
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.limits import Limits
from grader.judge.runners.runner import PAGE
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.reference import Problem
from grader.workbook.signature import parse_signature
from grader.workbook.topic import Topic

Array = np.ndarray[Any, np.dtype[Any]]

WORD = 4
POOL, WINDOW = 1 << 16, 1 << 12
"""Words of a pool, and how many of them a pass draws from: sums over a few thousand words differ from pass to pass.
Powers of two."""

POOL_BYTES = WORD * POOL

PATTERN_BYTES = 509 * PAGE
"""What repetitions of inputs are made of: a prime number of pages, no power of two in an index is a multiple."""

FILE = Path(__file__).with_name("fresh.cu")
SIGNATURE = parse_signature(
    "fresh(const unsigned* pool, unsigned* out, unsigned long long N, unsigned START, "
    "unsigned WINDOW, unsigned SEED)"
)


def drawn(
    topic: Topic, rng: np.random.Generator, kind: Literal["exact", "real"], nbytes: int
) -> dict[str, Array]:
    """Elements of the topic's own inputs at its largest case, drawn anew: so many bytes for each input, by name. Tables
    are left out."""
    problem = max(topic.judge_cases, key=topic.reference.min_bytes)
    inputs = topic.reference.make_inputs(problem, rng, kind)
    return {
        name: rng.choice(array.reshape(-1), nbytes // array.itemsize)
        for name, array in inputs.items()
        if name not in topic.table_names
    }


def even_tables(topic: Topic, problem: Problem, rng: np.random.Generator) -> dict[str, Array]:
    """Tables where a few blocks stand for all, filled up to whole pages, as a pattern has them: flat, by name."""
    tables = topic.tables(problem, rng, even=True)
    return {
        name: np.resize(array, -(-array.nbytes // PAGE) * PAGE // array.itemsize)
        for name, array in tables.items()
    }


def balanced(topic: Topic, rng: np.random.Generator, nbytes: int) -> dict[str, Array]:
    """The same of exact inputs, each element followed by its opposite: sums of however many of them, drawn at random,
    stay so near to zero that they are exact in any order."""
    halves = drawn(topic, rng, "exact", nbytes // 2)
    return {name: np.stack([half, -half], axis=1).reshape(-1) for name, half in halves.items()}


def prepared(arch: str) -> Kernel:
    """The kernel that fills arrays."""
    return prepare(parse_kernel_file(FILE, SIGNATURE), arch)


@dataclass(frozen=True)
class Fresh:
    """What inputs hold for one pass."""

    pools: Mapping[str, Array]  # by input, in its own type
    tables: Mapping[str, Array]  # inputs as they are
    start: int
    window: int  # words from `start` on
    seed: int

    @classmethod
    def of(cls, pools: Mapping[str, Array], tables: Mapping[str, Array]) -> Fresh:
        """Drawn now."""
        return cls(pools, tables, secrets.randbelow(POOL - WINDOW), WINDOW, secrets.randbits(32))

    @classmethod
    def known(cls, topic: Topic, problem: Problem) -> Fresh:
        """The same in every run."""
        rng = np.random.default_rng(PUBLIC_SEED)
        pools = drawn(topic, rng, "real", POOL_BYTES)
        return cls(pools, topic.tables(problem, rng), 0, POOL, PUBLIC_SEED)

    def filling(self, kernel: Kernel, pool: str, target: str, nbytes: int, limits: Limits) -> Run:
        """What fills a buffer from the buffer of a pool."""
        problem = {"N": nbytes // WORD, "START": self.start, "WINDOW": self.window, "SEED": self.seed}
        (launch,) = kernel.plan(problem, limits).launches
        names = {"pool": pool, "out": target}
        args = tuple(
            Pointer(names[item.buffer]) if isinstance(item, Pointer) else item for item in launch.args
        )
        return Run(kernel.module, (replace(launch, args=args),))

    def read(self, name: str, places: Array) -> Array:
        """Elements of an input in float64, by their places in it."""
        if name in self.tables:
            return np.asarray(self.tables[name].reshape(-1)[places], np.float64)
        pool = self.pools[name]
        each = WORD // pool.itemsize  # elements of a word
        chosen = self._chosen((places >> (each // 2)).astype(np.uint32))
        if each > 1:
            chosen = chosen * np.uint32(each) + (places & (each - 1))
        found: Array = pool[chosen].astype(np.float64)
        return found

    def arrays(self, topic: Topic, problem: Problem) -> Arrays:
        """All inputs, as they are made on a device, each once it is needed."""
        return Arrays(self, {item.name: topic.shapes(problem)[item.name] for item in topic.signature.inputs})

    def array(self, name: str, count: int) -> Array:
        """The first `count` elements of an input, in its own type."""
        if name in self.tables:
            return self.tables[name].reshape(-1)[:count]
        found = np.empty(count, self.pools[name].dtype)

        def fill(parts: Iterator[slice]) -> None:
            for part in parts:
                found[part] = self.part(name, part)

        pieces.done(fill, count, pieces.PIECE)
        return found

    def part(self, name: str, part: slice) -> Array:
        """Elements of an input that is no table, in its own type."""
        pool = self.pools[name]
        first, end = part.start * pool.itemsize // WORD, -(-part.stop * pool.itemsize // WORD)
        words = np.empty(end - first, np.uint32)
        window = pool.ctypes.data + WORD * self.start
        _drawing()(window, self.window, self.seed, first, len(words), words.ctypes.data)
        skipped = part.start - first * WORD // pool.itemsize
        return words.view(pool.dtype)[skipped : skipped + part.stop - part.start]

    def _chosen(self, words: Array) -> Array:
        """Which words of a pool these words of an input are, in their place."""
        words += np.uint32(self.seed)
        chosen = _mixed(words)
        chosen &= np.uint32(self.window - 1)
        chosen += np.uint32(self.start)
        return chosen


class Arrays(Mapping[str, Array]):
    """Inputs by name."""

    def __init__(self, values: Fresh, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.made_of, self._shapes = values, shapes
        self._made: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._made:
            shape = self._shapes[name]
            self._made[name] = self.made_of.array(name, math.prod(shape)).reshape(shape)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)


@functools.cache
def _drawing() -> Callable[..., int]:
    return build.load().function("draw_words", 6)


def _mixed(h: Array) -> Array:
    """As in fresh.cu, in place."""
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h

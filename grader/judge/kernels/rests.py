"""Sizes around multiples of a kernel's own numbers, on a way that few sizes take.

A tile's last part is seen where a size is no multiple of the tile. Where a path of its own is taken for some sizes
alone, as for wide rows whose length is a multiple of 48, the topic's cases and the multiples of its tiles mostly lie on
another path. So sizes are looked for on each such path, of odd and of even numbers of tiles, and with every kind of
rest; of a path that ends after a few sizes, all of these; and other steps, where a problem has such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product, zip_longest
from typing import TypeVar

from grader.judge.kernels import ways
from grader.judge.kernels.ways import Condition
from grader.workbook.reference import Problem

Outcomes = frozenset[tuple[int, bool | None]]
"""What some of the conditions come out as, by their places."""

Item = TypeVar("Item")

Taken = Callable[[Problem], bool]
"""Whether a problem takes a way."""

RARE, MOST_WAYS, EACH, MOST_NUMBERS = 1 / 3, 8, 20, 6
"""Of all cases, a way that no more take is rare; so many such ways are looked at, cases of each, and numbers."""

MOST, CHEAP, DEAR = 24, 1 / 64, 1 / 3
"""Cases of all ways; what one may cost, and on a way that none of the cases takes."""

TOGETHER = {CHEAP: 1 / 8, DEAR: 1 / 3}
"""What all of them together may cost."""

AROUND = ((2, 1 / 2, 1), (1, 1 / 2, 0), (0, 0, 1), (1, 0, 0), (0, 0, 0), (1, 1, -1), (2, 0, 1))
"""How many multiples more than it takes, which share of one, and how many elements more."""

LEAST, LARGE_UNIT = 4, 128
"""A number that is less is no tile; and what kernels go by besides their own numbers: threads of a few warps, or eight
tiles of 16."""

UNITS = tuple(1 << power for power in range(8))
"""What sizes may have to be multiples of, besides a kernel's own numbers."""

FEW = 16
"""All sizes of a path are tried where it has no larger ones than this."""

MANY, OTHERS, OF_STEPS = 2051, (131, 3), (9, 3)
"""What other sizes are there: beside few sizes, beside others, and beside steps; the first that goes."""


@dataclass(frozen=True)
class Search:
    """What is known of a kernel whose ways are looked at."""

    conditions: Sequence[Condition]
    dimensions: Sequence[str]
    steps: Mapping[str, Sequence[int]]  # sizes that are no dimensions, such as a stride: what they may be
    numbers: Callable[[Problem], Sequence[int]]  # what it may go by in a problem
    cost: Callable[[Problem], float]

    def found(self, cases: Sequence[Problem], beyond: Sequence[Problem]) -> Iterator[tuple[Problem, str]]:
        """Problems on ways that few `cases` take, or none but problems `beyond` them, each with what is tried there."""
        tried = [islice(self._on_way(*way), EACH) for way in self._rare(cases, beyond)]
        left = dict(TOGETHER)
        for problem, said, most in islice(_in_turn(tried), MOST):
            if (cost := self.cost(problem)) <= left[most]:
                left[most] -= cost
                yield problem, said

    def _rare(
        self, cases: Sequence[Problem], beyond: Sequence[Problem]
    ) -> Iterator[tuple[Problem, Taken, float]]:
        """Problems that stand for the ways that few take, how to tell the way, and what a case may cost there."""
        problems = [*cases, *beyond]
        all_of_them = [[*enumerate(ways.way(self.conditions, problem))] for problem in problems]
        counted = Counter(chain.from_iterable(all_of_them[: len(cases)]))
        found: dict[Outcomes, Problem] = {}
        for problem, outcomes in zip(problems, all_of_them, strict=True):  # the cheapest of each comes last
            few = [one for one in outcomes if one[1] is not None and counted[one] <= RARE * len(cases)]
            found[frozenset(few)] = problem
        found.pop(frozenset(), None)
        by_few = sorted(found, key=lambda rare: (min(counted[one] for one in rare), sorted(rare, key=str)))
        for rare in by_few[:MOST_WAYS]:

            def taken(problem: Problem, rare: Outcomes = rare) -> bool:
                return all(self.conditions[place](problem) == outcome for place, outcome in rare)

            most = CHEAP if all(counted[one] for one in rare) else DEAR
            yield ways.smallest(found[rare], self.dimensions, taken), taken, most

    def _on_way(self, base: Problem, taken: Taken, most: float) -> Iterator[tuple[Problem, str, float]]:
        numbers = self.numbers(base)[:MOST_NUMBERS]
        along = [self._along(name, numbers, base, taken, most) for name in self.dimensions]
        for problem, said in chain(self._stepped(base, taken, most), _in_turn(along)):
            yield problem, said, most

    def _along(
        self, name: str, numbers: Sequence[int], base: Problem, taken: Taken, most: float
    ) -> Iterator[tuple[Problem, str]]:
        """Problems with one size of every kind."""

        def on_way(size: int) -> bool:
            return taken({**base, name: size})

        least = int(base[name])
        few = least <= FEW and not any(map(on_way, range(FEW + 1, 4 * FEW)))
        larger = self._raised(base, (MANY,) if few else OTHERS, taken, most, name)
        sizes = ((size, str(size)) for size in range(least, FEW + 1) if on_way(size))
        for size, said in sizes if few else around(least, numbers, on_way):
            problems = ({**each, name: size} for each in (larger, base))
            if problem := next((each for each in problems if self.cost(each) <= most and taken(each)), None):
                yield problem, f"{name} is {said}"

    def _stepped(self, base: Problem, taken: Taken, most: float) -> Iterator[tuple[Problem, str]]:
        """Problems with other steps."""
        base = self._raised(base, OF_STEPS, taken, most)
        for values in product(*self.steps.values()) if self.steps else ():
            steps = dict(zip(self.steps, values, strict=True))
            problem = {**base, **steps}
            if problem != base and self.cost(problem) <= most and taken(problem):
                yield problem, " and ".join(f"{name} is {value}" for name, value in steps.items())

    def _raised(
        self, base: Problem, sizes: Sequence[int], taken: Taken, most: float, besides: str = ""
    ) -> Problem:
        """A problem with larger sizes, as far as they go."""
        for name in self.dimensions:
            larger = ({**base, name: size} for size in sizes if size > base[name] and name != besides)
            base = next((each for each in larger if self.cost(each) <= most and taken(each)), base)
        return base


def _in_turn(several: Sequence[Iterator[Item]]) -> Iterator[Item]:
    return filter(None, chain.from_iterable(zip_longest(*several)))


def around(least: int, numbers: Sequence[int], taken: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
    """Sizes from `least` on for which a path is `taken`, around multiples of these numbers, each with what it is; those
    first that show most."""
    seen = set()
    for times, share, more in AROUND:
        for number in numbers:
            first = max(least, (-(-least // number) + times) * number + int(share * number) + more)
            multiples = {-(-first // unit) * unit for unit in (*UNITS, *numbers)}
            size = next(filter(taken, sorted(multiples)), None)
            if size is not None and size not in seen:
                seen.add(size)
                left = f" + {size % number}" if size % number else ""
                yield size, f"{size // number} · {number}{left}"

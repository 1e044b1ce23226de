"""Ways that a kernel takes in no case of its topic: what several of its conditions come out as together.

Each condition by itself may come out both ways among the topic's cases, and the way where three of them hold be taken
in none, or only in those of round sizes. So problems are drawn: a case of the topic with other sizes, of every
magnitude, divisible by every power of two, and of the numbers that the conditions name. Those are tried that show most:
conditions that come out together as in no other case, or as in cases alone whose sizes are divisible by more.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from grader.workbook.reference import Problem
from grader.workbook.topic import Topic

Way = tuple[bool | None, ...]

Condition = Callable[[Problem], bool | None]
"""What it comes out as; None where it is not asked, as in a kernel that is not launched."""

DRAWN = 600
"""Problems; some are too much."""

MAGNITUDES = tuple(4**power for power in range(1, 11))
"""About which sizes are drawn, up to a million."""

DIVISIBLE = 12
"""By up to 2 to the power of it."""

TIMES, BESIDE = (1, 1, 2, 3), (-1, 0, 0, 1, 2, 3)
"""How often a size holds a number of a condition, and what it is more."""

LARGER = 2
"""How many times as large as in the topic's problems a size is at most: for millions of sequences it takes long to say
what they cost, and with a stride of 8 no tile may have room."""

SIDE = 12
"""What a size may be that is no dimension, where a condition names it: a filter's side, a stride."""

FACTORS = (3, 2, 5)
"""Of a power of two that a size becomes where it is to be a multiple of it."""

UNSEEN = 16
"""What it is worth that conditions come out as nowhere else; that sizes are divisible by a power of two less is worth
1."""


def way(conditions: Sequence[Condition], problem: Problem) -> Way:
    """What each condition comes out as."""
    return tuple(condition(problem) for condition in conditions)


def untried(
    conditions: Sequence[Condition],
    together: int,
    judged: Sequence[Problem],
    drawn: Sequence[Problem],
    dimensions: Sequence[str],
    affordable: Callable[[Problem], bool],
) -> Iterator[tuple[Problem, Sequence[int]]]:
    """Problems in which so many conditions `together` come out as in none that is `judged`, those that show most first,
    each with such conditions. They are made of those that are `drawn`, and of judged ones, by sizes that are divisible
    by less."""

    taken = partial(way, conditions)

    def odd(problem: Problem) -> Problem:
        return _odd(problem, dimensions, taken, affordable)

    alike = {taken(problem): problem for problem in judged}  # the cheapest, which come last
    small = [each if affordable(each) else smallest(each, dimensions, taken) for each in alike.values()]
    problems = [*judged, *drawn, *map(odd, filter(affordable, small))]
    outcomes = np.array([[_OUTCOMES[each] for each in taken(problem)] for problem in problems], np.int64)
    some = _distinct(outcomes)
    if not some:
        return
    sets = list(combinations(some, min(together, len(some))))
    seen, evenness = _seen(outcomes, sets), np.array([_evenness(dimensions, problem) for problem in problems])
    best = np.full((seen.max() + 1, evenness.shape[1]), UNSEEN)
    for shown, even in zip(seen[: len(judged)], evenness, strict=False):
        best[shown] = np.minimum(best[shown], even)
    best[0] = 0
    while True:
        gains = np.maximum(best[seen] - evenness[:, None], 0).sum(axis=2)
        place = int(gains.sum(axis=1).argmax())
        if not gains[place].any():
            return
        problem = odd(problems[place])
        yield problem, sets[int(gains[place].argmax())]
        best[seen[place]] = np.minimum(
            best[seen[place]], np.minimum(evenness[place], _evenness(dimensions, problem))
        )


def smallest(problem: Problem, dimensions: Sequence[str], way: Callable[[Problem], object]) -> Problem:
    """The problem with sizes below which another way is taken."""
    taken = way(problem)
    for name in dimensions:
        low, high = 0, int(problem[name])
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if way({**problem, name: middle}) == taken else (middle, high)
        problem = {**problem, name: high}
    return problem


def _odd(
    problem: Problem,
    dimensions: Sequence[str],
    way: Callable[[Problem], Way],
    affordable: Callable[[Problem], bool],
) -> Problem:
    """The problem with sizes that are divisible by as little as they may be, and not alike, where the same way is
    taken."""
    taken = way(problem)
    for name in dimensions:
        size = int(problem[name])
        sizes = [size + (1 << power) for power in range(_power(size))]
        if size > 1 and size & (size - 1) == 0:
            others = {problem[other] for other in dimensions if other != name}
            sizes += [times * size for times in FACTORS if times * size not in others]
        larger = ({**problem, name: size} for size in sizes)
        problem = next((each for each in larger if affordable(each) and way(each) == taken), problem)
    return problem


def grown(
    problem: Problem,
    most: Mapping[str, int | float],
    way: Callable[[Problem], Way],
    affordable: Callable[[Problem], bool],
) -> Problem:
    """The problem with sizes three times as large, and again, up to what is the `most` of each and as long as the same
    way is taken: where there is much to do, threads go on behind their first elements."""
    taken = way(problem)
    for name in most:
        while (size := 3 * int(problem[name])) <= most[name]:
            larger = {**problem, name: size}
            if not affordable(larger) or way(larger) != taken:
                break
            problem = larger
    return problem


_OUTCOMES = {None: 0, False: 1, True: 2}


def _distinct(ways: np.ndarray[Any, Any]) -> list[int]:
    """The conditions that do not come out alike everywhere, nor as another one does."""
    columns = {ways[:, place].tobytes(): place for place in reversed(range(ways.shape[1]))}
    return sorted(place for place in columns.values() if len({*ways[:, place].tolist()} - {0}) > 1)


def _seen(ways: np.ndarray[Any, Any], sets: Sequence[Sequence[int]]) -> np.ndarray[Any, Any]:
    """For each problem and each set of as many conditions a number of what they come out as; 0 where one is not
    asked."""
    outcomes = ways[:, np.array(sets)]
    base, together = len(_OUTCOMES), outcomes.shape[2]
    numbers = 1 + outcomes @ base ** np.arange(together) + base**together * np.arange(len(sets))
    return np.where(outcomes.all(axis=2), numbers, 0)


def _evenness(dimensions: Sequence[str], problem: Problem) -> list[int]:
    """By which power of two each size is divisible, one more if it is that power, and how many of them are alike."""
    sizes = [int(problem[name]) for name in dimensions]
    return [*(_power(size) + (size & (size - 1) == 0) for size in sizes), len(sizes) - len({*sizes})]


def _power(size: int) -> int:
    """By which power of two a size is divisible, as far as it matters."""
    return min(DIVISIBLE, (size & -size).bit_length() - 1) if size else DIVISIBLE


def drawn(
    topic: Topic, dimensions: Sequence[str], numbers: Sequence[int], affordable: Callable[[Problem], bool]
) -> Iterator[Problem]:
    """Cases of the topic with other sizes: dimensions of any number, others, such as a filter's sides, within the range
    that the topic's cases have; and some of the `numbers` that conditions name."""
    rng = random.Random(topic.name)
    usual = {
        item.name: [int(case[item.name]) for case in topic.judge_cases] for item in topic.signature.sizes
    }
    named = [number for number in numbers if number <= SIDE]
    sides = {
        name: [
            *range(min(sizes), max(sizes) + 1),
            *(each for each in named if min(sizes) <= each <= LARGER * max(sizes)),
        ]
        for name, sizes in usual.items()
    }
    most = {name: LARGER * max(int(topic.sizes_main[name]), *usual[name]) for name in usual}
    for place in range(DRAWN):
        problem = dict(rng.choice(topic.judge_cases))
        if numbers and place % 3 == 0:  # all just beyond one number
            number = rng.choice(numbers)
            chosen = {name: number + rng.choice(BESIDE) for name in dimensions}
        else:
            least, around = rng.choice((0, rng.randint(1, DIVISIBLE))), rng.choice(MAGNITUDES)
            chosen = {}
            for name in rng.sample(sorted(usual), rng.randint(1, len(usual))):
                if name not in dimensions:
                    chosen[name] = rng.choice(sides[name])
                elif numbers and rng.randrange(2):
                    chosen[name] = rng.choice(numbers) * rng.choice(TIMES) + rng.choice(BESIDE)
                else:
                    unit = 1 << least + rng.choice((0, rng.randint(0, DIVISIBLE - least)))
                    units = max(1, rng.choice((around, *MAGNITUDES)) // unit)
                    chosen[name] = unit * (2 * rng.randint(units // 4, units) + 1)
        problem |= {name: max(1, size) if name in dimensions else size for name, size in chosen.items()}
        if all(problem[name] <= most[name] for name in dimensions) and affordable(problem):
            yield problem

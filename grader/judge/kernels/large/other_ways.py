"""Problems with more elements than an int counts on ways that none of the topic's large problems takes.

A kernel with a path of its own for some sizes, such as heads of 128 or rows that are no multiple of a vector, may form
an index in 64 bits on one path and in 32 on the other. Small cases take both, so the nearest problem to a large one is
looked for that takes what only small ones did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import islice, product

from grader.judge.correctness.findings import MOST_OF_AN_INT
from grader.judge.kernels import thresholds
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.ways import Condition
from grader.workbook.reference import Problem
from grader.workbook.signature import impossible
from grader.workbook.topic import Topic

MOST, MOST_CONDITIONS = 2, 16
"""Problems of a kernel, and conditions that are looked at."""

STEPS = (*range(1, 17), 24, 32, 48, 64, 96, 128, 256)
"""What a dimension is more, or less: every rest of a vector or a small tile, and multiples of larger ones."""


def found(kernel: Kernel, topic: Topic, sms: int) -> list[Problem]:
    """At most MOST of them, each as near to one of the topic's as it may be."""
    large = [each for each in (topic.sizes_main, *topic.sampled_cases) if beyond_an_int(topic, each)]
    launches = thresholds.Launches(kernel, sms)
    partings = launches.distinct(topic.judge_cases)[:MOST_CONDITIONS]
    conditions = [parting.way for parting in partings]
    wanted = {
        (place, way)
        for place, condition in enumerate(conditions)
        for way in {*map(condition, topic.judge_cases)} - {None, *map(condition, large)}
        if large
    }
    problems = list(islice(_beyond_all(topic, [each.way for each in launches.conditions()], large), 1))
    while wanted and len(problems) < MOST:
        place, way = min(wanted, key=str)
        problem = next((each for each in _near(topic, large) if conditions[place](each) == way), None)
        wanted -= _taken(conditions, problem) if problem else {(place, way)}
        problems += [problem] if problem else []
    return problems


def _beyond_all(topic: Topic, conditions: Sequence[Condition], large: Sequence[Problem]) -> Iterator[Problem]:
    """Problems in which the launch block goes a way that is taken in none of the topic's, by one size beyond all of
    them, with so much of another that an int does not count the elements."""
    names = thresholds.dimensions(topic)
    least = min(topic.judge_cases, key=topic.reference.min_bytes)
    for condition, name in product(conditions if large else (), names):
        usual = {*map(condition, (*topic.judge_cases, *large))}
        if len(usual) != 1 or None in usual:
            continue
        size = _first(partial(_goes_on, condition, least, name, usual))
        there = {**least, name: size | 1}
        for other in names if size else ():
            many = 0 if other == name else _first(partial(_is_beyond, topic, there, other))
            more = many + many // 2  # a third of the elements lie beyond
            if many and not impossible(problem := {**there, other: more}, topic.signature):
                yield problem


def _goes_on(
    condition: Condition, base: Problem, name: str, usual: Collection[bool | None], size: int
) -> bool:
    return condition({**base, name: size}) not in usual


def _is_beyond(topic: Topic, base: Problem, name: str, size: int) -> bool:
    return beyond_an_int(topic, {**base, name: size})


def _first(holds: Callable[[int], bool]) -> int:
    """The least size from which on something holds; 0 where that is none of 32 bits with a sign."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
        if high > MOST_OF_AN_INT:
            return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _taken(conditions: Sequence[Condition], problem: Problem) -> set[tuple[int, bool | None]]:
    return {(place, condition(problem)) for place, condition in enumerate(conditions)}


def _near(topic: Topic, large: Sequence[Problem]) -> Iterator[Problem]:
    """Problems that differ from one of these in a single size, the nearest first."""
    dimensions = thresholds.dimensions(topic)
    others = [name for name in topic.sizes_main if name not in dimensions]
    for name in others:
        for size in sorted({case[name] for case in topic.judge_cases}):
            yield from _possible(topic, large, name, [size])
    for step in STEPS:
        for name in dimensions:
            yield from (
                problem
                for base in large
                for problem in _possible(topic, [base], name, [base[name] + step, base[name] - step])
            )


def _possible(topic: Topic, bases: Sequence[Problem], name: str, sizes: Sequence[float]) -> Iterator[Problem]:
    for base in bases:
        for size in sizes:
            problem = {**base, name: size}
            if size > 0 and not impossible(problem, topic.signature) and beyond_an_int(topic, problem):
                yield problem


def beyond_an_int(topic: Topic, problem: Problem) -> bool:
    """Whether an array has more elements than an int counts."""
    return max(map(math.prod, topic.shapes(problem).values())) > MOST_OF_AN_INT

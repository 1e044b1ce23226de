"""Problems with more elements than an int counts on ways that none of the topic's large problems takes.

A kernel with a path of its own for some sizes, such as heads of 128 or rows that are no multiple of a vector, may form
an index in 64 bits on one path and in 32 on the other. Small cases take both, so the nearest problem to a large one is
looked for that takes what only small ones did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

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
    partings = thresholds.Launches(kernel, sms).distinct(topic.judge_cases)[:MOST_CONDITIONS]
    conditions = [parting.way for parting in partings]
    wanted = {
        (place, way)
        for place, condition in enumerate(conditions)
        for way in {*map(condition, topic.judge_cases)} - {None, *map(condition, large)}
        if large
    }
    problems: list[Problem] = []
    while wanted and len(problems) < MOST:
        place, way = min(wanted, key=str)
        problem = next((each for each in _near(topic, large) if conditions[place](each) == way), None)
        wanted -= _taken(conditions, problem) if problem else {(place, way)}
        problems += [problem] if problem else []
    return problems


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

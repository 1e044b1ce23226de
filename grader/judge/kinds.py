"""Which kind a topic is of: the one place of the judge that asks."""

from __future__ import annotations

from typing import Any

from grader.judge.submission import Kind
from grader.workbook.exercises import Exercise
from grader.workbook.topic import KernelTopic, ScheduleTopic, Topic


def kind_of(topic: Topic) -> Kind[Any]:
    """How a topic's submissions are judged; they are of the type that its `parse` gives. A grade waits for its imports,
    so that it has those of its own kind alone."""
    match topic:
        case Exercise():
            from grader.judge.kernels.kind import Exercises

            return Exercises(topic)
        case KernelTopic():
            from grader.judge.kernels.kind import Kernels

            return Kernels(topic)
        case ScheduleTopic():
            from grader.judge.schedules.kind import Schedules

            return Schedules(topic)
    raise TypeError(f"{topic.name}: {type(topic).__name__} has no judge")

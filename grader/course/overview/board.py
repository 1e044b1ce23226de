"""A leader board: what kernels that are right cost, by what was counted, under pseudonyms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grader.course.overview.kept import Class
from grader.course.overview.names import pseudonyms
from grader.emulator import metrics
from grader.errors import WarpladderError
from grader.results import Grade, TimeSource
from grader.workbook import units
from grader.workbook.expressions import nearest
from grader.workbook.topic import Topic

SECTOR = 32  # bytes


@dataclass(frozen=True)
class Column:
    """One thing that is compared; less of it is better."""

    name: str  # as `--by` takes it
    title: str
    means: str
    value: Callable[[Grade], float | None]


def _sum_of(names: Mapping[str, str]) -> Callable[[Grade], float | None]:
    return lambda grade: (
        sum(grade.counters.get(name, 0) for name in names.values()) if grade.counters else None
    )


def _bytes_of(names: Mapping[str, str]) -> Callable[[Grade], float | None]:
    count = _sum_of(names)
    return lambda grade: None if (sectors := count(grade)) is None else SECTOR * sectors


def _counter(name: str) -> Callable[[Grade], float | None]:
    return lambda grade: (grade.counters or {}).get(name)


def _fact(name: str) -> Callable[[Grade], float | None]:
    return lambda grade: (grade.facts or {}).get(name)


TIME = Column("time", "time", "for the main sizes", lambda grade: grade.time_s)
OF_KERNELS = (
    TIME,
    Column(
        "bytes",
        "bytes",
        "of the sectors that requests to global memory touch",
        _bytes_of(metrics.GLOBAL_SECTORS),
    ),
    Column("wavefronts", "wavefr.", "passes through shared memory", _sum_of(metrics.SHARED_WAVEFRONTS)),
    Column("instructions", "instr.", "instructions of warps", _counter(metrics.WARP_INSTRUCTIONS)),
    Column("registers", "regs", "registers a thread", _fact("registers")),
)
OF_SCHEDULES = (
    TIME,
    Column("waits", "waits", "calls that wait", _fact("waits")),
    Column("calls", "calls", "calls that run() makes", _fact("calls")),
    Column("device_bytes", "bytes", "device memory allocated", _fact("device_bytes")),
)
COLUMNS = {"kernel": OF_KERNELS, "schedule": OF_SCHEDULES}
"""By what learners write."""


@dataclass(frozen=True)
class Place:
    """A kernel's place."""

    rank: int  # those with the same value share the best one
    pseudonym: str
    rung: str
    values: Mapping[str, float | None]  # by the columns' names; null where it is not known


@dataclass(frozen=True)
class Board:
    """One topic's kernels that are right, the best first."""

    topic: str
    title: str
    by: str  # a column's name
    writes: str  # what its submissions are: kernel or schedule
    time_source: TimeSource | None  # whether times are measured; null where none is known
    places: Sequence[Place]
    absent: int  # students with a mark whose kernel is not right

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is compared."""
        return COLUMNS[self.writes]

    def shown(self, column: Column, value: float | None) -> str:
        """A value as it is read."""
        return units.seconds(value, self.time_source) if column is TIME else units.count(value)


def of_class(found: Class, by: str) -> list[Board]:
    """A board for each topic of which marks are known, by the column `by`. Raises WarpladderError for another name."""
    names = names_of(found)
    return [_of_topic(topic, found, names, by) for topic in found.topics if _marked(found, topic)]


def names_of(found: Class) -> dict[str, str]:
    """The pseudonym of everybody who has handed something in."""
    students = {item.student for item in found.submissions} | {item.student for item in found.unread}
    return pseudonyms(found.hidden.secret, found.course_id, students)


def name_of(found: Class, student: str) -> str:
    """A student's pseudonym; raises WarpladderError for somebody who has not handed in anything."""
    names = names_of(found)
    if student not in names:
        message = f"`{student}` has not submitted anything{nearest(student, names)}"
        raise WarpladderError(message, remedy="give the name of the student's folder in submitted/")
    return names[student]


def _marked(found: Class, topic: Topic) -> list[tuple[str, Grade]]:
    return [(item.student, item.marked.shown(item.topic)) for item in found.kept if item.topic == topic]


def _of_topic(topic: Topic, found: Class, names: Mapping[str, str], by: str) -> Board:
    columns = {column.name: column for column in COLUMNS[topic.writes]}
    if by not in columns:
        message = f"`{by}` is nothing that {topic.name} is compared by{nearest(by, columns)}"
        raise WarpladderError(message, remedy=f"one of {', '.join(columns)}")
    grades = _marked(found, topic)
    right = [(names[student], grade) for student, grade in grades if grade.verdict == "pass"]
    values = [
        (name, grade.rung_reached or units.NOTHING, {key: item.value(grade) for key, item in columns.items()})
        for name, grade in right
    ]
    values.sort(key=lambda item: (_order(item[2][by]), item[0]))
    orders = [_order(item[2][by]) for item in values]
    places = [Place(orders.index(_order(item[2][by])) + 1, *item) for item in values]
    sources = [grade.time_source for _, grade in right if grade.time_source]
    absent = len(grades) - len(right)
    return Board(topic.name, topic.title, by, topic.writes, next(iter(sources), None), places, absent)


def _order(value: float | None) -> tuple[bool, float]:
    """Least first, and what is not known last."""
    return value is None, value or 0.0

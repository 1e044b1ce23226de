"""What a recording does to data, followed without a device: at the main sizes too, where nothing is replayed.

Bytes are followed in parts: each is a stretch of some value, and a value is an input, a fill, or what a launch made of
others. A kernel whose threads read no more than the element they write makes of every part another one, whatever its
length; of any other kernel the arrays are computed. The job itself says what a launch computes: it is the job with one
launch.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from grader.emulator.streams.commands import (
    Command,
    Copy,
    Fill,
    HostCopy,
    LaunchKernel,
    Place,
    Recording,
)
from grader.emulator.streams.parts import Memory, Part
from grader.judge.schedules import launches
from grader.workbook.reference import Problem
from grader.workbook.topic import ScheduleTopic

Numbers = np.ndarray[Any, np.dtype[Any]]

MOST_FLOP = 2e9
"""Of a job whose arrays are computed: a larger one is not followed."""

MOST_TIMES = 20
"""So many times the job's own arithmetic a schedule may ask for."""

FEW_FLOP = 1e7
"""So much a schedule may ask for in any case: of a small matrix a whole tile is more than MOST_TIMES of it."""

_PRIME = 1_048_573
"""Inputs are smaller, as whole numbers; no multiple of it is a likely chunk."""

_LOOKED_AT = 64
"""Places of a part, its first and last among them: a kernel that works on elements alone treats all of a part alike."""


class Value(Protocol):
    """Numbers that go on without end, of which a part of a buffer holds some."""

    def at(self, places: Numbers) -> Numbers:
        """Those at some places, in float64."""


@dataclass(frozen=True)
class Given:
    """The input of a job that works on elements alone: whole numbers, so that its arithmetic is exact."""

    def at(self, places: Numbers) -> Numbers:
        return (places * 7919 % _PRIME).astype(np.float64)


@dataclass(frozen=True)
class Filled:
    """One word over and over."""

    word: bytes

    def at(self, places: Numbers) -> Numbers:
        return np.full(len(places), np.frombuffer(self.word, np.float32)[0], np.float64)


@dataclass(frozen=True, eq=False)
class Computed:
    """An array of known numbers."""

    numbers: Numbers

    def at(self, places: Numbers) -> Numbers:
        return self.numbers[places]


@dataclass(frozen=True)
class Applied:
    """What launches of a kernel that works on elements alone make of a value: so many, one after the other."""

    launch: Callable[[Numbers], Numbers]
    value: Value
    times: int

    def at(self, places: Numbers) -> Numbers:
        found = self.value.at(places)
        for _ in range(self.times):
            found = self.launch(found)
        return found


Stretch = Part[Value]


@dataclass(frozen=True)
class Wrong:
    """An element of a result that is not what the job asks for. `found` None: it is not a whole element of anything."""

    array: str
    element: int
    found: float | None
    wanted: float


class TooMuch(Exception):
    """The launches compute so much more than the job asks for that they are not followed."""


def followed(topic: ScheduleTopic, problem: Problem, recording: Recording) -> Wrong | None:
    """The first element of the results that is found wrong, of a recording that has passed all other checks; its
    commands are in an order that its streams allow. Raises TooMuch."""
    kind = _Elements if topic.kernel.in_place else _Arrays
    if not topic.kernel.in_place and topic.reference.min_flop(problem) > MOST_FLOP:
        return None
    return kind(topic, problem, recording).wrong()


class _Flow(ABC):
    """The memory of a recording, and what becomes of it."""

    def __init__(self, topic: ScheduleTopic, problem: Problem, recording: Recording) -> None:
        self.topic, self.problem, self.recording = topic, problem, recording
        self.memory: list[Memory[Value]] = [Memory() for _ in recording.buffers]
        inputs = {item.name for item in topic.signature.inputs}
        for number, buffer in enumerate(recording.buffers):
            if buffer.name in inputs:
                whole = Part(0, buffer.nbytes, self.given(buffer.name), 0)
                self.memory[number].write(0, buffer.nbytes, [whole])

    @abstractmethod
    def given(self, name: str) -> Value:
        """An input."""

    @abstractmethod
    def made(self, read: Sequence[Sequence[Stretch]], nbytes: int, sizes: Problem) -> list[Stretch]:
        """What a launch makes of what it reads, in so many bytes."""

    @abstractmethod
    def wanted(self, name: str, first: int, last: int) -> tuple[Numbers, Numbers]:
        """Places of a result from first to before last, and what belongs there."""

    def wrong(self) -> Wrong | None:
        """Follow all commands; the first element found wrong then."""
        for command in self.recording.expanded():
            self._do(command)
        outputs = {item.name: item.dtype.itemsize for item in self.topic.signature.outputs}
        for number, buffer in enumerate(self.recording.buffers):
            for part in self.memory[number].read(0, buffer.nbytes) if buffer.name in outputs else []:
                if found := self._compare(buffer.name, outputs[buffer.name], part):
                    return found
        return None

    def _compare(self, name: str, size: int, part: Stretch) -> Wrong | None:
        places, wanted = self.wanted(name, part.first // size, -(-part.last // size))
        if not part.aligned(size):
            return Wrong(name, int(places[0]), None, float(wanted[0]))
        found = part.value.at(places + (part.offset - part.first) // size)
        (differing,) = np.nonzero(found != wanted)
        if not len(differing):
            return None
        one = differing[0]
        return Wrong(name, int(places[one]), float(found[one]), float(wanted[one]))

    def _do(self, command: Command) -> None:
        match command:
            case Copy() | HostCopy():
                self._write(command.target, command.nbytes, self._read(command.source, command.nbytes))
            case Fill():
                nbytes, word = len(command.pattern) * command.count, (command.pattern * 4)[:4]
                self._write(command.target, nbytes, [Part(0, nbytes, Filled(word), 0)])
            case LaunchKernel():
                self._launch(command)

    def _read(self, place: Place, nbytes: int) -> list[Stretch]:
        """What lies there, counted from its first byte."""
        first = place.offset
        return [part.moved(-first) for part in self.memory[place.buffer].read(first, first + nbytes)]

    def _write(self, place: Place, nbytes: int, parts: Iterable[Stretch]) -> None:
        first = place.offset
        moved = [part.moved(first) for part in parts]
        self.memory[place.buffer].write(first, first + nbytes, moved)

    def _launch(self, launch: LaunchKernel) -> None:
        sizes, touched = launches.values(self.topic.kernel, launch), launches.reach(self.topic.kernel, launch)
        assert sizes is not None, "checked"
        (into,) = (extent for extent in touched if extent.writes)
        read = [self._read(extent.place, extent.nbytes) for extent in touched if not extent.writes]
        self._write(into.place, into.nbytes, self.made(read, into.nbytes, sizes))


class _Elements(_Flow):
    """Of a job with one input and one result, whose kernel works on elements alone."""

    def given(self, name: str) -> Value:
        return Given()

    def made(self, read: Sequence[Sequence[Stretch]], nbytes: int, sizes: Problem) -> list[Stretch]:
        return [replace(part, value=self._applied(part.value)) for part in read[0]]

    def wanted(self, name: str, first: int, last: int) -> tuple[Numbers, Numbers]:
        places = np.unique(np.linspace(first, last - 1, _LOOKED_AT).astype(np.int64))
        return places, self._job(Given().at(places))

    def _applied(self, value: Value) -> Applied:
        if isinstance(value, Applied):
            return replace(value, times=value.times + 1)
        return Applied(self._job, value, 1)

    def _job(self, numbers: Numbers) -> Numbers:
        """The whole job, of these elements: a launch does it."""
        (source,), sizes = self.topic.signature.inputs, self.topic.kernel.reach.values()
        counted = {name: len(numbers) for item in sizes for name in item.names}
        (found,) = self.topic.reference.reference(
            {source.name: numbers}, {**self.problem, **counted}
        ).values()
        return found


class _Arrays(_Flow):
    """Of a job whose arrays are computed whole."""

    def __init__(self, topic: ScheduleTopic, problem: Problem, recording: Recording) -> None:
        self._inputs = topic.reference.make_inputs(problem, np.random.default_rng(), "exact")
        self._outputs = topic.reference.reference(self._inputs, problem)
        self._flop = max(MOST_TIMES * topic.reference.min_flop(problem), FEW_FLOP)
        super().__init__(topic, problem, recording)

    def given(self, name: str) -> Value:
        return Computed(self._inputs[name].ravel())

    def made(self, read: Sequence[Sequence[Stretch]], nbytes: int, sizes: Problem) -> list[Stretch]:
        reference, kernel = self.topic.reference, self.topic.kernel
        problem = {**self.problem, **sizes, **kernel.alone}
        self._flop -= reference.min_flop(problem)
        if self._flop < 0:
            raise TooMuch
        given = {}
        for item, parts in zip(self.topic.signature.inputs, read, strict=True):
            shape = kernel.shape(item.name, problem)
            given[item.name] = _gathered(parts, math.prod(shape), item.dtype.itemsize).reshape(shape)
        (found,) = reference.reference(given, problem).values()
        return [Part(0, nbytes, Computed(found.ravel()), 0)]

    def wanted(self, name: str, first: int, last: int) -> tuple[Numbers, Numbers]:
        return np.arange(first, last), self._outputs[name].ravel()[first:last]


def _gathered(parts: Sequence[Stretch], count: int, size: int) -> Numbers:
    """The numbers of parts that follow each other without gaps; no numbers where one begins within an element."""
    if not all(part.aligned(size) for part in parts):
        return np.full(count, np.nan)
    places = [(part, np.arange((part.last - part.first) // size)) for part in parts]
    return np.concatenate([part.value.at(part.offset // size + steps) for part, steps in places])

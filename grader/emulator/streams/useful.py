"""What of a recording's work its results need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from statistics import fmean

from grader.emulator.streams.commands import Command, Copy, HostCopy, Place, Recording
from grader.emulator.streams.ordering import Reach, extents
from grader.emulator.streams.parts import Memory, Part


def useful(recording: Recording, reach: Reach, results: Collection[str]) -> Mapping[int, float]:
    """By id() of each command: the share of the bytes it writes that `results`, names of buffers, come from. Of a
    graph that is launched several times it is the mean.

    The commands of a recording without hazards are in one of the orders that its streams allow, and all of these do
    the same. So they are followed from the last to the first: what is needed of a command's bytes, and not written
    again before it is read, makes as large a share of what the command reads needed.
    """
    needed = _Needed(recording)
    for number, buffer in enumerate(recording.buffers):
        if buffer.name in results:
            needed.add(Place(number, 0), [Part(0, buffer.nbytes, 1.0, 0)])
    shares: defaultdict[int, list[float]] = defaultdict(list)
    for command in reversed(list(recording.expanded())):
        shares[id(command)].append(_share(command, reach, needed))
    return {command: fmean(found) for command, found in shares.items()}


def _share(command: Command, reach: Reach, needed: _Needed) -> float:
    """The share of one command; `needed` is what is needed after it, then what is before it."""
    touched = extents(command, reach)
    written = sum(item.nbytes for item in touched if item.writes)
    taken = [part for item in touched if item.writes for part in needed.take(item.place, item.nbytes)]
    share = sum((part.last - part.first) * part.value for part in taken) / max(written, 1)
    for item in touched:
        if isinstance(command, Copy | HostCopy) and not item.writes:
            needed.add(item.place, taken)
        elif share and not item.writes:
            needed.add(item.place, [Part(0, item.nbytes, share, 0)])
    return share


class _Needed:
    """Which bytes of all buffers are needed, and how much: 1.0 what the results are made of alone."""

    def __init__(self, recording: Recording) -> None:
        self._memory: list[Memory[float]] = [Memory() for _ in recording.buffers]

    def take(self, place: Place, nbytes: int) -> list[Part[float]]:
        """What is needed there, counted from its first byte; it is written here, so not needed any earlier."""
        memory, first = self._memory[place.buffer], place.offset
        found = [part.moved(-first) for part in memory.read(first, first + nbytes)]
        memory.write(first, first + nbytes, [])
        return found

    def add(self, place: Place, parts: Collection[Part[float]]) -> None:
        """Parts that are needed as well, counted from there; what is needed more already stays so."""
        memory = self._memory[place.buffer]
        for part in (part.moved(place.offset) for part in parts):
            more = [old for old in memory.read(part.first, part.last) if old.value > part.value]
            for item in (part, *more):
                memory.write(item.first, item.last, [Part(item.first, item.last, item.value, item.first)])

"""Marks: sources graded by an engine, on public cases and then on hidden ones, and kept by content.

The two are graded apart. A source that a public case refuses is told all about it, and has never met a hidden one;
of hidden cases only whether they passed is ever told, so nothing of theirs can be in a message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
from msgspec import structs

from grader import cuda
from grader.course.engines.engine import Engine
from grader.course.engines.threads import Threads
from grader.course.hidden import Hidden
from grader.course.orders import Answer, Marked, Order, as_marked, state
from grader.emulator.cache import write_whole
from grader.errors import WarpladderError
from grader.workbook.topic import Topic

SECONDS = 900.0
"""A submission that takes longer altogether is given up: honest ones take seconds."""

JOBS = 2
"""So many marking processes, where nothing else is asked for."""


class UnwritableError(WarpladderError):
    """No mark can be kept, such as on a full disk: the others of the class could not be, either."""


@dataclass(frozen=True)
class Marker:
    """Marks sources, each text once for each topic, set of hidden cases, device and state of the judge."""

    cache: Path  # a folder of files <key>.json; the instructor's alone: they hold hidden cases
    hidden: Hidden
    device: str = "emulator"
    arch: str | None = None
    seconds: float = SECONDS
    gpu: str = ""  # the name of the GPU that marks are made on; "": this machine's
    unconfined: Collection[str] = ()  # topics whose Python runs where there are only limits for it

    def known(self, topic: Topic, source: str) -> Marked | None:
        """The mark of a source that was marked before; None for another, or where the file cannot be read."""
        return self._kept(self._order(topic, source))

    def mark(self, topic: Topic, source: str, again: bool = False) -> Marked:
        """Mark a source, or take what is known of it unless `again`.

        Raises WarpladderError where it could not be marked at all, which is for the instructor to mend.
        """
        (found,) = mark_all(self, [(topic, source)], again=again)
        if isinstance(found, str):
            remedy = "this is not the learner's fault; mend it and autograde again"
            raise WarpladderError(found, remedy=remedy)
        return found

    def _kept(self, order: Order) -> Marked | None:
        try:
            return as_marked(self._entry(order).read_bytes())
        except (OSError, msgspec.DecodeError):
            return None

    def _keep(self, order: Order, mark: Marked) -> None:
        """Keep a mark. Raises UnwritableError."""
        try:
            self.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._entry(order), msgspec.json.encode(mark))
        except OSError as error:
            remedy = "make room on the disk and run this again: the marks that were kept stay"
            file = error.filename or self.cache
            raise UnwritableError(
                f"marks cannot be written: {error.strerror}", file=file, remedy=remedy
            ) from None

    def _entry(self, order: Order) -> Path:
        decides = [_device(self.device, self.arch, self.gpu), order]
        return self.cache / f"{hashlib.sha256(msgspec.json.encode(decides)).hexdigest()}.json"

    def _elsewhere(self, mark: Marked) -> str | None:
        """Why a mark is none of this course's: a worker elsewhere has another GPU."""
        made_on = mark.public.device
        if not self.gpu or made_on is None or made_on.name == self.gpu:
            return None
        return f"it was marked on {made_on.name}, and the course's device is {self.gpu}"

    def _order(self, topic: Topic, source: str) -> Order:
        sizes = self.hidden.of(topic)
        return Order(topic.name, source, self.device, self.arch, self.hidden.seed, sizes, state(topic))


def mark_all(
    marker: Marker,
    items: Sequence[tuple[Topic, str]],
    engine: Engine | None = None,
    again: bool = False,
    done: Callable[[int], None] = lambda place: None,
) -> list[Marked | str]:
    """Have an engine mark sources, and those that could not be marked once more, each alone: what they lacked may have
    been time or memory. Returns marks, in the sources' order, or why there is none. Raises UnwritableError.

    `done` is called with the place of each source that is through.
    """
    engine = engine or Threads(JOBS)
    orders = [marker._order(topic, source) for topic, source in items]
    given = [structs.replace(order, unconfined=order.topic in marker.unconfined) for order in orders]
    found: list[Marked | str | None] = [None if again else marker._kept(order) for order in orders]

    def ask(places: Sequence[int]) -> Iterator[tuple[int, Answer]]:
        for place, answer in engine.answers([given[place] for place in places], marker.seconds):
            yield places[place], answer

    def through(place: int, answer: Answer) -> None:
        complaint = answer.complaint if answer.marked is None else marker._elsewhere(answer.marked)
        if answer.marked is None or complaint is not None:
            found[place] = f"it could not be marked: {complaint}"
        else:
            marker._keep(orders[place], answer.marked)
            found[place] = answer.marked

    left = [place for place, mark in enumerate(found) if mark is None]
    for place in sorted(set(range(len(found))) - set(left)):
        done(place)
    lost = []
    for place, answer in ask(left):
        through(place, answer)
        if isinstance(found[place], str):
            lost.append(place)
        else:
            done(place)
    for place in sorted(lost):
        for _, answer in ask([place]):
            through(place, answer)
        done(place)
    return [mark for mark in found if mark is not None]


@cache
def _device(device: str, arch: str | None, gpu: str) -> str:
    """What marks are made on: their times, of a GPU, are measured. Raises WarpladderError for a GPU that is neither
    here nor named."""
    if gpu:
        return gpu
    if device == "pycuda" and (problem := cuda.gpu_problem()):
        remedy = "where others mark, name theirs in nbgrader_config.py: c.MarkKernels.gpu = 'NVIDIA H200'"
        message = f"the course's device is a GPU, and none can be used here: {problem}"
        raise WarpladderError(message, remedy=remedy)
    return cuda.describe(device, arch)

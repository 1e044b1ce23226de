"""What probes about ladders are computed from: counters of the workbook's own kernels, and times that were measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from grader.emulator.cache import cache_folder, keep, kept
from grader.errors import WarpladderError
from grader.judge.timing.kept import state
from grader.judge.values import of_file
from grader.results import Climb, load
from grader.workbook import compiler, topics
from grader.workbook.content import record_file
from grader.workbook.expressions import Number


def counted(topic: str, rung: str) -> Mapping[str, Number]:
    """What claims may name of a rung of the workbook: sizes, counters and facts, counted by the emulator.

    Raises WarpladderError for a rung that there is not.
    """
    return counted_file(topic, topics.load(topic).rung(rung).path)


@cache
def counted_file(topic: str, file: Path) -> Mapping[str, Number]:
    """The same of any kernel file or schedule that is right.

    Takes a second or so, once: it is kept beside compiled code. Raises WarpladderError for a file that is wrong.
    """
    loaded = topics.load(topic)
    source = file.read_text(encoding="utf-8")
    path = cache_folder() / f"{state(loaded, source, compiler.DEFAULT_ARCH)}.counted"
    found = kept(path)
    if found is None:
        found = msgspec.json.encode(of_file(loaded, file))
        keep(path, found)
    return msgspec.json.decode(found, type=dict[str, int | float])


def recorded(topic: str, rung: str) -> float:
    """Seconds that a rung took on the GPU of the topic's record; raises WarpladderError where it was not measured."""
    times = _times(topic)
    if rung not in times:
        raise WarpladderError(f"{rung} of {topic} was not measured", remedy=f"it was of {', '.join(times)}")
    return times[rung]


@cache
def _times(topic: str) -> dict[str, float]:
    file = record_file(topic)
    if not file.is_file():
        raise WarpladderError(f"there is no record of {topic}", file=file)
    return {rung.id: rung.time_s for rung in load(file, Climb).rungs if rung.time_s is not None}

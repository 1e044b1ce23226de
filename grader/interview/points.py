"""Key points: what an answer is to say. Each is worth what its probe shows; prose is no part of the score."""

from __future__ import annotations

from dataclasses import dataclass

from grader.interview.probes.kinds import Probe, read_probe
from grader.interview.reading import at_least, prose
from grader.workbook.strict_toml import Table

WHOLE = 100  # what the weights of a list of points sum to

NO_LONGER = {"terms", "nudge"}
"""Keys of files that were written when prose was searched for words."""


@dataclass(frozen=True)
class Point:
    """Something that an answer has to say."""

    weight: int
    text: str  # in a sentence, for the candidate to see afterwards
    probes: tuple[Probe, ...]  # one of which is drawn and asked
    line: int  # of the file that asks for it


def read_points(table: Table, name: str, least: int) -> tuple[Point, ...]:
    """The key points under `[[name]]`; their weights sum to 100. Raises WarpladderError."""
    tables = at_least(least, table, name)
    found = tuple(_point(item) for item in tables)
    check_weights(table, name, [point.weight for point in found])
    return found


def check_weights(table: Table, name: str, weights: list[int]) -> None:
    """Raise where the weights under `[[name]]` do not sum to 100."""
    if sum(weights) != WHOLE:
        message = f"the weights of `{name}` sum to {sum(weights)}, not to {WHOLE}"
        raise table.tables(name)[0].error(message, "weight")


def read_weight(table: Table) -> int:
    """The key `weight`."""
    weight = table.get("weight", int)
    if weight < 1:
        raise table.error("`weight` is below 1", "weight")
    return weight


def _point(table: Table) -> Point:
    for key in sorted(NO_LONGER & table.values.keys()):
        raise table.error(
            f"`{key}` is no longer read", key, "remove it: a point is worth what its probe shows"
        )
    table.allow("weight", "text", "probe")
    return Point(
        weight=read_weight(table),
        text=" ".join(prose(table, "text").split()),
        probes=tuple(read_probe(item) for item in at_least(1, table, "probe")),
        line=table.line(),
    )

"""A ladder: rungs from the naive one upwards, and the claims by which they are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from grader.errors import WarpladderError
from grader.results import ClaimResult
from grader.workbook import units
from grader.workbook.expressions import Expression, nearest
from grader.workbook.source_file import SourceFile
from grader.workbook.strict_toml import Table

NAIVE = "00_naive"
"""Rung 0 of every ladder."""

File = TypeVar("File", bound=SourceFile, covariant=True)


@dataclass(frozen=True)
class Rung(Generic[File]):
    """A file with a place in a ladder."""

    id: str  # "00_naive", "01_coalesced"
    file: File
    own: bool = False  # a learner's file, which stands beside the rungs and claims nothing

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def idea(self) -> str:
        return self.file.idea

    @property
    def source(self) -> str:
        return self.file.source

    @property
    def side_step(self) -> bool:
        return self.file.side_step


@dataclass(frozen=True)
class ClaimSpec:
    """What a rung has to show at the sizes that claims are for, and the points it is worth."""

    rung: str
    text: str
    expect: Expression | None  # over sizes, counters and facts of the topic's kind; None: that it is right
    points: int
    line: int  # of topic.toml
    per: Expression | None = None  # what both sides are divided by where they are shown
    unit: str = ""  # what they are then, in words


def read_claim(table: Table, rung: str, points: int) -> ClaimSpec:
    """What a rung has to show, as a table declares it; raises WarpladderError."""
    expect = table.expression("expect") if "expect" in table.values else None
    if expect is not None and not expect.is_condition:
        raise table.error(f"`expect`: `{expect.text}` is a number", "expect", "compare it: … <= …")
    per = table.expression("per") if "per" in table.values else None
    unit = table.get("unit", str, "")
    if per is not None and not unit:
        raise table.error("`per` without `unit`", "per", "say in words what both sides are, divided by it")
    return ClaimSpec(rung, table.get("text", str), expect, points, table.line(), per, unit)


def figures(claim: ClaimResult) -> str:
    """What was found and what is required, in the claim's unit: "33 sectors a warp's multiply-add; at most 8 required".

    Empty where it is not known, or where the claim is more than one comparison.
    """
    if claim.value is None or claim.limit is None:
        return ""
    scale = claim.per or 1.0
    found, limit = _told_apart(claim.value / scale, claim.limit / scale)
    unit = units.unit_of(claim.value / scale, claim.unit) or "found"
    none = claim.limit == 0 and claim.bound in ("", "at most ")
    return f"{found} {unit}; {'none allowed' if none else f'{claim.bound}{limit} required'}"


def _told_apart(found: float, limit: float) -> tuple[str, str]:
    """Two numbers with as few digits as tell them apart: 33 and 8, but 1.104 and 1.1."""
    shown = [units.count(found), units.count(limit)]
    for digits in range(4, 10):
        if found == limit or shown[0] != shown[1]:
            break
        shown = [units.number(found, digits), units.number(limit, digits)]
    return shown[0], shown[1]


@dataclass(frozen=True)
class Ladder(Generic[File]):
    """The rungs of a topic from rung 0 upwards, and what each claims. A rung has to keep the claims of those below."""

    topic: str
    rungs: tuple[Rung[File], ...]
    claims: tuple[ClaimSpec, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The rungs by name, from rung 0 upwards."""
        return tuple(rung.id for rung in self.rungs)

    @property
    def max_points(self) -> int:
        """The points of all claims."""
        return sum(claim.points for claim in self.claims)

    @property
    def right_points(self) -> int:
        """The points of whatever is right."""
        return sum(claim.points for claim in self.claims if claim.expect is None)

    def __getitem__(self, rung: str) -> Rung[File]:
        """The rung with that id; raises WarpladderError."""
        return self.rungs[self.place(rung)]

    def place(self, rung: str) -> int:
        """How many rungs are below that one; raises WarpladderError."""
        if rung in self.ids:
            return self.ids.index(rung)
        message = f"{self.topic} has no rung `{rung}`{nearest(rung, self.ids)}"
        raise WarpladderError(message, remedy=f"its rungs are {', '.join(self.ids)}")

    def up_to(self, rung: str | None) -> tuple[str, ...]:
        """A rung and those below it, by id; none for None."""
        return () if rung is None else self.ids[: self.place(rung) + 1]

    def above(self, rung: str) -> Rung[File] | None:
        """The next rung; None above the top."""
        return next(iter(self.rungs[self.place(rung) + 1 :]), None)

    def reaches(self, reached: str | None, rung: str) -> bool:
        """Whether who has reached one rung (None: none) has reached another."""
        return rung in self.up_to(reached)

    def claims_up_to(self, rung: str) -> tuple[ClaimSpec, ...]:
        """A rung's own claims and those of every rung below, in the ladder's order."""
        return tuple(claim for name in self.up_to(rung) for claim in self.claims if claim.rung == name)

    def reached(self, claims: Iterable[ClaimResult]) -> str:
        """The highest rung such that its claims and those of every rung below hold.

        Rung 0 is reached by every correct kernel: there is nothing below it.
        """
        missing = {claim.rung for claim in claims if claim.held is not True}
        held = 0
        while held < len(self.ids) and self.ids[held] not in missing:
            held += 1
        return self.ids[max(0, held - 1)]

    def wanting(self, reached: str, claims: Iterable[ClaimResult]) -> str | None:
        """The rung to go for: the reached one where it is rung 0 and its own claims do not hold, else the next."""
        missing = {claim.rung for claim in claims if claim.held is not True}
        following = self.above(reached)
        return reached if reached in missing else None if following is None else following.id

    def paid(self, rung: str, claims: Iterable[ClaimResult]) -> int:
        """What the claims of the reached rungs are worth: a rung above a missing one earns nothing."""
        earned = self.up_to(rung)
        return sum(claim.points for claim in claims if claim.rung in earned and claim.held)

"""A submission on its way through the judge, and what the two kinds of topic have to do for it.

Stages take a submission on, each where the one before left off, and raise Refused where it goes no further.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from grader.analysis.devices import DeviceSpec
from grader.analysis.what_if import Modelled
from grader.errors import WarpladderError
from grader.judge.claims import scoring
from grader.judge.claims.hints import IssuedLine
from grader.judge.claims.pace import Times
from grader.judge.correctness.cases import Case, CaseStore
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool, Progress
from grader.results import CaseResult, ClaimResult, Climb, Code, FindingResult, LineCost, Profile, SmallCase
from grader.workbook.expressions import ExpressionError, Number
from grader.workbook.ladder import ClaimSpec, Rung
from grader.workbook.reference import Problem
from grader.workbook.source_file import SourceFile
from grader.workbook.topic import Topic

File = TypeVar("File", bound=SourceFile)


@dataclass
class Submission:
    """What is known of a file so far, a rung of the ladder included. `refusal` is why it went no further."""

    name: str  # as results name the file
    refusal: Refused | None = None
    cases: list[CaseResult] = field(default_factory=list)
    findings: list[FindingResult] = field(default_factory=list)
    facts: dict[str, Number] | None = None  # what claims may name besides sizes and counters
    claims: list[ClaimResult] = field(default_factory=list)
    blocks_seed: int | None = (
        None  # draws the blocks whose time is modelled: the last case's; of a rung: none
    )
    small: SmallCase | None = None  # a case that can be read, and that it gets wrong
    beyond: str | None = None  # why it is wrong where an array has more elements than an int counts
    first: Callable[[str], str] = lambda rung: ""
    """Looks for what is to be mended before the next rung, whose name is given, is thought of, though it is right; ""
    for nothing."""
    printed: str = ""  # in the case that failed, or in the first that printed anything
    mended: str = ""  # by which change it comes out right; "": none is known
    mended_line: int | None = None  # the line that it changes, or the first of them

    @contextmanager
    def stages(self) -> Iterator[None]:
        """Around the stages: the first that refuses the submission ends them."""
        try:
            yield
        except Refused as refused:
            self.refusal = refused.kept()

    @property
    def proven(self) -> bool:
        """Whether claims could be checked."""
        return self.facts is not None

    @property
    def counters(self) -> dict[str, int] | None:
        """Counters of all launches together; None: not counted."""
        return None

    @property
    def source(self) -> str:
        """The file's text."""
        return ""

    def costliest(self, later: Collection[str] = (), wanted: Collection[str] = ()) -> LineCost | None:
        """The line that wastes most, but for what `later` claims measure, or else most of what is `wanted`, which
        claims that do not hold measure; None where none does, or nothing was counted by line."""
        return None

    def most_issued(self) -> IssuedLine | None:
        """The line that issues the most instructions; None: nothing was counted by line."""
        return None

    def advice(self, measured: Collection[str] = ()) -> str:
        """What is worth saying beside the claims of the next rung that do not hold, which are about what is `measured`;
        "" for nothing."""
        return ""

    def reason_without(self, path: Path) -> str | None:
        """Why it went no further, without its path, where the file is named beside it."""
        return None if self.refusal is None else self.refusal.reason.replace(f"{path}: ", "")


class Kind(ABC, Generic[File]):
    """How the submissions of one topic are judged."""

    @abstractmethod
    def climb(
        self, pool: DevicePool, problem: dict[str, Number], overrides: Problem | None, progress: Progress
    ) -> Climb:
        """Judge and time every rung; `overrides` are what of the problem's sizes was given."""

    @abstractmethod
    def examine(
        self,
        pool: DevicePool,
        file: File,
        name: str,
        tried: Sequence[Case],
        whole: bool,
        progress: Progress,
        store: CaseStore,
    ) -> Submission:
        """Take a file as far as it gets, for a grade. `whole`: its claims too, not the cases alone."""

    @abstractmethod
    def times(
        self, pool: DevicePool, current: Submission, rungs: Sequence[Rung[File]], progress: Progress
    ) -> Times:
        """A right submission and some rungs, timed at the main sizes in one run: on a GPU measured, else modelled."""

    @abstractmethod
    def once(self, pool: DevicePool, file: File, name: str) -> Submission:
        """Run a file once on an emulator at the sizes that claims are for, for its facts and counters."""

    @abstractmethod
    def profile(
        self,
        file: Path,
        device: str,
        overrides: Problem | None,
        progress: Progress,
        arch: str | None,
        code: Code | None,
    ) -> Profile:
        """What a file does, see `grader.judge.profile.profile`."""

    @abstractmethod
    def model(
        self, pool: DevicePool, device: DeviceSpec, problem: Problem
    ) -> Callable[[Rung[File]], Modelled]:
        """What models a rung's time on a device."""


def check_claims(
    topic: Topic, claims: Sequence[ClaimSpec], values: Sequence[Mapping[str, Number]]
) -> list[ClaimResult]:
    """Check claims on what was counted, in each case if there were several; in none of them, none is held or broken.
    Those that claim nothing but to be right are left to the grade.

    Raises WarpladderError for a claim that names what is not counted: that is a fault of the topic.
    """
    found = []
    for claim in claims:
        if claim.expect is None:
            continue
        try:
            results = [scoring.check(claim, item) for item in values or (None,)]
        except ExpressionError as error:
            raise WarpladderError(f"expect: {error}", file=topic.file, line=claim.line) from None
        found.append(next((result for result in results if not result.held), results[0]))
    return found

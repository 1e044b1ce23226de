"""What keeps a correct submission from the next rung, and what to try."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judge.claims.pace import Times
from grader.results import ClaimResult, Hint, TimeLimit
from grader.workbook import cuda_source, units
from grader.workbook.ladder import Ladder, figures
from grader.workbook.reference import Problem
from grader.workbook.source_file import SourceFile

_MARK = re.compile(r"\b(?:__shared__|__shfl_|gridDim|wmma|(?:float|double|u?int|u?char)[248]\b|cp\.async)")
"""What an idea is known by in the text of a kernel."""

BUYS = "What it should buy"
"""How that paragraph begins of what a rung says of itself."""


def next_rung(
    ladder: Ladder[SourceFile], reached: str, claims: Sequence[ClaimResult], sizes: Problem, source: str
) -> list[Hint]:
    """One hint for each claim of the next rung that does not hold; none at the top of the ladder.

    `sizes` are those that claims were checked at, `source` is the submission's text.

    Rung 0 is reached by everything that is right. Where what it claims beside that does not hold, that comes first.
    """
    following = ladder.wanting(reached, claims)
    if following is None:
        return []
    missing = [claim for claim in claims if claim.rung == following and claim.held is not True]
    told = _idea(ladder, following, source)
    idea = f" {told}" if told else ""
    first, others = ("also claims",) * 2 if following == reached else ("needs", "needs as well")
    return [
        _hint(claim, others if number else first, "" if number else idea, sizes, bool(told))
        for number, claim in enumerate(missing)
    ]


def _idea(ladder: Ladder[SourceFile], rung: str, source: str) -> str:
    """The idea of a rung in a sentence. Of one that the kernel has something of already, what it should buy; "" for
    rung 0, where the kernel has something of a later one."""
    place, idea = ladder.place(rung), ladder[rung].idea
    below = _marks(ladder.rungs[max(place - 1, 0)].source)
    begun = _marks(source) - below
    if place == 0 and begun:
        return ""
    bought = (part for part in idea.split("\n\n") if part.startswith(BUYS))
    known = next(bought, "") if begun & _marks(ladder[rung].source) else ""
    return known or f"The idea: {first_sentence(idea)}"


def _marks(source: str) -> set[str]:
    return set(_MARK.findall(cuda_source.plain(source)))


def too_slow(ladder: Ladder[SourceFile], limit: TimeLimit, times: Times | None) -> Hint:
    """Why a rung is not reached whose claims hold."""
    own = None if times is None else times.own_s
    source = "modelled" if times is None else times.source
    took = "a block has not ended" if own is None else f"it takes {units.seconds(own, source)}"
    most = units.seconds(limit.limit_s, source)
    idea = first_sentence(ladder[limit.rung].idea)
    text = (
        f"{limit.rung} has all that it claims, and is faster: at the main sizes {took}, at most {most} are asked. Let "
        f"all warps and all multiprocessors work, and look for work that no claim counts. The idea: {idea}"
    )
    return Hint(limit.rung, text, value=own, limit=limit.limit_s)


def _hint(claim: ClaimResult, verb: str, idea: str, sizes: Problem, has_idea: bool) -> Hint:
    if claim.held is None:
        text = f"Whether it reaches {claim.rung} is not known, because its counters are not."
    else:
        text = f"{claim.rung} {verb}: {claim.text}.{_found(claim, sizes)}{idea}"
    return Hint(claim.rung, text, claim.text, claim.value, claim.limit, has_idea)


def _found(claim: ClaimResult, sizes: Problem) -> str:
    """What was counted beside what is required, where the claim is one comparison."""
    told = figures(claim)
    where = "at the main size, where some blocks were counted" if claim.at_main else units.sizes(sizes)
    return f" Yours: {told} ({where})." if told else ""


def first_sentence(prose: str) -> str:
    """The text up to the first full stop that ends a sentence, or to the end of the first paragraph."""
    paragraph = prose.split("\n\n")[0]
    end = paragraph.find(". ")
    return paragraph if end < 0 else paragraph[: end + 1]

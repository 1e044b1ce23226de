"""What keeps a correct submission from the next rung, and what to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.analysis.model import LaunchTime
from grader.analysis.what_if import Modelled
from grader.judge.claims.costs import pads
from grader.judge.claims.pace import Model, Times
from grader.results import ClaimResult, Hint, TimeLimit
from grader.workbook import units
from grader.workbook.cuda_source import statement
from grader.workbook.ladder import Ladder, figures
from grader.workbook.marks import marks
from grader.workbook.reference import Problem
from grader.workbook.source_file import SourceFile
from grader.workbook.suspects import loops

_TERMS = {
    "dram": ("moving bytes from and to DRAM", "Read and write each element once."),
    "l2": (
        "moving bytes through the L2 cache",
        "Let neighbouring threads access neighbouring elements, and keep what is needed again in registers or shared "
        "memory.",
    ),
    "l1": (
        "what goes through the L1 cache and shared memory",
        "Let neighbouring threads access neighbouring words, and keep what is needed again in registers.",
    ),
    "issue": ("issuing instructions", ""),
    "fma": ("FP32 arithmetic", "Compute once what several outputs have in common."),
    "fp64": (
        "FP64 arithmetic",
        "A constant such as 0.5 is a double, and so is what is computed with it: write 0.5f.",
    ),
    "special": ("what special functions compute", "Compute once what several outputs have in common."),
    "tensor": ("what the Tensor Cores compute", "Let them multiply nothing twice."),
    "latency": (
        "waiting for blocks to begin, and for loads,",
        "Let a thread take several elements, whose loads do not wait for each other{warps}.",
    ),
    "atomics": (
        "updating one word by atomics, one after the other,",
        "Add up in registers and shared memory first, and update the word once a block.",
    ),
    "cluster": (
        "moving bytes between the blocks of a cluster",
        "Keep what is needed again in the block's own memory.",
    ),
    "launch": ("launching kernels", "Let one kernel do what several do."),
}
"""What a term of the time model stands for, and what makes it smaller; see `_fewer` for instructions."""

MANY_BLOCKS = 2
"""How many times a rung's blocks a grid has from which on it is worth a word."""

_BY_THREAD = "a loop between constants is unrolled, one whose bounds depend on the thread is not; "
_ASKED = "a condition in a loop is asked in each turn; "

_MORE_WARPS = ", or have more warps at a time"

MOST = 0.5
"""The share of a kernel's time from which on that of one launch is most of it."""

WORTH_SAYING = 0.05
"""The share of a term that a kernel has beyond a rung's from which on it is worth a word."""

BUYS = "What it should buy"
"""How that paragraph begins of what a rung says of itself."""


@dataclass(frozen=True)
class IssuedLine:
    """A line that issues instructions, and its share of all that are issued."""

    line: int
    share: float


def next_rung(
    ladder: Ladder[SourceFile],
    reached: str,
    claims: Sequence[ClaimResult],
    sizes: Problem,
    source: str,
    padded_in_vain: bool = False,
) -> list[Hint]:
    """One hint for each claim of the next rung that does not hold; none at the top of the ladder.

    `sizes` are those that claims were checked at, `source` is the submission's text, and `padded_in_vain` says that
    padding helps nothing there: a rung whose idea it is then tells none.

    Rung 0 is reached by everything that is right. Where what it claims beside that does not hold, that comes first.
    """
    following = ladder.wanting(reached, claims)
    if following is None:
        return []
    missing = [claim for claim in claims if claim.rung == following and claim.held is not True]
    told = "" if padded_in_vain and _pads_first(ladder, following) else _idea(ladder, following, source)
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
    below = marks(ladder.rungs[max(place - 1, 0)].source)
    begun = marks(source) - below
    if place == 0 and begun:
        return ""
    bought = (part for part in idea.split("\n\n") if part.startswith(BUYS))
    known = next(bought, "") if begun & marks(ladder[rung].source) else ""
    return known or f"The idea: {first_sentence(idea)}"


def _pads_first(ladder: Ladder[SourceFile], rung: str) -> bool:
    """Whether a rung pads rows, and the one before it does not."""
    place = ladder.place(rung)
    return place > 0 and pads(ladder[rung].source) and not pads(ladder.rungs[place - 1].source)


def too_slow(
    ladder: Ladder[SourceFile],
    limit: TimeLimit,
    times: Times | None,
    source: str = "",
    issued: IssuedLine | None = None,
) -> Hint:
    """Why a rung is not reached whose claims hold. `source` is the submission's text, and the line `issued` issues the
    most instructions of it."""
    own = None if times is None else times.own_s
    measured = "modelled" if times is None else times.source
    took = "a block of it has not ended" if own is None else f"it takes {units.seconds(own, measured)}"
    most = units.seconds(limit.limit_s, measured)
    why = (
        "" if times is None or times.model is None else _takes_longer(limit.rung, times.model, source, issued)
    )
    other = (
        "Let all warps and all multiprocessors work, and look for work that no claim counts. "
        f"The idea: {first_sentence(ladder[limit.rung].idea)}"
    )
    text = (
        f"Your kernel has all that {limit.rung} claims, and is too slow for it: at the main sizes {took}, at most "
        f"{most} are asked, a tenth more than the slower of it and the rung before takes. {why or other}"
    )
    return Hint(limit.rung, text, value=own, limit=limit.limit_s, idea=False)


def _takes_longer(rung: str, model: Model, source: str, issued: IssuedLine | None) -> str:
    """What of a kernel takes longer than of the rung that it is too slow for; "" where nothing stands out."""
    blocks, sms = model.own.blocks, model.multiprocessors
    if blocks < sms:
        return (
            f"The grid has {units.number_of(blocks, 'block')}, and the GPU {sms} multiprocessors, of which the others "
            "have nothing to do: let more blocks share the work."
        )
    longest = max(model.own.launches, key=lambda launch: launch.seconds, default=None)
    alone = "" if longest is None else _alone(longest, model)
    if longest is not None and alone and longest.blocks < sms:
        grid, block = (
            units.number_of(longest.blocks, "block"),
            units.number_of(longest.block_threads, "thread"),
        )
        return (
            f"{alone}Its grid has {grid} of {block}: let more threads share its work, or leave it less to do."
        )
    other = model.rungs.get(rung, Modelled())
    own, theirs = model.own.terms, other.terms
    longer = {name: seconds - theirs[name] for name, seconds in own.items() if name in theirs}
    most = max(longer, key=lambda name: longer[name], default="")
    if not most or longer[most] < WORTH_SAYING * own[most]:
        return ""
    what, remedy = _TERMS[most]
    yours, its = (units.seconds(terms[most], "modelled") for terms in (own, theirs))
    full = longest is not None and longest.full
    remedy = remedy.format(warps="" if full else _MORE_WARPS) or _fewer(
        source, issued, blocks, rung, other.blocks
    )
    said = f"{alone}In all launches, " if alone else "By the time model, "
    return f"{said}{what} takes {yours} in your kernel, and {its} in {rung}'s own. {remedy}"


def _alone(launch: LaunchTime, model: Model) -> str:
    """That a launch takes most of the time, where it is one of several; else ""."""
    if len(model.own.launches) < 2 or launch.seconds < MOST * model.own.seconds:
        return ""
    took = units.seconds(launch.seconds, "modelled")
    return f"By the time model, one launch of `{launch.kernel}` takes most of the time, {took}. "


def _fewer(source: str, issued: IssuedLine | None, blocks: int, rung: str, its_blocks: int) -> str:
    """Where most instructions are issued, and how threads issue fewer. The grid has so many `blocks`, a rung's has
    `its_blocks`; 0: not known."""
    turns = issued and loops.around_line(source, issued.line)
    found = []
    if issued is not None:
        share, text = units.percent(issued.share), statement(source, issued.line).strip()
        quoted = f", `{text}`," if text else ""  # a #line in the file may name a line that it does not have
        found.append(f"Line {issued.line}{quoted} issues {share} % of those that were counted.")
    if its_blocks and blocks >= MANY_BLOCKS * its_blocks:
        found.append(
            f"Your grid has {units.number_of(blocks, 'block')}, and that of {rung} {its_blocks}: let fewer blocks take "
            "more elements each, so that what a block does once is done less often."
        )
    elif turns:
        found.append(
            f"Let threads execute fewer in the loop: {_BY_THREAD * turns.by_thread}{_ASKED * turns.asks}what is the "
            "same for all turns is computed once, in front of it."
        )
    else:
        found.append("Let threads execute fewer.")
    return " ".join(found)


def _hint(claim: ClaimResult, verb: str, idea: str, sizes: Problem, has_idea: bool) -> Hint:
    if claim.held is None:
        text = f"Whether it reaches {claim.rung} is not known, because its counters are not."
    else:
        text = f"{claim.rung} {verb}: {claim.text}.{_found(claim, sizes)}{idea}"
    return Hint(claim.rung, text, claim.text, claim.value, claim.limit, has_idea)


def _found(claim: ClaimResult, sizes: Problem) -> str:
    """What was counted beside what is required, where the claim is one comparison."""
    told = figures(claim)
    where = (
        "at the main size, where some blocks were counted"
        if claim.at_main
        else units.sizes(claim.at or sizes)
    )
    return f" Yours: {told} ({where})." if told else ""


def first_sentence(prose: str) -> str:
    """The text up to the first full stop that ends a sentence, or to the end of the first paragraph."""
    paragraph = prose.split("\n\n")[0]
    end = paragraph.find(". ")
    return paragraph if end < 0 else paragraph[: end + 1]

"""A submission's grade, from what its topic's kind finds out about it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.judge.claims import hints, pace, scoring
from grader.judge.claims.costs import padded_in_vain
from grader.judge.claims.pace import Times
from grader.judge.correctness.cases import Case, CaseStore
from grader.judge.kernels.case_runner import accuracy
from grader.judge.kinds import kind_of
from grader.judge.provenance import provenance
from grader.judge.refused import Lost
from grader.judge.runners.pool import DevicePool, Progress, silent
from grader.judge.submission import Kind, Submission
from grader.results import Grade, Hint, LineCost, TimeLimit
from grader.workbook.topic import Topic


def graded(
    pool: DevicePool,
    topic: Topic,
    parsed: Any,
    file: Path,
    tried: Sequence[Case],
    whole: bool,
    progress: Progress = silent,
    store: CaseStore | None = None,
) -> Grade:
    """Grade what `topic` has parsed of a file; rung and points are given only where `whole`.

    `store` has cases of the topic that were computed before, and takes those of this one.
    """
    kind = kind_of(topic)
    current = kind.examine(pool, parsed, str(file), tried, whole, progress, store or CaseStore(topic))
    standing = _standing(kind, pool, topic, current, progress)
    result = _result(pool, topic, current, standing, whole)
    progress(file.stem, "done")
    return result


@dataclass(frozen=True)
class _Standing:
    """The rung that a submission reaches, and the times that had a say in it."""

    rung: str | None = None
    times: Times | None = None
    slow: Times | None = None  # by which the lowest rung is too fast for it whose claims it has
    limits: list[TimeLimit] = field(default_factory=list)


def _standing(
    kind: Kind[Any], pool: DevicePool, topic: Topic, current: Submission, progress: Progress
) -> _Standing:
    """The highest rung whose claims hold and whose time limit is kept. Rung 0 is everything's that is right.

    Most keep the limit of the rung that their claims reach: only where one does not are those below timed.
    """
    if current.refusal is not None or not current.proven:
        return _Standing()
    ladder = topic.ladder
    claimed = ladder.up_to(ladder.reached(current.claims))[:0:-1]
    times, slow, limits = None, None, []
    for tried in (claimed[:1], claimed[1:]):
        beside = [ladder[rung] for rung in pace.compared_with(ladder, tried)]
        times = kind.times(pool, current, beside, progress) if tried else times
        if times is None or current.refusal is not None:
            break
        for rung in tried:
            found = pace.limit(ladder, rung, times)
            limits += [found] if found else []
            if found is None or found.held:
                return _Standing(rung, times, slow, limits)
            slow = times
    return _Standing(None if current.refusal else ladder.ids[0], times, slow, limits)


def _result(pool: DevicePool, topic: Topic, current: Submission, standing: _Standing, whole: bool) -> Grade:
    refusal, counters, gpu = current.refusal, current.counters, pool.gpu
    reached, times = standing.rung, standing.times
    own_s = None if times is None else times.own_s
    right = None if reached is None and refusal is None else refusal is None and current.beyond is None
    claims = [*scoring.right(topic.claims, right), *current.claims]
    asked = _later(topic, current, standing), _wanted(topic, current, standing)
    cost = None if refusal is not None else current.costliest(*asked)
    return Grade(
        topic=topic.name,
        file=current.name,
        verdict="pass" if refusal is None else refusal.verdict,
        reason=None if refusal is None else refusal.reason,
        rung_reached=reached,
        points=0 if reached is None else topic.ladder.paid(reached, claims),
        max_points=topic.max_points,
        cases=current.cases,
        findings=current.findings,
        claims=claims,
        hints=_hints(topic, current, standing, whole, cost),
        device=pool.device,
        counted=None if counters is None else topic.sizes_count,
        counters=counters,
        counter_source=None if counters is None else "emulated",
        facts=current.facts,
        provenance=provenance(None if gpu is None else gpu.hello().driver),
        accuracy=accuracy(topic, current.cases),
        printed=current.printed,
        time_s=own_s,
        time_source=None if times is None or own_s is None else times.source,
        blocks_seed=current.blocks_seed if times is not None and times.source == "modelled" else None,
        vs_naive=None if times is None else _ratio(times.naive_s, own_s),
        vs_bound=None if times is None else _ratio(times.bound_s, own_s),
        costliest=cost,
        time_limits=standing.limits,
        small=current.small,
        beyond=current.beyond,
        lost=isinstance(refusal, Lost),
        mended=current.mended or None,
        mended_line=current.mended_line,
    )


def _ratio(other_s: float | None, own_s: float | None) -> float | None:
    return None if other_s is None or own_s is None else other_s / own_s


def _wanted(topic: Topic, current: Submission, standing: _Standing) -> frozenset[str]:
    """What claims of the next rung that do not hold are about; nothing where it is time that is lacking."""
    following = None if standing.rung is None else topic.ladder.wanting(standing.rung, current.claims)
    if following is None or not all(limit.held for limit in standing.limits):
        return frozenset()
    missing = {claim.text for claim in current.claims if claim.rung == following and claim.held is False}
    return _about(topic, missing)


def _later(topic: Topic, current: Submission, standing: _Standing) -> frozenset[str]:
    """What only rungs behind the next are about; nothing where it is time that is lacking."""
    following = None if standing.rung is None else topic.ladder.wanting(standing.rung, current.claims)
    if following is None or not all(limit.held for limit in standing.limits):
        return frozenset()
    near = topic.ladder.claims_up_to(following)
    names = [
        frozenset[str]().union(*(claim.expect.names for claim in claims if claim.expect))
        for claims in (topic.ladder.claims, near)
    ]
    return names[0] - names[1]


def _hints(
    topic: Topic, current: Submission, standing: _Standing, whole: bool, cost: LineCost | None
) -> list[Hint]:
    reached, broken = standing.rung, [item for item in standing.limits if not item.held]
    if current.refusal is not None:
        return []
    if broken:
        slow = hints.too_slow(topic.ladder, broken[-1], standing.slow, current.source, current.most_issued())
        return [*_first(current, slow), slow]
    if reached is not None:
        in_vain = (
            cost is not None
            and "shared_conflicts" in _wanted(topic, current, standing)
            and padded_in_vain(current.source, cost.line)
        )
        found = hints.next_rung(
            topic.ladder, reached, current.claims, topic.claim_sizes, current.source, in_vain
        )
        earlier = _first(current, *found)
        if found and not earlier and (advice := current.advice(_measured(topic, found))):
            found.append(Hint(found[0].rung, advice))
        return [*earlier, *found]
    first = topic.ladder.ids[0]
    if not whole:
        text = "Only the sizes of this call were tried; grade without --set for rung and points."
    else:
        text = "The result is right, but the emulator could not count it, so its rung is not known."
    return [Hint(first, text)]


def _measured(topic: Topic, broken: Sequence[Hint]) -> frozenset[str]:
    """What claims that do not hold are about."""
    return _about(topic, {hint.claim for hint in broken if hint.claim})


def _about(topic: Topic, texts: Collection[str]) -> frozenset[str]:
    """What claims are about, which are known by their texts."""
    claims = [claim.expect for claim in topic.ladder.claims if claim.text in texts and claim.expect]
    return frozenset[str]().union(*(expect.names for expect in claims))


def _first(current: Submission, *others: Hint) -> list[Hint]:
    """What comes before other hints; nothing is looked for where there are none."""
    found = current.first(others[0].rung) if others else ""
    return [Hint(others[0].rung, found, idea=False)] if found else []

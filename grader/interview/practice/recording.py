"""What a session adds to a learner's history: an outcome for each item that was checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from statistics import fmean

import msgspec

from grader.history.items import Item
from grader.history.outcomes import Graded, Outcome, Sitting
from grader.history.store import Store
from grader.interview import credit
from grader.interview.card import Card
from grader.interview.interviewer import HINT_COSTS
from grader.interview.session import Code, Figure, Probed, Session, Talk
from grader.results import Verdict


def id_of(kept: Session) -> str:
    """What tells a session from all others, also after it was resumed."""
    return f"{kept.kind} {kept.started} {kept.seed}"


def sitting(kept: Session, card: Card) -> Sitting:
    """A session as a whole."""
    return Sitting(
        id=id_of(kept),
        format=kept.kind,
        subject=card.id,
        started=_started(kept),
        seconds=kept.elapsed_s,
        share=card.earned / card.asked if card.asked else 0.0,
        rated=card.rated,
    )


def day(kept: Session, found: Sequence[Outcome]) -> Sitting:
    """A day's items as a whole, from their outcomes; each counts the same."""
    share = fmean(each.share for each in found) if found else 0.0
    return Sitting(id_of(kept), kept.kind, "", _started(kept), kept.elapsed_s, share, None)


def outcomes(kept: Session, items: Mapping[str, Item]) -> list[Outcome]:
    """An outcome for each of `items` that was checked in time, by key.

    It is dated by the time that the candidate has spent, so that the same session gives the same outcomes whenever it
    is looked at.
    """
    found: dict[str, Outcome] = {}
    for key, share, rated, seconds, spent in _checked(kept):
        if (item := items.get(key)) is not None:
            when = _started(kept) + timedelta(seconds=spent)
            found[key] = Outcome(
                key, when, share, rated, item.level, item.topics, item.format, seconds, id_of(kept)
            )
    return list(found.values())


def grades(kept: Session) -> list[Graded]:
    """A grade for each version of a ladder that was written, as the judge saw it last."""
    found, spent = [], 0.0
    for answer in kept.answers:
        spent += answer.seconds
        if (
            isinstance(answer, Code)
            and answer.rung
            and answer.verdict
            and (file := answer.file or kept.kernel_file)
        ):
            when, digest = (
                _started(kept) + timedelta(seconds=spent),
                sha256(answer.source.encode()).hexdigest(),
            )
            verdict = msgspec.convert(answer.verdict, Verdict)
            found.append(
                Graded(answer.topic, when, str(Path(file).absolute()), digest, verdict, answer.rung_reached)
            )
    return found


def remember(kept: Session, card: Card, items: Mapping[str, Item]) -> Sitting | None:
    """Write a session's outcomes and grades into the learner's file; the sitting of its kind before, if there is one.

    Raises WarpladderError where the file cannot be used.
    """
    found, graded = outcomes(kept, items), grades(kept)
    with Store() as store:
        store.record(sitting(kept, card), found, graded, _gone(kept, items))
        return store.before(sitting(kept, card)) if found or graded else None


def remember_day(kept: Session, items: Mapping[str, Item], store: Store) -> list[Outcome]:
    """Write what was checked of a day's items, whether it was finished or broken off."""
    found = outcomes(kept, items)
    store.record(day(kept, found), found, gone=_gone(kept, items))
    return found


def _gone(kept: Session, items: Mapping[str, Item]) -> set[str]:
    """What was checked and is no item any more."""
    return {key for key, *_ in _checked(kept)} - items.keys()


def _checked(kept: Session) -> Iterator[tuple[str, float, float | None, float, float]]:
    """Of each checked answer its item, what it earned, how the prose before it was rated, its seconds, and the time
    until then."""
    spent = 0.0
    for answer in kept.answers:
        spent += answer.seconds
        if answer.late:
            continue
        match answer:
            case Probed():
                yield answer.item, credit.of_probe(answer), _rated(kept, answer), answer.seconds, spent
            case Code():
                share = answer.share * (1 - HINT_COSTS * answer.hint)
                yield _judged(kept, answer.step), share, None, answer.seconds, spent
            case Figure() if answer.right is not None:
                yield _judged(kept, answer.step), answer.share, None, answer.seconds, spent


def _judged(kept: Session, step: str) -> str:
    """The item of a step that is no probe: of a coding round, or of what a drill asks after its own."""
    if kept.kind == "interview":
        return f"{kept.topic}/{step}"
    return f"{kept.kind}/{step.replace('.', '/')}"


def _rated(kept: Session, answer: Probed) -> float | None:
    """What the candidate gave the answer in prose whose point a probe is of; None for a probe by itself."""
    talk = kept.answer(answer.step.rpartition(".")[0].rpartition(".")[0])
    return talk.rated if isinstance(talk, Talk) else None


def _started(kept: Session) -> datetime:
    return datetime.fromisoformat(kept.started).astimezone(UTC)

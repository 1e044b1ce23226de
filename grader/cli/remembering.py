"""What a session leaves in the learner's history: done at its end, whether it was finished or broken off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.cli.options import console_for
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from rich.console import Console

    from grader.interview.card import Card
    from grader.interview.practice.catalogue import Catalogue
    from grader.interview.session import Session


def remember(kept: Session, card: Card, catalogue: Catalogue, shown: Console) -> None:
    """Write a session's outcomes, and show what changed; a history that cannot be written costs no card."""
    from grader.history.store import Store
    from grader.interview.practice import recording
    from grader.report import notices
    from grader.report.history import console

    found = recording.outcomes(kept, catalogue.items)
    if not found:
        return
    sitting = recording.sitting(kept, card)
    try:
        with Store() as store:
            store.record(sitting, found)
            before = store.before(sitting)
    except WarpladderError as error:
        notices.error(console_for(stderr=True), error)
        return
    if kept.over and before is not None:
        shown.print(console.last_time(sitting, before))

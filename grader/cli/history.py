"""A learner's history: what is due today, and how skills stand."""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    HtmlOption,
    JsonOption,
    app,
    check_outputs,
    console_for,
    file_of,
    write_file,
    write_structs,
)
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from grader.interview.practice.catalogue import Askable
    from grader.interview.session import Session

COUNT = 12
"""Items in a day: about ten minutes."""


@app.command()
def today(
    count: Annotated[int, typer.Option("--count", min=1, help="How many to ask at the most.")] = COUNT,
    level: Annotated[
        str, typer.Option("--level", metavar="LEVEL", help="New ones up to junior, mid, senior or staff.")
    ] = "senior",
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="TOPIC", help="Only what belongs to a ladder.")
    ] = None,
    every: Annotated[bool, typer.Option("--list", help="List what is due, and ask nothing.")] = False,
    json: JsonOption = None,
) -> None:
    """Answer what is due today, and a few new questions.

    Short questions come back after a day where you did not know, and after weeks where you did. Each answer is
    saved; Ctrl-C breaks off, and the same command goes on. --json lists what is due.

    \b
    Examples:
      ladder today
      ladder today --count 20 --topic gemm
      ladder today --list
    """
    from grader.cli.frontend import Terminal
    from grader.history.schedule import Schedule
    from grader.history.store import Store, folder
    from grader.interview.interviewer import BrokenOff
    from grader.interview.practice import catalogue, recall, recording
    from grader.interview.reading import known_level
    from grader.report.history import console
    from grader.workbook.topics import discover

    topics, now, path = discover(), datetime.now().astimezone(), folder() / "today.json"
    found = catalogue.discover(topics)
    if topic is not None and topic not in topics:
        raise WarpladderError(f"there is no topic `{topic}`", remedy="`ladder topics` shows all")
    with Store() as store:
        schedule = Schedule(store.outcomes())
        day = found.day(schedule, known_level(level), topic, now, count)
        if json is not None:
            write_structs(json, day)
            return
        shown, kept = console_for(), _unfinished(path, found.askable)
        if every or (kept is None and not day.items):
            shown.print(console.today(day, now, schedule.next_due(now)))
            shown.print(console.items(day))
        else:
            terminal = Terminal(shown, topics)
            if kept is None:
                shown.print(console.today(day, now, None))
                kept = recall.begin(day.items, secrets.randbelow(10_000))
            else:
                terminal.say(f"Going on: {len(kept.answers)} of {len(kept.questions)} answered.")
            try:
                recall.Recall(found.askable, kept, path, terminal).run()
            except BrokenOff:
                terminal.say("Broken off. To go on: `ladder today`")
            outcomes = recording.outcomes(kept, found.items)
            store.record(recording.day(kept, outcomes), outcomes)
            if kept.over:
                path.unlink()
                shown.print(console.done(outcomes, Schedule(store.outcomes()), now))
        if day.elsewhere:
            shown.print(console.elsewhere(day))
    raise typer.Exit(PASSED if kept is None or kept.over else NOT_PASSED)


@app.command()
def progress(
    level: Annotated[
        str, typer.Option("--level", metavar="LEVEL", help="Count what was never asked up to this level.")
    ] = "senior",
    html: HtmlOption = None,
    json: JsonOption = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write your whole history as JSON.")
    ] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help="Merge an exported history into yours.")
    ] = None,
) -> None:
    """Show how your skills stand and changed, and where what is weak is taught.

    Your history is one file, progress.sqlite, in $WARPLADDER_HOME or ~/.local/share/warpladder.

    \b
    Examples:
      ladder progress
      ladder progress --html progress.html
      ladder progress --export history.json
      ladder progress --import history.json
    """
    from grader.history.exchange import exported, import_from
    from grader.history.progress import progress as progress_of
    from grader.history.remedies import Remedies
    from grader.history.store import Store
    from grader.interview.practice import catalogue
    from grader.interview.reading import known_level
    from grader.report.history import console, page
    from grader.workbook import units
    from grader.workbook.topics import discover

    check_outputs(html, export, file_of(json))
    topics = discover()
    items = list(catalogue.discover(topics).items.values())
    with Store() as store:
        if import_ is not None:
            added = units.number_of(import_from(import_, store), "new answer")
            console_for(stderr=True).print(f"{import_}: {added}", soft_wrap=True)
        if export is not None:
            write_file(export, exported(store))
        found = progress_of(store.outcomes(), items, datetime.now().astimezone(), known_level(level))
    remedies = Remedies(topics)
    cures = {point.item.key: remedies.of(point.item) for point in found.weak}
    if html is not None:
        write_file(html, page.progress(found, cures))
    if json is not None:
        write_structs(json, {"progress": found, "remedies": cures})
    if json != "-":
        console_for().print(console.progress(found, cures))


def _unfinished(path: Path, askable: dict[str, Askable]) -> Session | None:
    """A day that was broken off, with something left to ask. One that cannot be read is begun anew."""
    from grader.interview import session as sessions

    with suppress(WarpladderError):
        kept = sessions.load(path)
        if any(kept.answer(key) is None for key in kept.questions if key in askable):
            return kept
    return None

"""A learner's history: what is due today, and how skills stand."""

from __future__ import annotations

import secrets
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
    from_here,
    write_file,
    write_structs,
)
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from grader.history.store import Store
    from grader.interview.practice.catalogue import Catalogue
    from grader.interview.session import Session
    from grader.workbook.topic import Topic


@app.command()
def today(
    count: Annotated[
        int | None,
        typer.Option("--count", min=1, help="Number of questions at the most, instead of the usual."),
    ] = None,
    level: Annotated[
        str,
        typer.Option("--level", metavar="LEVEL", help="New questions up to junior, mid, senior or staff."),
    ] = "senior",
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="TOPIC", help="Only questions that belong to this topic.")
    ] = None,
    role: Annotated[
        str,
        typer.Option(
            "--role", metavar="ROLE", help="New questions for kernels, inference, training, or general (all)."
        ),
    ] = "kernels",
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
    from grader.history.schedule import ITEMS_A_DAY, Schedule
    from grader.history.store import Store, folder
    from grader.interview.bank import known_role
    from grader.interview.practice import catalogue, recall
    from grader.interview.practice.recording import outcomes
    from grader.interview.reading import known_level
    from grader.interview.reports.history import console
    from grader.interview.session import SEEDS
    from grader.workbook.topics import discover

    topics, now = discover(), datetime.now().astimezone()
    if topic is not None and topic not in topics:
        raise WarpladderError(f"there is no topic `{topic}`", remedy="`ladder topics` shows all")
    found, shown = catalogue.discover(topics), console_for()
    with Store() as store:
        schedule = Schedule(store.outcomes())
        day = found.day(schedule, known_level(level), topic, now, count or ITEMS_A_DAY, known_role(role))
        if json is not None:
            write_structs(json, day.listed)
            return
        path = folder() / "today.json"
        begun = recall.unfinished(path)
        kept = None if every else begun
        if kept is None:
            shown.print(console.today(day, now, schedule.next_due(now)))
        if every:
            shown.print(console.items(day))
            if begun is not None:
                shown.print(console.begun(begun))
        elif kept is not None or day.items:
            kept = kept or recall.begin(day.items, secrets.randbelow(SEEDS))
            _recall(kept, path, found, topics, store)
        if kept is not None and kept.over:
            shown.print(console.done(outcomes(kept, found.items), Schedule(store.outcomes()), now))
        if day.elsewhere:
            shown.print(console.elsewhere(day))
    raise typer.Exit(PASSED if kept is None or kept.over else NOT_PASSED)


@app.command("next")
def following(json: JsonOption = None) -> None:
    """Say the one thing to do now, why, and the command for it.

    It goes on with what you graded or were interviewed on last, then in the order of study; kernels that you wrote in
    interviews count: `ladder progress` shows the whole way.

    \b
    Examples:
      ladder next
      ladder next --json -
    """
    from grader import book
    from grader.cli import own_kernels
    from grader.history.store import Store
    from grader.history.way import following, latest, way
    from grader.interview.reports.history import console
    from grader.workbook import exercises
    from grader.workbook.topics import discover

    topics, small = discover(), exercises.discover()
    with Store() as store:
        sittings, begun = store.sittings(), store.begun()
        grades = own_kernels.from_this_folder(store.grades(), begun)
    asked = exercises.with_ladders(small, topics)
    climbed = way(grades, {name: topic.ladder.ids for name, topic in asked.items()})
    files = {topic: str(from_here(file)) for topic, file in begun.items()}
    prepared = {name: exercise.prepares for name, exercise in small.items()}
    found = following(grades, climbed, latest(grades, sittings, topics), prepared, files)
    if json is not None:
        write_structs(json, {"next": found})
    if json != "-":
        topic = topics.get(found.topic or "")
        where = book.lesson(topic, topic.section(found.rung or "")) if topic else ""
        console_for().print(console.following(found, where), crop=False)


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
    """Show the rungs you reached, and how your skills change.

    Each skill is what you knew at the end of a week, as it was checked; for a weak point, the rung and the notebook
    that teach it. Your history is one file, progress.sqlite, in $WARPLADDER_HOME or ~/.local/share/warpladder.

    \b
    Examples:
      ladder progress
      ladder progress --html progress.html
      ladder progress --export history.json
      ladder progress --import history.json
    """
    from grader.cli import own_kernels
    from grader.history.exchange import exported, import_from
    from grader.history.progress import progress as progress_of
    from grader.history.remedies import Remedies
    from grader.history.store import Store
    from grader.history.way import way
    from grader.interview.practice import catalogue
    from grader.interview.reading import known_level
    from grader.interview.reports.history import console, page
    from grader.workbook import units
    from grader.workbook.topics import discover

    check_outputs(html, export, file_of(json))
    topics = discover()
    items = list(catalogue.discover(topics).items.values())
    with Store() as store:
        if import_ is not None:
            added = units.number_of(
                import_from(import_, store), "new answer or grade", "new answers and grades"
            )
            console_for(stderr=True).print(f"{import_}: {added}", soft_wrap=True)
        if export is not None:
            write_file(export, exported(store))
        ladders = {name: topic.ladder.ids for name, topic in topics.items()}
        found = progress_of(
            store.outcomes(),
            items,
            datetime.now().astimezone(),
            known_level(level),
            way(own_kernels.from_this_folder(store.grades(), store.begun()), ladders),
        )
    remedies = Remedies(topics)
    cures = {point.item.key: remedies.of(point.item) for point in found.weak}
    if html is not None:
        write_file(html, page.progress(found, cures))
    if json is not None:
        write_structs(json, {"progress": found, "remedies": cures})
    if json != "-":
        console_for().print(console.progress(found, cures))


def _recall(kept: Session, path: Path, found: Catalogue, topics: dict[str, Topic], store: Store) -> None:
    """Ask what is left of a day, and write what was checked, whether it was finished or broken off."""
    from grader.interview.commands.frontend import Terminal
    from grader.interview.driving import BrokenOff, drive
    from grader.interview.practice import recording
    from grader.interview.practice.recall import Recall
    from grader.interview.sitting import Sitting

    terminal = Terminal(console_for(), topics)
    if kept.answers:
        terminal.say(f"Going on: {len(kept.answers)} of {len(kept.questions)} answered.")
    try:
        drive(Sitting(lambda interviewer: Recall(found.askable, interviewer).run(), kept, path), terminal)
    except BrokenOff:
        terminal.left("ladder today")
    recording.remember_day(kept, found.items, store)
    if kept.over:
        path.unlink()

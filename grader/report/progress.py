"""Progress bars on standard error; nothing is drawn where that is not a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from grader.report.terminal import terminal

STAGES = {
    "compile": "compiling",
    "judge": "trying cases",
    "count": "counting",
    "model": "modelling",
    "time": "timing",
}


@contextmanager
def of_rungs(topic: str, rungs: Sequence[str]) -> Iterator[Callable[[str, str], None]]:
    """A bar over the rungs of a ladder; yields what a climb calls with a rung and its stage.

    Of the rungs that are being worked on, the first of the ladder is shown.
    """
    with _bars() as bars:
        task = bars.add_task(topic, total=len(rungs), doing="")
        doing: dict[str, str] = {}

        def report(rung: str, stage: str) -> None:
            doing.pop(rung, None)
            if stage == "done":
                bars.advance(task)
            else:
                doing[rung] = f"{rung}: {STAGES.get(stage, stage)}"
            bars.update(task, doing=next((doing[rung] for rung in rungs if rung in doing), ""))

        yield report


@contextmanager
def of_stages(name: str) -> Iterator[Callable[[str, str], None]]:
    """A spinner that says what is being done with one file."""
    with _bars() as bars:
        task = bars.add_task(name, total=None, doing="")
        yield lambda _, stage: bars.update(task, doing=STAGES.get(stage, ""))


@contextmanager
def of_items(name: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar over things of one kind; yields what to call with the name of each that is done."""
    with _bars() as bars:
        task = bars.add_task(name, total=total, doing="")

        def done(item: str) -> None:
            bars.update(task, advance=1, doing=item)

        yield done


def _bars() -> Progress:
    console = terminal(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[doing]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )

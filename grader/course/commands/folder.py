"""`ladder course init`: a course's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import console_for, writing
from grader.course.commands.options import course, needs_nbgrader


@course.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder, or a course's.")],
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", help="A topic to make an assignment of; repeatable. All if none."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The course's name; the folder's if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over assignments that are there.")] = False,
) -> None:
    """Make a course's folder: nbgrader's configuration, hidden cases, and an assignment a topic.

    \b
    Examples:
      ladder course init cuda
      ladder course init cuda --topic transpose --topic reduce
    """
    needs_nbgrader()
    from grader.course.folder import create
    from grader.workbook.topics import discover, load

    topics = [load(item) for item in topic] if topic else list(discover().values())
    with writing(folder):
        written = create(folder, topics, name or folder.resolve().name, force)
    console = console_for()
    for path in written:
        console.print(f"wrote {path}", crop=False, soft_wrap=True)
    console.print(
        f"\nNext: cd {folder}, nbgrader generate_assignment {topics[0].name}, and hand out "
        f"release/{topics[0].name}/. Keep hidden.toml to yourself."
    )

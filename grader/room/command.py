"""`ladder room`."""

from __future__ import annotations

import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import ArchOption, DeviceOption, app, console_for
from grader.errors import WarpladderError

LAST_PORT = 65535


@app.command()
def room(
    port: Annotated[
        int, typer.Option("--port", min=0, max=LAST_PORT, help="Serve on this port; 0: any that is free.")
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
) -> None:
    """Be interviewed on a page in your browser.

    The same rounds as in the terminal, with an editor, a clock and verdicts beside your code, served on 127.0.0.1
    alone. Sessions are kept in the current folder, and go on here or in a terminal. Ctrl-C ends it.

    \b
    Examples:
      ladder room
      ladder room --port 8000 --no-open
    """
    try:
        from grader.web.serving import serve
    except ImportError as error:
        remedy = "in Warpladder's folder: pip install -e '.[room]'"
        package = (error.name or "").partition(".")[0]
        raise WarpladderError(f"the page needs {package}, which is not installed", remedy=remedy) from None
    from grader.interview.interviewer import WorkbookJudge
    from grader.interview.loops import library
    from grader.room.app import site
    from grader.room.room import Room
    from grader.web.door import door
    from grader.workbook.topics import discover

    shown = console_for()

    with ExitStack() as stack:

        def opened(address: str) -> None:
            shown.print(f"The room is open: {address}", soft_wrap=True)
            shown.print("Sessions are kept in this folder. Ctrl-C closes the room.")
            if not no_open:
                webbrowser.open(stack.enter_context(door(address, Path())))

        has, judge = library.discover(discover()), WorkbookJudge(device, arch)
        serve(lambda aside: site(Room(has, Path(), judge, aside)), port, opened)
    shown.print("The room is closed; what was begun is kept.")

"""`ladder room`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.options import ArchOption, DeviceOption, app
from grader.cli.pages import NoOpenOption, PortOption, needs_packages, serve_page

if TYPE_CHECKING:
    from grader.web.serving import Aside, Site


@app.command()
def room(
    port: PortOption = 0,
    no_open: NoOpenOption = False,
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
    with needs_packages():
        from grader.interview.page.app import site
        from grader.interview.page.room import Room
    from grader.interview.interviewer import WorkbookJudge
    from grader.interview.loops import library
    from grader.workbook.topics import discover

    has, judge = library.discover(discover()), WorkbookJudge(device, arch)

    def opens(aside: Aside) -> Site:
        return site(Room(has, Path(), judge, aside))

    serve_page(opens, port, no_open, "The room", "What you answer")

"""`ladder learn`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.options import ArchOption, DeviceOption, app
from grader.cli.pages import NoOpenOption, PortOption, needs_packages, serve_page

if TYPE_CHECKING:
    from grader.web.serving import Aside, Site


@app.command()
def learn(
    port: PortOption = 0,
    no_open: NoOpenOption = False,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
) -> None:
    """Learn on a page: lessons, exercises, an editor.

    The way stands at the left, a lesson or an exercise in the middle, and at the right your kernel, which the judge
    looks at; below it you see what it accesses. Your files are in the current folder, one for each exercise and
    ladder, and your own editor works beside the page. It is served on 127.0.0.1 alone. Ctrl-C ends it.

    \b
    Examples:
      ladder learn
      ladder learn --port 8000 --no-open
    """
    with needs_packages():
        from grader.learn.app import site
        from grader.learn.desk import Desk
    from grader.emulator.runtime.build import prepare

    prepare()  # here, where a terminal says what is waited for, and not with the first verdict

    def opens(aside: Aside) -> Site:
        return site(Desk(Path(), device, arch, aside))

    serve_page(opens, port, no_open, "The page to learn on", "What you write")

"""What the commands have in common that serve a page in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import console_for
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from grader.web.serving import Aside, Site

LAST_PORT = 65535

PortOption = Annotated[
    int, typer.Option("--port", min=0, max=LAST_PORT, help="Serve on this port; 0: any that is free.")
]
NoOpenOption = Annotated[bool, typer.Option("--no-open", help="Open no browser.")]


def serve_page(opens: Callable[[Aside], Site], port: int, no_open: bool, called: str, kept: str) -> None:
    """Serve what is `called` so until Ctrl-C, and open it in a browser; `kept` is in this folder."""
    from grader.web.door import door
    from grader.web.serving import serve

    shown = console_for()
    with ExitStack() as stack:

        def opened(address: str) -> None:
            shown.print(f"{called} is {'at' if no_open else 'open:'} {address}", soft_wrap=True)
            shown.print(f"{kept} is kept in this folder. Ctrl-C closes it.")
            if not no_open:
                webbrowser.open(stack.enter_context(door(address, Path())))

        serve(opens, port, opened)
    shown.print(f"{called} is closed; what was begun is kept.")


@contextmanager
def needs_packages() -> Iterator[None]:
    """Around imports of what is served. Raises WarpladderError where it takes a package that is not installed."""
    try:
        yield
    except ImportError as error:
        remedy = "in Warpladder's folder: pip install -e '.[room]'"
        package = (error.name or "").partition(".")[0]
        raise WarpladderError(f"the page needs {package}, which is not installed", remedy=remedy) from None

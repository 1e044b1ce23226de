"""A page on disk that leads a browser to the server: a browser's arguments are seen by every user of the machine."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from grader.errors import WarpladderError
from grader.sandbox.scratch import Scratch

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={address}">
<title>Warpladder</title>
</head>
<body><p><a href="{address}">Open the page</a></p></body>
</html>
"""


@contextmanager
def door(address: str, folder: Path) -> Iterator[str]:
    """The address of a page that leads to `address`, which has the token; its owner alone can read it. It lies in a
    folder of its own in `folder` until the server ends: browsers that are snaps see neither /tmp nor hidden folders.

    Raises WarpladderError where it cannot be written.
    """
    with ExitStack() as stack:
        try:
            page = stack.enter_context(Scratch(folder.resolve())) / "ladder.html"
            with open(
                os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
            ) as file:
                file.write(_PAGE.format(address=html.escape(address)))
        except OSError as error:
            remedy = "what you write is kept there as well: run this in a folder of your own"
            raise WarpladderError(
                f"nothing can be written here: {error.strerror}", file=folder.resolve(), remedy=remedy
            ) from None
        yield page.as_uri()

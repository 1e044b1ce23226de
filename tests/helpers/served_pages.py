"""Pages that a command serves, in a real Chromium."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab
from terminals import may_be_interrupted
from test_browser import Seen

JUDGED_WITHIN_MS = 120_000
SCROLLED = "scrollable-region-focusable (serious): ['.CodeMirror-scroll']"
"""By the keys of the editor's field, which lies beside it, where axe-core does not look."""


@dataclass
class Served:
    """A page's program, in its own process."""

    process: subprocess.Popen[str]
    address: str  # with the token

    @property
    def origin(self) -> str:
        return self.address.partition("/?")[0]


@contextmanager
def served(command: str, folder: Path) -> Iterator[Served]:
    """`ladder room` or another, in a folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", command, "--no-open", "--device", "emulator"],
        cwd=folder, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}, stdout=subprocess.PIPE,
        preexec_fn=may_be_interrupted,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
        assert found is not None
        yield Served(process, found[0])
    finally:
        process.kill()
        process.communicate()


@contextmanager
def window(browser: Browser, program: Served, size: dict[str, int], scheme: str) -> Iterator[Tab]:
    """A page of it; nothing may be complained of, nor asked of others, until the program is killed."""
    context = browser.new_context(viewport=size, color_scheme=scheme)
    context.set_default_timeout(JUDGED_WITHIN_MS)
    tab, seen = context.new_page(), Seen()
    seen.watch(tab, program.origin)
    tab.goto(program.address)
    tab.wait_for_selector("main")
    yield tab
    complaints = [*seen.complaints]
    context.close()
    assert complaints == []

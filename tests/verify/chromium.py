"""Where a Chromium is: `executable()` for the tests; as a program it says so, with exit code 1 where there is none."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def executable() -> str | None:
    """The path of $CHROMIUM, the system's Chromium or Playwright's, in this order; None where there is none."""
    if given := os.environ.get("CHROMIUM"):
        return given
    found = (shutil.which(name) for name in NAMES)
    if system := next((path for path in found if path and not _is_snap(path)), None):
        return system
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


def _is_snap(path: str) -> bool:
    """Whether it is Ubuntu's link to a snap, which containers cannot run and Playwright cannot drive."""
    if "snap" in os.path.realpath(path):
        return True
    with open(path, "rb") as file:
        return b"/snap/" in file.read(4096)


if __name__ == "__main__":
    place = executable()
    print(place or "There is no Chromium.")
    sys.exit(place is None)

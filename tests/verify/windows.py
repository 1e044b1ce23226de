"""Pages in a real Chromium that reaches only the host of the first page, and the server of nbgrader's pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chromium
import pytest
from playwright.sync_api import Browser, sync_playwright

LAPTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PATIENCE_S = 15.0  # JupyterLab on Python 3.13 at times ends all but a thread that waits for work
WIDER_THAN_THE_WINDOW = "document.documentElement.scrollWidth > window.innerWidth"


@contextmanager
def chromium_browser() -> Iterator[Browser]:
    """A Chromium, or the test fails."""
    executable = chromium.executable()
    if executable is None:
        pytest.fail("there is no Chromium: tests/verify/chromium.sh installs one")
    with sync_playwright() as playwright:
        # Without a sandbox: as root, in a container, there is none, and the pages are ours.
        found = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield found
        found.close()


@dataclass
class Opened:
    """A window, with what its pages asked others for and complained about."""

    page: Any
    elsewhere: list[str] = field(default_factory=list)  # requests to other hosts
    complaints: list[str] = field(default_factory=list)  # errors of scripts, and what could not be fetched


def opened(browser: Browser, address: str, window: dict[str, int] = LAPTOP) -> Opened:
    """Open a page in a window of its own; requests to other hosts are noted and refused."""
    found = Opened(browser.new_page(viewport=window))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("requestfailed", lambda request: found.complaints.append(f"not fetched: {request.url}"))
    found.page.on(
        "response",
        lambda answer: answer.status >= 400 and found.complaints.append(f"{answer.status}: {answer.url}"),
    )
    own_host = urlsplit(address).netloc

    def route(asked: Any) -> None:
        if asked.request.url.startswith("data:") or urlsplit(asked.request.url).netloc == own_host:
            asked.continue_()
        else:
            found.elsewhere.append(asked.request.url)
            asked.abort()

    found.page.route("**/*", route)
    found.page.goto(address, wait_until="load")
    return found


@contextmanager
def jupyter(application: str, folder: Path, runtime: Path, **environment: str) -> Iterator[str]:
    """The address of a Jupyter application that serves this folder, at a port of its own choice: one chosen here may be
    another program's by the time the server has started."""
    options = ["--no-browser", "--allow-root", "--IdentityProvider.token=", "--port=0"]
    runtime.mkdir(exist_ok=True)
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyter", application, *options, f"--ServerApp.root_dir={folder}"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "JUPYTER_RUNTIME_DIR": str(runtime), **environment},
    )
    try:
        yield f"http://127.0.0.1:{_port(server, runtime)}"
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):  # where a thread of its own waits for work and never ends
            server.wait(PATIENCE_S)
        server.kill()
        server.wait()


def _port(server: subprocess.Popen[bytes], runtime: Path, within_s: float = 120) -> int:
    """The port that a server wrote down when it began to listen."""
    written = runtime / f"jpserver-{server.pid}.json"
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline and server.poll() is None:
        try:
            return int(json.loads(written.read_text())["port"])
        except (FileNotFoundError, json.JSONDecodeError):  # not yet, or half written
            time.sleep(0.2)
    pytest.fail(f"{server.args} did not begin to listen (exit status {server.poll()})")


@contextmanager
def formgrader(course: Path) -> Iterator[str]:
    """The address of formgrader, served for the course in this folder."""
    with jupyter("server", course, course.parent / "runtime") as address:
        yield f"{address}/formgrader"

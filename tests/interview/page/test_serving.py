"""`ladder room` itself: what it prints, what it does without what it needs, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
from terminals import may_be_interrupted

from grader.interview.interviewer import WorkbookJudge
from grader.interview.loops.library import Library
from grader.interview.page.app import site
from grader.interview.page.room import Room
from grader.ladder import main
from grader.web.serving import serve


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_its_packages_the_command_says_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [
        name
        for name in sys.modules
        if name.startswith(("grader.interview.page", "grader.web", f"{package}."))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(sys, "argv", ["ladder", "room"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"the page needs {package}, which is not installed" in said
    assert "pip install" in said


def test_a_port_that_is_taken_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Exception, match=f"port {port} cannot be used: Address already in use"):
            serve(lambda aside: site(Room(NOTHING, tmp_path, WorkbookJudge(), aside)), port, print)


NOTHING = Library({}, {}, {}, {}, {})

NOTES = """#!/bin/sh
printf '%s\\n' "$@" > "{folder}/arguments"
cat "$(printf '%s' "$1" | sed 's,^file://,,')" > "{folder}/page"
stat -c %a "$(printf '%s' "$1" | sed 's,^file://,,')" > "{folder}/stat" && mv "{folder}/stat" "{folder}/mode"
"""


def test_the_token_is_in_no_browsers_arguments(tmp_path: Path) -> None:
    browser, here = tmp_path / "browser", tmp_path / "here"
    browser.write_text(NOTES.format(folder=tmp_path), encoding="utf-8")
    browser.chmod(0o700)
    here.mkdir()
    environment = {
        **os.environ, "BROWSER": f"{browser} %s", "COLUMNS": "200", "WARPLADDER_HOME": str(tmp_path),
        "PYTHONUNBUFFERED": "1",
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", "room"],
        cwd=here, env=environment, text=True, stdout=subprocess.PIPE, preexec_fn=may_be_interrupted,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        token = re.search(r"\?token=(\S{20,})", process.stdout.readline())
        assert token is not None
        deadline = time.monotonic() + 60
        while not (tmp_path / "mode").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
    assert token[1] not in (tmp_path / "arguments").read_text(encoding="utf-8")
    assert f"?token={token[1]}" in (tmp_path / "page").read_text(encoding="utf-8")
    assert (tmp_path / "mode").read_text(encoding="utf-8") == "600\n"
    assert list(here.iterdir()) == [], "it is gone with the room"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("command", "first", "waits", "closed"),
    [
        ("room", b"Begin the quiz", "/news?seen=0", "The room is closed; what was begun is kept."),
        (
            "learn",
            b"Judge it",
            "/changed/guard?seen=",
            "The page to learn on is closed; what was begun is kept.",
        ),
    ],
)
def test_it_serves_until_it_is_ended_and_says_no_more(
    tmp_path: Path, end: signal.Signals, command: str, first: bytes, waits: str, closed: str
) -> None:
    """Also while a page is open, which always waits for news."""
    environment = {**os.environ, "COLUMNS": "200", "WARPLADDER_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", command, "--no-open"], cwd=tmp_path, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=may_be_interrupted,
    )  # fmt: skip
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with process, ThreadPoolExecutor() as pool:
        assert process.stdout is not None
        assert process.stderr is not None
        address = re.search(r" is at (http://127\.0\.0\.1:\d+)/\?token=\S{20,}", process.stdout.readline())
        assert address is not None
        with browser.open(address[0].removeprefix(" is at ")) as page:
            assert first in page.read()
        waiting = pool.submit(browser.open, f"{address[1]}{waits}")
        time.sleep(0.3)
        process.send_signal(end)
        rest, complaints = process.stdout.read(), process.stderr.read()
        waiting.exception(20)
    assert process.returncode == 0
    assert closed in rest
    assert complaints == ""

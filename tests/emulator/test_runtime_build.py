"""The emulator's runtime is compiled once, before the clock of any process that needs it.

Compiling takes most of a minute: here something else is done in its place.
"""

from __future__ import annotations

import functools
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grader.course.engines.process import Process
from grader.course.orders import Order
from grader.emulator.cache import kept
from grader.emulator.runtime import build, lowering
from grader.judge.child import process
from grader.judge.child.begun import RECORDING
from grader.judge.child.process import ChildProcess

COMPILES = """
import sys, time
from pathlib import Path
from grader.emulator.runtime import build
seconds, note = sys.argv[1:]
def compile_runtime():
    with Path(note).open("a") as file:
        file.write("begun\\n")
    time.sleep(float(seconds))
    return b"code"
build.compile_runtime = compile_runtime
build.prepare()
"""


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, of a process that has prepared nothing yet."""
    monkeypatch.setenv("WARPLADDER_CACHE", str(tmp_path / "cache"))
    build.prepare.cache_clear()
    yield tmp_path / "cache"
    build.prepare.cache_clear()


def compiling(seconds: float, note: Path) -> subprocess.Popen[bytes]:
    """A process that takes so long to compile, and notes when it begins."""
    return subprocess.Popen([sys.executable, "-P", "-c", COMPILES, str(seconds), str(note)])


def test_of_several_processes_one_compiles(cold: Path, tmp_path: Path) -> None:
    started = [compiling(0.5, tmp_path / "note") for _ in range(3)]
    assert [each.wait(60) for each in started] == [0, 0, 0]
    assert (tmp_path / "note").read_text(encoding="utf-8") == "begun\n"
    assert kept(build._entry()) == b"code"


@pytest.mark.usefixtures("cold")
def test_the_wait_is_told_once_and_not_among_the_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "compile_runtime", lambda: b"code")
    build.prepare()
    build.prepare.cache_clear()
    build.prepare()
    assert capfd.readouterr() == (
        "",
        "The emulator's runtime is compiled, once: most of a minute on a free core.\n",
    )


def test_a_killed_process_leaves_no_part_and_no_lock(cold: Path, tmp_path: Path) -> None:
    killed = compiling(600, tmp_path / "note")
    deadline = time.monotonic() + 60
    while not (tmp_path / "note").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    killed.kill()
    assert killed.wait(60) == -signal.SIGKILL
    assert [path.suffix for path in cold.iterdir()] == [".lock"]
    assert compiling(0, tmp_path / "note").wait(60) == 0
    assert kept(build._entry()) == b"code"


def test_a_childs_clock_does_not_run_while_the_runtime_is_compiled(
    cold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as warm:
        warm.delenv("WARPLADDER_CACHE")
        build.load()
        code = kept(build._entry())
    assert code is not None
    monkeypatch.setattr(build, "compile_runtime", lambda: code)
    monkeypatch.setattr(
        process, "_TO_START_S", 30.0
    )  # compiling takes its child more of a processor than that
    with ChildProcess("emulator", threads=1) as child:
        assert child.hello().kind == "emulator"


@pytest.mark.parametrize(("device", "role"), [("pycuda", None), ("emulator", RECORDING)])
def test_a_child_that_emulates_nothing_waits_for_no_runtime(
    cold: Path, monkeypatch: pytest.MonkeyPatch, device: str, role: process.Role | None
) -> None:
    monkeypatch.setattr(build, "compile_runtime", lambda: pytest.fail("it is compiled"))
    with ChildProcess(device, role=role):
        pass


def test_where_no_process_may_be_started_it_is_lowered_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: object, **options: object) -> None:
        raise PermissionError

    monkeypatch.setattr(subprocess, "run", refused)
    monkeypatch.setattr(lowering, "bitcode", lambda: b"from here")
    assert build._bitcode() == b"from here"


COUNTS = """
import os, sys
from pathlib import Path
for line in sys.stdin:
    print('{"complaint": "%d"}' % len(list(Path(os.environ["WARPLADDER_CACHE"]).glob("*.o"))), flush=True)
"""


def test_a_marking_process_is_asked_once_the_runtime_is_there(
    cold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "compile_runtime", lambda: b"code")
    marking = Process((sys.executable, "-c", COUNTS))
    answer = marking.ask(Order("transpose", "", "emulator", None, 7, ()), 60.0)
    marking.close()
    assert answer.complaint == "1"


def test_of_several_threads_one_loads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another's would be gone with the code that others call; so that the one of this process stays as well."""
    loaded = []

    class Slow(build.Runtime):
        def __init__(self, *given: Any) -> None:
            loaded.append(self)
            time.sleep(0.05)

    monkeypatch.setattr(build, "_loaded", functools.cache(lambda: Slow(b"", ())))
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda _: build.load(), range(4))]
    assert found == loaded * 4

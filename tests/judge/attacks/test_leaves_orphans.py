"""A schedule, or a kernel, lives on after the grader: as a daemon, or because the grader was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attacking import attack, each_protection

ENDLESS = """
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = [1]
// block = [32]
// ///
__global__ void transpose(const float* in, float* out, int M, int N) { while (((volatile int*)out)[0] != 12345) { } }
"""


@each_protection
def test_no_process_is_started(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
    import subprocess, threading
    for attempt in (os.fork, lambda: subprocess.run(['/bin/true']), lambda: os.execv('/bin/true', ['true']),
                    lambda: os.posix_spawn('/bin/true', ['true'], {}), lambda: threading.Thread(target=print).start()):
        try:
            attempt()
            print('STARTED')
        except (OSError, RuntimeError) as error:
            print('refused')
    """
    _, printed = attack(body, protection, monkeypatch)
    assert printed.split() == ["refused"] * 5


def descendants(pid: int) -> set[int]:
    """Processes below one, by the kernel's lists."""
    found: set[int] = set()
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listed.read_text().split()):
            found |= {child} | descendants(child)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("signals", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_killing_the_grader_leaves_nothing(signals: signal.Signals, tmp_path: Path) -> None:
    kernel = tmp_path / "endless.cu"
    kernel.write_text(ENDLESS)
    grader = subprocess.Popen(
        [sys.executable, "-m", "grader", "grade", "transpose", str(kernel), "--device", "emulator"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not descendants(grader.pid):
        time.sleep(0.05)
    time.sleep(1.0)
    below = descendants(grader.pid)
    assert below
    os.kill(grader.pid, signals)
    grader.wait(20)
    time.sleep(2.0)
    assert [pid for pid in below if alive(pid)] == []

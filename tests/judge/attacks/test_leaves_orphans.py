"""A schedule, or a kernel, lives on after the grader: as a daemon, or because the grader was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacking import attack, each_protection
from classroom.processes import adopting, descendants, left
from terminals import may_be_interrupted

from grader.workbook import topics

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


@pytest.fixture
def adopted() -> Iterator[None]:
    """Whoever below this process loses its parent becomes a child of this one's."""
    with adopting():
        yield


@pytest.mark.parametrize("signals", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_killing_the_grader_leaves_nothing(signals: signal.Signals, adopted: None, tmp_path: Path) -> None:
    kernel = tmp_path / "endless.cu"
    kernel.write_text(ENDLESS)
    before = descendants(os.getpid())
    command = [sys.executable, "-m", "grader", "grade", "transpose", str(kernel), "--device", "emulator"]
    grader = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=may_be_interrupted,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not descendants(grader.pid):
        time.sleep(0.05)
    time.sleep(1.0)
    assert descendants(grader.pid)
    os.kill(grader.pid, signals)
    grader.wait(20)
    assert not left(before)


GRADES = """
import sys
from pathlib import Path
from grader.judge.grade import grade
from grader.workbook import topics
topic, file = sys.argv[1:]
grade(topics.load(topic), Path(file), "emulator", progress=lambda _, stage: print(stage, flush=True))
"""


@pytest.mark.verify
@pytest.mark.parametrize(
    ("topic", "stage"),
    [
        ("transpose", "compile"),
        ("transpose", "judge"),
        ("transpose", "count"),
        ("transpose", "model"),
        ("streams", "compile"),
        ("streams", "judge"),
    ],
)
def test_killing_the_grader_at_any_stage_leaves_nothing(
    topic: str, stage: str, adopted: None, tmp_path: Path
) -> None:
    rung = topics.load(topic).rungs[-1].path
    file = tmp_path / rung.name
    comment = "#" if rung.suffix == ".py" else "//"
    file.write_text(rung.read_text() + f"{comment} {tmp_path}\n")  # compiled anew
    before = descendants(os.getpid())
    command = [sys.executable, "-c", GRADES, topic, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as grader:
        assert grader.stdout is not None
        assert f"{stage}\n" in grader.stdout
        while grader.poll() is None and not descendants(grader.pid):
            time.sleep(0.01)
        assert grader.poll() is None
        grader.kill()
    assert not left(before)

"""The process that a program runs in: its threads, its signals, and its parent's end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

import pytest

from grader.emulator.cudart.child import Runtime

ENDLESS = """#include <cstdio>
int main() {
    std::puts("ready");
    std::fflush(stdout);
    for (;;)
        cudaDeviceSynchronize();
}
"""


def test_calls_of_several_threads_are_served_one_after_the_other() -> None:
    runtime: Any = object.__new__(Runtime)
    runtime.state, runtime._trial = SimpleNamespace(call=None, sticky=0, lock=Lock()), None
    served = []

    def slow() -> int:
        first = runtime.state.call
        time.sleep(0.01)
        served.append(runtime.state.call is first)
        return 0

    runtime._methods = {"cudaSlow": (slow, 0)}
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: runtime._forward(b"cudaSlow", [], [0]), range(4)))
    assert served == [True] * 4


@pytest.fixture
def endless(tmp_path: Path) -> Any:
    """`ladder run` of a program that does not end, in a group of its own, once the program runs."""
    path = tmp_path / "prog.cu"
    path.write_text(ENDLESS)
    command = [sys.executable, "-m", "grader", "run", "--device", "emulator", str(path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.verify
def test_ctrl_c_ends_a_program_as_it_does_in_a_shell(endless: subprocess.Popen[str]) -> None:
    os.killpg(endless.pid, signal.SIGINT)
    _, said = endless.communicate(timeout=60)
    assert endless.returncode == 128 + signal.SIGINT
    assert "Traceback" not in said
    assert "0 launches emulated" in said


@pytest.mark.verify
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_ends_with_the_command_that_runs_it(endless: subprocess.Popen[str], number: int) -> None:
    endless.send_signal(number)
    endless.communicate(timeout=60)  # which waits for the program's end, too: it writes to the same pipes

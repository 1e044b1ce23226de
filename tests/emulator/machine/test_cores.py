"""Cores that several emulators share: no two have the same one, and those of a process that has ended are free."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from grader.emulator.machine.cores import Cores

TAKES = """
import sys
from grader.emulator.machine.cores import Cores
with Cores(4, int(sys.argv[1])).idle(int(sys.argv[2])) as count:
    print(count, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def shared() -> Iterator[int]:
    descriptor = os.memfd_create("cores")
    yield descriptor
    os.close(descriptor)


def taking(descriptor: int, most: int) -> tuple[subprocess.Popen[str], int]:
    """A process that takes so many cores until it is ended, and how many it got."""
    command = [sys.executable, "-c", TAKES, str(descriptor), str(most)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=[descriptor]
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def idle(cores: Cores, most: int) -> int:
    with cores.idle(most) as count:
        return count


def test_a_process_alone_has_them_all() -> None:
    cores = Cores(4)
    with cores.idle(1) as own, cores.idle(8) as others:
        assert (own, others) == (1, 3)
        assert idle(cores, 1) == 0
    assert idle(cores, 8) == 4


def test_no_core_is_taken_twice(shared: int) -> None:
    process, got = taking(shared, 3)
    with process:
        assert got == 3
        assert idle(Cores(4, shared), 4) == 1
        process.communicate()
    assert idle(Cores(4, shared), 4) == 4


def test_a_process_that_is_killed_leaves_its_cores_to_others(shared: int) -> None:
    process, _ = taking(shared, 4)
    with process:
        assert idle(Cores(4, shared), 4) == 0
        process.kill()
        process.wait()
        assert idle(Cores(4, shared), 4) == 4

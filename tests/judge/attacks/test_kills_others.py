"""A schedule ends, stops or starves the grader, its siblings, or whatever else runs."""

from __future__ import annotations

import os

import pytest
from attacking import attack, each_protection, under

from grader.judge.child.process import ChildProcess
from grader.judge.child.protocol import Release

BODY = """
    import fcntl, resource, signal
    attempts = []
    for pid in {pids} + [0, -1, os.getppid()]:
        attempts += [lambda pid=pid: os.kill(pid, signal.SIGKILL), lambda pid=pid: os.kill(pid, 0)]
        attempts += [lambda pid=pid: signal.pidfd_send_signal(os.pidfd_open(pid), 9)]
    attempts += [lambda pid=pid: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)) for pid in {pids}]
    attempts += [lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 19) for pid in {pids}]
    attempts += [lambda pid=pid: os.sched_setaffinity(pid, [0]) for pid in {pids}]
    attempts += [lambda: fcntl.fcntl(1, fcntl.F_SETOWN, {pids}[0])]
    for number, attempt in enumerate(attempts):
        try:
            attempt()
            print('DONE', number)
        except OSError as error:
            print('refused', error.errno)
"""


@each_protection
def test_nobody_else_is_signalled(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    under(protection, monkeypatch)
    with ChildProcess("emulator", threads=1) as sibling:
        sibling.hello()
        pids = [os.getpid(), sibling._begun.process.pid]
        _, printed = attack(BODY.format(pids=pids), protection, monkeypatch)
        assert "DONE" not in printed
        assert printed.count("refused") == 22
        assert sibling.ask([Release()], 60).failure is None


@each_protection
def test_a_schedule_that_ends_itself_is_told_as_its_own_end(
    protection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.judge.child.process import ChildDied

    for does, how in (("os.abort()", "SIGABRT"), ("os._exit(7)", "exit code 7")):
        with pytest.raises(ChildDied, match=f"the process in which the schedule runs ended with .*{how}"):
            attack(f"    {does}", protection, monkeypatch)

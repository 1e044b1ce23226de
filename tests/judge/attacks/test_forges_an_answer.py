"""A schedule writes an answer into the pipe or the memory of a process that is believed, and ends it."""

from __future__ import annotations

import os

import pytest
from attacking import attack, each_protection, under

from grader.judge.child.process import ChildDied, ChildProcess
from grader.judge.child.protocol import Release

BODY = """
    import ctypes
    for pid in {pids}:
        for name in ('mem', 'fd/1', 'fd/{pipe}', 'environ', 'maps'):
            try:
                os.close(os.open(f'/proc/{{pid}}/{{name}}', os.O_RDWR if name == 'mem' else os.O_RDONLY))
                print('OPEN', pid, name)
            except OSError as error:
                print('refused', error.errno)
        libc = ctypes.CDLL(None, use_errno=True)
        print('TRACED' if libc.ptrace(16, pid, 0, 0) == 0 else 'refused')
"""


@each_protection
def test_others_are_out_of_reach(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parent's and a sibling's memory and descriptors."""
    under(protection, monkeypatch)
    with ChildProcess("emulator", threads=1) as sibling:
        sibling.hello()
        pids = [os.getpid(), sibling._begun.process.pid]
        _, printed = attack(BODY.format(pids=pids, pipe=sibling._begun.replies), protection, monkeypatch)
        assert printed.count("refused") == 12, printed
        assert sibling.ask([Release()], 60).failure is None


@each_protection
@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("b'not a message, but as long as one'", "a message of"),
        ("(5).to_bytes(8, 'little') + b'hello'", "answered with something else"),
        ("b'\\xff' * 8", "a message of 18,446,744,073,709,551,615 bytes"),
        ("b'\\x08\\0\\0'", "ended with exit code 0"),
    ],
)
def test_what_is_no_answer_is_not_believed(
    protection: str, written: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own pipe is the only one it has."""
    body = f"""
    for number in range(3, 64):
        try:
            os.write(number, {written})
        except OSError:
            pass
    os._exit(0)
    """
    with pytest.raises(ChildDied, match=complaint):
        attack(body, protection, monkeypatch)


def test_an_answer_of_another_kind_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A well-formed reply with nothing in it, or a time that is none."""
    for values in ("[None]", "[float('nan')]", "[]", "[[]]"):
        body = f"""
        import msgspec
        answer = msgspec.msgpack.encode({{'values': {values}, 'failure': None}})
        for number in range(3, 64):
            try:
                os.write(number, len(answer).to_bytes(8, 'little') + answer)
            except OSError:
                pass
        """
        with pytest.raises(ChildDied, match="answered with something else"):
            attack(body, "bubblewrap", monkeypatch)

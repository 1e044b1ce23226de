"""A schedule takes all memory, all room on the disk, or all descriptors."""

from __future__ import annotations

from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from attacking import attack, each_protection, order

from grader.emulator.streams.commands import MOST_CALLS
from grader.judge.child import process
from grader.judge.child.begun import RECORDING
from grader.judge.child.process import ChildDied
from grader.judge.child.protocol import MOST_PRINTED
from grader.judge.refused import Lost
from grader.judge.runners.runner import Runner


@each_protection
def test_memory_ends_the_child_alone(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_most_memory", lambda: 600 << 20)
    body = """
    import time
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)) * 16)
        time.sleep(0.01)
    """
    with pytest.raises(ChildDied, match="GiB of memory"):
        attack(body, protection, monkeypatch)


def test_those_that_run_at_a_time_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would have had room alone is tried again alone, and is no verdict."""
    monkeypatch.setattr(process, "_most_memory", lambda: 2400 << 20)
    takes = order("""
    import time
    kept = bytearray(os.urandom(1 << 20)) * 800
    time.sleep(1)
    """)
    for at_once, outcome in ((1, nullcontext()), (4, pytest.raises(Lost, match=r"0\.6 GiB of memory"))):
        with closing(Runner("emulator", threads=1, role=RECORDING, at_once=at_once)) as runner, outcome:
            runner.ask([takes], 60.0)


@each_protection
def test_nothing_is_written(protection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    folders = [str(tmp_path), str(Path(__file__).parent), "/dev/shm", "/"]
    body = f"""
    for folder in {folders}:
        try:
            open(os.path.join(folder, 'written'), 'wb').write(bytes(1 << 20))
            print('WRITTEN', folder)
        except OSError as error:
            print('refused', error.errno)
    try:
        os.mkdir('{tmp_path}/folder')
        print('WRITTEN')
    except OSError:
        print('refused')
    for change in (lambda: os.chmod("{tmp_path}", 0o777), lambda: os.utime("{tmp_path}")):
        try:
            change()
        except OSError:
            print('refused')
    """
    _, printed = attack(body, protection, monkeypatch)
    assert "WRITTEN" not in printed
    assert list(tmp_path.iterdir()) == []
    assert printed.count("refused") >= 6


@each_protection
def test_memory_that_is_no_process_is_not_had(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of shared memory stay when a process has given them back, and are not counted as its own."""
    body = """
    import mmap
    for attempt in (lambda: os.memfd_create('kept'), lambda: mmap.mmap(-1, 1 << 20)):
        try:
            attempt()
            print('HAD')
        except OSError:
            print('refused')
    for number in range(3, 64):
        try:
            os.ftruncate(number, 1 << 40)
            print('HAD', number)
        except OSError:
            pass
    """
    _, printed = attack(body, protection, monkeypatch)
    assert printed.split() == ["refused"] * 2


@pytest.mark.parametrize("more", ["cuda.Stream()", "cuda.memset_d8(memory, 0, 1)"])
def test_what_it_asks_for_is_limited(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recording ends at as many calls as are taken, not when the clock runs out."""
    body = f"""
    import pycuda.driver as cuda
    memory = cuda.mem_alloc(4)
    while True: {more}
    """
    reply, _ = attack(body, "bubblewrap", monkeypatch)
    assert reply.failure is not None
    assert f"it makes more than {MOST_CALLS:,} calls" in reply.failure.message


@each_protection
def test_what_it_prints_is_limited(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
    try:
        while True: os.write(1, b'x' * 65536)
    except OSError as error:
        os.write(2, str(error.errno).encode())
    """
    _, printed = attack(body, protection, monkeypatch)
    assert set(printed) == {"x"}
    assert len(printed) == MOST_PRINTED


@each_protection
def test_descriptors_are_few(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
    try:
        for number in range(100_000): os.dup(0)
    except OSError:
        print(number < 64)
    """
    assert attack(body, protection, monkeypatch)[1].strip() == "True"

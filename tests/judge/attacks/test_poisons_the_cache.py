"""A schedule, a torn write or another user leaves something in the cache that would be executed."""

from __future__ import annotations

from pathlib import Path

import pytest
from attacking import attack, each_protection

from grader.emulator import cache


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPLADDER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@each_protection
def test_a_schedule_does_not_reach_it(
    protection: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = protection != "limits"  # limits alone do not stop reading; doctor says so
    body = f"""
    import fcntl
    for mode in ('rb', 'wb', 'ab', 'r+b', 'xb')[{not reading:d}:]:
        try:
            open('{own_cache}/kernel-0.o' + '.new' * (mode == 'xb'), mode)
            print('OPEN', mode)
        except OSError:
            print('refused')
    for attempt in (lambda: os.rename('{own_cache}/kernel-0.o', '{own_cache}/kernel-1.o'),
                    lambda: os.symlink('/bin/true', '{own_cache}/kernel-1.o'),
                    lambda: os.link('{own_cache}/kernel-0.o', '{own_cache}/kernel-1.o'),
                    lambda: os.truncate('{own_cache}/kernel-0.o', 0), lambda: os.unlink('{own_cache}/kernel-0.o'),
                    lambda: fcntl.flock(os.open('{own_cache}/kernel-0.o', os.O_RDONLY), fcntl.LOCK_EX),
                    lambda: fcntl.fcntl(os.open('{own_cache}/kernel-0.o', os.O_RDONLY), fcntl.F_SETLEASE, 0)):
        try:
            attempt()
            print('DONE')
        except OSError:
            print('refused')
    """
    cache.keep(own_cache / "kernel-0.o", b"code")
    _, printed = attack(body, protection, monkeypatch)
    assert printed.split() == ["refused"] * (11 + reading)
    assert cache.kept(own_cache / "kernel-0.o") == b"code"


def test_what_is_not_whole_is_absent(own_cache: Path) -> None:
    entry = own_cache / "kernel-0.o"
    cache.keep(entry, b"code")
    whole = entry.read_bytes()
    for damaged in (whole[:-1], whole[:10], b"", whole[:-1] + b"E", whole + b"!"):
        entry.write_bytes(damaged)
        assert cache.kept(entry) is None
    (own_cache / "kernel-1.o").write_bytes(whole)
    assert cache.kept(own_cache / "kernel-1.o") is None, "another kernel's code"


def test_what_others_may_write_is_absent(own_cache: Path) -> None:
    entry = own_cache / "kernel-0.o"
    cache.keep(entry, b"code")
    assert own_cache.stat().st_mode & 0o777 == 0o700
    entry.chmod(0o666)
    assert cache.kept(entry) is None
    own_cache.chmod(0o777)
    assert cache.made_folder() == own_cache
    assert own_cache.stat().st_mode & 0o777 == 0o700

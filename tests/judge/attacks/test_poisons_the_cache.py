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
    body = f"""
    for mode in ('rb', 'wb', 'ab'):
        try:
            open('{own_cache}/kernel-0.o', mode)
            print('OPEN', mode)
        except OSError:
            print('refused')
    """
    cache.keep(own_cache / "kernel-0.o", b"code")
    _, printed = attack(body, protection, monkeypatch)
    assert printed.split() == ["refused"] * 3
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

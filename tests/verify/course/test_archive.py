"""Zips and folders are read within limits, and nothing in them leads outside."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from downloads import NOON, a_folder, a_zip, add_link
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.course.collecting import archive
from grader.course.collecting.archive import UnreadableFile, opened
from grader.errors import WarpladderError

pytestmark = pytest.mark.verify

DOS, ENCRYPTED = 0x800, 0x1


def changed_flags(path: Path, set_: int, clear: int) -> None:
    """Set and clear flags of all members of a zip, in both places where they stand."""
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = data.find(mark)
        while at >= 0:
            flags = struct.unpack_from("<H", data, at + offset)[0]
            struct.pack_into("<H", data, at + offset, (flags | set_) & ~clear)
            at = data.find(mark, at + 4)
    path.write_bytes(data)


def test_files_are_read_with_their_times(tmp_path: Path) -> None:
    found = opened(a_zip(tmp_path / "a.zip", {"ada/x.ipynb": b"{}", "b.cu": b""}))
    assert [(file.path, file.read()) for file in found.files] == [("ada/x.ipynb", b"{}"), ("b.cu", b"")]
    assert {file.modified for file in found.files} == {NOON.astimezone(UTC)}
    assert not found.refused


def test_a_folder_is_read_as_a_zip_is(tmp_path: Path) -> None:
    files = {"ada/x.ipynb": b"{}", "b.cu": b"1"}
    found = opened(a_folder(tmp_path / "class", files))
    assert {file.path: file.read() for file in found.files} == files


def test_a_time_in_utc_goes_before_somebodys_clock(tmp_path: Path) -> None:
    member = zipfile.ZipInfo("x", NOON.timetuple()[:6])
    member.extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_700_000_000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr(member, b"")
    assert opened(tmp_path / "a.zip").files[0].modified == datetime.fromtimestamp(1_700_000_000, UTC)


def test_names_that_ruby_wrote_are_utf8(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"müllergrete_1_2_ß.cu": b""})
    changed_flags(path, 0, DOS)
    assert opened(path).files[0].path == "müllergrete_1_2_ß.cu"


@pytest.mark.parametrize(
    "name", ["../x.ipynb", "ada/../../x.ipynb", "/etc/passwd", "C:/x.ipynb", "..\\x.ipynb", "a/.."]
)
def test_no_path_leads_out_of_the_archive(name: str, tmp_path: Path) -> None:
    found = opened(a_zip(tmp_path / "a.zip", {name: b"", "ada/x.ipynb": b""}))
    assert [file.path for file in found.files] == ["ada/x.ipynb"]
    assert found.refused == [(name.replace("\\", "/"), "its path leads out of the archive")]


def test_links_are_not_followed(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"ada/x.ipynb": b""})
    add_link(path, "bob/x.ipynb", "/etc/passwd")
    assert opened(path).refused == [("bob/x.ipynb", "a link")]
    folder = a_folder(tmp_path / "class", {"ada/x.ipynb": b""})
    (folder / "bob").symlink_to("/etc")
    (folder / "ada" / "y.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(folder / "ada" / "z.ipynb")
    found = opened(folder)
    assert [file.path for file in found.files] == ["ada/x.ipynb"]
    assert found.refused == [
        ("bob", "a link"),
        ("ada/y.ipynb", "a link"),
        ("ada/z.ipynb", "no ordinary file"),
    ]


@pytest.mark.parametrize(
    "name", ["__MACOSX/ada/._x.ipynb", "ada/.DS_Store", "ada/.ipynb_checkpoints/x.ipynb", "ada/.git/config"]
)
def test_what_nobody_handed_in_is_passed_over(name: str, tmp_path: Path) -> None:
    found = opened(a_zip(tmp_path / "a.zip", {name: b"", "ada/.ipynb": b""}))
    assert ([file.path for file in found.files], found.refused) == (["ada/.ipynb"], [])


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    zeros = b"\0" * (90 * archive.MEGABYTE)
    with pytest.raises(WarpladderError, match=r"would take 270 MiB: a zip bomb\?"):
        opened(a_zip(tmp_path / "a.zip", {"a": zeros, "b": zeros, "c": zeros}))


def test_a_file_that_is_too_large_is_left_out_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES_A_FILE", archive.MEGABYTE)
    files = {"ada/x.ipynb": b"\0" * (2 * archive.MEGABYTE), "bob/x.ipynb": b""}
    for source in (a_zip(tmp_path / "a.zip", files), a_folder(tmp_path / "class", files)):
        found = opened(source)
        assert [file.path for file in found.files] == ["bob/x.ipynb"]
        assert found.refused == [("ada/x.ipynb", "2 MiB; 1 are the most")]


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_FILES", 2)
    assert len(opened(a_zip(tmp_path / "two.zip", {"ada/x.ipynb": b"1", "bob/x.ipynb": b"1"})).files) == 2
    with pytest.raises(WarpladderError, match="more than 2 files"):
        opened(a_zip(tmp_path / "a.zip", {"a": b"", "b": b"", "c": b""}))


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"ada/x.ipynb": b"1"})
    changed_flags(path, ENCRYPTED, 0)
    with pytest.raises(WarpladderError, match="encrypted") as caught:
        opened(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("keep", [0, 10, 0.5, -1])
def test_a_zip_that_was_cut_short_is_refused(keep: float, tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"ada/x.ipynb": os.urandom(1000)})
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep) if 0 < keep < 1 else int(keep)])
    with pytest.raises(WarpladderError, match="no zip that can be read"):
        opened(path)


def test_a_damaged_file_is_an_error_of_its_own(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"a": b"x" * 500, "b": b"fine"})
    data = bytearray(path.read_bytes())
    data[33:36] = b"\xff\xff\xff"
    path.write_bytes(data)
    damaged, fine = opened(path).files
    with pytest.raises(UnreadableFile, match="it is damaged"):
        damaged.read()
    assert fine.read() == b"fine"


def test_neither_file_nor_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("nothing", "pipe"):
        with pytest.raises(WarpladderError, match="no such file or folder"):
            opened(tmp_path / name)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=8))
def test_whatever_a_zip_holds_the_error_is_ours(tmp_path: Path, changes: list[tuple[int, int]]) -> None:
    path = a_zip(tmp_path / "a.zip", {"ada/x.ipynb": b"x" * 300, "ada/ü.cu": b"y"})
    data = bytearray(path.read_bytes())
    for at, value in changes:
        data[at % len(data)] = value
    path.write_bytes(data)
    try:
        for file in opened(path).files:
            file.read()
    except (WarpladderError, UnreadableFile):
        pass


# ---- a zip that a student handed in ------------------------------------------------------------------------


def zipped(folder: Path, files: Mapping[str, bytes]) -> bytes:
    return a_zip(folder / "inner.zip", files).read_bytes()


def test_the_files_of_a_zip_stand_in_its_place(tmp_path: Path) -> None:
    inner = zipped(tmp_path, {"work/transpose.ipynb": b"{}", "__MACOSX/x": b"", "more.zip": b"", "../a": b""})
    found = opened(a_zip(tmp_path / "a.zip", {"ada/work.ZIP": inner, "ada/b.cu": b"1"}))
    assert [(file.path, file.parts, file.name, file.read()) for file in found.files] == [
        ("ada/work.ZIP/work/transpose.ipynb", ("ada", "work.ZIP"), "transpose.ipynb", b"{}"),
        ("ada/b.cu", ("ada", "b.cu"), "b.cu", b"1"),
    ]
    assert found.refused == [
        ("ada/work.ZIP/more.zip", "a zip in a zip that was handed in"),
        ("ada/work.ZIP/../a", "its path leads out of the archive"),
    ]


def test_a_zip_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    bomb = zipped(tmp_path, {"x": bytes(2 * archive._SMALL)})
    crowd = zipped(tmp_path, {f"{n}.cu": b"" for n in range(archive.MOST_FILES_A_ZIP + 1)})
    files = {"ada/a.zip": b"PK", "bob/b.zip": bomb, "cy/c.cu": b"1", "di/d.zip": crowd}
    files["eve/e.zip"] = zipped(tmp_path, {".DS_Store": b""})
    found = opened(a_folder(tmp_path / "in", files))
    assert [(file.path, file.unread.split(":")[0]) for file in found.files] == [
        ("ada/a.zip", "it is no zip that can be read"),
        ("bob/b.zip", "its files would take 512 MiB"),
        ("cy/c.cu", ""),
        ("di/d.zip", "it holds 1,001 files; from 1 to 1,000 are taken"),
        ("eve/e.zip", "it holds 0 files; from 1 to 1,000 are taken"),
    ]


def test_a_copy_that_a_program_keeps_is_named_where_it_is_all(tmp_path: Path) -> None:
    copy = ".ipynb_checkpoints/x-checkpoint.ipynb"
    found = opened(
        a_folder(tmp_path / "in", {f"ada/{copy}": b"{}", f"bob/{copy}": b"{}", "bob/x.ipynb": b"{}"})
    )
    assert [path for path, _ in found.refused] == [f"ada/{copy}"]

"""The files of an archive or a folder, read one by one and never unpacked: what they are called leads nowhere.

Of a zip that a student handed in, the files stand in its place.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path

from grader.course.sources import UnreadableFile
from grader.errors import WarpladderError

MEGABYTE = 2**20
MOST_FILES = 50_000
MOST_FILES_A_ZIP = 1_000
"""Of one that a student handed in."""
MOST_BYTES = 4096 * MEGABYTE
"""Of all files together."""
MOST_BYTES_A_FILE = 100 * MEGABYTE
"""nbgrader takes no larger ones, either: see CourseDirectory.max_file_size."""
MOST_TIMES = 100
"""A zip that unpacks to more than this many times its size, and to more than _SMALL, is no class's."""
_SMALL = 256 * MEGABYTE

_NOBODYS = re.compile(
    r"(?:^|/)(?:__MACOSX|\.git|\.ipynb_checkpoints|__pycache__)/|(?:^|/)(?:\.DS_Store|\._[^/]*|Thumbs\.db|desktop\.ini)$"
)
"""What operating systems, git and Jupyter leave beside what is handed in."""
_OUTSIDE = re.compile(r"^/|^[A-Za-z]:|(?:^|/)\.\.(?:/|$)")
_ZIP = ".zip"
_UTF8, _ENCRYPTED = 0x800, 0x1
_UNIX_TIME = 0x5455


@dataclass(frozen=True)
class File:
    """A file of an archive or a folder."""

    path: str  # from its root, parted by /
    modified: datetime  # in UTC
    read: Callable[[], bytes]  # raises UnreadableFile
    within: str = ""  # the path of the zip that it was handed in in
    unread: str = ""  # of a zip that was handed in, why it cannot be read

    @property
    def parts(self) -> tuple[str, ...]:
        """The folders it lies in, and its name; of one in a zip those of the zip, which say whose it is."""
        return tuple((self.within or self.path).split("/"))

    @property
    def name(self) -> str:
        """Its name without folders."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Archive:
    """What an archive or a folder holds."""

    files: list[File] = field(default_factory=list)  # in its order
    refused: list[tuple[str, str]] = field(default_factory=list)  # paths, each with why it is not read
    passed_over: list[str] = field(default_factory=list)  # paths of what programs keep beside files

    def take(self, path: str, why_not: str | None, modified: datetime, read: Callable[[], bytes]) -> None:
        """Add a file, or say why it is left out; nobody's are passed over."""
        if _NOBODYS.search(path):
            self.passed_over.append(path)
            return
        if why_not is not None:
            self.refused.append((path, why_not))
        elif path.lower().endswith(_ZIP):
            self._take_zip(path, modified, read)
        else:
            self.files.append(File(path, modified, read))
        if len(self.files) + len(self.refused) > MOST_FILES:
            raise WarpladderError(
                f"it has more than {MOST_FILES:,} files", remedy="give one assignment's download"
            )

    def _take_zip(self, path: str, modified: datetime, read: Callable[[], bytes]) -> None:
        """The files of a zip that was handed in; where it cannot be read, or holds none or too many, itself."""
        try:
            inner = [member for member in enumerate(_inside(read)) if not _NOBODYS.search(member[1][0])]
        except (UnreadableFile, WarpladderError) as error:
            why = error.message if isinstance(error, WarpladderError) else str(error)
            self.files.append(File(path, modified, read, unread=why))
            return
        if not 0 < len(inner) <= MOST_FILES_A_ZIP:
            why = f"it holds {len(inner):,} files; from 1 to {MOST_FILES_A_ZIP:,} are taken"
            self.files.append(File(path, modified, read, unread=why))
            return
        for place, (name, why_not, _, _) in inner:
            if why_not is None and name.lower().endswith(_ZIP):
                why_not = "a zip in a zip that was handed in"
            if why_not is not None:
                self.refused.append((f"{path}/{name}", why_not))
            else:
                self.files.append(
                    File(f"{path}/{name}", modified, partial(_from_inside, read, place), within=path)
                )

    def name_lone(self) -> None:
        """Of whoever has nothing else, name what was passed over, too."""
        there = {path.split("/")[0] for path in (*(file.path for file in self.files), *dict(self.refused))}
        for path in self.passed_over:
            whose, slash, _ = path.partition("/")
            if slash and whose not in there and whose != "__MACOSX":
                self.refused.append((path, "a copy that a program keeps, and nothing else was handed in"))


def opened(path: Path) -> Archive:
    """The files of a folder or of a zip, whatever its name. Raises WarpladderError for anything else."""
    if not path.is_dir() and not path.is_file():
        raise WarpladderError("there is no such file or folder", file=path)
    try:
        found = _folder(path) if path.is_dir() else _zip(path)
        found.name_lone()
        return found
    except WarpladderError as error:
        raise WarpladderError(error.message, file=path, remedy=error.remedy) from None
    except OSError as error:
        raise WarpladderError(f"it cannot be read: {error.strerror}", file=path) from None


def _folder(root: Path) -> Archive:
    found = Archive()
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted([*names, *(item for item in folders if Path(folder, item).is_symlink())]):
            path = Path(folder, name)
            about = path.lstat()
            when = datetime.fromtimestamp(about.st_mtime, UTC)
            found.take(
                path.relative_to(root).as_posix(), _no_file(about), when, partial(_bytes_of_file, path)
            )
    return found


def _no_file(about: os.stat_result) -> str | None:
    if stat.S_ISLNK(about.st_mode):
        return "a link"
    if not stat.S_ISREG(about.st_mode):
        return "no ordinary file"
    return _too_large(about.st_size)


def _too_large(size: int) -> str | None:
    if size > MOST_BYTES_A_FILE:
        return f"{size / MEGABYTE:.0f} MiB; {MOST_BYTES_A_FILE // MEGABYTE} are the most"
    return None


def _bytes_of_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"it cannot be read: {error.strerror}") from None


def _zip(path: Path) -> Archive:
    found = Archive()
    for member in _members(path, path.stat().st_size):
        found.take(*member)
    return found


_Member = tuple[str, str | None, datetime, Callable[[], bytes]]
"""A file of a zip: its path, why it is not read, when it was last written, and what reads it."""


def _members(zipped: Path | BytesIO, size: int) -> list[_Member]:
    """The files of a zip of so many bytes. Raises WarpladderError for one that cannot be read, or is a bomb."""
    try:
        archive = zipfile.ZipFile(zipped)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OverflowError, struct.error):
        remedy = "give a folder or a whole .zip: download it again if it was cut short"
        raise WarpladderError("it is no zip that can be read", remedy=remedy) from None
    members = [member for member in archive.infolist() if not member.filename.endswith("/")]
    unpacked = sum(member.file_size for member in members)
    if unpacked > MOST_BYTES or unpacked > max(_SMALL, MOST_TIMES * size):
        message = f"its files would take {unpacked / MEGABYTE:,.0f} MiB: a zip bomb?"
        raise WarpladderError(message, remedy="look at it with `unzip -l`")
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise WarpladderError("it is encrypted", remedy="unpack it yourself, and give the folder")
    return [
        (_name(member), _no_member(member), _time(member), partial(_bytes_of, archive, member))
        for member in members
    ]


def _inside(read: Callable[[], bytes]) -> list[_Member]:
    """The files of a zip that was handed in. Raises UnreadableFile and WarpladderError."""
    data = read()
    return _members(BytesIO(data), len(data))


def _from_inside(read: Callable[[], bytes], place: int) -> bytes:
    """One of them. The zip is read again for each: a class's would not all fit into memory."""
    return _inside(read)[place][3]()


def _name(member: zipfile.ZipInfo) -> str:
    """Its path; names that say of themselves to be of MS-DOS are UTF-8 where they can be: Ruby writes them so."""
    name = member.orig_filename.replace("\\", "/")
    if not member.flag_bits & _UTF8:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name


def _no_member(member: zipfile.ZipInfo) -> str | None:
    if _OUTSIDE.search(_name(member)) or "\0" in member.orig_filename:
        return "its path leads out of the archive"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "a link"
    return _too_large(member.file_size)


def _time(member: zipfile.ZipInfo) -> datetime:
    """When it was last written, in UTC. Without the field that says so, zips have the time of somebody's clock: it is
    taken for this machine's, as unzip does."""
    for kind, data in _fields(member.extra):
        if kind == _UNIX_TIME and len(data) >= 5 and data[0] & 1:
            return datetime.fromtimestamp(struct.unpack_from("<i", data, 1)[0], UTC)
    try:
        return datetime(*member.date_time).astimezone(UTC)
    except (ValueError, OverflowError):  # a day 0
        return datetime.fromtimestamp(0, UTC)


def _fields(extra: bytes) -> Iterator[tuple[int, bytes]]:
    """A member's extra fields: each has a number, a size, and its bytes."""
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        yield kind, extra[4 : 4 + size]
        extra = extra[4 + size :]


def _bytes_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """At most as many as the archive says, whatever it unpacks to."""
    try:
        return archive.read(member)
    except Exception as error:  # decompressors' errors have no common base
        raise UnreadableFile(f"it is damaged: {error}") from None

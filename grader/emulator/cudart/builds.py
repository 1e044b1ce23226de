"""Programs that nvcc has compiled before, kept for as long as nothing changes that it reads.

An entry's name is a digest of what is known before: the options, the compilers, the program, and every file of its own
folders that it may include. In the entry stands what else was read, such as the system's headers, by size and time of
change. What cannot be told this way is compiled each time.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from grader.areas import EMULATOR, fingerprint
from grader.emulator.cache import cache_folder, keep, keep_newest, kept
from grader.emulator.cudart import toolchain
from grader.emulator.cudart.events import Gone
from grader.emulator.cudart.files import LIBRARY
from grader.emulator.cudart.toolchain import Program
from grader.emulator.nvrtc import included

MOST = 100
"""So many programs are kept, of half a megabyte or more each."""
_FOLDERS = re.compile(r"(?:-I|--include-path=|-isystem=|--system-include=)(.+)")
_NO_FILE = re.compile(
    r"-[DUO].+|--?std=[\w+]+|-[gGw]|-O|-W[\w-]+|--?use_fast_math|-(?:ftz|prec-div|prec-sqrt|fmad)=\w+"
    r"|-maxrregcount=\d+|--?(?:expt-)?(?:extended-lambda|relaxed-constexpr)|-Xptxas=[\w,=-]+|-l(?:cuda|m|dl|rt|pthread)"
    r"|-Xcompiler=(?:,?-(?:O\w*|W[\w=-]+|pthread|f(?!profile)[\w-]+))+"
)
"""Options that name no file; with others, nothing is kept."""
_READ = re.compile(rb'^# \d+ "([^"\n]+)"', re.MULTILINE)


class _Entry(msgspec.Struct):
    read: dict[str, tuple[int, int]]
    """Files and folders outside the program's own: bytes, and the time of change in ns."""
    ptx: dict[str, str]
    warnings: str
    gone: tuple[Gone, ...]
    library: bytes


def build(source: Path, folder: Path, arch: str, options: Sequence[str] = ()) -> Program:
    """`toolchain.compile_program`, or what that made before of the same. Raises as it does."""
    own = _own_files(source, options)
    if own is None:
        return toolchain.compile_program(source, folder, arch, options)
    entry = _entry(source, arch, options, own)
    before = _unchanged(entry)
    if before is not None:
        toolchain.runtime(folder)
        (folder / LIBRARY).write_bytes(before.library)
        return Program(folder / LIBRARY, before.ptx, before.warnings, before.gone)
    began = time.time_ns()
    program = toolchain.compile_program(source, folder, arch, options)
    read = _about(_read_by_nvcc(folder) - own.keys())
    whole = read is not None and all(changed < began for _, changed in read.values())
    if read is not None and whole and own == _own_files(source, options):  # nobody wrote meanwhile
        made = _Entry(read, program.ptx, program.warnings, program.gone, program.library.read_bytes())
        keep(entry, msgspec.msgpack.encode(made))
        keep_newest(entry.suffix, MOST)
    return program


def _own_files(source: Path, options: Sequence[str]) -> dict[Path, str] | None:
    """The program, other files of the options, and what these may include, each with a digest of its content; None
    where that cannot be told."""
    given, folders = [source.resolve()], list[str]()
    for option in options:
        if found := _FOLDERS.fullmatch(option):
            folders += [os.path.abspath(folder) for folder in found[1].split(",")]
        elif os.path.isfile(option):
            given.append(Path(option).resolve())
        elif not _NO_FILE.fullmatch(option):
            return None
    contents = {path: path.read_bytes() for path in given}
    texts = [(path, content.decode(errors="replace")) for path, content in contents.items()]
    mentioned = included.files([*texts, (None, "\n".join(options))], folders, toolchain.header_folders())
    if mentioned is None:
        return None
    return mentioned | {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}


def _entry(source: Path, arch: str, options: Sequence[str], own: dict[Path, str]) -> Path:
    # The program's path stands in tables of lines; what options mean in another folder has another digest.
    about = [str(source.resolve()), arch, *options]
    key = repr((fingerprint(EMULATOR), toolchain.about_compilers(), about, included.digest(own)))
    return cache_folder() / f"{hashlib.sha256(key.encode()).hexdigest()}.program"


def _unchanged(path: Path) -> _Entry | None:
    content = kept(path)
    if content is None:
        return None
    found = msgspec.msgpack.decode(content, type=_Entry)
    if _about(map(Path, found.read)) != found.read:
        return None
    os.utime(path)  # it is used
    return found


def _read_by_nvcc(folder: Path) -> set[Path]:
    """What the preprocessor read, and the folders of headers, in which others may appear."""
    names = {name for text in folder.rglob("*.ii") for name in _READ.findall(text.read_bytes())}
    files = {Path(os.fsdecode(name)).resolve() for name in names if name[:1] != b"<" and name[-1:] != b"/"}
    return {*files, *(path for path in toolchain.header_folders() if path.is_dir())}


def _about(paths: Iterable[Path]) -> dict[str, tuple[int, int]] | None:
    """Of files and folders their bytes and time of change; None where one is not there."""
    try:
        return {str(path): (about.st_size, about.st_mtime_ns) for path in paths for about in [path.stat()]}
    except OSError:
        return None

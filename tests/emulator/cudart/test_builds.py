"""What nvcc has made is taken again for as long as nothing changes that it reads. One program is compiled here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.emulator import cache
from grader.emulator.cudart import builds, toolchain
from grader.emulator.cudart.files import RUNTIME
from grader.emulator.cudart.toolchain import Program

MAIN = """#include "value.h"
__global__ void fill(int *p) { *p = VALUE; }
int main() { int unused; fill<<<1, 1>>>(nullptr); }
"""
OTHER = """#include <of_the_system.h>
__global__ void fill(double *p) { *p = 0; }
"""


class CompiledAnew(Exception):
    """The compiler is called."""


class Bench:
    """A program of two files, with a header of its own and one of the system's, and folders to compile it in."""

    def __init__(self, folder: Path) -> None:
        self.source, self.entries = folder / "prog.cu", folder / "entries"
        self.options = [f"-I{folder / 'first'}", f"-I{folder / 'second'}", "-Xcompiler=-Wall"]
        self.other = folder / "other" / "prog.cu"
        for name in ("first", "second", "system", "entries", "compiled", "other"):
            (folder / name).mkdir()
        self.header, self.earlier = folder / "second" / "value.h", folder / "first" / "value.h"
        self.system = folder / "system" / "of_the_system.h"
        self.source.write_text(MAIN)
        self.other.write_text(OTHER)
        self.header.write_text("#define VALUE 1\n")
        self.system.write_text("#pragma once\n")
        self.made = folder / "compiled"

    def build(self, *more: str) -> Program:
        folder = self.made / str(len(list(self.made.iterdir())))
        folder.mkdir()
        return builds.build(self.source, folder, "sm_90a", [*self.options, str(self.other), *more])

    def is_taken(self) -> bool:
        try:
            self.build()
        except CompiledAnew:
            return False
        return True


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    made = Bench(tmp_path)
    monkeypatch.setattr(builds, "cache_folder", lambda: made.entries)
    monkeypatch.setenv("CPATH", str(made.system.parent))
    told = (toolchain.about_compilers, toolchain.header_folders, toolchain._said_of_host)
    for each in told:
        each.cache_clear()
    yield made
    for each in told:
        each.cache_clear()


def anew(*_: object) -> Program:
    raise CompiledAnew


@pytest.mark.verify
def test_a_program_is_compiled_anew_when_what_it_reads_changes_and_not_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = bench.build()
    assert "unused" in compiled.warnings
    monkeypatch.setattr(toolchain, "compile_program", anew)
    taken = bench.build()
    assert (taken.ptx, taken.warnings) == (compiled.ptx, compiled.warnings)
    assert taken.library.read_bytes() == compiled.library.read_bytes()
    assert (taken.library.parent / RUNTIME).exists()

    bench.header.write_text("#define VALUE 2\n")
    assert not bench.is_taken(), "its own header has changed"
    bench.header.write_text("#define VALUE 1\n")
    assert bench.is_taken(), "and is again as it was"
    bench.other.write_text(OTHER.replace("0", "1"))
    assert not bench.is_taken(), "its second file has changed"
    bench.other.write_text(OTHER)
    bench.earlier.write_text("#define VALUE 1\n")
    assert not bench.is_taken(), "a header of this name comes before it"
    bench.earlier.unlink()
    with pytest.raises(CompiledAnew):
        bench.build("-DMORE")
    bench.options.reverse()
    assert not bench.is_taken(), "the folders come in another order"
    bench.options.reverse()
    with monkeypatch.context() as other:
        other.setattr(toolchain, "about_compilers", lambda: "another compiler")
        assert not bench.is_taken()
    (entry,) = bench.entries.iterdir()
    content = entry.read_bytes()
    entry.write_bytes(content[:-1])
    assert not bench.is_taken(), "it is not whole"
    entry.write_bytes(content)
    about = bench.system.stat()
    bench.system.write_text("// pragma 1\n")
    assert not bench.is_taken(), "a header of the system has changed"
    bench.system.write_text("#pragma once\n")
    os.utime(bench.system, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert bench.is_taken()
    (bench.system.parent / "new.h").touch()
    assert not bench.is_taken(), "there are more headers among those of the system"


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ('#include NAME\n#define NAME "x.h"', ""),
        ("const char *built = __TIME__;", ""),
        ('asm(".incbin \\"table\\"");', ""),
        ("", "-include=config.h"),
        ("", "-Xcompiler=-march=native"),
        ("", "-DBUILT=__DATE__"),
    ],
)
def test_what_cannot_be_told_is_compiled_each_time(bench: Bench, text: str, option: str) -> None:
    bench.source.write_text(MAIN + text)
    assert builds._own_files(bench.source, [option] if option else []) is None
    assert builds._own_files(bench.source, bench.options) is None or option


def test_what_was_used_the_longest_ago_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLADDER_CACHE", str(tmp_path))
    for age, name in enumerate(["d.program", "b.program", "a.program", "c.program"]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (100 - age, 100 - age))
    (tmp_path / "kernel.o").touch()
    cache.keep_newest(".program", 2)
    assert {path.name for path in tmp_path.iterdir()} == {"d.program", "b.program", "kernel.o"}

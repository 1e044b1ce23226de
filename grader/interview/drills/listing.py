"""Listings of PTX and SASS: made from a kernel's source, cut to what is shown, and counted in."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError
from grader.workbook.compiler import DEFAULT_ARCH
from grader.workbook.strict_toml import read

PTX, SASS = ".ptx", ".sass"


def of(file: Path) -> Path:
    """The listing beside a drill's TOML or its functions. Raises WarpladderError where there is not one."""
    found = [path for suffix in (PTX, SASS) if (path := file.with_suffix(suffix)).is_file()]
    if len(found) != 1:
        raise WarpladderError(
            f"the drill has {len(found)} listings", file=file, remedy="make it NAME.ptx or NAME.sass"
        )
    return found[0]


@cache
def lines(file: Path) -> tuple[str, ...]:
    """The lines that a drill shows; `file` is its TOML, which may have `excerpt`, or lies beside it.

    Raises WarpladderError where the excerpt is not found.
    """
    declared = file.with_suffix(".toml")
    ends = read(declared.read_text(encoding="utf-8").splitlines(), declared).names("excerpt")
    found = tuple(of(file).read_text(encoding="utf-8").splitlines())
    if not ends:
        return found
    first, last = (re.compile(end) for end in ends)
    begin = next((number for number, line in enumerate(found) if first.search(line)), None)
    end = next(
        (n for n, line in enumerate(found) if begin is not None and n > begin and last.search(line)), None
    )
    if begin is None or end is None:
        raise WarpladderError(
            "its excerpt is not in the listing", file=declared, remedy="name the first line and the last"
        )
    return (found[0], *found[begin : end + 1])


def count(module: str, pattern: str) -> int:
    """How many lines of the listing shown have `pattern`; `module` is the __file__ of the drill's functions."""
    return sum(re.search(pattern, line) is not None for line in lines(Path(module)))


def first(module: str, pattern: str) -> str:
    """The first group of `pattern` in the first line of the listing that has it."""
    found = next(match for line in lines(Path(module)) if (match := re.search(pattern, line)))
    return found[1]


def compiled(source: Path) -> compilation.Build:
    """The PTX and the cubin of a drill's source."""
    return compilation.build(source.read_text(encoding="utf-8"), name=source.name, arch=DEFAULT_ARCH)


def from_ptx(ptx: str) -> str:
    """A kernel's instructions, without declarations of registers and with short names of parameters."""
    version = re.search(r"release \d+\.\d+, V([\d.]+)", ptx)
    assert version is not None, "NVRTC says its version in PTX"
    body = ptx[ptx.index(".visible .entry") :]
    body = body[: body.index("\n}\n") + 3]
    body = re.sub(r"\b\w+_param_(\d+)", r"p\1", body)
    body = re.sub(r"\b_ZZ\d+[a-z_]+E\d([a-z]+)", r"\1", body)  # a shared array by its own name
    shown = [f"// PTX by NVRTC {version[1]} for {DEFAULT_ARCH}"]
    for line in body.splitlines():
        text = line.expandtabs(4).rstrip()
        if text.strip() and not re.match(r"\s*(\.loc|\.reg|\.file|//)", text):
            shown.append(text)
    return "\n".join(shown) + "\n"


def from_sass(text: str, ptx: str) -> str:
    """A kernel's instructions with their addresses, from what nvdisasm says: without encodings, directives, labels that
    nothing branches to, and what pads the end. `ptx` says the compiler's version."""
    version = re.search(r"release (\d+\.\d+)", ptx)
    assert version is not None, "NVRTC says its version in PTX"
    shown = []
    for line in text.splitlines():
        if (label := re.match(r"(\.L_x_\d+):", line)) and text.count(f"({label[1]})") > 0:
            shown.append(f"{label[1]}:")
        elif found := re.match(r"\s*/\*([0-9a-f]{4,5})\*/\s+(.*?);", line):
            shown.append(f"  /*{found[1]}*/ {_plain(found[2])}")
    end = max(number for number, line in enumerate(shown) if line.endswith("EXIT"))
    head = f"// SASS by ptxas {version[1]} for {DEFAULT_ARCH}, by nvdisasm"
    return "\n".join([head, *shown[: end + 1]]) + "\n"


def _plain(instruction: str) -> str:
    """Without columns and without nvdisasm's remarks, which would give spills away."""
    return re.sub(r" +", " ", re.sub(r"\(\*.*?\*\)", "", instruction)).strip()

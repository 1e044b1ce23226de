"""SASS, by NVIDIA's nvdisasm: the machine code that ptxas made, each instruction with its place in the source."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.emulator.places import GIVEN, UNKNOWN, Listed, Place, of_library

_SECTION = re.compile(r"\.text\.(\S+):")
_LABEL = re.compile(r"(\.L_x_\d+):")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
_PADDING = re.compile(r"NOP|(\.L_x_\d+): BRA `\(\1\)")
_FRAME = re.compile(r'\s*//## File "([^"]*)", line (\d+)')


class NvdisasmNotFound(Exception):
    """nvdisasm is not installed."""


def nvdisasm() -> str:
    """The wheel's program, or the PATH's. Raises NvdisasmNotFound."""
    wheel = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin" / "nvdisasm"
    found = str(wheel) if wheel.is_file() else shutil.which("nvdisasm")
    if found is None:
        raise NvdisasmNotFound("nvdisasm is not installed")
    return found


def disassembled(cubin: bytes, *options: str) -> str:
    """nvdisasm's text of the code in a cubin. Raises NvdisasmNotFound."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [nvdisasm(), "-c", *options, file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def listed(cubin: bytes, kernel: str, given: str) -> list[Listed]:
    """The instructions of a kernel, by its symbol, without what pads the end; `given` is the name of the file that was
    given to the compiler. Raises NvdisasmNotFound."""
    found: list[Listed] = []
    labels: list[str] = []
    frames: list[tuple[str, int]] = []
    inside = in_frames = False
    for line in disassembled(cubin, "--print-line-info-inline").splitlines():
        frame = _FRAME.match(line)
        if frame:
            frames = [*(frames if in_frames else []), (frame[1], int(frame[2]))]
        elif section := _SECTION.fullmatch(line):
            inside, frames = section[1] == kernel, []
        elif inside and (label := _LABEL.fullmatch(line)):
            labels.append(label[0])
        elif inside and (instruction := _INSTRUCTION.match(line)):
            said = " ".join([*labels, *instruction[2].split()])
            found.append(Listed(instruction[1], said, _place(frames, given)))
            labels = []
        in_frames = frame is not None
    while found and _PADDING.fullmatch(found[-1].text):
        found.pop()
    return found


def _place(frames: Sequence[tuple[str, int]], given: str) -> Place:
    """Of a line and those of the calls by which it was inlined, the innermost first."""
    place = None
    for path, line in reversed(frames):
        if not of_library(Path(path)):
            place = Place(GIVEN if path == f"/{given}" else path, line, place)
    return place or UNKNOWN

"""What an editor needs: where clangd finds CUDA's headers, and tasks of VS Code that find a grade's problems.

clangd reads a .cu file as the host's side of CUDA C++. Of its own wrapper of CUDA's headers, which knows certain
versions of a whole toolkit, only the built-in variables are taken; all else is in the wheels that NVRTC uses.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.emulator.cache import write_whole
from grader.emulator.nvrtc.compilation import PINNED, NvrtcNotFound, find_toolkit
from grader.errors import WarpladderError
from grader.workbook.topics import discover

CLANGD, TASKS = ".clangd", ".vscode/tasks.json"

PROBLEM = r"^(.+?):(\d+): (error): (.*)$"
"""A line of `ladder grade --problems`: file, line, severity, message."""

RULE = "^─.*─$"
"""The line with which a watch begins on a save."""

WAITING = "^Waiting for the next save"

_BEFORE = ("__clang_cuda_builtin_vars.h", str(Path(__file__).with_suffix(".cuh")))
"""Included unasked: threadIdx and its like, then what nvcc and NVRTC know without a header."""

State = Literal["written", "unchanged", "written over", "kept"]


@dataclass(frozen=True)
class Written:
    """What became of one file; "kept": another was there, and is as it was."""

    path: Path
    state: State


def write(folder: Path, force: bool = False) -> list[Written]:
    """Write what editors need into a folder of kernels. A file that differs is kept, unless `force`.

    Raises WarpladderError where the headers are missing or the folder cannot be written to.
    """
    content = {CLANGD: clangd(_headers()), TASKS: tasks(sorted(discover()), _ladder())}
    if not folder.is_dir():
        raise WarpladderError("there is no such folder", file=folder)
    return [_written(folder / name, text, force) for name, text in content.items()]


def _written(path: Path, text: str, force: bool) -> Written:
    try:
        there = path.read_text(encoding="utf-8") if path.exists() else None
        if there == text:
            return Written(path, "unchanged")
        if there is not None and not force:
            return Written(path, "kept")
        write_whole(path, text.encode())
    except (OSError, UnicodeDecodeError) as error:
        raise WarpladderError(f"it cannot be read or written: {error}", file=path) from None
    return Written(path, "written" if there is None else "written over")


def clangd(headers: Sequence[Path]) -> str:
    """A .clangd file, for headers in these folders."""
    flags = ["-xcuda", "-std=c++17", "--cuda-host-only", "--cuda-gpu-arch=sm_90", "--no-cuda-version-check"]
    flags += ["-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version"]
    flags += [f"-isystem{folder}" for folder in headers]
    flags += ["-D__CUDACC__", f"-D__CUDACC_VER_MAJOR__={PINNED}", "-D__CUDACC_VER_MINOR__=0"]
    flags.append("-D_CG_CLUSTER_INTRINSICS_AVAILABLE")  # else cooperative groups have clusters for nvcc alone
    flags += ["-ferror-limit=0"]  # Clang's own complaints of the headers would use it up
    flags += ["-D__DEVICE_LAUNCH_PARAMETERS_H__"]  # which declares threadIdx once more
    flags += [part for name in _BEFORE for part in ("-include", name)]
    lines = [
        "# Written by `ladder editor`: CUDA's headers for clangd, from the wheels of the compiler.",
        "If:",
        r"  PathMatch: .*\.cuh?",
        "CompileFlags:",
        "  Compiler: clang++",
        "  Add:",
        *(f"    - {json.dumps(flag)}" for flag in flags),
    ]
    return "\n".join(lines) + "\n"


def tasks(topics: Sequence[str], ladder: str) -> str:
    """A tasks.json of VS Code: grade, watch and hint for the file in the editor; the topic is asked for."""
    matcher = {
        "owner": "ladder",
        "fileLocation": ["autoDetect", "${workspaceFolder}"],
        "pattern": {"regexp": PROBLEM, "file": 1, "line": 2, "severity": 3, "message": 4},
    }
    background = {"activeOnStart": True, "beginsPattern": RULE, "endsPattern": WAITING}

    def task(label: str, command: str, *options: str) -> dict[str, object]:
        arguments = [command, "${input:topic}", "${relativeFile}", *options]
        return {"label": f"ladder: {label}", "type": "process", "command": ladder, "args": arguments}

    found = [
        {**task("grade this file", "grade", "--problems"), "problemMatcher": matcher},
        {
            **task("grade this file at each save", "grade", "--watch", "--problems"),
            "isBackground": True,
            "problemMatcher": {**matcher, "background": background},
        },
        {**task("hint for this file", "hint"), "problemMatcher": []},
    ]
    asked = {"id": "topic", "type": "pickString", "description": "The topic", "options": list(topics)}
    return json.dumps({"version": "2.0.0", "tasks": found, "inputs": [asked]}, indent=2) + "\n"


def _headers() -> Sequence[Path]:
    """The folders of CUDA's own headers."""
    try:
        return find_toolkit().includes[1:]  # the first are small ones of C, which an editor has itself
    except NvrtcNotFound as error:
        message, _, remedy = str(error).partition(": ")
        raise WarpladderError(message, remedy=remedy) from None


def _ladder() -> str:
    """The command, where an editor finds it without an environment that is active."""
    beside = Path(sys.executable).with_name("ladder")
    return str(beside) if beside.exists() else "ladder"

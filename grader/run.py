"""`ladder run`: a whole CUDA C++ program, on this machine's GPU or on the emulator."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from grader import gpu
from grader.emulator import devices
from grader.emulator.cudart import process, toolchain
from grader.emulator.cudart.events import Outcome
from grader.emulator.nvrtc.compilation import PINNED
from grader.errors import WarpladderError
from grader.findings import compiling
from grader.judge.runners.pool import check_arch
from grader.sandbox.scratch import Scratch


def run(
    source: Path,
    arguments: Sequence[str] = (),
    *,
    device: Literal["auto", "gpu", "emulator"] = "auto",
    arch: str = devices.DEFAULT_ARCH,
    options: Sequence[str] = (),
) -> Outcome:
    """Compile `source` with nvcc, with further `options` of nvcc's, and run it with its `arguments`.

    Its standard streams are this process's. `arch` is the GPU to emulate. On a GPU the outcome has no launches and no
    findings. Raises WarpladderError for what cannot be compiled, linked or found.
    """
    if not source.is_file():
        raise WarpladderError("no such program", file=source)
    problem = None if device == "emulator" else _gpu_problem()
    if device == "gpu" and problem is not None:
        raise problem
    with compiling.in_words(source):
        if device != "emulator" and problem is None:
            return _run_native(source, arguments, options)
        check_arch(arch)
        return process.run(source, arguments, arch, options)


def sources_and_arguments(given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What stands behind a program's name: its other sources, then its own arguments, which begin at what is no file
    with a source's suffix, or behind `--`."""
    is_source = [Path(each).suffix in toolchain.SOURCES and Path(each).is_file() for each in given]
    count = is_source.index(False) if False in is_source else len(given)
    return given[:count], given[count + (given[count : count + 1] == ["--"]) :]


def _gpu_problem() -> WarpladderError | None:
    """Why this machine's GPU cannot run what nvcc makes; None where it can."""
    found = gpu.find()
    if found is None:
        return WarpladderError("no NVIDIA driver answers", remedy=gpu.NEW_DRIVER)
    if found.cuda[0] < PINNED:
        return WarpladderError(
            f"the driver knows no CUDA {PINNED}, which nvcc compiles for", remedy=gpu.NEW_DRIVER
        )
    return None


def _run_native(source: Path, arguments: Sequence[str], options: Sequence[str]) -> Outcome:
    with Scratch() as folder:
        program = folder / source.stem
        toolchain.compile_native(source, program, options)
        status = subprocess.run([str(program), *arguments], check=False).returncode
        return Outcome(status=128 - status if status < 0 else status, emulated=False)

"""`ladder run`: a whole CUDA C++ program, on this machine's GPU or on the emulator."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from grader import gpu
from grader.emulator import devices
from grader.emulator.cudart import process, toolchain
from grader.emulator.cudart.events import Outcome
from grader.emulator.cudart.status import ELSEWHERE, NotEmulated
from grader.emulator.nvrtc.compilation import PINNED
from grader.errors import WarpladderError

_RUNTIME_ONLY = "without a GPU, a program has the CUDA runtime and no other library of CUDA"
_DEFINED_ELSEWHERE = "give the file that defines it to nvcc: --nvcc=other.cpp"
_REMEDIES = {toolchain.MANAGED: "allocate the memory with cudaMallocManaged instead"}
_LIBRARIES = re.compile(r"cu[A-Z]|cublas|cufft|curand|cusparse|cusolver|cudnn|nv[A-Zrm]|npp|nccl")


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
    try:
        if device != "emulator" and problem is None:
            return _run_native(source, arguments, options)
        _check_arch(arch)
        return process.run(source, arguments, arch, options)
    except toolchain.CompilerNotFound as error:
        raise WarpladderError(str(error), remedy=error.remedy) from None
    except toolchain.ProgramRefused as error:
        raise WarpladderError(f"nvcc refuses the program\n{error}", file=source) from None
    except toolchain.NotThere as error:
        raise _not_there(error, source) from None
    except NotEmulated as error:
        raise WarpladderError(str(error), file=source, remedy=error.remedy) from None


def _check_arch(arch: str) -> None:
    """Raises WarpladderError for a GPU that is not emulated."""
    try:
        devices.find(arch)
    except ValueError as error:
        raise WarpladderError(str(error)) from None


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


def _not_there(error: toolchain.NotThere, source: Path) -> WarpladderError:
    names = list(dict.fromkeys(name for name, _, _ in error.missing))
    file, line = next(((file, line) for _, file, line in error.missing if line), (str(source), None))
    shown = source if Path(file).resolve() == source.resolve() else file
    said = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
    runtime = [name for name in names if name.lstrip("_").startswith("cuda") or name in _REMEDIES]
    library = [name for name in names if _LIBRARIES.match(name)]
    if not runtime and not library:
        return WarpladderError(f"{said} not defined", file=shown, line=line, remedy=_DEFINED_ELSEWHERE)
    remedy = _RUNTIME_ONLY if library else _REMEDIES.get(runtime[0], ELSEWHERE)
    return WarpladderError(
        f"{said} not known to ladder run without a GPU", file=shown, line=line, remedy=remedy
    )


def _run_native(source: Path, arguments: Sequence[str], options: Sequence[str]) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="ladder-run-") as folder:
        program = Path(folder, source.stem)
        toolchain.compile_native(source, program, options)
        status = subprocess.run([str(program), *arguments], check=False).returncode
        return Outcome(status=128 - status if status < 0 else status, emulated=False)

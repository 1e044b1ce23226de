"""Why a whole program cannot be compiled or linked, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.emulator.cudart import toolchain
from grader.emulator.cudart.status import ELSEWHERE, NotEmulated
from grader.emulator.nvrtc import compilation
from grader.errors import WarpladderError

_RUNTIME_ONLY = "without a GPU, a program has the CUDA runtime and no other library of CUDA"
_DEFINED_ELSEWHERE = "name the file that defines it, too: ladder run prog.cu other.cpp"
_ITS_FOLDER = "give the folder that it lies in to nvcc: --nvcc=-I../common"
_LIBRARIES = re.compile(r"cu[A-Z]|cublas|cufft|curand|cusparse|cusolver|cudnn|nv[A-Zrm]|npp|nccl")

_LIBRARY_OF = {
    "cublas": "cuBLAS", "cudnn": "cuDNN", "cufft": "cuFFT", "curand": "cuRAND", "cusolver": "cuSOLVER",
    "cusparse": "cuSPARSE", "cutensor": "cuTENSOR", "nccl": "NCCL", "npp": "NPP", "nvml": "NVML",
}  # fmt: skip
"""CUDA's libraries, by how the names of their headers begin."""

_OBJECTS = {
    "texture": "cudaCreateTextureObject() makes a texture object, which a kernel takes as a cudaTextureObject_t",
    "surface": "cudaCreateSurfaceObject() makes a surface object, on a machine with a GPU",
}
"""What took the place of references."""

_NO_HEADER = re.compile(r"^(.+?):(\d+):\d+: fatal error: (.+): No such file or directory$", re.MULTILINE)
_ERROR = re.compile(r"^(.+?)\((\d+)\): error: (.*)$", re.MULTILINE)


class NotCompiled(WarpladderError):
    """The program's fault, and not that of the machine that compiles it."""

    lacks_main = False
    """Whether all that it lacks is a main()."""


@contextmanager
def in_words(source: Path) -> Iterator[None]:
    """Around compiling a program: raises WarpladderError in place of the toolchain's errors, and NotCompiled where the
    program is wrong."""
    try:
        yield
    except toolchain.CompilerNotFound as error:
        raise WarpladderError(str(error), remedy=error.remedy) from None
    except toolchain.ProgramRefused as error:
        raise _refused(str(error), source) from None
    except toolchain.NotThere as error:
        raise _not_there(error, source) from None
    except NotEmulated as error:
        raise WarpladderError(str(error), file=source, remedy=error.remedy) from None


def _refused(said: str, source: Path) -> NotCompiled:
    """A header that is missing, or what CUDA has no more; or the first error in the program itself with its line, and
    all that nvcc says."""
    if missing := _NO_HEADER.search(said):
        file, line, header = missing.groups()
        library = [_LIBRARY_OF[name] for name in _LIBRARY_OF if Path(header).name.startswith(name)]
        why, remedy = (f", as {library[0]} is not emulated", _RUNTIME_ONLY) if library else ("", _ITS_FOLDER)
        return NotCompiled(
            f"there is no header {header}{why}", file=_shown(file, source), line=int(line), remedy=remedy
        )
    if declared := compilation.REFERENCE.search(said):
        file, line, kind = declared.groups()
        return NotCompiled(
            f"{kind} references are gone since CUDA 12", file=_shown(file, source), line=int(line),
            remedy=_OBJECTS[kind],
        )  # fmt: skip
    for file, line, text in _ERROR.findall(said):
        if Path(file).resolve() == source.resolve():
            return NotCompiled(f"{text}\n{said}", file=source, line=int(line))
    return NotCompiled(f"nvcc refuses the program\n{said}", file=source)


def _shown(file: str, source: Path) -> str | Path:
    """A file, the program as it was given."""
    return source if Path(file).resolve() == source.resolve() else file


def _not_there(error: toolchain.NotThere, source: Path) -> WarpladderError:
    names = list(dict.fromkeys(name for name, _, _ in error.missing))
    file, line = next(((file, line) for _, file, line in error.missing if line), (str(source), None))
    shown = _shown(file, source)
    said = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
    runtime = [name for name in names if name.lstrip("_").startswith("cuda")]
    library = [name for name in names if _LIBRARIES.match(name)]
    if not runtime and not library:
        refused = NotCompiled(f"{said} not defined", file=shown, line=line, remedy=_DEFINED_ELSEWHERE)
        refused.lacks_main = names == ["main"]
        return refused
    remedy = _RUNTIME_ONLY if library else ELSEWHERE
    return NotCompiled(f"{said} not known to ladder run without a GPU", file=shown, line=line, remedy=remedy)

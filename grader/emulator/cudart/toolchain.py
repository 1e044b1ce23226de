"""nvcc and the host's compiler: from a program's source to a library that is linked with our runtime, and its PTX."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from grader.emulator.cache import cache_folder, keep, kept
from grader.emulator.cudart.events import Gone
from grader.emulator.cudart.files import LIBRARY, RUNTIME, digest_of
from grader.emulator.cudart.status import NotEmulated
from grader.emulator.machine.cores import usable
from grader.emulator.places import Place

REQUIREMENTS = "'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-profiler-api==13.0.*'"
_SOURCE = Path(__file__).with_name("runtime.cpp")
_OLDER = Path(__file__).with_name("cuda12.h")
_DRIVER = (
    "libcuda.so"  # what -lcuda looks for: the driver's few functions that are there, are in the same library
)
_WRAPPED = (
    "malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign",
    "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm",
)  # fmt: skip
"""Functions of the C and C++ libraries whose calls go by way of the runtime, which notes how large blocks are."""
_HOST_OPTIONS = ("-gdwarf-4", "-O1", "-fPIC", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
"""DWARF 4, as addr2line of binutils may take the source for another file where a table of DWARF 5 begins."""
_UNDEFINED = re.compile(r"(?:([^\s:()]+):(\d+): )?undefined (?:reference to|symbol:?) [`']?(\w+)")
_REQUIRED = re.compile(r"required symbol [`'](\w+)' not defined")
_LINKED_BINARY = "__cudaRegisterLinkedBinary"
SOURCES = {".cu", ".c", ".cc", ".cpp", ".cxx"}
"""What nvcc takes for the source of a translation unit of its own."""
_LINKED = {".a", ".o", ".so"}
_OBJECT = "unit.o"
_REPORT = re.compile(r"ptxas info|    \d+ bytes ")
_GONE = re.compile(
    r"^([^\n:]+):(\d+):\d+: warning: ‘(?:[^’]*?\s)?([\w:]+)(?:\([^’]*)?’ is deprecated: gone since CUDA 13: (.*)"
    r" \[-W.*\n"
    r"(?:.*note: declared here\n| *\d* \|.*\n)*",
    re.MULTILINE,
)
_HEADING = re.compile(
    r"^\S[^\n]*: (?:In|At) [^\n]*:\n(?:\S+:\d+:\d+:   [^\n]*required from [^\n]*\n)*(?!\S+:\d+:)",
    re.MULTILINE,
)
"""g++'s, of a function in which nothing is left to be said."""
_OURS, _THEIRS = "cudaDevicePr12", "cudaDeviceProp"
"""The structure of cuda12.h, and what it is in the program."""
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)".*$', re.MULTILINE)
_NUMBERED = re.compile(r"(\.loc\s+|inlined_at\s+|\.file\s+)(\d+)\b")


class CompilerNotFound(Exception):
    """nvcc, its wheels or the host's compiler are not there. `remedy` is a command."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


class ProgramRefused(Exception):
    """The compiler refused the program; the text is what it said."""


class NotThere(Exception):
    """The program calls functions that are not there without a GPU: (name, file, line) each; line 0: not known."""

    def __init__(self, missing: Sequence[tuple[str, str, int]]) -> None:
        super().__init__(", ".join(name for name, _, _ in missing))
        self.missing = tuple(missing)


@dataclass(frozen=True)
class Program:
    """What nvcc made of a program."""

    library: Path
    ptx: dict[str, str]
    """Of each translation unit, with ptxas's report as comments; by the digest of its fat binary, which the unit
    registers when it is loaded."""
    warnings: str
    """What the compiler said."""
    gone: tuple[Gone, ...] = ()


@functools.cache
def toolkit() -> Path:
    """The folder of the wheels with nvcc, its back end and CUDA's headers. Raises CompilerNotFound."""
    for root in (Path(entry, "nvidia", "cu13").resolve() for entry in sys.path):
        if (root / "bin" / "nvcc").exists() and (root / "nvvm" / "bin" / "cicc").exists():
            return root
    raise CompilerNotFound("the wheels of nvcc are not installed", f"pip install {REQUIREMENTS}")


def native_nvcc() -> list[str]:
    """nvcc as it is called to compile for this machine's GPU, which needs nothing of ours: that of the wheels, or else
    one in the PATH. Raises CompilerNotFound."""
    host = f"-ccbin={host_compiler()}"
    try:
        wheels = toolkit()
    except CompilerNotFound:
        if found := shutil.which("nvcc"):
            return [found, host]
        raise
    return [str(wheels / "bin" / "nvcc"), host, f"-L{wheels / 'lib'}"]


@functools.cache
def host_compiler() -> str:
    """The C++ compiler that nvcc calls. Raises CompilerNotFound."""
    name = os.environ.get("CXX") or "g++"
    if not shutil.which(name):
        remedy = "unset CXX" if "CXX" in os.environ else "apt-get install g++"
        raise CompilerNotFound(f"there is no C++ compiler {name}", remedy)
    return name


def compile_program(source: Path, folder: Path, arch: str, options: Sequence[str] = ()) -> Program:
    """Compile a program for the emulator into `folder`; `options` are nvcc's, of the caller, and further files.

    Raises ProgramRefused, NotThere, NotEmulated and CompilerNotFound.
    """
    ours = runtime(folder)
    (folder / _DRIVER).symlink_to(ours.name)
    real = f"compute_{arch.removeprefix('sm_')}"
    files = [option for option in options if os.path.isfile(option)]
    sources = [*(file for file in files if Path(file).suffix in SOURCES), str(source.resolve())]
    linked = [file for file in files if Path(file).suffix in _LINKED]
    flags = [
        *(option for option in options if option not in [*sources, *linked]), f"-gencode=arch={real},code={arch}",
        "-lineinfo", "-Xptxas=-v", "--keep", f"-Xcompiler={','.join(_HOST_OPTIONS)}",
    ]  # fmt: skip
    made = [folder / str(number) for number in range(len(sources))]
    with ThreadPoolExecutor(usable()) as threads:
        units = list(threads.map(functools.partial(_compile_unit, flags), sources, made))
    done = units
    if not any(unit.returncode for unit in units):
        wrapped = ",".join(f"--wrap={name}" for name in _WRAPPED)
        command = [
            *_nvcc(), *flags, f"--keep-dir={folder}", "-shared", "-cudart=none",
            f"-Xlinker=-z,defs,-Bsymbolic,--require-defined=main,{wrapped}", f"-L{folder}",
            *(str(unit / _OBJECT) for unit in made), *linked, str(ours), "-o", str(folder / LIBRARY),
        ]  # fmt: skip
        done = [*units, _run(command)]
    text = "".join(each.stderr + each.stdout for each in done).replace(_OURS, _THEIRS)
    text, gone = _without_gone(text, source.resolve().parent)
    lines = [line.replace(f"{folder}{os.sep}", "") for line in _without_noise(text)]
    said = "\n".join(line for line in lines if not _REPORT.match(line))
    if any(each.returncode for each in done):
        _raise_missing(done[-1].stderr, folder)
        raise ProgramRefused(said)
    ptx = {
        binary: f"{program_first(text, source)}\n{_report(unit)}"
        for unit, place in zip(units, made, strict=True)
        for binary, text in _device_code(place).items()
    }
    return Program(folder / LIBRARY, ptx, said, gone)


def _compile_unit(flags: Sequence[str], source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A translation unit in a folder of its own: nvcc names what it keeps by the source, without that one's folder."""
    folder.mkdir()
    return _run([*_nvcc(), *flags, f"--keep-dir={folder}", "-c", source, "-o", str(folder / _OBJECT)])


def _device_code(folder: Path) -> dict[str, str]:
    """The PTX of a translation unit, if it is one of CUDA, by the digest of its fat binary."""
    return {
        digest_of(path.with_suffix(".fatbin").read_bytes()): path.read_text() for path in folder.glob("*.ptx")
    }


def _report(unit: subprocess.CompletedProcess[str]) -> str:
    """What ptxas said of a translation unit, as comments."""
    lines = [line for line in _without_noise(unit.stderr + unit.stdout) if _REPORT.match(line)]
    return "".join(f"// {_as_report(line)}\n" for line in lines)


def _raise_missing(said: str, folder: Path) -> None:
    """Raises NotThere or NotEmulated where the linker misses something."""
    missing = [_missing(name, file, line, folder) for file, line, name in _UNDEFINED.findall(said)]
    missing += [(name, "", 0) for name in _REQUIRED.findall(said)]
    if any(name.startswith(_LINKED_BINARY) for name, _, _ in missing):
        raise NotEmulated(
            "linking of device code (-rdc=true), which launches from kernels need, is not emulated"
        )
    if missing:
        raise NotThere(list(dict.fromkeys(missing)))


def _missing(name: str, file: str, line: str, folder: Path) -> tuple[str, str, int]:
    """What the linker misses, as the source has it: what nvcc writes of its own accord lies in `folder`."""
    return (name, "", 0) if folder in Path(file).parents else (name, file, int(line or 0))


def compile_native(source: Path, target: Path, options: Sequence[str] = ()) -> str:
    """Compile a program for the GPU of this machine; returns what the compiler said. Raises as `compile_program`."""
    command = [
        *native_nvcc(), f"--pre-include={_OLDER}", *options, "-arch=native", "-lineinfo", "-cudart=static",
        str(source.resolve()), "-o", str(target),
    ]  # fmt: skip
    done = _run(command)
    if done.returncode:
        raise ProgramRefused("\n".join(_without_noise(done.stderr + done.stdout)))
    return done.stderr


def _nvcc() -> list[str]:
    return [str(toolkit() / "bin" / "nvcc"), f"-ccbin={host_compiler()}", f"--pre-include={_OLDER}"]


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    # nvcc takes further options from variables, and messages have to be those we know.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NVCC_")}
    return subprocess.run(
        command, env=environment | {"LC_ALL": "C.UTF-8"}, capture_output=True, text=True, errors="replace", check=False
    )  # fmt: skip


def _without_noise(said: str) -> list[str]:
    return [line for line in said.splitlines() if "Compile time =" not in line and line.strip()]


def _without_gone(said: str, near: Path) -> tuple[str, tuple[Gone, ...]]:
    """What the compiler says without its warnings of names that are gone, and these names, each once."""
    found: dict[str, Gone] = {}
    for file, line, name, instead in _GONE.findall(said):
        found.setdefault(name, Gone(name, instead, Place(_shown(file, near), int(line))))
    return _HEADING.sub("", _GONE.sub("", said)), tuple(found.values())


def _as_report(line: str) -> str:
    """The emulator takes lines that begin with ptxas for the report."""
    return line if line.startswith("ptxas") else f"ptxas {line}"


def program_first(ptx: str, source: Path) -> str:
    """The program's own file is number 1, as it is with NVRTC. Where it has no code for the device, as all is in files
    that it includes, no file has this number. Files of its folder are named from there."""
    near = source.resolve().parent
    numbers = {Path(name).resolve(): number for number, name in _FILE.findall(ptx)}
    unused = str(1 + max(map(int, numbers.values()), default=0))
    own = numbers.get(source.resolve(), unused)
    swapped = {own: "1", "1": own}

    def named(found: re.Match[str]) -> str:
        return f'.file {found[1]} "{_shown(found[2], near)}"'

    return _NUMBERED.sub(
        lambda found: str(found[1]) + swapped.get(found[2], str(found[2])), _FILE.sub(named, ptx)
    )


def _shown(file: str, near: Path) -> str:
    """A file as the reader knows it: from the source's folder."""
    path = Path(file).resolve()
    return str(path.relative_to(near)) if near in path.parents else str(path)


def runtime(folder: Path) -> Path:
    """Our runtime as a library in `folder`, compiled once and kept."""
    source = _SOURCE.read_bytes()
    include = toolkit() / "include"
    key = hashlib.sha256(source + about_compilers().encode()).hexdigest()
    entry, library = cache_folder() / f"{key}.cudart", folder / RUNTIME
    content = kept(entry)
    if content is not None:
        library.write_bytes(content)
        return library
    options = ["-std=c++17", *_HOST_OPTIONS, "-shared", f"-Wl,-soname,{RUNTIME}", "-isystem", str(include)]
    done = _run([host_compiler(), *options, "-o", str(library), str(_SOURCE)])
    if done.returncode:
        raise ProgramRefused(f"the emulator's CUDA runtime does not compile:\n{done.stderr}")
    keep(entry, library.read_bytes())
    return library


@functools.cache
def about_compilers() -> str:
    """Changes with nvcc, its headers, the host's compiler and where that looks, by variables too."""
    wheels = sorted(wheel.name for wheel in toolkit().parent.parent.glob("nvidia_*.dist-info"))
    return "\0".join([sys.platform, os.uname().machine, str(toolkit()), *wheels, _said_of_host()])


@functools.cache
def header_folders() -> tuple[Path, ...]:
    """Where headers of CUDA and of the system are looked for."""
    _, _, searched = _said_of_host().partition("#include <...> search starts here:\n")
    host = searched.partition("End of search list.")[0].splitlines()
    return (toolkit() / "include", *(Path(line.strip()) for line in host))


@functools.cache
def _said_of_host() -> str:
    """What the host's compiler tells of itself."""
    return _run([host_compiler(), "-E", "-v", "-x", "c++", os.devnull]).stderr

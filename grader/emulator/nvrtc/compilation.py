"""CUDA C++ to PTX and cubin, through the NVRTC of the `nvidia-cuda-nvrtc` wheel: no driver, no toolkit.

One version of NVRTC is everybody's, so that everybody counts the same PTX. Another, of CUDA 12, compiles for drivers
of CUDA 12, which do not load the first one's cubins.

The same source must give the same PTX bit for bit, or counters would differ from run to run. NVRTC's output
can depend on addresses and on what was compiled before, so each compilation has a process of its own, with
address-space randomisation off where the kernel allows it (some containers do not), a fixed working directory
and a small environment. It is confined to the compiler's own files: to a source, no other file exists.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import json
import marshal
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.areas import EMULATOR, fingerprint
from grader.emulator.cache import cache_folder, keep, kept
from grader.emulator.nvrtc import included
from grader.sandbox.box import Box
from grader.sandbox.start import end, how_it_ended, start

_HERE = Path(__file__).parent
_CHILD = "grader.emulator.nvrtc.child"
_OWN_HEADERS = _HERE / "include"
_COMPILE_SECONDS = 60.0
_COMPILE_BYTES = 4 << 30
"""Address space that NVRTC may take; teaching code takes less than one GiB, CuTe some two."""

PINNED = 13
"""The major version of CUDA whose NVRTC makes everybody's PTX and says everybody's registers."""


@dataclass(frozen=True)
class _Wheels:
    """The wheels of one major version of CUDA, and where they put things in the folder `nvidia`."""

    requirements: str
    libraries: str
    headers: tuple[str, ...]
    owners: tuple[tuple[str, tuple[str, ...]], ...]
    """Wheels with headers, and how the headers' names begin."""


_CCCL = ("cuda/", "cub/", "thrust/", "nv/")
_WHEELS = {
    13: _Wheels(
        "'nvidia-cuda-nvrtc==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*' "
        "'nvidia-cuda-cccl==13.0.*'",
        "cu13/lib",
        ("cu13/include", "cu13/include/cccl"),
        (("nvidia-cuda-crt", ("crt/",)), ("nvidia-cuda-cccl", _CCCL), ("nvidia-cuda-runtime", ("",))),
    ),
    12: _Wheels(
        "'nvidia-cuda-nvrtc-cu12==12.9.*' 'nvidia-cuda-runtime-cu12==12.9.*' 'nvidia-cuda-nvcc-cu12==12.9.*' "
        "'nvidia-cuda-cccl-cu12==12.9.*'",
        "cuda_nvrtc/lib",
        ("cuda_runtime/include", "cuda_nvcc/include", "cuda_cccl/include"),
        (
            ("nvidia-cuda-nvcc-cu12", ("crt/",)),
            ("nvidia-cuda-cccl-cu12", _CCCL),
            ("nvidia-cuda-runtime-cu12", ("",)),
        ),
    ),
}


ONE_A_WHEEL = ("cuda_fp16.h", "crt/mma.h", "cuda/std/climits")
"""A header of each of the wheels that have any."""


@dataclass(frozen=True)
class Resources:
    """What one kernel takes, as ptxas reports it; all but `registers` in bytes."""

    registers: int  # per thread
    shared_bytes: int  # static, per block
    local_bytes: int  # stack frame, per thread
    spill_store_bytes: int
    spill_load_bytes: int


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler."""

    file: str
    line: int  # counted from 1; 0 where the compiler names none
    severity: str  # "error", "warning", "remark"
    message: str
    excerpt: str  # the source line and the caret below it, as NVRTC prints them; may be empty


REFERENCE = re.compile(r"^(.+?)\((\d+)\): error: (texture|surface) is not a template$", re.MULTILINE)
"""What NVRTC and nvcc say where a texture or surface reference is declared, which CUDA 12 has no more."""


class CompileError(Exception):
    """NVRTC refused the source. `log` is its text, `diagnostics` the same taken apart."""

    def __init__(self, log: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(log)
        self.log = log
        self.diagnostics = diagnostics


class NvrtcNotFound(Exception):
    """The wheels with NVRTC and CUDA's headers are not installed."""


@dataclass(frozen=True)
class Build:
    """The result of one compilation."""

    name: str
    arch: str
    ptx: str
    cubin: bytes
    log: str
    lowered: dict[str, str]  # name expression → symbol
    resources: dict[str, Resources]  # by symbol

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the compiler has warned of, in the source and in what it includes."""
        return tuple(item for item in _diagnostics(self.log) if item.severity == "warning")

    def image(self, kind: str) -> bytes:
        """What `module_from_buffer` loads: PTX for the "emulator", the cubin for "pycuda".

        PTX does not say how many registers ptxas gave each kernel, so ptxas's report follows it as comments.
        """
        if kind == "emulator":
            report = [line for line in self.log.splitlines() if line.startswith("ptxas")]
            return (self.ptx.rstrip("\n") + "\n" + "".join(f"// {line}\n" for line in report)).encode()
        if kind == "pycuda":
            return self.cubin
        raise ValueError(f'image kind "{kind}": "emulator" or "pycuda"')


def build(
    source: str,
    *,
    name: str = "kernel.cu",
    arch: str = "sm_90a",
    name_expressions: Sequence[str] = (),
    options: Sequence[str] = (),
    cuda: int = PINNED,
) -> Build:
    """Compile `source` for `arch`, or take the result from the cache.

    `name` is what messages and line tables call the file (a bare file name, so that PTX does not depend on
    where the file lies). `name_expressions` are kernels to instantiate and look up, such as "gemm<128>".
    Functions without `__device__` are refused, as nvcc refuses to call them; pass "-default-device" in
    `options` to accept them. `cuda` is the major version of CUDA whose NVRTC compiles, 13 or 12.

    Raises CompileError, and NvrtcNotFound where the wheels are missing.
    """
    if "\0" in source:
        raise _failure("the source holds a NUL character, where the compiler would stop reading")
    toolkit = find_toolkit(cuda)
    arguments = _arguments(toolkit, arch, options)
    request: dict[str, object] = {
        "builtins": str(toolkit.builtins),
        "library": str(toolkit.library),
        "source": source.encode(),
        "name": name.encode(),
        "options": [argument.encode() for argument in arguments],
        "names": [expression.encode() for expression in name_expressions],
    }
    own_files = _own_files(source, options, toolkit)
    if own_files is None:
        return _compile(request, name, arch, toolkit, options)
    key = hashlib.sha256(
        marshal.dumps((fingerprint(EMULATOR), toolkit.fingerprint, own_files, sorted(request.items())), 2)
    )
    entry = cache_folder() / f"{key.hexdigest()}.build"
    found = _read_entry(entry)
    if found is None:
        found = _compile(request, name, arch, toolkit, options)
        _write_entry(entry, found)
    return found


def _own_files(source: str, options: Sequence[str], toolkit: Toolkit) -> str | None:
    """A digest of the files in the caller's folders that the source may include; None where that is not known."""
    if any(option.startswith(("-include", "--pre-include")) for option in options):
        return None
    folders = [_path_of(option) for option in options if option.startswith(("-I", "--include-path"))]
    if None in folders:
        return None
    own = [folder for folder in folders if folder]
    if not own:
        return ""
    found = included.files([(None, source)], own, toolkit.includes)
    return None if found is None else included.digest(found)


@dataclass(frozen=True)
class Toolkit:
    """The files of the wheels."""

    library: Path  # libnvrtc
    builtins: Path  # libnvrtc-builtins
    includes: tuple[Path, ...]  # our small standard headers first, then CUDA's
    fingerprint: str  # changes with NVRTC and with CUDA's headers


@functools.cache
def find_toolkit(cuda: int = PINNED) -> Toolkit:
    """Find NVRTC and the headers of one major version of CUDA among the installed wheels; raises NvrtcNotFound."""
    wheels = _WHEELS[cuda]
    # The wheels may lie in several folders of sys.path. `nvidia.__path__` would not say so: some wheels make a
    # regular package of `nvidia`, which hides what the other folders have.
    roots = [Path(entry, "nvidia").resolve() for entry in sys.path]
    for library in (root / wheels.libraries / f"libnvrtc.so.{cuda}" for root in roots):
        builtins = sorted(library.parent.glob(f"libnvrtc-builtins.so.{cuda}*"))
        if library.exists() and builtins:
            headers = [root / folder for root in roots for folder in wheels.headers]
            includes = dict.fromkeys([_OWN_HEADERS, *(folder for folder in headers if folder.is_dir())])
            return Toolkit(library, builtins[-1], tuple(includes), _fingerprint(library, roots))
    raise NvrtcNotFound(f"NVRTC {cuda} is not installed: pip install {wheels.requirements}")


def missing_headers(cuda: int = PINNED) -> list[tuple[str, str]]:
    """Of each wheel with headers one that is in none of the folders, and the wheel; raises NvrtcNotFound."""
    folders = find_toolkit(cuda).includes
    gone = [name for name in ONE_A_WHEEL if not any((folder / name).is_file() for folder in folders)]
    return [(name, owner_of(name, cuda)) for name in gone]


def owner_of(header: str, cuda: int = PINNED) -> str:
    """The wheel that has a header of CUDA's, by its name as it is included: "crt/mma.h"."""
    return next(owner for owner, begins in _WHEELS[cuda].owners if header.startswith(begins))


def requirements(cuda: int = PINNED) -> str:
    """The wheels of one major version of CUDA, as pip is told them."""
    return _WHEELS[cuda].requirements


def _fingerprint(library: Path, roots: Sequence[Path]) -> str:
    digest = hashlib.sha256(str(library.stat().st_size).encode())
    for wheel in sorted({wheel for root in roots for wheel in root.parent.glob("nvidia_cuda_*.dist-info")}):
        digest.update(wheel.name.encode())
    return digest.hexdigest()


def _arguments(toolkit: Toolkit, arch: str, options: Sequence[str]) -> list[str]:
    return [
        f"--gpu-architecture={arch}",
        "-std=c++17",
        "-lineinfo",
        "--device-int128",  # nvcc has __int128 unasked
        "--pre-include=cmath",  # nvcc includes these unasked: std::sqrt, INFINITY, uint
        "--pre-include=cstdlib",
        "--ptxas-options=-v",  # registers, shared memory and spills, in the log
        *options,  # the caller's folders before ours
        *(f"-I{folder}" for folder in toolkit.includes),
    ]


def _compile(
    request: dict[str, Any], name: str, arch: str, toolkit: Toolkit, options: Sequence[str]
) -> Build:
    answer = _ask_child(request, toolkit, options)
    log = answer["log"].decode(errors="replace").replace("\0", "")  # a NUL stands before ptxas's errors
    log = _COMPILE_TIME.sub("", log)  # the one line that differs from run to run
    if answer["status"]:
        diagnostics = _diagnostics(log)
        if _only_generic_lambdas(diagnostics) and _ANNOTATED not in request["options"]:
            annotated = request | {"options": [*request["options"], _ANNOTATED]}
            return _compile(annotated, name, arch, toolkit, options)
        raise CompileError(log, diagnostics)
    lowered = {key.decode(): symbol.decode() for key, symbol in answer["lowered"].items()}
    return Build(name, arch, answer["ptx"].decode(), answer["cubin"], log, lowered, resources_of(log))


_ANNOTATED = b"-default-device"
_GENERIC_LAMBDA = re.compile(r"\[[^\[\]]*\]\s*\([^()]*\bauto\b")


def _only_generic_lambdas(diagnostics: Sequence[Diagnostic]) -> bool:
    """Whether all that NVRTC complains of are generic lambdas without __device__, which nvcc takes for the device's."""
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    return bool(errors) and all(
        "without execution space annotations" in error.message and _GENERIC_LAMBDA.search(error.excerpt)
        for error in errors
    )


def _ask_child(request: dict[str, object], toolkit: Toolkit, options: Sequence[str]) -> dict[str, Any]:
    given = list(filter(None, map(_path_of, options)))
    box = Box(
        reads=tuple(map(str, (toolkit.library.parent, *toolkit.includes, *given))),
        foreign=not given,  # who names folders compiles code of their own, and may have them to themselves
        address_bytes=_COMPILE_BYTES,
        file_bytes=0,
        cpu_seconds=2 * int(_COMPILE_SECONDS),
    )
    process = start(
        box,
        _CHILD,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        within=_no_address_randomisation(),
    )
    with process:
        try:
            output, errors = process.communicate(marshal.dumps(request), timeout=_COMPILE_SECONDS)
        except subprocess.TimeoutExpired:
            raise _failure(f"NVRTC did not finish within {_COMPILE_SECONDS:.0f} s") from None
        finally:
            end(process)
    if process.returncode:
        last = errors.decode(errors="replace").strip().splitlines()[-1:]
        said = ": ".join([f"NVRTC ended with {how_it_ended(process.returncode)}", *last])
        raise _failure(said)
    try:
        answer: dict[str, Any] = marshal.loads(output)
    except (EOFError, ValueError, TypeError):
        raise _failure("NVRTC's process ended without an answer") from None
    return answer


def _path_of(option: str) -> str | None:
    """The folder that an option of the caller's adds to the search path."""
    found = re.fullmatch(r"(?:-I|--include-path=)\s*(.+)", option)
    return None if found is None else os.path.abspath(found[1])


def _failure(message: str) -> CompileError:
    return CompileError(message, (Diagnostic("", 0, "error", message, ""),))


@contextmanager
def _no_address_randomisation() -> Iterator[None]:
    """Processes started by this thread inside the block get the same addresses every time.

    The personality belongs to the calling thread alone and is inherited by its children, which spares a
    `preexec_fn` (unsafe with threads). Containers may refuse the call; a fresh process is then all there is.
    """
    query, no_randomize = 0xFFFFFFFF, 0x0040000
    libc = ctypes.CDLL(None)
    before = libc.personality(query)
    libc.personality(before | no_randomize)
    try:
        yield
    finally:
        libc.personality(before)


_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


def resources_of(log: str) -> dict[str, Resources]:
    """By kernel. Functions that were not inlined report stacks of their own, which are passed over."""
    found: dict[str, Resources] = {}
    kernel, stack, in_kernel = "", (0, 0, 0), False
    for line in log.splitlines():
        if entry := _ENTRY.search(line):
            kernel, stack = entry[1], (0, 0, 0)
        elif "Function properties for" in line:
            in_kernel = line.split()[-1] == kernel
        elif (frame := _STACK.search(line)) and in_kernel:
            stack = (int(frame[1]), int(frame[2]), int(frame[3]))
        elif used := _USED.search(line):
            shared = _SHARED.search(line)
            found[kernel] = Resources(int(used[1]), int(shared[1]) if shared else 0, *stack)
    return found


_COMPILE_TIME = re.compile(r"^ptxas info\s*: Compile time = .*\n?", re.M)
_MESSAGE = re.compile(r"(\S.*?)\((\d+)\): (?:catastrophic )?(error|warning|remark)[^:]*: (.*)")
_OTHER = re.compile(r"(nvrtc|ptxas)\b.*?(?:error|fatal)\s*: (.*)")


def _diagnostics(log: str) -> tuple[Diagnostic, ...]:
    found: list[Diagnostic] = []
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if message := _MESSAGE.match(line):
            below = itertools.takewhile(lambda text: text.startswith(" "), lines[number + 1 :])
            excerpt = textwrap.dedent("\n".join(below))
            file, line_number, severity, text = message.groups()
            found.append(Diagnostic(file, int(line_number), severity, text, excerpt))
        elif other := _OTHER.match(line):
            found.append(Diagnostic(other[1], 0, "error", other[2], ""))
    return tuple(found)


def _read_entry(path: Path) -> Build | None:
    """A cache entry is a line of JSON, then the PTX, then the cubin; anything unreadable counts as absent."""
    try:
        head, _, body = (kept(path) or b"").partition(b"\n")
        fields = json.loads(head)
        ptx_bytes = fields.pop("ptx_bytes")
        if len(body) != ptx_bytes + fields.pop("cubin_bytes"):
            return None
        fields["resources"] = {symbol: Resources(**used) for symbol, used in fields["resources"].items()}
        return Build(ptx=body[:ptx_bytes].decode(), cubin=body[ptx_bytes:], **fields)
    except (ValueError, KeyError, TypeError):
        return None


def _write_entry(path: Path, result: Build) -> None:
    ptx = result.ptx.encode()
    fields = asdict(result)
    del fields["ptx"], fields["cubin"]
    fields |= {"ptx_bytes": len(ptx), "cubin_bytes": len(result.cubin)}
    keep(path, json.dumps(fields).encode() + b"\n" + ptx + result.cubin)

"""`pycuda.compiler` on the emulator: `SourceModule` and `compile`, through NVRTC instead of nvcc.

NVRTC compiles device code alone, so options for the host compiler are passed over. Results are cached by
content (`$WARPLADDER_CACHE`), whatever `cache_dir` says. A source may include <pycuda-complex.hpp>, which is this
emulator's own. `DynamicModule` links pieces of source.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.nvrtc import compilation
from grader.emulator.ptx.linking import linked
from grader.emulator.pycuda_api.driver import CompileError, Function, Module, NotEmulated, module_from_buffer
from grader.emulator.pycuda_api.driver.emulation import emulation
from grader.emulator.pycuda_api.driver.errors import NO_REFERENCES, missing_name, no_references

DEFAULT_NVCC_FLAGS: list[str] = []

# nvcc's options that concern the host compiler or only what nvcc prints, and those NVRTC need not be told.
_PASSED_OVER = re.compile(
    r"-O\d?|-g|-m64|-v|--verbose|--keep|-W.*|-ccbin=.*|--compiler-bindir=.*|-Xcompiler=.*|--compiler-options=.*|"
    r"-res-usage|--resource-usage|--expt-relaxed-constexpr|--expt-extended-lambda|--extended-lambda"
)
_PASSED_OVER_WITH_VALUE = {"-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir", "-m", "-O"}
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]pycuda-(complex|helpers)\.hpp[>"].*$', re.MULTILINE)
_COMPLEX = Path(__file__).parent / "include" / "pycuda-complex.hpp"
_LINKING = re.compile(r"-rdc(=true)?|--relocatable-device-code.*|-dc|--device-c|-l.+|--library.*|-dlto")


def compile(
    source: str,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: Any = None,
    include_dirs: Sequence[str] | None = None,
    target: str = "cubin",
    *,
    relocatable: bool = False,
) -> bytes:
    """Compile CUDA C++ and return what `module_from_buffer` loads: PTX, for either `target`.

    The source is wrapped in extern "C" unless `no_extern_c`; line numbers count from its own first line.
    `arch` ("sm_80") is the emulated GPU's by default. `nvcc` and `cache_dir` are accepted for PyCUDA's sake.
    Code that is `relocatable` may be linked with other code, and its kernels may launch kernels. Raises CompileError
    with the compiler's own text.
    """
    if target not in ("cubin", "ptx"):
        raise NotEmulated(f"compile(target={target!r}): the emulator loads PTX; use target='ptx'")
    if not no_extern_c:
        source = f'extern "C" {{\n#line 1 "kernel.cu"\n{source}\n}}\n'
    source = _with_headers(source, 1 if no_extern_c else -1)
    wanted = _real_arch(code or arch) or emulation().arch
    nvrtc_options = [
        *_translated(options or DEFAULT_NVCC_FLAGS),
        *(f"-I{folder}" for folder in include_dirs or ()),
        *(["-rdc=true"] if relocatable else []),
    ]
    try:
        build = compilation.build(source, name="kernel.cu", arch=wanted, options=nvrtc_options)
    except compilation.CompileError as error:
        command = ["nvrtc", f"-arch={wanted}", *nvrtc_options, "kernel.cu"]
        declared = compilation.REFERENCE.search(error.log)
        why = f": {declared[1]}({declared[2]}): {NO_REFERENCES}" if declared else ""
        raise CompileError(f"compilation of kernel.cu failed{why}", command, stderr=error.log) from None
    _warn(build.log)
    if keep:
        print(f"*** compiler output in {_kept(source, build)}")
    return build.image("emulator")


def _with_headers(source: str, first_line: int) -> str:
    """The source with PyCUDA's headers put in: a folder of headers would keep the build out of the cache."""

    def content(found: re.Match[str]) -> str:
        if found[1] == "helpers":
            raise no_references("pycuda-helpers.hpp")
        following = first_line + source[: found.start()].count("\n") + 1
        return f'#line 1 "pycuda-complex.hpp"\n{_COMPLEX.read_text()}#line {following} "kernel.cu"'

    return _INCLUDED.sub(content, source)


def _real_arch(arch: str | None) -> str | None:
    """NVRTC makes the resource report for real architectures only: compute_80 becomes sm_80."""
    return arch.replace("compute_", "sm_") if arch else None


def _translated(options: Sequence[str]) -> Iterator[str]:
    """nvcc's options as NVRTC takes them. Raises NotEmulated for what needs a linker."""
    remaining = iter(options)
    for option in remaining:
        if option in _PASSED_OVER_WITH_VALUE:
            next(remaining, None)
        elif _LINKING.fullmatch(option) and option != "-lineinfo":
            raise NotEmulated(f"compiler option {option}: linking device code is DynamicModule's")
        elif not _PASSED_OVER.fullmatch(option):
            yield option


def _warn(log: str) -> None:
    """PyCUDA passes on whatever a successful compiler says; here that leaves out ptxas's report."""
    said = "\n".join(line for line in log.splitlines() if not line.startswith(("ptxas info", "    ")))
    if "warning" in said:
        warnings.warn(f"The CUDA compiler succeeded, but said the following:\n{log}", stacklevel=4)


def _kept(source: str, build: compilation.Build) -> Path:
    folder = Path(tempfile.mkdtemp())
    (folder / "kernel.cu").write_text(source)
    (folder / "kernel.ptx").write_text(build.ptx)
    (folder / "kernel.cubin").write_bytes(build.cubin)
    return folder


class SourceModule:
    """A module compiled from CUDA C++ source."""

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
    ) -> None:
        image = compile(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        self.module: Module = module_from_buffer(image)
        self.get_global = self.module.get_global
        self.get_texref = self.module.get_texref
        self.get_surfref = self.module.get_surfref

    def get_function(self, name: str) -> Function:
        return self.module.get_function(name)


_RELOCATABLE = ["-rdc=true", "-lcudadevrt"]
"""The options that a piece to be linked needs, and the library of the device runtime, which is always there."""


class DynamicModule:
    """A module linked from pieces of CUDA C++ source, whose kernels may launch kernels.

    What a kernel launches runs after it has ended. Pieces of anything but source are refused, and libraries other than
    cudadevrt.
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: Any = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
        message_handler: Any = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ) -> None:
        self._settings: tuple[Any, ...] = keep, no_extern_c, arch, code, cache_dir, include_dirs
        self._pieces: list[bytes] = []
        self.module: Module | None = None

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        options = [option for option in nvcc_options or DEFAULT_NVCC_FLAGS if option not in _RELOCATABLE]
        self._pieces.append(compile(source, "nvcc", options, *self._settings, relocatable=True))
        return self

    def add_stdlib(self, libname: str) -> DynamicModule:
        if libname != "cudadevrt":
            raise NotEmulated(f"DynamicModule.add_stdlib({libname!r}): cudadevrt is all there is")
        return self

    def add_data(self, *_arguments: Any, **_named: Any) -> NoReturn:
        raise NotEmulated("DynamicModule.add_data: pieces of machine code are not emulated; use add_source")

    def add_file(self, *_arguments: Any, **_named: Any) -> NoReturn:
        raise NotEmulated("DynamicModule.add_file: files of machine code are not emulated; use add_source")

    def link(self) -> DynamicModule:
        """Raises NotEmulated where two pieces define the same name."""
        try:
            self.module = module_from_buffer(linked([piece.decode() for piece in self._pieces]).encode())
        except UnsupportedPtx as error:
            raise NotEmulated(f"DynamicModule.link: {error}") from None
        self.get_global = self.module.get_global
        self.get_texref = self.module.get_texref
        self.get_surfref = self.module.get_surfref
        return self

    def get_function(self, name: str) -> Function:
        if self.module is None:
            raise NotEmulated("DynamicModule.get_function: call link() first")
        return self.module.get_function(name)


class DynamicSourceModule(DynamicModule):
    """A module of one piece of source, whose kernels may launch kernels."""

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
        cuda_libdir: str | None = None,
    ) -> None:
        super().__init__(nvcc, None, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        self.add_source(source, options)
        self.add_stdlib("cudadevrt")
        self.link()


def __getattr__(name: str) -> Any:
    raise missing_name(
        f"pycuda.compiler.{name} is not emulated; emulated are SourceModule, DynamicModule and compile"
    )

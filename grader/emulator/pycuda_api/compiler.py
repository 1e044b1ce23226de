"""`pycuda.compiler` on the emulator: `SourceModule` and `compile`, through NVRTC instead of nvcc.

NVRTC compiles device code alone, so options for the host compiler are passed over. Results are cached by
content (`$WARPLADDER_CACHE`), whatever `cache_dir` says. `DynamicModule` and the linker are missing.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.emulator.nvrtc import compilation
from grader.emulator.pycuda_api.driver import CompileError, Function, Module, NotEmulated, module_from_buffer
from grader.emulator.pycuda_api.driver.emulation import emulation

DEFAULT_NVCC_FLAGS: list[str] = []

# nvcc's options that concern the host compiler or only what nvcc prints, and those NVRTC need not be told.
_PASSED_OVER = re.compile(
    r"-O\d?|-g|-m64|-v|--verbose|--keep|-W.*|-ccbin=.*|--compiler-bindir=.*|-Xcompiler=.*|--compiler-options=.*|"
    r"-res-usage|--resource-usage|--expt-relaxed-constexpr|--expt-extended-lambda|--extended-lambda"
)
_PASSED_OVER_WITH_VALUE = {"-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir", "-m", "-O"}
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
) -> bytes:
    """Compile CUDA C++ and return what `module_from_buffer` loads: PTX, for either `target`.

    The source is wrapped in extern "C" unless `no_extern_c`; line numbers count from its own first line.
    `arch` ("sm_80") is the emulated GPU's by default. `nvcc` and `cache_dir` are accepted for PyCUDA's sake.
    Raises CompileError with the compiler's own text.
    """
    if target not in ("cubin", "ptx"):
        raise NotEmulated(f"compile(target={target!r}): the emulator loads PTX; use target='ptx'")
    if not no_extern_c:
        source = f'extern "C" {{\n#line 1 "kernel.cu"\n{source}\n}}\n'
    wanted = _real_arch(code or arch) or emulation().arch
    nvrtc_options = [
        *_translated(options or DEFAULT_NVCC_FLAGS),
        *(f"-I{folder}" for folder in include_dirs or ()),
    ]
    try:
        build = compilation.build(source, name="kernel.cu", arch=wanted, options=nvrtc_options)
    except compilation.CompileError as error:
        command = ["nvrtc", f"-arch={wanted}", *nvrtc_options, "kernel.cu"]
        raise CompileError("compilation of kernel.cu failed", command, stderr=error.log) from None
    _warn(build.log)
    if keep:
        print(f"*** compiler output in {_kept(source, build)}")
    return build.image("emulator")


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
            raise NotEmulated(f"compiler option {option}: linking device code is not emulated")
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


def __getattr__(name: str) -> Any:
    raise AttributeError(f"pycuda.compiler.{name} is not emulated; emulated are SourceModule and compile")

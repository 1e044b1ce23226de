"""Modules: loading them, and what is in them."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader.emulator.errors import PtxSyntaxError, UnsupportedPtx
from grader.emulator.machine.machine import LoadedModule
from grader.emulator.pycuda_api.driver.context import context_for
from grader.emulator.pycuda_api.driver.conversion import host_bytes
from grader.emulator.pycuda_api.driver.emulation import in_context
from grader.emulator.pycuda_api.driver.errors import NotEmulated, Status, failure, no_references
from grader.emulator.pycuda_api.driver.function import Function

_TARGET = re.compile(rb"^\s*\.target\s+sm_(\d+)", re.MULTILINE)
_CONSTANT = re.compile(rb"^(?:\.\w+ )?\.const .*?\.[busf](\d+) [\w$]+(?:\[(\d+)\])?", re.MULTILINE)


class Module:
    """Code on the device, from `module_from_buffer`, `module_from_file` or `SourceModule`."""

    def __init__(self, loaded: LoadedModule, image: bytes) -> None:
        machine = context_for(self).owner.machine
        self._loaded = loaded
        weakref.finalize(self, machine.unload, loaded).atexit = False
        target = _TARGET.search(image)
        self._version = int(target[1]) if target else 0  # ten times the compute capability
        self._constant_bytes = sum(int(bits) // 8 * int(n or 1) for bits, n in _CONSTANT.findall(image))

    def get_function(self, name: str) -> Function:
        """The kernel `name`. Raises LogicError listing the kernels there are."""
        kernel = self._loaded.kernels.get(name)
        if kernel is None:
            raise _not_found("cuModuleGetFunction", "kernel", name, self._loaded.kernels)
        return Function(kernel, self, version=self._version, constant_bytes=self._constant_bytes)

    def get_global(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a `__device__` or `__constant__` variable."""
        found = self._loaded.globals.get(name)
        if found is None:
            raise _not_found("cuModuleGetGlobal", "variable", name, self._loaded.globals)
        return found

    def get_texref(self, name: str) -> Any:
        raise no_references(f"Module.get_texref({name!r})")

    def get_surfref(self, name: str) -> Any:
        raise no_references(f"Module.get_surfref({name!r})")


def _not_found(routine: str, kind: str, name: str, there: Any) -> Exception:
    return failure(
        routine,
        Status.NOT_FOUND,
        f'no {kind} "{name}"; there are: {", ".join(sorted(there)) or "none"}. A name that looks mangled '
        'needs extern "C" in the source',
    )


def module_from_buffer(
    buffer: Any,
    options: Sequence[tuple[Any, int]] = (),
    message_handler: Callable[[bool, str, str], None] | None = None,
) -> Module:
    """Load PTX text. `options` tune CUDA's own PTX compiler, which the emulator has not: they have no effect.

    Raises NotEmulated for machine code, and for instructions the emulator does not know.
    """
    image = host_bytes(buffer).tobytes().rstrip(b"\0")
    emulation = in_context("cuModuleLoadDataEx")
    if image.startswith(b"\x7fELF"):
        raise NotEmulated("module_from_buffer: machine code (a cubin) is not emulated; compile to PTX")
    target = _TARGET.search(image)
    major, minor = emulation.device.compute_capability
    if target and int(target[1]) > 10 * major + minor:
        detail = f"the code is for sm_{target[1].decode()}, the emulated GPU is {emulation.device.arch}"
        raise failure("cuModuleLoadDataEx", Status.NO_BINARY_FOR_GPU, detail)
    try:
        loaded = emulation.machine.load(image)
    except UnsupportedPtx as error:
        raise NotEmulated(str(error)) from None
    except PtxSyntaxError as error:
        if message_handler:
            message_handler(False, "", str(error))
        raise failure("cuModuleLoadDataEx", Status.INVALID_PTX, str(error)) from None
    if message_handler:
        message_handler(True, "", "")
    return Module(loaded, image)


def module_from_file(filename: str) -> Module:
    """Load a file of PTX."""
    try:
        image = Path(filename).read_bytes()
    except OSError as error:
        raise failure("cuModuleLoad", Status.FILE_NOT_FOUND, str(error)) from None
    return module_from_buffer(image)

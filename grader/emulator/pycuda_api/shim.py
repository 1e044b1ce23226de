"""Puts the emulator's modules where `import pycuda` finds them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MODULES = {
    "pycuda": "grader.emulator.pycuda_api.pycuda",
    "pycuda.driver": "grader.emulator.pycuda_api.driver",
    "pycuda.compiler": "grader.emulator.pycuda_api.compiler",
    "pycuda.tools": "grader.emulator.pycuda_api.tools",
    "pycuda.gpuarray": "grader.emulator.pycuda_api.gpuarray",
    "pycuda.elementwise": "grader.emulator.pycuda_api.elementwise",
    "pycuda.reduction": "grader.emulator.pycuda_api.reduction",
    "pycuda.cumath": "grader.emulator.pycuda_api.cumath",
    "pycuda.curandom": "grader.emulator.pycuda_api.curandom",
    "pycuda.scan": "grader.emulator.pycuda_api.scan",
    "pycuda.characterize": "grader.emulator.pycuda_api.characterize",
    "pycuda.autoinit": "grader.emulator.pycuda_api.autoinit",
    "pycuda.autoprimaryctx": "grader.emulator.pycuda_api.autoprimaryctx",
}
"""PyCUDA's modules by name, each with the emulator's that takes its place."""

NOT_EMULATED = {
    "cupy": "CuPy",
    "numba.cuda": "Numba's CUDA",
    "triton": "Triton",
    "cuda.core": "CUDA Python",
    "cuda.bindings": "CUDA Python",
    "cuda.cuda": "CUDA Python",
    "cuda.cudart": "CUDA Python",
    "cuda.nvrtc": "CUDA Python",
    "cuda.tile": "CUDA's tile language",
}
"""Modules that need a GPU as PyCUDA does, by their names in prose: without one they fail in the middle of a script."""

_RUN_ANEW = {"pycuda", "pycuda.autoinit", "pycuda.autoprimaryctx"}
"""Modules that do something when imported, so that every `emulated_pycuda` imports them again."""


class NotEmulatedModule(ModuleNotFoundError):
    """A script imports what needs a GPU. `module` is a key of NOT_EMULATED."""

    def __init__(self, module: str) -> None:
        super().__init__(
            f"{NOT_EMULATED[module]} is not emulated"
        )  # without a name: `from … import` passes over those
        self.module = module


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for module in NOT_EMULATED:
            if _lies_in(fullname, module):
                raise NotEmulatedModule(module)
        if not _lies_in(fullname, "pycuda"):
            return None
        if fullname not in MODULES:
            emulated = ", ".join(name for name in MODULES if "." in name)
            raise ModuleNotFoundError(f"{fullname} is not emulated; emulated are {emulated}", name=fullname)
        if fullname in _RUN_ANEW:
            found = importlib.util.find_spec(MODULES[fullname])
            assert found is not None
            spec = importlib.util.spec_from_file_location(fullname, found.origin)
            assert spec is not None
            spec.submodule_search_locations = [] if fullname == "pycuda" else None
            return spec
        return ModuleSpec(fullname, _Loader())


class _Loader(Loader):
    """Loads a name as the emulator's module of it."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(MODULES[module.__name__])


@contextmanager
def emulated_pycuda() -> Iterator[None]:
    """Inside the block, `import pycuda` gives the emulator, also where PyCUDA is installed, and imported already."""
    finder = _Finder()
    hidden = _take_out()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _take_out()
        sys.modules.update(hidden)


def _take_out() -> dict[str, ModuleType]:
    hidden = ("pycuda", *NOT_EMULATED)
    names = [name for name in sys.modules if any(_lies_in(name, module) for module in hidden)]
    return {name: sys.modules.pop(name) for name in names}


def _lies_in(name: str, module: str) -> bool:
    return f"{name}.".startswith(f"{module}.")

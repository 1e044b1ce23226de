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

NOT_EMULATED = {"cupy": "CuPy"}
"""Packages that need a GPU as PyCUDA does, by their names in prose: without one they fail in the middle of a script."""

_RUN_ANEW = {"pycuda", "pycuda.autoinit", "pycuda.autoprimaryctx"}
"""Modules that do something when imported, so that every `emulated_pycuda` imports them again."""


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = fullname.partition(".")[0]
        if package in NOT_EMULATED:
            raise ModuleNotFoundError(f"{NOT_EMULATED[package]} is not emulated", name=package)
        if package != "pycuda":
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
    names = [name for name in sys.modules if name.partition(".")[0] in ("pycuda", *NOT_EMULATED)]
    return {name: sys.modules.pop(name) for name in names}

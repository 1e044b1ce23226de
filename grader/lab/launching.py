"""Kernels of one's own: launched through PyCUDA's API on whatever device there is, or counted on the emulator."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from grader import cuda
from grader.analysis.devices import capability
from grader.analysis.occupancy import occupancy
from grader.cuda import Cuda
from grader.emulator.machine.records import by_line
from grader.emulator.nvrtc.compilation import PINNED, Build, Resources
from grader.errors import WarpladderError
from grader.findings import kernels
from grader.lab.cells import Cell, cell
from grader.lab.counts import About, Counts
from grader.results import LineProfile
from grader.workbook import compiler, units
from grader.workbook.content import name_of

_TEMPLATES = re.compile(r"\btemplate\s*<[^;{}]*>\s*__global__\b[^;{]*?\b(?!__launch_bounds__)(\w+)\s*\(")
"""The names of templates of kernels, as far as plain text shows them."""

_modules: dict[tuple[str, str, str | None], Any] = {}  # kept, because a function dies with its module


@functools.cache
def device() -> Cuda:
    """The device of this notebook: a GPU where PyCUDA finds one, else the emulator; the same at every call.

    `.driver` is `pycuda.driver` or the emulator's, `.kind` is "gpu" or "emulator".
    """
    return cuda.select()


@functools.cache
def _emulator() -> Cuda:
    """The emulator, beside a GPU where there is one."""
    return device() if device().kind == "emulator" else cuda.select("emulator")


def build(name: str, kernel: str | None = None, arch: str | None = None) -> Build:
    """The kernel NAME compiled: its PTX, its cubin and what it takes. `kernel` is an instance, such as "scale<4>".

    Raises WarpladderError with the compiler's words.
    """
    return _build(name, kernel, arch or device().arch, PINNED)


def _build(name: str, kernel: str | None, arch: str, cuda: int) -> Build:
    kept = cell(name)
    names = [kernel] if kernel else plain_kernels(kept)
    file = Path(name_of(kept.path))
    return compiler.compile_source(kept.text, file=file, kernels=names, arch=arch, cuda=cuda)


def function(name: str, kernel: str | None = None) -> Any:
    """A kernel of the cell NAME on the device, to be launched as PyCUDA's functions are.

    `kernel` says which, where the cell has several, or which instance of a template, such as "scale<4>".
    Raises WarpladderError for a kernel that is not there or does not compile.
    """
    return _function(name, kernel, device())


def _function(name: str, kernel: str | None, on: Cuda) -> Any:
    built = _build(name, kernel, on.arch, on.cubins)
    symbol = _symbol(built, kernel, name)
    key = (cell(name).text, on.kind, kernel)
    if key not in _modules:
        image = built.image("pycuda" if on.kind == "gpu" else "emulator")
        _modules[key] = on.driver.module_from_buffer(image)
    return _modules[key].get_function(symbol)


def count(
    name: str,
    /,
    *args: Any,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    shared: int = 0,
    kernel: str | None = None,
) -> Counts:
    """Launch a kernel of the cell NAME on the emulator and count what it does.

    `args` are the kernel's, in its order: NumPy arrays, which it reads and writes in place; NumPy scalars such as
    np.int32(n); PyCUDA's In, Out and InOut. `shared` is dynamic shared memory in bytes. Raises WarpladderError as
    `function` does, and the driver's errors for a launch that is refused or traps.
    """
    on = _emulator()
    launch = _function(name, kernel, on)
    on.ext.launch_records()
    launch(
        *(_on_emulator(item, on.driver) for item in args),
        grid=_three(grid),
        block=_three(block),
        shared=shared,
    )
    [found] = on.ext.launch_records()
    return _counts(name, found, build(name, kernel, on.arch).resources[found.kernel])


def _on_emulator(item: Any, driver: ModuleType) -> Any:
    """An argument for the emulator's launch: host arrays go there and come back."""
    array = getattr(item, "array", item)
    return driver.InOut(array) if isinstance(array, np.ndarray) else item


def _counts(name: str, found: Any, used: Resources) -> Counts:
    sm = capability(_emulator().arch)
    resident = occupancy(sm, prod(found.block), found.registers, found.shared_bytes)
    about = About(
        name=name,
        where=f"grid {units.axes(found.grid)}, block {units.axes(found.block)}",
        registers=found.registers,
        spill_bytes=used.spill_store_bytes + used.spill_load_bytes,
        shared_bytes=found.shared_bytes,
        occupancy=resident.fraction,
        dram_bytes=found.dram_read_bytes + found.dram_write_bytes,
        lines=_lines(name, found),
        findings=tuple(kernels.result(item, name) for item in found.findings),
    )
    return Counts(found.counters, about)


def _lines(name: str, found: Any) -> tuple[LineProfile, ...]:
    text = cell(name).text.splitlines()
    return tuple(
        LineProfile(line, text[line - 1].strip() if 0 < line <= len(text) else "", counters)
        for line, counters in by_line(found.lines).items()
    )


def plain_kernels(kept: Cell) -> list[str]:
    """The kernels of a cell that are no templates; raises WarpladderError where there is no kernel at all."""
    names = compiler.declared_kernels(kept.text)
    if not names:
        raise WarpladderError(
            "the cell has no kernel", file=kept.path.name, remedy="write a __global__ function"
        )
    return [name for name in names if name not in _TEMPLATES.findall(kept.text)]


def _symbol(built: Build, kernel: str | None, name: str) -> str:
    """The symbol of the kernel asked for, or of the only one."""
    if kernel is None and len(built.lowered) != 1:
        known = ", ".join(built.lowered) or "an instance of its templates"
        raise WarpladderError(f"`{name}` has no single kernel", remedy=f'say kernel="…": {known}')
    return built.lowered[kernel] if kernel else next(iter(built.lowered.values()))


def _three(extents: int | Sequence[int]) -> tuple[int, int, int]:
    """Blocks or threads in x, y and z."""
    given = [extents] if isinstance(extents, int) else list(extents)
    x, y, z = (*given, *[1] * (3 - len(given)))
    return x, y, z

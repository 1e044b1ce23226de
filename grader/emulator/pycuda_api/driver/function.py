"""Kernels and their launches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from grader.emulator.devices import max_active_blocks
from grader.emulator.errors import (
    ClusterRefused,
    LaunchRefused,
    OutOfRoom,
    TooManyBlocks,
    TooManyRegisters,
    UnsupportedPtx,
)
from grader.emulator.machine.children import DEEPEST
from grader.emulator.machine.machine import Kernel, LaunchRecord
from grader.emulator.machine.records import NOT_COMPLETED
from grader.emulator.pycuda_api.driver import arguments
from grader.emulator.pycuda_api.driver.constants import func_cache, function_attribute
from grader.emulator.pycuda_api.driver.context import Context
from grader.emulator.pycuda_api.driver.conversion import unsigned
from grader.emulator.pycuda_api.driver.emulation import Emulation, emulation, in_context
from grader.emulator.pycuda_api.driver.errors import NotEmulated, Status, failure, no_references
from grader.emulator.pycuda_api.driver.stream import Event, Stream, in_order

_HINTS = {"arg_format": ": call prepare() first", "texrefs": ": call prepare() first"}


@dataclass(frozen=True)
class Together:
    """Which blocks of a launch are under way at the same time."""

    cluster: tuple[int, int, int] | None = None
    """Blocks of a cluster in each direction; None for what the kernel declares."""
    cooperative: bool = False
    """All of them, which may synchronise."""


class Function:
    """A kernel of a module."""

    arg_format: str
    texrefs: Sequence[Any]

    def __init__(self, kernel: Kernel, module: object, *, version: int, constant_bytes: int) -> None:
        self._kernel = kernel
        self._module = module  # its variables must live as long as the kernel can run
        static = emulation().device.attributes["max_shared_memory_per_block"] - kernel.static_shared_bytes
        self._attributes = {
            function_attribute.MAX_THREADS_PER_BLOCK: _most_threads(kernel),
            function_attribute.SHARED_SIZE_BYTES: kernel.static_shared_bytes,
            function_attribute.CONST_SIZE_BYTES: constant_bytes,
            function_attribute.LOCAL_SIZE_BYTES: kernel.local_bytes,
            function_attribute.NUM_REGS: kernel.registers,
            function_attribute.PTX_VERSION: version,
            function_attribute.BINARY_VERSION: version,
            function_attribute.CACHE_MODE_CA: 0,
            function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES: max(static, 0),
            function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT: -1,
        }

    def get_attribute(self, attr: function_attribute) -> int:
        if not isinstance(attr, function_attribute):
            raise TypeError(f"get_attribute: a function_attribute is needed, not {type(attr).__name__}")
        return self._attributes[attr]

    def __getattr__(self, name: str) -> int:
        """`num_regs`, `shared_size_bytes` and the like."""
        attribute = function_attribute.names.get(name.upper())
        if attribute is None:
            raise AttributeError(f"a Function has no attribute {name!r}{_HINTS.get(name, '')}")
        return self.get_attribute(attribute)

    def set_attribute(self, attr: function_attribute, value: int) -> None:
        """Set MAX_DYNAMIC_SHARED_SIZE_BYTES, which a launch with more than 48 KiB needs, or the carve-out."""
        if not isinstance(attr, function_attribute):
            raise TypeError(f"set_attribute: a function_attribute is needed, not {type(attr).__name__}")
        if attr is function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES:
            most = emulation().device.attributes["max_shared_memory_per_block_optin"]
            most -= self._kernel.static_shared_bytes
            if unsigned(value, "set_attribute: value", 31) > most:
                detail = f"this kernel can have {most} bytes of dynamic shared memory, {value} were asked for"
                raise failure("cuFuncSetAttribute", Status.INVALID_VALUE, detail)
        elif attr is not function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT:
            raise failure("cuFuncSetAttribute", Status.INVALID_VALUE, f"{attr} cannot be set")
        self._attributes[attr] = value

    def set_cache_config(self, config: func_cache) -> None:
        """Accepted, without effect on the emulator."""
        if not isinstance(config, func_cache):
            raise TypeError(f"set_cache_config: a func_cache is needed, not {type(config).__name__}")

    def param_set_texref(self, texref: Any) -> None:
        raise no_references("Function.param_set_texref")

    def __call__(
        self,
        *args: Any,
        grid: tuple[int, ...] = (1, 1),
        block: tuple[int, int, int] | None = None,
        shared: int = 0,
        stream: Stream | None = None,
        texrefs: Sequence[Any] = (),
        time_kernel: bool = False,
        **unknown: Any,
    ) -> float | None:
        """Launch. With `time_kernel`, wait and return the seconds it took by the host's clock."""
        if unknown:
            raise ValueError(f"extra keyword arguments: {','.join(unknown)}")
        if block is None:
            raise ValueError("must specify block size")
        self._check_block_shape(block)
        handlers, buffer = arguments.build(args)
        for handler in handlers:
            handler.pre_call(stream)
        for texref in texrefs:
            self.param_set_texref(texref)
        if stream is not None and time_kernel:
            raise AssertionError("Can't time the kernel on an asynchronous invocation")
        start = time.time()
        self._launch_kernel(grid, block, buffer, shared, stream)
        if stream is None and time_kernel:
            Context.synchronize()
        elapsed = time.time() - start
        for handler in handlers:
            if isinstance(handler, arguments.Out):
                handler.post_call(stream)
        return elapsed if time_kernel else None

    def launch_together(
        self, *args: Any, grid: tuple[int, ...], block: tuple[int, int, int], shared: int, together: Together
    ) -> None:
        """Launch in the default stream, as cuLaunchKernelEx does with attributes and a pointer to each argument, which
        comes to lie where the kernel's parameter does."""
        self._check_block_shape(block)
        handlers, buffer = arguments.build_apart(
            args, [(each.offset, each.nbytes) for each in self._kernel.params]
        )
        for handler in handlers:
            handler.pre_call(None)
        self._launch_kernel(grid, block, buffer, shared, None, together)
        for handler in handlers:
            if isinstance(handler, arguments.Out):
                handler.post_call(None)

    def prepare(self, arg_types: str | Sequence[npt.DTypeLike], texrefs: Sequence[Any] = ()) -> Function:
        """Fix the argument types for the prepared calls: a format string, or a type an argument."""
        self.texrefs = texrefs
        self.arg_format = arguments.prepared_format(arg_types)
        return self

    def prepared_call(self, grid: Any, block: Any, *args: Any, shared_size: int = 0, **unknown: Any) -> None:
        """Launch with the types fixed by `prepare`."""
        self._check_block_shape(block)
        self._prepared_launch(grid, block, args, shared_size, None, unknown)

    def prepared_async_call(
        self, grid: Any, block: Any, stream: Any, *args: Any, shared_size: int = 0, **unknown: Any
    ) -> None:
        """Launch in a stream with the types fixed by `prepare`."""
        self._check_block_shape(block)
        self._prepared_launch(grid, block, args, shared_size, stream, unknown)

    def prepared_timed_call(
        self, grid: Any, block: Any, *args: Any, shared_size: int = 0, **unknown: Any
    ) -> Callable[[], float]:
        """Launch; returns a function that waits and gives the seconds it took, by events."""
        start, end = Event(), Event()
        start.record()
        self._prepared_launch(grid, block, args, shared_size, None, unknown)
        end.record()
        return lambda: end.synchronize().time_since(start) * 1e-3

    def _prepared_launch(
        self, grid: Any, block: Any, args: Any, shared: int, stream: Any, unknown: dict[str, Any]
    ) -> None:
        if unknown:
            raise TypeError(f"unknown keyword arguments: {', '.join(unknown)}")
        for texref in self.texrefs:
            self.param_set_texref(texref)
        self._launch_kernel(grid, block, arguments.pack(self.arg_format, *args), shared, stream)

    def _check_block_shape(self, block: Any) -> None:
        """PyCUDA sets the block shape on the function first, through a call that wants three Python ints."""
        if len(block) != 3:
            raise TypeError(f"block must have three entries, (x, y, z), not {block!r}")
        shape = [unsigned(size, "block", 32) for size in block]
        limits = emulation().device.attributes
        for size, axis in zip(shape, "xyz", strict=True):
            if not 1 <= size <= limits[f"max_block_dim_{axis}"]:
                detail = f"block {block}: {axis} must be 1 to {limits[f'max_block_dim_{axis}']}"
                raise failure("cuFuncSetBlockShape", Status.INVALID_VALUE, detail)
        threads = math.prod(shape)
        if threads > limits["max_threads_per_block"]:
            detail = f"block {block} has {threads} threads, at most {limits['max_threads_per_block']} can be"
            raise failure("cuFuncSetBlockShape", Status.INVALID_VALUE, detail)

    def _launch_kernel(
        self,
        grid: Any,
        block: Any,
        parameters: bytes,
        shared: int,
        stream: Any,
        together: Together | None = None,
    ) -> None:
        grid, block = _dimensions(grid, "grid"), _dimensions(block, "block")
        dynamic = unsigned(shared, "shared", 32)
        owner = in_context("cuLaunchKernel")
        self._check_parameters(parameters)
        self._check_shared(dynamic)
        in_order(
            stream,
            lambda: _launch(owner, self._kernel, grid, block, parameters, dynamic, together),
            lambda recorder: recorder.launch(
                self._kernel.name, (grid, block, dynamic), self._arguments(parameters), stream
            ),
        )

    def _arguments(self, parameters: bytes) -> list[bytes]:
        """The parameter buffer, cut into its parameters."""
        return [parameters[each.offset : each.offset + each.nbytes] for each in self._kernel.params]

    def _check_parameters(self, parameters: bytes) -> None:
        wanted = max((each.offset + each.nbytes for each in self._kernel.params), default=0)
        if len(parameters) != wanted:
            sizes = ", ".join(str(each.nbytes) for each in self._kernel.params) or "none"
            detail = (
                f"{self._kernel.name} takes {wanted} bytes of arguments ({sizes}), "
                f"{len(parameters)} were given: check their number and types"
            )
            # The driver takes too few bytes and lets the kernel read what lies behind; this one does not.
            too_many = len(parameters) > wanted
            status = Status.LAUNCH_OUT_OF_RESOURCES if too_many else Status.INVALID_VALUE
            raise failure("cuLaunchKernel", status, detail)

    def _check_shared(self, dynamic: int) -> None:
        most = self._attributes[function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES]
        if dynamic > most:
            detail = (
                f"{self._kernel.name} may have {most} bytes of dynamic shared memory, {dynamic} were asked "
                "for; set_attribute(function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, …) allows more"
            )
            raise failure("cuLaunchKernel", Status.INVALID_VALUE, detail)


def _dimensions(value: Any, what: str) -> tuple[int, int, int]:
    if not isinstance(value, tuple):
        raise TypeError(f"{what} must be a tuple of ints, not {type(value).__name__}")
    if len(value) > 3:
        raise failure(
            "function::launch_kernel", Status.INVALID_HANDLE, f"too many {what} dimensions in kernel launch"
        )
    x, y, z = (*(unsigned(size, what, 32) for size in value), 1, 1, 1)[:3]
    return x, y, z


def _launch(
    owner: Emulation,
    kernel: Kernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    parameters: bytes,
    shared: int,
    together: Together | None,
    depth: int = 0,
) -> None:
    """Run the kernel now, then what it launches, and keep their records. A launch that is refused leaves none."""
    routine = "cuLaunchKernelEx" if together else "cuLaunchKernel"
    together = together or Together()
    if depth > DEEPEST:
        raise NotEmulated(f"{kernel.name}: kernels that launch kernels more than {DEEPEST} deep")
    try:
        with owner.busy:
            record = owner.machine.launch(
                kernel,
                grid=grid,
                block=block,
                params=parameters,
                shared_bytes=shared,
                budget=owner.budget,
                blocks=None if depth else owner.blocks,
                enough=None if depth else owner.enough,
                order=owner.order,
                traced=None if depth else owner.traced,
                watch=owner.watch,
                cooperative=together.cooperative,
                cluster=together.cluster,
                non_portable=together.cluster is not None,
            )
            owner.records.append(record)
            children = owner.machine.children(kernel.module)
    except LaunchRefused as error:
        status = next(
            (_REFUSALS[kind] for kind in _REFUSALS if isinstance(error, kind)), Status.INVALID_VALUE
        )
        raise failure(routine, status, str(error)) from None
    except OutOfRoom as error:
        raise failure(routine, Status.OUT_OF_MEMORY, f"{kernel.name}: {error}") from None
    except UnsupportedPtx as error:
        raise NotEmulated(f"{kernel.name}: {error}") from None
    if record.status != "completed":
        status, detail = _not_completed(record)
        raise failure(routine, status, f"{record.kernel}: {detail}")
    for child in children:
        launched = kernel.module.kernels[child.kernel]
        _launch(owner, launched, child.grid, child.block, child.params, child.shared_bytes, None, depth + 1)


_REFUSALS: Mapping[type[LaunchRefused], Status] = {
    TooManyRegisters: Status.LAUNCH_OUT_OF_RESOURCES,
    TooManyBlocks: Status.COOPERATIVE_LAUNCH_TOO_LARGE,
    ClusterRefused: Status.INVALID_CLUSTER_SIZE,
}


def _not_completed(record: LaunchRecord) -> tuple[Status, str]:
    asserted = next((finding for finding in record.findings if finding.kind == "assert"), None)
    if asserted:
        return Status.ASSERT, f"assertion {asserted.assertion} in {asserted.function}"
    status = Status.LAUNCH_FAILED if record.status == "trap" else Status.LAUNCH_TIMEOUT
    return status, NOT_COMPLETED[record.status]


def _most_threads(kernel: Kernel) -> int:
    """The largest block its launch bounds and its registers allow, the latter in steps of four warps."""
    device = emulation().device
    most = kernel.max_threads or device.attributes["max_threads_per_block"]
    return next(
        (
            threads
            for threads in range(most, 0, -128)
            if max_active_blocks(device, threads, kernel.registers, shared_bytes=0)
        ),
        0,
    )

"""What the workbook needs of a GPU and PyCUDA does not bind, through cuda-bindings.

Both work on CUDA's current context, which PyCUDA's calls made current. For the emulator,
`grader.emulator.pycuda_api.driver_ext` has the same.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pycuda.driver
from cuda.bindings import driver as cu

from grader.emulator.machine import clusters
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from grader.emulator.machine.machine import LaunchRecord
    from grader.emulator.machine.orders import Order
    from grader.emulator.machine.origins import Watch

MOST_DIMENSIONS = 5
"""Of a tensor map."""
UNREAD_STRIDE = 16
"""What a tensor of one dimension gives for the strides it does not have: cuda-bindings makes a null pointer of an empty
list, and the driver takes none."""


def launch_records(clear: bool = True) -> list[LaunchRecord]:
    """Nothing: a GPU keeps no records of launches."""
    return []


def instruction_budget(limit: int | None) -> None:
    """Without effect: a GPU cannot count; a kernel that hangs is ended from outside, by the clock."""


def sampled_blocks(blocks: Sequence[int] | None, enough: int | None = None) -> None:
    """Only the emulator can run some blocks of a grid alone; anything but None raises WarpladderError."""
    if blocks is not None:
        raise WarpladderError("a GPU runs all blocks of a grid", remedy="use --device emulator")


def block_order(order: Order) -> None:
    """Without effect: a GPU begins blocks in an order of its own."""


def watch_nan(watch: Watch) -> None:
    """Without effect: a GPU does not tell."""


def traced_block(block: int | None) -> None:
    """Only the emulator sees addresses; anything but None raises WarpladderError."""
    if block is not None:
        raise WarpladderError("a GPU tells no addresses", remedy="use --device emulator")


def fill_repeated(pointer: int, nbytes: int, pattern: bytes) -> None:
    """Fill an allocation with repetitions of `pattern`."""
    filled = min(len(pattern), nbytes)
    pycuda.driver.memcpy_htod(pointer, pattern[:filled])
    while filled < nbytes:
        step = min(filled, nbytes - filled)
        pycuda.driver.memcpy_dtod(pointer + filled, pointer, step)
        filled += step


def max_active_blocks(image: bytes, symbol: str, block_threads: int, dynamic_shared: int) -> int:
    """Blocks of kernel `symbol` that fit on one multiprocessor at a time; 0 if one does not fit."""
    with _loaded(image) as module:
        function = _checked("cuModuleGetFunction", cu.cuModuleGetFunction(module, symbol.encode()))
        opt_in = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _checked("cuFuncSetAttribute", cu.cuFuncSetAttribute(function, opt_in, dynamic_shared))
        occupancy = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, block_threads, dynamic_shared)
        return int(_checked("cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy))


def status(error: Exception) -> str | None:
    """CUDA's name of the status behind an exception, such as "OUT_OF_MEMORY"; None where it has none.

    PyCUDA keeps the status in its message alone: "cuCtxSynchronize failed: misaligned address", and sometimes more
    behind " - ". The words are `cuGetErrorString`'s, so it is asked which status they belong to.
    """
    if not isinstance(error, pycuda.driver.Error):
        return None
    words = str(error).partition(" failed: ")[2].partition(" - ")[0]
    for code in cu.CUresult:
        known, text = cu.cuGetErrorString(code)
        if known == cu.CUresult.CUDA_SUCCESS and text.decode() == words:
            return str(code.name).removeprefix("CUDA_ERROR_")
    return None


def device_limits() -> dict[str, int]:
    """The device's attributes by PyCUDA's names in lower case, such as "max_threads_per_block"."""
    device = pycuda.driver.Context.get_device()
    return {str(attribute).lower(): int(value) for attribute, value in device.get_attributes().items()}


def tensor_map(
    address: int,
    data_type: str,
    dims: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    *,
    element_strides: Sequence[int] | None = None,
    swizzle: int = 0,
    l2_promotion: int = 0,
    nan_fill: bool = False,
) -> np.void:
    """A tensor map for TMA, 128 bytes that a kernel takes as `const __grid_constant__ CUtensorMap`.

    It may be any argument of an extended_module's kernels; PyCUDA's own launches pack it unaligned. data_type: a name
    of CUtensorMapDataType, such as "FLOAT16". dims and box are in elements, innermost first; strides in bytes, of all
    dimensions but the innermost; element_strides, every how many elements are copied (default 1). swizzle and
    l2_promotion: 0, or a number of bytes. Outside the tensor are zeros, or with nan_fill NaN. Raises WarpladderError
    where the driver does not take it.
    """
    if not 1 <= len(dims) <= MOST_DIMENSIONS:
        raise WarpladderError(f"a tensor map has 1 to {MOST_DIMENSIONS} dimensions, not {len(dims)}")
    kinds, swizzles = cu.CUtensorMapDataType, cu.CUtensorMapSwizzle
    promotions, fills = cu.CUtensorMapL2promotion, cu.CUtensorMapFloatOOBfill
    none = cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE
    kind = _named(kinds, f"CU_TENSOR_MAP_DATA_TYPE_{data_type}")
    span = _named(swizzles, f"CU_TENSOR_MAP_SWIZZLE_{f'{swizzle}B' if swizzle else 'NONE'}")
    promotion = _named(
        promotions, f"CU_TENSOR_MAP_L2_PROMOTION_{f'L2_{l2_promotion}B' if l2_promotion else 'NONE'}"
    )
    fill = _named(fills, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{'NAN_REQUEST_ZERO_FMA' if nan_fill else 'NONE'}")
    result = cu.cuTensorMapEncodeTiled(
        kind,
        len(dims),
        int(address),
        [cu.cuuint64_t(size) for size in dims],
        [cu.cuuint64_t(stride) for stride in strides or [UNREAD_STRIDE]],
        [cu.cuuint32_t(size) for size in box],
        [cu.cuuint32_t(step) for step in element_strides or [1] * len(dims)],
        none,
        span,
        promotion,
        fill,
    )
    encoded = _checked("cuTensorMapEncodeTiled", result)
    return np.void(np.array([int(word) for word in encoded.opaque], np.uint64).tobytes())


def _named(members: Any, name: str) -> Any:
    """A member of one of the driver's enumerations, which are no `Enum` in every version of cuda.bindings."""
    try:
        return getattr(members, name)
    except AttributeError:
        raise WarpladderError(f"the driver knows no {name}") from None


@contextmanager
def _loaded(image: bytes) -> Iterator[Any]:
    module = _checked("cuModuleLoadData", cu.cuModuleLoadData(image))
    try:
        yield module
    finally:
        cu.cuModuleUnload(module)


def _checked(routine: str, result: tuple[Any, ...]) -> Any:
    """The value of a cuda-bindings call, which returns (status, value) or (status,)."""
    status, *values = result
    if status != cu.CUresult.CUDA_SUCCESS:
        raise WarpladderError(f"{routine} failed: {status.name}")
    return values[0] if values else None


class ExtendedModule:
    """A module like PyCUDA's, whose functions can be launched with clusters, cooperatively, and with tensor maps."""

    def __init__(self, image: bytes) -> None:
        self._handle: Any = None
        self._handle = _checked("cuModuleLoadData", cu.cuModuleLoadData(image))

    def get_function(self, symbol: str) -> ExtendedFunction:
        """A kernel by its symbol."""
        found = cu.cuModuleGetFunction(self._handle, symbol.encode())
        return ExtendedFunction(self, _checked("cuModuleGetFunction", found))

    def get_global(self, variable: str) -> tuple[int, int]:
        """Address and size in bytes of a variable."""
        status, address, nbytes = cu.cuModuleGetGlobal(self._handle, variable.encode())
        _checked("cuModuleGetGlobal", (status,))
        return int(address), int(nbytes)

    def __del__(self) -> None:
        if self._handle is not None:
            cu.cuModuleUnload(self._handle)


class ExtendedFunction:
    """A kernel of such a module, which stays loaded as long as its kernels are there."""

    def __init__(self, module: ExtendedModule, handle: Any) -> None:
        self._module, self._handle = module, handle

    def set_attribute(self, attribute: Any, value: int) -> None:
        """See PyCUDA's; `attribute` is PyCUDA's."""
        own = cu.CUfunction_attribute(int(attribute))
        _checked("cuFuncSetAttribute", cu.cuFuncSetAttribute(self._handle, own, value))

    def __call__(
        self,
        *args: np.generic,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int = 0,
        cluster: tuple[int, int, int] = (1, 1, 1),
        cooperative: bool = False,
    ) -> None:
        """Enqueue a launch in the default stream. Raises WarpladderError where the driver refuses it."""
        if math.prod(cluster) > clusters.PORTABLE:
            own = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            _checked("cuFuncSetAttribute", cu.cuFuncSetAttribute(self._handle, own, 1))
        values = [np.asarray(item) for item in args]
        parameters = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
        config = _launch_config(grid, block, shared, cluster, cooperative)
        launched = cu.cuLaunchKernelEx(config, self._handle, ctypes.addressof(parameters), 0)
        _checked("cuLaunchKernelEx", launched)


def extended_module(image: bytes) -> ExtendedModule:
    """Load a cubin whose kernels PyCUDA cannot launch."""
    return ExtendedModule(image)


def _launch_config(
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared: int,
    cluster: tuple[int, int, int],
    cooperative: bool,
) -> Any:
    config = cu.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared
    attributes = []
    if math.prod(cluster) > 1:
        of_cluster = cu.CUlaunchAttribute()
        of_cluster.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        of_cluster.value.clusterDim.x, of_cluster.value.clusterDim.y, of_cluster.value.clusterDim.z = cluster
        attributes.append(of_cluster)
    if cooperative:
        together = cu.CUlaunchAttribute()
        together.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        together.value.cooperative = 1
        attributes.append(together)
    config.attrs, config.numAttrs = attributes, len(attributes)
    return config


class Graph:
    """Work that was captured, to be enqueued again and again with one call."""

    def __init__(self) -> None:
        self._executable: Any = None

    def launch(self, stream: pycuda.driver.Stream) -> None:
        """Enqueue everything in the graph, as one piece of work of `stream`."""
        _checked("cuGraphLaunch", cu.cuGraphLaunch(self._executable, cu.CUstream(stream.handle)))


@contextmanager
def capture(stream: pycuda.driver.Stream) -> Iterator[Graph]:
    """Inside the block, asynchronous calls are not done but become the graph.

    The capture begins in `stream`; other streams join it by waiting for one of its events, and have to be
    waited for by `stream` before the block ends.
    """
    graph, handle = Graph(), cu.CUstream(stream.handle)
    mode = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    _checked("cuStreamBeginCapture", cu.cuStreamBeginCapture(handle, mode))
    yield graph
    captured = _checked("cuStreamEndCapture", cu.cuStreamEndCapture(handle))
    graph._executable = _checked("cuGraphInstantiate", cu.cuGraphInstantiate(captured, 0))

"""`pycuda.driver` (PyCUDA 2026.1) on the emulator: same names, same arguments, same errors.

What PyCUDA refuses is refused here, in nearly the same words; what PyCUDA can do and the emulator cannot
raises NotEmulated, or AttributeError for a name that is missing altogether. Differences:

- There is one device. Work is done at once and in order, so streams never overlap, and an error of a kernel
  shows at its launch instead of at the next synchronisation.
- A faulty access does not end the program: it becomes a finding of the launch
  (`grader.emulator.pycuda_api.driver_ext.launch_records`). Only a kernel that traps, fails an assertion, hangs or
  exhausts its budget raises LaunchError or LogicError.
- Events and `time_kernel` give the emulator's own running time, which says nothing about a GPU.
- Texture and surface references, which are gone since CUDA 12, IPC, peers, the linker and the profiler are missing.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.pycuda_api.driver.arguments import ArgumentHandler, In, InOut, Out
from grader.emulator.pycuda_api.driver.arrays import (
    Array,
    ArrayDescriptor,
    ArrayDescriptor3D,
    Memcpy2D,
    Memcpy3D,
    dtype_to_array_format,
    make_multichannel_2d_array,
    matrix_to_array,
    np_to_array,
)
from grader.emulator.pycuda_api.driver.constants import (
    address_mode,
    array3d_flags,
    array_format,
    compute_mode,
    ctx_flags,
    device_attribute,
    event_flags,
    filter_mode,
    func_cache,
    function_attribute,
    host_alloc_flags,
    jit_option,
    limit,
    mem_attach_flags,
    mem_host_register_flags,
    memory_type,
    shared_config,
)
from grader.emulator.pycuda_api.driver.context import Context, Device, get_driver_version, get_version, init
from grader.emulator.pycuda_api.driver.conversion import PointerHolderBase
from grader.emulator.pycuda_api.driver.errors import (
    NO_REFERENCES,
    CompileError,
    Error,
    LaunchError,
    LogicError,
    MemoryError,
    NotEmulated,
    RuntimeError,
    missing_name,
)
from grader.emulator.pycuda_api.driver.function import Function
from grader.emulator.pycuda_api.driver.host_memory import (
    AlignedHostAllocation,
    HostAllocation,
    HostPointer,
    ManagedAllocation,
    PagelockedHostAllocation,
    RegisteredHostMemory,
    aligned_empty,
    aligned_empty_like,
    aligned_zeros,
    aligned_zeros_like,
    managed_empty,
    managed_empty_like,
    managed_zeros,
    managed_zeros_like,
    pagelocked_empty,
    pagelocked_empty_like,
    pagelocked_zeros,
    pagelocked_zeros_like,
    register_host_memory,
)
from grader.emulator.pycuda_api.driver.memory import (
    DeviceAllocation,
    from_device,
    from_device_like,
    mem_alloc,
    mem_alloc_like,
    mem_alloc_pitch,
    mem_get_address_range,
    mem_get_info,
    memcpy_dtod,
    memcpy_dtod_async,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    memset_d8,
    memset_d8_async,
    memset_d16,
    memset_d16_async,
    memset_d32,
    memset_d32_async,
    to_device,
)
from grader.emulator.pycuda_api.driver.module import Module, module_from_buffer, module_from_file
from grader.emulator.pycuda_api.driver.stream import Event, Stream

__all__ = [
    "AlignedHostAllocation",
    "ArgumentHandler",
    "Array",
    "ArrayDescriptor",
    "ArrayDescriptor3D",
    "CompileError",
    "Context",
    "Device",
    "DeviceAllocation",
    "Error",
    "Event",
    "Function",
    "HostAllocation",
    "HostPointer",
    "In",
    "InOut",
    "LaunchError",
    "LogicError",
    "ManagedAllocation",
    "Memcpy2D",
    "Memcpy3D",
    "MemoryError",
    "Module",
    "NotEmulated",
    "Out",
    "PagelockedHostAllocation",
    "PointerHolderBase",
    "RegisteredHostMemory",
    "RuntimeError",
    "Stream",
    "address_mode",
    "aligned_empty",
    "aligned_empty_like",
    "aligned_zeros",
    "aligned_zeros_like",
    "array3d_flags",
    "array_format",
    "compute_mode",
    "ctx_flags",
    "device_attribute",
    "dtype_to_array_format",
    "event_flags",
    "filter_mode",
    "from_device",
    "from_device_like",
    "func_cache",
    "function_attribute",
    "get_driver_version",
    "get_version",
    "host_alloc_flags",
    "init",
    "jit_option",
    "limit",
    "make_multichannel_2d_array",
    "managed_empty",
    "managed_empty_like",
    "managed_zeros",
    "managed_zeros_like",
    "matrix_to_array",
    "mem_alloc",
    "mem_alloc_like",
    "mem_alloc_pitch",
    "mem_attach_flags",
    "mem_get_address_range",
    "mem_get_info",
    "mem_host_register_flags",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memory_type",
    "memset_d8",
    "memset_d8_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
    "module_from_buffer",
    "module_from_file",
    "np_to_array",
    "pagelocked_empty",
    "pagelocked_empty_like",
    "pagelocked_zeros",
    "pagelocked_zeros_like",
    "register_host_memory",
    "shared_config",
    "to_device",
]


_REFERENCES = ("TextureReference", "SurfaceReference", "bind_array_to_texref", "matrix_to_texref", "TR_DEFAULT",
               "TRSA_OVERRIDE_FORMAT", "TRSF_NORMALIZED_COORDINATES", "TRSF_READ_AS_INTEGER")  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _REFERENCES:
        raise missing_name(f"pycuda.driver.{name}: {NO_REFERENCES}")
    raise missing_name(f"pycuda.driver.{name} is not emulated; emulated are {', '.join(__all__)}")

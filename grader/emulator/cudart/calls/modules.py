"""The driver's calls of programs that load their kernels as modules."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path

from grader.emulator.cudart.calls.device import DeviceCalls
from grader.emulator.cudart.calls.kernel import KernelCalls
from grader.emulator.cudart.calls.memory import MemoryCalls
from grader.emulator.cudart.native import store_int, store_word
from grader.emulator.cudart.state import State
from grader.emulator.cudart.status import CudaError, NotEmulated, Status
from grader.emulator.cudart.toolchain import program_first
from grader.emulator.cudart.uses import DEFAULT
from grader.emulator.devices import max_active_blocks
from grader.emulator.errors import PtxSyntaxError
from grader.emulator.machine.machine import LoadedModule

SAME = {
    "cuModuleLoadDataEx": "cuModuleLoadData", "cuModuleLoadFatBinary": "cuModuleLoadData",
    "cuDriverGetVersion": "cudaDriverGetVersion", "cuDeviceGetCount": "cudaGetDeviceCount",
    "cuDeviceGetAttribute": "cudaDeviceGetAttribute", "cuCtxGetDevice": "cudaGetDevice",
    "cuCtxSynchronize": "cudaDeviceSynchronize", "cuMemGetInfo": "cudaMemGetInfo", "cuMemAlloc": "cudaMalloc",
    "cuMemAllocAsync": "cudaMallocAsync", "cuMemAllocHost": "cudaMallocHost", "cuMemAllocManaged": "cudaMallocManaged",
    "cuMemFree": "cudaFree", "cuMemFreeAsync": "cudaFreeAsync", "cuMemFreeHost": "cudaFreeHost",
    "cuStreamCreate": "cudaStreamCreateWithFlags", "cuStreamDestroy": "cudaStreamDestroy",
    "cuStreamSynchronize": "cudaStreamSynchronize", "cuStreamQuery": "cudaStreamQuery",
    "cuStreamWaitEvent": "cudaStreamWaitEvent", "cuEventCreate": "cudaEventCreateWithFlags",
    "cuEventDestroy": "cudaEventDestroy", "cuEventRecord": "cudaEventRecord", "cuEventQuery": "cudaEventQuery",
    "cuEventSynchronize": "cudaEventSynchronize", "cuEventElapsedTime": "cudaEventElapsedTime",
    "cuFuncSetAttribute": "cudaFuncSetAttribute",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
}  # fmt: skip
"""The driver's functions that take what one of the runtime's takes, and do the same."""
_CONTEXT = 0x40
"""The one context there is."""
_TO_DEVICE, _TO_HOST, _ON_DEVICE, _ANY = 1, 2, 3, 4
"""cudaMemcpyKind."""
_FATBIN = b"\x50\xed\x55\xba"
_PTX = 1
"""The kind of an entry of a fat binary."""
_COMPRESSED = 0x2000 | 0x8000


class ModuleCalls:
    """Methods are named as the driver's functions, and take their arguments as 64-bit words."""

    def __init__(
        self, state: State, memory: MemoryCalls, kernels: KernelCalls, devices: DeviceCalls, source: Path
    ) -> None:
        self.state, self.memory, self.kernels, self.devices = state, memory, kernels, devices
        self._source = source
        self._modules: dict[int, LoadedModule] = {}

    # -- devices and contexts ---------------------------------------------------------------------------------
    def cuInit(self, flags: int) -> None:
        """There is nothing to do."""

    def cuDeviceGet(self, out: int, number: int) -> None:
        self.devices.cudaSetDevice(number)
        store_int(out, number)

    def cuDeviceGetName(self, text: int, room: int, device: int) -> None:
        self.devices.cudaSetDevice(device)
        name = self.devices.name()[: max(0, room - 1)] + b"\0"
        ctypes.memmove(text, name, min(room, len(name)))

    def cuDeviceTotalMem(self, out: int, device: int) -> None:
        self.devices.cudaSetDevice(device)
        store_word(out, self.state.memory.info()[1])

    def cuCtxCreate(self, out: int, flags: int, device: int) -> None:
        self.devices.cudaSetDevice(device)
        store_word(out, _CONTEXT)

    def cuDevicePrimaryCtxRetain(self, out: int, device: int) -> None:
        self.cuCtxCreate(out, 0, device)

    def cuDevicePrimaryCtxRelease(self, device: int) -> None:
        self.devices.cudaSetDevice(device)

    def cuCtxDestroy(self, context: int) -> None:
        """The device is left as it is: memory that was not freed is told."""

    def cuCtxSetCurrent(self, context: int) -> None:
        """There is one."""

    def cuCtxPushCurrent(self, context: int) -> None:
        """There is one."""

    def cuCtxPopCurrent(self, out: int) -> None:
        store_word(out, _CONTEXT)

    def cuCtxGetCurrent(self, out: int) -> None:
        store_word(out, _CONTEXT)

    # -- modules ----------------------------------------------------------------------------------------------
    def cuModuleLoad(self, out: int, file: int) -> None:
        path = Path(os.fsdecode(ctypes.string_at(file)))
        if not path.is_file():
            raise CudaError(Status.FileNotFound, f"there is no file {path}")
        self._load(out, path.read_bytes())

    def cuModuleLoadData(self, out: int, image: int) -> None:
        """An image ends with a zero, or says how long it is."""
        if ctypes.string_at(image, 4) == _FATBIN:
            _, _, header, nbytes = struct.unpack("<IHHQ", ctypes.string_at(image, 16))
            self._load(out, ctypes.string_at(image, header + nbytes))
        else:
            self._load(out, ctypes.string_at(image))

    def _load(self, out: int, image: bytes) -> None:
        try:
            module = self.state.machine.load(program_first(_ptx(image), self._source))
        except PtxSyntaxError as error:
            raise CudaError(Status.InvalidKernelImage, str(error)) from None
        handle = next(self.kernels.handles)
        self._modules[handle] = module
        store_word(out, handle)

    def cuModuleUnload(self, module: int) -> None:
        self._module(module)
        del self._modules[module]

    def cuModuleGetFunction(self, out: int, module: int, name: int) -> None:
        wanted = ctypes.string_at(name).decode()
        kernel = self._module(module).kernels.get(wanted)
        if kernel is None:
            raise CudaError(Status.SymbolNotFound, f"the module has no kernel {wanted}")
        store_word(out, self.kernels.handle_of(kernel))

    def cuModuleGetGlobal(self, out: int, nbytes: int, module: int, name: int) -> None:
        wanted = ctypes.string_at(name).decode()
        found = self._module(module).globals.get(wanted)
        if found is None:
            raise CudaError(Status.SymbolNotFound, f"the module has no variable {wanted}")
        if self.state.allocation(found[0]) is None:
            self.kernels.add_variable(wanted, found)
        for where, value in zip((out, nbytes), found, strict=True):
            if where:
                store_word(where, value)

    def _module(self, module: int) -> LoadedModule:
        if module not in self._modules:
            raise CudaError(Status.InvalidResourceHandle, "this is no module, or one that has been unloaded")
        return self._modules[module]

    # -- memory -----------------------------------------------------------------------------------------------
    def cuMemcpyHtoD(self, to: int, source: int, nbytes: int) -> None:
        self.memory.cudaMemcpy(to, source, nbytes, _TO_DEVICE)

    def cuMemcpyDtoH(self, to: int, source: int, nbytes: int) -> None:
        self.memory.cudaMemcpy(to, source, nbytes, _TO_HOST)

    def cuMemcpyDtoD(self, to: int, source: int, nbytes: int) -> None:
        self.memory.cudaMemcpy(to, source, nbytes, _ON_DEVICE)

    def cuMemcpy(self, to: int, source: int, nbytes: int) -> None:
        self.memory.cudaMemcpy(to, source, nbytes, _ANY)

    def cuMemcpyHtoDAsync(self, to: int, source: int, nbytes: int, stream: int) -> None:
        self.memory.cudaMemcpyAsync(to, source, nbytes, _TO_DEVICE, stream)

    def cuMemcpyDtoHAsync(self, to: int, source: int, nbytes: int, stream: int) -> None:
        self.memory.cudaMemcpyAsync(to, source, nbytes, _TO_HOST, stream)

    def cuMemcpyDtoDAsync(self, to: int, source: int, nbytes: int, stream: int) -> None:
        self.memory.cudaMemcpyAsync(to, source, nbytes, _ON_DEVICE, stream)

    def cuMemsetD8(self, address: int, value: int, count: int) -> None:
        self.cuMemsetD8Async(address, value, count, DEFAULT)

    def cuMemsetD32(self, address: int, value: int, count: int) -> None:
        self.cuMemsetD32Async(address, value, count, DEFAULT)

    def cuMemsetD8Async(self, address: int, value: int, count: int, stream: int) -> None:
        self.memory.fill(address, count, value.to_bytes(1, "little"), count, 1, stream)

    def cuMemsetD32Async(self, address: int, value: int, count: int, stream: int) -> None:
        self.memory.fill(address, 4 * count, value.to_bytes(4, "little"), 4 * count, 1, stream)

    # -- kernels ----------------------------------------------------------------------------------------------
    def cuLaunchKernel(
        self, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: int,
        arguments: int, extra: int,
    ) -> None:  # fmt: skip
        if extra:
            raise NotEmulated("the argument `extra` of cuLaunchKernel", "give the arguments by kernelParams")
        self.kernels.cudaLaunchKernel(function, gx, gy, gz, bx, by, bz, arguments, shared, stream)

    def cuOccupancyMaxPotentialBlockSize(
        self, grid: int, block: int, function: int, shared_of: int, shared: int, limit: int
    ) -> None:
        if shared_of:
            raise NotEmulated(
                "cuOccupancyMaxPotentialBlockSize with a function for the shared memory of a block"
            )
        kernel, device = self.kernels.kernel(function), self.state.machine.device
        most = min(limit or 1024, kernel.max_threads or 1024)
        total = kernel.static_shared_bytes + shared

        def blocks(threads: int) -> int:
            return max_active_blocks(device, threads, kernel.registers, total)

        threads = max(range(32, most + 1, 32), key=lambda each: (each * blocks(each), each))
        store_int(grid, blocks(threads) * device.attributes["multiprocessor_count"])
        store_int(block, threads)


def _ptx(image: bytes) -> str:
    """The PTX of an image: PTX itself, or a fat binary with it. Raises NotEmulated where there is none."""
    if not image.startswith(_FATBIN):
        if image.startswith(b"\x7fELF"):
            raise NotEmulated("a module of machine code (cubin)", "load PTX: nvcc -ptx")
        if b".version" not in image:
            raise CudaError(Status.InvalidKernelImage, "the module is neither PTX nor a fat binary")
        return image.decode(errors="replace")
    at = struct.unpack_from("<H", image, 6)[0]
    while at + 48 <= len(image):
        kind, _, header, nbytes = struct.unpack_from("<HHIQ", image, at)
        (flags,) = struct.unpack_from("<Q", image, at + 40)
        if kind == _PTX and not flags & _COMPRESSED:
            return image[at + header : at + header + nbytes].decode(errors="replace")
        at += header + nbytes
    raise NotEmulated(
        "a fat binary without PTX, or with compressed PTX",
        "load PTX, nvcc -ptx, or nvcc -fatbin --no-compress -gencode=arch=compute_90,code=compute_90",
    )

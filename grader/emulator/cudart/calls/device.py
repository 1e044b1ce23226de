"""The runtime's calls about the device, and about errors."""

from __future__ import annotations

import ctypes

from grader.emulator.cudart.native import store_int, store_word
from grader.emulator.cudart.state import OWNED, State
from grader.emulator.cudart.status import CudaError, Status, name_of, text_of
from grader.emulator.cudart.waiting import Waiting
from grader.emulator.pycuda_api.driver.constants import device_attribute

_VERSION = 13000
_MORE_ATTRIBUTES = {
    69: 1 << 28,
    84: 0,
    86: 0,
    88: 0,
    89: 1,
    91: 1,
    95: 1,
    96: 0,
    99: 1,
    100: 1,
    101: 1,
    115: 1,
}
"""cudaDevAttrIsMultiGpuBoard, hostNativeAtomicSupported, concurrentManagedAccess and the like: by number."""
_CLUSTER_LAUNCH = 120
_FOUR_BYTES = 1
"""cudaSharedMemBankSizeFourByte"""
_LIMITS = {0: 1024, 1: 1 << 20, 2: 8 << 20, 3: 2, 4: 2048, 5: 128, 6: 0}
"""CUDA's own, by cudaLimit."""


class DeviceCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(self, state: State, waiting: Waiting) -> None:
        self.state, self.waiting = state, waiting
        self._limits = dict(_LIMITS)
        self._flags = 0
        self._texts: dict[str, ctypes.Array[ctypes.c_char]] = {}

    # -- devices ----------------------------------------------------------------------------------------------
    def cudaGetDeviceCount(self, out: int) -> None:
        store_int(out, 1)

    def cudaGetDevice(self, out: int) -> None:
        store_int(out, 0)

    def cudaSetDevice(self, device: int) -> None:
        self._check(device)

    def cudaChooseDevice(self, out: int) -> None:
        store_int(out, 0)

    def cudaDeviceGetPCIBusId(self, text: int, room: int, device: int) -> None:
        self._check(device)
        found = self._bus_id().encode() + b"\0"
        if room < len(found):
            raise CudaError(Status.InvalidValue, f"the name takes {len(found)} bytes")
        ctypes.memmove(text, found, len(found))

    def cudaDeviceGetByPCIBusId(self, out: int, text: int) -> None:
        asked = ctypes.string_at(text).decode(errors="replace")
        if asked not in (self._bus_id(), self._bus_id().partition(":")[2]):  # the domain may be left out
            raise CudaError(Status.InvalidDevice, f"there is {self._bus_id()} alone; {asked} was asked for")
        store_int(out, 0)

    def _bus_id(self) -> str:
        has = self.state.machine.device.attributes
        return f"{has['pci_domain_id']:04x}:{has['pci_bus_id']:02x}:{has['pci_device_id']:02x}.0"

    def cudaInitDevice(self, device: int) -> None:
        self._check(device)

    def cudaSetDeviceFlags(self, flags: int) -> None:
        self._flags = flags

    def cudaGetDeviceFlags(self, out: int) -> None:
        store_int(out, self._flags)

    def cudaGetDeviceProperties(self, name: int, memory: int, device: int) -> None:
        """The rest of the structure is filled in by the runtime, from attributes."""
        self._check(device)
        text = self.name()[:255]
        ctypes.memmove(name, text + b"\0", len(text) + 1)
        store_word(memory, self.state.memory.info()[1])

    def name(self) -> bytes:
        """The device's, as programs are told it."""
        return f"{self.state.machine.device.name} (emulated)".encode()

    def cudaDeviceGetAttribute(self, out: int, attribute: int, device: int) -> None:
        self._check(device)
        value = self._attribute(attribute)
        if value is None:
            raise CudaError(Status.InvalidValue, f"the emulated device has no attribute {attribute}")
        store_int(out, value)

    def attribute(self, attribute: int) -> int:
        """For the structure of cudaGetDeviceProperties: 0 where it is not known."""
        return self._attribute(attribute) or 0

    def _attribute(self, attribute: int) -> int | None:
        has = self.state.machine.device.attributes
        names = [name.lower() for name, value in device_attribute.names.items() if int(value) == attribute]
        if attribute == _CLUSTER_LAUNCH:
            return int(has["compute_capability_major"] >= 9)
        known = [has[name] for name in names if name in has]
        return known[0] if known else _MORE_ATTRIBUTES.get(attribute)

    def cudaDeviceSynchronize(self) -> None:
        self.waiting.waited()
        if self.state.sticky:
            raise CudaError(self.state.sticky, noted=True)

    def cudaDeviceReset(self) -> None:
        self.waiting.waited()
        self.state.sticky = self.state.last_error = Status.Success
        for allocation in self.state.live():
            if allocation.kind in OWNED:
                self.state.free(allocation)

    def cudaDeviceSetCacheConfig(self, config: int) -> None:
        """A wish; the emulator has no cache to configure."""

    def cudaDeviceGetCacheConfig(self, out: int) -> None:
        store_int(out, 0)

    def cudaDeviceSetSharedMemConfig(self, config: int) -> None:
        """A wish that devices after Kepler do not follow: their banks are of 4 bytes."""

    def cudaDeviceGetSharedMemConfig(self, out: int) -> None:
        store_int(out, _FOUR_BYTES)

    def cudaDeviceSetLimit(self, limit: int, value: int) -> None:
        self._limits[limit] = value

    def cudaDeviceGetLimit(self, out: int, limit: int) -> None:
        if limit not in self._limits:
            raise CudaError(Status.InvalidValue, f"there is no limit {limit}")
        store_word(out, self._limits[limit])

    def cudaDeviceGetStreamPriorityRange(self, least: int, greatest: int) -> None:
        store_int(least, 0)
        store_int(greatest, 0)

    def cudaDeviceCanAccessPeer(self, out: int, device: int, peer: int) -> None:
        store_int(out, 0)

    def cudaDeviceGetP2PAttribute(self, out: int, attribute: int, device: int, peer: int) -> None:
        raise CudaError(Status.InvalidDevice, "there is one device, and it has no peer")

    def cudaCtxResetPersistingL2Cache(self) -> None:
        """There is no cache in which anything persists."""

    def cudaDriverGetVersion(self, out: int) -> None:
        store_int(out, _VERSION)

    def cudaRuntimeGetVersion(self, out: int) -> None:
        store_int(out, _VERSION)

    def cudaProfilerStart(self) -> None:
        """There is no profiler."""

    def cudaProfilerStop(self) -> None:
        """There is no profiler."""

    def _check(self, device: int) -> None:
        if device != 0:
            shown = device - (1 << 32) if device >= 1 << 31 else device
            raise CudaError(Status.InvalidDevice, f"there is device 0 alone; {shown} was asked for")

    # -- errors -----------------------------------------------------------------------------------------------
    def cudaGetLastError(self) -> int:
        error = self.cudaPeekAtLastError()
        self.state.last_error = Status.Success
        return error

    def cudaPeekAtLastError(self) -> int:
        self.state.asked()
        return int(self.state.sticky or self.state.last_error)

    def cudaGetErrorName(self, error: int) -> int:
        return self.text(name_of(error))

    def cudaGetErrorString(self, error: int) -> int:
        return self.text(text_of(error))

    def text(self, text: str) -> int:
        """The address of a C string, which stays."""
        kept = self._texts.setdefault(text, ctypes.create_string_buffer(text.encode()))
        return ctypes.addressof(kept)

"""The driver's calls that programs make beside the runtime's: tensor maps for TMA, and texts of errors."""

from __future__ import annotations

import ctypes

from grader.emulator.cudart.calls.device import DeviceCalls
from grader.emulator.cudart.native import store_word
from grader.emulator.cudart.state import State
from grader.emulator.cudart.status import CudaError, NotEmulated, Status, driver_name_of
from grader.emulator.machine.tensor_maps import DATA_TYPES, SWIZZLES, TensorMap


class DriverCalls:
    """Methods are named as the driver's functions, and take their arguments as 64-bit words."""

    def __init__(self, state: State, devices: DeviceCalls) -> None:
        self.state, self.devices = state, devices

    def cuTensorMapEncodeTiled(
        self, out: int, data_type: int, rank: int, address: int, dims: int, strides: int, box: int, steps: int,
        interleave: int, swizzle: int, promotion: int, fill: int,
    ) -> None:  # fmt: skip
        if interleave or swizzle >= len(SWIZZLES):
            raise NotEmulated(
                "a tensor map that is interleaved"
                if interleave
                else f"the swizzle number {swizzle} of a tensor map"
            )
        if data_type >= len(DATA_TYPES):
            raise NotEmulated(f"the data type number {data_type} of a tensor map")
        if not 1 <= rank <= 5:
            raise CudaError(Status.InvalidValue, f"a tensor of {rank} dimensions: there may be 1 to 5")
        described = TensorMap(
            address, list(DATA_TYPES)[data_type], _words(dims, rank), _words(strides, rank - 1), _ints(box, rank),
            _ints(steps, rank), list(SWIZZLES)[swizzle], bool(fill),
        )  # fmt: skip
        fault = described.fault()
        if fault:
            raise CudaError(Status.InvalidValue, fault)
        encoded = described.encoded()
        ctypes.memmove(out, encoded, len(encoded))

    def cudaGetDriverEntryPoint(self, symbol: int) -> None:
        """Asked for what the library does not have."""
        name = ctypes.string_at(symbol).decode(errors="replace")
        raise NotEmulated(f"{name} of the driver API is not emulated")

    def cuGetErrorName(self, error: int, out: int) -> None:
        store_word(out, self.devices.text(driver_name_of(error)))

    def cuGetErrorString(self, error: int, out: int) -> None:
        store_word(out, self.devices.cudaGetErrorString(error))


def _words(address: int, count: int) -> list[int]:
    return list((ctypes.c_uint64 * count).from_address(address)) if count else []


def _ints(address: int, count: int) -> list[int]:
    return list((ctypes.c_uint32 * count).from_address(address))

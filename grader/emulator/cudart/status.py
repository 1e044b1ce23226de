"""The runtime's errors: numbers, names and texts, as `cudaError_t` has them."""

from __future__ import annotations

import re
from enum import IntEnum


class Status(IntEnum):
    """Those that can come up, by the end of their names."""

    Success = 0
    InvalidValue = 1
    MemoryAllocation = 2
    InvalidConfiguration = 9
    InvalidPitchValue = 12
    InvalidSymbol = 13
    InvalidChannelDescriptor = 20
    InvalidDeviceFunction = 98
    InvalidDevice = 101
    InvalidKernelImage = 200
    FileNotFound = 301
    InvalidResourceHandle = 400
    IllegalState = 401
    SymbolNotFound = 500
    NotReady = 600
    IllegalAddress = 700
    LaunchOutOfResources = 701
    LaunchTimeout = 702
    Assert = 710
    HostMemoryAlreadyRegistered = 712
    HostMemoryNotRegistered = 713
    LaunchFailure = 719
    CooperativeLaunchTooLarge = 720
    NotSupported = 801
    StreamCaptureUnsupported = 900
    StreamCaptureInvalidated = 901
    StreamCaptureMerge = 902
    StreamCaptureUnmatched = 903
    StreamCaptureUnjoined = 904
    StreamCaptureIsolation = 905
    StreamCaptureImplicit = 906
    GraphExecUpdateFailure = 910
    InvalidClusterSize = 912
    Unknown = 999

    @property
    def cuda_name(self) -> str:
        return "cudaSuccess" if self is Status.Success else f"cudaError{self.name}"


_TEXTS = {
    Status.Success: "no error",
    Status.InvalidValue: "invalid argument",
    Status.MemoryAllocation: "out of memory",
    Status.InvalidConfiguration: "invalid configuration argument",
    Status.InvalidPitchValue: "invalid pitch argument",
    Status.InvalidSymbol: "invalid device symbol",
    Status.InvalidChannelDescriptor: "invalid channel descriptor",
    Status.InvalidDeviceFunction: "invalid device function",
    Status.InvalidDevice: "invalid device ordinal",
    Status.InvalidKernelImage: "device kernel image is invalid",
    Status.FileNotFound: "file not found",
    Status.InvalidResourceHandle: "invalid resource handle",
    Status.IllegalState: "the operation cannot be performed in the present state",
    Status.SymbolNotFound: "named symbol not found",
    Status.NotReady: "device not ready",
    Status.IllegalAddress: "an illegal memory access was encountered",
    Status.LaunchOutOfResources: "too many resources requested for launch",
    Status.LaunchTimeout: "the launch timed out and was terminated",
    Status.Assert: "device-side assert triggered",
    Status.HostMemoryAlreadyRegistered: "part or all of the requested memory range is already mapped",
    Status.HostMemoryNotRegistered: "pointer does not correspond to a registered memory region",
    Status.LaunchFailure: "unspecified launch failure",
    Status.CooperativeLaunchTooLarge: "too many blocks in cooperative launch",
    Status.NotSupported: "operation not supported",
    Status.StreamCaptureUnsupported: "operation not permitted when stream is capturing",
    Status.StreamCaptureInvalidated: "operation failed due to a previous error during capture",
    Status.StreamCaptureMerge: "operation would result in a merge of separate capture sequences",
    Status.StreamCaptureUnmatched: "capture was not ended in the same stream as it began",
    Status.StreamCaptureUnjoined: "capturing stream has unjoined work",
    Status.StreamCaptureIsolation: "dependency created on uncaptured work in another stream",
    Status.StreamCaptureImplicit: "operation would make the legacy stream depend on a capturing blocking stream",
    Status.GraphExecUpdateFailure: "the graph update was not performed because it included changes which violated "
    "constraints specific to instantiated graph update",
    Status.InvalidClusterSize: "a kernel launch error has occurred due to cluster misconfiguration",
    Status.Unknown: "unknown error",
}


def name_of(number: int) -> str:
    """What cudaGetErrorName says."""
    return Status(number).cuda_name if number in _TEXTS else "unrecognized error code"


def text_of(number: int) -> str:
    """What cudaGetErrorString says."""
    return _TEXTS[Status(number)] if number in _TEXTS else "unrecognized error code"


_DRIVER = {
    Status.InvalidConfiguration: Status.InvalidValue, Status.InvalidPitchValue: Status.InvalidValue,
    Status.InvalidDeviceFunction: Status.InvalidResourceHandle, Status.InvalidSymbol: Status.SymbolNotFound,
}  # fmt: skip
_DRIVER_NAMES = {
    Status.MemoryAllocation: "OUT_OF_MEMORY", Status.InvalidKernelImage: "INVALID_IMAGE",
    Status.InvalidResourceHandle: "INVALID_HANDLE", Status.SymbolNotFound: "NOT_FOUND",
    Status.LaunchFailure: "LAUNCH_FAILED",
}  # fmt: skip
"""Where CUresult's name is another than cudaError_t's."""


def of_driver(status: Status) -> Status:
    """The status as the driver's functions return it, CUresult."""
    return _DRIVER.get(status, status)


def driver_name_of(number: int) -> str:
    """What cuGetErrorName says."""
    if number in _DRIVER_NAMES:
        return f"CUDA_ERROR_{_DRIVER_NAMES[Status(number)]}"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name_of(number).removeprefix("cudaError")).upper()
    return "CUDA_SUCCESS" if words == "CUDA_SUCCESS" else f"CUDA_ERROR_{words}"


ELSEWHERE = "leave it out, or run the program on a machine with a GPU"


class NotEmulated(Exception):
    """The program asks for what is not there without a GPU. `remedy` says what to do instead."""

    def __init__(self, what: str, remedy: str = ELSEWHERE) -> None:
        super().__init__(what)
        self.remedy = remedy


class CudaError(Exception):
    """A call returns this status. `noted`: the reason has been told already."""

    def __init__(self, status: Status, reason: str = "", *, noted: bool = False) -> None:
        super().__init__(reason or status.cuda_name)
        self.status = status
        self.reason = reason
        self.noted = noted

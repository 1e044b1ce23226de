"""`pycuda.characterize` on the emulator: what the device and its compiler can do."""

from __future__ import annotations

import struct

import numpy as np

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.device_array import GPUArray
from grader.emulator.pycuda_api.compiler import SourceModule
from grader.emulator.pycuda_api.tools import context_dependent_memoize


def platform_bits() -> int:
    """How wide a pointer of the host is."""
    return 8 * struct.calcsize("P")


def has_stack() -> bool:
    return driver.Context.get_device().compute_capability() >= (2, 0)


def has_double_support() -> bool:
    return driver.Context.get_device().compute_capability() >= (1, 3)


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """The bytes that a type of CUDA C++ takes on the device."""
    source = f'{preamble}\nextern "C" __global__ void write_size(size_t *output) {{ *output = sizeof({type_name}); }}'
    output = GPUArray((), np.uintp)
    SourceModule(source, no_extern_c=True).get_function("write_size")(output, block=(1, 1, 1), grid=(1, 1))
    return int(output.get())

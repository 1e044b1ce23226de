"""Scans give what accumulating on the host gives."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from grader.emulator.pycuda_api import driver_ext
from grader.emulator.pycuda_api.gpuarray import to_gpu
from grader.emulator.pycuda_api.scan import ExclusiveScanKernel, InclusiveScanKernel

pytestmark = pytest.mark.usefixtures("gpu")

SIZES = pytest.mark.parametrize("size", [1, 7, 8, 9, 1023, 1024, 1025, 5000, 1_200_000])


def integers(size: int) -> Any:
    return np.random.default_rng(size).integers(0, 10, size).astype(np.int32)


@SIZES
def test_running_sums(size: int) -> None:
    host = integers(size)
    device = to_gpu(host)
    assert InclusiveScanKernel(np.int32, "a+b")(device) is device
    assert (device.get() == np.cumsum(host)).all()
    device = to_gpu(host)
    ExclusiveScanKernel(np.int32, "a+b", "0")(device)
    assert (device.get() == np.cumsum(host) - host).all()
    assert not [finding for record in driver_ext.launch_records() for finding in record.findings]


@pytest.mark.parametrize("size", [7, 3000])
def test_order_and_the_neutral_element(size: int) -> None:
    """Joining linear functions x ↦ m·x + c modulo a prime: the order matters, and (1, 0) alone is neutral."""
    preamble = """
    struct line { unsigned m, c; __device__ line(unsigned m = 0, unsigned c = 0) : m(m), c(c) {} };
    __device__ line then(line a, line b) { return line(a.m * b.m % 9973, (b.m * a.c + b.c) % 9973); }
    """
    from grader.emulator.pycuda_api.tools import register_dtype

    kind = np.dtype([("m", np.uint32), ("c", np.uint32)])
    register_dtype(kind, "line")
    host = np.random.default_rng(1).integers(2, 9973, (size, 2), dtype=np.uint32).view(kind)[:, 0]

    def then(a: Any, b: Any) -> Any:
        return a[0] * b[0] % 9973, (b[0] * a[1] + b[1]) % 9973

    expected = list(accumulate([(int(m), int(c)) for m, c in host], then))
    found = InclusiveScanKernel(kind, "then(a, b)", preamble=preamble)(to_gpu(host), "new").get()
    assert [(int(m), int(c)) for m, c in found] == expected
    found = ExclusiveScanKernel(kind, "then(a, b)", "line(1, 0)", preamble=preamble)(to_gpu(host)).get()
    assert [(int(m), int(c)) for m, c in found] == [(1, 0), *expected[:-1]]


def test_where_the_result_goes() -> None:
    host = integers(100)
    device, out = to_gpu(host), to_gpu(host)
    scan = InclusiveScanKernel(np.int32, "a > b ? a : b")
    assert scan(device, out) is out
    assert (out.get() == np.maximum.accumulate(host)).all()
    assert (scan(device, "new").get() == out.get()).all()
    assert (device.get() == host).all()
    assert scan(to_gpu(host[:0])).size == 0


def test_what_cannot_be_scanned() -> None:
    with pytest.raises(ValueError, match="neutral element is required"):
        ExclusiveScanKernel(np.int32, "a+b")
    scan = InclusiveScanKernel(np.int32, "a+b")
    with pytest.raises(ValueError, match="same shape"):
        scan(to_gpu(integers(4)), to_gpu(integers(5)))
    with pytest.raises(RuntimeError, match="only contiguous"):
        scan(to_gpu(integers(10))[::2])

"""What scripts use to build kernels and tests of their own: `tools`, `characterize`, `elementwise`'s builders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.emulator.pycuda_api import characterize, driver, elementwise, gpuarray, tools
from grader.emulator.pycuda_api.driver.emulation import reset
from grader.emulator.pycuda_api.gpuarray import to_gpu
from grader.emulator.pycuda_api.reduction import ReductionKernel
from grader.emulator.pycuda_api.tools import ScalarArg, VectorArg


def test_arguments_declared_in_c_or_by_their_types() -> None:
    for declared, expected in [
        ("const float *x", VectorArg(np.float32, "x")),
        ("int x[]", VectorArg(np.int32, "x")),
        ("unsigned long long n", ScalarArg(np.uint64, "n")),
        ("pycuda::complex<double> *z", VectorArg(np.complex128, "z")),
    ]:
        found = tools.parse_c_arg(declared)
        assert repr(found) == repr(expected)
        assert found.declarator() == expected.declarator()
        assert tools.get_arg_type(declared) == expected.struct_char
    assert ScalarArg(gpuarray.vec.float3, "v").struct_char == "12s"  # type: ignore[attr-defined]
    assert VectorArg(np.uint8, "x").declarator() == "unsigned char *x"


def test_types_of_ones_own() -> None:
    kind = np.dtype([("a", np.int16), ("b", np.int64)])
    with pytest.raises(ValueError, match=r"unable to map dtype .*register_dtype"):
        tools.dtype_to_ctype(kind)
    with pytest.raises(ValueError, match=r"unknown type 'pair_of_mine'.*register_dtype"):
        tools.ctype_to_dtype("pair_of_mine")
    assert tools.get_or_register_dtype("pair_of_mine", kind) == kind
    assert tools.dtype_to_ctype(kind) == "pair_of_mine"
    assert tools.get_or_register_dtype("pair_of_mine") == kind
    with pytest.raises(ValueError, match="may not be None"):
        tools.dtype_to_ctype(None)  # type: ignore[arg-type]


@pytest.mark.usefixtures("gpu")
def test_a_kernel_from_a_list_of_arguments() -> None:
    arguments = [VectorArg(np.float32, "z"), ScalarArg(np.float32, "a"), VectorArg(np.float32, "x")]
    host = np.arange(100, dtype=np.float32)
    x, z = to_gpu(host), gpuarray.zeros(100, np.float32)
    elementwise.ElementwiseKernel(arguments, "z[i] = a * x[i]")(z, 3, x)
    assert (z.get() == 3 * host).all()
    function = elementwise.get_elwise_kernel(
        arguments, "z[i] = a + x[i] * twice", loop_prep="float twice = 2"
    )
    function.prepared_call(x._grid, x._block, z.gpudata, 1, x.gpudata, x.mem_size)
    assert (z.get() == 1 + 2 * host).all()
    module = elementwise.get_elwise_module([*arguments, ScalarArg(np.uintp, "n")], "z[i] = x[i] - a", "minus")
    module.get_function("minus")(z, np.float32(4), x, np.uintp(50), block=(64, 1, 1))
    assert (z.get()[:50] == host[:50] - 4).all()
    assert (z.get()[50:] == 1 + 2 * host[50:]).all()
    with pytest.raises(driver.NotEmulated, match="texture references"):
        elementwise.get_linear_combination_kernel(((True, np.float32, np.float32),), np.float32)


@pytest.mark.usefixtures("gpu")
def test_a_reduction_to_a_struct() -> None:
    preamble = """
    struct extremes { int low, high; __device__ extremes(int low = 0, int high = 0) : low(low), high(high) {} };
    __device__ extremes join(extremes a, extremes b) { return extremes(min(a.low, b.low), max(a.high, b.high)); }
    """
    kind = np.dtype([("low", np.int32), ("high", np.int32)])
    tools.register_dtype(kind, "extremes")
    reduce = ReductionKernel(
        kind,
        "extremes(1 << 30, -(1 << 30))",
        "join(a, b)",
        "extremes(x[i], x[i])",
        "int *x",
        preamble=preamble,
    )
    host = np.random.default_rng(2).integers(-9999, 9999, 10_000).astype(np.int32)
    found = reduce(to_gpu(host)).get()
    assert (found["low"], found["high"]) == (host.min(), host.max())


@pytest.mark.usefixtures("gpu")
def test_a_reduction_into_an_array_given() -> None:
    rows = np.random.default_rng(2).random((4, 3000), np.float32)
    largest = ReductionKernel(np.float32, neutral=0, reduce_expr="max(a, b)", arguments="float *in")
    device, out = to_gpu(rows), gpuarray.zeros(4, np.float32)
    for i in range(4):
        largest(device[i], out=out[i])
    assert (out.get() == rows.max(axis=1)).all()
    with pytest.raises(ValueError, match="same dtype as dtype_out, float32"):
        largest(device[0], out=gpuarray.zeros((), np.float64))


@pytest.mark.usefixtures("gpu")
def test_what_the_device_can_do() -> None:
    assert characterize.sizeof("double4") == 32
    assert characterize.sizeof("mine", "struct mine { char a; int b; };") == 8
    assert characterize.has_double_support()
    assert characterize.has_stack()
    assert characterize.platform_bits() == 64


def test_a_test_has_a_context_of_its_own() -> None:
    reset()
    seen: list[Any] = []

    @tools.mark_cuda_test
    def test(value: int) -> None:
        seen.append((value, driver.Context.get_current()))
        raise KeyError(value)

    for value in range(2):
        with pytest.raises(KeyError):
            test(value)
    assert [value for value, _ in seen] == [0, 1]
    assert None not in [context for _, context in seen]
    assert driver.Context.get_current() is None


def test_missing_tools_are_refused_with_a_remedy() -> None:
    with pytest.raises(AttributeError, match=r"OccupancyRecord is not emulated; `ladder occupancy`"):
        tools.OccupancyRecord  # noqa: B018
    with pytest.raises(
        AttributeError, match=r"pycuda\.tools\.nothing is not emulated; emulated are Argument"
    ):
        tools.nothing  # noqa: B018

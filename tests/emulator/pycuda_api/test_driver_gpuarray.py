"""Arrays on the device compute what NumPy computes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from grader.emulator.pycuda_api import cumath, curandom, driver, driver_ext, gpuarray
from grader.emulator.pycuda_api.elementwise import ElementwiseKernel, splay
from grader.emulator.pycuda_api.gpuarray import GPUArray, to_gpu
from grader.emulator.pycuda_api.reduction import ReductionKernel

pytestmark = pytest.mark.usefixtures("gpu")

RNG = np.random.default_rng(3)


def floats(*shape: int) -> Any:
    return RNG.uniform(0.5, 2, shape).astype(np.float32)


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_go_there_and_back(order: Any) -> None:
    host = np.asarray(floats(5, 7), order=order)
    device = to_gpu(host)
    assert (device.shape, device.dtype, device.strides) == (host.shape, host.dtype, host.strides)
    assert (device.get() == host).all()
    assert device.get().flags.f_contiguous == host.flags.f_contiguous
    assert (driver.from_device_like(device.gpudata, host) == host).all()
    into = np.empty_like(host)
    assert device.get(into) is into
    device.set(2 * host)
    assert (device.get(pagelocked=True) == 2 * host).all()
    with pytest.raises(ValueError, match="same size"):
        device.set(floats(3))
    with pytest.raises(ValueError, match="same dtype"):
        device.set(host.astype(np.float64))


def test_an_array_is_a_kernel_argument() -> None:
    device = to_gpu(floats(8))
    driver.memset_d32(device.gpudata, 0, 8)
    assert device.ptr == int(device.gpudata) == device.__cuda_array_interface__["data"][0]
    assert not device.get().any()


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow"])
def test_arithmetic(name: str) -> None:
    operate, in_place = getattr(operator, name), getattr(operator, f"i{name}")
    a, b = floats(9, 5), floats(9, 5)
    x, y = to_gpu(a), to_gpu(b)
    close = {"rtol": 2e-6}
    np.testing.assert_allclose(operate(x, y).get(), operate(a, b), **close)
    np.testing.assert_allclose(operate(x, 3).get(), operate(a, 3), **close)
    np.testing.assert_allclose(operate(2.5, x).get(), operate(2.5, a), **close)
    assert operate(x, 2.5).dtype == np.float32
    np.testing.assert_allclose(in_place(x, y).get(), operate(a, b), **close)
    with pytest.raises(TypeError):
        operate(x, "text")


@pytest.mark.parametrize("name", ["lt", "le", "eq", "ne", "ge", "gt"])
def test_comparisons(name: str) -> None:
    a, b = RNG.integers(0, 3, (2, 50)).astype(np.int32)
    found = getattr(operator, name)(to_gpu(a), to_gpu(b)).get()
    assert (found.astype(bool) == getattr(operator, name)(a, b)).all()


def test_types_are_promoted_as_numpy_promotes_them() -> None:
    a, b = np.arange(5, dtype=np.int32), np.arange(5, dtype=np.float64)
    total = to_gpu(a) + to_gpu(b)
    assert total.dtype == np.float64
    assert (total.get() == a + b).all()
    assert to_gpu(a).astype(np.float32).get().dtype == np.float32


def test_unary_operations() -> None:
    a = RNG.integers(-5, 5, 20).astype(np.int32)
    assert ((-to_gpu(a)).get() == -a).all()
    assert (abs(to_gpu(a)).get() == abs(a)).all()
    assert (to_gpu(a).mul_add(2, to_gpu(a), 3).get() == 5 * a).all()
    assert (gpuarray.maximum(to_gpu(a), 0).get() == np.maximum(a, 0)).all()
    assert (gpuarray.minimum(to_gpu(a), 0).get() == np.minimum(a, 0)).all()
    assert (gpuarray.if_positive(to_gpu(a), to_gpu(a), to_gpu(-a)).get() == abs(a)).all()


def test_looks_share_their_memory() -> None:
    host = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    device = to_gpu(host)
    for index in (1, (..., 2), (slice(None), 1), (slice(0, 2), slice(None, None, -1), 3), (None, 2)):
        assert (device[index].get() == host[index]).all()
    assert (device.T.get() == host.T).all()
    assert (device.reshape(4, 15).get() == host.reshape(4, 15)).all()
    assert (device.ravel().view(np.uint8).get() == host.ravel().view(np.uint8)).all()
    assert (device[:, 1:2].squeeze().get() == host[:, 1]).all()
    device[1] = 7
    device[2, :, 0] = to_gpu(np.arange(4, dtype=np.int32))
    host[1] = 7
    host[2, :, 0] = range(4)
    assert (device.get() == host).all()
    with pytest.raises(RuntimeError, match="only contiguous"):
        device[:, 0] + 1
    with pytest.raises(IndexError):
        device[[0, 1]]


def test_making_arrays() -> None:
    assert (gpuarray.zeros((3, 2), np.int16).get() == 0).all()
    assert (gpuarray.ones(4).get() == np.ones(4)).all()
    assert (gpuarray.arange(2, 11, 3).get() == np.arange(2, 11, 3)).all()
    assert (gpuarray.arange(5, dtype=np.float32).get() == np.arange(5)).all()
    like = to_gpu(floats(3, 3))
    assert gpuarray.empty_like(like).shape == (3, 3)
    assert not gpuarray.zeros_like(like).get().any()
    assert (gpuarray.ones_like(like).get() == 1).all()
    assert (like.copy().fill(5).get() == 5).all()
    assert gpuarray.empty((0, 3), np.float32).get().shape == (0, 3)
    assert str(gpuarray.zeros(2, np.int32)) == "[0 0]"
    assert len(like) == 3
    assert bool(gpuarray.ones((), np.int32))


@pytest.mark.parametrize("size", [1, 31, 513, 2049, 100_000])
def test_reductions(size: int) -> None:
    a = RNG.integers(-100, 100, size).astype(np.int64)
    b = RNG.integers(-100, 100, size).astype(np.int32)
    x, y = to_gpu(a), to_gpu(b)
    assert gpuarray.sum(x).get() == a.sum()
    assert gpuarray.dot(x, y).get() == a @ b
    assert gpuarray.max(y).get() == b.max()
    assert gpuarray.min(y).get() == b.min()
    assert gpuarray.sum(y, dtype=np.float64).get().dtype == np.float64
    assert not [finding for record in driver_ext.launch_records() for finding in record.findings]


def test_a_reduction_of_ones_own() -> None:
    norm = ReductionKernel(
        np.float32,
        neutral="0",
        reduce_expr="a+b",
        map_expr="x[i]*x[i]*w",
        arguments="const float *x, float w",
    )
    a = floats(5000)
    np.testing.assert_allclose(norm(to_gpu(a), np.float32(2)).get(), 2 * (a * a).sum(), rtol=1e-5)


def test_an_elementwise_kernel_of_ones_own() -> None:
    combine = ElementwiseKernel(
        "float a, float *x, float *y, float *z", "z[i] = my_f(a*x[i], y[i])", "combine",
        preamble="__device__ float my_f(float x, float y) { return sinf(x) + y; }",
    )  # fmt: skip
    x, y = floats(1000), floats(1000)
    z = gpuarray.zeros(1000, np.float32)
    combine(5, to_gpu(x), to_gpu(y), z)
    np.testing.assert_allclose(z.get(), np.sin(5 * x) + y, rtol=1e-5, atol=1e-6)  # sums may cancel
    combine(5, to_gpu(x), to_gpu(y), z, stream=driver.Stream())
    assert [record.kernel for record in driver_ext.launch_records()] == ["combine", "combine"]


@pytest.mark.parametrize("part", [slice(None, None, 2), slice(90, 10, -7), slice(5, 6), range(3, 50, 4)])
def test_an_elementwise_kernel_on_some_indices(part: Any) -> None:
    mark = ElementwiseKernel("int *x", "x[i] = i", "mark")
    host = np.full(100, -1, np.int32)
    device = to_gpu(host)
    mark(device, **{"slice" if isinstance(part, slice) else "range": part})
    indices = np.arange(100)[part] if isinstance(part, slice) else np.array(part)
    host[indices] = indices
    assert (device.get() == host).all()


def test_mathematical_functions() -> None:
    a = floats(100)
    x = to_gpu(a)
    for name in ("sqrt", "exp", "log", "sin", "tanh", "floor", "fabs"):
        np.testing.assert_allclose(getattr(cumath, name)(x).get(), getattr(np, name)(a), rtol=1e-5)
    out = gpuarray.empty_like(x)
    assert cumath.cos(x, out=out) is out
    with pytest.raises(AttributeError, match=r"pycuda\.cumath\.gamma is not emulated"):
        cumath.gamma  # noqa: B018


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u4"])
def test_random_numbers(dtype: str) -> None:
    np.random.seed(5)
    first = curandom.rand((100, 100), dtype).get()
    assert first.shape == (100, 100)
    scale = 1 if dtype[0] == "f" else 2**32
    middle = 0 if dtype[0] == "i" else scale / 2
    assert abs(first.mean(dtype=np.float64) - middle) < 0.02 * scale
    assert abs(first.std(dtype=np.float64) - scale / 12**0.5) < 0.02 * scale
    assert (curandom.rand((100, 100), dtype).get() != first).mean() > 0.99
    np.random.seed(5)
    assert (curandom.rand((100, 100), dtype).get() == first).all()


def test_what_is_missing_is_refused() -> None:
    a = to_gpu(floats(3, 4))
    with pytest.raises(NotImplementedError, match="Broadcasting"):
        a + to_gpu(floats(4))
    with pytest.raises(ValueError, match=r"unable to map dtype 'float16'.*register_dtype"):
        to_gpu(np.zeros(3, np.float16)) + 1
    with pytest.raises(ValueError, match="unknown type 'foo'"):
        ElementwiseKernel("float *x, foo y", "x[i] = y")
    with pytest.raises(ValueError, match="at least one vector"):
        ElementwiseKernel("float x", "x = 1")
    with pytest.raises(RuntimeError, match="C and in Fortran order"):
        to_gpu(floats(3, 4)) + to_gpu(np.asfortranarray(floats(3, 4)))
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(a)


def test_vector_types() -> None:
    assert gpuarray.vec.float3.itemsize == 12  # type: ignore[attr-defined]
    value = gpuarray.vec.make_int2(1, 2)  # type: ignore[attr-defined]
    assert (value["x"], value["y"]) == (1, 2)
    assert not hasattr(gpuarray.vec, "double4")


@pytest.mark.parametrize(
    ("n", "grid", "block"),
    [(0, 1, 32), (31, 1, 32), (33, 2, 32), (135168, 4224, 32), (135169, 4224, 64), (10**7, 4224, 128)],
)
def test_grids_are_pycudas(n: int, grid: int, block: int) -> None:
    assert splay(n) == ((grid, 1), (block, 1, 1))


def test_grid_of_an_array() -> None:
    assert isinstance(to_gpu(floats(3)), GPUArray)

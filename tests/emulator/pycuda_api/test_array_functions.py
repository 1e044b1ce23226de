"""Arrays reshaped, joined, chosen from and reduced give what NumPy gives, or what PyCUDA gives where that differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.emulator.pycuda_api import cumath, driver, gpuarray
from grader.emulator.pycuda_api.gpuarray import to_gpu

pytestmark = pytest.mark.usefixtures("gpu")

RNG = np.random.default_rng(6)


def integers(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape).astype(np.int32)


@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape_reinterprets_memory(order: Any) -> None:
    """Unlike NumPy's reshape(order="F"), which permutes elements."""
    host = np.arange(24, dtype=np.int32)
    device = to_gpu(host).reshape((4, 6), order=order)
    assert (device.get() == host.reshape((4, 6), order=order)).all()
    again = device.reshape(3, -1, order="F")
    assert again.flags.f_contiguous
    assert (again.get() == host.reshape((3, 8), order="F")).all()
    assert (gpuarray.reshape(device, 24).get() == host).all()
    assert again.ptr == device.ptr


def test_reshape_refuses_gaps_and_other_sizes() -> None:
    device = to_gpu(integers(4, 6))
    with pytest.raises(RuntimeError, match="only contiguous"):
        device[:, 1:3].reshape(-1)
    with pytest.raises(ValueError, match="cannot reshape"):
        device.reshape(5, 5)
    with pytest.raises(ValueError, match="one unknown dimension"):
        device.reshape(-1, -1, 4)


def test_a_view_of_another_type_changes_the_axis_of_neighbours() -> None:
    host = np.asfortranarray(integers(4, 6))
    assert to_gpu(host).view(np.int16).shape == (8, 6)
    assert to_gpu(host).view(np.int64).shape == (2, 6)
    assert to_gpu(np.ascontiguousarray(host)).view(np.int16).shape == (4, 12)


@pytest.mark.parametrize("make", [gpuarray.empty_like, gpuarray.zeros_like, gpuarray.ones_like])
def test_arrays_like_others(make: Any) -> None:
    host = integers(3, 4, 5)
    for like in (host, np.asfortranarray(host), host.transpose(1, 0, 2)):
        for order in "CFAK":
            found, expected = make(to_gpu(like), order=order), np.empty_like(like, order=order)
            assert (found.shape, found.strides, found.dtype) == (
                expected.shape,
                expected.strides,
                expected.dtype,
            )
        assert make(like, dtype=np.complex64).dtype == np.complex64
    value = {"zeros_like": 0, "ones_like": 1}.get(make.__name__)
    assert value is None or (make(to_gpu(host)).get() == value).all()
    assert make(to_gpu(host[:0])).size == 0


def test_joining() -> None:
    a, b = integers(3, 4), integers(3, 2)
    x, y = to_gpu(a), to_gpu(b)
    assert (gpuarray.concatenate((x, y), axis=1).get() == np.concatenate((a, b), axis=1)).all()
    assert (gpuarray.concatenate((x.T, y.T)).get() == np.concatenate((a.T, b.T))).all()
    with pytest.raises(ValueError, match="must match exactly"):
        gpuarray.concatenate((x, y))
    for axis in (0, 1, 2, -1):
        assert (gpuarray.stack((x, x), axis=axis).get() == np.stack((a, a), axis=axis)).all()
    for arrays, axis, message in [
        ((), 0, "at least one"),
        ((x, y), 0, "same shape"),
        ((x, x), 3, "0 to 2, or -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            gpuarray.stack(arrays, axis)


def test_choosing_by_a_criterion_of_another_type() -> None:
    criterion = np.array([0.5, 0, -0.5], np.float32)
    a, b = integers(3), integers(3)
    chosen = [to_gpu(each) for each in (criterion, a, b)]
    assert (gpuarray.where(*chosen).get() == np.where(criterion, a, b)).all()
    assert (gpuarray.if_positive(*chosen).get() == np.where(criterion > 0, a, b)).all()
    out = gpuarray.empty_like(chosen[1])
    assert gpuarray.where(*chosen, out=out) is out
    with pytest.raises(ValueError, match="dtypes do not match"):
        gpuarray.where(chosen[0], chosen[1], to_gpu(b.astype(np.int64)))
    with pytest.raises(ValueError, match="shapes do not match"):
        gpuarray.if_positive(chosen[0], chosen[1], to_gpu(integers(4)))


def test_arrays_that_lie_differently_are_not_combined() -> None:
    """Kernels take elements in memory order."""
    c = to_gpu(integers(3, 4))
    f = to_gpu(np.asfortranarray(integers(3, 4)))
    for combine in (
        lambda: gpuarray.where(c, f, f),
        lambda: gpuarray.if_positive(f, c, c),
        lambda: gpuarray.maximum(c, f),
        lambda: c.astype(np.complex64).conj(out=f.astype(np.complex128)),
    ):
        with pytest.raises(RuntimeError, match="C and in Fortran order"):
            combine()


def test_truth() -> None:
    a, b = np.array([0, 0, 0.3, 0.3]), np.array([0, 2.0, 0, 2.0])
    x, y = to_gpu(a), to_gpu(b)
    for name in ("logical_and", "logical_or"):
        on_gpu, on_host = getattr(gpuarray, name), getattr(np, name)
        for found, expected in [
            (on_gpu(x, y), on_host(a, b)),
            (on_gpu(x, 0.2), on_host(a, 0.2)),
            (on_gpu(0, y), on_host(0, b)),
            (on_gpu(1, 0), on_host(1, 0)),
        ]:
            assert found.dtype == np.bool_
            assert (found.get() == expected).all()
    assert (gpuarray.logical_not(x).get() == np.logical_not(a)).all()
    with pytest.raises(NotImplementedError, match="Broadcasting"):
        gpuarray.logical_and(x, to_gpu(integers(3)))


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.float64])
@pytest.mark.parametrize("values", [[0], [1], [0, 1, 0], [1, 1, 1], [1, 0, 1]])
def test_any_and_all(values: list[int], dtype: Any) -> None:
    host = np.array(values, dtype)
    device = to_gpu(host)
    for found, expected in [(device.any(), host.any()), (device.all(), host.all())]:
        assert found.dtype == np.bool_
        assert found.get() == expected
    assert gpuarray.any(device).get() == host.any()
    assert gpuarray.all(device).get() == host.all()


def test_reductions_of_subsets() -> None:
    a, b = integers(5000), integers(5000).astype(np.float64)
    subset = RNG.permutation(5000)[:3000].astype(np.int32)
    x, y, some = to_gpu(a), to_gpu(b), to_gpu(subset)
    assert gpuarray.subset_sum(some, x).get() == a[subset].sum()
    assert gpuarray.subset_dot(some, x, y).get() == a[subset] @ b[subset]
    assert gpuarray.subset_min(some, x).get() == a[subset].min()
    assert gpuarray.subset_max(some, y).get() == b[subset].max()


def test_taking_and_putting() -> None:
    a, b = integers(50), integers(50)
    here, there = np.array([7, 3, 3, 20], np.uint32), np.array([0, 5, 2, 9], np.uint32)
    arrays = [to_gpu(a), to_gpu(b)]
    source, target = to_gpu(here), to_gpu(there)
    assert (gpuarray.take(arrays[0], source).get() == a[here]).all()
    found = gpuarray.multi_take(arrays, source)
    assert all((each.get() == host[here]).all() for each, host in zip(found, (a, b), strict=True))
    out = [gpuarray.zeros(10, np.int32) for _ in arrays]
    assert gpuarray.multi_put([each[:4] for each in arrays], target, out=out) is out
    assert (out[1].get()[there] == b[:4]).all()
    found = gpuarray.multi_take_put(arrays, target, source, dest_shape=(10,), src_offsets=[0, 25])
    assert (found[0].get()[there] == a[here]).all()
    assert (found[1].get()[there] == b[here + 25]).all()
    with pytest.raises(ValueError, match="dest_shape is needed"):
        gpuarray.multi_put(arrays, target)


def test_reverse_and_scaling() -> None:
    host = integers(40)
    assert (to_gpu(host).reverse().get() == host[::-1]).all()
    x, out = to_gpu(host), gpuarray.empty(40, np.int32)
    assert x.mul_add(2, x, 3, out=out) is out
    assert (out.get() == 5 * host).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_two_results_or_arguments(dtype: Any) -> None:
    a, b = RNG.uniform(-9, 9, 100).astype(dtype), RNG.uniform(1, 3, 100).astype(dtype)
    x, y = to_gpu(a), to_gpu(b)
    assert (cumath.fmod(x, y).get() == np.fmod(a, b)).all()
    assert (cumath.ldexp(x, y).get() == np.ldexp(a, b.astype(int))).all()
    for found, expected in [(cumath.modf(x), np.modf(a)), (cumath.frexp(x), np.frexp(a))]:
        assert all((each.get() == host).all() for each, host in zip(found, expected, strict=True))


def test_structs_are_filled() -> None:
    value = gpuarray.vec.make_float4(1, 2, 3, 4)  # type: ignore[attr-defined]
    assert (gpuarray.empty(10, value.dtype).fill(value).get() == value).all()


def test_texture_references_are_refused_by_name() -> None:
    with pytest.raises(driver.NotEmulated, match="bind_to_texref: texture and surface references are gone"):
        to_gpu(integers(3)).bind_to_texref_ext(None)
    with pytest.raises(
        AttributeError, match=r"pycuda\.gpuarray\.fft is not emulated; emulated are GPUArray, all"
    ):
        gpuarray.fft  # noqa: B018

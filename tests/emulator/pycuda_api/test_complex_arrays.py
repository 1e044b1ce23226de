"""Complex numbers on the device: arrays, functions, reductions, and kernels that include PyCUDA's header."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from grader.emulator.pycuda_api import cumath, driver, gpuarray
from grader.emulator.pycuda_api.compiler import SourceModule
from grader.emulator.pycuda_api.elementwise import ElementwiseKernel
from grader.emulator.pycuda_api.gpuarray import to_gpu

pytestmark = pytest.mark.usefixtures("gpu")

RNG = np.random.default_rng(4)
TYPES = pytest.mark.parametrize("dtype", [np.complex64, np.complex128])


def numbers(dtype: Any, *shape: int) -> Any:
    return (RNG.uniform(-2, 2, shape) + 1j * RNG.uniform(-2, 2, shape)).astype(dtype)


@TYPES
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow"])
def test_arithmetic(name: str, dtype: Any) -> None:
    operate = getattr(operator, name)
    a, b = numbers(dtype, 40), numbers(dtype, 40)
    x, y = to_gpu(a), to_gpu(b)
    for found, expected in [
        (operate(x, y), operate(a, b)),
        (operate(x, 2), operate(a, 2)),
        (operate(0.5j, x), operate(0.5j, a)),
    ]:
        assert found.dtype == expected.dtype == dtype
        np.testing.assert_allclose(found.get(), expected, rtol=1e-5)


def test_real_arrays_become_complex_as_in_numpy() -> None:
    a, b = np.arange(5, dtype=np.float32), numbers(np.complex64, 5)
    total = to_gpu(a) + to_gpu(b)
    assert total.dtype == np.complex64
    np.testing.assert_allclose(total.get(), a + b)
    assert (to_gpu(a) * 1j).dtype == np.complex64
    assert (to_gpu(np.arange(3)) + to_gpu(b[:3])).dtype == np.complex128


@TYPES
def test_parts(dtype: Any) -> None:
    a = numbers(dtype, 6, 5)
    x = to_gpu(np.asfortranarray(a))
    for found, expected in [
        (x.real, a.real),
        (x.imag, a.imag),
        (x.conj(), a.conj()),
        (x.conjugate(), a.conj()),
    ]:
        assert found.dtype == expected.dtype
        assert found.flags.f_contiguous
        assert (found.get() == expected).all()
    np.testing.assert_allclose(abs(x).get(), abs(a), rtol=1e-6)
    out = gpuarray.empty_like(x)
    assert x.conj(out=out) is out
    real = to_gpu(a.real)
    assert real.real is real
    assert real.conj() is real
    assert not real.imag.get().any()


def test_a_complex_number_does_not_become_real_by_itself() -> None:
    with pytest.raises(TypeError, match=r"complex64 does not become float32 by itself: take \.real"):
        to_gpu(numbers(np.complex64, 3)).astype(np.float32)


def test_comparison_division_by_zero_and_truth() -> None:
    a = np.array([0, 1, 1j, 1 + 1j], np.complex64)
    x = to_gpu(a)
    assert (((x == 1j).get() != 0) == (a == 1j)).all()
    assert (((x != x).get() != 0) == (a != a)).all()
    assert x.any().get()
    assert not x.all().get()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal((x / 0).get(), a / np.complex64(0))


@TYPES
def test_reductions(dtype: Any) -> None:
    a, b = numbers(dtype, 5000), numbers(dtype, 5000)
    np.testing.assert_allclose(gpuarray.sum(to_gpu(a)).get(), a.sum(), rtol=1e-4)
    np.testing.assert_allclose(gpuarray.dot(to_gpu(a), to_gpu(b)).get(), a @ b, rtol=1e-4)


@TYPES
@pytest.mark.parametrize("name", ["exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"])
def test_functions(name: str, dtype: Any) -> None:
    a = np.concatenate([numbers(dtype, 200), np.array([1, -1, -2 + 0j, 1e-3j], dtype)])
    found = getattr(cumath, name)(to_gpu(a)).get()
    np.testing.assert_allclose(found, getattr(np, name)(a), rtol=1e-5 if dtype == np.complex64 else 1e-12)


def test_a_function_of_real_numbers_alone_is_refused_by_name() -> None:
    with pytest.raises(driver.NotEmulated, match=r"cumath\.floor of complex64 is not emulated; take \.real"):
        cumath.floor(to_gpu(numbers(np.complex64, 3)))


def test_an_elementwise_kernel_takes_them_as_numbers_and_as_arrays() -> None:
    scale = ElementwiseKernel(
        "pycuda::complex<float> a, pycuda::complex<float> *z", "z[i] = a * z[i] + 1", "scale"
    )
    a = numbers(np.complex64, 100)
    x = to_gpu(a)
    scale(2j, x)
    np.testing.assert_allclose(x.get(), 2j * a + 1, rtol=1e-6)


def test_a_module_includes_the_header_and_keeps_its_line_numbers() -> None:
    source = """
    #include <pycuda-complex.hpp>
    typedef pycuda::complex<double> number;
    __global__ void k(number *z, int n) { z[threadIdx.x] = pow(z[threadIdx.x], n) + pycuda::polar(1.0, 0.5); }
    """
    a = numbers(np.complex128, 32)
    for power in (0, 3, -2):
        x = to_gpu(a)
        SourceModule(source).get_function("k")(x, np.int32(power), block=(32, 1, 1))
        np.testing.assert_allclose(x.get(), a**power + np.exp(0.5j), rtol=1e-12)
    for wrapped in (False, True):
        with pytest.raises(driver.CompileError, match=r"kernel\.cu\(5\): error"):
            SourceModule(source + "int wrong = nothing;", no_extern_c=wrapped)


def test_pycudas_header_for_textures_is_refused_by_name() -> None:
    with pytest.raises(driver.NotEmulated, match=r"pycuda-helpers\.hpp: texture"):
        SourceModule("#include <pycuda-helpers.hpp>\n__global__ void k() {}")
    with pytest.raises(
        driver.CompileError, match=r"kernel\.cu\(2\): texture and surface references are gone"
    ):
        SourceModule("\ntexture<float, 2> t;\n__global__ void k(float *a) { *a = tex2D(t, 0, 0); }")

"""Random numbers have the distributions asked for, and repeat where they should."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from grader.emulator.pycuda_api import curandom, driver, gpuarray
from grader.emulator.pycuda_api.curandom import MRG32k3aRandomNumberGenerator, XORWOWRandomNumberGenerator

pytestmark = pytest.mark.usefixtures("gpu")

N = 40_000
FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def seven(n: int) -> Any:
    return gpuarray.to_gpu(np.full(n, 7, np.int32))


def close(values: Any, mean: float, deviation: float) -> bool:
    """Whether mean and standard deviation are within six standard errors, or so, of what they should be."""
    error = 6 * deviation / math.sqrt(values.size)
    return abs(values.mean() - mean) < error and abs(values.std() - deviation) < 2 * error


@FLOATS
@pytest.mark.parametrize("kind", [XORWOWRandomNumberGenerator, MRG32k3aRandomNumberGenerator])
def test_distributions(kind: Any, dtype: Any) -> None:
    generator = kind(seven)
    uniform = generator.gen_uniform(N, dtype).get()
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert close(uniform, 0.5, 12**-0.5)
    assert close(generator.gen_normal(N, dtype).get(), 0, 1)
    assert close(np.log(generator.gen_log_normal(N, dtype, 2, 0.5).get()), 2, 0.5)


def test_poisson_numbers() -> None:
    generator = XORWOWRandomNumberGenerator(seven)
    found = generator.gen_poisson(N, np.uint32, 13.0).get()
    assert close(found.astype(float), 13, math.sqrt(13))
    own_means = gpuarray.to_gpu(np.repeat([1.0, 20.0], N).astype(np.float32))
    generator.fill_poisson(own_means)
    assert close(own_means.get()[:N], 1, 1)
    assert close(own_means.get()[N:], 20, math.sqrt(20))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_integers_have_all_values(dtype: Any) -> None:
    found = XORWOWRandomNumberGenerator(seven).gen_uniform(1000, dtype).get()
    assert len(np.unique(found)) > 990
    limits = np.iinfo(dtype)
    assert found.min() < limits.min * 0.9 + limits.max * 0.1
    assert found.max() > limits.min * 0.1 + limits.max * 0.9


def test_a_generator_goes_on_and_repeats_from_its_seed() -> None:
    first, second = (XORWOWRandomNumberGenerator(seven) for _ in range(2))
    a, b = first.gen_uniform(10, np.float64).get(), first.gen_uniform(10, np.float64).get()
    assert not np.isin(a, b).any()
    assert (second.gen_uniform(20, np.float64).get() == [*a, *b]).all()
    skipping = XORWOWRandomNumberGenerator(seven, offset=4)
    skipping.call_skip_ahead(6)
    assert (skipping.gen_uniform(10, np.float64).get() == b).all()
    for getter in (curandom.seed_getter_unique, curandom.seed_getter_uniform):
        assert getter(5).shape == (5,)
        assert not (XORWOWRandomNumberGenerator(getter).gen_uniform(10, np.float64).get() == a).any()


def test_what_there_is_not() -> None:
    generator = XORWOWRandomNumberGenerator()
    with pytest.raises(NotImplementedError, match="uniform numbers of int16; there are float32"):
        generator.gen_uniform(3, np.int16)
    with pytest.raises(NotImplementedError, match="normal numbers of int32"):
        generator.gen_normal(3, np.int32)
    with pytest.raises(TypeError, match="seed must be GPUArray of integers"):
        XORWOWRandomNumberGenerator(lambda n: gpuarray.zeros(n, np.float32))
    with pytest.raises(driver.NotEmulated, match=r"Sobol32RandomNumberGenerator: .*; use XORWOW"):
        curandom.Sobol32RandomNumberGenerator()
    with pytest.raises(AttributeError, match=r"pycuda\.curandom\.nothing is not emulated; emulated are rand"):
        curandom.nothing  # noqa: B018

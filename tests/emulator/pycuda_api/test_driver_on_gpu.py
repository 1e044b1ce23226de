"""Where there is a GPU: the emulator's PyCUDA against PyCUDA itself."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader import cuda
from grader.emulator import devices
from grader.emulator.nvrtc.compilation import build
from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.driver.arguments import pack

pytestmark = pytest.mark.skipif(bool(cuda.gpu_problem()), reason="no GPU, or no PyCUDA")

KERNEL = """
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x % 64] = a;
    __syncthreads();
    if (i < n) y[i] += tile[(threadIdx.x + 1) % 64] * x[i];
}
"""


def image_for(device: cuda.Cuda, source: str = KERNEL) -> bytes:
    return build(source, arch=device.arch).image("pycuda" if device.kind == "gpu" else "emulator")


@pytest.fixture
def gpu() -> Iterator[cuda.Cuda]:
    device = cuda.select("pycuda")
    yield device
    device.release()


def test_a_kernel_gives_the_same_on_both(gpu: cuda.Cuda) -> None:
    x = np.random.default_rng(1).random(1000, dtype=np.float32)
    results = [saxpy(gpu, x), saxpy(cuda.select("emulator"), x)]
    assert (results[0] == results[1]).all()
    assert gpu.ext.launch_records() == []


def saxpy(device: cuda.Cuda, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    image = image_for(device)
    y = np.ones_like(x)
    function = device.driver.module_from_buffer(image).get_function("saxpy")
    arguments = device.driver.InOut(y), device.driver.In(x), np.float32(2), np.int32(x.size)
    function(*arguments, block=(128, 1, 1), grid=(8, 1))
    return y


def test_functions_have_the_same_attributes(gpu: cuda.Cuda) -> None:
    real = attributes(gpu)
    emulated = attributes(cuda.select("emulator", gpu.arch))
    assert emulated == real


def attributes(device: cuda.Cuda) -> dict[str, int]:
    image = image_for(device)
    function = device.driver.module_from_buffer(image).get_function("saxpy")
    names = [
        name for name in device.driver.function_attribute.names if name in driver.function_attribute.names
    ]
    found = {name: function.get_attribute(getattr(device.driver.function_attribute, name)) for name in names}
    found |= {
        f"blocks of {n}": device.ext.max_active_blocks(image, "saxpy", n, 1000) for n in (32, 256, 1024)
    }
    return found


def test_the_emulated_gpu_has_the_real_ones_attributes(gpu: cuda.Cuda) -> None:
    emulated = devices.find(gpu.arch)
    if emulated.name != gpu.name:
        pytest.skip(f"the emulated {gpu.arch} is a {emulated.name}, this is a {gpu.name}")
    own_place = {"pci_bus_id", "pci_device_id", "pci_domain_id", "multi_gpu_board_group_id"}
    real = gpu.ext.device_limits()
    different = {
        name: (value, real[name])
        for name, value in emulated.attributes.items()
        if name not in own_place and real[name] != value
    }
    assert different == {}, "emulated, real"


@pytest.mark.parametrize(
    "arguments",
    [(np.uint64(0), np.int32(1), np.int32(2)), (np.uint64(0), np.int64(1))],
    ids=["one too many", "one too large"],
)
def test_too_many_bytes_of_arguments_are_refused_by_both(gpu: cuda.Cuda, arguments: Any) -> None:
    for device in (gpu, cuda.select("emulator")):
        image = image_for(device, 'extern "C" __global__ void k(float *a, int n) {}')
        function = device.driver.module_from_buffer(image).get_function("k")
        with pytest.raises(device.driver.LaunchError, match="cuLaunchKernel failed: too many resources"):
            function(*arguments, block=(1, 1, 1))


def test_packing_is_pycudas(gpu: cuda.Cuda) -> None:
    from pycuda._pvt_struct import pack as pycudas_pack

    rng = np.random.default_rng(2)
    for _ in range(200):
        codes = "".join(rng.choice(list("bBhHiIlLqQnNPfd?"), rng.integers(1, 10)))
        values = [rng.integers(0, 100) if code not in "fd" else rng.random() for code in codes]
        assert pack(codes, *values) == pycudas_pack(codes, *values)
    with pytest.raises(struct.error):
        pack("e", 1.0)


def test_errors_are_worded_as_the_drivers_are(gpu: cuda.Cuda) -> None:
    for device in (gpu, cuda.select("emulator")):
        with pytest.raises(device.driver.LogicError, match="cuMemAlloc failed: invalid argument"):
            device.driver.mem_alloc(0)
        with pytest.raises(device.driver.MemoryError, match="cuMemAlloc failed: out of memory"):
            device.driver.mem_alloc(1 << 50)
        module = device.driver.module_from_buffer(image_for(device))
        with pytest.raises(
            device.driver.LogicError, match="cuModuleGetFunction failed: named symbol not found"
        ):
            module.get_function("nothing")
        function = module.get_function("saxpy")
        with pytest.raises(device.driver.LogicError, match="cuFuncSetBlockShape failed: invalid argument"):
            function(block=(2048, 1, 1))

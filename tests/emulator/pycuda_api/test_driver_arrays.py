"""CUDA arrays and copies of rows and boxes, as PyCUDA has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.emulator.machine.textures import objects
from grader.emulator.machine.textures.objects import Texture
from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.compiler import SourceModule
from grader.emulator.pycuda_api.driver.emulation import emulation

pytestmark = pytest.mark.usefixtures("gpu")


def described(width: int, height: int, dtype: str, channels: int = 1) -> driver.ArrayDescriptor:
    found = driver.ArrayDescriptor()
    found.width, found.height, found.num_channels = width, height, channels
    found.format = driver.dtype_to_array_format(np.dtype(dtype))
    return found


def back(array: driver.Array, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What an array of two dimensions holds."""
    found = np.zeros_like(like)
    copy = driver.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(found)
    copy.width_in_bytes = copy.dst_pitch = found[0].nbytes
    copy.height = len(found)
    copy(aligned=True)
    return found


def test_an_array_tells_what_it_is() -> None:
    array = driver.Array(described(5, 3, "i2", 4))
    found = array.get_descriptor()
    assert (found.width, found.height, found.num_channels) == (5, 3, 4)
    assert str(found.format) == "SIGNED_INT16"
    assert array.get_descriptor_3d().depth == 0
    assert array.handle
    array.free()
    with pytest.raises(driver.LogicError):
        array.free()


@pytest.mark.parametrize(
    ("descriptor", "words"),
    [(described(4, 4, "f4", 3), "3 channels"), (described(0, 4, "f4"), "0 bytes")],
    ids=["channels", "extent"],
)
def test_arrays_that_cuda_does_not_make(descriptor: driver.ArrayDescriptor, words: str) -> None:
    with pytest.raises(driver.LogicError, match=words):
        driver.Array(descriptor)


def test_a_box_goes_from_device_memory_into_an_array() -> None:
    matrix = np.arange(48, dtype=np.float32).reshape(6, 8)
    memory = driver.to_device(matrix)
    array = driver.Array(described(5, 4, "f4"))
    copy = driver.Memcpy2D()
    copy.set_src_device(memory)
    copy.set_dst_array(array)
    copy.src_x_in_bytes, copy.src_y, copy.src_pitch = 8, 1, matrix.strides[0]
    copy.dst_x_in_bytes, copy.dst_y = 4, 2
    copy.width_in_bytes, copy.height = 12, 2
    copy(driver.Stream())
    wanted = np.zeros((4, 5), np.float32)
    wanted[2:4, 1:4] = matrix[1:3, 2:5]
    np.testing.assert_array_equal(back(array, wanted), wanted)


def test_three_dimensions_with_a_pitch() -> None:
    volume = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    array = driver.np_to_array(volume, "C")
    memory = driver.mem_alloc(512 * 5 * 2)
    copy = driver.Memcpy3D()
    copy.set_src_array(array)
    copy.set_dst_device(memory)
    copy.dst_pitch, copy.dst_height = 512, 5
    copy.width_in_bytes, copy.height, copy.depth = 16, 3, 2
    copy()
    found = driver.from_device(memory, (2, 5, 128), np.int32)
    np.testing.assert_array_equal(found[:, :3, :4], volume)
    assert np.count_nonzero(found) == 23


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_becomes_an_array(order: Any) -> None:
    """In Fortran's order the texels of a row are a column of the matrix."""
    matrix = np.asarray(np.arange(12, dtype=np.float32).reshape(3, 4), order=order)
    array = driver.matrix_to_array(matrix, order)
    wanted = np.ascontiguousarray(matrix if order == "C" else matrix.T)
    assert array.get_descriptor().width == wanted.shape[1]
    np.testing.assert_array_equal(back(array, wanted), wanted)


def test_channels_come_last_in_c_order() -> None:
    colours = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    array = driver.make_multichannel_2d_array(colours, "C")
    assert array.get_descriptor().num_channels == 4
    np.testing.assert_array_equal(back(array, colours.reshape(2, 12)), colours.reshape(2, 12))


def test_copies_beyond_an_end_are_refused() -> None:
    array = driver.Array(described(4, 4, "f4"))
    copy = driver.Memcpy2D()
    copy.set_src_host(np.zeros(16, np.float32))
    copy.width_in_bytes, copy.height = 16, 4
    with pytest.raises(driver.LogicError, match="no set_dst_host"):
        copy()
    copy.set_dst_array(array)
    copy.dst_y = 1
    with pytest.raises(driver.LogicError, match="leaves the array"):
        copy()
    copy.dst_y, copy.src_y = 0, 1
    with pytest.raises(driver.LogicError, match="buffer of 64"):
        copy()


def test_a_kernel_fetches_from_an_array() -> None:
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    array = driver.matrix_to_array(matrix, "C")
    handle = objects.create(
        emulation().machine.memory, Texture(objects.of_array(array._about), filtered=True)
    )
    module = SourceModule("""
    __global__ void k(cudaTextureObject_t t, float* out) { out[0] = tex2D<float>(t, 2.0f, 1.5f); }
    """)
    out = np.zeros(1, np.float32)
    module.get_function("k")(np.uint64(handle), driver.Out(out), block=(1, 1, 1), grid=(1, 1))
    assert out[0] == (matrix[1, 1] + matrix[1, 2]) / 2

"""The library routines that ladders are compared with. They run in the child, through CuPy and PyTorch, on its
own buffers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

TITLES = {
    "cupy.matmul": "cuBLAS (cupy.matmul)",
    "cupy.transpose": "CuPy (out[...] = in.T)",
    "torch.conv2d": "cuDNN (torch.conv2d)",
}
"""What tables call each library that a topic.toml may name."""


def _matmul(cupy: Any, a: Any, b: Any, c: Any) -> None:
    cupy.matmul(a, b, out=c)


def _transpose(cupy: Any, source: Any, target: Any) -> None:
    target[...] = source.T


def _conv2d(cupy: Any, x: Any, w: Any, y: Any, stride: int, pad: int) -> None:
    """cuDNN, with the algorithm it finds to be the fastest when it is first called. The output is a new array."""
    import torch

    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    x, w = (torch.as_tensor(array, device="cuda") for array in (x, w))
    torch.conv2d(x, w, stride=stride, padding=pad)


_ROUTINES: dict[str, Callable[..., None]] = {
    "cupy.matmul": _matmul,
    "cupy.transpose": _transpose,
    "torch.conv2d": _conv2d,
}

_SIZES = {"torch.conv2d": ("stride", "pad")}
"""Sizes that a routine is told, where the arrays' shapes do not tell them."""


def call(name: str, arrays: Mapping[str, tuple[int, str, tuple[int, ...]]], sizes: Mapping[str, int]) -> None:
    """Enqueue a library routine on the default stream.

    `arrays` are address, dtype and shape by parameter name, inputs then outputs, in the signature's order.
    `sizes` are the problem's. Raises ImportError without CuPy or the library, KeyError for a library of another name.
    """
    os.environ["CUPY_TF32"] = "0"  # FP32 means FP32, whatever the user's environment asks for
    import cupy

    told = {size: sizes[size] for size in _SIZES.get(name, ())}
    _ROUTINES[name](cupy, *(_array(cupy, *place) for place in arrays.values()), **told)


def _array(cupy: Any, address: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """A CuPy array over memory that belongs to somebody else."""
    size = cupy.dtype(dtype).itemsize
    for extent in shape:
        size *= extent
    memory = cupy.cuda.UnownedMemory(address, size, owner=None)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))

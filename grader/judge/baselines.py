"""The library routines that ladders are compared with. They run in the child, through CuPy, on its own
buffers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

TITLES = {
    "cupy.matmul": "cuBLAS (cupy.matmul)",
    "cupy.transpose": "CuPy (out[...] = in.T)",
}
"""What tables call each library that a topic.toml may name."""


def _matmul(cupy: Any, a: Any, b: Any, c: Any) -> None:
    cupy.matmul(a, b, out=c)


def _transpose(cupy: Any, source: Any, target: Any) -> None:
    target[...] = source.T


_ROUTINES: dict[str, Callable[..., None]] = {"cupy.matmul": _matmul, "cupy.transpose": _transpose}


def call(name: str, arrays: Mapping[str, tuple[int, str, tuple[int, ...]]]) -> None:
    """Enqueue a library routine on the default stream.

    `arrays` are address, dtype and shape by parameter name, inputs then outputs, in the signature's order.
    Raises ImportError without CuPy, KeyError for a library of another name.
    """
    os.environ["CUPY_TF32"] = "0"  # FP32 means FP32, whatever the user's environment asks for
    import cupy

    _ROUTINES[name](cupy, *(_array(cupy, *place) for place in arrays.values()))


def _array(cupy: Any, address: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """A CuPy array over memory that belongs to somebody else."""
    size = cupy.dtype(dtype).itemsize
    for extent in shape:
        size *= extent
    memory = cupy.cuda.UnownedMemory(address, size, owner=None)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))

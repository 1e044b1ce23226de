"""The library routines that ladders are compared with. They run in the child, through CuPy and PyTorch, on its
own buffers."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

TITLES = {
    "cub.histogram": "CUB by way of CuPy (HistogramEven, 64-bit counts)",
    "cub.sum": "CUB (DeviceReduce::Sum)",
    "cublas.gemmEx": "cuBLAS (gemmEx, FP32 accumulation and output)",
    "cupy.matmul": "cuBLAS (cupy.matmul)",
    "cupy.transpose": "CuPy (out[...] = in.T)",
    "torch.conv2d": "cuDNN (torch.conv2d)",
    "torch.layer_norm": "PyTorch (layer_norm)",
    "torch.layer_norm_backward": "PyTorch (native_layer_norm_backward)",
    "torch.mv": "PyTorch (mv, which calls cuBLAS)",
    "torch.rms_norm": "PyTorch (x + residual, rms_norm)",
    "torch.scaled_dot_product_attention": "PyTorch (scaled_dot_product_attention, flash back end)",
    "torch.softmax": "PyTorch (softmax(1))",
    "torch.sums": "PyTorch (sum(1) and sum(0))",
}
"""What tables call each library that a topic.toml may name."""


def _matmul(cupy: Any, a: Any, b: Any, c: Any) -> None:
    cupy.matmul(a, b, out=c)


def _transpose(cupy: Any, source: Any, target: Any) -> None:
    target[...] = source.T


def _cub_sum(cupy: Any, source: Any, target: Any) -> None:
    """The sum is left where CUB's wrapper puts it: copying it to `target` would be one launch more."""
    from cupy.cuda import cub

    every_axis, no_axis = (0,), ()
    cub.device_reduce(source, cub.CUPY_CUB_SUM, every_axis, no_axis)


_BYTES = 256
"""Values of a byte."""


def _cub_histogram(cupy: Any, source: Any, target: Any) -> None:
    """What cupy.bincount does once it knows the largest byte. CuPy's counts have 64 bits, so they are a new array."""
    from cupy.cuda import cub

    cub.device_histogram(source, cupy.zeros(_BYTES, dtype=cupy.int64), _BYTES + 1)


def _torch_sums(cupy: Any, source: Any, rows: Any, columns: Any) -> None:
    import torch

    torch.sum(source, 1, out=rows)
    torch.sum(source, 0, out=columns)


def _torch_softmax(cupy: Any, source: Any, target: Any) -> None:
    import torch

    torch.softmax(source, 1, out=target)


def _torch_layer_norm(cupy: Any, x: Any, gamma: Any, beta: Any, y: Any, eps: float) -> None:
    """The output is a new array."""
    import torch

    torch.nn.functional.layer_norm(x, gamma.shape, gamma, beta, eps)


def _torch_layer_norm_backward(
    cupy: Any, x: Any, dy: Any, gamma: Any, mean: Any, rstd: Any, dx: Any, dgamma: Any, dbeta: Any
) -> None:
    """The outputs are new arrays, dgamma and dbeta of halves. beta, whose values do not matter, is gamma."""
    import torch

    saved = mean[:, None], rstd[:, None]
    torch.ops.aten.native_layer_norm_backward(dy, x, gamma.shape, *saved, gamma, gamma, [True, True, True])


def _torch_rms_norm(cupy: Any, x: Any, residual: Any, gamma: Any, y: Any, total: Any, eps: float) -> None:
    """y is a new array."""
    import torch

    torch.add(x, residual, out=total)
    torch.nn.functional.rms_norm(total, gamma.shape, gamma, eps)


def _torch_mv(cupy: Any, matrix: Any, x: Any, y: Any) -> None:
    import torch

    torch.mv(matrix, x, out=y)


def _torch_attention(cupy: Any, q: Any, k: Any, v: Any, o: Any, scale: float, causal: int) -> None:
    """FlashAttention-2, which PyTorch has on every GPU from sm_80 on. The output is a new array."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        scaled_dot_product_attention(q, k, v, is_causal=bool(causal), scale=scale)


_FP16, _FP32 = 2, 0
"""cudaDataType_t of halves and of floats."""

_COMPUTE_32F = 68
"""cublasComputeType_t: products are summed in single precision."""

_DEFAULT_ALGORITHM = -1


def _gemm_ex(cupy: Any, a: Any, b: Any, c: Any) -> None:
    """C = A · B of halves, C in floats. To cuBLAS, row-major matrices are the transposes: Cᵀ = Bᵀ · Aᵀ."""
    from cupy_backends.cuda.libs import cublas

    (m, k), n = a.shape, b.shape[1]
    one, zero = (ctypes.c_float(value) for value in (1.0, 0.0))
    handle = cupy.cuda.device.get_cublas_handle()
    cublas.setPointerMode(handle, cublas.CUBLAS_POINTER_MODE_HOST)
    operands = (b.data.ptr, _FP16, n, a.data.ptr, _FP16, k)
    result = (c.data.ptr, _FP32, n)
    no, scale, keep = cublas.CUBLAS_OP_N, ctypes.addressof(one), ctypes.addressof(zero)
    how = (_COMPUTE_32F, _DEFAULT_ALGORITHM)
    cublas.gemmEx(handle, no, no, n, m, k, scale, *operands, keep, *result, *how)


def _conv2d(cupy: Any, x: Any, w: Any, y: Any, stride: int, pad: int) -> None:
    """cuDNN, with the algorithm it finds to be the fastest when it is first called. The output is a new array."""
    import torch

    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.conv2d(x, w, stride=stride, padding=pad)


_ROUTINES: dict[str, Callable[..., None]] = {
    "cub.histogram": _cub_histogram,
    "cub.sum": _cub_sum,
    "cublas.gemmEx": _gemm_ex,
    "cupy.matmul": _matmul,
    "cupy.transpose": _transpose,
    "torch.conv2d": _conv2d,
    "torch.layer_norm": _torch_layer_norm,
    "torch.layer_norm_backward": _torch_layer_norm_backward,
    "torch.mv": _torch_mv,
    "torch.rms_norm": _torch_rms_norm,
    "torch.scaled_dot_product_attention": _torch_attention,
    "torch.softmax": _torch_softmax,
    "torch.sums": _torch_sums,
}

_SIZES = {
    "torch.conv2d": ("stride", "pad"),
    "torch.layer_norm": ("eps",),
    "torch.rms_norm": ("eps",),
    "torch.scaled_dot_product_attention": ("scale", "causal"),
}
"""Sizes and floats that a routine is told, where the arrays' shapes do not tell them."""


def prepare(
    name: str, arrays: Mapping[str, tuple[int, str, tuple[int, ...]]], sizes: Mapping[str, int | float]
) -> Callable[[], None]:
    """A library routine on given arrays: each call enqueues it on the default stream, and does little else.

    `arrays` are address, dtype and shape by parameter name, inputs then outputs, in the signature's order.
    `sizes` are the problem's. Raises ImportError without CuPy or the library, KeyError for a library of another name.
    """
    os.environ["CUPY_TF32"] = "0"  # FP32 means FP32, whatever the user's environment asks for
    import cupy

    given = [array(cupy, *place) for place in arrays.values()]
    if name.startswith("torch."):
        types = [dtype for _, dtype, _ in arrays.values()]
        given = list(map(tensor, given, types))  # takes the host longer than some kernels run
    told = {size: sizes[size] for size in _SIZES.get(name, ())}
    return partial(_ROUTINES[name], cupy, *given, **told)


def tensor(of: Any, dtype: str) -> Any:
    """PyTorch's view of a CuPy array whose elements are of a type."""
    import torch

    found = torch.from_dlpack(of)
    return found.view(torch.bfloat16) if dtype == "bfloat16" else found


def array(cupy: Any, address: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """A CuPy array over memory that belongs to somebody else; CuPy has bfloat16 as its bits."""
    dtype = "int16" if dtype == "bfloat16" else dtype
    size = cupy.dtype(dtype).itemsize
    for extent in shape:
        size *= extent
    memory = cupy.cuda.UnownedMemory(address, size, owner=None)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))

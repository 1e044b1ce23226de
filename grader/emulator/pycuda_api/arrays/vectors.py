"""CUDA's vector types as NumPy's structured types."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api.arrays.c_types import register_dtype


class vec:
    """Types such as `vec.float3`, and functions such as `vec.make_float3` for values of them."""


def _add_vector_type(name: str, base: npt.DTypeLike, count: int) -> None:
    kind = np.dtype([(axis, base) for axis in "xyzw"[:count]])
    register_dtype(kind, f"{name}{count}")
    setattr(vec, f"{name}{count}", kind)
    setattr(vec, f"make_{name}{count}", staticmethod(lambda *values: np.array(values, kind)))


_BASES = {
    "char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "l", "ulong": "L",
    "longlong": "q", "ulonglong": "Q", "float": "f", "double": "d",
}  # fmt: skip
for _name, _code in _BASES.items():
    for _count in range(1, 3 if _code in "qQd" else 5):
        _add_vector_type(_name, _code, _count)

"""NumPy's types and C's names for them, and the parameters of kernels declared with either."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned",
    "int64": "long",
    "uint64": "unsigned long",
    "float32": "float",
    "float64": "double",
    "complex64": "pycuda::complex<float>",
    "complex128": "pycuda::complex<double>",
}
_MORE_C_TYPES = {
    "char": "int8",
    "unsigned int": "uint32",
    "signed int": "int32",
    "signed": "int32",
    "long int": "int64",
    "unsigned long int": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    "ptrdiff_t": "int64",
    **{f"{name}_t": name for name in _C_TYPES if "int" in name},
}
_ctypes = {np.dtype(name): ctype for name, ctype in _C_TYPES.items()}
_dtypes = {ctype: np.dtype(name) for name, ctype in _C_TYPES.items()} | {
    ctype: np.dtype(name) for ctype, name in _MORE_C_TYPES.items()
}


def register_dtype(dtype: npt.DTypeLike, name: str | Sequence[str]) -> None:
    """Let kernels call a NumPy type, such as a structured one, by the C type `name` (or by any of several)."""
    names = [name] if isinstance(name, str) else list(name)
    _ctypes.setdefault(np.dtype(dtype), names[0])
    _dtypes.update(dict.fromkeys(names, np.dtype(dtype)))


def get_or_register_dtype(name: str | Sequence[str], dtype: npt.DTypeLike | None = None) -> np.dtype[Any]:
    """The NumPy type of a C type, which is registered as `dtype` if it is not known yet."""
    names = [name] if isinstance(name, str) else list(name)
    if names[0] not in _dtypes and dtype is not None:
        register_dtype(dtype, names)
    return ctype_to_dtype(names[0])


def dtype_to_ctype(dtype: npt.DTypeLike) -> str:
    """The C type of a NumPy type: "float" for float32. Raises ValueError for a type that has none."""
    if dtype is None:
        raise ValueError("dtype may not be None")
    found = _ctypes.get(np.dtype(dtype))
    if found is None:
        raise ValueError(
            f"unable to map dtype '{np.dtype(dtype)}': if a kernel has a type for it, "
            "name it with pycuda.tools.register_dtype(dtype, name)"
        )
    return found


def ctype_to_dtype(ctype: str) -> np.dtype[Any]:
    """The NumPy type of a C type: float32 for "float". Raises ValueError where it is not known."""
    if ctype not in _dtypes:
        raise ValueError(
            f"unknown type {ctype!r} of a kernel argument; known are {', '.join(sorted(_dtypes))}. "
            "pycuda.tools.register_dtype(dtype, name) makes another one known"
        )
    return _dtypes[ctype]


class Argument:
    """A parameter of a kernel: its declaration in C, and its letter in a format string."""

    is_vector = False

    def __init__(self, dtype: npt.DTypeLike, name: str) -> None:
        self.dtype, self.name = np.dtype(dtype), name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"

    def declarator(self) -> str:
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self) -> str:
        return f"{self.dtype.itemsize}s" if self.dtype.char == "V" else self.dtype.char


class ScalarArg(Argument):
    """A number, passed by value."""


class VectorArg(Argument):
    """A pointer to elements of `dtype`; an array is passed for it."""

    is_vector = True
    struct_char = "P"

    def declarator(self) -> str:
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class _Declared(Argument):
    """A parameter as its declaration says it; a pointer may be to any type the source has."""

    def __init__(self, declaration: str) -> None:
        self.is_vector = bool(re.search(r"[*\[]", declaration))
        self._declaration = re.sub(r"(\w+)\s*\[\s*\]", r"*\1", declaration) if self.is_vector else declaration
        words = [word for word in declaration.split() if word != "const"]
        self.name = words[-1].strip("*[]")
        if not self.is_vector:
            self.dtype = ctype_to_dtype(" ".join(words[:-1]))

    def declarator(self) -> str:
        return self._declaration

    @property
    def struct_char(self) -> str:
        return "P" if self.is_vector else super().struct_char


def parse_arguments(arguments: str | Sequence[Argument]) -> list[Argument]:
    """The parameters of "float *z, const float *x, int n", or of a list of ScalarArg and VectorArg.

    Raises ValueError for a number of a type that is not known.
    """
    if isinstance(arguments, str):
        return [_Declared(declaration.strip()) for declaration in arguments.split(",")]
    return list(arguments)


def parse_c_arg(c_arg: str) -> Argument:
    """The parameter of a declaration: a VectorArg of "float *x", a ScalarArg of "float x"."""
    declared = _Declared(c_arg.strip())
    if not declared.is_vector:
        return ScalarArg(declared.dtype, declared.name)
    pointed = re.sub(r"\b(const|volatile)\b|\*.*|\w+\s*\[.*", "", c_arg).strip()
    return VectorArg(ctype_to_dtype(pointed), declared.name)


def get_arg_type(c_arg: str) -> str:
    """The letter of a declaration in a format string: "P" of "float *x", "f" of "float x"."""
    return parse_c_arg(c_arg).struct_char

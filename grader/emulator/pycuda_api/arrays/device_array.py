"""The array class of the emulator's `pycuda.gpuarray`, and its arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.c_types import dtype_to_ctype
from grader.emulator.pycuda_api.driver.conversion import address
from grader.emulator.pycuda_api.driver.emulation import in_context
from grader.emulator.pycuda_api.driver.errors import no_references
from grader.emulator.pycuda_api.elementwise import check_contiguous, common_dtype, kernel, splay

Shape = int | Sequence[int]
HostArray = npt.NDArray[Any]


class GPUArray:
    """An array in device memory."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: Shape,
        dtype: npt.DTypeLike,
        allocator: Callable[[int], Any] = driver.mem_alloc,
        base: Any = None,
        gpudata: Any = None,
        strides: Sequence[int] | None = None,
        order: Any = "C",
    ) -> None:
        # An array of that shape that has no memory of its own does NumPy's bookkeeping.
        like = np.broadcast_to(np.empty((), dtype), shape)
        self.shape, self.dtype, self.size, self.ndim = like.shape, like.dtype, like.size, like.ndim
        self.itemsize = like.itemsize
        self.nbytes = like.nbytes
        self.mem_size = self.size
        self.strides = tuple(strides) if strides is not None else _strides(self.shape, self.itemsize, order)
        self.allocator, self.base = allocator, base
        if gpudata is None and self.size:
            gpudata = allocator(self.nbytes)
        self.gpudata = gpudata
        self._grid, self._block = splay(self.size)

    @property
    def ptr(self) -> int:
        """The device address."""
        return address(self.gpudata, "gpudata")

    @property
    def flags(self) -> SimpleNamespace:
        """`c_contiguous`, `f_contiguous` and `forc`, as of a NumPy array."""
        c = self._has_strides("C")
        f = self._has_strides("F")
        return SimpleNamespace(c_contiguous=c, f_contiguous=f, forc=c or f)

    def _has_strides(self, order: str) -> bool:
        dense = _strides(self.shape, self.itemsize, order)
        real = [(own, want) for n, own, want in zip(self.shape, self.strides, dense, strict=True) if n > 1]
        return self.size <= 1 or all(own == want for own, want in real)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.ptr if self.size else 0, False),
            "typestr": self.dtype.str,
            "stream": None,
            "version": 3,
        }

    # -- to the host and back
    def _memory(self) -> HostArray:
        """The elements themselves, where they lie in the emulated GPU's memory."""
        if not self.size:
            return np.empty(self.shape, self.dtype)
        spans = [(n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)]
        below = sum(span for span in spans if span < 0)
        extent = sum(abs(span) for span in spans) + self.itemsize
        memory = in_context("cuMemcpy").machine.memory.view(self.ptr + below, extent)
        return np.ndarray(self.shape, self.dtype, memory.data, -below, self.strides)

    def set(self, ary: HostArray, async_: bool = False, stream: driver.Stream | None = None) -> None:
        """Copy from a host array of the same size and type."""
        if ary.size != self.size:
            raise ValueError("ary and self must be the same size")
        if ary.dtype != self.dtype:
            raise ValueError("ary and self must have the same dtype")
        self._memory()[...] = ary.reshape(self.shape)

    def set_async(self, ary: HostArray, stream: driver.Stream | None = None) -> None:
        self.set(ary, True, stream)

    def get(
        self,
        ary: HostArray | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: driver.Stream | None = None,
    ) -> HostArray:
        """Copy to a host array, a new one unless `ary` is given."""
        if ary is None:
            make: Any = driver.pagelocked_empty if pagelocked else np.empty
            ary = make(self.shape, self.dtype, order_of(self))
        elif ary.size != self.size:
            raise ValueError("self and ary must be the same size")
        elif ary.dtype != self.dtype:
            raise TypeError("self and ary must have the same dtype")
        _reshaped(ary, self.shape)[...] = self._memory()
        return ary

    def get_async(self, stream: driver.Stream | None = None, ary: HostArray | None = None) -> HostArray:
        return self.get(ary, async_=True, stream=stream)

    def __str__(self) -> str:
        return str(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array of shape ()")
        return int(self.shape[0])

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        return bool(self.get())

    # -- other looks at the same memory
    def _looking(self, host: HostArray) -> GPUArray:
        """The array on the device that lies where `host`, a look at `_memory()`, lies."""
        if not self.size:
            return GPUArray(host.shape, host.dtype, self.allocator)
        offset = host.ctypes.data - self._memory().ctypes.data
        return GPUArray(host.shape, host.dtype, self.allocator, self, self.ptr + offset, host.strides)

    def reshape(self, *shape: Any, order: Any = "C") -> GPUArray:
        """The same memory in another shape, laid out in `order`: unlike NumPy, PyCUDA moves no element.

        One length may be -1. Raises RuntimeError for an array with gaps.
        """
        check_contiguous(self)
        wanted = shape[0] if len(shape) == 1 else shape
        return self._looking(self._memory().reshape(-1, order="A").reshape(wanted, order=order))

    def ravel(self) -> GPUArray:
        return self.reshape(-1)

    def view(self, dtype: npt.DTypeLike | None = None) -> GPUArray:
        """The same memory as elements of another type, along the axis whose elements are neighbours."""
        memory = self._memory()
        wanted = dtype or self.dtype
        return self._looking(memory.T.view(wanted).T if order_of(self) == "F" else memory.view(wanted))

    def squeeze(self) -> GPUArray:
        return self._looking(self._memory().squeeze())

    def transpose(self, axes: Any = None) -> GPUArray:
        return self._looking(self._memory().transpose(axes))

    @property
    def T(self) -> GPUArray:
        return self.transpose()

    def __getitem__(self, index: Any) -> GPUArray:
        """Slices and integers; the result shares the memory."""
        entries = index if isinstance(index, tuple) else (index,)
        if not all(entry in (None, ...) or isinstance(entry, (slice, int, np.integer)) for entry in entries):
            raise IndexError("only integers, slices, ... and None can index a GPUArray")
        if ... not in entries:
            entries = (*entries, ...)  # so that NumPy gives an array of shape (), not a number
        return self._looking(self._memory()[entries])

    def __setitem__(self, index: Any, value: Any) -> None:
        part = self[index]
        if isinstance(value, GPUArray):
            value = value._memory()
        part._memory()[...] = value

    # -- new arrays
    def _new_like_me(self, dtype: npt.DTypeLike | None = None) -> GPUArray:
        return GPUArray(self.shape, dtype or self.dtype, self.allocator, order=order_of(self))

    @property
    def real(self) -> GPUArray:
        """The real parts, in a new array; a real array itself."""
        return self._each("real", "x[i].real()", _real(self.dtype)) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> GPUArray:
        """The imaginary parts, in a new array."""
        if self.dtype.kind == "c":
            return self._each("imag", "x[i].imag()", _real(self.dtype))
        return self._each("imag", "0", self.dtype)

    def conj(self, out: GPUArray | None = None) -> GPUArray:
        """The conjugates, in a new array or in `out`; a real array itself."""
        return self._each("conj", "conj(x[i])", self.dtype, out) if self.dtype.kind == "c" else self

    conjugate = conj

    def reverse(self, stream: driver.Stream | None = None) -> GPUArray:
        """The elements in reverse order, as of an array of one dimension."""
        return self._each("reverse", "x[n - 1 - i]", self.dtype, stream=stream)

    def _each(
        self,
        name: str,
        expression: str,
        dtype: np.dtype[Any],
        out: GPUArray | None = None,
        stream: Any = None,
    ) -> GPUArray:
        """z[i] = expression of `x[i]`, in a new array of `dtype` or in `out`."""
        result = out if out is not None else self._new_like_me(dtype)
        check_order(result, self)
        launch(name, f"z[i] = {expression}", stream, z=result, x=self)
        return result

    def copy(self) -> GPUArray:
        new = self._new_like_me()
        new._memory()[...] = self._memory()
        return new

    def fill(self, value: Any, stream: driver.Stream | None = None) -> GPUArray:
        if self.flags.forc and self.dtype.kind != "V":
            return apply("fill", "x", self, stream, x=value)
        # A kernel goes through memory without gaps, and its parameters are aligned as numbers are, not as float4.
        self._memory()[...] = value
        return self

    def astype(self, dtype: npt.DTypeLike, stream: driver.Stream | None = None) -> GPUArray:
        check_contiguous(self)
        if self.dtype == dtype:
            return self.copy()
        return apply("copy", "x", self._new_like_me(dtype), stream, x=self)

    def mul_add(
        self,
        selffac: Any,
        other: GPUArray,
        otherfac: Any,
        add_timer: Any = None,
        stream: driver.Stream | None = None,
        out: GPUArray | None = None,
    ) -> GPUArray:
        """selffac · self + otherfac · other"""
        result = out if out is not None else result_for(self, other)
        return apply("axpbyz", "a * x + b * y", result, stream, a=selffac, x=self, b=otherfac, y=other)

    def bind_to_texref(self, texref: Any, allow_offset: bool = False) -> NoReturn:
        raise no_references("bind_to_texref")

    bind_to_texref_ext = bind_to_texref

    def __pos__(self) -> GPUArray:
        return self

    def __neg__(self) -> GPUArray:
        return apply("negate", "-x", self._new_like_me(), x=self)

    def __abs__(self) -> GPUArray:
        if self.dtype.kind == "c":
            return self._each("absolute", "abs(x[i])", _real(self.dtype))
        expression = "x" if self.dtype.kind in "bu" else "x < 0 ? -x : x"
        return apply("absolute", expression, self._new_like_me(), x=self)


def order_of(array: Any) -> Any:
    """The order in which a new array like this one should lie."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a complex number's parts."""
    return np.empty((), dtype).real.dtype


def _reshaped(host: HostArray, shape: Any) -> HostArray:
    """The same memory in another shape; raises ValueError where that takes a copy."""
    result = host.reshape(shape)
    if not np.may_share_memory(result, host) and host.size:
        raise ValueError("cannot reshape an array with gaps without a copy")
    return result


def _strides(shape: Sequence[int], itemsize: int, order: str) -> tuple[int, ...]:
    if order not in ("C", "F"):
        raise ValueError(f"invalid order: {order}")
    if order == "C":
        return tuple(itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return tuple(itemsize * math.prod(shape[:axis]) for axis in range(len(shape)))


# -- arithmetic----
def result_for(*operands: Any) -> GPUArray:
    """A new array for the result of an operation, of the operands' common type."""
    arrays = [operand for operand in operands if isinstance(operand, GPUArray)]
    shapes = {array.shape for array in arrays if array.shape != ()}
    if len(shapes) > 1:
        raise NotImplementedError(f"Broadcasting of shapes {', '.join(map(str, shapes))}")
    like = next((array for array in arrays if array.shape != ()), arrays[0])
    return like._new_like_me(common_dtype(*operands))


def launch(name: str, operation: str, stream: driver.Stream | None = None, **operands: Any) -> None:
    """Do `operation` for each index i of the first operand.

    An array is a pointer to elements of its type in it, a NumPy scalar a number of its type.
    """
    declared = ", ".join(
        f"{dtype_to_ctype(value.dtype)} {'*' if isinstance(value, GPUArray) else ''}{operand}"
        for operand, value in operands.items()
    )
    kernel(declared, operation, name)(*operands.values(), stream=stream)


def apply(
    name: str, expression: str, out: GPUArray, stream: driver.Stream | None = None, **operands: Any
) -> GPUArray:
    """out[i] = expression, in which each operand (an array or a number) has been cast to the type of `out`."""
    result = dtype_to_ctype(out.dtype)
    values: dict[str, Any] = {"z": out}
    casts = []
    for operand, value in operands.items():
        if isinstance(value, GPUArray):
            if value.dtype.kind == "c" and out.dtype.kind not in "cb":
                raise TypeError(f"{value.dtype} does not become {out.dtype} by itself: take .real or abs()")
            values[f"{operand}_"] = value
            casts.append(f"const {result} {operand} = ({result}){operand}_[{'i' if value.shape else '0'}];")
        else:
            values[operand] = out.dtype.type(value)
    check_order(*(value for value in values.values() if isinstance(value, GPUArray)))
    launch(name, f"{' '.join(casts)} z[i] = {expression}", stream, **values)
    return out


def check_order(*arrays: GPUArray) -> None:
    """Elements are taken in memory order, so all arrays must lie alike; raises RuntimeError where they do not."""
    check_contiguous(*arrays)
    flags = [array.flags for array in arrays]
    if len({each.c_contiguous for each in flags if not (each.c_contiguous and each.f_contiguous)}) > 1:
        raise RuntimeError("arrays in C and in Fortran order cannot be combined")


def _operator(
    name: str, expression: str, of_complex: str, *, reflected: bool = False, in_place: bool = False
) -> Callable[[GPUArray, Any], GPUArray]:
    def operate(self: GPUArray, other: Any) -> Any:
        if not (isinstance(other, GPUArray) or np.isscalar(other)):
            return NotImplemented
        x, y = (other, self) if reflected else (self, other)
        out = self if in_place else result_for(x, y)
        return apply(name, of_complex if out.dtype.kind == "c" else expression, out, x=x, y=y)

    return operate


for _name, _expression, _of_complex in [
    ("add", "x + y", "x + y"),
    ("sub", "x - y", "x - y"),
    ("mul", "x * y", "x * y"),
    ("truediv", "x / y", "x / y"),
    ("pow", "pow((double)x, (double)y)", "pow(x, y)"),
]:
    _kernel = f"{_name}_kernel"
    setattr(GPUArray, f"__{_name}__", _operator(_kernel, _expression, _of_complex))
    setattr(GPUArray, f"__r{_name}__", _operator(_kernel, _expression, _of_complex, reflected=True))
    setattr(GPUArray, f"__i{_name}__", _operator(_kernel, _expression, _of_complex, in_place=True))
for _name, _sign in {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "ge": ">=", "gt": ">"}.items():
    setattr(GPUArray, f"__{_name}__", _operator(_name, f"x {_sign} y", f"x {_sign} y"))

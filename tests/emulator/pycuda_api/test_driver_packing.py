"""Kernel arguments are packed as C lays out a struct of them, and refused where PyCUDA refuses them."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.compiler import SourceModule
from grader.emulator.pycuda_api.driver.arguments import build, pack, prepared_format

C_TYPES = {
    np.int8: ctypes.c_int8,
    np.uint8: ctypes.c_uint8,
    np.int16: ctypes.c_int16,
    np.uint16: ctypes.c_uint16,
    np.int32: ctypes.c_int32,
    np.uint32: ctypes.c_uint32,
    np.int64: ctypes.c_int64,
    np.uint64: ctypes.c_uint64,
    np.longlong: ctypes.c_longlong,
    np.ulonglong: ctypes.c_ulonglong,
    np.float32: ctypes.c_float,
    np.float64: ctypes.c_double,
}


@st.composite
def scalars(draw: st.DrawFn) -> np.number[Any]:
    kind = draw(st.sampled_from(list(C_TYPES)))
    if issubclass(kind, np.floating):
        return kind(draw(st.floats(width=32)))
    limits = np.iinfo(kind)
    return kind(draw(st.integers(int(limits.min), int(limits.max))))


def as_c_struct(values: list[np.number[Any]]) -> bytes:
    fields = [(f"f{i}", C_TYPES[type(value)]) for i, value in enumerate(values)]
    layout = type("Arguments", (ctypes.Structure,), {"_fields_": fields})
    filled = layout(*(value.item() for value in values))
    end = max((getattr(layout, name).offset + getattr(layout, name).size for name, _ in fields), default=0)
    return bytes(filled)[:end]  # without the padding behind the last field


@given(st.lists(scalars(), max_size=12))
def test_scalars_lie_where_c_puts_them(values: list[np.number[Any]]) -> None:
    handlers, buffer = build(values)
    assert handlers == []
    # NaNs keep their bits only up to what the conversion through double preserves
    assert len(buffer) == len(as_c_struct(values))
    if not any(isinstance(value, np.floating) and np.isnan(value) for value in values):
        assert buffer == as_c_struct(values)


@given(st.lists(scalars(), max_size=8))
def test_prepared_calls_pack_the_same(values: list[np.number[Any]]) -> None:
    format = prepared_format([type(value) for value in values])
    assert pack(format, *values) == build(values)[1]


@given(st.lists(st.binary(min_size=1, max_size=20), max_size=5))
def test_bytes_follow_each_other_without_padding(pieces: list[bytes]) -> None:
    assert pack("".join(f"{len(piece)}s" for piece in pieces), *pieces) == b"".join(pieces)


@given(st.floats(allow_nan=False), st.sampled_from("fd"))
def test_floats_round_as_c_does(value: float, code: str) -> None:
    kind = np.float32 if code == "f" else np.float64
    with np.errstate(over="ignore"):
        assert pack(code, value) == kind(value).tobytes()


@pytest.mark.parametrize(
    ("format", "values", "expected"),
    [
        ("Pif", (7, 3, 1.5), "0700000000000000030000000000c03f"),
        ("bF", (1, 2 + 3j), "010000000000004000004040"),
        ("bhd", (np.int8(1), 2, 3.0), "01000200000000000000000000000840"),
        ("3i", (1, 2, 3), "010000000200000003000000"),
        ("bxi ?", (1, 2, True), "010000000200000001"),
        ("b0i", (1,), "01000000"),
        ("4s", (b"ab",), "61620000"),
        ("5p", (b"ab",), "0261620000"),
        ("@bi", (1, 2), "0100000002000000"),
        ("nN", (-3, 3), "fdffffffffffffff0300000000000000"),
        ("f", (1e300,), "0000807f"),
        ("P", (-1,), "ffffffffffffffff"),
        ("F", (np.array(3),), "0000404000000000"),
        ("i", (np.array(3),), "03000000"),
        ("?", ([],), "00"),
        ("", (), ""),
    ],
)
def test_packs_what_pycuda_packs(format: str, values: tuple[Any, ...], expected: str) -> None:
    """The expected bytes were taken from PyCUDA 2026.1."""
    assert pack(format, *values).hex() == expected


@pytest.mark.parametrize(
    ("format", "values", "message"),
    [
        ("e", (1.0,), "bad char in struct format"),
        ("<i", (1,), "bad char in struct format"),
        ("3", (), "repeat count given without format specifier"),
        ("ii", (1,), "pack requires exactly 2 arguments"),
        ("i", (3.5,), "required argument is not an integer"),
        ("i", (1 << 40,), "requires -2147483648 <= number"),
        ("I", (-1,), None),
        ("b", (200,), "format requires"),
        ("l", (1 << 70,), None),
        ("P", (1 << 70,), None),
        ("f", ("x",), "required argument is not a float"),
        ("F", ("x",), "required argument is not a complex"),
        ("4s", ("ab",), "must be a bytes object"),
    ],
)
def test_refuses_what_pycuda_refuses(format: str, values: tuple[Any, ...], message: str | None) -> None:
    with pytest.raises(struct.error, match=message):
        pack(format, *values)


@pytest.mark.parametrize("value", [3, 3.0, True, "x", None, np.bool_(True), [1, 2]])
def test_values_of_unknown_c_type_are_refused_with_their_position(value: object) -> None:
    with pytest.raises(TypeError, match=r"invalid type on parameter #1 \(0-based\)"):
        build([np.int32(1), value])


def test_arrays_and_records_go_by_value() -> None:
    record = np.zeros(1, [("a", "i4"), ("b", "f8")])[0]
    record["a"], record["b"] = 1, 2.0
    assert build([np.arange(3, dtype=np.int8), np.int32(1)])[1].hex() == "0001020001000000"
    assert build([np.int8(1), record])[1] == b"\x01" + record.tobytes()
    with pytest.raises(ValueError, match="not C-contiguous"):
        build([np.zeros((4, 4), np.float32)[:, ::2]])


def test_things_with_a_device_address_go_as_pointers() -> None:
    class Tensor:
        __cuda_array_interface__ = {"data": (0x1234, False)}  # noqa: RUF012

    class Array:
        gpudata = 0x5678

    class Holder(driver.PointerHolderBase):
        def get_pointer(self) -> int:
            return 0x9ABC

    assert struct.unpack("3P", build([Tensor(), Array(), Holder()])[1]) == (0x1234, 0x5678, 0x9ABC)


def test_prepared_format_names_types_as_pycuda_does() -> None:
    record = np.dtype([("a", "i4")])
    assert prepared_format([np.int32, np.dtype("f8"), "P", record, object, np.float16]) == "idP4sLe"
    assert prepared_format("Pif") == "Pif"


@pytest.mark.usefixtures("gpu")
def test_the_compiler_lays_parameters_out_the_same() -> None:
    module = SourceModule(
        "__global__ void f(char a, double b, short c, float *d, float e, long long f, char g) {}"
    )
    arguments = [
        np.int8(1), np.float64(2), np.int16(3), driver.mem_alloc(4), np.float32(4), np.int64(5), np.int8(6),
    ]  # fmt: skip
    module.get_function("f")(*arguments, block=(1, 1, 1))

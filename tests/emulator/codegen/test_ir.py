"""LLVM IR as text: what is written is what LLVM reads."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import llvmlite.binding as llvm
import pytest

from grader.emulator import target
from grader.emulator.codegen import ir

I1, I32, I64 = (ir.IntType(width) for width in (1, 32, 64))
F32 = ir.FloatType()
FOUR = ir.VectorType(I32, 4)


def function(module: ir.Module, *arguments: ir.Type) -> ir.IRBuilder:
    made = ir.Function(module, ir.FunctionType(I64, arguments), "made")
    return ir.IRBuilder(made, made.append_basic_block("entry"))


def called(module: ir.Module, *arguments: int) -> int:
    """What the function gives for 64-bit integers."""
    engine = target.engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(target.object_code(llvm.parse_assembly(str(module)))))
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))
    return int(kind(engine.get_function_address("made"))(*arguments))


def result(value: Any) -> int:
    """What a constant is, as the zero-extended bits of its last lane."""
    module = ir.Module("test")
    b = function(module)
    if isinstance(value.type, ir.VectorType):
        value = b.extract_element(value, I32(value.type.count - 1))
    if value.type is not I64:
        value = b.zext(b.bitcast(value, I32), I64)
    b.ret(value)
    return called(module)


def bits(number: float) -> int:
    return int.from_bytes(struct.pack("<f", number), "little")


def test_there_is_one_object_of_each_type() -> None:
    assert ir.VectorType(ir.IntType(32), 4) is FOUR
    assert ir.FunctionType(I64, [I32]) is ir.FunctionType(I64, (I32,))
    assert I32.as_pointer() is ir.IntType(32).as_pointer()
    assert I32.as_pointer() is not I64.as_pointer()


@pytest.mark.parametrize(
    ("constant", "expected"),
    [
        (I64(-3), -3),
        (I32(0xFFFFFFFF), 0xFFFFFFFF),
        (ir.Constant(I64, None), 0),
        (ir.Constant(FOUR, 7), 7),
        (ir.Constant(FOUR, [1, 2, 3, 4]), 4),
        (ir.Constant(FOUR, [I32(lane) for lane in range(4)]), 3),
        (F32(0.1), bits(0.1)),
        (F32(-0.0), 1 << 31),
        (F32(2.0**-149), 1),
        (F32(float("inf")), 0x7F800000),
        (I32(0x7FA00001).bitcast(F32), 0x7FA00001),
        (I32(0x7FA00001).bitcast(F32).splat(ir.VectorType(F32, 4)), 0x7FA00001),
    ],
)
def test_constants_are_kept_to_the_bit(constant: ir.Constant, expected: int) -> None:
    assert result(constant) == expected


def test_operands_of_two_types_are_refused() -> None:
    b = function(ir.Module("test"))
    slot = b.alloca(I32)
    for build in (
        lambda: b.add(I32(1), I64(1)),
        lambda: b.icmp_unsigned("<", I32(1), I64(1)),
        lambda: b.select(I1(1), I32(1), I64(1)),
        lambda: b.store(I64(1), slot),
        lambda: b.call(b.function, [I64(1)]),
    ):
        with pytest.raises(TypeError):
            build()


def test_branches_variables_and_a_switch() -> None:
    module = ir.Module("test")
    b = function(module, I64)
    (number,) = b.function.args
    slot = b.alloca(I64, "slot")
    b.store(I64(0), slot)
    with b.if_then(b.icmp_signed("<", number, I64(0)), likely=False):
        b.ret(I64(-1))
    with b.if_else(b.icmp_unsigned("==", number, I64(1))) as (then, otherwise):
        with then:
            b.store(I64(10), slot)
        with otherwise:
            later = b.alloca(I64)  # made at the entry, though the builder is elsewhere
            b.store(I64(20), later)
            b.store(b.load(later), slot)
    first, second, beyond = (b.function.append_basic_block() for _ in range(3))
    b.switch(number, beyond, [first, second])
    for block, value in ((first, 100), (second, 200), (beyond, 300)):
        b.position_at_end(block)
        b.ret(b.add(b.load(slot), I64(value)))
    assert [called(module, value) for value in (-5, 0, 1, 2)] == [-1, 120, 210, 320]


def test_nothing_stands_behind_the_end_of_a_block() -> None:
    b = function(ir.Module("test"))
    b.ret(I64(0))
    with pytest.raises(AssertionError):
        b.ret(I64(1))

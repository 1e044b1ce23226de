"""The few things Python has no words for: pointers, bit counts, calls by address. Numba intrinsics."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from grader.emulator.runtime.layout import LANES
from grader.emulator.target import PREFIX


@intrinsic
def pointer(typing: Any, address: Any, dtype: Any) -> Any:
    """The int64 `address` as a pointer to `dtype`, to be indexed like an array (without any check)."""
    result = types.CPointer(dtype.dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(result))

    return result(types.int64, dtype), generate


@intrinsic
def trailing_zeros(typing: Any, value: Any) -> Any:
    """Index of the lowest set bit of a non-zero int64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def population(typing: Any, value: Any) -> Any:
    """How many bits of an int64 are set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def fused(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """a · b + c of float64, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def fetch_or(typing: Any, place: Any, bits: Any) -> Any:
    """Sets bits in memory, atomically, and returns what was there; `place` is a pointer to an unsigned type."""
    result = place.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("or", args[0], args[1], "seq_cst")

    return result(place, result), generate


@intrinsic
def compare_exchange(typing: Any, place: Any, expected: Any, value: Any) -> Any:
    """Replaces what is expected in memory, atomically, and returns what was there; `place` is a pointer to int64."""
    result = place.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_value(builder.cmpxchg(*args, "seq_cst"), 0)

    return result(place, result, result), generate


@intrinsic
def lane_buffer(typing: Any) -> Any:
    """The address of an int64 a lane, on the stack."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        buffer = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(64), LANES))
        return builder.ptrtoint(buffer, ir.IntType(64))

    return types.int64(), generate


@intrinsic
def keep_offsets(typing: Any, addresses: Any, start: Any, bits: Any, to: Any) -> Any:
    """The lanes' addresses, as how many times 2 ** `bits` bytes they lie behind `start`: to `to`, a uint32 each."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide, narrow = (ir.VectorType(ir.IntType(width), LANES) for width in (64, 32))
        here = builder.load(builder.inttoptr(args[0], wide.as_pointer()), align=8)
        behind = builder.sub(here, _everywhere(builder, wide, args[1]))
        offsets = builder.trunc(builder.lshr(behind, _everywhere(builder, wide, args[2])), narrow)
        builder.store(offsets, builder.inttoptr(args[3], narrow.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def equal_lanes(typing: Any, values: Any, value: Any) -> Any:
    """The lanes, a bit each, that have this uint32; `values` is the address of one for each lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.VectorType(ir.IntType(32), LANES)
        there = builder.load(builder.inttoptr(args[0], kind.as_pointer()), align=8)
        wanted = _everywhere(builder, kind, builder.trunc(args[1], ir.IntType(32)))
        equal = builder.icmp_unsigned("==", there, wanted)
        return builder.zext(builder.bitcast(equal, ir.IntType(LANES)), ir.IntType(64))

    return types.int64(types.int64, types.int64), generate


def _everywhere(builder: Any, kind: Any, value: Any) -> Any:
    """A vector of nothing but this value."""
    none = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(none, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, none, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))


@intrinsic
def call_kernel(typing: Any, address: Any, context_address: Any, warp_address: Any) -> Any:
    """Calls the generated function at `address`: int64 f(int64 context, int64 warp)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64 = ir.IntType(64)
        function = ir.FunctionType(i64, [i64, i64]).as_pointer()
        return builder.call(builder.inttoptr(args[0], function), [args[1], args[2]])

    return types.int64(types.int64, types.int64, types.int64), generate


def outlined(name: str) -> Any:
    """The function `name` of names.NAMES, of int64 alone, to be called where it lies: Numba copies others into whatever
    calls them, which takes long to compile where they are large."""

    @intrinsic
    def call(typing: Any, *arguments: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = zip(cgutils.unpack_tuple(builder, args[0]), signature.args[0], strict=True)
            values = [context.cast(builder, value, kind, types.int64) for value, kind in given]
            i64, i8 = ir.IntType(64), ir.IntType(8)
            # As Numba has it: where the result and an exception are put, then the arguments; returned is a status.
            kind = ir.FunctionType(ir.IntType(32), [i64.as_pointer(), i8.as_pointer(), *[i64] * len(values)])
            function = cgutils.get_or_insert_function(builder.module, kind, PREFIX + name)
            result = cgutils.alloca_once(builder, i64)
            builder.call(function, [result, ir.Constant(i8.as_pointer(), None), *values])
            return builder.load(result)

        return types.int64(types.StarArgTuple.from_types(arguments)), generate

    return call


@intrinsic
def bits_to_float(typing: Any, value: Any) -> Any:
    """The uint32 as float32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.uint32), generate


@intrinsic
def float_to_bits(typing: Any, value: Any) -> Any:
    """The float32 as uint32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(32))

    return types.uint32(types.float32), generate


@intrinsic
def bits_to_double(typing: Any, value: Any) -> Any:
    """The uint64 as float64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@intrinsic
def double_to_bits(typing: Any, value: Any) -> Any:
    """The float64 as uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@intrinsic
def half_to_float(typing: Any, value: Any) -> Any:
    """The half whose bits are in a uint16, as float32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fpext(builder.bitcast(args[0], ir.HalfType()), ir.FloatType())

    return types.float32(types.uint16), generate


@intrinsic
def float_to_half(typing: Any, value: Any) -> Any:
    """The float32 rounded to nearest half, as its bits in a uint16."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(builder.fptrunc(args[0], ir.HalfType()), ir.IntType(16))

    return types.uint16(types.float32), generate

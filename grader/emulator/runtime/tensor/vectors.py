"""Eight columns of a product at a time, as LLVM's vectors. Numba intrinsics: it has no words for vectors."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from grader.emulator.runtime.layout import LANES
from grader.emulator.runtime.tensor.forms import BF16, F16
from grader.emulator.runtime.tensor.operands import NAN_F32, TF32_BITS

COLUMNS = 8
ROWS = 4
"""So many rows of sums are computed together: their additions do not wait for each other."""

_I64, _I32, _I16 = (ir.IntType(bits) for bits in (64, 32, 16))
_FLOAT, _DOUBLE, _HALF = ir.FloatType(), ir.DoubleType(), ir.HalfType()
_EXACT_PRODUCT = ("contract",)
"""Products of factors of 24 bits or fewer are exact in a double: a fused addition gives the same sum."""


def _vector(element: ir.Type, count: int = COLUMNS) -> ir.VectorType:
    return ir.VectorType(element, count)


def _at(builder: Any, address: Any, kind: ir.Type, offset: int = 0) -> Any:
    return builder.inttoptr(builder.add(address, _I64(offset)), kind.as_pointer())


def _shuffled(builder: Any, one: Any, other: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(one, other, ir.Constant(_vector(_I32, len(order)), order))


def _splat(builder: Any, value: Any) -> Any:
    vector = _vector(value.type)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, _I32(0))
    return _shuffled(builder, one, ir.Constant(vector, ir.Undefined), [0] * COLUMNS)


@intrinsic
def add_products(typing: Any, left: Any, right: Any, depth: Any, before: Any, after: Any) -> Any:
    """`after` = A · B + `before` for four rows and 8 columns: addresses of 4 × depth and depth × 8 doubles, and of the
    rows' first sums in an accumulator of float32 (operands.accumulator), each rounded once."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, right, depth, before, after = args
        # Even columns of the four rows lie behind each other, and so do odd ones in the next register.
        quads = _vector(_FLOAT, ROWS * COLUMNS // 2)
        even, odd = (builder.load(_at(builder, before, quads, at), align=4) for at in (0, 4 * LANES))
        start = []
        for row in range(ROWS):
            order = [4 * row + column // 2 + 16 * (column % 2) for column in range(COLUMNS)]
            start.append(builder.fpext(_shuffled(builder, even, odd, order), _vector(_DOUBLE)))
        head, step, done = builder.block, *(builder.append_basic_block(name) for name in ("step", "done"))
        builder.branch(step)
        builder.position_at_end(step)
        k = builder.phi(_I64)
        sums = [builder.phi(_vector(_DOUBLE)) for _ in start]
        factors = builder.load(
            _at(builder, builder.add(right, builder.mul(k, _I64(64))), _vector(_DOUBLE)), align=8
        )
        added = []
        for row, total in enumerate(sums):
            place = builder.add(builder.mul(depth, _I64(row)), k)
            factor = builder.load(_at(builder, builder.add(left, builder.mul(place, _I64(8))), _DOUBLE))
            product = builder.fmul(_splat(builder, factor), factors, flags=_EXACT_PRODUCT)
            added.append(builder.fadd(total, product, flags=_EXACT_PRODUCT))
        following = builder.add(k, _I64(1))
        builder.cbranch(builder.icmp_signed("<", following, depth), step, done)
        for phi, first, then in zip((k, *sums), (_I64(0), *start), (following, *added), strict=True):
            phi.add_incoming(first, head)
            phi.add_incoming(then, step)
        builder.position_at_end(done)
        rows = []
        for total in added:
            bits = builder.bitcast(builder.fptrunc(total, _vector(_FLOAT)), _vector(_I32))
            nan = ir.Constant(_vector(_I32), [NAN_F32] * COLUMNS)
            rows.append(builder.select(builder.fcmp_unordered("uno", total, total), nan, bits))
        for odd_columns in range(2):
            order = list(range(odd_columns, 2 * COLUMNS, 2))
            pairs = [_shuffled(builder, rows[i], rows[i + 1], order) for i in (0, 2)]
            quad = _shuffled(builder, pairs[0], pairs[1], list(range(ROWS * COLUMNS // 2)))
            builder.store(quad, _at(builder, after, quad.type, odd_columns * 4 * LANES), align=4)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


def make_widen(kind: int, step: int) -> Any:
    """A function that makes doubles, `step` apart, of the elements in 16 bytes; `kind` is F16, BF16 or TF32."""

    @intrinsic
    def widen(typing: Any, source: Any, target: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            source, target = args
            if kind == F16:
                narrow = builder.load(_at(builder, source, _vector(_HALF)), align=2)
            elif kind == BF16:
                halves = builder.load(_at(builder, source, _vector(_I16)), align=2)
                upper = ir.Constant(_vector(_I32), [16] * COLUMNS)
                narrow = builder.bitcast(
                    builder.shl(builder.zext(halves, _vector(_I32)), upper), _vector(_FLOAT)
                )
            else:
                words = builder.load(_at(builder, source, _vector(_I32, 4)), align=4)
                kept = builder.and_(words, ir.Constant(_vector(_I32, 4), [TF32_BITS] * 4))
                narrow = builder.bitcast(kept, _vector(_FLOAT, 4))
            count = narrow.type.count
            wide = builder.fpext(narrow, _vector(_DOUBLE, count))
            if step == 1:
                builder.store(wide, _at(builder, target, wide.type), align=8)
            for index in range(count if step > 1 else 0):
                value = builder.extract_element(wide, _I32(index))
                builder.store(value, _at(builder, target, _DOUBLE, 8 * step * index))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return widen

"""mma.sync: products of a warp, of every shape and type that an H200 takes but the oldest, m8n8k4 of halves."""

from __future__ import annotations

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.ops.tensor.fragments import fill, items, places, register_kind, spill
from grader.emulator.codegen.values import I64
from grader.emulator.runtime.layout import LANES
from grader.emulator.runtime.tensor.forms import FACTORS, SHAPES, Product, product_of

HOW = ("sync", "aligned", "row", "col", "rn", "satfinite", "xor", "and", "popc", *SHAPES, *FACTORS)


@op("mma", allow=HOW, types=(*FACTORS, "f32", "s32"), operands=4)
def mma(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    product = product_of(e.inst.parts)
    if product is None or [m for m in o.modifiers if m in ("row", "col")] != ["row", "col"]:
        raise e.unsupported()
    check_sizes(e, product)
    d, *operands = e.inst.operands
    a, b, c, result = places(e)
    kinds = (product.a, product.b, product.c)
    for operand, place, kind in zip(operands, (a, b, c), kinds, strict=True):
        spill(e, operand, place, register_kind(kind))
    rows, depth = I64(product.m), I64(product.k)
    if product.bitwise:
        e.call("mma_bits", a, b, c, result, rows, depth, I64(int(product.bitwise == "xor")))
    else:
        codes = (I64(FACTORS[kind].code) for kind in (product.a, product.b))
        sums = (I64(product.sum_code(kind)) for kind in (product.c, product.d))
        e.call("mma", a, b, c, result, *codes, rows, depth, *sums, e.tensor_scratch)
    fill(e, d, result, register_kind(product.d))


def check_sizes(e: Emitter, product: Product) -> None:
    """Refuses an instruction whose fragments have not as many registers as its shape takes."""
    factor, halved = product.factor, 2 if product.d == "f16" else 1
    sums = product.m * product.n // LANES
    wanted = [
        sums // halved,
        product.m * product.k // (LANES * factor.packed),
        product.n * product.k // (LANES * factor.packed),
        sums // halved,
    ]
    if [len(items(e, operand)) for operand in e.inst.operands] != wanted:
        raise e.unsupported()

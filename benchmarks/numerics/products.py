"""mma.sync of every type and shape, wmma of every type, shape and layout.

A fragment's elements are random, so that no kernel needs to know where they lie: the GPU and the emulator have to agree
on that too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from grader.emulator.runtime.tensor.forms import FACTORS, Product, product_of, shape_of
from numerics.case import Array, Case, Group
from numerics.elements import BYTES, INTEGERS, positive, ragged, real, small, special

MOST_DEEP = 2.0**-21
"""Sums of an H200's Tensor Cores, as a share of the sum of the terms' sizes: "at least single precision", and cut off
instead of rounded, once for each addition (PTX ISA 9.7.14)."""
_ROUNDING = {"f16": 2.0**-10, "f64": 2.0**-50}
_C = {"f32": ("float", "f", 4), "f16": ("u32", "r", 4), "s32": ("u32", "r", 4), "f64": ("double", "d", 8)}
"""The C++ type of a register, its constraint and its bytes."""
DTYPES = {"f32": np.float32, "f16": np.float16, "s32": np.int32, "f64": np.float64}

PRELUDE = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
using u32 = unsigned; using u64 = unsigned long long;
"""


def rounding(sums: str) -> float:
    """How far sums may lie apart."""
    return _ROUNDING.get(sums, MOST_DEEP)


def mma_forms() -> Iterator[tuple[str, Product]]:
    """Opcodes of mma.sync."""
    mixed = [("s8", "u8"), ("s4", "u4"), ("e4m3", "e5m2")]
    pairs = [(a, a) for a in FACTORS] + [pair for two in mixed for pair in (two, two[::-1])]
    for a, b in pairs:
        for shape, sums in itertools.product(FACTORS[a].mma, FACTORS[a].sums):
            ends = ("", ".satfinite") if a in ("s8", "u8", "s4", "u4") else ("",)
            hows = (".xor.popc", ".and.popc") if a == "b1" else ("",)
            for end, how in itertools.product(ends, hows):
                opcode = f"mma.sync.aligned.{shape}.row.col{end}.{sums}.{a}.{b}.{sums}{how}"
                product = product_of(opcode.split("."))
                if product is not None:
                    yield opcode, product


def identifier(text: str) -> str:
    """A name of a kernel."""
    return text.replace(".", "_").replace("::", "_")


def _registers(product: Product) -> tuple[int, int, int]:
    """Of the sums, of a and of b."""
    packed = product.factor.packed
    halved = 2 if product.d == "f16" else 1
    return (
        product.m * product.n // 32 // halved,
        product.m * product.k // (32 * packed),
        product.n * product.k // (32 * packed),
    )


def _mma_source(opcode: str, product: Product) -> str:
    sums, a, b = _registers(product)
    (real_type, letter, _), (factor_type, factor_letter, _) = (
        _C[product.d],
        _C["f64" if product.a == "f64" else "f16"],
    )
    fields = iter(range(2 * sums + a + b))

    def registers(count: int) -> str:
        return "{" + ", ".join(f"%{next(fields)}" for _ in range(count)) + "}"

    operands = ", ".join([registers(sums), registers(a), registers(b), registers(sums)])
    results = ", ".join(f'"={letter}"(d[{i}])' for i in range(sums))
    inputs = ", ".join(
        [f'"{factor_letter}"(x[{i} * 32 + lane])' for i in range(a)]
        + [f'"{factor_letter}"(y[{i} * 32 + lane])' for i in range(b)]
        + [f'"{letter}"(z[{i} * 32 + lane])' for i in range(sums)]
    )
    stores = " ".join(f"out[{i} * 32 + lane] = d[{i}];" for i in range(sums))
    return f"""extern "C" __global__ void {identifier(opcode)}(
    {real_type}* out, const {factor_type}* x, const {factor_type}* y, const {real_type}* z) {{
  int lane = threadIdx.x; {real_type} d[{sums}];
  asm volatile("{opcode} {operands};" : {results} : {inputs});
  {stores}
}}"""


def _cases(
    name: str, kernel: str, source: str, product: Product, out: int, sums_bytes: int, *, probed: bool
) -> Iterator[Case]:
    """With small whole numbers, with specials, with real numbers."""
    kinds = {"x": product.a, "y": product.b, "z": product.c}
    arguments = ("out", *kinds)

    def arrays(make: object, seed: int) -> dict[str, Array]:
        made = {name: make(kind, seed + i) for i, (name, kind) in enumerate(kinds.items())}  # type: ignore[operator]
        return made | {"out": np.zeros(out * sums_bytes, np.uint8).view(DTYPES[product.d])}

    exact = Case(f"{name} exact", kernel, source, arguments, arrays(small, 1), probed=probed)
    yield exact
    if product.a in INTEGERS:
        return
    if product.a == "tf32":
        yield Case(f"{name} ragged", kernel, source, arguments, arrays(ragged, 1))
    for numbers, make, seed in (("special", special, 4), ("real", real, 7)):
        found = arrays(make, seed)
        sizes = found | {key: positive(found[key], kind) for key, kind in kinds.items()}
        share = None if product.d == "f64" and make is special else rounding(product.d)
        yield Case(f"{name} {numbers}", kernel, source, arguments, found, share=share, sizes=sizes)


def mma() -> Group:
    """mma.sync."""
    cases = []
    for opcode, product in mma_forms():
        name = opcode.removeprefix("mma.sync.aligned.").replace(".row.col", "")
        source = _mma_source(opcode, product)
        count = _registers(product)[0] * 32
        nbytes = _C[product.d][2]
        cases += _cases(
            name, identifier(opcode), source, product, count, nbytes, probed="satfinite" not in opcode
        )
    return Group("mma", PRELUDE, tuple(cases))


# -- wmma ------------------------------------------------------------------------------------------------------------

_FRAGMENT = {
    "f16": "__half", "bf16": "__nv_bfloat16", "tf32": "wmma::precision::tf32", "s8": "signed char",
    "u8": "unsigned char", "s4": "wmma::experimental::precision::s4", "u4": "wmma::experimental::precision::u4",
    "b1": "wmma::experimental::precision::b1", "f64": "double",
}  # fmt: skip
_MEMORY = {"tf32": "float", "s4": "void", "u4": "void", "b1": "void"}
_SUM = {"f32": "float", "f16": "__half", "s32": "int", "f64": "double"}


def wmma_forms() -> Iterator[tuple[Product, tuple[str, str]]]:
    """Products and the layouts of their operands."""
    for a, factor in FACTORS.items():
        layouts: Sequence[tuple[str, str]] = list(itertools.product(("row", "col"), repeat=2))
        if factor.bits < 8:
            layouts = [("row", "col")]
        for shape, d, pair in itertools.product(factor.wmma, factor.sums, layouts):
            found = shape_of([shape])
            assert found is not None
            how = "xor" if a == "b1" else None
            yield Product(*found, a, a, d, d, False, how), pair


def _wmma_source(kernel: str, product: Product, layouts: tuple[str, str]) -> str:
    m, n, k = product.m, product.n, product.k
    kind, memory, total = _FRAGMENT[product.a], _MEMORY.get(product.a, _FRAGMENT[product.a]), _SUM[product.d]
    a_stride = k if layouts[0] == "row" else m
    b_stride = n if layouts[1] == "row" else k
    multiply = "bmma_sync(d, a, b, c)" if product.a == "b1" else "wmma::mma_sync(d, a, b, c)"
    if product.a == "b1":
        multiply = "wmma::bmma_sync(d, a, b, c, wmma::experimental::bmmaBitOpXOR)"
    return f"""extern "C" __global__ void {kernel}(
    {total}* out, const {memory}* x, const {memory}* y, const {total}* z) {{
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {kind}, wmma::{layouts[0]}_major> a;
  wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {kind}, wmma::{layouts[1]}_major> b;
  wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {total}> c, d;
  wmma::load_matrix_sync(a, x, {a_stride});
  wmma::load_matrix_sync(b, y, {b_stride});
  wmma::load_matrix_sync(c, z, {n}, wmma::mem_row_major);
  {multiply};
  wmma::store_matrix_sync(out, d, {m}, wmma::mem_col_major);
}}"""


def wmma() -> Group:
    """wmma."""
    cases = []
    for product, layouts in wmma_forms():
        shape = f"m{product.m}n{product.n}k{product.k}"
        name = f"wmma {shape} {product.d} {product.a} {'.'.join(layouts)}"
        kernel = identifier(name.replace(" ", "_"))
        source = _wmma_source(kernel, product, layouts)
        probed = layouts == ("row", "col")
        count = product.m * product.n
        nbytes = 2 if product.d == "f16" else _C[product.d][2]
        cases += _cases(name, kernel, source, product, count, nbytes, probed=probed)
    return Group("wmma", PRELUDE, tuple(cases))


assert BYTES >= 16 * 32 * 8

"""wmma: every shape and type, layouts, memory spaces; PTX from rows in memory to rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Array, Bench
from fragments import BITS, INTEGERS, encoded, random_values

from grader.emulator.runtime.tensor import forms

SIXTEENS = ("m16n16k16", "m32n8k16", "m8n32k16")
SHAPES = {
    "f16": SIXTEENS, "bf16": SIXTEENS, "tf32": ("m16n16k8",), "s8": SIXTEENS, "u8": SIXTEENS,
    "s4": ("m8n8k32",), "u4": ("m8n8k32",), "b1": ("m8n8k128",), "f64": ("m8n8k4",),
}  # fmt: skip
REGISTERS = {"f16": (8, 8)}
"""Of a and b, where the API wants more elements than there are."""

LAYOUTS = [(a, b) for a in ("row", "col") for b in ("row", "col")]
CASES = [
    (kind, shape, layouts)
    for kind, shapes in SHAPES.items()
    for shape in shapes
    for layouts in (LAYOUTS if BITS[kind] > 4 else [("row", "col")])
]


def sizes(shape: str) -> tuple[int, int, int]:
    found = forms.shape_of([shape])
    assert found
    return found


def in_memory(values: Array, kind: str, layout: str) -> Array:
    """The matrix as bytes, row by row or column by column."""
    codes = encoded(values if layout == "row" else values.T, kind)
    bits = BITS[kind]
    if bits >= 8:
        return codes.astype(f"u{bits // 8}")
    per_byte = 8 // bits
    pieces = codes.reshape(len(codes), -1, per_byte) << (
        np.arange(per_byte, dtype=np.uint64) * np.uint64(bits)
    )
    return np.asarray(pieces.sum(axis=2)).astype(np.uint8)


def result_type(kind: str) -> str:
    return "s32" if kind in INTEGERS else "f64" if kind == "f64" else "f32"


def kernel(kind: str, shape: str, layouts: tuple[str, str], d: str, space: str, end: str) -> str:
    """Loads a, b and c, multiplies, stores; operands by way of shared memory where `space` says so."""
    m, n, k = sizes(shape)
    factor = forms.FACTORS[kind]
    counts = REGISTERS.get(kind) or (m * k // (32 * factor.packed), n * k // (32 * factor.packed))
    accumulators = m * n // (64 if d == "f16" else 32)
    register = {"f64": "f64"}.get(kind, "b32")
    wide = {"f32": "f32", "f64": "f64"}.get(d, "b32")
    a_layout, b_layout = layouts
    strides = (k if a_layout == "row" else m, n if b_layout == "row" else k)
    names = [
        "{" + ", ".join(f"%{x}{i}" for i in range(count)) + "}" for x, count in zip("ab", counts, strict=True)
    ]
    sums = "{" + ", ".join(f"%c{i}" for i in range(accumulators)) + "}"
    body = [
        ".visible .entry product(.param .u64 a, .param .u64 b, .param .u64 c) {",
        ".shared .align 128 .b8 tile_a[2048]; .shared .align 128 .b8 tile_b[2048];",
        f".reg .{register} %a<{counts[0]}>, %b<{counts[1]}>; .reg .{wide} %c<{accumulators}>;",
        ".reg .b64 %w<4>; .reg .b32 %t, %i, %v; .reg .pred %p;",
        "ld.param.u64 %w0, [a]; ld.param.u64 %w1, [b]; ld.param.u64 %w2, [c];",
    ]
    places = ["[%w0]", "[%w1]"]
    if space == "shared":
        places = ["[tile_a]", "[tile_b]"]
        for name, pointer, nbytes in (("tile_a", "%w0", m * k), ("tile_b", "%w1", k * n)):
            words = nbytes * BITS[kind] // 32
            body += [
                "mov.u32 %t, %tid.x;", f"{name}_again:", f"setp.ge.u32 %p, %t, {words}; @%p bra {name}_end;",
                f"mul.wide.u32 %w3, %t, 4; add.u64 %w3, %w3, {pointer}; ld.global.b32 %v, [%w3];",
                f"mov.u32 %i, {name}; mad.lo.u32 %i, %t, 4, %i; st.shared.b32 [%i], %v; add.u32 %t, %t, 32;",
                f"bra {name}_again;", f"{name}_end:",
            ]  # fmt: skip
        body.append("bar.warp.sync -1;")
    types = f"{d}.{d}" if kind == "f16" else f"{d}.{kind}.{kind}.{d}"
    bitwise = f".{end}.popc" if kind == "b1" else ""
    last = f".{end}" if end == "satfinite" else ""
    for x, names_of, place, layout, stride in zip("ab", names, places, layouts, strides, strict=True):
        body.append(
            f"wmma.load.{x}.sync.aligned.{layout}.{shape}.{space}.{kind} {names_of}, {place}, {stride};"
        )
    body += [
        f"wmma.load.c.sync.aligned.{b_layout}.{shape}.global.{d} {sums}, [%w2], {n if b_layout == 'row' else m};",
        f"wmma.mma{bitwise}.sync.aligned.{a_layout}.{b_layout}.{shape}.{types}{last} "
        f"{sums}, {', '.join(names)}, {sums};",
        f"wmma.store.d.sync.aligned.{b_layout}.{shape}.global.{d} [%w2], {sums}, {n if b_layout == 'row' else m};",
        "ret; }",
    ]
    return "\n".join(body)


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("kind", "shape", "layouts"), CASES)
def test_products_are_exact(
    bench: Bench, kind: str, shape: str, layouts: tuple[str, str], space: str
) -> None:
    m, n, k = sizes(shape)
    a, b, c = random_values(kind, (m, k), 1), random_values(kind, (k, n), 2), random_values("f16", (m, n), 3)
    for d in (result_type(kind), *(["f16"] if kind == "f16" else [])):
        end = "xor" if kind == "b1" else ""
        dtype = {"f32": np.float32, "f16": np.float16, "s32": np.int32, "f64": np.float64}[d]
        start = np.ascontiguousarray(c if layouts[1] == "row" else c.T).astype(dtype)
        ran = bench.ptx(
            kernel(kind, shape, layouts, d, space, end), "product", 1, 32,
            in_memory(a, kind, layouts[0]), in_memory(b, kind, layouts[1]), start,
        )  # fmt: skip
        assert ran.findings == []
        products = (a[:, :, None] != b[None]).sum(axis=1) if end else a @ b
        got = ran.arrays[2] if layouts[1] == "row" else ran.arrays[2].T
        np.testing.assert_array_equal(got, products + c)


def test_all_forms_are_tried() -> None:
    listed = {(kind, shape) for kind, factor in forms.FACTORS.items() for shape in factor.wmma}
    assert {(kind, shape) for kind, shape, _ in CASES} == listed


def test_bits_are_also_multiplied_by_and(bench: Bench) -> None:
    a, b, c = random_values("b1", (8, 128), 1), random_values("b1", (128, 8), 2), np.zeros((8, 8), np.int32)
    ran = bench.ptx(kernel("b1", "m8n8k128", ("row", "col"), "s32", "global", "and"), "product", 1, 32,
                    in_memory(a, "b1", "row"), in_memory(b, "b1", "col"), c.T.copy())  # fmt: skip
    np.testing.assert_array_equal(ran.arrays[2].T, a @ b)


def test_integers_saturate(bench: Bench) -> None:
    a, b, c = np.full((16, 16), -128.0), np.full((16, 16), 127.0), np.full((16, 16), -(2**31) + 9, np.int32)
    ran = bench.ptx(kernel("s8", "m16n16k16", ("row", "col"), "s32", "global", "satfinite"), "product", 1, 32,
                    in_memory(a, "s8", "row"), in_memory(b, "s8", "col"), c)  # fmt: skip
    assert (ran.arrays[2] == -(2**31)).all()


API = r"""
#include <mma.h>
using namespace nvcuda;
template <class T, int M, int N, int K, class S, class P, class Q>
__device__ void product(const P* a, const P* b, Q* c, int lda, int ldb)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, S> fc;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
extern "C" __global__ void s8(const signed char* a, const signed char* b, int* c) { product<signed char, 16, 16, 16, int>(a, b, c, 16, 16); }
extern "C" __global__ void tf32(const float* a, const float* b, float* c) { product<wmma::precision::tf32, 16, 16, 8, float>(a, b, c, 8, 8); }
extern "C" __global__ void f64(const double* a, const double* b, double* c) { product<double, 8, 8, 4, double>(a, b, c, 4, 4); }
extern "C" __global__ void s4(const void* a, const void* b, int* c) { product<wmma::experimental::precision::s4, 8, 8, 32, int>(a, b, c, 32, 32); }
extern "C" __global__ void bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) { product<__nv_bfloat16, 8, 32, 16, float>(a, b, c, 16, 16); }
extern "C" __global__ void f16(const half* a, const half* b, half* c) { product<half, 32, 8, 16, half>(a, b, c, 16, 16); }
"""  # noqa: E501


@pytest.mark.parametrize(
    ("kind", "shape", "pipe", "instructions"),
    [
        ("s8", "m16n16k16", "imma", 2),
        ("tf32", "m16n16k8", "hmma", 4),  # k = 8 in two halves
        ("f64", "m8n8k4", "dmma", 1),
        ("s4", "m8n8k32", "imma", 2),
        ("bf16", "m8n32k16", "hmma", 2),
        ("f16", "m32n8k16", "hmma", 2),
    ],
)
def test_the_api_of_cuda(bench: Bench, kind: str, shape: str, pipe: str, instructions: int) -> None:
    m, n, k = sizes(shape)
    dtype = {"s32": np.int32, "f64": np.float64, "f32": np.float32}[result_type(kind)]
    dtype = np.float16 if kind == "f16" else dtype
    a, b, c = random_values(kind, (m, k), 4), random_values(kind, (k, n), 5), random_values("f16", (m, n), 6)
    operands = in_memory(a, kind, "row"), in_memory(b, kind, "col")
    ran = bench.cuda(API, kind, 1, 32, *operands, c.astype(dtype))
    assert ran.findings == []
    np.testing.assert_array_equal(ran.arrays[2], 2 * (a @ b + c))
    assert ran.counters[f"sm__inst_executed_pipe_tensor_op_{pipe}.sum"] == instructions

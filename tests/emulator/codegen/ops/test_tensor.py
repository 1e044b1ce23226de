"""Tensor Cores: mma.sync, wmma, ldmatrix, stmatrix.

Products are compared with NumPy's in double precision; operands are small integers, so that every result is exact and
a single misplaced element shows.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from emulated import Array, Bench

LAYOUTS = list(itertools.product(("row", "col"), repeat=2))


def integers(shape: tuple[int, int], seed: int, dtype: type = np.float16) -> Array:
    """Small integers, no two rows or columns alike."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


def bf16(values: Array) -> Array:
    """The upper halves of singles, as bits."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


WMMA = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, const ACC* c, ACC* d)
{
    __shared__ __align__(32) half a_tile[16 * 24], b_tile[16 * 24];
    for (int i = threadIdx.x; i < 16 * 24; i += 32) { a_tile[i] = a[i]; b_tile[i] = b[i]; }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::A_LAYOUT> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::B_LAYOUT> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, ACC> fc;
    wmma::load_matrix_sync(fa, A_FROM, 24);
    wmma::load_matrix_sync(fb, B_FROM, 24);
    wmma::load_matrix_sync(fc, c, 16, wmma::C_LAYOUT);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, 16, wmma::D_LAYOUT);
}
"""


@pytest.mark.parametrize("accumulator", ["float", "half"])
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("a_layout", "b_layout"), LAYOUTS)
def test_wmma_multiplies_matrices_in_any_layout(
    bench: Bench, a_layout: str, b_layout: str, space: str, accumulator: str
) -> None:
    names = {
        "ACC": accumulator,
        "A_LAYOUT": f"{a_layout}_major",
        "B_LAYOUT": f"{b_layout}_major",
        "C_LAYOUT": f"mem_{b_layout}_major",
        "D_LAYOUT": f"mem_{a_layout}_major",
        "A_FROM": "a_tile" if space == "shared" else "a",
        "B_FROM": "b_tile" if space == "shared" else "b",
    }
    source = WMMA
    for name, value in names.items():
        source = source.replace(name, value)
    kind = np.float32 if accumulator == "float" else np.float16
    a, b, c = integers((16, 24), 1), integers((16, 24), 2), integers((16, 16), 3, kind)
    *_, d = bench.clean(source, "product", 1, 32, a, b, c, np.zeros((16, 16), kind))
    left, right = (
        m[:, :16] if layout == "row" else m[:, :16].T for m, layout in ((a, a_layout), (b, b_layout))
    )
    start = c if b_layout == "row" else c.T
    expected = left.astype(float) @ right.astype(float) + 2.0 * start.astype(float)
    np.testing.assert_array_equal(d if a_layout == "row" else d.T, expected)


MMA = r"""
extern "C" __global__ void product(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* d)
{
    unsigned ra[A_COUNT], rb[B_COUNT], rc[C_COUNT];
    int lane = threadIdx.x;
    for (int i = 0; i < A_COUNT; i++) ra[i] = a[i * 32 + lane];
    for (int i = 0; i < B_COUNT; i++) rb[i] = b[i * 32 + lane];
    for (int i = 0; i < C_COUNT; i++) rc[i] = c[i * 32 + lane];
    asm volatile("mma.sync.aligned.SHAPE.row.col.TYPES {C}, {A}, {B}, {C};" : OUTPUTS : INPUTS);
    for (int i = 0; i < C_COUNT; i++) d[i * 32 + lane] = rc[i];
}
"""

CASES = [
    ("m16n8k16", "f32.f16.f16.f32", 16, 2),
    ("m16n8k8", "f32.f16.f16.f32", 8, 2),
    ("m16n8k16", "f16.f16.f16.f16", 16, 2),
    ("m16n8k16", "f32.bf16.bf16.f32", 16, 2),
    ("m16n8k8", "f32.bf16.bf16.f32", 8, 2),
    ("m16n8k8", "f32.tf32.tf32.f32", 8, 1),
    ("m16n8k4", "f32.tf32.tf32.f32", 4, 1),
]


def mma_source(shape: str, types: str, registers: tuple[int, int, int]) -> str:
    a, b, c = registers
    is_float = types.startswith("f32")
    slots = iter(range(100))
    names = {"C": c, "A": a, "B": b}
    lists = {name: ", ".join(f"%{next(slots)}" for _ in range(n)) for name, n in names.items()}
    body = MMA
    for name, text in lists.items():
        body = body.replace(f"{{{name}}}", f"{{{text}}}")
    letter = "f" if is_float else "r"
    outputs = ", ".join(f'"+{letter}"(*({"float" if is_float else "unsigned"}*)&rc[{i}])' for i in range(c))
    inputs = ", ".join([f'"r"(ra[{i}])' for i in range(a)] + [f'"r"(rb[{i}])' for i in range(b)])
    for name, value in (("SHAPE", shape), ("TYPES", types), ("OUTPUTS", outputs), ("INPUTS", inputs),
                        ("A_COUNT", str(a)), ("B_COUNT", str(b)), ("C_COUNT", str(c))):  # fmt: skip
        body = body.replace(name, value)
    return body


def words(matrix: Array, kind: str, packed: int) -> Array:
    """Neighbouring elements of a row as 32-bit words, the first in the low bits."""
    bits = bf16(matrix) if kind == "bf16" else np.ascontiguousarray(matrix)
    return np.ascontiguousarray(bits).view(np.uint32).reshape(len(matrix), -1)


def fragment(matrix: Array, kind: str, packed: int) -> Array:
    """Registers × lanes of an operand whose rows are along k: rows of 8 to a group, 4 lanes a row (PTX ISA)."""
    table = words(matrix, kind, packed)
    lane = np.arange(32)
    rows, columns = len(matrix) // 8, table.shape[1] // 4
    return np.array([table[lane // 4 + 8 * r, lane % 4 + 4 * q] for q in range(columns) for r in range(rows)])


def accumulator(matrix: Array) -> Array:
    """Registers × lanes of a 16 × 8 accumulator: pairs of columns; two halves share a register."""
    lane = np.arange(32)
    elements = [[matrix[lane // 4 + 8 * r, lane % 4 * 2 + k] for k in (0, 1)] for r in (0, 1)]
    if matrix.dtype == np.float16:
        return np.array([np.stack(pair, axis=1).reshape(-1).view(np.uint32) for pair in elements])
    return np.array([e.view(np.uint32) for pair in elements for e in pair])


@pytest.mark.parametrize(("shape", "types", "depth", "packed"), CASES)
def test_mma_multiplies_fragments(bench: Bench, shape: str, types: str, depth: int, packed: int) -> None:
    kind = types.split(".")[1]
    source_type = np.float16 if kind == "f16" else np.float32
    result_type = np.float32 if types.startswith("f32") else np.float16
    a, b = integers((16, depth), 1, source_type), integers((depth, 8), 2, source_type)
    c = integers((16, 8), 3, result_type)
    fa, fb, fc = fragment(a, kind, packed), fragment(b.T.copy(), kind, packed), accumulator(c)
    source = mma_source(shape, types, (len(fa), len(fb), len(fc)))
    *_, d = bench.clean(source, "product", 1, 32, fa, fb, fc, np.zeros_like(fc))
    expected = (a.astype(float) @ b.astype(float) + c.astype(float)).astype(result_type)
    np.testing.assert_array_equal(d, accumulator(expected))


MATRICES = r"""
extern "C" __global__ void copy(const unsigned short* in, unsigned* out, unsigned short* back)
{
    __shared__ __align__(16) unsigned short tile[32 * 8], copied[32 * 8];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) { tile[i] = in[i]; copied[i] = 0; }
    __syncthreads();
    unsigned from = __cvta_generic_to_shared(&tile[lane * 8]), to = __cvta_generic_to_shared(&copied[lane * 8]);
    unsigned r[4] = {0, 0, 0, 0};
    asm volatile("ldmatrix.sync.aligned.m8n8.xCOUNT.TRANSshared.b16 {REGISTERS}, [%COUNT];" : OUTPUTS : "r"(from));
    asm volatile("stmatrix.sync.aligned.m8n8.xCOUNT.TRANSshared.b16 [%COUNT], {REGISTERS};" :: INPUTS, "r"(to));
    __syncthreads();
    for (int i = 0; i < 4; i++) out[i * 32 + lane] = r[i];
    for (int i = lane; i < 256; i += 32) back[i] = copied[i];
}
"""


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_and_stmatrix_move_8_by_8_matrices(bench: Bench, count: int, transposed: bool) -> None:
    names = {
        "COUNT": str(count),
        "TRANS": "trans." if transposed else "",
        "REGISTERS": ", ".join(f"%{i}" for i in range(count)),
        "OUTPUTS": ", ".join(f'"=r"(r[{i}])' for i in range(count)),
        "INPUTS": ", ".join(f'"r"(r[{i}])' for i in range(count)),
    }
    load, store = MATRICES.split('    asm volatile("stmatrix')
    source = (
        load + '    asm volatile("stmatrix' + store.replace("[%COUNT], {REGISTERS}", "[%LAST], {REGISTERS}")
    )
    source = source.replace("[%LAST]", f"[%{count}]")
    for name, value in names.items():
        source = source.replace(name, value)
    matrices = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    _, out, back = bench.clean(
        source, "copy", 1, 32, matrices, np.zeros((4, 32), np.uint32), np.zeros_like(matrices)
    )
    seen = matrices.transpose(0, 2, 1) if transposed else matrices
    expected = np.ascontiguousarray(seen).view(np.uint32).reshape(4, 32)
    np.testing.assert_array_equal(out[:count], expected[:count])
    np.testing.assert_array_equal(back[:count], matrices[:count])
    assert not back[count:].any()


def test_products_and_matrix_loads_are_counted(bench: Bench) -> None:
    source = WMMA.replace("ACC", "float").replace("A_FROM", "a_tile").replace("B_FROM", "b")
    for name in ("A_LAYOUT", "B_LAYOUT"):
        source = source.replace(name, "row_major")
    source = source.replace("C_LAYOUT", "mem_row_major").replace("D_LAYOUT", "mem_row_major")
    a, c = integers((16, 24), 1), integers((16, 16), 3, np.float32)
    counters = bench.cuda(source, "product", 1, 32, a, a, c, c.copy()).counters
    assert counters["sm__inst_executed_pipe_tensor_op_hmma.sum"] == 2
    assert counters["sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum"] == 2 * 16**3
    assert counters["sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum"] == 0
    assert counters["smsp__sass_inst_executed_op_ldsm.sum"] == 1
    # Rows of 48 bytes: sixteen rows of 32 bytes straddle nothing, each 8 × 8 quarter takes half a sector a row.
    assert counters["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] == 4
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 4 * 8


@pytest.mark.parametrize("opcode", ["mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0}, {%d1}, {%d2}, {%d0}",
                                    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0,%r0,%r0,%r0}, "
                                    "{%r0,%r0,%r0,%r0}, {%r0,%r0}, {%r0,%r0,%r0,%r0}"])  # fmt: skip
def test_other_products_are_refused_by_name(bench: Bench, opcode: str) -> None:
    body = f".visible .entry k() {{ .reg .b32 %r<2>; .reg .f64 %d<3>; {opcode}; ret; }}"
    with pytest.raises(Exception, match=opcode.split(" ")[0]):
        bench.ptx(body, "k", 1, 32)

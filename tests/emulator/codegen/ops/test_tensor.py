"""Tensor Cores through CUDA's mma.h, and ldmatrix, stmatrix, movmatrix.

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


def test_movmatrix_transposes(bench: Bench) -> None:
    body = """.visible .entry k(.param .u64 in, .param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %w<4>;
    ld.param.u64 %w0, [in]; ld.param.u64 %w1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %w2, %r0, 4;
    add.u64 %w0, %w0, %w2; add.u64 %w1, %w1, %w2; ld.global.b32 %r1, [%w0];
    movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;
    st.global.b32 [%w1], %r2; ret; }"""
    matrix = np.arange(64, dtype=np.uint16).reshape(8, 8)
    ran = bench.ptx(body, "k", 1, 32, matrix, np.zeros_like(matrix))
    assert ran.findings == []
    np.testing.assert_array_equal(ran.arrays[1], matrix.T)


def test_lanes_share_the_sectors_of_a_matrix(bench: Bench) -> None:
    """A request brings 8 × 8 halves, of half a sector in each of 8 rows: 4 sectors would do, as an H200 counts."""
    source = """#include <mma.h>
    extern "C" __global__ void load(const half* in, float* out) {
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a;
        nvcuda::wmma::load_matrix_sync(a, in, 64);
        out[threadIdx.x] = a.x[0];
    }"""
    counters = bench.cuda(
        source, "load", 1, 32, np.zeros((16, 64), np.float16), np.zeros(32, np.float32)
    ).counters
    assert counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 4
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4 * 8
    assert counters["memory_l2_theoretical_sectors_global_ideal"] == 4 * 4 + 4


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

"""cp.async.bulk and cp.reduce.async.bulk: what they copy, when it arrives, what is found where a wait is missing."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench, Ran

from grader.emulator import metrics
from grader.emulator.errors import UnsupportedPtx

ASM = r"""
#define U64 unsigned long long
__device__ unsigned place(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void init(U64* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(place(b)), "r"(n)); }
__device__ void expect(U64* b, int n)
{ asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(place(b)), "r"(n) : "memory"); }
__device__ void wait(U64* b, unsigned parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }"
                 :: "r"(place(b)), "r"(parity) : "memory");
}
__device__ void load(void* to, const void* from, int n, U64* b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(place(to)), "l"(from), "r"(n), "r"(place(b)) : "memory");
}
__device__ void store(void* to, const void* from, int n)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(place(from)), "r"(n) : "memory");
}
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
#define WAIT_READ(n) asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(n) : "memory")
#define WAIT_ALL(n) asm volatile("cp.async.bulk.wait_group %0;" :: "n"(n) : "memory")
"""
VALUES = np.arange(1024, dtype=np.float32)

LOADS = (
    ASM
    + r"""
extern "C" __global__ void loads(const float* in, float* out)
{
    __shared__ __align__(128) float tile[2][128];
    __shared__ U64 full[2];
    int t = threadIdx.x;
    if (t == 0) { init(&full[0], 1); init(&full[1], 1); }
    __syncthreads();
    if (t == 0)
        for (int k = 0; k < 2; k++) { expect(&full[k], BYTES); load(tile[k], in + 128 * k, 512, &full[k]); }
    for (int k = 0; k < 8; k++) {
        AWAIT
        out[128 * k + t] = tile[k % 2][127 - t];
        RELEASE
        if (t == 0 && k < 6) { expect(&full[k % 2], 512); load(tile[k % 2], in + 128 * (k + 2), 512, &full[k % 2]); }
    }
}
"""
)


def loads(
    bench: Bench,
    wait: str = "wait(&full[k % 2], k / 2 & 1);",
    free: str = "__syncthreads();",
    size: str = "512",
) -> Ran:
    source = LOADS.replace("AWAIT", wait).replace("RELEASE", free).replace("BYTES", size)
    return bench.cuda(source, "loads", 1, 128, VALUES, np.zeros_like(VALUES))


def test_loads_complete_phases(bench: Bench) -> None:
    ran = loads(bench)
    assert ran.findings == []
    np.testing.assert_array_equal(ran.arrays[1], VALUES.reshape(8, 128)[:, ::-1].ravel())


def test_what_tma_moves_is_counted(bench: Bench) -> None:
    counters = loads(bench).counters
    assert counters["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"] == 4096
    assert counters["l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"] == 128
    assert counters["smsp__sass_inst_executed_op_tma_ld.sum"] == 8
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 0
    record = loads(bench).record
    assert record.dram_read_bytes == record.l2_read_bytes == 4096


ONE_A_LANE = (
    ASM
    + r"""
extern "C" __global__ void copy(const float* in, float* out)
{
    __shared__ __align__(128) float tile[1024];
    __shared__ U64 full;
    int t = threadIdx.x;
    if (t == 0) { init(&full, 1); expect(&full, LANES * BYTES); }
    __syncthreads();
    if (t < LANES) load(tile + t * BYTES / 4, in + t * BYTES / 4 + SHIFT, BYTES, &full);
    wait(&full, 0);
    out[t] = tile[t];
}
"""
)


@pytest.mark.parametrize(
    ("lanes", "nbytes", "shift", "sectors"),
    [(32, 32, 0, 32), (1, 272, 4, 5 + 5 + 1), (1, 2048, 12, 16 * 5)],
    ids=["one a lane", "two pieces and a half", "pieces of 128 bytes"],
)
def test_copies_count_as_an_h200_counts_them(
    bench: Bench, lanes: int, nbytes: int, shift: int, sectors: int
) -> None:
    """An instruction a lane, since SASS takes them in turns; each 128 bytes by themselves, wherever they begin."""
    source = (
        ONE_A_LANE.replace("LANES", str(lanes)).replace("BYTES", str(nbytes)).replace("SHIFT", str(shift))
    )
    counters = bench.cuda(source, "copy", 1, 32, VALUES, np.zeros(32, np.float32)).counters
    assert counters["smsp__sass_inst_executed_op_tma_ld.sum"] == lanes
    assert counters["l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"] == sectors


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ({"wait": ""}, "unfinished_copy"),
        ({"wait": "wait(&full[k % 2], 1);"}, "unfinished_copy"),
        ({"wait": "if (t < 32) wait(&full[k % 2], k / 2 & 1);"}, "race"),
        ({"free": ""}, "race"),
        ({"size": "256"}, "mbarrier"),
        ({"size": "1024"}, "mbarrier"),
    ],
    ids=["no wait", "the parity stays", "another warp waits", "overwritten", "fewer bytes", "more bytes"],
)
def test_a_fault_of_a_load_is_found(bench: Bench, fault: dict[str, str], found: str) -> None:
    assert found in loads(bench, **fault).findings


def test_bytes_that_differ_are_named(bench: Bench) -> None:
    (found,) = (f for f in loads(bench, size="1024").record.findings if f.kind == "mbarrier")
    assert found.phase is not None
    assert (found.phase.fault, found.phase.arrived, found.phase.expected) == ("bytes", 512, 1024)


STORES = (
    ASM
    + r"""
extern "C" __global__ void stores(float* out)
{
    __shared__ __align__(128) float tile[128];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        tile[t] = 128 * k + t;
        ORDER
        __syncthreads();
        if (t == 0) { store(out + 512 * blockIdx.x + 128 * k, tile, 512); commit(); FINISH }
        __syncthreads();
    }
    if (t == 0) WAIT_ALL(0);
}
"""
)


def stores(bench: Bench, fence: str = "fence();", done: str = "WAIT_READ(0);") -> Ran:
    source = STORES.replace("ORDER", fence).replace("FINISH", done)
    return bench.cuda(source, "stores", 2, 128, np.zeros_like(VALUES))


def test_stores(bench: Bench) -> None:
    ran = stores(bench)
    assert ran.findings == []
    np.testing.assert_array_equal(ran.arrays[0], np.tile(VALUES[:512], 2))
    assert ran.counters["l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"] == 4096
    assert ran.record.dram_write_bytes == 4096


@pytest.mark.parametrize(
    ("fault", "found"),
    [({"fence": ""}, "proxy_fence"), ({"done": ""}, "unfinished_copy"), ({"done": "WAIT_READ(1);"}, "unfinished_copy")],
    ids=["no fence", "no wait", "too many may be under way"],
)  # fmt: skip
def test_a_fault_of_a_store_is_found(bench: Bench, fault: dict[str, str], found: str) -> None:
    assert stores(bench, **fault).findings == [found]


def test_a_store_reads_what_a_load_has_brought_with_no_fence(bench: Bench) -> None:
    source = (
        ASM
        + r"""
    extern "C" __global__ void through(const float* in, float* out)
    {
        __shared__ __align__(128) float tile[256];
        __shared__ U64 full;
        if (threadIdx.x == 0) {
            init(&full, 1);
            expect(&full, 1024);
            load(tile, in, 1024, &full);
            wait(&full, 0);
            store(out, tile, 1024);
            commit();
            WAIT_ALL(0);
        }
    }"""
    )
    _, out = bench.clean(source, "through", 1, 32, VALUES[:256], np.zeros(256, np.float32))
    np.testing.assert_array_equal(out, VALUES[:256])


KINDS = [
    ("add", "u32", np.uint32), ("add", "s32", np.int32), ("add", "u64", np.uint64), ("min", "s32", np.int32),
    ("max", "u32", np.uint32), ("max", "s64", np.int64), ("and", "b32", np.uint32), ("or", "b64", np.uint64),
    ("xor", "b32", np.uint32), ("inc", "u32", np.uint32), ("dec", "u32", np.uint32), ("add", "f32", np.float32),
    ("add", "f64", np.float64), ("add.noftz", "f16", np.float16), ("min", "f16", np.float16),
]  # fmt: skip
REDUCED = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "inc": lambda old, top: np.where(old >= top, 0, old + 1),
    "dec": lambda old, top: np.where((old == 0) | (old > top), top, old - 1),
}  # fmt: skip


@pytest.mark.parametrize(("operation", "kind", "dtype"), KINDS, ids=[f"{o}.{k}" for o, k, _ in KINDS])
def test_reductions(bench: Bench, operation: str, kind: str, dtype: type) -> None:
    source = (
        ASM
        + r"""
    extern "C" __global__ void reduces(const char* in, char* out)
    {
        __shared__ __align__(128) char tile[256];
        for (int i = threadIdx.x; i < 256; i += 32) tile[i] = in[i];
        fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.KIND [%0], [%1], 256;"
                         :: "l"(out), "r"(place(tile)) : "memory");
            commit();
            WAIT_ALL(0);
        }
    }""".replace("KIND", f"{operation}.{kind}")
    )
    rng = np.random.default_rng(7)
    count = 256 // np.dtype(dtype).itemsize
    low = 0 if np.dtype(dtype).kind == "u" else -40
    new, old = (rng.integers(low, 60, count).astype(dtype) for _ in range(2))
    ran = bench.cuda(source, "reduces", 1, 32, new, old)
    assert not ran.findings
    np.testing.assert_array_equal(ran.arrays[1], REDUCED[operation.partition(".")[0]](old, new).astype(dtype))
    adds = operation.startswith("add") and np.dtype(dtype).kind == "f"
    assert ran.counters.get(metrics.MEMORY_ADDITIONS, 0) == (count if adds else 0)


@pytest.mark.parametrize(
    ("target", "source", "found"),
    [
        ("tile[k] + 1", "in", "misaligned"),
        ("tile[k] + 4", "in + 1", "misaligned"),
        ("tile[2 * k + 2]", "in", "out_of_bounds"),
        ("tile[k]", "in + 1000", "out_of_bounds"),
    ],
    ids=["shared", "global", "beyond shared memory", "beyond an array"],
)
def test_a_misplaced_copy_is_found(bench: Bench, target: str, source: str, found: str) -> None:
    text = LOADS.replace("load(tile[k], in + 128 * k", f"load({target}, {source}")
    text = text.replace("AWAIT", "").replace("RELEASE", "").replace("BYTES", "512").replace("k < 8", "k < 0")
    assert bench.cuda(text, "loads", 1, 128, VALUES, np.zeros_like(VALUES)).findings == [found]


MANY = (
    ASM
    + r"""
extern "C" __global__ void many(const float* in)
{
    __shared__ __align__(16) float tile[4];
    __shared__ U64 b[1024];
    if (threadIdx.x) return;
    for (int k = 0; k < MBARRIERS; k++) init(&b[k], 1);
    if (COPIES) expect(&b[0], 16 * COPIES);
    for (int k = 0; k < COPIES; k++) load(tile, in, 16, &b[0]);
}
"""
)


@pytest.mark.parametrize(("copies", "mbarriers", "says"), [(5000, 1, "bulk copies"), (0, 1024, "mbarriers")])
def test_more_than_the_emulator_keeps_is_refused(
    bench: Bench, copies: int, mbarriers: int, says: str
) -> None:
    source = MANY.replace("COPIES", str(copies)).replace("MBARRIERS", str(mbarriers))
    with pytest.raises(UnsupportedPtx, match=f"more than [0-9]+ {says}.* in a block, as many has"):
        bench.cuda(source, "many", 1, 32, VALUES)

"""What has to wait for a wgmma, and what a wgmma has to wait for: each fault, and its cure.

The kernels are CUDA C++ as people write it, through NVRTC, whose moves around inline assembly are no fault.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import THREADS, Bench, marked, touches

from grader.emulator.machine.machine import Machine
from grader.findings.kernels import message

HEAD = r"""
#include <cuda_fp16.h>
constexpr int STEPS = 8;
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }
__device__ unsigned long long describe(const half* tile)  // 8 x 8 pieces, no swizzle, k contiguous
{
    unsigned long long at = __cvta_generic_to_shared(tile);
    return at >> 4 | 1024ull / 16 << 16 | 128ull / 16 << 32;
}
__device__ unsigned long long describe_b(const half* tile)
{
    unsigned long long at = __cvta_generic_to_shared(tile);
    return at >> 4 | 128ull / 16 << 16 | 128ull / 16 << 32;
}
__device__ void multiply(float (&d)[4], unsigned long long a, unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
__device__ void multiply(float (&d)[4], unsigned (&a)[4], unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void load(half* to, const half* from, int count)
{
    for (int i = threadIdx.x; i < count; i += 128) to[i] = from[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
"""

LOOP = (
    HEAD
    + r"""
extern "C" __global__ void k(const half* a, const half* b, float* out)
{
    __shared__ __align__(128) half as[2][64 * 16], bs[2][8 * 16];
    float d[4] = {};
    for (int step = 0; step < STEPS; step++) {
        load(as[step % 2], a + step * 64 * 16, 64 * 16);
        load(bs[step % 2], b + step * 8 * 16, 8 * 16);
        __syncthreads();
        fence();
        multiply(d, describe(as[step % 2]), describe_b(bs[step % 2]));
        commit();
        INSIDE
    }
    BEHIND
    for (int i = 0; i < 4; i++) out[i * 128 + threadIdx.x] = 2 * d[i];
}
"""
)


def operands() -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """a and b as they lie in shared memory, and the sums as threads hold them."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 128), (128, 8)))
    sums = 2 * (a.astype(float) @ b.astype(float))
    lane, warp = np.arange(128) % 32, np.arange(128) // 32
    expected = np.stack([sums[16 * warp + lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2] for i in range(4)])
    # of each step, k in two halves; of each half rows of 8
    a_image = a.reshape(64, 8, 2, 8).transpose(1, 2, 0, 3)
    b_image = b.T.reshape(8, 8, 2, 8).transpose(1, 2, 0, 3)
    return np.ascontiguousarray(a_image), np.ascontiguousarray(b_image), expected.astype(np.float32)


def check(bench: Bench, source: str, *kinds: str) -> None:
    """The findings are of these kinds, in the marked lines; the values are right all the same."""
    a, b, expected = operands()
    ran = bench.cuda(source, "k", 1, 128, a, b, np.zeros((4, 128), np.float32))
    assert sorted(set(ran.findings)) == sorted(kinds), [f.line for f in ran.record.findings]
    if kinds:
        assert all(touches(finding.place, marked(source)) for finding in ran.record.findings)
    else:
        np.testing.assert_array_equal(ran.arrays[2], expected)


@pytest.mark.parametrize(
    ("inside", "behind"),
    [
        ("wait<0>(); __syncthreads();", ""),
        # a group may be under way until its buffer is written again, and is waited for at the end
        ("wait<1>(); __syncthreads();", "wait<0>();"),
    ],
)
def test_a_loop_that_waits_is_clean(bench: Bench, inside: str, behind: str) -> None:
    check(bench, LOOP.replace("INSIDE", inside).replace("BEHIND", behind))


def test_operands_written_behind_no_proxy_fence(bench: Bench) -> None:
    source = LOOP.replace("INSIDE", "wait<0>(); __syncthreads();").replace("BEHIND", "")
    source = source.replace('    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n', "")
    source = source.replace("describe_b(bs[step % 2]));", "describe_b(bs[step % 2])); //")
    check(bench, source, "proxy_fence")
    a, b, _ = operands()
    (found,) = bench.cuda(source, "k", 1, 128, a, b, np.zeros((4, 128), np.float32)).record.findings
    assert message(found).startswith("the wgmma that the warp of thread (0, 0, 0) issues reads")


def test_accumulators_read_before_the_wait(bench: Bench) -> None:
    source = LOOP.replace("INSIDE", "wait<1>(); __syncthreads();").replace("BEHIND", "")
    check(bench, source.replace("2 * d[i];", "2 * d[i]; //"), "unfinished_product")


def test_groups_that_were_not_committed_are_not_waited_for(bench: Bench) -> None:
    source = LOOP.replace("commit();\n        INSIDE", "wait<0>(); __syncthreads();").replace("BEHIND", "")
    source = source.replace("to[i] = from[i];", "to[i] = from[i]; //").replace("2 * d[i];", "2 * d[i]; //")
    check(bench, source, "unfinished_product")


def test_shared_memory_written_before_the_wait(bench: Bench) -> None:
    source = LOOP.replace("INSIDE", "__syncthreads();").replace("BEHIND", "wait<0>();")
    check(bench, source.replace("to[i] = from[i];", "to[i] = from[i]; //"), "unfinished_product")


def test_a_store_names_the_product_that_still_reads(bench: Bench) -> None:
    source = LOOP.replace("INSIDE", "__syncthreads();").replace("BEHIND", "wait<0>();")
    a, b, _ = operands()
    ran = bench.cuda(source, "k", 1, 128, a, b, np.zeros((4, 128), np.float32))
    finding = next(f for f in ran.record.findings if f.array == "as")
    assert finding.action == "write"
    assert finding.other is not None
    product = 1 + source[: source.index("multiply(d, describe")].count("\n")
    assert touches(finding.other.place, {product})


SHARED_BY_TWO = (
    HEAD
    + r"""
extern "C" __global__ void k(const half* a, const half* b, float* out)
{
    __shared__ __align__(128) half as[2][64 * 16], bs[8 * 16];
    const int group = threadIdx.x / 128;
    float d[4] = {};
    for (int step = 0; step < STEPS; step++) {
        for (int i = threadIdx.x % 128; i < 64 * 16; i += 128) as[group][i] = a[step * 64 * 16 + i];
        if (threadIdx.x < 64) for (int i = threadIdx.x; i < 8 * 16; i += 64) bs[i] = b[step * 8 * 16 + i];  //
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        meet();
        fence();
        multiply(d, describe(as[group]), describe_b(bs));
        commit();
        WAIT
        meet();
    }
    wait<0>();
    for (int i = 0; i < 4; i++) if (group == 0) out[i * 128 + threadIdx.x] = 2 * d[i];
}
"""
).replace(
    "constexpr", '__device__ void meet() { asm volatile("bar.sync 1, 256;" ::: "memory"); }\nconstexpr', 1
)
"""Two warpgroups meet at a barrier of their own, as parts of a block do, and multiply by the same B."""


@pytest.mark.parametrize(
    ("waits", "kinds"),
    [
        ("wait<0>();", ()),
        ("if (group == 0) wait<0>();", ("unfinished_product",)),
        ("if (group == 1) wait<0>();", ("unfinished_product",)),
    ],
)
def test_an_operand_of_two_warpgroups_is_free_when_both_have_waited(
    bench: Bench, waits: str, kinds: tuple[str, ...]
) -> None:
    source = SHARED_BY_TWO.replace("WAIT", waits)
    a, b, expected = operands()
    ran = bench.cuda(source, "k", 1, 256, a, b, np.zeros((4, 128), np.float32))
    of_b = [f for f in ran.record.findings if touches(f.place, marked(source))]
    assert sorted({f.kind for f in of_b}) == sorted(kinds)
    if not kinds:
        assert not ran.findings
        np.testing.assert_array_equal(ran.arrays[2], expected)


ONE_SPEAKS_FOR_FOUR = (
    HEAD
    + r"""
extern "C" __global__ void k(const half* a, const half* b, float* out)
{
    __shared__ __align__(128) half as[64 * 16], bs[8 * 16];
    __shared__ unsigned long long full, empty;
    const unsigned filled = __cvta_generic_to_shared(&full), freed = __cvta_generic_to_shared(&empty);
    if (threadIdx.x == 0) { make(filled, 128); make(freed, 1); }
    __syncthreads();
    const int thread = threadIdx.x % 128;
    if (threadIdx.x >= 128) {
        for (int step = 0; step < STEPS; step++) {
            if (step > 0) await(freed, (step - 1) % 2);
            for (int i = thread; i < 64 * 16; i += 128) as[i] = a[step * 64 * 16 + i];  //
            for (int i = thread; i < 8 * 16; i += 128) bs[i] = b[step * 8 * 16 + i];  //
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            arrive(filled);
        }
        return;
    }
    float d[4] = {};
    for (int step = 0; step < STEPS; step++) {
        await(filled, step % 2);
        fence();
        multiply(d, describe(as), describe_b(bs));
        commit();
        BEFORE
        if (thread == 0) arrive(freed);
        AFTER
    }
    for (int i = 0; i < 4; i++) out[i * 128 + thread] = 2 * d[i];
}
"""
).replace(
    "constexpr",
    r"""
__device__ void make(unsigned at, int count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at), "r"(count));
}
__device__ void arrive(unsigned at) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at) : "memory"); }
__device__ void await(unsigned at, int parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }"
                 :: "r"(at), "r"(parity) : "memory");
}
constexpr""",
    1,
)
"""A warpgroup fills shared memory, another multiplies, and a thread of its first warp says when it has."""


@pytest.mark.parametrize(
    ("before", "after", "finds"),
    [("wait<0>();", "", False), ("", "wait<0>();", True)],
    ids=["waits", "does not"],
)
def test_a_group_is_the_whole_warpgroup_s(bench: Bench, before: str, after: str, finds: bool) -> None:
    """Who has waited for it knows that the other three warps' parts are done, too."""
    source = ONE_SPEAKS_FOR_FOUR.replace("BEFORE", before).replace("AFTER", after)
    a, b, expected = operands()
    ran = bench.cuda(source, "k", 1, 256, a, b, np.zeros((4, 128), np.float32))
    assert bool(ran.findings) is finds, ran.findings
    if finds:
        assert all(touches(finding.place, marked(source)) for finding in ran.record.findings)
    else:
        np.testing.assert_array_equal(ran.arrays[2], expected)


def test_a_product_without_any_fence(bench: Bench) -> None:
    source = LOOP.replace("        fence();\n", "").replace("INSIDE", "wait<0>(); __syncthreads();")
    source = source.replace("BEHIND", "").replace(
        "describe_b(bs[step % 2]));", "describe_b(bs[step % 2])); //"
    )
    check(bench, source, "unfenced_product")


SCALED = (
    HEAD
    + r"""
extern "C" __global__ void k(const half* a, const half* b, float* out)
{
    __shared__ __align__(128) half as[64 * 16], bs[8 * 16];
    float d[4] = {};
    for (int step = 0; step < STEPS; step++) {
        load(as, a + step * 64 * 16, 64 * 16);
        load(bs, b + step * 8 * 16, 8 * 16);
        __syncthreads();
        if (step == 0) fence();
        for (int i = 0; i < 4; i++) d[i] = d[i] * 1.0f + float(step >> 8);
        FENCE
        multiply(d, describe(as), describe_b(bs));
        commit();
        wait<0>();
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) out[i * 128 + threadIdx.x] = 2 * d[i];
}
"""
)


def test_accumulators_written_after_the_last_fence(bench: Bench) -> None:
    check(bench, SCALED.replace("FENCE", "fence();"))
    fault = SCALED.replace("FENCE", "").replace("describe_b(bs));", "describe_b(bs)); //")
    check(bench, fault, "unfenced_product")


IN_REGISTERS = (
    HEAD
    + r"""
extern "C" __global__ void k(const half* a, const half* b, float* out)
{
    __shared__ __align__(128) half bs[STEPS * 8 * 16];
    load(bs, b, STEPS * 8 * 16);
    __syncthreads();
    float d[4] = {};
    int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    #pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        unsigned r[4];
        const unsigned* from = (const unsigned*)(a + step * 64 * 16);
        for (int i = 0; i < 4; i++)
            r[i] = __ldg(from + i / 2 * 256 + (row + i % 2 * 8) * 4 + lane % 4); //
        fence();
        multiply(d, r, describe_b(bs + step * 8 * 16));
        commit();
        INSIDE
    }
    wait<0>();
    for (int i = 0; i < 4; i++) out[i * 128 + threadIdx.x] = 2 * d[i];
}
"""
)


def test_operand_a_written_before_the_wait(bench: Bench) -> None:
    check(bench, IN_REGISTERS.replace("INSIDE", "wait<0>();"))
    check(bench, IN_REGISTERS.replace("INSIDE", ""), "unfinished_product")


COMPUTED = (
    HEAD
    + r"""
extern "C" __global__ void k(const half* a, const half* b, float* out)
{
    __shared__ __align__(128) half bs[STEPS * 8 * 16];
    load(bs, b, STEPS * 8 * 16);
    __syncthreads();
    float d[4] = {}, shift = 0;
    int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    for (int step = 0; step < STEPS; step++) {
        unsigned r[4];
        for (int i = 0; i < 4; i++) {
            const half2 pair = *(const half2*)(a + step * 64 * 16 + i / 2 * 512 + (row + i % 2 * 8) * 8 + lane % 4 * 2);
            const half2 moved = __floats2half2_rn(__low2float(pair) + shift, __high2float(pair) + shift);
            r[i] = *(const unsigned*)&moved;
        }
        for (int i = 0; i < 4; i++) d[i] *= 0.5f;
        fence();
        multiply(d, r, describe_b(bs + step * 8 * 16));
        commit();
        wait<0>();
        shift += float(step >> 8);
    }
    for (int i = 0; i < 4; i++) out[i * 128 + threadIdx.x] = 2 * d[i];
}
"""
)


def test_arithmetic_that_the_compiler_puts_behind_the_fence_is_no_fault(bench: Bench) -> None:
    """As in attention: NVRTC moves the rescaling of the sums to behind the fence, into the registers of the product."""
    a, b, _ = operands()
    ran = bench.cuda(COMPUTED, "k", 1, 128, a, b, np.zeros((4, 128), np.float32))
    assert ran.findings == []


def test_findings_are_the_same_on_any_number_of_threads() -> None:
    source = LOOP.replace("INSIDE", "__syncthreads();").replace("BEHIND", "")
    a, b, _ = operands()
    found = set()
    for threads in THREADS:
        machine = Machine(threads=threads)
        ran = Bench(machine).cuda(source, "k", 4, 128, a, b, np.zeros((4, 128), np.float32))
        found.add(tuple((f.kind, f.line, f.count, f.block, f.thread) for f in ran.record.findings))
    assert len(found) == 1


def test_products_of_warpgroups_are_counted(bench: Bench) -> None:
    source = LOOP.replace("INSIDE", "wait<0>(); __syncthreads();").replace("BEHIND", "")
    a, b, _ = operands()
    counters = bench.cuda(source, "k", 1, 128, a, b, np.zeros((4, 128), np.float32)).counters
    assert counters["sm__inst_executed_pipe_tensor_op_gmma.sum"] == 4 * 8  # each of the four warps
    assert counters["sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum"] == 2 * 64 * 8 * 128
    assert counters["sm__inst_executed_pipe_tensor_op_hmma.sum"] == 4 * 8  # its pipe, as mma.sync's


HALF_READ = r"""
extern "C" __global__ void k(float* out)
{
    __shared__ float tile[1024];
    for (int i = threadIdx.x; i < 1024; i += 128) tile[i] = i;
    out[threadIdx.x] = tile[threadIdx.x];
}
"""


def test_what_was_never_waited_for_is_forgotten_with_its_launch(bench: Bench) -> None:
    """Else what it read would count as read in each launch to come, and stores over it would race with nothing."""
    a, b, _ = operands()
    source = LOOP.replace("INSIDE", "__syncthreads();").replace("BEHIND", "")
    assert (
        "unfinished_product" in bench.cuda(source, "k", 1, 128, a, b, np.zeros((4, 128), np.float32)).findings
    )
    ran = bench.cuda(HALF_READ, "k", 1, 128, np.zeros(128, np.float32))
    assert ran.record.shared_used_bytes == 128 * 4

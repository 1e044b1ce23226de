"""Faults of the asynchronous kind, each with its cure: the first is found with its kind and its line, the second runs
clean, whatever the number of the host's threads and the order of the blocks.

A fault is a piece of a kernel that replaces what is right there. In its lines, `//!` marks those of the finding; a
finding in an inlined function is in the line that calls it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np
import pytest
from emulated import THREADS, Array, Bench, Ran

from grader.emulator.machine.machine import Machine
from grader.emulator.machine.orders import ORDERS
from grader.emulator.machine.records import Finding, Kind, PhaseFault

HEAD = r"""
#include <cuda_fp16.h>
#define U64 unsigned long long
#define ASM(...) asm volatile(__VA_ARGS__ : "memory")
#define DO(text) asm volatile(text ::: "memory")
#define at(p) unsigned(__cvta_generic_to_shared(p))
#define init(b, n) ASM("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(b)), "r"(n))
#define expect(b, n) ASM("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(b)), "r"(n))
#define arrive(b) ASM("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at(b)))
#define wait(b, parity)                                                                                              \
    ASM("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;"                \
        "@!p bra again; }"                                                                                           \
        :: "r"(at(b)), "r"(parity))
#define load(to, from, n, b)                                                                                         \
    ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"                     \
        :: "r"(at(to)), "l"(from), "r"(n), "r"(at(b)))
#define store(to, from, n)                                                                                           \
    ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(at(from)), "r"(n))
#define copy4(to, from) ASM("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(to)), "l"(from))
#define PROXY DO("fence.proxy.async.shared::cta;")
#define COMMIT DO("cp.async.bulk.commit_group;")
#define WAIT_READ DO("cp.async.bulk.wait_group.read 0;")
#define WAIT_ALL DO("cp.async.bulk.wait_group 0;")
#define CLUSTER_SYNC DO("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")
__device__ unsigned there(const void* p, int rank)
{
    unsigned a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank));
    return a;
}
__device__ int rank() { int r; asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(r)); return r; }
"""

LOADS = r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ __align__(128) float tile[2][64];
    __shared__ U64 full[2];
    int t = threadIdx.x;
    if (t == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
    }
    __syncthreads();
    for (int k = 0; k < 6; k++) {
        if (t == 0) {
            expect(&full[k % 2], 256);
            load(tile[k % 2], in + 64 * k, 256, &full[k % 2]);
        }
        wait(&full[k % 2], k / 2 % 2);
        out[64 * k + t] = tile[k % 2][63 - t];
        __syncthreads();
    }
}
"""
RING = r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ __align__(128) float tile[2][64];
    __shared__ U64 full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; s++) { init(&full[s], 1); init(&empty[s], 64); }
    __syncthreads();
    if (t >= 64) {
        for (int k = 0; k < 6 && t == 64; k++) {
            wait(&empty[k % 2], k / 2 % 2 ^ 1);
            expect(&full[k % 2], 256);
            load(tile[k % 2], in + 64 * k, 256, &full[k % 2]);
        }
    } else {
        for (int k = 0; k < 6; k++) {
            wait(&full[k % 2], k / 2 % 2);
            out[64 * k + t] = tile[k % 2][63 - t];
            arrive(&empty[k % 2]);
        }
    }
}
"""
STORES = r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ __align__(128) float tile[64];
    int t = threadIdx.x;
    for (int k = 0; k < 6; k++) {
        tile[63 - t] = in[64 * k + t];
        PROXY;
        __syncthreads();
        if (t == 0) {
            store(out + 64 * k, tile, 256);
            COMMIT;
            WAIT_READ;
        }
        __syncthreads();
    }
}
"""
CP_ASYNC = r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ float tile[64];
    __shared__ U64 full;
    int t = threadIdx.x;
    if (t == 0) init(&full, 64);
    __syncthreads();
    for (int k = 0; k < 6; k++) {
        copy4(&tile[t], in + 64 * k + t);
        ASM("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&full)));
        wait(&full, k % 2);
        out[64 * k + t] = tile[63 - t];
        __syncthreads();
    }
}
"""
GROUPS = r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    for (int k = 0; k < 6; k++) {
        copy4(&tile[t], in + 64 * k + t);
        DO("cp.async.commit_group;");
        DO("cp.async.wait_group 0;");
        __syncthreads();
        out[64 * k + t] = tile[63 - t];
        __syncthreads();
    }
}
"""
PEERS = r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ __align__(16) float tile[64], mine[192];
    __shared__ U64 full;
    int t = threadIdx.x, peer = rank() ^ 1;
    if (t == 0) init(&full, 1);
    CLUSTER_SYNC;
    for (int k = 0; k < 3; k++) mine[64 * k + t] = in[192 * peer + 64 * k + t];
    for (int k = 0; k < 3; k++) {
        if (t == 0) expect(&full, 256);
        CLUSTER_SYNC;
        ASM("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
            :: "r"(there(&tile[63 - t], peer)), "f"(mine[64 * k + t]), "r"(there(&full, peer)));
        wait(&full, k % 2);
        out[192 * rank() + 64 * k + t] = tile[t];
        CLUSTER_SYNC;
    }
}
"""
READS = r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ float tile[192];
    int t = threadIdx.x, peer = rank() ^ 1;
    for (int k = 0; k < 3; k++) tile[64 * k + t] = in[192 * rank() + 64 * k + t];
    CLUSTER_SYNC;
    for (int k = 0; k < 3; k++) {
        float got;
        ASM("ld.shared::cluster.f32 %0, [%1];" : "=f"(got) : "r"(there(&tile[64 * k + 63 - t], peer)));
        out[192 * peer + 64 * k + t] = got;
    }
    CLUSTER_SYNC;
}
"""
SIGNALS = r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ U64 ready;
    int t = threadIdx.x;
    if (t == 0) init(&ready, 128);
    DO("fence.mbarrier_init.release.cluster;");
    CLUSTER_SYNC;
    for (int r = 0; r < 2; r++)
        ASM("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(there(&ready, r)));
    wait(&ready, 0);
    for (int k = 0; k < 3; k++) out[192 * rank() + 64 * k + t] = in[192 * rank() + 64 * k + 63 - t];
    CLUSTER_SYNC;
}
"""
PRODUCTS = r"""
__device__ U64 tile_at(const half* p, U64 leading)  // 8 x 8 pieces, no swizzle, k contiguous
{
    return at(p) >> 4 | leading / 16 << 16 | 128ull / 16 << 32;
}
#define FENCE DO("wgmma.fence.sync.aligned;")
#define COMMIT_GROUP DO("wgmma.commit_group.sync.aligned;")
#define WAIT_GROUP DO("wgmma.wait_group.sync.aligned 0;")
#define multiply(d, a, b)                                                                                            \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"         \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(tile_at(a, 1024)), "l"(tile_at(b, 128)))
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ __align__(128) half as[64 * 16], bs[8 * 16];
    float d[4] = {};
    for (int k = 0; k < 6; k++) {
        for (int i = threadIdx.x; i < 64 * 16; i += 128) as[i] = __float2half(1.0f);
        bs[threadIdx.x] = __float2half(0.0f);  // so are the sums
        PROXY;
        __syncthreads();
        FENCE;
        multiply(d, as, bs);
        COMMIT_GROUP;
        WAIT_GROUP;
        __syncthreads();
    }
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) out[128 * i + t] = in[128 * i + (t ^ 63)] + d[i];
}
"""
ARRIVALS = r"""
#define arrive_by(b, n) ASM("mbarrier.arrive.shared.b64 _, [%0], %1;" :: "r"(at(b)), "r"(n))
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ float tile[64];
    __shared__ U64 done;
    int t = threadIdx.x;
    if (t == 0) init(&done, 64);
    __syncthreads();
    for (int k = 0; k < 6; k++) {
        tile[t] = in[64 * k + t];
        if (t % 2) arrive_by(&done, 2);
        wait(&done, k % 2);
        out[64 * k + t] = tile[63 - t];
        __syncthreads();
    }
}
"""
WARPGROUPS = r"""
extern "C" __global__ void __launch_bounds__(384, 1) k(const float* in, float* out)
{
    int t = threadIdx.x;
    if (t < 128) DO("setmaxnreg.dec.sync.aligned.u32 40;");
    else DO("setmaxnreg.inc.sync.aligned.u32 232;");
    out[t] = in[t ^ 63];
}
"""
BODIES = {
    "loads": LOADS, "ring": RING, "stores": STORES, "cp.async": CP_ASYNC, "groups": GROUPS, "peers": PEERS,
    "arrivals": ARRIVALS, "warpgroups": WARPGROUPS, "reads": READS, "signals": SIGNALS, "products": PRODUCTS,
}  # fmt: skip
THREADS_OF = {"ring": 96, "products": 128, "warpgroups": 384}
CLUSTERS = ("peers", "reads", "signals")


@dataclass(frozen=True)
class Fault:
    """What makes of a kernel that is right one that is not."""

    name: str
    body: str
    changes: tuple[tuple[str, str], ...]
    kind: Kind
    phase: PhaseFault | None = None
    """Of findings about the phases of an mbarrier."""
    numbers: dict[str, int] = field(default_factory=dict)
    """What the phase says: number, expected, arrived, waited."""

    @property
    def source(self) -> str:
        """The kernel with the fault."""
        text = HEAD + BODIES[self.body]
        for right, wrong in self.changes:
            assert text.count(right) == 1, right
            text = text.replace(right, wrong)
        return text


FAULTS = (
    Fault("a tile is read with no wait for its phase", "loads",
          (("        wait(&full[k % 2], k / 2 % 2);\n", ""), ("[63 - t];", "[63 - t]; //!")), "unfinished_copy"),
    Fault("another warp alone has waited", "loads",
          (("wait(&full[k % 2], k / 2 % 2);", "if (t < 32) wait(&full[k % 2], k / 2 % 2);"),
           ("[63 - t];", "[63 - t]; //!")), "race"),
    Fault("a stage is filled again before it was consumed", "ring",
          (("            wait(&empty[k % 2], k / 2 % 2 ^ 1);\n", ""),
           ("expect(&full[k % 2], 256);", "expect(&full[k % 2], 256); //!")), "mbarrier", "refilled", {"number": 0}),
    Fault("a stage is free before all have read it", "ring",
          (("init(&empty[s], 64)", "init(&empty[s], 48)"), ("256, &full[k % 2]);", "256, &full[k % 2]); //!")), "race"),
    Fault("a warp falls behind by whole phases", "loads",
          (("        __syncthreads();\n    }", "    }"),
           ("wait(&full[k % 2], k / 2 % 2);", "wait(&full[k % 2], k / 2 % 2); //!")), "mbarrier", "skipped",
          {"number": 3}),
    Fault("the parity never changes", "ring",
          (("wait(&full[k % 2], k / 2 % 2);", "wait(&full[k % 2], 0); //!"),), "mbarrier", "parity",
          {"number": 1, "waited": 0}),
    Fault("the parity is the other one", "ring",
          (("wait(&full[k % 2], k / 2 % 2);", "wait(&full[k % 2], k / 2 % 2 ^ 1); //!"),), "mbarrier", "parity",
          {"number": 0, "waited": -1}),
    Fault("fewer bytes are expected than arrive", "loads",
          (("expect(&full[k % 2], 256);", "expect(&full[k % 2], 128);"),
           ("load(tile[k % 2], in + 64 * k, 256, &full[k % 2]);",
            "for (int h = 0; h < 2; h++) load(tile[k % 2] + 32 * h, in + 64 * k + 32 * h, 128, &full[k % 2]); //!")),
          "mbarrier", "bytes", {"number": 0, "expected": 128, "arrived": 256}),
    Fault("more bytes are expected than arrive", "loads",
          (("expect(&full[k % 2], 256);", "expect(&full[k % 2], 512);"),
           ("wait(&full[k % 2], k / 2 % 2);", "wait(&full[k % 2], k / 2 % 2); //!")),
          "mbarrier", "bytes", {"number": 0, "expected": 512, "arrived": 256}),
    Fault("bytes are expected without an arrival", "ring",
          (("expect(&full[k % 2], 256);",
            'ASM("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(at(&full[k % 2])), "r"(256));'),
           ("wait(&full[k % 2], k / 2 % 2);", "wait(&full[k % 2], k / 2 % 2); //!")), "mbarrier", "arrivals",
          {"number": 0, "expected": 1, "arrived": 0}),
    Fault("an mbarrier is used that nobody has initialised", "loads",
          (("        init(&full[1], 1);\n", ""), ("expect(&full[k % 2], 256);", "expect(&full[k % 2], 256); //!")),
          "mbarrier", "absent"),
    Fault("an mbarrier is used before its initialisation is known", "loads",
          (("    }\n    __syncthreads();\n    for", "    }\n    for"),
           ("wait(&full[k % 2], k / 2 % 2);", "wait(&full[k % 2], k / 2 % 2); //!")), "race"),
    Fault("an mbarrier is initialised in the middle of a phase", "loads",
          (("load(tile[k % 2], in + 64 * k, 256, &full[k % 2]);",
            "load(tile[k % 2], in + 64 * k, 256, &full[k % 2]);\n            init(&full[k % 2], 1); //!"),),
          "mbarrier", "in_use", {"number": 0}),
    Fault("fewer threads arrive than are expected", "ring",
          (("init(&empty[s], 64)", "init(&empty[s], 65)"),
           ("wait(&empty[k % 2], k / 2 % 2 ^ 1);", "wait(&empty[k % 2], k / 2 % 2 ^ 1); //!")),
          "mbarrier", "arrivals", {"number": 0, "expected": 65, "arrived": 64}),
    Fault("more threads arrive than are expected", "arrivals",
          (("init(&done, 64)", "init(&done, 63)"), ("arrive_by(&done, 2)", "arrive_by(&done, 2) /*!*/")),
          "mbarrier", "overrun", {"number": 0, "expected": 63, "arrived": 2}),
    Fault("warpgroups ask for more registers than others give back", "warpgroups",
          (("u32 40;", "u32 48;"), ('u32 232;");', 'u32 232;"); //!')), "registers"),
    Fault("no warpgroup gives registers back", "warpgroups",
          (('DO("setmaxnreg.dec.sync.aligned.u32 40;")', ""), ('u32 232;");', 'u32 232;"); //!')), "registers"),
    Fault("byte offsets of a descriptor are not shifted", "products",
          (("128ull / 16 << 32", "128ull << 32"), ("multiply(d, as, bs);", "multiply(d, as, bs); //!")), "descriptor"),
    Fault("the start address of a descriptor is not shifted", "products",
          (("at(p) >> 4 |", "at(p) & 0x3FFF |"), ("multiply(d, as, bs);", "multiply(d, as, bs); //!")), "descriptor"),
    Fault("what a bulk store reads was written with no proxy fence", "stores",
          (("        PROXY;\n", ""), ("tile, 256);", "tile, 256); //!")), "proxy_fence"),
    Fault("what a bulk store reads is overwritten", "stores",
          (("            WAIT_READ;\n", ""), ("[64 * k + t];", "[64 * k + t]; //!")), "unfinished_copy"),
    Fault("the block ends while a bulk store may still read", "stores",
          (("            WAIT_READ;\n", "            if (k < 5) WAIT_READ;\n"), ("tile, 256);", "tile, 256); //!")),
          "unfinished_copy"),
    Fault("the last group of bulk stores is never closed", "stores",
          (("            COMMIT;\n", "            if (k < 5) COMMIT;\n"), ("tile, 256);", "tile, 256); //!")),
          "unfinished_copy"),
    Fault("a copy by cp.async is read before its group was waited for", "groups",
          (('        DO("cp.async.wait_group 0;");\n', ""), ("[63 - t];", "[63 - t]; //!")), "unfinished_copy"),
    Fault("only the own copies by cp.async were waited for", "groups",
          (("0;\");\n        __syncthreads();", '0;");'), ("[63 - t];", "[63 - t]; //!")), "race"),
    Fault("copies by cp.async arrive at an mbarrier that nobody waits for", "cp.async",
          (("        wait(&full, k % 2);\n", ""), ("[63 - t];", "[63 - t]; //!")), "unfinished_copy"),
    Fault("what a peer sends is read with no wait", "peers",
          (("        wait(&full, k % 2);\n", ""), ("= tile[t];", "= tile[t]; //!")), "unfinished_copy"),
    Fault("a block leaves while its peer reads its shared memory", "reads",
          (("    }\n    CLUSTER_SYNC;", "    }"), ('ASM("ld.shared::cluster', '/*!*/ ASM("ld.shared::cluster')),
          "absent_block"),
    Fault("a peer's shared memory is read before it was written", "reads",
          (("+ t];\n    CLUSTER_SYNC;", "+ t];"), ('ASM("ld.shared::cluster', '/*!*/ ASM("ld.shared::cluster')),
          "absent_block"),
    Fault("a remote arrival with no barrier of the cluster in front", "signals",
          (("CLUSTER_SYNC;\n    for (int r", "for (int r"),
           ('ASM("mbarrier.arrive.release', '/*!*/ ASM("mbarrier.arrive.release')),
          "absent_block"),
    Fault("what a wgmma reads was written with no proxy fence", "products",
          (("        PROXY;\n", ""), ("multiply(d, as, bs);", "multiply(d, as, bs); //!")), "proxy_fence"),
    Fault("sums of a wgmma are read while its group may be under way", "products",
          (("        WAIT_GROUP;\n", '        DO("wgmma.wait_group.sync.aligned 1;");\n'),
           ("+ d[i];", "+ d[i]; //!")), "unfinished_product"),
    Fault("what a wgmma reads is overwritten", "products",
          (("        WAIT_GROUP;\n", ""), ("half(1.0f);", "half(1.0f); //!")), "unfinished_product"),
    Fault("a wgmma has no fence in front of it", "products",
          (("        FENCE;\n", ""), ("multiply(d, as, bs);", "multiply(d, as, bs); //!")), "unfenced_product"),
)  # fmt: skip


def operands() -> tuple[Array, Array]:
    return np.arange(384, dtype=np.float32), np.zeros(384, np.float32)


def launch(bench: Bench, source: str, body: str, **how: object) -> Ran:
    """A kernel of BODIES, right or not: six rows of 64 numbers, each written backwards."""
    cluster = body in CLUSTERS
    return bench.cuda(source, "k", 2 if cluster else 1, THREADS_OF.get(body, 64), *operands(),
                      cluster=(2, 1, 1) if cluster else None, **how)  # fmt: skip


def lines(source: str) -> set[int]:
    return {number for number, line in enumerate(source.splitlines(), 1) if "//!" in line or "/*!*/" in line}


def as_planted(fault: Fault, ran: Ran) -> list[Finding]:
    """The findings that name the fault."""
    return [
        found
        for found in ran.record.findings
        if found.kind == fault.kind
        and found.line in lines(fault.source)
        and (found.phase.fault if found.phase else None) == fault.phase
    ]


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(FAULTS) >= 14


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_found_with_its_kind_and_line(bench: Bench, fault: Fault) -> None:
    ran = launch(bench, fault.source, fault.body)
    found = as_planted(fault, ran)
    assert found, [(f.kind, f.line, f.phase) for f in ran.record.findings]
    for name, value in fault.numbers.items():
        assert getattr(found[0].phase, name) == value


@pytest.mark.parametrize("body", BODIES)
def test_the_cured_twins_run_clean(bench: Bench, body: str) -> None:
    ran = launch(bench, HEAD + BODIES[body], body)
    assert ran.record.status == "completed"
    assert ran.record.findings == ()
    values, out = ran.arrays
    np.testing.assert_array_equal(out, values.reshape(6, 64)[:, ::-1].ravel())


@functools.cache
def on(threads: int) -> Bench:
    return Bench(Machine(threads=threads))


@pytest.mark.soak(area="emulator")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_is_found_depends_on_no_order(fault: Fault) -> None:
    """Of the host's threads, and of the blocks. Where warps run in reverse as well, a fault may show from its other
    end: a copy that one warp has awaited for another is read before it is there."""
    seen = set()
    for threads in THREADS[:2]:
        for order in ORDERS:
            ran = launch(on(threads), fault.source, fault.body, order=order)
            assert ran.record.findings, order
            if order != "reversed":
                seen.add(frozenset((f.kind, f.line, f.phase) for f in as_planted(fault, ran)))
    assert len(seen) == 1

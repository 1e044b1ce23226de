"""mbarriers: phases, tokens, parity, waits in a warp that diverges, and what is found where they are used wrongly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from emulated import Bench, Ran, touches

from grader.emulator.machine.records import Arrivals, Phase
from grader.emulator.places import UNKNOWN

ASM = r"""
#define U64 unsigned long long
__device__ unsigned place(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void init(U64* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(place(b)), "r"(n)); }
__device__ U64 arrive(U64* b)
{
    U64 token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(place(b)) : "memory");
    return token;
}
__device__ bool test(U64* b, U64 token)
{
    int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(place(b)), "l"(token) : "memory");
    return done;
}
__device__ bool try_parity(U64* b, unsigned parity)
{
    int done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(place(b)), "r"(parity) : "memory");
    return done;
}
__device__ void wait(U64* b, unsigned parity) { while (!try_parity(b, parity)); }
"""

STAGES = (
    ASM
    + r"""
extern "C" __global__ void stages(const float* in, float* out)
{
    __shared__ float tile[2][32];
    __shared__ U64 full[2], empty[2];
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) for (int s = 0; s < 2; s++) { init(&full[s], 32); init(&empty[s], 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int k = 0; k < 6; k++) {
            int s = k % 2;
            EMPTY
            tile[s][lane] = in[32 * k + lane];
            arrive(&full[s]);
        }
    } else {
        for (int k = 0; k < 6; k++) {
            int s = k % 2;
            FULL
            out[32 * k + lane] = tile[s][31 - lane];
            RELEASE
        }
    }
}
"""
)
EMPTY, FULL = "wait(&empty[s], ~(k / 2) & 1);", "wait(&full[s], (k / 2) & 1);"
RELEASE = "arrive(&empty[s]);"


def stages(bench: Bench, empty: str = EMPTY, full: str = FULL, release: str = RELEASE) -> Ran:
    source = STAGES.replace("EMPTY", empty).replace("FULL", full).replace("RELEASE", release)
    values = np.arange(192, dtype=np.float32)
    return bench.cuda(source, "stages", 1, 64, values, np.zeros_like(values))


def test_a_producer_and_a_consumer_pass_stages_on(bench: Bench) -> None:
    ran = stages(bench)
    assert ran.findings == []
    np.testing.assert_array_equal(
        ran.arrays[1], np.arange(192, dtype=np.float32).reshape(6, 32)[:, ::-1].ravel()
    )


def test_waiting_takes_no_instructions(bench: Bench) -> None:
    """A warp that waits is not run, so what is counted does not depend on how long it waits."""
    counts = [ran.counters["smsp__inst_executed.sum"] for ran in (stages(bench), stages(bench))]
    assert counts[0] == counts[1] < 1000


@pytest.mark.parametrize(
    "fault",
    [{"full": ""}, {"full": "wait(&full[s], 1);"}, {"full": "wait(&full[s], ~(k / 2) & 1);"}],
    ids=["read before it is written", "the parity stays", "the other parity"],
)
def test_a_stage_without_its_wait_is_found(bench: Bench, fault: dict[str, str]) -> None:
    assert set(stages(bench, **fault).findings) & {"race", "mbarrier"}


def test_stages_filled_with_no_wait_are_found(bench: Bench) -> None:
    (found,) = stages(bench, empty="").record.findings
    assert found.phase is not None
    assert found.phase.fault == "skipped"


def test_a_phase_that_lacks_arrivals_is_named(bench: Bench) -> None:
    ran = stages(bench, release="if (lane != 3) arrive(&empty[s]);")
    assert ran.record.status == "deadlock"
    (stuck,) = (f for f in ran.record.findings if f.kind == "mbarrier")
    assert stuck.phase
    assert replace(stuck.phase, initialised=UNKNOWN) == Phase("arrivals", 31, 32, number=0)
    initialised = next(n for n, row in enumerate(STAGES.splitlines(), 1) if "init(&empty" in row)
    assert touches(stuck.phase.initialised, {initialised})
    assert stuck.array == "empty"
    waits = {n for n, row in enumerate(STAGES.splitlines(), 1) if "try_wait" in row or "void wait" in row}
    assert touches(stuck.place, waits)


@pytest.mark.parametrize(("threads", "others_held"), [(64, True), (128, False)])
def test_whether_those_missing_at_a_named_barrier_wait_at_an_mbarrier_is_known(
    bench: Bench, threads: int, others_held: bool
) -> None:
    body = f"""
extern "C" __global__ void stuck(int* out)
{{
    __shared__ U64 bar;
    if (threadIdx.x == 0) init(&bar, 2);
    __syncthreads();
    if (threadIdx.x == 0) arrive(&bar);
    if (threadIdx.x < 32) wait(&bar, 0);
    asm volatile("bar.sync 1, {threads};" ::: "memory");
    *out = 1;
}}"""
    ran = bench.cuda(ASM + body, "stuck", 1, 64, np.zeros(1, np.int32))
    assert ran.record.status == "deadlock"
    assert sorted(ran.findings) == ["barrier", "mbarrier"]
    (barrier,) = (f.arrivals for f in ran.record.findings if f.kind == "barrier")
    assert barrier == Arrivals(1, 32, threads, others_held)


SMALL = (
    ASM
    + r"""
extern "C" __global__ void small(int* out)
{
    __shared__ U64 b[2];
    int t = threadIdx.x;
    if (t == 0) { INIT }
    __syncthreads();
    BODY
}
"""
)


def small(bench: Bench, body: str, init: str = "init(&b[0], 32);", threads: int = 32) -> Ran:
    source = SMALL.replace("BODY", body).replace("INIT", init)
    return bench.cuda(source, "small", 1, threads, np.zeros(256, np.int32))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("U64 k = arrive(b); out[t] = test(b, k); k = arrive(b); out[32 + t] = test(b, k);", [1, 1]),
        ("U64 k = 0; if (t) k = arrive(b); out[t] = t && test(b, k); if (!t) arrive(b); __syncwarp();"
         "out[32 + t] = t && test(b, k);", [0, lambda t: t > 0]),
        ("U64 k; asm volatile(\"mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;\" : \"=l\"(k) : \"r\"(place(b)));"
         "int n; asm(\"mbarrier.pending_count.b64 %0, %1;\" : \"=r\"(n) : \"l\"(k)); out[t] = n;",
         [lambda t: 64 - t]),
        ("U64 k; if (t < 16) asm volatile(\"mbarrier.arrive_drop.shared.b64 %0, [%1];\" : \"=l\"(k) : \"r\"(place(b)));"
         "else k = arrive(b); __syncwarp(); if (t >= 16) { k = arrive(b); out[t] = test(b, k); }",
         [lambda t: t >= 16]),
        ("if (t == 0) asm volatile(\"mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], 32;\" :: \"r\"(place(b)));"
         "__syncwarp(); wait(b, 0); out[t] = 1;", [1]),
    ],
    ids=["all arrive", "one is late", "pending", "drop", "with a count"],
)  # fmt: skip
def test_phases(bench: Bench, body: str, expected: list[object]) -> None:
    ran = small(bench, body, "init(b, 64);" if "noComplete" in body else "init(b, 32);")
    assert ran.findings == []
    for row, want in zip(ran.arrays[0].reshape(-1, 32), expected, strict=False):
        values = [int(want(t)) for t in range(32)] if callable(want) else [want] * 32
        assert row.tolist() == values


def test_lanes_of_a_warp_may_wait_for_each_other(bench: Bench) -> None:
    """Lane 0 waits for the first mbarrier and then opens the second, for which all others wait."""
    body = """
    if (t == 0) { wait(&b[0], 0); out[t] = 7; arrive(&b[1]); }
    else { arrive(&b[0]); wait(&b[1], 0); out[t] = out[0]; }
    __syncwarp();
    out[32 + t] = out[t];"""
    ran = small(bench, body, "init(&b[0], 31); init(&b[1], 1);")
    assert ran.findings == []
    assert (ran.arrays[0][:64] == 7).all()


def test_a_wait_for_different_phases_times_out_for_some(bench: Bench) -> None:
    """Odd lanes wait for what the even ones do behind their own wait: they come on alone."""
    body = """
    wait(&b[t & 1], 0);
    out[t] = 1 + (t & 1);
    if (!(t & 1)) arrive(&b[1]);"""
    ran = small(bench, "if (t == 0) arrive(&b[0]); __syncwarp();" + body, "init(&b[0], 1); init(&b[1], 16);")
    assert ran.findings == []
    assert ran.arrays[0][:32].tolist() == [1, 2] * 16


def test_a_look_without_a_loop_does_not_wait_for_ever(bench: Bench) -> None:
    body = "out[t] = try_parity(b, 0); arrive(b); __syncwarp(); out[32 + t] = try_parity(b, 0);"
    ran = small(bench, body)
    assert ran.findings == []
    assert ran.arrays[0][:64].tolist() == [0] * 32 + [1] * 32


def test_a_spinning_test_lets_others_run(bench: Bench) -> None:
    body = "U64 k = arrive(b); while (!test(b, k)); out[t] = 1;"
    ran = small(bench, body, "init(b, 256);", threads=256)
    assert ran.findings == []
    assert (ran.arrays[0] == 1).all()


@pytest.mark.parametrize(
    ("init", "body", "phase"),
    [
        ("init(&b[1], 32);", "arrive(b);", Phase("absent")),
        ("init(b, 32); asm volatile(\"mbarrier.inval.shared.b64 [%0];\" :: \"r\"(place(b)));", "arrive(b);",
         Phase("absent")),
        ("init(b, out[0]);", "", Phase("overrun", 0, 0, 0)),
        ("init(b, 4);", "if (t == 0) asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0], 5;\" :: \"r\"(place(b)));",
         Phase("overrun", 5, 4, 0)),
        ("init(b, 1);",
         "if (t == 0) asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;\" :: \"r\"(place(b)));"
         "wait(b, 0);", Phase("bytes", 0, 64, number=0)),
    ],
    ids=["not initialised", "no longer one", "for none", "too many", "bytes that never come"],
)  # fmt: skip
def test_misuse_is_found(bench: Bench, init: str, body: str, phase: Phase) -> None:
    found = [f for f in small(bench, body, init).record.findings if f.kind == "mbarrier"]
    assert [f.phase and replace(f.phase, initialised=UNKNOWN) for f in found] == [phase]


def test_bytes_may_be_brought_by_hand(bench: Bench) -> None:
    body = """
    if (t == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;" :: "r"(place(b)));
    if (t == 1) asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 64;" :: "r"(place(b)));
    wait(b, 0);
    out[t] = 1;"""
    ran = small(bench, body, "init(b, 1);")
    assert ran.findings == []
    assert (ran.arrays[0][:32] == 1).all()


def test_bytes_are_expected_without_an_arrival(bench: Bench) -> None:
    body = """
    if (t == 0) asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" :: "r"(place(b)));
    if (t == 1) asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 64;" :: "r"(place(b)));
    arrive(b);
    wait(b, 0);
    out[t] = 1;"""
    ran = small(bench, body, "init(b, 32);")
    assert ran.findings == []
    assert (ran.arrays[0][:32] == 1).all()


def test_initialisation_needs_a_barrier(bench: Bench) -> None:
    source = (
        SMALL.replace("__syncthreads();", "").replace("INIT", "init(b, 64);").replace("BODY", "arrive(b);")
    )
    assert bench.cuda(source, "small", 1, 64, np.zeros(1, np.int32)).findings == ["race"]


COPIES = (
    ASM
    + r"""
extern "C" __global__ void copies(const float* in, float* out)
{
    __shared__ __align__(16) float tile[64];
    __shared__ U64 b;
    int t = threadIdx.x;
    if (t == 0) init(&b, 64);
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(place(&tile[t])), "l"(in + t));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(place(&b)));
    WAIT
    out[t] = tile[63 - t];
}
"""
)


def test_copies_by_cp_async_arrive_at_an_mbarrier(bench: Bench) -> None:
    values = np.arange(64, dtype=np.float32)
    arrays = values, np.zeros_like(values)
    counted = COPIES.replace("noinc.", "").replace("&b, 64", "&b, 1")
    for source in (COPIES.replace("WAIT", "wait(&b, 0);"),
                   counted.replace("WAIT", "__syncthreads(); if (t == 0) arrive(&b); wait(&b, 0);")):  # fmt: skip
        _, out = bench.clean(source, "copies", 1, 64, *arrays)
        np.testing.assert_array_equal(out, values[::-1])


@pytest.mark.parametrize(
    ("wait", "found"), [("__syncthreads();", "unfinished_copy"), ("if (t >= 32) wait(&b, 0);", "race")]
)
def test_a_copy_without_its_wait_is_found(bench: Bench, wait: str, found: str) -> None:
    """Also where another warp has waited, which is no matter to this one."""
    values = np.arange(64, dtype=np.float32)
    ran = bench.cuda(COPIES.replace("WAIT", wait), "copies", 1, 64, values, np.zeros_like(values))
    assert found in ran.findings or ran.findings == ["unfinished_copy"]

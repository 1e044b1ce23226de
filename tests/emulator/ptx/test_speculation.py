"""Loads of variables that a compiler makes in every thread, though the source reads them in some: guarded again."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.ptx.parser import parse
from grader.emulator.ptx.speculation import guard_speculated_loads
from grader.emulator.ptx.tree import Instruction

HEAD = """
.version 9.0 .target sm_90a .address_size 64
.global .align 4 .f32 held;
.visible .entry k(.param .u64 out)
{
.reg .pred %p, %q; .reg .f32 %f<4>; .reg .b32 %t; .reg .b64 %out;
.shared .align 4 .f32 box;
mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; mov.f32 %f1, 0f00000000; ld.param.u64 %out, [out];
"""
TAIL = "st.global.f32 [%out], %f2; ret;\n}\n"


def guards(text: str) -> list[tuple[str, bool] | None]:
    """The guards of the loads of global and shared memory."""
    body = guard_speculated_loads(parse(HEAD + text + TAIL).functions["k"].body)
    loads = [item for item in body if isinstance(item, Instruction) and item.parts[0] == "ld"]
    return [item.predicate for item in loads if "param" not in item.parts]


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("ld.global.f32 %f0, [held]; selp.f32 %f2, %f0, %f1, %p;", ("%p", False)),
        ("ld.global.f32 %f0, [held]; selp.f32 %f2, %f1, %f0, %p;", ("%p", True)),
        ("ld.shared.f32 %f0, [box]; add.f32 %f3, %f1, %f1; selp.f32 %f2, %f0, %f3, %p;", ("%p", False)),
        # What is computed from the value is taken or left.
        ("ld.shared.f32 %f0, [box]; add.f32 %f3, %f0, %f0; selp.f32 %f2, %f1, %f3, %p;", ("%p", True)),
        ("ld.shared.f32 %f0, [box]; mul.f32 %f3, %f0, %f1; st.global.f32 [%out], %f3;", None),
        ("ld.shared.f32 %f0, [box]; mul.f32 %f2, %f0, %f1; selp.f32 %f2, %f2, %f1, %p;", None),
        # Another uses the value, or it is written twice.
        ("ld.global.f32 %f0, [held]; selp.f32 %f2, %f0, %f1, %p; add.f32 %f2, %f2, %f0;", None),
        ("mov.f32 %f0, %f1; ld.global.f32 %f0, [held]; selp.f32 %f2, %f0, %f1, %p;", None),
        # The comparison behind the load is put in front of it, unless it needs what comes between, or another does.
        ("ld.global.f32 %f0, [held]; setp.eq.u32 %q, %t, 1; selp.f32 %f2, %f0, %f1, %q;", ("%q", False)),
        (
            "ld.global.f32 %f0, [held]; add.f32 %f3, %f1, %f1; setp.eq.f32 %q, %f3, %f1; "
            "selp.f32 %f2, %f0, %f1, %q;",
            None,
        ),
        (
            "ld.global.f32 %f0, [held]; selp.f32 %f3, %f1, %f1, %q; setp.eq.u32 %q, %t, 1; "
            "selp.f32 %f2, %f0, %f1, %q;",
            None,
        ),
        # Another block selects, or the load is not the compiler's to move.
        ("ld.global.f32 %f0, [held]; bra on; on: selp.f32 %f2, %f0, %f1, %p;", None),
        ("ld.volatile.global.f32 %f0, [held]; selp.f32 %f2, %f0, %f1, %p;", None),
        ("ld.global.f32 %f0, [%out]; selp.f32 %f2, %f0, %f1, %p;", None),
    ],
)
def test_a_load_that_one_selp_takes_or_leaves(text: str, guard: tuple[str, bool] | None) -> None:
    assert guards(text) == [guard]


@pytest.mark.parametrize(("given", "kinds"), [(64, []), (128, ["uninitialised_shared"])])
def test_only_threads_that_read_in_the_source_need_what_is_written(
    bench: Bench, given: int, kinds: list[str]
) -> None:
    """Two loads and both additions are moved out of the branch."""
    ran = bench.cuda(SUM, "k", 1, 64, np.zeros(64, np.float32), given)
    assert sorted({*ran.findings}) == kinds


SUM = """
extern "C" __global__ void k(float* out, int given)
{
    __shared__ float s[4];
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = 1.0f;
    __syncthreads();
    float sum = s[0] + s[1];
    if (given == 128) sum += s[2] + s[3];
    out[threadIdx.x] = sum;
}
"""

SOURCE = """
__device__ float held;
extern "C" __global__ void k(float* out, const int* known)
{
    float value = 1.0f;
    if (threadIdx.x == 0 && *known) value = held;
    if (threadIdx.x == WRITER) {
        held = value + 1;
        *out = value;
    }
}
"""


@pytest.mark.parametrize(("writer", "kinds"), [(0, []), (40, ["race"])])
def test_only_threads_that_read_in_the_source_may_race(bench: Bench, writer: int, kinds: list[str]) -> None:
    source = SOURCE.replace("WRITER", str(writer))
    ran = bench.cuda(source, "k", 1, 64, np.zeros(1, np.float32), np.ones(1, np.int32))
    assert ran.findings == kinds

"""Device functions in PTX: parameters, results, calls within calls, guards, early returns, local variables."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.errors import UnsupportedPtx

FUNCTIONS = """
.func (.param .b32 result) square (.param .b32 x)
{
.reg .b32 %r<3>;
ld.param.u32 %r0, [x]; mul.lo.u32 %r1, %r0, %r0; st.param.b32 [result], %r1; ret;
}
.func (.param .align 8 .b8 result[16]) swap (.param .align 8 .b8 pair[16])
{
.reg .b64 %w<3>; .reg .b32 %r<4>;
ld.param.v2.b64 {%w0, %w1}, [pair]; st.param.v2.b64 [result], {%w1, %w0}; ret;
}
.func (.param .b32 result) limited (.param .b32 x, .param .b32 most)
{
.reg .b32 %r<6>; .reg .pred %p;
ld.param.u32 %r0, [x]; ld.param.u32 %r1, [most]; mov.u32 %r2, 1000;
setp.gt.u32 %p, %r0, %r1; @%p bra over;
{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), square, (a); ld.param.b32 %r2, [b]; }
st.param.b32 [result], %r2; ret;
over: st.param.b32 [result], %r2; ret;
}
.func (.param .b32 result) remembers (.param .b32 x)
{
.local .align 4 .b8 bag[16]; .reg .b64 %w<3>; .reg .b32 %r<4>;
ld.param.u32 %r0, [x]; and.b32 %r1, %r0, 3; mul.wide.u32 %w0, %r1, 4; mov.u64 %w1, bag; add.s64 %w0, %w0, %w1;
st.local.u32 [%w0], %r0; ld.local.u32 %r2, [%w0]; add.u32 %r2, %r2, 1; st.param.b32 [result], %r2; ret;
}
.func (.param .b32 result) narrow (.param .align 4 .b8 two[4])
{
.reg .b32 %r<3>; .reg .b16 %h<3>;
ld.param.u16 %h0, [two]; cvt.u32.u16 %r0, %h0; st.param.b32 [result], %r0; ret;
}
"""


def kernel(body: str) -> str:
    return f"""{FUNCTIONS}
.visible .entry k(.param .u64 out)
{{
.reg .b32 %r<8>; .reg .b64 %w<6>, %at; .reg .pred %p<3>;
ld.param.u64 %at, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %w0, %r0, 8; add.s64 %at, %at, %w0; mov.u32 %r1, 7;
mov.u64 %w1, 0;
{body}
st.global.u32 [%at], %r1; st.global.u32 [%at+4], %r2; ret;
}}
"""


def call(function: str, argument: str, result: str) -> str:
    return (f"{{ .param .b32 a; .param .b32 b; st.param.b32 [a], {argument};"
            f" call.uni (b), {function}, (a); ld.param.b32 {result}, [b]; }}")  # fmt: skip


def run(bench: Bench, body: str) -> tuple[list[int], list[int]]:
    ran = bench.ptx(kernel(body), "k", 1, 32, np.zeros((32, 2), np.uint32))
    assert ran.findings == []
    return ran.arrays[0][:, 0].tolist(), ran.arrays[0][:, 1].tolist()


def test_a_call(bench: Bench) -> None:
    words, others = run(
        bench, f"mov.u32 %r3, 5; {call('square', '%r0', '%r1')} {call('square', '%r3', '%r2')}"
    )
    assert words == [lane * lane for lane in range(32)]
    assert others == [25] * 32


def test_a_function_twice_at_once(bench: Bench) -> None:
    """Lanes on two sides of a branch are in the same function, with parameters of their own."""
    words, _ = run(bench, f"""
        setp.lt.u32 %p0, %r0, 10; mov.u32 %r3, 3; mov.u32 %r4, 4; mov.u32 %r2, 0;
        @%p0 bra low;
        {call("remembers", "%r3", "%r1")} bra done;
        low: {call("remembers", "%r4", "%r1")}
        done:""")  # fmt: skip
    assert words == [5] * 10 + [4] * 22


def test_early_returns_and_calls_within_calls(bench: Bench) -> None:
    words, others = run(bench, """
        { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r0; st.param.b32 [b], 20;
          call (c), limited, (a, b); ld.param.b32 %r1, [c]; }
        add.u32 %r2, %r1, 1;""")  # fmt: skip
    assert words == [lane * lane if lane <= 20 else 1000 for lane in range(32)]
    assert others == [w + 1 for w in words]


def test_structures(bench: Bench) -> None:
    words, others = run(bench, """
        cvt.u64.u32 %w2, %r0; mov.u64 %w3, 77;
        { .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16];
          st.param.b64 [a], %w2; st.param.b64 [a+8], %w3;
          call.uni (b), swap, (a); ld.param.b64 %w4, [b]; ld.param.b64 %w5, [b+8]; }
        cvt.u32.u64 %r1, %w4; cvt.u32.u64 %r2, %w5;""")  # fmt: skip
    assert words == [77] * 32
    assert others == list(range(32))


def test_local_variables_of_a_function(bench: Bench) -> None:
    words, others = run(
        bench, f"add.u32 %r3, %r0, 9; {call('remembers', '%r0', '%r1')} {call('remembers', '%r3', '%r2')}"
    )
    assert words == [lane + 1 for lane in range(32)]
    assert others == [lane + 10 for lane in range(32)]


def test_a_guarded_call(bench: Bench) -> None:
    words, _ = run(bench, """
        setp.lt.u32 %p0, %r0, 10; mov.u32 %r2, 0;
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; st.param.b32 [b], 99;
          @%p0 call (b), square, (a); ld.param.b32 %r1, [b]; }""")  # fmt: skip
    assert words == [lane * lane for lane in range(10)] + [99] * 22


def test_parameters_in_pieces_of_another_size_are_refused(bench: Bench) -> None:
    with pytest.raises(UnsupportedPtx, match="pieces"):
        run(bench, """
            { .param .align 4 .b8 a[4]; .param .b32 b; st.param.b32 [a], %r0;
              call.uni (b), narrow, (a); ld.param.b32 %r1, [b]; }""")  # fmt: skip

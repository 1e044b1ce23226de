"""Divergent control flow in PTX: which registers a warp may share, and what lanes that parted keep.

Random programs are compared with their meaning for each thread alone; below them stand the cases that are easy to get
wrong, written out.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Array, Bench
from random_programs import TABLE, Writer

THREADS = 40  # a full warp and a part of one
BLOCKS = 2


@pytest.mark.parametrize("structured", [True, False], ids=["structured", "jumps"])
@pytest.mark.parametrize("seed", range(1000, 1010))
def test_random_programs(bench: Bench, seed: int, structured: bool) -> None:
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 1 << 32, BLOCKS * THREADS, dtype=np.uint32)
    table = rng.integers(0, 1 << 32, TABLE, dtype=np.uint32)
    program = Writer(seed, structured)
    expected = [
        program.meaning(int(data[block * THREADS + thread]), thread, block, seed, table.tolist())
        for block in range(BLOCKS)
        for thread in range(THREADS)
    ]
    out = np.zeros((BLOCKS * THREADS, 9), np.uint32)
    ran = bench.ptx(program.ptx("k"), "k", BLOCKS, THREADS, data, table, out, np.uint32(seed), budget=10**7)
    assert ran.record.status == "completed"
    assert np.array_equal(ran.arrays[2], np.array(expected, np.uint32)), program.ptx("k")


def kernel(body: str) -> str:
    """A kernel whose threads store %r0, %r1 and %w0 at the end; %lane is threadIdx.x, %at the inputs' address."""
    return f"""
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b32 %r<8>, %lane, %n; .reg .b64 %w<4>, %in, %out, %at; .reg .pred %p<4>;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %lane, %tid.x; mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u64 %w0, 0;
{body}
end:
mul.wide.u32 %at, %lane, 16; add.s64 %at, %at, %out;
st.global.u32 [%at], %r0; st.global.u32 [%at+4], %r1; st.global.u64 [%at+8], %w0;
ret;
}}
"""


def run(bench: Bench, body: str, inputs: Array | None = None) -> tuple[list[int], list[int], list[int]]:
    """%r0, %r1 and %w0 of 32 lanes."""
    data = np.arange(100, 164, dtype=np.uint32) if inputs is None else inputs
    ran = bench.ptx(kernel(body), "k", 1, 32, data, np.zeros((32, 4), np.uint32), budget=10**6)
    assert ran.record.status == "completed"
    assert ran.findings == []
    out = ran.arrays[1]
    return out[:, 0].tolist(), out[:, 1].tolist(), out[:, 2:].copy().view(np.uint64)[:, 0].tolist()


def test_a_uniform_value_made_on_one_side(bench: Bench) -> None:
    """The other lanes keep what they had."""
    words, _, _ = run(bench, "setp.lt.u32 %p0, %lane, 20; mov.u32 %r0, 7; @%p0 bra end; mov.u32 %r0, 9;")
    assert words == [7] * 20 + [9] * 12


def test_sides_that_swap_a_temporary(bench: Bench) -> None:
    """Both sides use %r2, which is uniform on each of them."""
    words, others, _ = run(bench, """
        setp.lt.u32 %p0, %lane, 20; mov.u32 %r2, 5; @%p0 bra left;
        mov.u32 %r2, 6; bra right2;
        left: add.u32 %r2, %r2, 10; bra left2;
        right2: add.u32 %r0, %r2, 100; bra end;
        left2: add.u32 %r0, %r2, 200; mov.u32 %r1, %r2;""")  # fmt: skip
    assert words == [215] * 20 + [106] * 12
    assert others == [15] * 20 + [0] * 12


def test_a_vector_load_of_a_shared_and_a_private_word(bench: Bench) -> None:
    """One address for all lanes; the first word outlives the branch, the second is used within it, a block later.

    Lane 0 is not there.
    """
    words, others, _ = run(bench, """
        setp.lt.u32 %p0, %lane, 16; @%p0 bra end;
        ld.global.v2.u32 {%r0, %r2}, [%in];
        setp.eq.u32 %p1, %lane, 31; @%p1 bra last;
        add.u32 %r1, %r2, 1; bra end;
        last: add.u32 %r1, %r2, 2;""")  # fmt: skip
    assert words == [0] * 16 + [100] * 16
    assert others == [0] * 16 + [102] * 15 + [103]


def test_a_vector_load_of_long_words(bench: Bench) -> None:
    _, others, words = run(bench, """
        setp.lt.u32 %p0, %lane, 16; @%p0 bra end;
        ld.global.v2.u64 {%w0, %w1}, [%in];
        setp.eq.u32 %p1, %lane, 31; mov.u32 %n, 3; @%p1 bra last;
        cvt.u32.u64 %r1, %w1; add.u32 %r1, %r1, %n; bra end;
        last: cvt.u32.u64 %r1, %w1;""")  # fmt: skip
    assert words == [0] * 16 + [100 + (101 << 32)] * 16
    assert others == [0] * 16 + [105] * 15 + [102]


def test_a_parameter_read_through_an_address(bench: Bench) -> None:
    """An array in a kernel's parameters, indexed by a uniform number; its elements cross a branch."""
    text = """
.visible .entry k(.param .align 8 .b8 many[64], .param .u64 out)
{
.reg .b32 %i, %lane, %t; .reg .b64 %sum, %x, %y, %base, %at, %out, %from; .reg .pred %p, %q;
ld.param.u64 %out, [out]; mov.u32 %lane, %tid.x; mov.b64 %base, many; mov.u32 %i, 0; mov.u64 %sum, 0;
again: mul.wide.u32 %from, %i, 8; add.s64 %from, %from, %base;
ld.param.u64 %x, [%from]; ld.param.u64 %y, [many+8];
setp.lt.u32 %p, %lane, 16; @%p bra low;
add.s64 %sum, %sum, %x;
low: add.s64 %sum, %sum, %x;
add.s64 %sum, %sum, %y;
add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 8; @%q bra again;
mul.wide.u32 %at, %lane, 8; add.s64 %at, %at, %out; st.global.u64 [%at], %sum;
ret;
}
"""
    numbers = [3 << 33, 5, 7 << 40, 11, 13, 17, 19, 23]
    many = np.array([tuple(numbers)], np.dtype([(f"m{i}", "u8") for i in range(8)]))[0]
    ran = bench.ptx(text, "k", 1, 32, many, np.zeros(32, np.uint64))
    once, twice = sum(numbers) + 40, 2 * sum(numbers) + 40
    assert ran.arrays[0].tolist() == [once] * 16 + [twice] * 16


def test_a_special_register_in_a_vector(bench: Bench) -> None:
    """mov.b64 {%tid.x, …} differs from lane to lane though no other operand does."""
    _, _, words = run(bench, "mov.b64 %w0, {%tid.x, %ctaid.x};")
    assert words == list(range(32))


def test_lanes_leave_a_loop_one_by_one(bench: Bench) -> None:
    """The counter is uniform for those who are still in the loop; each lane keeps its own last value."""
    words, _, _ = run(bench, """
        mov.u32 %n, 0;
        again: add.u32 %n, %n, 3; add.u32 %r2, %n, %lane; setp.ge.u32 %p0, %r2, 40; @%p0 bra out;
        bra again;
        out: mov.u32 %r0, %n;""")  # fmt: skip
    assert words == [next(n for n in range(3, 100, 3) if n + lane >= 40) for lane in range(32)]


def test_a_join_that_stands_before_its_sides(bench: Bench) -> None:
    """In the text (and in the numbers of the blocks) the join comes first."""
    words, others, _ = run(bench, """
        mov.u32 %r2, 50; setp.lt.u32 %p0, %lane, 10; bra fork;
        join: add.u32 %r0, %r0, %r2; add.u32 %r1, %r1, 1; bra end;
        fork: @%p0 bra one;
        mov.u32 %r2, 60; mov.u32 %r0, 1; bra join;
        one: mov.u32 %r0, 2; bra join;""")  # fmt: skip
    assert words == [52] * 10 + [61] * 22
    assert others == [1] * 32


def test_an_uneven_exit(bench: Bench) -> None:
    """Lanes that return early do not disturb uniform registers of those that go on."""
    words, _, _ = run(bench, """
        mov.u32 %r2, 5; setp.ge.u32 %p0, %lane, 30; @%p0 bra leave;
        add.u32 %r2, %r2, 1; mov.u32 %r0, %r2; bra end;
        leave: mov.u32 %r2, 99; mul.wide.u32 %at, %lane, 16; add.s64 %at, %at, %out; st.global.u32 [%at], %r2; exit;
        """)  # fmt: skip
    assert words == [6] * 30 + [99] * 2


def test_an_indirect_branch(bench: Bench) -> None:
    """brx.idx with a different target in each lane, and with one target for all."""
    words, others, _ = run(bench, """
        and.b32 %r2, %lane, 3; mov.u32 %r3, 2;
        ts: .branchtargets t0, t1, t2, t1;
        brx.idx %r2, ts;
        t0: mov.u32 %r0, 10; bra next;
        t1: mov.u32 %r0, 11; bra next;
        t2: mov.u32 %r0, 12;
        next:
        us: .branchtargets u0, u1, u2;
        brx.idx.uni %r3, us;
        u0: mov.u32 %r1, 20; bra end;
        u1: mov.u32 %r1, 21; bra end;
        u2: mov.u32 %r1, 22;""")  # fmt: skip
    assert words == [10, 11, 12, 11] * 8
    assert others == [22] * 32

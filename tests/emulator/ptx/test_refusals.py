"""What the emulator does not know it refuses by name, when a kernel is first launched; nothing runs wrongly.

Each instruction here is one that PTX has and that looks much like one that is known.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import HEADER, Bench

from grader.emulator.errors import EmulatorError, LaunchRefused, PtxSyntaxError, UnsupportedPtx

REGISTERS = """
.reg .b16 %h<6>; .reg .b32 %r<8>; .reg .f32 %f<6>; .reg .b64 %w<6>; .reg .f64 %d<6>; .reg .pred %p<6>; .reg .b128 %q<2>;
.shared .align 16 .b8 box[64];
"""

INSTRUCTIONS = """
// rounding and saturation that are not there
add.rz.f64 %d0, %d1, %d2;
fma.rp.f64 %d0, %d1, %d2, %d3;
div.rz.f32 %f0, %f1, %f2;
div.rm.f64 %d0, %d1, %d2;
sqrt.rz.f32 %f0, %f1;
rcp.rp.f32 %f0, %f1;
mad.hi.sat.s32 %r0, %r1, %r2, %r3;
add.ftz.f16 %h0, %h1, %h2;
cvt.rz.f32.f64 %f0, %d0;
cvt.rz.f16.f32 %h0, %f0;
cvt.rz.f16x2.f32 %r0, %f0, %f1;
cvt.rp.f32.s32 %f0, %r0;
cvt.rn.tf32.f32 %r0, %f0;
cvt.rz.tf32.f32 %r0, %f0;
cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;
cvt.rn.f16x2.e5m2x2 %r0, %h0;
cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;
cvt.f32.s32 %f0, %r0;
cvt.rn.satfinite.f16.f32 %h0, %f0;
fma.rn.oob.f16 %h0, %h1, %h2, %h3;
// more operands, or others, than are known
min.f32 %f0, %f1, %f2, %f3;
max.s32 %r0, %r1, %r2, %r3;
min.xorsign.abs.f32 %f0, %f1, %f2;
add.f32.f16 %f0, %h0, %f1;
lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x96, %p1;
prmt.b32.f4e %r0, %r1, %r2, %r3;
mul24.hi.u32 %r0, %r1, %r2;
add.u16x2 %r0, %r1, %r2;
min.s16x2 %r0, %r1, %r2;
add.relu.s32 %r0, %r1, %r2;
mov.b128 %q0, {%w0, %w1};
mov.b128 %q0, %q1;
add.u8 %h0, %h1, %h2;
dp2a.lo.u32.u32 %r0, %r1, %r2, %r3;
vadd4.u32.u32.u32 %r0, %r1, %r2, %r3;
szext.wrap.u32 %r0, %r1, %r2;
bmsk.clamp.b32 %r0, %r1, %r2;
set.lt.f16.f16 %h0, %h1, %h2;
tanh.approx.f64 %d0, %d1;
// memory
ld.global.L2::cache_hint.u32 %r0, [%w0], %w1;
ld.global.b128 %q0, [%w0];
st.global.b128 [%w0], %q0;
ld.shared::cluster.u32 %r0, [%r1];
ld.mmio.relaxed.sys.global.u32 %r0, [%w0];
ld.global.unified.u32 %r0, [%w0];
atom.global.add.noftz.f16x2 %r0, [%w0], %r1;
atom.global.add.noftz.bf16 %h0, [%w0], %h1;
atom.global.cas.b128 %q0, [%w0], %q1, %q1;
red.global.add.noftz.f16 [%w0], %h0;
red.global.v2.f32.add [%w0], {%f0, %f1};
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r0], %r1, [%r2];
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];
multimem.red.global.add.f32 [%w0], %f0;
cp.async.bulk.commit_group;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%w0], %r1, [%r2];
isspacep.shared::cluster %p0, %w0;
mapa.shared::cluster.u32 %r0, %r1, %r2;
getctarank.shared::cluster.u32 %r0, %r1;
createpolicy.fractional.L2::evict_last.b64 %w0;
ld.global.v3.u32 {%r0, %r1, %r2}, [%w0];
// barriers
barrier.cluster.arrive;
barrier.cluster.wait;
fence.proxy.async;
mbarrier.init.shared.b64 [%r0], 32;
mbarrier.arrive.shared.b64 %w0, [%r0];
griddepcontrol.depend;
// warps
shfl.sync.idx.b64 %w0, %w1, %r0, 31, -1;
redux.sync.min.NaN.f32 %f0, %f1, -1;
vote.sync.most.pred %p0, %p1, -1;
match.some.sync.b32 %r0, %r1, -1;
// textures, surfaces, Tensor Cores of later generations
tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [image, {%r0}];
suld.b.1d.b32.trap %r0, [image, {%r1}];
txq.width.b32 %r0, [image];
wgmma.fence.sync.aligned;
wgmma.wait_group.sync.aligned 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %w0, %w1, 1, 1, 1, 0, 0;
tcgen05.wait::ld.sync.aligned;
setmaxnreg.inc.sync.aligned.u32 64;
movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;
mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r2,%r3}, {%f0,%f1,%f2,%f3}, %r4, 0;
// control
brkpt;
@%p0 brx.idx %r0, targets;
call (_), unknown, ();
stacksave.u64 %w0;
alloca.u64 %w0, 16;
mov.u32 %r0, %cluster_ctaid.x;
mov.u32 %r0, %envreg3;
mov.u64 %w0, nowhere;
no.such.opcode %r0;
"""


def kernel(instruction: str) -> str:
    return f"""
.visible .entry k(.param .u64 out)
{{
{REGISTERS}
ld.param.u64 %w0, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
targets: .branchtargets here, end;
here: {instruction}
end: st.global.u32 [%w0], %r0;
ret;
}}
"""


@pytest.mark.parametrize(
    "instruction", [line for line in INSTRUCTIONS.splitlines() if line and line[0] != "/"]
)
def test_instructions(bench: Bench, instruction: str) -> None:
    with pytest.raises(UnsupportedPtx) as refusal:
        bench.ptx(kernel(instruction), "k", 1, 32, np.zeros(1, np.uint32), budget=10000)
    assert refusal.value.ptx_line == (HEADER.count("\n") + kernel("X").splitlines().index("here: X") + 1)
    words = instruction.replace("@%p0 ", "").split()
    named = words[0].rstrip(";"), *(word.strip("%,;") for word in words[1:])
    assert any(name in refusal.value.what for name in named), str(refusal.value)


@pytest.mark.parametrize("directive", [
    ".global .texref image;", ".global .samplerref sampler;", ".alias one, two;", ".tex .u64 image;",
    ".func f (.param .b32 x) { .reg .v4 .f32 %v; ret; }",
])  # fmt: skip
def test_directives(bench: Bench, directive: str) -> None:
    with pytest.raises(EmulatorError):
        bench.load(directive)


def test_the_source_line_is_named(bench: Bench) -> None:
    source = """
    extern "C" __global__ void k(float* x)
    {
        float y = x[0];
        asm("sqrt.rz.f32 %0, %0;" : "+f"(y));
        x[0] = y;
    }
    """
    with pytest.raises(UnsupportedPtx, match=r"sqrt\.rz\.f32 \(source line 5"):
        bench.cuda(source, "k", 1, 1, np.ones(1, np.float32))


def test_other_kernels_of_a_module_still_run(bench: Bench) -> None:
    source = """
    extern "C" __global__ void good(int* x) { x[0] = 5; }
    extern "C" __global__ void bad(double* x) { x[0] = __dadd_rz(x[0], x[1]); }
    """
    assert bench.clean(source, "good", 1, 1, np.zeros(1, np.int32))[0] == 5
    with pytest.raises(UnsupportedPtx, match=r"add\.rz\.f64"):
        bench.cuda(source, "bad", 1, 1, np.zeros(2))


@pytest.mark.parametrize("text", [
    ".visible .entry k( { ret; }", ".visible .entry k() { ret;", "add.u32 %r1;",
    ".visible .entry k() { ld.global.u32 %r0, [%r1; ret; }", ".global .b8 x[", "\u00a7",
])  # fmt: skip
def test_text_that_is_not_ptx(bench: Bench, text: str) -> None:
    with pytest.raises(EmulatorError):
        bench.ptx(text, "k", 1, 1)
    with pytest.raises(PtxSyntaxError):
        bench.load(".visible .entry k() { add.u32 %r0, ; ] }")


BOUNDED = """
extern "C" __global__ void __launch_bounds__(128) k(int* x)
{
    __shared__ int box[6000];
    box[*x * 100] = *x;
    *x = box[*x * 100];
}
"""


@pytest.mark.parametrize(("grid", "block", "shared", "words"), [
    ((1,), (1025,), 0, "block.x is 1025; the device allows 1 to 1024"),
    ((1,), (64, 32), 0, "a block of 2048 threads; the device allows 1024"),
    ((1,), (8, 8, 65), 0, "block.z is 65"),
    ((1,), (0,), 0, "block.x is 0"),
    ((0,), (32,), 0, "grid.x is 0"),
    ((1, 65536), (32,), 0, "grid.y is 65536; the device allows 1 to 65535"),
    ((1,), (129,), 0, "129 threads; __launch_bounds__ allows 128"),
    ((1,), (32,), 227 * 1024 - 23999, "bytes of shared memory a block; the device has 232448"),
])  # fmt: skip
def test_launches_that_a_device_refuses(
    bench: Bench, grid: tuple[int, ...], block: tuple[int, ...], shared: int, words: str
) -> None:
    with pytest.raises(LaunchRefused, match=words):
        bench.cuda(BOUNDED, "k", grid, block, np.zeros(1, np.int32), shared_bytes=shared)


def test_the_largest_launch_that_a_device_takes(bench: Bench) -> None:
    ran = bench.cuda(
        BOUNDED, "k", (1, 3, 2), (2, 8, 8), np.full(1, 7, np.int32), shared_bytes=227 * 1024 - 24000
    )
    assert ran.record.shared_bytes == 227 * 1024
    assert ran.arrays[0][0] == 7

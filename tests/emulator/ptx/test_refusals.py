"""What the emulator does not know it refuses by name, when a kernel is first launched; nothing runs wrongly.

Each instruction here is one that PTX has and that looks much like one that is known.
"""

from __future__ import annotations

import re

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
mad.hi.sat.s32 %r0, %r1, %r2, %r3;
add.ftz.f16 %h0, %h1, %h2;
cvt.rn.tf32.f32 %r0, %f0;
cvt.rz.tf32.f32 %r0, %f0;
cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;
cvt.f32.s32 %f0, %r0;
fma.rn.oob.f16 %h0, %h1, %h2, %h3;
cvt.rn.e4m3x2.f32 %h0, %f0, %f1;
vadd2.u32.u32.u32.h10 %r0, %r1, %r2, %r3;
vadd.u32.u32.u32 %r0, %r1, %r2;
// more operands, or others, than are known
min.f32 %f0, %f1, %f2, %f3;
max.s32 %r0, %r1, %r2, %r3;
min.xorsign.abs.f32 %f0, %f1, %f2;
add.f32.f16 %f0, %h0, %f1;
mul24.hi.u32 %r0, %r1, %r2;
add.relu.s32 %r0, %r1, %r2;
mov.b128 %q0, {%w0, %w1};
mov.b128 %q0, %q1;
add.u8 %h0, %h1, %h2;
tanh.approx.f64 %d0, %d1;
// memory
ld.global.b128 %q0, [%w0];
st.global.b128 [%w0], %q0;
ld.mmio.relaxed.sys.global.u32 %r0, [%w0];
ld.global.unified.u32 %r0, [%w0];
atom.global.cas.b128 %q0, [%w0], %q1, %q1;
ld.global.v2.u32 {%r0, %r1}, [%w0], %w1;
red.global.min.noftz.v2.f16 [%w0], {%h0, %h1};
multimem.red.global.add.f32 [%w0], %f0;
cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%w0, {%r1, %r2, %r3}], [%r1];
ld.global.v3.u32 {%r0, %r1, %r2}, [%w0];
// barriers
griddepcontrol.depend;
// warps
shfl.sync.idx.b64 %w0, %w1, %r0, 31, -1;
redux.sync.min.NaN.f32 %f0, %f1, -1;
vote.sync.most.pred %p0, %p1, -1;
match.some.sync.b32 %r0, %r1, -1;
// textures, surfaces, Tensor Cores of later generations
tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [image, {%r0}];
tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%w0, %w1, {%r0}];
tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%w0, {%f0, %f1}], %f2;
tex.cube.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%w0, {%f0, %f1, %f2, %f3}];
tex.2d.v2.f16x2.f32 {%r0, %r1}, [%w0, {%f0, %f1}];
tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%w0, {%f0, %f1}];
suld.b.1d.b32.trap %r0, [%w0, {%r1}];
sust.b.1d.b32.trap [%w0, {%r1}], %r0;
suld.b.1d.b32.trap %r0, [image, {%r1}];
txq.width.b32 %r0, [image];
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %w0, %w1, %r0, 0, 1, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r0, %r1}, %w0, %w1, 1, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %w0, %w1, 1, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %w0, %w1, 1, 1, 1, 0, 0;
tcgen05.wait::ld.sync.aligned;
mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r2,%r3}, {%f0,%f1,%f2,%f3}, %r4, 0;
// control
brkpt;
@%p0 brx.idx %r0, targets;
call (_), unknown, ();
stacksave.u64 %w0;
alloca.u64 %w0, 16;
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


@pytest.mark.parametrize(
    ("declaration", "use", "named"),
    [
        (".global .texref image;", "mov.u64 %w1, image;", ".texref"),
        (".visible .global .surfref image;", "mov.u64 %w1, image;", ".surfref"),
        (".tex .u64 image;", "mov.u64 %w1, image;", ".tex"),
        (".global .samplerref how = { addr_mode_0 = clamp_to_edge };", "mov.u64 %w1, how;", ".samplerref"),
        (".alias one, two;", "call.uni one;", ".alias"),
        (".func (.sreg .b32 r) f(.param .b64 a) { ret; }", "call.uni f;", ".sreg"),
        (".func f(.sreg .b64 a) { ret; }", "call.uni f;", ".sreg"),
        (".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);",
         "call.uni (_), cudaLaunchDeviceV2, ();", "cudaLaunchDeviceV2"),
        (".func f() { .reg .v2 .b32 %pair; ret; }", "call.uni f;", "vector register"),
        (".func f() { one: .calltargets two; ret; }", "call.uni f;", ".calltargets"),
    ],
)  # fmt: skip
def test_what_one_kernel_names_is_refused_to_it_alone(
    bench: Bench, declaration: str, use: str, named: str
) -> None:
    body = "ld.param.u64 %w0, [out]; st.global.u32 [%w0], 7; ret;"
    text = f"""
    {declaration}
    .visible .entry bad(.param .u64 out) {{ .reg .b64 %w<2>; {use} {body} }}
    .visible .entry good(.param .u64 out) {{ .reg .b64 %w<2>; {body} }}
    """
    assert bench.ptx(text, "good", 1, 1, np.zeros(1, np.uint32)).arrays[0][0] == 7
    with pytest.raises(UnsupportedPtx, match=re.escape(named)):
        bench.ptx(text, "bad", 1, 1, np.zeros(1, np.uint32))


def test_a_statement_that_declares_nothing_is_refused_with_its_module(bench: Bench) -> None:
    with pytest.raises(EmulatorError):
        bench.load(".unheard.of;")


def test_the_source_line_is_named(bench: Bench) -> None:
    source = """
    extern "C" __global__ void k(float* x)
    {
        float y = x[0];
        asm volatile("brkpt;");
        x[0] = y;
    }
    """
    with pytest.raises(UnsupportedPtx, match=r"brkpt \(source line 5"):
        bench.cuda(source, "k", 1, 1, np.ones(1, np.float32))


def test_other_kernels_of_a_module_still_run(bench: Bench) -> None:
    source = """
    extern "C" __global__ void good(int* x) { x[0] = 5; }
    extern "C" __global__ void bad(double* x) { __brkpt(); x[0] = 1; }
    """
    assert bench.clean(source, "good", 1, 1, np.zeros(1, np.int32))[0] == 5
    with pytest.raises(UnsupportedPtx, match="brkpt"):
        bench.cuda(source, "bad", 1, 1, np.zeros(2))


def test_other_kernels_run_where_a_function_cannot_be_read(bench: Bench) -> None:
    """A surface's address is no operand that the parser knows: it refuses the function, and those that call it."""
    source = """
    extern "C" __global__ void good(int* x) { x[0] = 5; }
    __device__ __noinline__ float fetch(cudaSurfaceObject_t image) { return surf2Dread<float>(image, 0, 0); }
    extern "C" __global__ void bad(float* x) { x[0] = fetch(1); }
    extern "C" __global__ void good_as_well(int* x) { x[0] = 6; }
    """
    assert bench.clean(source, "good", 1, 1, np.zeros(1, np.int32))[0] == 5
    assert bench.clean(source, "good_as_well", 1, 1, np.zeros(1, np.int32))[0] == 6
    with pytest.raises(UnsupportedPtx, match=r"suld\.b\.2d.*source line 3"):
        bench.cuda(source, "bad", 1, 1, np.zeros(2, np.float32))


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

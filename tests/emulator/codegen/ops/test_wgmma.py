"""wgmma: types, shapes, where operands lie in shared memory, and what has to be waited for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from emulated import Array, Bench
from fragments import INTEGERS, operand, random_values
from warpgroups import Tile, warpgroup_sums

DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
TILE = 32768
"""Bytes of shared memory for each operand."""


def kernel(
    form: str,
    counts: tuple[int, int],
    tail: str,
    *,
    before: str = "wgmma.fence.sync.aligned;",
    after: str = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
    in_registers: bool = False,
    scale: str = "1",
) -> str:
    """Copies the operands' images to shared memory, loads the accumulators (and A), multiplies, stores.

    `counts`: registers of the accumulators and of A; `tail`: what follows scale-d.
    """  # fmt: skip
    sums, factors = counts
    d = "{" + ", ".join(f"%d{i}" for i in range(sums)) + "}"
    a = "{" + ", ".join(f"%a{i}" for i in range(factors)) + "}" if in_registers else "%w4"
    real = ".f32." in form
    loads = [f"ld.global.b32 %{'x' if real else 'd'}{i}, [%w1+{128 * i}];" for i in range(sums)]
    if real:
        loads += [f"mov.b32 %d{i}, %x{i};" for i in range(sums)]
    loads += [f"ld.global.b32 %a{i}, [%w3+{128 * i}];" for i in range(factors if in_registers else 0)]
    stores = [f"st.global.{'f32' if real else 'b32'} [%w1+{128 * i}], %d{i};" for i in range(sums)]
    newline = "\n"
    return f"""
.visible .entry product(.param .u64 images, .param .u64 sums, .param .u64 afrag, .param .u64 desc_a, .param .u64 desc_b)
{{
.shared .align 1024 .b8 tiles[{2 * TILE}];
.reg .b64 %w<8>; .reg .b32 %t, %i, %v, %warp; .reg .pred %p, %scale;
.reg .{"f32" if real else "b32"} %d<{sums}>; .reg .b32 %x<{sums}>, %a<4>;
ld.param.u64 %w0, [images]; ld.param.u64 %w1, [sums]; ld.param.u64 %w3, [afrag];
ld.param.u64 %w4, [desc_a]; ld.param.u64 %w5, [desc_b];
mov.u32 %t, %tid.x;
again:
mul.wide.u32 %w6, %t, 4; add.u64 %w6, %w6, %w0; ld.global.b32 %v, [%w6];
shl.b32 %i, %t, 2; mov.u32 %warp, tiles; add.u32 %i, %i, %warp; st.shared.b32 [%i], %v;
add.u32 %t, %t, 128; setp.lt.u32 %p, %t, {2 * TILE // 4}; @%p bra again;
fence.proxy.async.shared::cta; bar.sync 0;
mov.u32 %t, %tid.x; shr.u32 %warp, %t, 5; and.b32 %t, %t, 31;
mul.lo.u32 %i, %warp, {128 * sums}; mad.lo.u32 %i, %t, 4, %i; cvt.u64.u32 %w6, %i; add.u64 %w1, %w1, %w6;
mul.lo.u32 %i, %warp, {128 * 4}; mad.lo.u32 %i, %t, 4, %i; cvt.u64.u32 %w6, %i; add.u64 %w3, %w3, %w6;
{newline.join(loads)}
setp.ne.u32 %scale, {scale}, 0;
{before}
wgmma.mma_async.sync.aligned.{form} {d}, {a}, %w5, %scale{tail};
{after}
{newline.join(stores)}
ret;
}}"""


def multiply(
    bench: Bench, form: str, a: Array, b: Array, c: Array, *, swizzle: int = 128, majors: tuple[str, str] = ("k", "k"),
    signs: tuple[int, int] = (1, 1), in_registers: bool = False, **options: str,
) -> Array:  # fmt: skip
    """The sums as 4 warps × registers × lanes; a: 64 × k, b: k × n."""
    d, a_kind, b_kind = form.split(".")[1:4]
    tiles = Tile(a_kind, *a.shape, swizzle, majors[0]), Tile(b_kind, *b.T.shape, swizzle, majors[1])
    images = np.concatenate([tile.image(x, TILE) for tile, x in zip(tiles, (a, b.T), strict=True)])
    start = warpgroup_sums(c, d)
    columns = [int(major == "mn") for major in majors]
    numbers: Sequence[int] = () if d == "s32" else signs
    if a_kind in ("f16", "bf16"):
        numbers = (*numbers, *(columns[1:] if in_registers else columns))
    fragments = np.stack([operand(a[16 * w : 16 * w + 16], a_kind) for w in range(4)])
    text = kernel(
        form, (start.shape[1], 4), "".join(f", {n}" for n in numbers), in_registers=in_registers, **options
    )
    ran = bench.ptx(
        text, "product", 1, 128, images, start, fragments,
        np.uint64(tiles[0].descriptor(0)), np.uint64(tiles[1].descriptor(TILE)),
    )  # fmt: skip
    assert ran.findings == []
    return ran.arrays[1]


def matrices(form: str, n: int) -> tuple[Array, Array, Array]:
    d, a_kind, b_kind = form.split(".")[1:4]
    k = DEPTHS[a_kind]
    a, b, c = (
        random_values(a_kind, (64, k), 1),
        random_values(b_kind, (k, n), 2),
        random_values("f16", (64, n), 3),
    )
    if d == "f16" and "e" in a_kind:  # sums that a half can hold
        a, b = (np.sign(x) * 0.5 for x in (a, b))
    return a, b, c


FORMS = [
    *(f"m64n16k16.{d}.f16.f16" for d in ("f32", "f16")),
    "m64n16k16.f32.bf16.bf16",
    "m64n16k8.f32.tf32.tf32",
    *(f"m64n16k32.{d}.{a}.{b}" for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    *(
        f"m64n16k32.s32.{a}.{b}{end}"
        for a in ("s8", "u8")
        for b in ("s8", "u8")
        for end in ("", ".satfinite")
    ),
]


@pytest.mark.parametrize("in_registers", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_products_are_exact(bench: Bench, form: str, in_registers: bool) -> None:
    a, b, c = matrices(form, 16)
    got = multiply(bench, form, a, b, c, in_registers=in_registers)
    np.testing.assert_array_equal(got, warpgroup_sums(a @ b + c, form.split(".")[1]))


@pytest.mark.parametrize("n", [8, 24, 64, 136, 256])
def test_any_width(bench: Bench, n: int) -> None:
    form = f"m64n{n}k16.f32.f16.f16"
    a, b, c = matrices(form, n)
    np.testing.assert_array_equal(multiply(bench, form, a, b, c), warpgroup_sums(a @ b + c, "f32"))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("majors", [("k", "k"), ("mn", "k"), ("k", "mn"), ("mn", "mn")])
def test_every_swizzle_and_both_majors(bench: Bench, swizzle: int, majors: tuple[str, str]) -> None:
    form = "m64n128k16.f32.f16.f16"
    a, b, c = matrices(form, 128)
    got = multiply(bench, form, a, b, c, swizzle=swizzle, majors=majors)
    np.testing.assert_array_equal(got, warpgroup_sums(a @ b + c, "f32"))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("kind", ["tf32", "e4m3", "s8"])
def test_every_swizzle_of_other_types(bench: Bench, swizzle: int, kind: str) -> None:
    form = f"m64n32k{DEPTHS[kind]}.{'s32' if kind in INTEGERS else 'f32'}.{kind}.{kind}"
    a, b, c = matrices(form, 32)
    got = multiply(bench, form, a, b, c, swizzle=swizzle)
    np.testing.assert_array_equal(got, warpgroup_sums(a @ b + c, form.split(".")[1]))


@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (-1, -1)])
def test_factors_may_be_negated(bench: Bench, signs: tuple[int, int]) -> None:
    form = "m64n8k16.f32.bf16.bf16"
    a, b, c = matrices(form, 8)
    got = multiply(bench, form, a, b, c, signs=signs)
    np.testing.assert_array_equal(got, warpgroup_sums(signs[0] * signs[1] * a @ b + c, "f32"))


def test_accumulators_may_be_left_out(bench: Bench) -> None:
    form = "m64n8k16.f32.f16.f16"
    a, b, c = matrices(form, 8)
    got = multiply(bench, form, a, b, np.full_like(c, np.nan), scale="0")
    np.testing.assert_array_equal(got, warpgroup_sums(a @ b, "f32"))


def test_sums_of_real_numbers_are_rounded_once(bench: Bench) -> None:
    form = "m64n64k16.f32.f16.f16"
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16).astype(float) for shape in ((64, 16), (16, 64)))
    c = rng.standard_normal((64, 64)).astype(np.float32).astype(float)
    got = multiply(bench, form, a, b, c).view(np.float32)
    np.testing.assert_allclose(got, warpgroup_sums(a @ b + c, "f32").view(np.float32), rtol=2**-23, atol=0)

"""wgmma of every type, with every width, swizzle and major order, A from registers and from shared memory.

Shared memory holds random elements throughout: whatever a descriptor points to, the GPU and the emulator have to read
the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.runtime.tensor.forms import FACTORS
from numerics.case import Array, Case, Group
from numerics.elements import INTEGERS, positive, ragged, real, small, special
from numerics.products import DTYPES, identifier, rounding

A_BYTES, B_BYTES = 16384, 32768
"""Of shared memory."""
MODES = {0: 0, 128: 1, 64: 2, 32: 3}
"""Bytes of a swizzle → its number in a descriptor."""
FP8_SHARE = 2.0**-12
"""Of FP8: 13 bits behind the leading one of the largest term are kept (accumulation.py, on an H200)."""

PRELUDE = """#include <cuda_fp16.h>
using u32 = unsigned; using u64 = unsigned long long;
"""


@dataclass(frozen=True)
class Form:
    """An instruction and how its operands are given."""

    n: int
    d: str
    a: str
    b: str
    in_registers: bool = False
    majors: tuple[int, int] = (0, 0)
    """1: not k is contiguous."""
    signs: tuple[int, int] = (1, 1)
    saturates: bool = False

    @property
    def opcode(self) -> str:
        end = ".satfinite" if self.saturates else ""
        return f"wgmma.mma_async.sync.aligned.m64n{self.n}k{FACTORS[self.a].wgmma}.{self.d}.{self.a}.{self.b}{end}"

    @property
    def sums(self) -> int:
        """Registers of the sums."""
        return self.n // 2 // (2 if self.d == "f16" else 1)

    @property
    def kernel(self) -> str:
        where = f"{'r' if self.in_registers else 's'}s_{self.majors[0]}{self.majors[1]}"
        signs = "".join("m" if sign < 0 else "p" for sign in self.signs)
        return identifier(self.opcode.removeprefix("wgmma.mma_async.sync.aligned.")) + f"_{where}_{signs}"

    @property
    def tail(self) -> str:
        """What follows scale-d."""
        numbers: Sequence[int] = () if self.d == "s32" else self.signs
        if FACTORS[self.a].bits == 16:
            numbers = (*numbers, *(self.majors[1:] if self.in_registers else self.majors))
        return "".join(f", {number}" for number in numbers)


def _source(form: Form) -> str:
    kind, letter = ("float", "f") if form.d == "f32" else ("u32", "r")
    sums = form.sums
    d = "{" + ", ".join(f"%{i}" for i in range(sums)) + "}"
    a = "{" + ", ".join(f"%{sums + 1 + i}" for i in range(4)) + "}" if form.in_registers else f"%{sums + 1}"
    scale = sums + (5 if form.in_registers else 2)
    given = ", ".join(f'"r"(a[{i}])' for i in range(4)) if form.in_registers else '"l"(of_a)'
    outputs = ", ".join(f'"+{letter}"(d[{i}])' for i in range(sums))
    return f"""extern "C" __global__ void {form.kernel}(
    {kind}* out, const u32* image, const u32* x, const {kind}* z, u64 of_a, u64 of_b, int adds) {{
  __shared__ __align__(1024) u32 tiles[{(A_BYTES + B_BYTES) // 4}];
  for (int i = threadIdx.x; i < {(A_BYTES + B_BYTES) // 4}; i += 128) tiles[i] = image[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  u64 place = static_cast<u64>(__cvta_generic_to_shared(tiles)) >> 4;
  of_a += place; of_b += place + {A_BYTES >> 4};
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  {kind} d[{sums}]; u32 a[4];
  for (int i = 0; i < {sums}; i++) d[i] = z[(warp * {sums} + i) * 32 + lane];
  for (int i = 0; i < 4; i++) a[i] = x[(warp * 4 + i) * 32 + lane];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{scale}, 0; {form.opcode} {d}, {a}, %{sums}, p{form.tail}; }}"
               : {outputs} : "l"(of_b), {given}, "r"(adds) : "memory");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < {sums}; i++) out[(warp * {sums} + i) * 32 + lane] = d[i];
}}"""


def descriptor(swizzle: int, leading: int, stride: int, start: int = 0) -> np.uint64:
    """A matrix descriptor (PTX ISA 9.7.15.5.1.2); leading, stride and start in bytes."""
    return np.uint64(start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | MODES[swizzle] << 62)


def _cases(
    form: Form, of_a: np.uint64, of_b: np.uint64, note: str = "", *, whole: bool = True, probed: bool = False,
    adds: int = 1,
) -> Iterator[Case]:  # fmt: skip
    kind = {"image": form.a, "x": form.a, "z": "s32" if form.d == "s32" else form.d}
    sizes = {"image": A_BYTES + B_BYTES, "x": 4 * 4 * 32 * 4, "z": form.sums * 128 * 4}
    arguments = ("out", "image", "x", "z", of_a, of_b, np.int32(adds))
    where = "registers" if form.in_registers else "shared"
    orders = "".join("m" if major else "k" for major in form.majors)
    name = " ".join(
        filter(None, [form.opcode.removeprefix("wgmma.mma_async.sync.aligned."), where, orders, note])
    )

    def arrays(make: object, seed: int) -> dict[str, Array]:
        made: dict[str, Array] = {}
        for i, (key, element) in enumerate(kind.items()):
            made[key] = make(element, seed + i, sizes[key])  # type: ignore[operator]
            if key == "image" and form.a != form.b:
                made[key][A_BYTES:] = make(form.b, seed + 9, B_BYTES)  # type: ignore[operator]
        return made | {"out": np.zeros(sizes["z"], np.uint8).view(DTYPES[form.d])}

    source = _source(form)
    yield Case(f"{name} exact", form.kernel, source, arguments, arrays(small, 1), 128, probed=probed)
    if form.a in INTEGERS or not whole:
        return
    if form.a == "tf32":
        yield Case(f"{name} ragged", form.kernel, source, arguments, arrays(ragged, 1), 128)
    share = FP8_SHARE if form.a in ("e4m3", "e5m2") and form.d == "f32" else rounding(form.d)
    for numbers, made, seed in (("special", special, 4), ("real", real, 7)):
        found = arrays(made, seed)
        sized = found | {key: positive(found[key], element) for key, element in kind.items()}
        yield Case(f"{name} {numbers}", form.kernel, source, arguments, found, 128, share=share, sizes=sized)


PLAIN = (descriptor(0, 128, 256), descriptor(0, 128, 256))
"""Rows of 32 bytes as two chunks of 8 × 16 bytes side by side; eight rows further every 256 bytes."""


def _forms() -> Iterator[tuple[Form, bool]]:
    """Instructions with operands along k, and whether to compare counters."""
    kinds = [(a, a) for a in ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8")]
    kinds += [("e4m3", "e5m2"), ("e5m2", "e4m3"), ("s8", "u8"), ("u8", "s8")]
    for (a, b), in_registers in itertools.product(kinds, (False, True)):
        for d in FACTORS[a].sums:
            for n in (8, 96) if in_registers else (8, 24, 128):
                yield Form(n, d, a, b, in_registers), a == b and n != 24
        if a in INTEGERS:
            yield Form(32, "s32", a, b, in_registers, saturates=True), False
    for n in range(16, 257, 8):
        yield Form(n, "f32", "f16", "f16"), n in (64, 256)
    for n in (16, 48, 64, 80, 112, 144, 160, 176, 192, 208, 224, 240, 256):
        yield Form(n, "s32", "s8", "s8"), n == 256
    for d, a in (("f16", "f16"), ("f32", "bf16"), ("f32", "tf32"), ("f32", "e4m3"), ("f16", "e5m2")):
        yield Form(256, d, a, a), True


def products() -> Group:
    """Types, widths, signs, and sums that are left out."""
    cases: list[Case] = []
    for form, probed in dict(_forms()).items():
        cases += _cases(form, *PLAIN, probed=probed, whole=form.n in (8, 96, 128))
    for signs in ((1, -1), (-1, 1), (-1, -1)):
        cases += _cases(Form(8, "f32", "bf16", "bf16", signs=signs), *PLAIN, f"signs {signs}")
    cases += _cases(Form(8, "f32", "f16", "f16"), *PLAIN, "alone", adds=0)
    return Group("wgmma", PRELUDE, tuple(cases), a_module=14)


def layouts() -> Group:
    """Every swizzle and both major orders, with offsets that a program would use and others."""
    cases: list[Case] = []
    for a in ("f16", "tf32", "e4m3", "s8"):
        form = Form(64, "s32" if a == "s8" else "f32", a, a)
        for swizzle, start in itertools.product((0, 32, 64, 128), (0, 32, 64, 96)):
            if start >= max(swizzle, 1) and start:
                continue
            width = swizzle or 128
            for leading, stride in ((16, 8 * width), (256, 8 * width + 1024)):
                if not swizzle:
                    leading, stride = (128, 256) if leading == 16 else (1024, 128)
                of = descriptor(swizzle, leading, stride, start)
                note = f"swizzle {swizzle} start {start} leading {leading} stride {stride}"
                cases += _cases(form, of, of, note, whole=False, probed=start == 0 and a == "f16")
    for a, majors in itertools.product(("f16", "bf16"), ((0, 1), (1, 0), (1, 1))):
        form = Form(128, "f32", a, a, majors=majors)
        for swizzle in (0, 32, 64, 128):
            width = swizzle or 16
            for leading, stride in ((1024, 2048), (4096, 8 * width), (2048, 1024)):
                along = descriptor(swizzle, 128, 8 * max(width, 32))
                across = descriptor(swizzle, leading, stride)
                of_a, of_b = (across if major else along for major in majors)
                note = f"swizzle {swizzle} leading {leading} stride {stride}"
                cases += _cases(form, of_a, of_b, note, whole=False, probed=leading == 4096 and a == "f16")
    for swizzle in (0, 32, 64, 128):
        form = Form(128, "f32", "f16", "f16", in_registers=True, majors=(0, 1))
        of_b = descriptor(swizzle, 2048, 1024)
        cases += _cases(form, PLAIN[0], of_b, f"swizzle {swizzle}", whole=False)
    return Group("layouts", PRELUDE, tuple(cases), a_module=6)

"""mma.sync: every shape and type, bit for bit on numbers whose sums are exact; rounding, saturation, and counters."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from emulated import Bench
from fragments import INTEGERS, Array, encoded, operand, random_values, sums

from grader.emulator.runtime.tensor import forms

_PAIRS = {
    "s8": ("s8", "u8"), "u8": ("s8", "u8"), "s4": ("s4", "u4"), "u4": ("s4", "u4"),
    "e4m3": ("e4m3", "e5m2"), "e5m2": ("e4m3", "e5m2"),
}  # fmt: skip


def _cases() -> list[str]:
    """Every mma.sync that there is, as the PTX ISA lists them, but for m8n8k4 of halves."""
    found = []
    shapes = {
        ("f16", "bf16"): ("m16n8k8", "m16n8k16"),
        ("tf32",): ("m16n8k4", "m16n8k8"),
        ("e4m3", "e5m2"): ("m16n8k16", "m16n8k32"),
        ("s8", "u8"): ("m8n8k16", "m16n8k16", "m16n8k32"),
        ("s4", "u4"): ("m8n8k32", "m16n8k32", "m16n8k64"),
        ("b1",): ("m8n8k128", "m16n8k128", "m16n8k256"),
        ("f64",): ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"),
    }
    for kinds, sizes in shapes.items():
        for a in kinds:
            for b in _PAIRS.get(a, (a,)):
                results = (
                    ("f32", "f16") if a in ("f16", "e4m3", "e5m2") else ("f64",) if a == "f64" else ("f32",)
                )
                for d in ("s32",) if a in INTEGERS else results:
                    ends = (
                        (".xor.popc", ".and.popc")
                        if a == "b1"
                        else ("", ".satfinite")
                        if d == "s32"
                        else ("",)
                    )
                    found += [f"{size}.row.col.{d}.{a}.{b}.{d}{end}" for size in sizes for end in ends]
    return found


CASES = _cases()
_FORM = re.compile(r"m(\d+)n8k(\d+)\.row\.col\.(\w+)\.(\w+)\.(\w+)\.\w+(\.\w+)?.*")


def parts(case: str) -> tuple[int, int, str, str, str, str]:
    """m, k, the types of d, a and b, and what follows."""
    found = _FORM.fullmatch(case)
    assert found
    return int(found[1]), int(found[2]), found[3], found[4], found[5], (found[6] or "")[1:]


def kernel(case: str, registers: tuple[int, int, int]) -> str:
    """Loads the fragments of a lane, multiplies, stores the sums."""
    _m, _k, d, a, b, _ = parts(case)
    lines, names = [], []
    for name, count, kind in zip("abc", registers, (a, b, d), strict=True):
        size, register = (
            (8, "f64") if kind == "f64" else (4, "f32" if name == "c" and kind == "f32" else "b32")
        )
        lines += [f".reg .{register} %{name}<{count}>; ld.param.u64 %w0, [{name}];",
                  f"mul.wide.u32 %w1, %t, {size}; add.u64 %w0, %w0, %w1;"]  # fmt: skip
        lines += [f"ld.global.{register} %{name}{i}, [%w0+{i * 32 * size}];" for i in range(count)]
        names.append("{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}")
    stores = [f"st.global.{register} [%w0+{i * 32 * size}], %c{i};" for i in range(count)]
    return (
        ".visible .entry product(.param .u64 a, .param .u64 b, .param .u64 c) {\n"
        ".reg .b64 %w<2>; .reg .b32 %t; mov.u32 %t, %tid.x;\n" + "\n".join(lines)
        + f"\nmma.sync.aligned.{case} {names[2]}, {names[0]}, {names[1]}, {names[2]};\n"
        + "\n".join(stores) + "\nret; }"
    )  # fmt: skip


def multiply(bench: Bench, case: str, a: Array, b: Array, c: Array) -> Array:
    """The registers of the sums, a: m × k, b: k × 8, c: m × 8."""
    _, _, d, a_kind, b_kind, _ = parts(case)
    fragments = operand(a, a_kind), operand(b.T, b_kind), sums(c, d)
    ran = bench.ptx(kernel(case, tuple(map(len, fragments))), "product", 1, 32, *fragments)
    assert ran.findings == []
    return ran.arrays[2]


def test_all_forms_are_tried() -> None:
    listed = {(kind, shape) for kind, factor in forms.FACTORS.items() for shape in factor.mma}
    assert {(parts(case)[3], case.split(".")[0]) for case in CASES} == listed


@pytest.mark.parametrize("case", CASES)
def test_products_are_exact(bench: Bench, case: str) -> None:
    m, k, d, a_kind, b_kind, end = parts(case)
    a, b = random_values(a_kind, (m, k), 1), random_values(b_kind, (k, 8), 2)
    c = random_values("f16", (m, 8), 3)
    if d == "f16" and a_kind in ("e4m3", "e5m2"):
        a, b = a / np.maximum(np.abs(a), 1.0), b / np.maximum(np.abs(b), 1.0)  # sums that a half can hold
        a, b = (np.where(np.isin(x, (-1.0, 1.0)), x, 0.5) for x in (a, b))
    expected = (a[:, :, None] != b[None]).sum(axis=1) + c if end == "xor" else a @ b + c
    np.testing.assert_array_equal(multiply(bench, case, a, b, c), sums(expected, d))


@pytest.mark.parametrize("saturates", [False, True])
def test_integers_wrap_around_or_saturate(bench: Bench, saturates: bool) -> None:
    case = "m16n8k32.row.col.s32.s8.u8.s32" + ".satfinite" * saturates
    a, b = np.full((16, 32), -128.0), np.full((32, 8), 255.0)
    a[8:] = 127
    c = np.where(np.arange(16)[:, None] < 8, -(2.0**31) + 5, 2.0**31 - 7) + np.zeros((16, 8))
    total = (a @ b + c).astype(np.int64)
    expected = np.clip(total, -(2**31), 2**31 - 1) if saturates else (total + 2**31) % 2**32 - 2**31
    np.testing.assert_array_equal(multiply(bench, case, a, b, c), sums(expected, "s32"))


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32", "e4m3", "e5m2"])
def test_real_numbers_are_rounded_once(bench: Bench, kind: str) -> None:
    """Within an ulp of the sum in double precision; Tensor Cores, which truncate, stay within a few."""
    case = next(c for c in CASES if c.split(".")[3:6] == ["f32", kind, kind])
    m, k, *_ = parts(case)
    rng = np.random.default_rng(5)
    if kind in ("e4m3", "e5m2"):
        a, b = random_values(kind, (m, k), 6), random_values(kind, (k, 8), 7)
    else:
        low = {"f16": np.uint64(0), "bf16": np.uint64(0), "tf32": np.uint64(0x1FFF)}[kind]
        exact = (rng.standard_normal(shape).astype(np.float16).astype(float) for shape in ((m, k), (k, 8)))
        a, b = (x if kind == "f16" else _cut(x, 16 if kind == "bf16" else 13) for x in exact)
        assert not np.any(encoded(a, kind) & low)
    c = rng.standard_normal((m, 8)).astype(np.float32).astype(float)
    got = multiply(bench, case, a, b, c).view(np.float32)
    exact_sums = sums(a @ b + c, "f32").view(np.float32)
    np.testing.assert_allclose(got, exact_sums, rtol=2**-23, atol=0)


def _cut(values: Array, bits: int) -> Array:
    """Singles without their lowest bits."""
    kept = values.astype(np.float32).view(np.uint32) >> bits << bits
    return kept.astype(np.uint32).view(np.float32).astype(float)


def test_tf32_ignores_the_low_13_bits(bench: Bench) -> None:
    case = "m16n8k8.row.col.f32.tf32.tf32.f32"
    a, b, c = random_values("tf32", (16, 8), 1), random_values("tf32", (8, 8), 2), np.zeros((16, 8))
    dirty = (a.astype(np.float32).view(np.uint32) | 0x1FFF).view(np.float32).astype(float)
    np.testing.assert_array_equal(multiply(bench, case, dirty, b, c), multiply(bench, case, a, b, c))


def test_doubles_are_added_by_fused_multiply_adds_in_the_order_of_k(bench: Bench) -> None:
    rng = np.random.default_rng(9)
    a, b, c = rng.standard_normal((16, 16)), rng.standard_normal((16, 8)), rng.standard_normal((16, 8))
    expected = c.copy()
    for (row, column), _ in np.ndenumerate(c):
        for k in range(16):
            total = Fraction(a[row, k]) * Fraction(b[k, column]) + Fraction(expected[row, column])
            expected[row, column] = float(total)
    got = multiply(bench, "m16n8k16.row.col.f64.f64.f64.f64", a, b, c)
    np.testing.assert_array_equal(got, sums(expected, "f64"))


def test_nan_and_infinity_of_fp8_go_through(bench: Bench) -> None:
    a, b, c = np.zeros((16, 32)), np.zeros((32, 8)), np.zeros((16, 8))
    b[:] = 1
    case = "m16n8k32.row.col.f32.{0}.{0}.f32"
    for kind, code, expected in (("e4m3", 0x7F, np.nan), ("e5m2", 0xFC, -np.inf), ("e5m2", 0x7D, np.nan)):
        fragments = [operand(a, kind), operand(b.T, kind), sums(c, "f32")]
        fragments[0][0] = code
        ran = bench.ptx(kernel(case.format(kind), (4, 2, 4)), "product", 1, 32, *fragments)
        np.testing.assert_array_equal(
            ran.arrays[2].view(np.float32)[:2], np.full((2, 32), expected, np.float32)
        )


@pytest.mark.parametrize(
    ("case", "bits"),
    [("m16n8k16.row.col.f32.f16.f16.f32", 0x7FFFFFFF), ("m16n8k16.row.col.f16.f16.f16.f16", 0x7FFF7FFF)],
)
def test_every_nan_that_a_product_makes_has_the_bits_that_an_h200_gives_it(
    bench: Bench, case: str, bits: int
) -> None:
    """Whatever the payload and the sign of the NaN among the operands are, and where infinities cancel."""
    d = case.split(".")[3]
    b, c = np.ones((16, 8)), np.zeros((16, 8))
    c[8:] = -np.inf
    fragments = [operand(np.zeros((16, 16)), "f16"), operand(b.T, "f16"), sums(c, d)]
    fragments[0][0] = 0x7D01FE00  # rows 0 to 7
    fragments[0][1] = 0x7C007C00  # rows 8 to 15
    ran = bench.ptx(kernel(case, tuple(map(len, fragments))), "product", 1, 32, *fragments)
    assert set(ran.arrays[2].view(np.uint32).ravel()) == {np.uint32(bits)}


@pytest.mark.parametrize(
    ("case", "pipe", "instructions", "operations"),
    [
        # What ptxas of CUDA 13 makes of each for sm_90a: FP8 is widened to halves, 4-bit integers to bytes.
        ("m16n8k16.row.col.f32.bf16.bf16.f32", "hmma", 1, "op_hmma_src_bf16_dst_fp32"),
        ("m16n8k8.row.col.f32.tf32.tf32.f32", "hmma", 1, "op_hmma_src_tf32_dst_fp32"),
        ("m16n8k32.row.col.f32.e4m3.e5m2.f32", "hmma", 2, "op_hmma_src_fp16_dst_fp32"),
        ("m16n8k32.row.col.s32.s8.u8.s32", "imma", 1, "op_imma_src_int8_sparsity_off"),
        ("m16n8k64.row.col.s32.s4.s4.s32", "imma", 2, "op_imma_src_int8_sparsity_off"),
        ("m16n8k256.row.col.s32.b1.b1.s32.and.popc", "imma", 1, "op_bmma_src_int1"),
        ("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "imma", 2, "op_bmma_src_int1"),
        ("m8n8k4.row.col.f64.f64.f64.f64", "dmma", 1, "src_fp64"),
    ],
)
def test_instructions_and_operations_are_counted(
    bench: Bench, case: str, pipe: str, instructions: int, operations: str
) -> None:
    m, k, d, a_kind, b_kind, _ = parts(case)
    zeros = operand(np.zeros((m, k)), a_kind), operand(np.zeros((8, k)), b_kind), sums(np.zeros((m, 8)), d)
    counters = bench.ptx(kernel(case, tuple(map(len, zeros))), "product", 1, 32, *zeros).counters
    assert counters[f"sm__inst_executed_pipe_tensor_op_{pipe}.sum"] == instructions
    assert counters[f"sm__ops_path_tensor_{operations}.sum"] == 2 * m * 8 * k
    others = [name for name, n in counters.items() if "tensor" in name and n]
    assert len(others) == 2


@pytest.mark.parametrize(
    "case",
    [
        "m8n8k4.row.col.f32.f16.f16.f32",  # of the first Tensor Cores
        "m16n8k16.row.row.f32.f16.f16.f32",
        "m16n8k16.row.col.f16.f16.f16.f32",
        "m16n8k16.row.col.f32.f16.bf16.f32",
        "m16n8k16.row.col.s32.s8.s4.s32",
        "m16n8k128.row.col.s32.b1.b1.s32",
        "m16n8k64.row.col.s32.s8.s8.s32",
    ],
)
def test_what_there_is_not_is_refused_by_name(bench: Bench, case: str) -> None:
    registers = "{%r0,%r0,%r0,%r0}"
    body = f".visible .entry k() {{ .reg .b32 %r<2>; mma.sync.aligned.{case} {', '.join([registers] * 4)}; ret; }}"
    with pytest.raises(Exception, match=f"mma.sync.aligned.{case}"):
        bench.ptx(body, "k", 1, 32)


def test_fragments_of_the_wrong_size_are_refused(bench: Bench) -> None:
    case = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
    body = f".visible .entry k() {{ .reg .f64 %d<3>; {case} {{%d0}}, {{%d1}}, {{%d2}}, {{%d0}}; ret; }}"
    with pytest.raises(Exception, match=case):
        bench.ptx(body, "k", 1, 32)

"""Instructions of one thread: conversions, directed rounding, carries."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from numerics.case import Array, Case, Group
from numerics.elements import fp8_values

_TYPES = {
    "h": ("unsigned short", np.uint16, "{}"),
    "r": ("unsigned", np.uint32, "{}"),
    "l": ("unsigned long long", np.uint64, "{}"),
    "f": ("float", np.float32, "{}"),
    "d": ("double", np.float64, "{}"),
}
"""A constraint → the type of its arrays in C++ and in NumPy."""
MANY = 6000
"""Values of each of several operands."""
PRELUDE = "using u32 = unsigned; using u64 = unsigned long long;"
_REGISTER = {
    "u8": "r", "s8": "r", "u16": "h", "s16": "h", "u32": "r", "s32": "r", "u64": "l", "s64": "l", "f16": "h",
    "bf16": "h", "f16x2": "r", "bf16x2": "r", "e4m3x2": "h", "e5m2x2": "h", "f32": "f", "f64": "d", "tf32": "r",
    "b32": "r", "b64": "l",
}  # fmt: skip


def _kernel(number: int, text: str, out: str, inputs: str) -> str:
    """`text` is inline assembly with the result %0 and the inputs from %1 on."""
    of = ", ".join(f"const {_TYPES[kind][0]}* {name}" for kind, name in zip(inputs, "abc", strict=False))
    given = ", ".join(f'"{kind}"({name}[i])' for kind, name in zip(inputs, "abc", strict=False))
    result = _TYPES[out][0]
    return f"""extern "C" __global__ void k{number}({result}* out, {of}, int n) {{
  for (int i = threadIdx.x; i < n; i += 256) {{
    {result} d;
    asm volatile("{text}" : "={out}"(d) : {given});
    out[i] = d;
  }}
}}"""


# -- what they are given -------------------------------------------------------------------------------------------


def _beside(values: Array) -> Array:
    """Numbers, and what lies half way to the next and just beside that, with both signs."""
    values = np.unique(values[np.isfinite(values)])
    middles = (values[1:] + values[:-1]) / 2
    all_of = np.concatenate([values, middles])
    return np.concatenate([all_of, np.nextafter(all_of, np.inf), np.nextafter(all_of, -np.inf)])


@functools.cache
def numbers(kind: str) -> Array:
    """Interesting values of a type, as its bits lie in a register."""
    rng = np.random.default_rng(11)
    if kind in ("f32", "f64", "tf32"):
        dtype, bits = (np.float64, np.uint64) if kind == "f64" else (np.float32, np.uint32)
        half = np.arange(0, 65536, 37, dtype=np.uint16).view(np.float16).astype(dtype)
        edges = [
            _beside(fp8_values("e4m3").astype(dtype)),
            _beside(fp8_values("e5m2").astype(dtype)),
            _beside(half),
        ]
        whole = [
            s * (2.0**p + d)
            for p in (7, 8, 15, 16, 24, 31, 32, 63, 64)
            for d in (-1, -0.5, 0, 0.5)
            for s in (1, -1)
        ]
        whole += [s * (i + 0.5) for i in range(10) for s in (1, -1)]
        random = (
            rng.integers(0, 2**64, 2048, dtype=np.uint64).astype(bits)
            if dtype == np.float32
            else rng.integers(0, 2**64, 2048, dtype=np.uint64)
        )
        special = [
            0.0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            65504,
            65519.99,
            65520,
            448,
            464,
            465,
            480,
            57344,
            61440,
            3.4e38,
        ]
        special += [np.finfo(dtype).tiny, -np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max]
        nans = np.array(
            [0x7F800001, 0xFFC00001, 0xFF812345]
            if dtype == np.float32
            else [0x7FF << 52 | 1, 0xFFF8 << 48 | 5, 0x7FF4 << 48],
            bits,
        )
        near = rng.standard_normal(2048) * 2.0 ** rng.integers(-150, 125, 2048)
        floats = np.concatenate([np.asarray(x, dtype) for x in (*edges, whole, special, near)])
        return np.concatenate([floats, random.view(dtype), nans.view(dtype)])
    if kind in ("f16", "bf16", "e4m3x2", "e5m2x2"):
        return np.arange(65536, dtype=np.uint16)
    if kind in ("f16x2", "bf16x2"):
        low = rng.permutation(np.arange(65536, dtype=np.uint32))
        return (low | rng.permutation(low) << np.uint32(16))[:16384]
    width = {"h": np.uint16, "r": np.uint32, "l": np.uint64}[_REGISTER[kind]]
    if width == np.uint16:
        return np.arange(65536, dtype=np.uint16)
    bits_of = 64 if width == np.uint64 else 32
    powers = [(2**p + d) % 2**bits_of for p in range(bits_of) for d in (-2, -1, 0, 1, 2)]
    random = [
        int(x) >> int(s)
        for x, s in zip(rng.integers(0, 2**64, 2048, dtype=np.uint64), rng.integers(0, 64, 2048), strict=True)
    ]
    return np.array([x % 2**bits_of for x in (*powers, *(-p for p in powers), *random)], dtype=width)


def _columns(kinds: Sequence[str]) -> list[Array]:
    """Values for several operands: each in an order of its own, of the same length."""
    rng = np.random.default_rng(5)
    if len(kinds) == 1:
        return [numbers(kinds[0])]
    return [rng.choice(numbers(kind), MANY) for kind in kinds]


# -- what is run -----------------------------------------------------------------------------------------------------


def _holds(kind: str, other: str) -> bool:
    """Whether an integer type has all numbers of another."""
    spare = int(kind[1:]) - int(other[1:])
    return spare > 0 if (kind[0], other[0]) == ("s", "u") else spare >= 0 and kind[0] == other[0]


def conversions() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Opcode, the type of the result, the types of the operands."""
    integers = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
    modes = ("rn", "rz", "rm", "rp")
    for a, d, mode in itertools.product(integers[2:], ("f16", "bf16", "f32", "f64"), modes):
        yield f"cvt.{mode}.{d}.{a}", d, (a,)
    for a, d, mode in itertools.product(
        ("f16", "bf16", "f32", "f64"), integers, ("rni", "rzi", "rmi", "rpi")
    ):
        if a != "bf16" or d not in ("u8", "s8"):  # ptxas takes no bytes
            yield f"cvt.{mode}.{d}.{a}", d, (a,)
    for a, d in itertools.product(integers[2:], integers):
        if not _holds(d, a):  # .sat is for those alone
            yield f"cvt.sat.{d}.{a}", d, (a,)
    yield from _between_floats(modes)
    for kind, end in itertools.product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        yield f"cvt.rn.satfinite{end}.{kind}.f32", kind, ("f32", "f32")
        yield f"cvt.rn.satfinite{end}.{kind}.f16x2", kind, ("f16x2",)
        yield f"cvt.rn{end}.f16x2.{kind}", "f16x2", (kind,)


def _between_floats(modes: Sequence[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for mode in modes:
        for end in ("", ".sat"):
            yield f"cvt.{mode}{end}.f16.f32", "f16", ("f32",)
            yield f"cvt.{mode}{end}.f16.f64", "f16", ("f64",)
            yield f"cvt.{mode}{end}.f32.f64", "f32", ("f64",)
        yield f"cvt.{mode}.ftz.f32.f64", "f32", ("f64",)
        yield f"cvt.{mode}.ftz.f16.f32", "f16", ("f32",)
    for mode, end in itertools.product(("rn", "rz"), ("", ".relu")):
        yield f"cvt.{mode}{end}.bf16.f32", "bf16", ("f32",)
        yield f"cvt.{mode}{end}.f16x2.f32", "f16x2", ("f32", "f32")
        yield f"cvt.{mode}{end}.bf16x2.f32", "bf16x2", ("f32", "f32")
    for mode in ("rni", "rzi", "rmi", "rpi"):
        for kind, end in (("f32", ""), ("f32", ".ftz"), ("f32", ".sat"), ("f64", ""), ("f16", "")):
            yield f"cvt.{mode}{end}.{kind}.{kind}", kind, (kind,)
    for a, d in (("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64")):
        yield f"cvt.{d}.{a}", d, (a,)
    yield "cvt.ftz.f64.f32", "f64", ("f32",)
    yield "cvt.ftz.sat.f32.f32", "f32", ("f32",)
    yield "cvt.rna.tf32.f32", "tf32", ("f32",)


def arithmetic() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Sums and products in every rounding, minima and maxima, and what a NaN becomes."""
    for mode, kind in itertools.product(("rn", "rz", "rm", "rp"), ("f32", "f64")):
        for end in ("", ".ftz", ".sat") if kind == "f32" else ("",):
            for name in ("add", "sub", "mul"):
                yield f"{name}.{mode}{end}.{kind}", kind, (kind, kind)
            yield f"fma.{mode}{end}.{kind}", kind, (kind,) * 3
        for name in ("rcp", "sqrt"):
            yield f"{name}.{mode}.{kind}", kind, (kind,)
        yield f"div.{mode}.{kind}", kind, (kind, kind)
    for name, kind in itertools.product(("add", "sub", "mul"), ("f16", "bf16", "f16x2", "bf16x2")):
        yield f"{name}.rn.{kind}" if kind[0] == "b" else f"{name}.{kind}", kind, (kind, kind)
    for kind, end in itertools.product(("f16", "bf16", "f16x2", "bf16x2"), ("", ".relu")):
        yield f"fma.rn{end}.{kind}", kind, (kind,) * 3
    for name, kind in itertools.product(("min", "max"), ("f32", "f64", "f16", "bf16", "f16x2", "bf16x2")):
        for end in ("",) if kind == "f64" else ("", ".NaN"):
            yield f"{name}{end}.{kind}", kind, (kind, kind)
    for name, kind in itertools.product(("neg", "abs"), ("f32", "f64", "f16", "bf16")):
        yield f"{name}.{kind}", kind, (kind,)
    yield "abs.ftz.f32", "f32", ("f32",)


_WIDE = {"u32": "r", "u64": "l"}


def carries() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Name, assembly, the type of the result, the types of the operands."""
    for kind in ("u32", "u64"):
        bits = f".reg .b{kind[1:]} x, y;"
        for first, then in itertools.product(("add", "sub", "mad"), ("addc", "subc")):
            head = {
                "add": f"add.cc.{kind} x, %1, %2;",
                "sub": f"sub.cc.{kind} x, %1, %2;",
                "mad": f"mad.lo.cc.{kind} x, %1, %2, %3;",
            }[first]
            yield (
                f"{first}.cc {then} {kind}",
                f"{{ {bits} {head} {then}.{kind} y, 0, 0; xor.b{kind[1:]} %0, x, y; }}",
                kind,
                (kind,) * 3,
            )
            yield (
                f"{first}.cc {then} of numbers {kind}",
                f"{{ {bits} {head} {then}.{kind} %0, %2, %3; }}",
                kind,
                (kind,) * 3,
            )
            yield (
                f"{first}.cc {then}.cc {then} {kind}",
                f"{{ {bits} {head} {then}.cc.{kind} x, %3, %1; {then}.{kind} y, 0, 0; xor.b{kind[1:]} %0, x, y; }}",
                kind,
                (kind,) * 3,
            )
        yield (
            f"mad.hi.cc madc.hi {kind}",
            f"{{ {bits} mad.lo.cc.{kind} x, %1, %2, %3; madc.hi.cc.{kind} y, %1, %2, %3; "
            f"addc.{kind} x, 0, 0; xor.b{kind[1:]} %0, x, y; }}",
            kind,
            (kind,) * 3,
        )


def _cases(items: Sequence[tuple[str, str, str, tuple[str, ...]]], first: int) -> Iterator[Case]:
    for number, (name, text, to, of) in enumerate(items, first):
        out, inputs = _REGISTER[to], "".join(_REGISTER[kind] for kind in of)
        columns = [x.view(_TYPES[k][1]) for x, k in zip(_columns(of), inputs, strict=True)]
        arrays = dict(zip("abc", columns, strict=False)) | {"out": np.zeros(columns[0].size, _TYPES[out][1])}
        arguments = ("out", *"abc"[: len(inputs)], np.int32(columns[0].size))
        source = _kernel(number, text, out, inputs)
        yield Case(name, f"k{number}", source, arguments, arrays, 256)


def _of(opcodes: Iterator[tuple[str, str, tuple[str, ...]]]) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """With the assembly of an opcode that has its operands in order."""
    return [
        (opcode, f"{opcode} %0, " + ", ".join(f"%{i + 1}" for i in range(len(of))) + ";", to, of)
        for opcode, to, of in opcodes
    ]


def group() -> Group:
    """Conversions, arithmetic, carries."""
    items = [*_of(conversions()), *_of(arithmetic()), *carries()]
    return Group("scalars", PRELUDE, tuple(_cases(items, 0)), a_module=40)

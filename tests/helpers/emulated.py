"""Running kernels under test: CUDA C++ or PTX on NumPy arrays, and single instructions on columns of operands.

A single instruction is tried in every form that the code generator treats differently: with operands that differ
from lane to lane, with operands that are the same in a whole warp (kept as scalars), under a guard that holds for
some lanes, and under a guard that holds for the whole warp or for nobody.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.emulator.machine.machine import Kernel, LaunchRecord, LoadedModule, Machine
from grader.emulator.nvrtc import compilation
from grader.emulator.places import Place

LANES = 32
THREADS = (1, 2, 16)
"""Of the host, on which what is found has to be the same."""

Array = np.ndarray[Any, np.dtype[Any]]
Shape = int | tuple[int, ...]

HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"


@dataclass(frozen=True)
class Ran:
    """A launch: the arrays as the kernel left them, in the order of the arguments, and the record."""

    arrays: tuple[Array, ...]
    record: LaunchRecord

    @property
    def counters(self) -> Mapping[str, int]:
        return self.record.counters

    @property
    def findings(self) -> list[str]:
        """The kinds of what was found."""
        return [finding.kind for finding in self.record.findings]


class Bench:
    """A machine with the handling that tests need: arguments in, arrays out, everything freed again."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def cuda(
        self, source: str, kernel: str, grid: Shape, block: Shape, *arguments: Any, **launch: Any
    ) -> Ran:
        """Compiles CUDA C++ (once) and launches one of its kernels, declared extern "C"."""
        return self.run(
            _loaded(self.machine, cuda_image(source)).kernels[kernel], grid, block, *arguments, **launch
        )

    def ptx(self, body: str, kernel: str, grid: Shape, block: Shape, *arguments: Any, **launch: Any) -> Ran:
        """Launches a kernel of a PTX text; the header is supplied."""
        return self.run(
            _loaded(self.machine, HEADER + body).kernels[kernel], grid, block, *arguments, **launch
        )

    def load(self, body: str) -> LoadedModule:
        return _loaded(self.machine, HEADER + body)

    def run(self, kernel: Kernel, grid: Shape, block: Shape, *arguments: Any, **launch: Any) -> Ran:
        """Arrays go to device memory and come back; NumPy scalars and Python's int and float go by value."""
        memory = self.machine.memory
        places = [memory.alloc(max(a.nbytes, 1)) if isinstance(a, np.ndarray) else None for a in arguments]
        try:
            for place, argument in zip(places, arguments, strict=True):
                if place is not None and argument.nbytes:
                    memory.write(place, np.ascontiguousarray(argument))
            values = [a if place is None else place for a, place in zip(arguments, places, strict=True)]
            record = self.machine.launch(kernel, _three(grid), _three(block), pack(values), **launch)
            back = tuple(
                memory.read(place, a.nbytes).view(a.dtype).reshape(a.shape)
                for place, a in zip(places, arguments, strict=True)
                if place is not None
            )
        finally:
            for place in places:
                if place is not None:
                    memory.free(place)
        return Ran(back, record)

    def clean(
        self, source: str, kernel: str, grid: Shape, block: Shape, *arguments: Any, **launch: Any
    ) -> Any:
        """The arrays of a launch of CUDA C++ that must complete and find nothing; one array by itself."""
        ran = self.cuda(source, kernel, grid, block, *arguments, **launch)
        assert ran.record.status == "completed"
        assert ran.record.findings == ()
        return ran.arrays[0] if len(ran.arrays) == 1 else ran.arrays


def marked(source: str) -> set[int]:
    """The lines that end with `//`."""
    return {number for number, line in enumerate(source.splitlines(), 1) if line.endswith("//")}


def touches(place: Place, lines: set[int]) -> bool:
    """Whether a place, or a call that led there, is in one of these lines."""
    return any(at.line in lines for at in place.stack())


def _three(shape: Shape) -> tuple[int, int, int]:
    sizes = (shape,) if isinstance(shape, int) else shape
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def pack(values: Iterable[Any]) -> bytes:
    """Arguments as the .param space holds them: Python ints are 64 bits wide (pointers), floats are singles."""
    data = bytearray()
    for value in values:
        if isinstance(value, np.generic):
            item, align = value.tobytes(), value.dtype.alignment
        else:
            item = struct.pack("<f" if isinstance(value, float) else "<q", value)
            align = len(item)
        data += b"\0" * (-len(data) % align) + item
    return bytes(data)


@functools.cache
def cuda_image(source: str) -> bytes:
    return compilation.build(source).image("emulator")


@functools.lru_cache(maxsize=64)
def _loaded(machine: Machine, image: bytes | str) -> LoadedModule:
    return machine.load(image)


# -- single instructions --------------------------------------------------------------------------------------------

_LETTERS = "abcef"
_SENTINEL = 0x5A5A5A5A5A5A5A5A


def _register(dtype: np.dtype[Any]) -> str:
    if dtype == np.bool_:
        return "pred"
    bits = max(dtype.itemsize * 8, 16)
    return f"f{bits}" if dtype.kind == "f" and bits > 16 else f"b{bits}"


def _memory(dtype: np.dtype[Any]) -> str:
    return f"u{dtype.itemsize * 8}"


def _operands(inputs: Sequence[Array], outputs: Sequence[np.dtype[Any]]) -> str:
    """The registers of a section: each has its own, so that what varies in one does not vary in the others."""
    lines = [f".reg .{_register(a.dtype)} %{letter};" for letter, a in zip(_LETTERS, inputs, strict=False)]
    lines += [f".reg .{_register(dtype)} %{name};" for name, dtype in zip(("d", "q"), outputs, strict=False)]
    return "\n".join(
        [*lines, ".reg .pred %guard, %p<4>; .reg .b16 %small; .reg .b32 %t, %x<4>; .reg .b64 %at, %y<4>;"]
    )


def _load(number: int, letter: str, dtype: np.dtype[Any]) -> str:
    size = dtype.itemsize
    where = f"mul.wide.u32 %at, %i, {size}; add.s64 %at, %in{number}, %at;"
    if dtype == np.bool_:
        return f"{where} ld.global.u8 %small, [%at]; setp.ne.u16 %{letter}, %small, 0;"
    return f"{where} ld.global.{_memory(dtype)} %{letter}, [%at];"


def _store(number: int, name: str, dtype: np.dtype[Any], section: int) -> str:
    """To element `section` · n + i of output `number`, n being 32 a block."""
    size = dtype.itemsize
    where = (
        f"mov.u32 %t, %nctaid.x; mul.lo.u32 %t, %t, {section * LANES}; add.u32 %t, %t, %i; "
        f"mul.wide.u32 %at, %t, {size}; add.s64 %at, %out{number}, %at;"
    )
    if dtype == np.bool_:
        return f"{where} selp.b16 %small, 1, 0, %{name}; st.global.u8 [%at], %small;"
    return f"{where} st.global.{_memory(dtype)} [%at], %{name};"


def _preset(name: str, dtype: np.dtype[Any]) -> str:
    if dtype == np.bool_:
        return f"setp.eq.u32 %{name}, 0, 1;"
    bits = max(dtype.itemsize, 2) * 8
    return f"mov.b{bits} %{name}, {_SENTINEL % (1 << bits)};"


def _kernel(instruction: str, inputs: Sequence[Array], outputs: Sequence[np.dtype[Any]]) -> str:
    """The instruction in four sections: lane by lane; guarded by odd lanes; uniform; uniform under a guard."""
    names = list(zip(("d", "q"), outputs, strict=False))
    presets = "\n".join(_preset(*one) for one in names)

    def stores(section: int) -> str:
        return "\n".join(_store(i, *one, section) for i, one in enumerate(names))

    loads = "\n".join(
        [
            _operands(inputs, outputs),
            *(_load(i, letter, a.dtype) for i, (letter, a) in enumerate(zip(_LETTERS, inputs, strict=False))),
        ]
    )
    places = [f"in{i}" for i in range(len(inputs))] + [f"out{i}" for i in range(len(outputs))]
    params = ", ".join(f".param .u64 {place}" for place in places)
    takes = "\n".join(f".reg .b64 %{place}; ld.param.u64 %{place}, [{place}];" for place in places)
    return f"""
.visible .entry apply({params})
{{
.reg .pred %more; .reg .b32 %i, %k, %lane, %start;
{takes}
mov.u32 %start, %ctaid.x; shl.b32 %start, %start, 5; mov.u32 %lane, %tid.x;
{{ .reg .b32 %i; add.u32 %i, %start, %lane;
{loads} {instruction} {stores(0)} }}
{{ .reg .b32 %i; add.u32 %i, %start, %lane;
{loads} {presets}
and.b32 %t, %lane, 1; setp.eq.u32 %guard, %t, 1;
{_under("@%guard", instruction)} {stores(1)} }}
mov.u32 %k, 0;
again:
add.u32 %i, %start, %k;
{{ {loads} {instruction} {stores(2)} }}
{{ {loads} {presets}
and.b32 %t, %k, 1; setp.eq.u32 %guard, %t, 1;
{_under("@!%guard", instruction)} {stores(3)} }}
add.u32 %k, %k, 1;
setp.lt.u32 %more, %k, {LANES};
@%more bra again;
ret;
}}
"""


def _under(guard: str, instructions: str) -> str:
    return " ".join(f"{guard} {one};" for one in instructions.split(";") if one.strip())


def _padded(column: Any) -> Array:
    array = np.asarray(column)
    return np.resize(array, -(-len(array) // LANES) * LANES)


def apply(bench: Bench, instruction: str, *columns: Any, out: Any) -> list[Array]:
    """The results of an instruction on columns of operands, in each of its four forms: arrays of shape (4, cases).

    Operands are the registers %a, %b, %c, %e and %f, of the columns' types; the result is %d, a second one %q.
    `out` is the dtype of the result (a pair for two). Several instructions may be given: each is guarded; they may
    use %x0 … %x3 (32 bits), %y0 … (64 bits) and %p0 … (predicates) in between.
    """
    inputs = [_padded(column) for column in columns]
    outputs = [np.dtype(o) for o in (out if isinstance(out, tuple) else (out,))]
    count = len(inputs[0])
    results = [np.zeros((4, count), dtype) for dtype in outputs]
    body = _kernel(instruction, inputs, outputs)
    ran = bench.ptx(body, "apply", count // LANES, LANES, *inputs, *results)
    assert ran.findings == []
    return [a[:, : len(columns[0])] for a in ran.arrays[len(inputs) :]]


def check(bench: Bench, instruction: str, *columns: Any, expected: Any) -> None:
    """The instruction gives `expected` (an array, or two for two results) in all its forms.

    NaN equals NaN, whatever its bits; apart from that floats are compared by their bits.
    """
    wanted = [np.asarray(e) for e in (expected if isinstance(expected, tuple) else (expected,))]
    got = apply(bench, instruction, *columns, out=tuple(w.dtype for w in wanted))
    odd = np.arange(len(columns[0])) % 2 == 1
    everywhere = np.ones_like(odd)
    forms = [
        ("lane by lane", everywhere),
        ("guarded lanes", odd),
        ("uniform", everywhere),
        ("guarded uniform", ~odd),
    ]
    for want, have in zip(wanted, got, strict=True):
        for (form, holds), row in zip(forms, have, strict=True):
            _compare(f"{instruction} ({form})", columns, np.where(holds, want, sentinel(want.dtype)), row)


def sentinel(dtype: np.dtype[Any]) -> Any:
    """What a register holds before a guarded instruction."""
    if dtype == np.bool_:
        return np.bool_(False)
    return np.array([_SENTINEL], np.uint64).view(dtype)[0]


def _compare(what: str, columns: Sequence[Any], want: Array, have: Array) -> None:
    unequal = want.view(f"u{want.itemsize}") != have.view(f"u{have.itemsize}")
    if want.dtype.kind == "f":
        unequal &= ~(np.isnan(want) & np.isnan(have))
    wrong = np.flatnonzero(unequal)
    cases = [
        f"{[_shown(c[i]) for c in columns]} gave {_shown(have[i])}, expected {_shown(want[i])}"
        for i in wrong[:5]
    ]
    assert not wrong.size, f"{what}: {wrong.size} of {len(want)} cases wrong:\n" + "\n".join(cases)


def _shown(value: Any) -> str:
    return f"{value!r} ({int(np.asarray(value).view(f'u{value.itemsize}')):#x})"


# -- operands -------------------------------------------------------------------------------------------------------


def integers(kind: str, extra: Sequence[int] = ()) -> Array:
    """Edge cases of an integer type such as "u32", then random values of every length."""
    bits, dtype = int(kind[1:]), np.dtype(f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}")
    top = 1 << bits
    edges = [
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        33,
        63,
        64,
        65,
        255,
        256,
        top - 1,
        top - 2,
        top >> 1,
        (top >> 1) - 1,
        (top >> 1) + 1,
    ]
    rng = np.random.default_rng(bits)
    random = [int(rng.integers(0, 1 << 63)) * 2 % top >> int(shift) for shift in rng.integers(0, bits, 24)]
    values = np.array([v % top for v in [*edges, *extra, *random]], np.uint64)
    return values.astype(f"u{bits // 8}").view(dtype)


def floats(dtype: Any = np.float32) -> Array:
    """Zeros, ones, halves, infinities, NaN, subnormals, the largest and smallest, and random values."""
    kind = np.finfo(dtype)
    edges = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 1 + kind.eps, 1 - kind.epsneg, kind.max, kind.tiny, kind.smallest_subnormal,
             kind.tiny - kind.smallest_subnormal, kind.tiny * 1.5, 1e-3, 100.25, np.inf, np.nan]  # fmt: skip
    rng = np.random.default_rng(kind.bits)
    random = rng.standard_normal(12) * np.exp2(rng.uniform(-kind.maxexp / 3, kind.maxexp / 3, 12))
    positive = np.array([*edges, *random]).astype(dtype)
    return np.concatenate([positive, -positive])


def pairs(first: Array, second: Array | None = None) -> tuple[Array, Array]:
    """Every value with every other."""
    second = first if second is None else second
    return np.repeat(first, len(second)), np.tile(second, len(first))


def triples(*columns: Array, count: int = 2048) -> tuple[Array, ...]:
    """Values picked at random from each column."""
    rng = np.random.default_rng(len(columns))
    return tuple(rng.choice(column, count) for column in columns)


def exact(function: Any, *columns: Array, dtype: Any) -> Array:
    """`function` of Python integers, case by case; the result is taken modulo the width of `dtype`."""
    kind = np.dtype(dtype)
    top = 1 << (8 * kind.itemsize)
    values = [function(*case) % top for case in zip(*(c.tolist() for c in columns), strict=True)]
    return np.array(values, np.uint64).astype(f"u{kind.itemsize}").view(kind)

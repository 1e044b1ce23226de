"""Holds the rule of register_banks.py against an H200 or H100: FFMAs alone, with registers of chosen banks.

    python benchmarks/register_probe.py

A loop of FFMAs is compiled once, its registers are exchanged in the machine code, and each pattern is timed. Without
such a GPU it shows what the rule says alone.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from listings import disassembled
from register_banks import ARCH, busiest, count

from grader import cuda
from grader.analysis.devices import board
from grader.cuda import Cuda
from grader.workbook import compiler

ROUNDS, LAUNCHES, THREADS = 20_000, 3, 256

PROBE = """
extern "C" __global__ void __launch_bounds__(256) probe(float* out, int rounds)
{
    float d[96], a[8], b[8];
    for (int i = 0; i < 96; ++i) d[i] = out[i + threadIdx.x * 128];
    for (int i = 0; i < 8; ++i) { a[i] = out[i + 64 + threadIdx.x]; b[i] = out[i + 80 + threadIdx.x]; }
    #pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
        #pragma unroll
        for (int n = 0; n < 3; ++n)
            #pragma unroll
            for (int i = 0; i < 96; ++i) d[i] = fmaf(a[(i / 8 + n) % 8], b[(i + n) % 8], d[i]);
    }
    float s = 0.0f;
    for (int i = 0; i < 96; ++i) s += d[i];
    for (int i = 0; i < 8; ++i) s += a[i] + b[i];
    out[blockIdx.x * blockDim.x + threadIdx.x + 128] = s;
}
"""

SUM, FACTOR_A, FACTOR_B, KEPT_A, KEPT_B = 16, 24, 32, 58, 59
"""Bits of an FFMA of compute capability 9.0: registers in its first word, reuse flags in its second."""
FFMA, OPCODE = 0x223, 0xFFF
NEXT_CLOCK = 0x000FE200 << 32
"""What the scheduler is told: start the next instruction in the next clock, and wait for nothing."""


@dataclass(frozen=True)
class Registers:
    """The probe's: sums whose numbers are even and odd by turns, and factors of both banks."""

    sums: list[int]
    even: list[int]
    odd: list[int]

    def factor(self, of_odd: int, number: int) -> int:
        """A factor of a bank."""
        return (self.odd if of_odd % 2 else self.even)[number]


Pattern = Callable[[int, Registers], tuple[int, int, int, bool, bool]]
"""Of the i-th FFMA: the sum, both factors, and which of the factors are kept for the next."""

PATTERNS: dict[str, Pattern] = {
    "both factors kept": lambda i, r: (r.sums[i], r.even[0], r.odd[0], True, True),
    "one kept, other banks": lambda i, r: (r.sums[i], r.even[0], r.factor(r.sums[i] + 1, 1), True, False),
    "one kept, same bank": lambda i, r: (r.sums[i], r.even[0], r.factor(r.sums[i], 1), True, False),
    "one new in sixteen": lambda i, r: (
        r.sums[i], r.factor(i // 16, i // 32 % 2), r.factor(r.sums[i] + 1, 2), i % 16 < 15, False,
    ),
    "one new in eight": lambda i, r: (
        r.sums[i], r.factor(i // 8, i // 16 % 2), r.factor(r.sums[i] + 1, 2), i % 8 < 7, False,
    ),
    "none kept": lambda i, r: (r.sums[i], r.even[0], r.odd[0], False, False),
    "none kept, one bank": lambda i, r: (r.sums[i] // 2 * 2, r.even[0], r.even[1], False, False),
}  # fmt: skip


def patched(cubin: bytes, pattern: Pattern) -> bytes:
    """The probe's cubin with the registers of its FFMAs exchanged."""
    loop = [item for item in busiest(disassembled(cubin)) if item.ffma]
    numbers = [[int(number) for number in re.findall(r"\bR(\d+)", item.text)] for item in loop]
    sums = sorted({found[0] for found in numbers})
    factors = sorted({number for found in numbers for number in found[1:3]})
    pairs = zip(*([number for number in sums if number % 2 == bank] for bank in (0, 1)), strict=False)
    turns = [number for pair in pairs for number in pair]
    even, odd = ([number for number in factors if number % 2 == bank] for bank in (0, 1))
    registers = Registers([turns[i % len(turns)] for i in range(len(loop))], even, odd)
    changed, start = bytearray(cubin), text_offset(cubin)
    for i, item in enumerate(loop):
        total, a, b, keep_a, keep_b = pattern(i, registers)
        first, _ = struct.unpack_from("<QQ", cubin, start + item.place)
        assert first & OPCODE == FFMA, f"{item.text} is no FFMA of registers"
        first = first & ~(0xFFFFFF << SUM) | total << SUM | a << FACTOR_A | b << FACTOR_B
        second = total | NEXT_CLOCK | keep_a << KEPT_A | keep_b << KEPT_B
        struct.pack_into("<QQ", changed, start + item.place, first, second)
    return bytes(changed)


def text_offset(cubin: bytes) -> int:
    """Where in an ELF file of 64 bits the machine code of the kernel `probe` begins."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, sections, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQ", cubin, table + i * size) for i in range(sections)]
    for name, _, _, _, offset in headers:
        at = headers[names][4] + name
        if cubin[at : cubin.index(0, at)] == b".text.probe":
            return int(offset)
    raise ValueError("the cubin has no kernel `probe`")


def timed(device: Cuda, cubin: bytes, sms: int) -> float:
    """FFMAs of a warp that a scheduler starts a second, with two warps each, of the quickest launch."""
    out = device.driver.mem_alloc(64 << 20)
    device.driver.memset_d8(out, 0, 64 << 20)
    run = device.driver.module_from_buffer(cubin).get_function("probe")
    seconds: list[float] = []
    for _ in range(LAUNCHES):
        start, end = device.driver.Event(), device.driver.Event()
        start.record()
        run(out, np.int32(ROUNDS), block=(THREADS, 1, 1), grid=(sms, 1))
        end.record()
        end.synchronize()
        seconds.append(1e-3 * start.time_till(end))
    out.free()
    ffmas = count(busiest(disassembled(cubin))).ffmas * ROUNDS
    return float(ffmas * THREADS / 32 / 4 / min(seconds))


def main() -> None:
    cubin = compiler.compile_source(PROBE, file=Path("probe.cu"), kernels=["probe"], arch=ARCH).cubin
    device = None if cuda.gpu_problem() else cuda.select("pycuda")
    if device is None or not device.arch.startswith("sm_90"):
        print("No GPU of compute capability 9.0: only what the rule says.")
        device = None
    print(f"{'FFMAs in % of clocks':26} {'rule':>8}" + ("" if device is None else f" {'measured':>8}"))
    for name, pattern in PATTERNS.items():
        image = patched(cubin, pattern)
        said = f"{name:26} {100 * count(busiest(disassembled(image))).rate:7.1f} "
        if device is not None:
            spec = board(device.name, device.arch)
            said += f" {100 * timed(device, image, spec.sms) / spec.clock_hz:7.1f}"
        print(said, flush=True)


if __name__ == "__main__":
    main()

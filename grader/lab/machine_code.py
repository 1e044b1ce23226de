"""What ptxas made of a kernel: the instructions in a cubin, counted.

A cubin is an ELF file with one section of code a kernel. From Volta on an instruction has 16 bytes, and the lowest nine
bits of it name the operation. NVIDIA documents neither; the numbers below were found by compiling kernels whose only
operation is the one in question, which is also how tests check them.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass

INSTRUCTION = 16  # bytes
OPERATIONS = {
    0x020: "FMUL",
    0x021: "FADD",
    0x023: "FFMA",
    0x118: "NOP",
    0x11D: "BAR",
    0x147: "BRA",
    0x14D: "EXIT",
    0x181: "LDG",
    0x184: "LDS",
    0x186: "STG",
    0x188: "STS",
}
OTHER = "other"

_SECTION_TABLE, _SECTION_SIZES, _FLAGS = 0x28, 0x3A, 0x30  # offsets in the ELF header
_CODE = ".text."


@dataclass(frozen=True)
class MachineCode:
    """The machine code of a cubin."""

    arch: str  # of the GPUs that can run it, such as "sm_90"
    kernels: dict[
        str, Counter[str]
    ]  # by symbol: how often each operation stands there; padding is not counted


def machine_code(cubin: bytes) -> MachineCode:
    """The instructions of each kernel of a cubin. Raises ValueError for bytes that are no cubin."""
    if not cubin.startswith(b"\x7fELF"):
        raise ValueError("this is no cubin: it does not begin as an ELF file does")
    (flags,) = struct.unpack_from("<I", cubin, _FLAGS)
    return MachineCode(
        f"sm_{flags >> 8 & 0xFF}", {name: _operations(code) for name, code in _sections(cubin)}
    )


def _sections(cubin: bytes) -> list[tuple[str, bytes]]:
    """The code of each kernel."""
    (table,) = struct.unpack_from("<Q", cubin, _SECTION_TABLE)
    size, count, names = struct.unpack_from("<3H", cubin, _SECTION_SIZES)
    heads = [struct.unpack_from("<IIQQQQ", cubin, table + size * number) for number in range(count)]
    found = []
    for name_at, _, _, _, offset, nbytes in heads:
        start = heads[names][4] + name_at
        name = cubin[start : cubin.index(b"\0", start)].decode()
        if name.startswith(_CODE):
            found.append((name.removeprefix(_CODE), cubin[offset : offset + nbytes]))
    return found


def _operations(code: bytes) -> Counter[str]:
    numbers = (
        struct.unpack_from("<H", code, at)[0] & 0x1FF
        for at in range(0, len(code) - INSTRUCTION + 1, INSTRUCTION)
    )
    found = Counter(OPERATIONS.get(number, OTHER) for number in numbers)
    del found["NOP"]
    return found

"""Probes of Tensor Memory: columns, lanes, registers and bytes.

Source: PTX ISA, "TensorCore 5th Generation Family Instructions": 128 lanes and 512 columns of 32 bits, allocated by
powers of two from 32 columns.
"""

COLUMNS, LEAST = 512, 32
LANES_A_WARP = 32
GROUP = 128  # threads of a warpgroup
HALF = 2  # bytes of an FP16 element


def registers_freed(m: int, n: int, groups: int) -> float:
    """FP32 values of a tile over the threads of its warpgroups."""
    return m * n / (groups * GROUP)


def accumulators_at_a_time(n: int, scales: int) -> dict[str, int]:
    """Allocations of n columns, rounded up to a power of two, that fit beside the scale factors."""
    columns = max(LEAST, 1 << (n - 1).bit_length())
    return {"answer": (COLUMNS - scales) // columns, "columns": columns}


def who_reads_a_row(base: int, row: int) -> dict[str, int]:
    """The warp whose quarter of the lanes has the row."""
    place = row // LANES_A_WARP
    first = place * LANES_A_WARP
    return {"answer": base + place, "place": place, "first": first, "last": first + LANES_A_WARP - 1}


def bytes_of_b(n: int, k: int) -> dict[str, float]:
    """Half of a step of B, in KiB."""
    whole = n * k * HALF / 1024
    return {"answer": whole / 2, "whole": whole}

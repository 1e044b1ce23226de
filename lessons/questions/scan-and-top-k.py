"""Scans and selections by hand.

Sources: Merrill and Garland, 2016 (look-back, traffic); Zhang et al., 2023 (radix select).
"""

import struct
from itertools import accumulate

SIGN, ALL = 0x80000000, 0xFFFFFFFF


def after_steps(value: int, steps: int, lane: int) -> dict[str, float]:
    """Each step doubles the lanes that are summed."""
    span = 2**steps
    return {"answer": value * min(span, lane + 1), "span": span}


def scan_ms(millions: int, bandwidth: int, how: str) -> dict[str, float]:
    """Values moved: 3·n, 2·n, or 4·n."""
    times = 2 if "single" in how else 4 if "addition" in how else 3
    mb = times * 4 * millions
    return {"answer": mb / bandwidth, "times": times, "mb": mb}


def look_back(tile: int, prefix: int) -> dict[str, float]:
    """Aggregates down to the first published prefix."""
    aggregates = tile - 1 - prefix
    return {"answer": aggregates + 1, "aggregates": aggregates}


def place(values: str, kept: str, value: int) -> dict[str, float | str]:
    """The exclusive scan of the flags, where the value stands."""
    numbers = [int(part) for part in values.split(", ")]
    if kept.startswith("odd"):
        flags = [int(number % 2 == 1 or number == 6) for number in numbers]
    else:
        flags = [int(number > int(kept.split()[-1])) for number in numbers]
    scan = [0, *accumulate(flags)][:-1]
    return {
        "answer": scan[numbers.index(value)],
        "flags": ", ".join(map(str, flags)),
        "scan": ", ".join(map(str, scan)),
    }


def which_bin(k: int, counts: str) -> dict[str, float]:
    """From the highest bin down to that with the k-th value."""
    bins = [int(part) for part in counts.split(", ")]
    above = 0
    for index in reversed(range(len(bins))):
        if above + bins[index] >= k:
            break
        above += bins[index]
    return {"answer": bins[index], "bin": index, "above": above}


def key_of(bits: str) -> dict[str, str]:
    """Bits of a float as an integer that sorts alike."""
    raw = int(bits, 16)
    value = struct.unpack(">f", raw.to_bytes(4, "big"))[0]
    key = raw ^ (ALL if raw & SIGN else SIGN)
    rule = "all bits are flipped" if raw & SIGN else "the sign bit is flipped"
    return {"answer": f"0x{key:08X}", "value": str(value), "rule": rule}

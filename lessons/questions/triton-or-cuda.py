"""Probes of triton-or-cuda: tiles, stages and variants, by Triton's documentation."""

import re

SIZES = {"FP32": 4, "FP16": 2}
WARP = 32
SHARED_KIB = 227  # of a block of an H100, as the probe says


def elements_a_thread(rows: int, columns: int, type: str, warps: int) -> dict[str, float]:
    """Registers of 4 bytes that a tile takes in each thread."""
    each = rows * columns // (warps * WARP)
    return {"answer": each * SIZES[type] // 4, "each": each, "size": SIZES[type]}


def most_stages(m: int, n: int, k: int) -> dict[str, float]:
    """Stages of two tiles in FP16 that fit in shared memory."""
    kib = (m + n) * k * 2 / 1024
    return {"answer": int(SHARED_KIB // kib), "kib": kib}


def idle_percent(columns: int) -> dict[str, float]:
    """Elements of the next power of two that a row does not use."""
    tile = 1 << (columns - 1).bit_length()
    return {"answer": 100 * (tile - columns) / tile, "tile": tile, "idle": tile - columns}


def gain_of_rewrite(share: int, reached: int, better: int) -> float:
    """What Amdahl's law leaves of a faster kernel, in per cent of the whole."""
    return share * (1 - reached / better)


def variants(calls: str) -> dict[str, float | str]:
    """Compilations: one for each constant and each kind of integer."""
    pairs = [(int(n), int(block)) for n, block in re.findall(r"\((\d+), (\d+)\)", calls)]
    kinds = {(block, _kind(n)) for n, block in pairs}
    shown = "; ".join(f"{block} with {kind}" for block, kind in sorted(kinds))
    return {"answer": len(kinds), "kinds": shown}


def _kind(n: int) -> str:
    if n == 1:
        return "n equal to 1"
    return "n divisible by 16" if n % 16 == 0 else "any other n"

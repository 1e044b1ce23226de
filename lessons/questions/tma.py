"""Probes of tma: what fits a tensor map, and where its bytes go.

Source of the limits: cuda.h of CUDA 13.0, `cuTensorMapEncodeTiled`; of the swizzle: PTX ISA, "Tensor swizzling modes".
"""

import math

PIECE = 16  # bytes: of one cp.async, of strides, and of what is swizzled
MOST = 256  # elements of a box in a dimension
WARP = 32
SIZES = {"FP8": 1, "FP16": 2, "FP32": 4}
SWIZZLES = {"in the 128-byte swizzle": 128, "in the 64-byte swizzle": 64, "without a swizzle": None}


def warp_instructions(rows: int, columns: int, bytes: int) -> dict[str, float]:
    """Instructions of a warp that copy a tile, 16 bytes a lane."""
    total = rows * columns * bytes
    return {"answer": total // (WARP * PIECE), "total": total}


def least_pitch(columns: int, type: str) -> dict[str, float]:
    """Elements from row to row: the stride is a multiple of 16 bytes."""
    step = PIECE // SIZES[type]
    return {"answer": math.ceil(columns / step) * step, "step": step}


def copies_of_a_tile(rows: int, columns: int, type: str, swizzle: str) -> dict[str, float]:
    """Boxes that cover a tile: at most 256 elements a dimension, and no wider than the swizzle."""
    span = SWIZZLES[swizzle]
    wide = MOST if span is None else min(MOST, span // SIZES[type])
    across, down = math.ceil(columns / wide), math.ceil(rows / MOST)
    return {"answer": across * down, "wide": wide, "across": across, "down": down}


def swizzled_offset(column: int, row: int) -> dict[str, float]:
    """Byte offset of an element of a box with rows of 128 bytes: piece XOR (row mod 8)."""
    at = column * SIZES["FP16"]
    piece, rest, low = at // PIECE, at % PIECE, row % 8
    place = piece ^ low
    start = 128 * row
    return {
        "answer": start + PIECE * place + rest,
        "start": start,
        "piece": piece,
        "low": low,
        "place": place,
        "rest": rest,
    }


def edge_bytes(rows: int, columns: int, top: int, left: int, what: str) -> dict[str, float]:
    """Bytes of a box of 64 × 64 halves inside a matrix, or in all."""
    down, across = min(64, rows - top), min(64, columns - left)
    inside = 2 * down * across
    answer = inside if "loaded" in what else 2 * 64 * 64
    return {"answer": answer, "down": down, "across": across, "inside": inside}


def bytes_from_l2(height: int, width: int) -> dict[str, float]:
    """GB of both operands that leave L2, where rows and columns of a cluster share."""
    size, tile = 8192, 128
    tiles = (size // tile) ** 2
    each = tile * size * 2 / 1e9
    a, b = tiles * each / width, tiles * each / height
    return {"answer": a + b, "tiles": tiles, "a": a, "b": b, "plain": 2 * tiles * each}

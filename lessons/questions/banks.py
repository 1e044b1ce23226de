"""Probes of banks: wavefronts and banks of shared memory, by grader.analysis.access and counted on our kernels."""

from collections.abc import Callable

from grader.analysis.access import BANKS, LANES, WORD, shared_access
from grader.interview.counted import counted

HALF = 2  # bytes
MATRIX_ROWS = 8
MATRIX_ROW_BYTES = 16

SIZES = {"float": 4, "half": 2, "unsigned char": 1}  # bytes

WORDS: dict[str, Callable[[int], int]] = {
    "16 · i": lambda i: 16 * i,
    "4 · i": lambda i: 4 * i,
    "33 · i": lambda i: 33 * i,
    "96 · i": lambda i: 96 * i,
    "8 · i + 5": lambda i: 8 * i + 5,
    "i + 32 · (i mod 2)": lambda i: i + 32 * (i % 2),
    "32 · (i mod 4) + ⌊i / 4⌋": lambda i: 32 * (i % 4) + i // 4,
    "64 · (i mod 8) + i": lambda i: 64 * (i % 8) + i,
    "2 · i + ⌊i / 16⌋": lambda i: 2 * i + i // 16,
}

TILES = {
    "rows of 32 floats": (
        "02_shared_tile",
        "A column is in one bank, so a load of its 32 words takes 32 wavefronts, 31 more than one",
    ),
    "rows of 33 floats": (
        "03_padded_tile",
        "The words of a column are 33 words apart, so they are in 32 different banks",
    ),
    "rows of 32 floats, with element x of row y at position x XOR y": (
        "04_swizzled_tile",
        "All words of a column have the same x, and their 32 values of y give 32 different banks",
    ),
}


def bank_of(type: str, pitch: int, row: int, column: int) -> dict[str, float]:
    """The bank of an element: CUDA C++ Programming Guide, "Shared Memory": successive words, successive banks."""
    size = SIZES[type]
    address = (row * pitch + column) * size
    return {"answer": address // WORD % BANKS, "size": size, "address": address, "word": address // WORD}


def lane_words(word: str) -> dict[str, float]:
    """Wavefronts of a read of these words."""
    return _read([WORDS[word](lane) for lane in range(LANES)])


def shared_words(stride: int, group: int) -> dict[str, float]:
    """Wavefronts where `group` neighbouring lanes each read one word."""
    return _read([stride * (lane // group) for lane in range(LANES)])


def column_wavefronts(pitch: int, step: int) -> dict[str, float]:
    """Wavefronts of a read of every `step`-th row of a column, in rows of `pitch` floats.

    CUDA C++ Programming Guide, "Shared Memory": successive 32-bit words lie in successive banks.
    """
    words = pitch * step
    access = shared_access([WORD * (words * lane + 3) for lane in range(LANES)])
    return {"answer": len(access.wavefronts), "words": words}


def wide_wavefronts(bytes: int, stride: int) -> dict[str, float]:
    """Wavefronts of a load of `bytes` a lane, elements `stride` apart; a wavefront carries 128 bytes."""
    access = shared_access([stride * bytes * lane for lane in range(LANES)], bytes)
    return {
        "answer": len(access.wavefronts),
        "lanes": LANES // access.groups,
        "groups": access.groups,
        "each": len(access.wavefronts) / access.groups,
        "conflicts": access.conflicts,
    }


def ldmatrix_wavefronts(pitch: int) -> dict[str, float]:
    """Wavefronts of the eight 16-byte rows of one matrix, `pitch` halves apart (PTX ISA, ldmatrix)."""
    return {"answer": _matrix(pitch), "bytes": HALF * pitch, "words": HALF * pitch // WORD}


def least_padding(columns: int) -> dict[str, float]:
    """Halves to add to a row so that `ldmatrix` has no conflicts; rows stay at multiples of 16 bytes."""
    step = MATRIX_ROW_BYTES // HALF
    pitch = next(pitch for pitch in range(columns, columns + 16 * step, step) if _matrix(pitch) == 1)
    return {"answer": pitch - columns, "pitch": pitch}


def swizzled_bank(x: int, y: int) -> int:
    """The bank of element (y, x) of a tile with rows of 32 floats, kept at place x XOR y."""
    return (y * BANKS + (x ^ y)) % BANKS


def tile_conflicts(tile: str) -> dict[str, float | str]:
    """Conflicts over loads from the tile, counted on a rung of the transpose ladder."""
    rung, why = TILES[tile]
    counts = counted("transpose", rung)
    conflicts = counts["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"]
    return {"answer": conflicts / counts["smsp__sass_inst_executed_op_shared_ld.sum"], "why": why}


def _read(words: list[int]) -> dict[str, float]:
    access = shared_access([WORD * word for word in words])
    return {"answer": len(access.wavefronts), "distinct": len(set(words))}


def _matrix(pitch: int) -> int:
    """Wavefronts of eight rows of 16 bytes, `pitch` halves apart."""
    rows = [HALF * pitch * row for row in range(MATRIX_ROWS)]
    return len(shared_access(rows, MATRIX_ROW_BYTES).wavefronts)

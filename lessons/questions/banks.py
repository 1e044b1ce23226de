"""Numbers of hpc-14: wavefronts and banks of shared memory, by grader.analysis.access."""

from grader.analysis.access import BANKS, LANES, WORD, shared_access

HALF = 2  # bytes
MATRIX_ROWS = 8
MATRIX_ROW_BYTES = 16


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
    rows = [HALF * pitch * row for row in range(MATRIX_ROWS)]
    access = shared_access(rows, MATRIX_ROW_BYTES)
    return {"answer": len(access.wavefronts), "bytes": HALF * pitch, "words": HALF * pitch // WORD}


def swizzled_bank(x: int, y: int) -> int:
    """The bank of element (y, x) of a tile with rows of 32 floats, kept at place x XOR y."""
    return (y * BANKS + (x ^ y)) % BANKS

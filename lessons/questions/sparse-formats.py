"""What sparse formats store, and what their bytes allow.

Source of the formats: Bell and Garland, SC09; cuSPARSE storage formats; of 2:4: Mishra and others, 2021.
"""

import math

from grader.analysis.access import LANES, global_access

WORD = 4  # bytes of a value, and of an index
MEGA = 1e6
FORMATS = {  # by a word of the matrix
    "stencil": ("DIA", "it stores five full diagonals, and no column indices"),
    "28 to 32": ("ELL", "there is hardly any padding, and with a thread for each row reads are coalesced"),
    "web graph": (
        "CSR",
        "padding to the longest row would waste too much memory, and there are no blocks or diagonals",
    ),
    "blocks": ("BSR", "it stores one index for 64 values"),
    "added": ("COO", "an entry is appended without moving others"),
}


def storage(rows: int, mean: int, longest: int, format: str) -> dict[str, float | str]:
    """Megabytes of a matrix of rows · mean non-zeros."""
    nonzeros = rows * mean
    total, sum_of = {
        "COO": (3 * WORD * nonzeros, f"12 bytes for each of {nonzeros:,} non-zeros"),
        "CSR": (
            2 * WORD * nonzeros + WORD * (rows + 1),
            f"8 bytes for each of {nonzeros:,} non-zeros and 4 for each of {rows + 1:,} offsets",
        ),
        "ELL": (2 * WORD * rows * longest, f"8 bytes for each of {longest} slots in each of {rows:,} rows"),
    }[format]
    return {"answer": total / MEGA, "sum": sum_of, "least": WORD * nonzeros / MEGA}


def bsr_bytes(side: int, fill: int) -> dict[str, float]:
    """Bytes of values and indices for each non-zero of a partly filled block."""
    values, nonzeros = WORD * side**2, side**2 * fill / 100
    return {"answer": (values + WORD) / nonzeros, "values": values, "nonzeros": nonzeros}


def format_for(matrix: str) -> dict[str, str]:
    """The format of that structure."""
    answer, why = next(found for word, found in FORMATS.items() if word in matrix)
    return {"answer": answer, "why": why}


def spmv_bound(mean: int, bandwidth: float) -> dict[str, float]:
    """GFLOP/s at which the bytes of a row cross DRAM, each once."""
    row_bytes = 2 * WORD * mean + WORD + WORD + WORD  # values and indices, the offset, x, y
    return {"answer": 2 * mean / row_bytes * bandwidth, "bytes": row_bytes}


def sectors_of_rows(length: int) -> dict[str, float]:
    """Sectors of a warp whose lanes read words that lie a row apart."""
    stride = WORD * length
    return {
        "answer": global_access([stride * lane for lane in range(LANES)], WORD).sectors,
        "stride": stride,
    }


def lanes_used(lanes: int, length: int) -> dict[str, float]:
    """Per cent of useful multiply-adds where `lanes` lanes take a row in turns."""
    turns = math.ceil(length / lanes)
    return {"answer": 100 * length / (turns * lanes), "turns": turns, "places": turns * lanes}


def density(value_bytes: int, index_bytes: int) -> float:
    """Per cent of elements at which nnz · (value + index) bytes equal all elements' values."""
    return 100 * value_bytes / (value_bytes + index_bytes)


def two_of_four(bits: int) -> dict[str, float]:
    """Bits of two values and two positions among four."""
    return {"answer": 2 * bits + 2 * 2, "dense": 4 * bits}

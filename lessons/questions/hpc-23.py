"""What sparse formats store, and what their bytes allow.

Source of the formats: Bell and Garland, SC09; cuSPARSE storage formats. Bandwidths are those of devices.toml.
"""

from grader.analysis.devices import board

WORD = 4  # bytes of a value, and of an index
MEGA = 1e6


def storage(rows: int, mean: int, longest: int, format: str) -> dict[str, float | str]:
    """Megabytes of a matrix of rows · mean non-zeros."""
    nonzeros = rows * mean
    total, sum_of = {
        "COO": (3 * WORD * nonzeros, f"12 bytes for each of {nonzeros:,} non-zeros"),
        "CSR": (
            2 * WORD * nonzeros + WORD * (rows + 1),
            f"8 bytes for each of {nonzeros:,} non-zeros and 4 for each of {rows + 1:,} offsets",
        ),
        "ELL": (2 * WORD * rows * longest, f"8 bytes for each of {rows:,} rows times {longest} places"),
    }[format]
    return {"answer": total / MEGA, "sum": sum_of, "least": WORD * nonzeros / MEGA}


def density(value_bytes: int, index_bytes: int) -> float:
    """Per cent of elements at which nnz · (value + index) bytes equal all elements' values."""
    return 100 * value_bytes / (value_bytes + index_bytes)


def spmv_bound(mean: int, device: str) -> dict[str, float]:
    """GFLOP/s at which the bytes of a row cross DRAM, each once."""
    spec = board(device, "")
    row_bytes = 2 * WORD * mean + WORD + WORD + WORD  # values and indices, the offset, x, y
    rate = 2 * mean / row_bytes * spec.peak_dram
    return {
        "answer": rate / 1e9,
        "bytes": row_bytes,
        "bandwidth": spec.peak_dram / 1e9,
        "share": 100 * rate / spec.peak_flop,
    }

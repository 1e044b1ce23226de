"""Probes of coalescing: sectors of global memory that a warp's request touches, by grader.analysis.access."""

from collections.abc import Callable

from grader.analysis.access import LANES, SECTOR, global_access
from grader.interview.counted import counted

FLOAT = 4  # bytes
FILL = 64  # bytes that L2 of an H200 fetches from DRAM at a time

INDICES: dict[str, Callable[[int], int]] = {
    "31 − i": lambda i: 31 - i,
    "i xor 5": lambda i: i ^ 5,
    "7 · i mod 32": lambda i: 7 * i % 32,
    "i / 2, rounded down": lambda i: i // 2,
    "i mod 8": lambda i: i % 8,
    "i + 32 · (i mod 2)": lambda i: i + 32 * (i % 2),
    "64 + i": lambda i: 64 + i,
    "0": lambda i: 0,
}

TYPES = {"unsigned char": 1, "half": 2, "float": 4, "float2": 8, "double2": 16, "float4": 16}  # bytes

PRODUCTS = {
    "the row index": (
        "00_naive",
        "The lanes read 32 rows of A, each in a sector of its own, and all read the same element of B",
    ),
    "the column index": (
        "01_coalesced",
        "All lanes read the same element of A, and 32 neighbouring elements of a row of B",
    ),
}


def strided_sectors(width: int, offset: int, stride: int) -> dict[str, float]:
    """Sectors of a load of `width` bytes a lane, `stride` elements apart.

    CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory": as many as are needed to serve all threads.
    """
    access = global_access([offset + stride * width * lane for lane in range(LANES)], width)
    return {"answer": access.sectors, "used": access.bytes_used, "efficiency": 100 * access.efficiency}


def block_sectors(columns: int, bx: int, row: int) -> dict[str, float]:
    """Sectors of the first warp of a block of bx columns, whose threads are numbered with x running fastest."""
    padded = -(-columns * FLOAT // SECTOR) * SECTOR // FLOAT
    return {
        "answer": _warp_sectors(columns, bx, row),
        "padded": _warp_sectors(padded, bx, row),
        "rows": LANES // bx,
        "start": FLOAT * row * columns % SECTOR,
        "pitch": FLOAT * columns,
    }


def permuted_sectors(index: str) -> dict[str, float]:
    """Sectors of a load whose lanes take these elements of an aligned array."""
    elements = [INDICES[index](lane) for lane in range(LANES)]
    access = global_access([FLOAT * element for element in elements], FLOAT)
    return {"answer": access.sectors, "distinct": len(set(elements))}


def vector_sectors(type: str) -> dict[str, float]:
    """Sectors of a load of a vector type by neighbouring lanes."""
    width = TYPES[type]
    return {
        "answer": global_access([width * lane for lane in range(LANES)], width).sectors,
        "bytes": width,
    }


def struct_waste(size: int, field: int) -> dict[str, float]:
    """Per cent of the moved bytes that are used where lanes read one field of neighbouring structures."""
    access = global_access([size * lane + field for lane in range(LANES)], FLOAT)
    return {"answer": 100 * access.efficiency, "sectors": access.sectors, "moved": SECTOR * access.sectors}


def dram_share(stride: int) -> dict[str, float]:
    """Per cent of DRAM's bytes used where every `stride`th float is read, and 64 bytes are fetched at a time."""
    return {
        "answer": _used_percent(stride, FILL),
        "wanted": max(1, FILL // FLOAT // stride),
        "from_l2": _used_percent(stride, SECTOR),
    }


def shifted_sectors(width: int, offset: int) -> dict[str, float]:
    """Sectors of neighbouring lanes whose first address is shifted."""
    return {
        "answer": global_access([offset + width * lane for lane in range(LANES)], width).sectors,
        "total": width * LANES,
        "inside": offset % SECTOR,
        "least": width * LANES // SECTOR,
    }


def product_sectors(along: str) -> dict[str, float | str]:
    """Sectors that a warp's loads take for each multiply-add of its lanes, counted on the workbook's kernels."""
    rung, why = PRODUCTS[along]
    counts = counted("gemm", rung)
    multiply_adds = counts["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] / LANES
    sectors = counts["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
    return {"answer": sectors / multiply_adds, "why": why, "n": counts["N"]}


def _warp_sectors(columns: int, bx: int, row: int) -> int:
    addresses = [FLOAT * ((row + lane // bx) * columns + lane % bx) for lane in range(LANES)]
    return global_access(addresses, FLOAT).sectors


def _used_percent(stride: int, piece: int) -> float:
    """Per cent of pieces of so many bytes that are used; strides are powers of two."""
    return 100 * FLOAT / min(stride * FLOAT, piece)

"""Numbers of hpc-13: sectors of global memory that a warp's request touches, by grader.analysis.access."""

from grader.analysis.access import LANES, SECTOR, global_access

FLOAT = 4  # bytes


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


def _warp_sectors(columns: int, bx: int, row: int) -> int:
    addresses = [FLOAT * ((row + lane // bx) * columns + lane % bx) for lane in range(LANES)]
    return global_access(addresses, FLOAT).sectors


def struct_waste(size: int, field: int) -> dict[str, float]:
    """Per cent of the moved bytes that are used where lanes read one field of neighbouring structures."""
    access = global_access([size * lane + field for lane in range(LANES)], FLOAT)
    return {"answer": 100 * access.efficiency, "sectors": access.sectors, "moved": SECTOR * access.sectors}

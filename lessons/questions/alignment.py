"""Offsets, sizes and sectors.

Sources: System V ABI for x86-64 (sizes and alignments); CUDA C++ Programming Guide, Device Memory Accesses.
"""

SIZES = {"char": 1, "short": 2, "int": 4, "float": 4, "double": 8}
LINE, SECTOR = 64, 32


def struct_bytes(members: str) -> dict[str, float | str]:
    """Offsets and size in order of declaration."""
    sizes = _sizes(members)
    offsets, end = _layout(sizes)
    most = max(sizes)
    return {"answer": _up(end, most), "offsets": ", ".join(map(str, offsets)), "end": end, "most": most}


def sorted_saving(members: str) -> dict[str, float]:
    """Bytes an element in order of declaration, less those in order of size."""
    sizes = _sizes(members)
    most = max(sizes)
    before = _up(_layout(sizes)[1], most)
    after = _up(_layout(sorted(sizes, reverse=True))[1], most)
    return {"answer": before - after, "before": before, "after": after}


def crossings(size: int) -> dict[str, float]:
    """Records of which first and last byte lie in different lines."""
    found = sum(k * size // LINE != (k * size + size - 1) // LINE for k in range(64))
    return {"answer": found, "last": size - 1}


def allowed(index: str) -> dict[str, str]:
    """The widest access that is aligned for all such i."""
    step = {"i is even": 2, "i is odd": 1}.get(index) or int(index.split()[-1])
    if step % 4 == 0:
        return {
            "answer": "a float4 load at p + i",
            "so": f"which is a multiple of {4 * step}, and so of 16: a float4 load is accepted",
        }
    if step % 2 == 0:
        so = f"which is a multiple of {4 * step}, but not always of 16: a float2 load is the widest that is accepted"
        return {"answer": "a float2 load at p + i, but no float4", "so": so}
    return {
        "answer": "only single floats at p + i",
        "so": "which is only guaranteed to be a multiple of 4: no vector load is accepted",
    }


def aligned_rows(width: int) -> dict[str, float]:
    """Rows that begin at a multiple of 16 bytes."""
    return {"answer": sum(4 * width * row % 16 == 0 for row in range(12)), "bytes": 4 * width}


def sectors_touched(start: int, size: int) -> dict[str, float]:
    """Distinct sectors of a warp's addresses."""
    addresses = [(start + lane) * size for lane in range(32)]
    touched = {address // SECTOR for address in addresses}
    return {"answer": len(touched), "first": addresses[0], "end": addresses[-1] + 3}


def _sizes(members: str) -> list[int]:
    return [SIZES[member.split()[0]] for member in members.rstrip(";").split("; ")]


def _layout(sizes: list[int]) -> tuple[list[int], int]:
    """Offsets, and where the last member ends."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(_up(end, size))
        end = offsets[-1] + size
    return offsets, end


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit

"""Addresses, tables and faults. Source: Intel SDM, volume 3, chapter 4 (four-level paging)."""

KIB = {"4 KiB": 4, "64 KiB": 64, "2 MiB": 2048}


def which_entry(level: str, address: str) -> dict[str, float]:
    """Nine bits of the address above the offset, or above the last level's."""
    low = 12 if level.startswith("last") else 21
    return {"answer": (int(address, 16) >> low) & 511, "low": low, "high": low + 8}


def table_pages(mib: int) -> dict[str, float]:
    """A last-level table maps 2 MiB; the three above fit in one page each."""
    last = -(-mib // 2)
    return {"answer": last + 3, "last": last}


def reach_entries(entries: int, page: str) -> float:
    """MiB that the TLB maps."""
    return entries * KIB[page] / 1024


def tlb_misses(rows: int, page: str) -> dict[str, float]:
    """Pages of which at least one row's element is read."""
    each = max(1, KIB[page] // 16)
    return {"answer": rows // each, "each": each}


def resident_mib(gib: int, stride: int) -> dict[str, float]:
    """Pages with at least one write in a GiB."""
    pages = 2**20 // max(stride, 4)
    return {"answer": pages * 4 / 1024, "pages": pages}


def after_fork(mb: int, each: int) -> dict[str, float]:
    """Shared pages and copies of those that the child wrote."""
    return {"answer": mb + mb / each, "copied": mb / each}


def fault_ms(mib: int, group: int, us: int) -> dict[str, float]:
    """Groups of faults one after the other; the prefetch at 25 GB/s."""
    groups = mib * 1024 // group
    return {"answer": groups * us / 1e3, "groups": groups, "prefetch": mib * 2**20 / 25e9 * 1e3}

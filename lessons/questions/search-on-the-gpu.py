"""Loads and bytes of look-ups.

Sources: Awad et al., 2019 (B-trees searched by warps); Green et al., 2012 (merge path).
"""

from math import ceil, log2

PIECE = 64
"""Bytes that DRAM delivers at a time, on an H200: two sectors."""


def steps(n: int) -> dict[str, float]:
    """Halvings of the n + 1 possible places."""
    return {"answer": ceil(log2(n + 1)), "places": n + 1}


def mega_queries(warps: int, loads: int, ns: int, sms: int) -> dict[str, float]:
    """Little's law: lanes over the time of a query."""
    lanes, time = warps * 32 * sms, loads * ns
    return {"answer": lanes / time * 1e3, "lanes": lanes, "time": time}


def steps_left(millions: int, kib: int) -> dict[str, float]:
    """Levels of the tree less those that fit whole."""
    levels = ceil(log2(millions * 10**6 + 1))
    top = int(log2(kib * 1024 // 4 + 1))
    return {"answer": levels - top, "levels": levels, "top": top}


def btree_levels(keys: int, millions: int) -> dict[str, float]:
    """The fewest levels of which a full tree holds all keys."""
    children, levels = keys + 1, 1
    while children**levels - 1 < millions * 10**6:
        levels += 1
    return {"answer": levels, "children": children, "levels": levels, "held": children**levels - 1}


def child(mask: str) -> int:
    """Keys smaller than the query."""
    return int(mask, 16).bit_count()


def bytes_a_query(levels: int, bytes: int) -> dict[str, float]:
    """Bandwidth over the pieces of a query."""
    moved = ceil(bytes / PIECE) * PIECE
    return {"answer": 3e6 / (levels * moved), "moved": moved}


def merge_or_search(keys: int, queries: int) -> dict[str, float]:
    """MB of both ways, results written in both."""
    search, merge = queries * (6 * PIECE + 4 + 4), 4 * (keys + queries) + 4 * queries
    return {"answer": search / merge, "search": search, "merge": merge}

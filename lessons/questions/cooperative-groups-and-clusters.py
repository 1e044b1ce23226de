"""Probes of cooperative-groups-and-clusters: ranks, residency and places.

Source: CUDA C++ Programming Guide, "Cooperative Groups" and "Thread Block Clusters"; residency by
`grader.analysis.occupancy`.
"""

import re

from grader.analysis.devices import named
from grader.analysis.occupancy import occupancy

H200 = named("H200")
SMS = 132
LANES = 32
BLOCK = 256


def ranks(size: int, what: str, thread: int) -> dict[str, float]:
    """Ranks of a thread in a tile and of its tile."""
    meta, rank = divmod(thread, size)
    tiles = BLOCK // size
    answers = {"tile.thread_rank()": rank, "tile.meta_group_rank()": meta, "tile.meta_group_size()": tiles}
    return {"answer": answers[what], "meta": meta, "rank": rank, "tiles": tiles}


def coalesced_size(modulus: int, relation: str) -> int:
    """Lanes that take the branch."""
    rests = [lane % modulus for lane in range(LANES)]
    taken = {
        "== 0": [rest == 0 for rest in rests],
        "!= 0": [rest != 0 for rest in rests],
        "> 1": [rest > 1 for rest in rests],
    }
    return sum(taken[relation])


def largest_grid(threads: int, registers: int, shared_kib: int) -> dict[str, float | str]:
    """Blocks that are resident at once."""
    found = occupancy(H200, threads, registers, shared_kib * 1024)
    return {"answer": SMS * found.blocks_per_sm, "each": found.blocks_per_sm, "limit": found.limited_by}


def idle_sms(gpcs: str, size: int) -> dict[str, float]:
    """SMs that whole clusters within GPCs leave over."""
    each = [int(number) for number in re.findall(r"\d+", gpcs)]
    clusters = sum(sms // size for sms in each)
    used = clusters * size
    return {"answer": sum(each) - used, "clusters": clusters, "used": used, "all": sum(each)}


def owner_of_bin(bins: int, size: int, bin: int) -> dict[str, float]:
    """The block that holds a bin."""
    each = bins // size
    return {"answer": bin // each, "each": each, "kib": each * 4 / 1024}

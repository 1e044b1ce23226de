"""Probes of persistent kernels: waves, steps of the main loop, and launches that are cancelled.

Source: CUDA Programming Guide, "Work Stealing with Cluster Launch Control"; Osama et al., Stream-K, 2023; CUTLASS,
"Efficient GEMM in CUDA" and "Blackwell Cluster Launch Control".
"""

import math

from grader.workbook.units import quantity

SMS = 148  # of a B200, with one block on each
PARTS = 4  # of the probe's split-K


def percent_of_waves(m: int, n: int, tile: str, sms: int) -> dict[str, float]:
    """Tiles over the places in whole waves, in per cent."""
    rows, columns = (int(number) for number in tile.split(" × "))
    tiles = math.ceil(m / rows) * math.ceil(n / columns)
    waves = math.ceil(tiles / sms)
    return {"answer": 100 * tiles / (waves * sms), "tiles": tiles, "waves": waves}


def steps_of_the_busiest(tiles: int, steps: int, scheme: str) -> dict[str, float | str]:
    """Steps of the main loop that the SM with the most work does."""
    if scheme.startswith("one block"):
        waves = math.ceil(tiles / SMS)
        return {
            "answer": waves * steps,
            "how": f"An SM computes up to {tiles} / {SMS}, rounded up, so {quantity(waves, 'tiles')} of {steps} steps",
        }
    if scheme.startswith("split-K"):
        waves = math.ceil(tiles * PARTS / SMS)
        parts = quantity(waves, "parts")
        how = f"An SM computes up to {tiles} · {PARTS} / {SMS}, rounded up, so {parts} of {steps} / {PARTS} steps"
        return {"answer": waves * steps // PARTS, "how": how}
    return {
        "answer": math.ceil(tiles * steps / SMS),
        "how": f"All steps are divided evenly, {tiles} · {steps} / {SMS}, rounded up",
    }


def workspace_mb(parts: int, m: int, n: int) -> dict[str, float]:
    """Partial sums in FP32, written and read, and C in BF16, in MB."""
    workspace = 2 * parts * m * n * 4 / 1e6
    c = m * n * 2 / 1e6
    return {"answer": workspace + c, "workspace": workspace, "c": c}


def with_sms_taken(sms: int, taken: int, each: int, how: str) -> dict[str, float | str]:
    """Time until the last tile: blocks in batches that fit, or tiles spread over the free SMs."""
    free = sms - taken
    if "static" in how:
        batches = math.ceil(sms / free)
        why = f"The {sms} blocks run in {batches} batches, and each block computes {each} tiles"
        return {"answer": batches * each, "free": free, "why": why}
    why = f"These take tiles until none is left, {sms * each} / {free}, rounded up"
    return {"answer": math.ceil(sms * each / free), "free": free, "why": why}


def cancelled(blocks: int, size: int, resident: int, what: str) -> dict[str, int]:
    """Each cluster is launched or cancelled, and each resident one sees one failure."""
    clusters = blocks // size
    succeed = clusters - resident
    answer = succeed if what == "succeed" else succeed + resident
    return {"answer": answer, "clusters": clusters, "succeed": succeed}


def column_of_tile(size: int, columns: int, first: int, rank: int) -> dict[str, int]:
    """The cancelled cluster's first block and the own rank, within a row of tiles."""
    index = first + rank
    return {"answer": index % columns, "index": index}

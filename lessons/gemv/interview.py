"""Answers to the probes of this interview: bytes of weights, batches, bytes in flight, rows that are shared."""

from math import ceil, gcd, log2

import numpy as np

from grader.analysis.access import LANES, SECTOR, global_access

HALF = 2  # bytes
PACK = 16 // HALF  # halves of a lane's load of 16 bytes
SMS = 132  # multiprocessors of an H100
RESIDENT = 2048  # threads that a multiprocessor holds
STEPS = int(log2(LANES))  # of a sum over the lanes of a warp


def shortest_time(N: int, K: int, rate: float) -> float:
    """Microseconds of reading the weights once at `rate` TB/s."""
    return HALF * N * K / rate / 1e6


def batch_at_ridge(peak: int, rate: float, bits: int) -> dict[str, float]:
    """Vectors at which 2B operations for a weight take as long as its bytes (Williams et al., 2009)."""
    return {"answer": peak * bits / 8 / (2 * rate), "ridge": peak / rate}


def time_of_batch(B: int, peak: int, rate: float) -> dict[str, object]:
    """Microseconds of the longer one of bytes and arithmetic, for 10^8 weights (Williams et al., 2009)."""
    weights = 1e8
    reading, computing = HALF * weights / rate / 1e6, 2 * weights * B / peak / 1e6
    which = "Reading" if reading > computing else "Arithmetic"
    return {"answer": max(reading, computing), "reading": reading, "computing": computing, "which": which}


def sum_after_product(total: int, product: int) -> dict[str, float]:
    """A sum of two halves, rounded to the nearest half, ties to even (IEEE 754)."""
    rounded = np.float16(total) + np.float16(product)
    return {"answer": float(rounded), "gap": float(np.spacing(np.float16(total))), "exact": total + product}


def sectors_of_loads(K: int) -> dict[str, int]:
    """Sectors of the first elements of 32 rows of K halves, and of one element of x (grader.analysis.access)."""
    rows = global_access([HALF * K * lane for lane in range(LANES)], HALF).sectors
    return {"answer": rows + 1, "rows": rows, "step": HALF * K}


def share_of_threads(sms: int, N: int, K: int) -> float:
    """Per cent of the threads that a GPU holds, where each row has one, whatever its length."""
    return 100 * N / (RESIDENT * sms)


def sectors_of_row(K: int) -> int:
    """Sectors of a row of W and of x, which is as long."""
    return 2 * HALF * K // SECTOR


def additions_in_a_chain(lanes: int, how: str) -> dict[str, object]:
    """Additions of which each waits for the one before."""
    tree = "shuffles" in how
    why = "A step of shuffles halves the number of sums" if tree else "The additions go to one address"
    return {"answer": int(log2(lanes)) if tree else lanes, "why": why}


def kilobytes_in_flight(rate: float, latency: int, sms: int) -> dict[str, float]:
    """KB on each multiprocessor: bandwidth times latency (Little, 1961)."""
    total = rate * latency / 1e3  # MB
    return {"answer": 1e3 * total / sms, "total": total}


def megabytes_of_x(N: int, K: int) -> float:
    """x, once for each row."""
    return HALF * N * K / 1e6


def warps_for_flight(kib: int, width: int, loads: int) -> dict[str, int]:
    """Warps whose loads have so many KiB in flight together."""
    each = LANES * width * loads
    return {"answer": ceil(1024 * kib / each), "each": each}


def aligned_rows(N: int, K: int) -> int:
    """Rows that begin at multiples of 16 bytes, the first of which is row 0."""
    return len(range(0, N, 16 // gcd(HALF * K, 16)))


def share_of_bound(time: int, rate: float) -> dict[str, float]:
    """Per cent of the time that reading 16,384² halves takes at `rate` TB/s."""
    least = shortest_time(16384, 16384, rate)
    return {"answer": 100 * least / time, "least": least}


def share_without_block(sms: int, N: int) -> dict[str, float]:
    """Per cent of multiprocessors without one of the blocks of eight rows."""
    return _idle(sms, N // 8)


def _idle(sms: int, blocks: int) -> dict[str, float]:
    return {"answer": 100 * (sms - blocks) / sms, "blocks": blocks}


def loads_of_lane(K: int, warps: int) -> int:
    """Loads of 16 bytes of a row, for each lane of a block."""
    return K // (PACK * LANES * warps)


def shuffles_of_block(warps: int, rows: int) -> dict[str, int]:
    """Shuffles of all warps, and of the warp that adds up their sums."""
    last = int(log2(warps))
    return {"answer": rows * (STEPS * warps + last), "last": last}


def tokens_a_second(billions: int, bits: int, rate: float) -> dict[str, float]:
    """Tokens for which all weights are read once, one token after another."""
    gigabytes = billions * bits / 8
    return {"answer": 1e3 * rate / gigabytes, "gigabytes": gigabytes}


def rate_of_few_rows(N: int, each: int) -> dict[str, object]:
    """TB/s of so many multiprocessors, of 3 TB/s at the most."""
    alone = N * each / 1e3
    return {"answer": min(alone, 3), "alone": alone, "which": "less" if alone < 3 else "not less"}


def requests_with_rows(rows: int, K: int) -> int:
    """Warp loads of 16 bytes a lane, of so many rows of W and of x."""
    return (rows + 1) * K // (PACK * LANES)


def spared_requests(rows: int) -> dict[str, float]:
    """Per cent of the loads of rows and of x, once for each row, that are left out with x once for all."""
    before, now = 2 * rows, rows + 1
    return {"answer": 100 * (before - now) / before, "before": before, "now": now}


def share_without_rows(sms: int, N: int) -> dict[str, float]:
    """Per cent of multiprocessors without one of the blocks of two rows."""
    return _idle(sms, N // 2)


def blocks_of_rows(N: int, blocks: int) -> dict[str, int]:
    """The largest of 1, 2, 4 and 8 at which all blocks of N / 2 pairs are resident on 132 multiprocessors."""
    places, pairs = SMS * blocks, N // 2
    shared = max(size for size in (1, 2, 4, 8) if pairs * size <= places)
    return {"answer": shared, "places": places, "pairs": pairs}


def blocks_with_steps(warps: int, K: int) -> dict[str, int]:
    """Whole steps of a block in a row."""
    step = PACK * LANES * warps
    return {"answer": K // step, "step": step}


def _bits(bits: int, group: int) -> float:
    """Of a weight, with its part of a scale of 16 bits."""
    return bits + 16 / group


def megabytes_of_groups(side: int, bits: int, group: int) -> dict[str, float]:
    """Weights and the scales of their groups."""
    each = _bits(bits, group)
    return {"answer": each / 8 * side**2 / 1e6, "each": each}


def instructions_a_weight(bits: int, rate: float) -> dict[str, float]:
    """Of a lane, where 132 multiprocessors issue 128 of them a clock, while a weight is read at `rate` TB/s."""
    issued = SMS * 4 * LANES * 1.7e9
    weights = rate * 1e12 * 8 / bits
    return {"answer": issued / weights, "issued": issued / 1e12, "weights": weights / 1e12}


def share_of_reading(N: int, time: float) -> dict[str, float]:
    """Per cent of a time that reading N rows of 16,384 halves takes at 3 TB/s."""
    reading = shortest_time(N, 16384, 3)
    return {"answer": 100 * reading / time, "reading": reading}


def sums_sent(size: int, rows: int) -> int:
    """Floats that the blocks of a cluster but the first store in the first one's shared memory."""
    return (size - 1) * rows


def intensity_of_batch(B: int, bits: int) -> float:
    """Operations for each byte of weights: 2B for one of them."""
    return 2 * B / (bits / 8)


def saved_by_fusing(N: int, tokens: int) -> float:
    """KB of two vectors of N halves for each token, written by one kernel and read by another."""
    return 2 * 2 * HALF * N * tokens / 1e3

"""Answers to the probes of this interview: copies, queues at words and banks, rates of counting."""

from grader.analysis.access import BANKS, LANES, WORD, shared_access

BINS = 256
SMS = 132  # multiprocessors of an H200


def shortest_time(exponent: int, rate: float) -> float:
    """Microseconds for 2^exponent bytes at `rate` TB/s."""
    return float(2**exponent) / rate / 1e6


def global_additions(blocks: int) -> int:
    """Bins that all blocks hand on."""
    return BINS * blocks


def lanes_that_meet(period: int, value: int) -> int:
    """Lanes with lane % period == value."""
    return sum(lane % period == value for lane in range(LANES))


def time_of_words(clocks: int, exponent: int) -> dict[str, float]:
    """Microseconds of one word's share of the additions, `clocks` each at 1.6 GHz."""
    each = 2**exponent // BINS
    return {"answer": each * clocks / 1600, "each": each}


def longer_queue(values: int) -> float:
    """Additions to one of `values` words over those to one of 256."""
    return BINS / values


def kib_of_copies(bins: int, blocks: int) -> float:
    """KiB of a copy of 32-bit counts for each block."""
    return bins * WORD * blocks / 1024


def handed_on(bytes: int) -> float:
    """Additions to global memory for 1,000 bytes, 256 a block."""
    return 1000 * BINS / bytes


def wavefronts_of_stride(stride: int) -> int:
    """Wavefronts of accesses to words `stride` apart (grader.analysis.access)."""
    return len(shared_access([WORD * stride * lane for lane in range(LANES)]).wavefronts)


def banks_left_empty() -> float:
    """Banks that 32 independent, evenly spread values miss, on average."""
    return float(BANKS * (1 - 1 / BANKS) ** LANES)


def kib_of_lane_copies(bins: int, bits: int) -> float:
    """KiB of 32 copies."""
    return LANES * bins * bits / 8 / 1024


def word_of_count(lane: int, value: int) -> int:
    """Bin b of copy c is word 32 b + c."""
    return LANES * value + lane


def rate_of_counting(clock: float, turns: float) -> float:
    """TB/s at 32 counts in so many clocks, on each multiprocessor."""
    return SMS * LANES * clock / turns / 1000


def wavefronts_allowed(rate: float, clock: float) -> dict[str, float]:
    """Clocks in which DRAM brings 32 bytes to one multiprocessor."""
    brought = 1000 * rate / (SMS * clock)
    return {"answer": LANES / brought, "bytes": brought}


def additions_of_packs(packs: int, percent: int) -> float:
    """One addition for a pack of equal bytes, 16 for another."""
    equal = packs * percent / 100
    return equal + 16 * (packs - equal)


def fused_share(images: int) -> dict[str, float]:
    """Per cent of traffic that a separate kernel for the histogram makes."""
    before, after = images + 2, images + 1
    return {"answer": 100 / before, "before": before, "after": after}

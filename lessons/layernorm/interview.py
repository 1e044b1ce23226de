"""Answers to the probes of this interview: passes over rows of halves, moments and how they are merged, shared rows."""

from math import gcd

import numpy as np

from grader.analysis.access import LANES, SECTOR, global_access

HALF = 2  # bytes
SMS = 132  # multiprocessors of an H200
PIECE = 16384  # halves of a row that a block keeps where blocks share it
KEPT = 512 * 64  # halves of a row that a block keeps


def shortest_time(M: int, N: int, rate: float) -> float:
    """Microseconds of one reading and one writing at `rate` TB/s."""
    return 2 * HALF * M * N / rate / 1e6


def sum_in_halves(count: int, x: float) -> dict[str, float]:
    """A sum that is rounded to half precision (IEEE 754, to the nearest, ties to even) after each addition."""
    total, one = np.float16(0), np.float16(x)
    for _ in range(count):
        after = total + one
        if after == total:
            break
        total = after
    return {"answer": float(total), "exact": count * x}


def error_of_difference(ratio: float) -> float:
    """Per cent of a variance of 1: roundings of ratio² + 1 and of ratio² to 24 bits (IEEE 754)."""
    return 100 * (ratio**2 + 1 + ratio**2) * 2.0**-24


def traffic_of_passes(side: int, how: str) -> dict[str, object]:
    """Megabytes of so many readings and a writing."""
    readings = 3 if "for the mean," in how else 2 if "another" in how else 1
    words = {1: "One reading", 2: "Two readings", 3: "Three readings"}
    megabytes = HALF * side**2 / 1e6
    return {"answer": (readings + 1) * megabytes, "readings": words[readings], "megabytes": megabytes}


def sectors_of_load(N: int) -> dict[str, int]:
    """Sectors of the first elements of 32 rows of N halves (grader.analysis.access)."""
    step = HALF * N
    return {"answer": global_access([step * lane for lane in range(LANES)], HALF).sectors, "step": step}


def share_of_threads(sms: int, M: int, N: int) -> float:
    """Per cent of the threads of all multiprocessors, with one for each row."""
    return 100 * M / (sms * 2048)


def sectors_of_block(N: int) -> int:
    """Sectors of five passes over N halves side by side."""
    return 5 * HALF * N // SECTOR


def additions_of_trees(threads: int, N: int) -> dict[str, int]:
    """Additions that make one sum of one for each thread, twice."""
    return {"answer": 2 * (threads - 1), "once": threads - 1}


def megabytes_loaded(M: int, N: int) -> float:
    """Three readings of x, and gamma and beta for each row."""
    return 5 * HALF * M * N / 1e6


def longest_row_in_l2(blocks: int, cache: float) -> dict[str, float]:
    """Halves of a row where each block that an H200 holds has one."""
    of_row = 1e6 * cache / (SMS * blocks)
    return {"answer": of_row / HALF, "bytes_of_row": of_row}


def squares_after_element(count: int, mean: float, squares: float, x: float) -> dict[str, float]:
    """One element more (Welford, 1962)."""
    new = mean + (x - mean) / (count + 1)
    return {"answer": squares + (x - mean) * (x - new), "new": new}


def squares_of_both(n1: int, m1: float, s1: float, n2: int, m2: float, s2: float) -> dict[str, float]:
    """Two parts (Chan, Golub and LeVeque, 1979)."""
    between = (m2 - m1) ** 2 * n1 * n2 / (n1 + n2)
    return {"answer": s1 + s2 + between, "apart": m2 - m1, "between": between}


def requests_of_rows(rows: int, N: int) -> int:
    """Warp loads of single halves: x twice, gamma and beta once for each row."""
    return 4 * rows * N // LANES


def chain_of_updates(threads: int, N: int, clocks: int) -> dict[str, int]:
    """Clocks of updates that wait for one another."""
    own = N // threads
    return {"answer": own * clocks, "own": own}


def registers_for_row(threads: int, N: int) -> int:
    """Pairs of halves of a row for each thread."""
    return N // threads // 2


def aligned_rows(M: int, N: int) -> int:
    """Rows that begin at multiples of 16 bytes, the first of which is row 0."""
    return len(range(0, M, 16 // gcd(HALF * N, 16)))


def shuffles_of_warp(what: str) -> dict[str, int]:
    """Five steps for each word that lanes exchange."""
    words = 3 if "triples" in what else 2
    return {"answer": 5 * words, "words": words}


def share_of_bound(time: float, rate: float) -> dict[str, float]:
    """Per cent of the time that one reading and one writing of 8,192² halves take at `rate` TB/s."""
    moved = 2 * HALF * 8192**2
    least = moved / rate / 1e6
    return {"answer": 100 * least / time, "least": least, "megabytes": moved / 1e6}


def share_without_row(sms: int, M: int) -> float:
    """Per cent of multiprocessors beyond one for each row."""
    return 100 * (sms - M) / sms


def megabytes_of_long_rows(M: int, N: int) -> dict[str, float]:
    """One reading, or two of rows that a block cannot keep, and one writing."""
    moved = HALF * (2 if N <= KEPT else 3)
    return {"answer": moved * M * N / 1e6, "moved": moved}


def variance_of_pieces(n: int, m1: float, s1: float, m2: float, s2: float) -> dict[str, float]:
    """Of two pieces of n elements each (Chan, Golub and LeVeque, 1979)."""
    mean = (m1 + m2) / 2
    off = abs(m2 - mean)
    return {"answer": (s1 + s2) / (2 * n) + off**2, "mean": mean, "off": off}


def rows_at_a_time(blocks: int, N: int) -> dict[str, int]:
    """Rows whose pieces have a block each among those that an H200 holds."""
    pieces = -(-N // PIECE)
    return {"answer": SMS * blocks // pieces, "pieces": pieces}


def bytes_with_kept_columns(rows: int, columns: str) -> dict[str, float]:
    """Bytes loaded for an element: x, and gamma and beta for one row or for each of `rows`."""
    rest = 2 * HALF / (rows if "once" in columns else 1)
    return {"answer": HALF + rest, "rest": rest}


def share_of_copy(M: int, time: float, rate: float) -> dict[str, float]:
    """Per cent of `rate` TB/s, of one reading and one writing of M rows of 2^20 halves."""
    own = 2 * HALF * M * 2**20 / time / 1e6
    return {"answer": 100 * own / rate, "own": own}


def share_of_waiting(load: float, wait: float, store: float) -> float:
    """Per cent of the time of all three."""
    return 100 * wait / (load + wait + store)


def time_with_prefetch(load: float, wait: float, store: float) -> dict[str, float]:
    """Microseconds for a row where loading runs beside waiting and storing."""
    return {
        "answer": max(load, wait + store),
        "rest": wait + store,
        "before": load + wait + store,
    }


def saved_by_fusing(side: int, later: str) -> dict[str, object]:
    """Megabytes of five matrices less those that a fused kernel moves."""
    fused = 3 if "not" in later else 4
    megabytes = HALF * side**2 / 1e6
    words = {3: "three", 4: "four"}
    return {"answer": (5 - fused) * megabytes, "fused": words[fused], "megabytes": megabytes}

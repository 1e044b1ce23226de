"""Answers to the probes of this interview: passes over a row, pairs of maximum and sum, registers and shared rows."""

from math import exp, gcd

from grader.analysis.access import LANES, global_access

FLOAT = 4  # bytes
SMS = 132  # multiprocessors of an H200
PIECE = 8192  # floats of a row that a block keeps where blocks share it
BYTES = {"FP8": 1, "FP16": 2, "BF16": 2, "FP32": 4}


def shortest_time(M: int, N: int, rate: float) -> float:
    """Microseconds of one reading and one writing at `rate` TB/s."""
    return 2 * FLOAT * M * N / rate / 1e6


def output_of_largest(count: int, x: float) -> float:
    """The share of each of `count` equal elements beside which the others are nothing."""
    return 1 / count


def times_of_a_copy(copy: float, how: str) -> dict[str, object]:
    """Microseconds of so many readings and a writing, where the copy has one of each."""
    readings = 3 if "separate" in how else 2 if "another" in how else 1
    words = {1: "One reading", 2: "Two readings", 3: "Three readings"}
    return {"answer": copy * (readings + 1) / 2, "readings": words[readings]}


def sectors_of_stores(N: int) -> dict[str, float]:
    """Sectors of the first elements of 32 rows of N floats (grader.analysis.access)."""
    return {
        "answer": global_access([FLOAT * N * lane for lane in range(LANES)]).sectors,
        "step": FLOAT * N,
    }


def warps_of_an_sm(sms: int, M: int, N: int) -> float:
    """Warps of a thread for each row, over the multiprocessors."""
    return M / LANES / sms


def sectors_of_pass(N: int) -> int:
    """Sectors of N floats side by side."""
    return FLOAT * N // 32


def work_of_trees(threads: int, N: int) -> int:
    """Comparisons that make one maximum of one for each thread."""
    return threads - 1


def megabytes_loaded(side: int) -> float:
    """Three readings."""
    return 3 * FLOAT * side**2 / 1e6


def rows_under_way(blocks: int, N: int) -> float:
    """Megabytes of a row of N floats for each block that an H200 holds."""
    return SMS * blocks * FLOAT * N / 1e6


def _merged(a: tuple[float, float], b: tuple[float, float]) -> dict[str, float]:
    """The common sum of two pairs of maximum and sum (Milakov and Gimelshein, 2018), and the maximum."""
    new = max(a[0], b[0])
    return {"answer": sum(total * exp(maximum - new) for maximum, total in (a, b)), "new": new}


def sum_after_element(old: float, total: float, x: float) -> dict[str, float]:
    """A pair and one element more (Milakov and Gimelshein, 2018)."""
    return _merged((old, total), (x, 1))


def sum_of_pairs(m1: float, s1: float, m2: float, s2: float) -> dict[str, float]:
    """Two pairs (Milakov and Gimelshein, 2018)."""
    return _merged((m1, s1), (m2, s2))


def merges_of_tree(threads: int, N: int) -> dict[str, float]:
    """Merges that make one pair of one for each thread, for 100 of N elements."""
    return {"answer": 100 * (threads - 1) / N, "merges": threads - 1}


def bytes_with_cache(hit: float) -> dict[str, float]:
    """Bytes from and to DRAM for an element that is read twice and written, with hits on the second reading."""
    missed = FLOAT * (1 - hit / 100)
    return {"answer": FLOAT + missed + FLOAT, "missed": missed}


def shuffles_for_elements(N: int) -> float:
    """Five shuffles for the maximum and five for the sum of a row of N, for 1,000 elements."""
    return 10 * 1000 / N


def rows_on_an_sm(threads: int, team: str) -> dict[str, int]:
    """Rows of so many threads, where a team takes one."""
    size = LANES if team == "warp" else int(team.split()[2])
    return {"answer": threads // size, "size": size}


def needless_megabytes(M: int, N: int) -> float:
    """The second reading."""
    return FLOAT * M * N / 1e6


def requests_of_row(rows: int, N: int) -> int:
    """Warp loads of single floats, in two passes."""
    return 2 * rows * N // LANES


def registers_for_row(threads: int, N: int) -> int:
    """Floats of a row for each thread."""
    return N // threads


def aligned_rows(M: int, N: int) -> int:
    """Rows that begin at multiples of 16 bytes, the first of which is row 0."""
    return len(range(0, M, 16 // gcd(FLOAT * N, 16)))


def share_of_bound(time: float, rate: float) -> dict[str, float]:
    """Per cent of the time that one reading and one writing of 16,384² floats take at `rate` TB/s."""
    moved = 2 * FLOAT * 16384**2
    least = moved / rate / 1e6
    return {"answer": 100 * least / time, "least": least, "gigabytes": moved / 1e9}


def share_without_row(sms: int, M: int) -> float:
    """Per cent of multiprocessors beyond one for each row."""
    return 100 * (sms - M) / sms


def factor_of_piece(own: float, row: float, total: float) -> float:
    """From exp(x - own maximum) to exp(x - maximum of the row) over the row's sum."""
    return exp(own - row) / total


def _pieces(N: int) -> int:
    """Blocks that share a row of N floats."""
    return -(-N // PIECE)


def rows_at_a_time(blocks: int, N: int) -> dict[str, int]:
    """Rows whose pieces have a block each among those that an H200 holds."""
    return {"answer": SMS * blocks // _pieces(N), "pieces": _pieces(N)}


def rate_of_long_rows(M: int, time: float) -> float:
    """TB/s of one reading and one writing of M rows of 2^20 floats."""
    return 2 * FLOAT * M * 2**20 / time / 1e6


def pairs_published(M: int, N: int) -> dict[str, int]:
    """One for each piece of each row."""
    return {"answer": M * _pieces(N), "pieces": _pieces(N)}


def stores_of_pairs(size: int) -> int:
    """From each block of a cluster to each."""
    return size * size


def kept_by_small_blocks(floats: int, blocks: int) -> float:
    """KiB of elements in the registers of a multiprocessor."""
    return blocks * 128 * floats * FLOAT / 1024


def share_of_copy(copy: float, time: float) -> float:
    """Per cent."""
    return 100 * copy / time


def blocks_of_cluster(N: int) -> int:
    """One for each piece of a row."""
    return _pieces(N)


def time_of_narrow_types(side: int, input: str, output: str) -> dict[str, float]:
    """Microseconds at 4 TB/s of one reading and one writing in these types."""
    moved = BYTES[input] + BYTES[output]
    return {"answer": moved * side**2 / 4e6, "moved": moved}


def bytes_of_scores(heads: int, n: int) -> float:
    """Megabytes of FP32 scores, written once and read once."""
    return 2 * FLOAT * heads * n**2 / 1e6

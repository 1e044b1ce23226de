"""Answers to the probes of this interview: gradients of rows of halves, column sums by bands, rows ahead."""

from math import log2

import numpy as np

from grader.analysis.access import LANES, SECTOR, global_access

HALF, FLOAT = 2, 4  # bytes
SMS = 132  # multiprocessors of an H200
KEPT = 1024 * 8  # elements of a row that a block keeps
REGISTERS, THREADS = 65536, 2048  # of a multiprocessor


def element_of_dx(a: float, b: float, c: float, rstd: float, which: str) -> dict[str, float]:
    """dx of eight elements (Ba, Kiros and Hinton, 2016, differentiated), where n is 2, -2 and six times 0."""
    g, n = (a, 2) if which == "first" else (c, 0)
    mean_g, mean_gn = (a + b + 6 * c) / 8, (2 * a - 2 * b) / 8
    answer = rstd * (g - mean_g - n * mean_gn)
    return {"answer": answer, "g": g, "n": n, "mean_g": mean_g, "mean_gn": mean_gn}


def saved_by_forward(M: int, N: int, saves: str) -> dict[str, object]:
    """Megabytes beside x: floats of rows, or a matrix of halves and a float of each row."""
    matrix = HALF * M * N / 1e6
    if "mean" in saves:
        return {"answer": 2 * FLOAT * M / 1e6, "matrix": matrix, "what": "Two floats, 8 bytes, for each row"}
    what = "A half for each element, and a float for each row"
    return {"answer": matrix + FLOAT * M / 1e6, "matrix": matrix, "what": what}


def shortest_time(M: int, N: int, rate: float, which: str) -> dict[str, object]:
    """Microseconds of two readings and a writing, or of three and two, at `rate` TB/s."""
    both = "together" in which
    moved = 5 * HALF if both else 3 * HALF
    backward = "x and dy are read once and dx is written once"
    words = f"Forward, x is read and y is written; later {backward}" if both else backward
    return {"answer": moved * M * N / rate / 1e6, "bytes": moved, "moved": words}


def terms_of_sum(M: int, N: int, what: str) -> dict[str, object]:
    """Products that are added up for a sum down a column or along a row."""
    if "row" in what or "mean" in what:
        return {"answer": N, "why": "A mean over a row has a product for each column"}
    if "all" in what:
        return {"answer": M * N, "why": f"Each of {N:,} sums has a product for each row"}
    return {"answer": M, "why": "A sum down a column has a product for each row"}


def sectors_of_request(N: int, what: str) -> dict[str, int]:
    """Sectors of the first elements of 32 rows, or of 32 elements of a row (grader.analysis.access)."""
    step = HALF * N if what == "dx" else HALF
    columns = LANES if what == "dx" else min(LANES, N)
    return {"answer": global_access([step * lane for lane in range(columns)], HALF).sectors, "step": step}


def share_of_threads(sms: int, M: int, N: int) -> float:
    """Per cent of the threads of all multiprocessors, with one for each column."""
    return 100 * N / (sms * THREADS)


def halves_loaded(M: int, N: int) -> float:
    """Millions: x and dy three times, gamma twice."""
    return 8 * M * N / 1e6


def sectors_of_block(N: int) -> int:
    """Sectors of six passes over N halves side by side."""
    return 6 * HALF * N // SECTOR


def barriers_of_tree(threads: int, how: str) -> dict[str, object]:
    """A barrier before each step that halves the sums, and one before the result is read."""
    steps = round(log2(threads))
    trees = 1 if "together" in how else 2
    words = {1: "is one tree", 2: "are two trees"}[trees]
    return {"answer": trees * (steps + 1), "steps": steps, "once": steps + 1, "trees": words}


def warps_of_columns(N: int, sms: int) -> dict[str, int]:
    """Warps of the multiprocessor that has most."""
    warps = N // LANES
    return {"answer": -(-warps // sms), "warps": warps}


def rate_of_columns(N: int, rows: int, ns: float) -> float:
    """Bytes in flight over their latency (Little, 1961), in GB/s."""
    return N * rows * 2 * HALF / ns


def threads_of_bands(band: int, M: int, N: int) -> dict[str, int]:
    """A thread for each column of each band."""
    bands = -(-M // band)
    return {"answer": bands * N, "bands": bands}


def sum_in_order(others: int, when: str) -> dict[str, object]:
    """FP32 additions one after another (IEEE 754, to the nearest, ties to even)."""
    first = "first" in when
    terms = [2.0**24, *[1.0] * others] if first else [*[1.0] * others, 2.0**24]
    total = np.float32(0)
    for term in terms:
        total = np.float32(total + np.float32(term))
    why = (
        "Each added 1 is lost"
        if first
        else f"Here the ones first add up to {others}, which is even, and nothing is lost"
    )
    return {"answer": float(total), "why": why}


def megabytes_of_kernels(side: int, how: str) -> dict[str, object]:
    """Megabytes of so many readings of x and dy, and a writing of dx."""
    readings = 1 if "keeps" in how else 2 if "cache" in how else 3
    words = {1: "one reading", 2: "two readings", 3: "three readings"}[readings]
    megabytes = HALF * side**2 / 1e6
    what = f"{words.capitalize()} each of x and dy and one writing of dx"
    return {"answer": (2 * readings + 1) * megabytes, "what": what, "megabytes": megabytes}


def requests_of_rows(rows: int, N: int) -> int:
    """Warp loads of single halves: x and dy three times, gamma twice."""
    return 8 * rows * N // LANES


def registers_of_columns(columns: int, what: str) -> dict[str, object]:
    """Two floats for each column; besides, three halves, two of them in a register."""
    sums = 2 * columns
    if "two halves" not in what:
        return {"answer": sums, "why": "Two sums for each column, with a register each"}
    why = "Two sums for each column take two registers, and x, dy and gamma half a register each"
    return {"answer": sums + 3 * columns // 2, "why": why}


def blocks_of_registers(threads: int, registers: int) -> dict[str, int]:
    """Blocks that fit by registers and by threads (CUDA C++ Programming Guide, compute capabilities 8.0 and 9.0)."""
    by_registers, by_threads = REGISTERS // (threads * registers), THREADS // threads
    return {
        "answer": min(by_registers, by_threads),
        "by_registers": by_registers,
        "by_threads": by_threads,
        "taken": threads * registers,
    }


def share_of_parts(blocks: int, M: int) -> dict[str, float]:
    """Per cent of three halves for each row that two floats for each block are, written and read."""
    parts, rows = 2 * 2 * FLOAT * blocks, 3 * HALF * M
    return {"answer": 100 * parts / rows, "parts": parts, "rows": rows}


def share_without_loads(load: float, add: float, write: float) -> dict[str, float]:
    """Per cent of the time of all three."""
    whole = load + add + write
    return {"answer": 100 * (add + write) / whole, "all": whole}


def rate_of_rows(us: float, N: int) -> float:
    """GB/s of a row of x, dy and dx on each multiprocessor in so many microseconds."""
    return SMS * 3 * HALF * N / us / 1e3


def ring_of_rows(stages: int, N: int, what: str) -> dict[str, float]:
    """KiB of all places, or of all but the one that is worked on."""
    place = 2 * HALF * N / 1024
    places = stages if "ring" in what else stages - 1
    return {"answer": places * place, "place": place, "places": places}


def groups_pending(ahead: int) -> int:
    """Groups that were closed later (PTX ISA, cp.async.wait_group)."""
    return ahead


def between_copy_and_read(who: str) -> dict[str, str]:
    """Own copies need the wait alone; those of others a barrier after it (PTX ISA, cp.async.wait_group)."""
    wait = "`cp.async.wait_group`, by each thread for its own copies"
    if "itself" in who:
        return {
            "answer": f"{wait}.",
            "why": "Here no thread needs copies of another thread, so there is no barrier.",
        }
    why = "So each thread waits for its own copies, and the barrier then tells the others that the copies are complete."
    return {"answer": f"{wait}, and then `__syncthreads()`.", "why": why}


def time_of_instructions(each: float, ghz: float) -> dict[str, float]:
    """Microseconds in which four schedulers of each multiprocessor start them, one in each clock."""
    warps = 8192**2 / LANES
    return {"answer": warps * each / (SMS * 4 * ghz * 1e3), "warps": warps}


def megabytes_of_long_rows(M: int, N: int) -> dict[str, float]:
    """One reading of x and dy, or two of rows that a block cannot keep, and one writing of dx."""
    moved = HALF * (3 if N <= KEPT else 5)
    return {"answer": moved * M * N / 1e6, "moved": moved}


def blocks_of_cluster(rows: int, N: int) -> dict[str, int]:
    """Two floats of each block for each row."""
    blocks = -(-N // KEPT)
    return {"answer": 2 * FLOAT * blocks * rows, "blocks": blocks}


def saved_by_fusing(side: int, where: str) -> dict[str, float]:
    """Megabytes of six matrices less four."""
    megabytes = HALF * side**2 / 1e6
    return {"answer": 2 * megabytes, "megabytes": megabytes}

"""Answers to the probes of this interview: numbers of BF16, norms of sums, bytes of two kernels and of one."""

from math import gcd, log2

import ml_dtypes
import numpy as np

from grader.analysis.access import LANES, SECTOR, global_access

BFLOAT, FLOAT = 2, 4  # bytes
SMS = 132  # multiprocessors of an H200
SCHEDULERS = 4  # of a multiprocessor
PACK = 16 // BFLOAT  # elements of a request's 16 bytes
KEPT = 512 * 64  # elements of a row that a block keeps


def shortest_time(M: int, N: int, rate: float, how: str) -> dict[str, object]:
    """Microseconds of two readings and two writings, or of those of two kernels, at `rate` TB/s."""
    one = "one kernel" in how
    moved = (4 if one else 5) * BFLOAT
    words = (
        "x and the residual are read, and the sum and y are written: 8 bytes for each element"
        if one
        else "The addition reads two matrices and writes one, and the norm reads one and writes one: "
        "6 + 4 = 10 bytes for each element"
    )
    return {"answer": moved * M * N / rate / 1e6, "bytes": moved, "moved": words}


def element_of_norm(mean: int, deviation: int, x: int) -> dict[str, float]:
    """x over the root mean square (Zhang and Sennrich, 2019), whose square is mean² + deviation²."""
    square = mean**2 + deviation**2
    return {"answer": x / square**0.5, "square": square, "root": square**0.5}


def sum_in_format(count: int, x: float, format: str) -> dict[str, object]:
    """A sum that is rounded to the format (to the nearest, ties to even) after each addition."""
    kind = ml_dtypes.bfloat16 if format == "BF16" else np.float16
    total, one = kind(0), kind(x)
    for _ in range(count):
        after = kind(float(total) + float(one))
        if after == total:
            break
        total = after
    bits, stop = (8, 256) if format == "BF16" else (11, 2048)
    exact, answer = count * x, float(total)
    why = (
        f"From {stop} · {x} on, {x} is no more than half the distance between neighbours, "
        "and adding it changes nothing"
    )
    if answer == exact:
        why = f"The sum stays below {stop} · {x}, so that every addition is exact"
    return {"answer": answer, "bits": bits, "why": why}


def value_of_bits(bits: str) -> dict[str, object]:
    """The number of a BF16's 16 bits, by way of the float with the same upper bits (IEEE 754)."""
    number = int(bits, 16)
    value = float(np.array([number << 16], np.uint32).view(np.float32)[0])
    exponent, fraction = number >> 7 & 0xFF, number & 0x7F
    return {"answer": value, "full": f"{bits}0000", "exponent": exponent, "fraction": fraction}


def number_squared(x: int, residual: int) -> dict[str, float]:
    """x + residual as BF16 stores it (8 significant bits, to the nearest, ties to even)."""
    added = x + residual
    gap = 2 ** (int(log2(added)) - 7)
    return {"answer": float(ml_dtypes.bfloat16(added)), "added": added, "gap": gap}


def sectors_of_load(N: int) -> dict[str, int]:
    """Sectors of the first elements of 32 rows of N elements (grader.analysis.access)."""
    step = BFLOAT * N
    return {"answer": global_access([step * lane for lane in range(LANES)], BFLOAT).sectors, "step": step}


def share_of_threads(sms: int, M: int, N: int) -> float:
    """Per cent of the threads of all multiprocessors, with one for each row."""
    return 100 * M / (sms * 2048)


def elements_loaded(M: int, N: int, how: str) -> dict[str, object]:
    """Millions: x, the residual and gamma, and what the second loop has of the sum."""
    again = "reads the sum" in how
    each = 4 if again else 5
    words = "the sum" if again else "x and the residual again"
    return {"answer": each * M * N / 1e6, "each": each, "words": words}


def sectors_of_block(N: int) -> int:
    """Sectors of x, the residual, the sum and gamma side by side."""
    return 4 * BFLOAT * N // SECTOR


def barriers_of_sum(threads: int, how: str) -> dict[str, object]:
    """One before each step of a tree and one before the result is read, or one in all."""
    if "shuffles" in how:
        return {"answer": 1, "why": "Shuffles need no barrier, only the floats in shared memory do"}
    steps = round(log2(threads))
    return {
        "answer": steps + 1,
        "why": f"A tree of {threads} floats has {steps} steps, and one barrier more comes at its end",
    }


def requests_of_rows(rows: int, N: int, what: str) -> dict[str, int]:
    """Warp loads of x, the residual, the sum and gamma, or warp stores of the sum and y, of 32 elements each."""
    each = 2 if "store" in what else 4
    return {"answer": each * rows * N // LANES, "each": each}


def sums_in_flight(blocks: int, N: int) -> float:
    """Megabytes of a row's sum for each block on 132 multiprocessors."""
    return SMS * blocks * BFLOAT * N / 1e6


def registers_for_row(threads: int, N: int, form: str) -> dict[str, object]:
    """Registers of 4 bytes for N / threads elements."""
    elements = N // threads
    packed = "BF16" in form
    words = "two in a register" if packed else "one in a register"
    return {"answer": elements // 2 if packed else elements, "elements": elements, "words": words}


def requests_of_packs(M: int, N: int) -> dict[str, int]:
    """Loads of x, the residual and gamma and stores of the sum and y, 16 bytes a lane."""
    return {"answer": 5 * M * N // (LANES * PACK), "bytes": LANES * 16}


def aligned_rows(M: int, N: int) -> dict[str, int]:
    """Rows whose first byte is a multiple of 16."""
    every = PACK // gcd(N, PACK)
    return {"answer": -(-M // every), "every": every}


def instructions_to_spare(rate: float, ghz: float) -> dict[str, float]:
    """Warp instructions that all schedulers start in the time of 8 bytes for each of 32 elements."""
    moved = 4 * BFLOAT * LANES
    return {"answer": SMS * SCHEDULERS * ghz * 1e9 * moved / (rate * 1e12), "moved": moved}


def megabytes_of_rows(M: int, N: int) -> dict[str, float]:
    """Two readings and two writings, and a third reading of rows that a block cannot keep."""
    moved = BFLOAT * (4 if N <= KEPT else 5)
    return {"answer": moved * M * N / 1e6, "moved": moved}


def saved_by_a_byte(side: int, which: str) -> dict[str, object]:
    """Megabytes of two kernels less those of one."""
    if "quantises" in which:
        parts, saved = "Separate kernels move 8 + 3 bytes for each element, and one kernel 7", 4
    else:
        parts, saved = "The addition moves 6 bytes for each element and the norm 4, and one kernel 8", 2
    return {"answer": saved * side**2 / 1e6, "parts": parts, "saved": saved}


def published_by_cluster(rows: int, N: int) -> dict[str, int]:
    """A float of each block for each row."""
    blocks = -(-N // KEPT)
    return {"answer": FLOAT * blocks * rows, "blocks": blocks}

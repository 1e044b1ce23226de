"""Sums about a loop on a CPU: its bound, its vectors, its tiles and its threads.

Sources: Goto and van de Geijn, 2008 (tiles that fit into a cache); OpenMP (static schedule); Amdahl, Validity of the
single processor approach, AFIPS 1967.
"""

import math

FLOAT = 4  # bytes
LINE = 64  # bytes of a cache line
IN_FLIGHT = 2 * 4  # FMAs: two start in a clock, each takes 4 clocks
TILE_UNIT = 16


def peak(cores: int, ghz: float, bits: int, units: int) -> dict[str, float]:
    """GFLOP/s in FP32: cores × clock × lanes × units × 2."""
    lanes = bits // 8 // FLOAT
    clock = lanes * units * 2
    return {"answer": cores * ghz * clock, "lanes": lanes, "clock": clock}


def bound(gflop: float, gb: float, tflop: float, bandwidth: float) -> dict[str, float]:
    """Milliseconds: the longer of arithmetic and memory."""
    arithmetic, memory = gflop / tflop, 1e3 * gb / bandwidth
    return {"answer": max(arithmetic, memory), "arithmetic": arithmetic, "memory": memory}


def share_of_fma(accumulators: int) -> float:
    """Per cent of the FMA units' peak with so many independent chains."""
    return 100 * min(accumulators / IN_FLIGHT, 1)


def tile_side(kib: int) -> dict[str, float]:
    """The largest multiple of 16 with three square tiles of floats in the cache."""
    nbytes = kib * 1024
    most = math.sqrt(nbytes / (3 * FLOAT))
    return {"answer": int(most // TILE_UNIT * TILE_UNIT), "bytes": nbytes, "most": most}


def traffic(n: int, tile: int) -> dict[str, float]:
    """GB of A and B that a blocked product reads: each matrix n / tile times."""
    matrix, times = FLOAT * n**2 / 1e9, n / tile
    return {"answer": 2 * times * matrix, "times": times, "matrix": matrix}


def static_schedule(n: int, threads: int) -> dict[str, float]:
    """Time of contiguous chunks of iterations that take 1, 2, …, n µs, over that of even work."""
    last = sum(range(n - n // threads + 1, n + 1))
    even = n * (n + 1) / 2 / threads
    return {"answer": last / even, "last": last, "even": even}


def threads_that_help(core: int, socket: int) -> dict[str, float]:
    """The fewest threads that fill the memory channels."""
    return {"answer": math.ceil(socket / core), "ratio": socket / core}


def counters_a_line(threads: int, bytes: int) -> dict[str, float]:
    """Threads whose counters lie in the first cache line."""
    line = LINE // bytes
    return {"answer": min(line, threads), "line": line}


def serial_rest(percent: int, threads: int) -> dict[str, float]:
    """Amdahl's law."""
    serial = percent / 100
    return {
        "answer": 1 / (serial + (1 - serial) / threads),
        "serial": serial,
        "parallel": 1 - serial,
    }

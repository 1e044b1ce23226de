"""Answers to the probes of this interview: bytes and instructions of a weight of 4 bits, rows that share x, halves by
their bits, tiles."""

from math import ceil

import numpy as np

from grader.analysis.access import LANES, SECTOR, global_access

BITS = 4  # of a weight
IN_WORD = 8
HALF = 2  # bytes
WIDE = 16  # bytes of a lane's load of x
SMS = 132  # multiprocessors of an H200
SIDE = 16384


def _bits(group: int) -> float:
    """Of a weight, with its part of a scale of 16 bits."""
    return BITS + 16 / group


def _weights(width: int) -> int:
    """Of a lane's load of so many bytes."""
    return width * 8 // BITS


def shortest_time(N: int, K: int, group: int, rate: int) -> dict[str, float]:
    """Microseconds of reading weights and scales once at `rate` TB/s."""
    megabytes = N * K * _bits(group) / 8 / 1e6
    return {"answer": megabytes / rate, "megabytes": megabytes, "bits": _bits(group)}


def instructions_in_time(sms: int, clock: float, rate: int) -> dict[str, float]:
    """Of a lane for each weight, while it is read."""
    issued, weights = sms * 4 * LANES * clock / 1e3, rate * 8 / BITS
    return {"answer": issued / weights, "issued": issued, "weights": int(weights)}


def scale_products(K: int, group: int, N: int) -> dict[str, int]:
    """One for each group."""
    return {"answer": N * K // group, "each": K // group}


def kilobytes_of_rows(K: int, width: int) -> dict[str, float]:
    """KB of sectors of 32 rows: as many for each load as lanes."""
    loads = K * BITS // 8 // width
    return {"answer": loads * LANES * SECTOR / 1e3, "times": SECTOR // width}


def time_of_instructions(count: int, side: int) -> dict[str, float]:
    """Microseconds of `count` instructions a weight at 30 · 10¹² a second."""
    return {"answer": side**2 * count / 30e12 * 1e6, "millions": side**2 / 1e6}


def sectors_of_row(K: int) -> dict[str, int]:
    """Sectors of a row of W and of x, which is as long."""
    of_w, of_x = K * BITS // 8 // SECTOR, K * HALF // SECTOR
    return {"answer": of_w + of_x, "of_w": of_w, "of_x": of_x}


def group_of_word(group: int, word: int) -> dict[str, int]:
    """The group of the word's first weight, and so of all of them."""
    return {"answer": IN_WORD * word // group, "first": IN_WORD * word}


def share_of_x(rows: int, bits: int) -> dict[str, float]:
    """Per cent of the bits of an element of x and of the weights that it meets."""
    return {"answer": 100 * 16 / (16 + rows * bits), "of_w": rows * bits}


def rate_in_flight(warps: int, width: int, latency: int) -> dict[str, float]:
    """TB/s: bytes in flight over latency (Little, 1961)."""
    nbytes = SMS * warps * LANES * width
    return {"answer": nbytes / latency / 1e3, "kilobytes": nbytes / 1e3}


def sectors_with_rows(rows: int, K: int) -> int:
    """Sectors of so many rows of W and of x once."""
    return rows * sectors_of_row(K)["of_w"] + sectors_of_row(K)["of_x"]


def rows_beyond(N: int, rows: int) -> dict[str, int]:
    """Rows that the last block computes and does not store."""
    blocks = ceil(N / rows)
    return {"answer": blocks * rows - N, "blocks": blocks, "computed": blocks * rows}


def requests_of_rows(rows: int, K: int, width: int) -> dict[str, int]:
    """Warp loads of W, as many of scales, and those of x."""
    weights = LANES * _weights(width)
    of_w, of_x = rows * K // weights, K * HALF // (LANES * WIDE)
    return {"answer": 2 * of_w + of_x, "weights": weights, "of_w": of_w, "of_x": of_x}


def instructions_with_loads(each: int, fixed: int, width: int) -> dict[str, float]:
    """Of a weight, with its part of what belongs to a load."""
    return {"answer": each + fixed / _weights(width), "weights": _weights(width)}


def steps_of_warp(warps: int, K: int) -> dict[str, int]:
    """Steps of the first warp, the last of which may be a part of one."""
    step = warps * LANES * _weights(WIDE)
    return {"answer": ceil(K / step), "step": step}


def sectors_of_x(width: int) -> dict[str, int]:
    """Sectors of all loads of x that belong to a load of W (grader.analysis.access)."""
    nbytes = _weights(width) * HALF
    each = global_access([nbytes * lane for lane in range(LANES)], WIDE).sectors
    loads = nbytes // WIDE
    return {"answer": loads * each, "nbytes": nbytes, "loads": loads, "each": each}


def rate_of_instructions(count: int, bits: int, issued: int) -> dict[str, float]:
    """TB/s of weights at which the instructions take all of the time."""
    return {"answer": issued / count * bits / 8, "weights": issued / count}


def time_of_conversions(side: int, lanes: int) -> dict[str, float]:
    """Microseconds of a conversion for each weight."""
    rate = SMS * lanes * 1.5e9
    return {"answer": side**2 / rate * 1e6, "rate": rate / 1e12, "millions": side**2 / 1e6}


def half_of_bits(q: int, places: int) -> dict[str, float]:
    """A half by its bits (IEEE 754)."""
    return {"answer": float(np.uint16(0x6400 | q << places).view(np.float16)), "worth": 1 << places}


def upper_weight(shift: int, mask: str) -> dict[str, int]:
    """The weight whose nibble is the upper one that the mask leaves."""
    place = int(mask, 16).bit_length() - BITS
    return {"answer": (place + shift) // BITS, "place": place, "bit": place + shift}


def instructions_of_word(unpacking: int, rows: int) -> float:
    """Of a weight: its part of unpacking, a conversion, a multiply-add, and its part of converting x."""
    return unpacking / IN_WORD + 2 + 1 / rows


def product_in_half(weight: int, x: int) -> dict[str, float]:
    """A product of two halves, rounded to the nearest half, ties to even (IEEE 754)."""
    rounded = np.float16(weight) * np.float16(x)
    return {"answer": float(rounded), "gap": float(np.spacing(rounded)), "exact": weight * x}


def products_of_tiles(N: int, K: int, depth: int) -> dict[str, int]:
    """Tiles of 16 rows."""
    return {"answer": N * K // (16 * depth), "each": 16 * depth}


def group_of_lane(width: int, group: int, lane: int) -> dict[str, int]:
    """The group of a lane's pack."""
    packs = group // _weights(width)
    return {"answer": lane // packs, "packs": packs, "weights": _weights(width)}


def share_of_bound(time: int, rate: int) -> dict[str, float]:
    """Per cent of the time that reading weights and scales takes at `rate` TB/s."""
    least = shortest_time(SIDE, SIDE, 128, rate)["answer"]
    return {"answer": 100 * least / time, "least": least}


def share_without_block(rows: int, N: int, sms: int) -> dict[str, float]:
    """Per cent of multiprocessors without a block of `rows` rows."""
    blocks = N // rows
    return {"answer": 100 * (sms - blocks) / sms, "blocks": blocks}


def batch_at_ridge(peak: int, rate: int, group: int) -> dict[str, float]:
    """Vectors at which 2B operations for a weight take as long as its bytes (Williams et al., 2009)."""
    bits, ridge = _bits(group), peak / rate
    return {"answer": ridge * bits / 16, "ridge": ridge, "bits": bits}


def warps_with_steps(width: int, K: int) -> dict[str, int]:
    """Whole steps of a warp in a row."""
    step = LANES * _weights(width)
    return {"answer": K // step, "weights": _weights(width), "step": step}

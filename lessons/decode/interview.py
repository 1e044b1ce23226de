"""Answers to the probes of this interview: bytes of caches, instructions, parts and their sums, shares of blocks."""

from math import ceil, floor, log2

from grader.analysis.access import LANES, SECTOR

HALF, FLOAT = 2, 4  # bytes
D, PAGE = 128, 16  # numbers of a key, tokens of a page
TOKEN = 2 * D * HALF  # bytes of a key and a value of one head
SMS = 132  # multiprocessors of an H200
REGISTERS = 65536  # of a multiprocessor (CUDA C++ Programming Guide)
EXPONENTIALS = 16  # a clock of a multiprocessor (CUDA C++ Programming Guide, arithmetic instructions)
CLOCK = 1.9e9  # of a multiprocessor, in all probes that need one
TILE = 8  # queries of an mma.sync of 16 × 8 × 16 (PTX ISA)
PART = TILE * (D + 2) * FLOAT  # bytes that a part stores: sums, a maximum and a total of each query


def _lengths(lengths: str) -> list[int]:
    """Of sequences, as a prompt tells them: "500, 2000 and 16000"."""
    return [int(length) for length in lengths.replace(" and ", ", ").split(", ")]


def least_time(B: int, kv: int, lengths: str, rate: int) -> dict[str, float]:
    """Microseconds of reading keys and values of all tokens once, 512 bytes for each head."""
    tokens = 8000 if "each have" in lengths else 8000 * 5 / 8
    megabytes = B * tokens * kv * TOKEN / 1e6
    return {"answer": megabytes / rate, "megabytes": megabytes, "tokens": tokens}


def rate_of_products(heads: int, kv: int, bits: int, rate: int) -> dict[str, float]:
    """TFLOP/s of both products while a cache is read: 4 operations for each number of a key, and of each query head."""
    group = heads // kv
    intensity = 4 * group / (2 * bits / 8)
    return {"answer": rate * intensity, "intensity": intensity, "group": group}


def multiprocessors_at_work(B: int, kv: int) -> dict[str, float]:
    """Per cent of 132 multiprocessors that have a block."""
    return {"answer": 100 * B * kv / SMS, "blocks": B * kv}


def kilobytes_of_keys(D: int, width: int) -> dict[str, float]:
    """KB of sectors that 32 threads move, each with a key of its own: as many for each load as threads."""
    loads = HALF * D // width
    return {"answer": loads * LANES * SECTOR / 1e3, "loads": loads, "keys": LANES * HALF * D / 1e3}


def time_of_exponentials(queries: int, T: int) -> dict[str, float]:
    """Microseconds of 128 exponentials for each score, at 16 a clock and multiprocessor."""
    count = queries * T * D
    return {"answer": count / (SMS * EXPONENTIALS * CLOCK) * 1e6, "billions": count / 1e9}


def sectors_of_query(T: int, bits: int) -> dict[str, int]:
    """Sectors of keys and values of so many tokens, each touched once."""
    each = 2 * D * bits // 8 // SECTOR
    return {"answer": T * each, "each": each}


def total_after_token(old: int, total: int, new: int) -> dict[str, float]:
    """A sum of exponentials, scaled to the larger maximum, with one more term (Milakov and Gimelshein, 2018)."""
    top = max(old, new)
    return {"answer": (total * old + new) / top, "top": top}


def time_of_tokens(count: int, B: int, T: int) -> dict[str, float]:
    """Milliseconds of so many warp instructions for each token and 64 query heads, four a clock and multiprocessor."""
    billions = count * B * T * 64 / 1e9
    return {"answer": billions * 1e9 / (SMS * 4 * CLOCK) * 1e3, "billions": billions}


def rate_in_flight(warps: int, tokens: int, latency: int) -> dict[str, float]:
    """TB/s: bytes in flight over latency (Little, 1961)."""
    nbytes = SMS * warps * tokens * TOKEN
    return {"answer": nbytes / latency / 1e3, "megabytes": nbytes / 1e6}


def warps_for_rate(rate: int, latency: int, bits: int) -> dict[str, float]:
    """Warps of a multiprocessor that have as many pages in flight as arrive in the latency (Little, 1961)."""
    page, needed = PAGE * 2 * D * bits // 8, rate * latency * 1e3 / SMS
    return {"answer": ceil(needed / page), "page": page, "needed": needed}


def shuffles_of_page(lanes: int, page: int) -> dict[str, int]:
    """Steps of a butterfly through so many lanes, for each load that brings a row to each group of them."""
    at_once, steps = LANES // lanes, int(log2(lanes))
    return {"answer": page // at_once * steps, "at_once": at_once, "steps": steps}


def gigabytes_of_heads(B: int, T: int, heads: int, kv: int) -> dict[str, float]:
    """GB of loads where each query head reads keys and values for itself."""
    return {"answer": B * T * heads * TOKEN / 1e9, "cache": B * T * kv * TOKEN / 1e9}


def instructions_of_token(group: int, others: int) -> dict[str, int]:
    """Warp instructions: a conversion and a multiply-add for each of 256 numbers, 32 at once, in every query head."""
    each = 2 * 2 * D // LANES
    return {"answer": group * (each + others), "each": each}


def products_of_task(T: int, D: int, group: int) -> dict[str, int]:
    """mma.sync of 16 × 8 × 16 for both products (PTX ISA)."""
    pages, tiles, each = T // PAGE, ceil(group / TILE), D // 16
    return {"answer": 2 * pages * tiles * each, "pages": pages, "tiles": tiles, "each": each}


def product_of_number(n: int) -> dict[str, int]:
    """The mma.sync that gets a number of a key: two for each load of 32 numbers, by halves of a lane's eight."""
    load, lane, place = n // 32, n % 32 // 8, n % 8
    return {"answer": 2 * load + place // 4, "load": load, "lane": lane, "place": place}


def time_of_few_blocks(B: int, T: int, each: int) -> float:
    """Microseconds in which a block reads what a sequence has of one head; blocks run at the same time."""
    return T * TOKEN / each / 1e3


def busy_until_longest(lengths: str) -> dict[str, float]:
    """Per cent of the time of the longest sequence that its multiprocessor and those of others read."""
    tokens = _lengths(lengths)
    mean, longest = sum(tokens) / len(tokens), max(tokens)
    return {"answer": 100 * mean / longest, "mean": mean, "longest": longest}


def merged_output(a: int, s: int, x: int, b: int, t: int, y: int) -> dict[str, float]:
    """Sums of two parts, each weighed by exp(its maximum - the larger one) (Rabe and Staats, 2021)."""
    top = max(a, b)
    numerator, denominator = (a * x + b * y) / top, (a * s + b * t) / top
    return {
        "answer": numerator / denominator,
        "top": top,
        "numerator": numerator,
        "denominator": denominator,
    }


def share_of_part(tokens: int, group: int) -> dict[str, float]:
    """Bytes that a part writes and others read, for each 1,000 of keys and values."""
    moved = 2 * group * (D + 2) * FLOAT
    return {"answer": 1000 * moved / (tokens * TOKEN), "moved": moved, "read": tokens * TOKEN}


def stored_by_parts(length: int, parts: int) -> dict[str, float]:
    """Bytes that parts of a sequence store for each 100 that are read of its keys and values."""
    return {"answer": 100 * parts * PART / (length * TOKEN), "stored": parts * PART, "read": length * TOKEN}


def time_of_merge(B: int, parts: int, rate: int) -> dict[str, float]:
    """Microseconds of a start and of reading what the parts of 8 heads of each sequence have stored."""
    megabytes = B * 8 * parts * PART / 1e6
    return {"answer": 4 + megabytes / rate, "megabytes": megabytes, "reading": megabytes / rate}


def pages_of_share(lengths: str, kv: int, blocks: int) -> dict[str, int]:
    """Pages of all tasks together over the blocks, rounded up."""
    pages = sum(ceil(length / PAGE) for length in _lengths(lengths))
    return {"answer": ceil(pages * kv / blocks), "pages": pages, "all": pages * kv}


def blocks_of_task(begin: int, pages: int, share: int) -> dict[str, int]:
    """Blocks that have a page of a task, where block i has the pages from i · share on."""
    first, last = floor(begin / share), floor((begin + pages - 1) / share)
    return {"answer": last - first + 1, "first": first, "last": last, "end": begin + pages - 1}


def share_of_bound(time: int, B: int, rate: int) -> dict[str, float]:
    """Per cent of the rate of memory at which 8 heads of 5,000 tokens of each sequence are read."""
    megabytes = B * 5000 * 8 * TOKEN / 1e6
    least = megabytes / rate
    return {"answer": 100 * least / time, "megabytes": megabytes, "least": least}


def kib_in_flight(registers: int) -> dict[str, int]:
    """KiB: pages of keys and values of four warps in each block that registers leave room for."""
    blocks = REGISTERS // (128 * registers)
    return {"answer": blocks * 4 * PAGE * TOKEN // 1024, "blocks": blocks}


def gain_of_format(kv: int, format: str) -> dict[str, float]:
    """Bytes of a token in halves over those in another format (DeepSeek-AI, 2024, of the latent)."""
    other = (512 + 64) * HALF if "latent" in format else kv * 2 * (D + FLOAT)
    return {"answer": kv * TOKEN / other, "halves": kv * TOKEN, "other": other}


def operations_with_drafts(tokens: int, group: int, bits: int) -> dict[str, float]:
    """Operations for each byte of a cache that so many new tokens and their query heads share."""
    queries = tokens * group
    return {"answer": 4 * queries / (2 * bits / 8), "queries": queries}


def share_with_prefix(B: int, prompt: int, own: int) -> dict[str, float]:
    """Per cent of the tokens that are read where a common prompt is read once and not for each sequence."""
    once, before = prompt + B * own, B * (prompt + own)
    return {"answer": 100 * once / before, "once": once, "before": before}

"""Probes of mixture-of-experts: rows, bytes and loads. MB / (GB/s) is ms.

Capacity after Fedus, Zoph and Shazeer, 2021; grouped products after Gale et al., 2022.
"""

import math
import re

SIZES = {"FP8": 1, "BF16": 2}
CHOSEN = (2, 0, 1, 2, 0, 2, 1, 1, 0, 2)  # as the probe says


def experts_touched(k: int, experts: int, batch: int) -> float:
    """Expected number of experts that at least one token chooses."""
    return experts * (1 - (1 - k / experts) ** batch)


def batch_for_ridge(rows: int, k: int, experts: int) -> float:
    """Tokens with which each expert gets so many rows."""
    return rows * experts / k


def dispatch_ms(n: int, tokens: int, hidden: int, type: str, k: int, gigabytes: int) -> dict[str, float]:
    """Milliseconds of the dispatch: copies for experts on other GPUs."""
    part = (n - 1) / n
    megabytes = tokens * k * hidden * SIZES[type] * part / 1e6
    return {"answer": megabytes / gigabytes, "size": SIZES[type], "part": part, "megabytes": megabytes}


def efficiency(loads: str) -> dict[str, float]:
    """Mean load over the largest, in per cent."""
    each = _numbers(loads)
    mean = sum(each) / len(each)
    return {"answer": 100 * mean / max(each), "mean": mean, "most": max(each)}


def tokens_dropped(loads: str, all: int, factor: float) -> dict[str, float]:
    """Tokens above the capacity factor · T / E."""
    capacity = factor * all / 4
    dropped = sum(max(0.0, share / 100 * all - capacity) for share in _numbers(loads))
    return {"answer": round(dropped), "capacity": capacity}


def useful_share(tile: int, loads: str) -> dict[str, float]:
    """Rows over the rows of all tiles, in per cent."""
    rows = _numbers(loads)
    tiles = sum(math.ceil(count / tile) for count in rows)
    return {"answer": 100 * sum(rows) / (tiles * tile), "used": sum(rows), "tiles": tiles}


def place_of_token(token: int) -> dict[str, float]:
    """Where a stable sort by expert puts a token."""
    expert = CHOSEN[token]
    begin = sum(other < expert for other in CHOSEN)
    before = CHOSEN[:token].count(expert)
    return {"answer": begin + before, "expert": expert, "begin": begin, "before": before}


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]

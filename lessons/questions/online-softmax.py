"""Probes of online-softmax: the update of Milakov and Gimelshein, 2018, in powers of 2, and its passes."""

import math

PASSES = {"three passes": 4, "online": 3, "kept": 2}  # reads and the write


def largest_score(function: str, type: str) -> dict[str, float]:
    """The largest whole x whose power is finite."""
    most = {"FP16": 65504.0, "FP32": 3.4028234e38}[type]
    log = math.log(most) if function == "exp(x)" else math.log2(most)
    return {"answer": math.floor(log), "log": log, "most": most}


def running_sum(maximum: int, total: float, scores: str) -> dict[str, float]:
    """The sum after a block of scores: the old one rescaled to the new maximum, and the new terms."""
    values = [int(score) for score in scores.split(" and ")]
    new = max(maximum, *values)
    old = total * 2.0 ** (maximum - new)
    added = sum(2.0 ** (value - new) for value in values)
    return {"answer": old + added, "new": new, "old": old, "added": added}


def share_of_old(maximum: int, total: int, last: int) -> dict[str, float]:
    """The last score's weight in per cent."""
    new = max(maximum, last)
    term = 2.0 ** (last - new)
    whole = total * 2.0 ** (maximum - new) + term
    return {"answer": 100 * term / whole, "new": new, "whole": whole, "term": term}


def softmax_ms(rows: int, columns: int, bandwidth: int, how: str) -> dict[str, float]:
    """Milliseconds of so many passes over the matrix."""
    gigabytes = rows * columns * 4 / 1e9
    passes = next(count for word, count in PASSES.items() if word in how)
    return {"answer": passes * gigabytes / bandwidth, "passes": passes, "gigabytes": gigabytes}


def merged_output(m1: int, l1: int, o1: int, m2: int, l2: int, o2: int) -> dict[str, float]:
    """Two normalised outputs, weighted with the sums of their terms."""
    w1, w2 = l1 * 2.0**m1, l2 * 2.0**m2
    return {"answer": (w1 * o1 + w2 * o2) / (w1 + w2), "w1": w1, "w2": w2, "both": w1 + w2}

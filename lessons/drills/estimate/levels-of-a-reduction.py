"""Levels of a reduction."""

import math


def blocks(mega: int, threads: int, each: int) -> float:
    """Elements over what a block takes in (Harris, kernel 7)."""
    return mega * 2**20 // (threads * each)


def levels(threads: int, **_: object) -> float:
    """Every level halves the number of sums (Harris)."""
    return int(math.log2(threads))


def least_us(mega: int, bandwidth: int, **_: object) -> float:
    """Every float is read once."""
    return 4 * mega * 2**20 / (bandwidth * 1e3)

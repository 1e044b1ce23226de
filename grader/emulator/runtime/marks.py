"""Counts the marks that launches leave of what they touched: a byte for each sector, a bit for each of its words."""

from __future__ import annotations

from numba import int64, uint64

from grader.emulator.runtime.native import pointer, population
from grader.emulator.runtime.options import native

PAGE_WORDS = 512
"""Of 8 bytes, in a page of marks."""


@native
def count_marks(one: int, other: int, pages: int, count: int, marked: int) -> int:
    """How many bits are set in either of two areas, on the pages whose numbers lie at `pages`; puts at `marked` how
    many of these pages have any. All are addresses but `count`."""
    numbers = pointer(pages, int64)
    found, pages_marked = int64(0), int64(0)
    for i in range(count):
        at = numbers[i] * PAGE_WORDS * 8
        first, second = pointer(one + at, uint64), pointer(other + at, uint64)
        on_page = int64(0)
        for word in range(PAGE_WORDS):
            on_page += population(int64(first[word] | second[word]))
        found += on_page
        pages_marked += on_page != 0
    pointer(marked, int64)[0] = pages_marked
    return found

"""Partial results of threads, merged by a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from figures.chart import arrow
from grader.report.pictures.svg import Sheet, heading

T = TypeVar("T")

WIDTH = 760.0
THREADS = 4  # each takes every fourth element
CELL, GAP = 168.0, 16.0
LEVEL = 92.0  # from one step of the tree to the next


def steps(alone: Sequence[T], merged: Callable[[T, T], T]) -> list[list[T]]:
    """The results of all threads after their own elements, two for each, then after each step of the tree."""
    found = [[merged(alone[thread], alone[thread + THREADS]) for thread in range(THREADS)]]
    while len(found[-1]) > 1:
        half = len(found[-1]) // 2
        found.append([merged(found[-1][thread], found[-1][thread + half]) for thread in range(half)])
    return found


def tree(
    title: str,
    below: str,
    elements: Sequence[int],
    levels: Sequence[Sequence[T]],
    told: Callable[[T], str],
    work: Callable[[T, T], str],
    note: str = "",
) -> str:
    """The elements, and the `levels` of results that steps() makes of them: what each is, and the work of each merge.
    `note` stands beside the last."""
    sheet = Sheet(WIDTH, 84 + LEVEL * len(levels), title, below)
    heading(sheet, title, below)
    left = (WIDTH - THREADS * CELL - (THREADS - 1) * GAP) / 2 + 6

    def column(thread: int) -> float:
        return left + thread * (CELL + GAP)

    for thread in range(THREADS):
        own = f"{elements[thread]} and {elements[thread + THREADS]}"
        sheet.text(column(thread) + CELL / 2, 78, f"thread {thread}", "dim", size=12, anchor="middle")
        sheet.rect(column(thread), 86, CELL, 26, "empty", radius=3)
        sheet.text(column(thread) + CELL / 2, 104, own, size=13, anchor="middle")
        arrow(sheet, (column(thread) + CELL / 2, 114), (column(thread) + CELL / 2, 134))
    for level, found in enumerate(levels):
        y = 136.0 + LEVEL * level
        for thread, result in enumerate(found):
            x = column(thread)
            sheet.rect(x, y, CELL, 30, "green" if len(found) == 1 else "blue", radius=3)
            sheet.text(x + CELL / 2, y + 20, told(result), "onto", size=13, anchor="middle")
        half = len(found) // 2
        for thread in range(half):
            top, foot = y + 32, y + 90
            arrow(sheet, (column(thread) + CELL / 2, top), (column(thread) + CELL / 2, foot))
            arrow(sheet, (column(thread + half) + CELL / 2, top), (column(thread) + CELL / 2 + 24, foot))
            sheet.rect(column(thread), y + 46, CELL, 18, "ground", opacity=0.9)
            said = work(found[thread], found[thread + half])
            sheet.text(column(thread) + CELL / 2, y + 60, said, "dim", size=12, anchor="middle")
    if note:
        sheet.text(column(1), 136.0 + LEVEL * (len(levels) - 1) + 20, note, size=13)
    return sheet.render()

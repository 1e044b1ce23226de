"""Slips in what a kernel computes with: where a loop begins, how far it goes on, how an index is formed, what stands
for elements that are not there. Each has a text that tells it, and a change that mends it.

Each kind of slips has a module. All are listed below but `numbers`, which is tried after what is likelier.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from grader.workbook.cuda_source import plain
from grader.workbook.edit import LONGEST, MOST, SEVERAL, Edit, lines_of
from grader.workbook.slips import ends, indices, kept, loops, macros, pointers, threads, tiles, values
from grader.workbook.suspects import integers

_CALLS = 20  # that are looked at, as values that are kept: bounds a stranger's work


def edits(source: str) -> Iterator[Edit]:
    """The changes to be tried, in this order."""
    text, lines = plain(source), list(lines_of(source))
    if max(map(len, text.split("\n"))) > LONGEST:
        return  # a stranger's work, which patterns would take long to look through
    yield from threads.of_some(source)
    yield from threads.first_of_lanes(text, lines)
    yield from islice(threads.each_warp(text[:MOST]), SEVERAL)
    yield from threads.handed_on(source)
    yield from islice(ends.of_another(text[:MOST], lines), SEVERAL)
    yield from islice(threads.written_ones(lines, source), SEVERAL)
    yield from integers.wider(lines)
    yield from values.low_bits(source, lines)
    yield from macros.edits(text)
    yield from loops.starts(text)
    yield from islice(loops.anew(text[:MOST]), SEVERAL)
    yield from islice(kept.edits(text[:MOST]), _CALLS)
    yield from islice(loops.asked_first(text[:MOST]), SEVERAL)
    yield from islice(loops.whole_runs(text[:MOST]), SEVERAL)
    yield from islice(values.signs_turned(lines), SEVERAL)
    yield from islice(values.added_to(text[:MOST]), SEVERAL)
    yield from islice(values.without_input(text[:MOST], lines), SEVERAL)
    yield from loops.goes_on(text[:MOST])
    yield from loops.split(text[:MOST])
    yield from loops.once_more(text[:MOST])
    yield from islice(loops.taken_off(text[:MOST]), SEVERAL)
    yield from islice(pointers.left_behind(text[:MOST]), SEVERAL)
    yield from islice(pointers.at_beginning(text[:MOST], lines), SEVERAL)
    yield from threads.first_row(text[:MOST], lines)
    yield from threads.last_lane(text, lines)
    yield from tiles.buffers(text, lines)
    yield from tiles.short_arrays(source, lines)
    yield from tiles.lengths(source, lines)
    yield from indices.parts(lines)
    yield from tiles.halos(source, lines)
    yield from tiles.behind_halo(text, lines)
    yield from tiles.right_halo(source, lines)
    yield from tiles.begins(source, lines)
    yield from tiles.windows(source, lines)
    yield from tiles.rows(lines)
    yield from values.begun_with(text, lines)
    yield from tiles.who_fills(lines)
    yield from tiles.blocks_apart(text[:MOST], lines)
    yield from values.counted(lines)
    yield from values.cut(text, lines)
    yield from ends.at_ends(lines)
    yield from islice(ends.in_front_of_0(text, lines), SEVERAL)
    yield from ends.clamped(text, lines)
    yield from ends.nearer(text, lines)
    yield from values.vectors(text, lines)
    yield from values.casts(text, lines)
    yield from islice(loops.left(text[:MOST]), SEVERAL)
    yield from indices.from_the_end(text, lines)
    yield from threads.strides(lines)
    yield from ends.rounded_down(lines)
    yield from indices.products(lines)
    yield from indices.turned(lines)
    yield from indices.runs(text, lines)
    yield from loops.ends(lines)
    yield from indices.layouts(lines)
    yield from indices.swizzled(lines)
    yield from indices.of_many(text, lines)
    yield from indices.counted(text[:MOST], lines)
    yield from indices.below_0(lines)
    yield from threads.of_one_thread(source, lines)
    yield from threads.parts(source, lines)
    yield from islice(values.exchanged(text[:MOST]), _CALLS)
    yield from threads.one_of_all(lines)
    yield from threads.one_for_all(lines)
    yield from islice(loops.without_counter(text[:MOST]), SEVERAL)
    yield from islice(threads.each_lane(lines), SEVERAL)
    yield from islice(indices.own_twice(lines), SEVERAL)
    yield from islice(indices.in_own_block(source, lines), SEVERAL)
    yield from islice(indices.along_one_axis(text, lines), 2 * SEVERAL)
    yield from islice(loops.from_the_first(lines), SEVERAL)
    yield from islice(loops.to_both_sides(lines), SEVERAL)


def guards(source: str) -> Iterator[Edit]:
    """Conditions where there are none, which are tried after changes of those that there are."""
    text, lines = plain(source), list(lines_of(source))
    if max(map(len, text.split("\n"))) <= LONGEST:
        yield from ends.guardless(text, lines)
        yield from ends.unguarded(text, lines)
        yield from islice(ends.each_row(text[:MOST]), SEVERAL)
        yield from ends.of_a_tree(text, lines)
        yield from ends.handed_on(source, lines)

"""What is wrong in a kernel's text whatever it is run on: what the compiler warns of and often is the mistake, and what
it lets pass, such as a sum that begins with nothing. That a kernel is wrong is known before anybody looks here.

Each kind of mistakes has a module. One that any wrong kernel may have is listed below; `sums`, `shared_memory` and
`integers` have others, which the judge asks for where it has seen a sum, a NaN or an index go wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter

from grader.emulator.nvrtc.compilation import Diagnostic
from grader.workbook.suspects import (
    grid,
    integers,
    lanes,
    loops,
    pointers,
    shared_memory,
    sums,
    syntax,
    warned,
)
from grader.workbook.suspects.text import Said, looked_at

_MISTAKES: tuple[Callable[[str], Iterator[Said]], ...] = (
    sums.without_value,
    sums.before_adding,
    sums.undone,
    sums.last_runs,
    sums.grows,
    pointers.not_set_back,
    pointers.short_rows,
    pointers.sizes,
    pointers.rows_of_its_own,
    loops.same_steps,
    loops.endless,
    loops.skipped_step,
    loops.ended_early,
    loops.not_set_back,
    loops.swaps,
    loops.rest_once,
    loops.other_index,
    loops.set_anew,
    loops.each_behind,
    loops.added_by_each,
    loops.begins_in_block,
    lanes.every_step,
    lanes.all_steps,
    grid.one_side,
    lanes.without_lanes,
    lanes.masks,
    lanes.own_votes,
    syntax.unbraced,
    syntax.macros,
    syntax.ended_macros,
    syntax.lost,
    syntax.all_return,
    syntax.not_rounded_up,
    syntax.chosen_last,
    syntax.multiplied,
    shared_memory.same_address,
    shared_memory.without_halo,
    shared_memory.of_grid,
    shared_memory.not_shared,
    grid.tickets,
    grid.shares,
    grid.not_there,
    lanes.first_bits,
    integers.top_bytes,
    shared_memory.swizzles,
    shared_memory.swizzled_by_matrix,
)
"""What is looked for; of two in one line, the first is told."""


def said(source: str, warnings: Sequence[Diagnostic], file: str) -> str:
    """The first of what is suspicious, by the line, in a sentence that says what mends it; "" for nothing."""
    text = looked_at(source)
    own = [item for item in warnings if item.file == file]
    # Of one line, what the compiler warns of comes first.
    found = chain(warned.told(text, own), *(mistake(text) for mistake in _MISTAKES))
    return min(found, key=itemgetter(0), default=(0, ""))[1]

"""In which order the blocks of a launch run, and the warps of a block, where that can matter."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from grader.emulator.runtime import layout

Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

Order = Literal["rising", "reversed", "shuffled", "switched", "crowded", "even warps first"]
"""By number; against it, as do the warps of a block; at random; at random, many at a time, which take turns at accesses
that others see, and see stores of others late where nothing orders them; by number, no more at a time than one
multiprocessor holds; or by number, the warps of a block in two rounds, those with even numbers first."""

REVERSED: Order = "reversed"
SWITCHED: Order = "switched"
CROWDED: Order = "crowded"
EVEN_FIRST: Order = "even warps first"
ORDERS: tuple[Order, ...] = tuple(order for order in get_args(Order) if order not in (CROWDED, EVEN_FIRST))
"""Those of blocks in which every kernel is right, one whose blocks are all there at a time among them."""
_SEED = 20
"""Of what is random: it is so in every run in the same way."""


def arranged(linears: Array, order: Order) -> Array:
    """The blocks in the order in which they begin."""
    if order == REVERSED:
        return np.ascontiguousarray(linears[::-1])
    if order in ("rising", CROWDED, EVEN_FIRST):
        return linears
    return np.random.default_rng(_SEED).permutation(linears)


def of_warps(order: Order) -> int:
    """How the warps of a block take their turns."""
    return {REVERSED: layout.FROM_LAST, EVEN_FIRST: layout.EVENS_FIRST}.get(order, layout.FROM_FIRST)


def seed(order: Order) -> int:
    """What the generator begins with by which blocks take turns; 0 where they run to their end if they can."""
    return _SEED if order == SWITCHED else 0

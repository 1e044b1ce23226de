"""In which order the blocks of a launch run, and the warps of a block, where that can matter."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

Order = Literal["rising", "reversed", "shuffled", "switched", "crowded"]
"""By number; against it, as do the warps of a block; at random; at random, many at a time, which take turns at accesses
that others see, and see stores of others late where nothing orders them; or by number, no more at a time than one
multiprocessor holds."""

REVERSED: Order = "reversed"
SWITCHED: Order = "switched"
CROWDED: Order = "crowded"
ORDERS: tuple[Order, ...] = tuple(order for order in get_args(Order) if order != CROWDED)
"""Those in which every kernel is right, one whose blocks are all there at a time among them."""
_SEED = 20
"""Of what is random: it is so in every run in the same way."""


def arranged(linears: Array, order: Order) -> Array:
    """The blocks in the order in which they begin."""
    if order == REVERSED:
        return np.ascontiguousarray(linears[::-1])
    if order in ("rising", CROWDED):
        return linears
    return np.random.default_rng(_SEED).permutation(linears)


def seed(order: Order) -> int:
    """What the generator begins with by which blocks take turns; 0 where they run to their end if they can."""
    return _SEED if order == SWITCHED else 0

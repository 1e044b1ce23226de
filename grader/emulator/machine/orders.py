"""In which order the blocks of a launch run, where that can matter."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

Order = Literal["rising", "reversed", "shuffled", "switched"]
"""By number; against it; at random; or at random, many at a time, which take turns at accesses that others see, and see
stores of others late where nothing orders them."""

SWITCHED: Order = "switched"
ORDERS: tuple[Order, ...] = get_args(Order)
_SEED = 20
"""Of what is random: it is so in every run in the same way."""


def arranged(linears: Array, order: Order) -> Array:
    """The blocks in the order in which they begin."""
    if order == "reversed":
        return np.ascontiguousarray(linears[::-1])
    if order == "rising":
        return linears
    return np.random.default_rng(_SEED).permutation(linears)


def seed(order: Order) -> int:
    """What the generator begins with by which blocks take turns; 0 where they run to their end if they can."""
    return _SEED if order == SWITCHED else 0

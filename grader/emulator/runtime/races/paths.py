"""How many loads come one after the other: the path of loads that leads to a warp, in sectors.

It is what the warp has loaded, behind the longest path of those that it has waited for: at a barrier, for a phase of
an mbarrier, or for what another warp of its block has published. Where warps load side by side, the longest path of a
block is about what each of them loads; where they take turns, it is what they load together.

While a warp runs, W_PATH is what is missing to its path from the sectors that were loaded in all, so that no load
has to be counted twice.
"""

from __future__ import annotations

from numba import int64

from grader.emulator.runtime.layout import (  # fmt: skip
    LOAD_PATH,
    LOADED,
    LOADED_ASIDE,
    W_PATH,
    WARP,
    WARP_BYTES,
    WARP_STATES,
    WARPS,
)
from grader.emulator.runtime.native import outlined, pointer
from grader.emulator.runtime.options import native

access_global = outlined("access_global")


@native
def _loaded(context: int) -> int:
    """Sectors loaded by what is a load by name: warps wait for it."""
    c = pointer(context, int64)
    return c[LOADED] - c[LOADED_ASIDE]


@native
def access_aside(context: int, site: int, addresses: int, mask: int, width: int, kind: int) -> int:
    """`access_global` by what is no load by name: an asynchronous copy, or a texture's."""
    c = pointer(context, int64)
    before = c[LOADED]
    allowed = access_global(context, site, addresses, mask, width, kind)
    c[LOADED_ASIDE] += c[LOADED] - before
    return allowed


@native
def begin_turn(context: int, warp: int) -> None:
    """A warp (the address of its state) runs from here on."""
    pointer(warp, int64)[W_PATH] -= _loaded(context)


@native
def end_turn(context: int, warp: int) -> None:
    """It does so no longer."""
    pointer(warp, int64)[W_PATH] += _loaded(context)


@native
def path(context: int) -> int:
    """That of the running warp."""
    c = pointer(context, int64)
    return pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)[W_PATH] + _loaded(context)


@native
def wait_for(context: int, other: int) -> None:
    """The running warp has waited for somebody with the path `other`."""
    c = pointer(context, int64)
    w = pointer(c[WARP_STATES] + c[WARP] * c[WARP_BYTES], int64)
    w[W_PATH] = max(w[W_PATH], other - _loaded(context))


@native
def end_paths(context: int) -> None:
    """At the end of a block: none of its warps runs."""
    c = pointer(context, int64)
    longest = int64(0)
    for warp in range(c[WARPS]):
        longest = max(longest, pointer(c[WARP_STATES] + warp * c[WARP_BYTES], int64)[W_PATH])
    c[LOAD_PATH] += longest

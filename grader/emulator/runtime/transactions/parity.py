"""Waits for the wrong parity: for the phase that a warp has waited for before, or that is none of its own.

A wait for a parity passes at once where the phase under way has the other one. To wait for a phase twice is no fault in
itself: it becomes one when the warp then touches what the phase under way brings.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ARRIVAL,
    HERE,
    M_KEY,
    M_PHASE,
    M_SKIPPED,
    M_VALID,
    M_WAITS,
    MBARRIER_ENTRY,
    MBARRIERS,
    RANK,
    TO_GLOBAL,
    TRANSACTIONS,
    U_BYTES,
    U_KIND,
    U_MBARRIER,
    U_SHARED,
    WAIT_JUMPED,
    WAIT_LANE,
    WAIT_LANES,
    WAIT_PHASE,
    WAIT_SITE,
    WAIT_SLOTS,
    WAITER_SLOTS,
    WARP,
    WARPS,
    WRONG_PARITY,
    X_COPIES,
    X_MBARRIERS,
    X_WARPS,
    Y_SUSPECT,
)
from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native
from grader.emulator.runtime.transactions.mbarriers import entry_of, of_phase
from grader.emulator.runtime.transactions.queue import place


@native
def _last_wait(context: int, entry: int) -> Any:
    """The last phase of an mbarrier that the running warp has waited for."""
    warp = pointer(context, int64)[WARP]
    return pointer(entry + (M_WAITS + warp * WAIT_SLOTS) * 8, int64)


@native
def _waiter(context: int) -> Any:
    """The slots of the running warp."""
    c = pointer(context, int64)
    return pointer(c[TRANSACTIONS] + (X_WARPS + c[WARP] * WAITER_SLOTS) * 8, int64)


@native
def has_waited(context: int, site: int, entry: int, lane: int, want: int) -> None:
    """A lane's wait for a phase, by its number or as -1 - its parity, is over."""
    v, y = _last_wait(context, entry), _waiter(context)
    phase = pointer(entry, int64)[M_PHASE] - 1 if want < 0 else want
    bit = int64(1) << lane
    if v[WAIT_PHASE] != phase + 2:
        v[WAIT_JUMPED] |= phase > max(v[WAIT_PHASE] - 2, int64(-1)) + 1
        v[WAIT_PHASE], v[WAIT_LANES], v[WAIT_SITE], v[WAIT_LANE] = phase + 2, int64(0), int64(0), lane
    no_new_one = phase < 0 or (want < 0 and v[WAIT_LANES] & bit != 0)
    if no_new_one and v[WAIT_SITE] == 0:
        v[WAIT_SITE], v[WAIT_LANE] = site, lane
    v[WAIT_LANES] |= bit
    y[Y_SUSPECT] = entry if v[WAIT_SITE] else int64(0)


@native
def missed_one(context: int, offset: int) -> bool:
    """Whether an odd number of phases of an mbarrier has completed for which the running warp has not waited: the one
    under way has then another parity than the warp's next."""
    entry = entry_of(context, offset)
    last = max(_last_wait(context, entry)[WAIT_PHASE] - 2, int64(-1))
    return (pointer(entry, int64)[M_PHASE] - last - 1) & 1 == 1


@native
def has_jumped(context: int, offset: int) -> bool:
    """Whether phases of an mbarrier have completed for which nobody, or not the running warp, has waited."""
    entry = entry_of(context, offset)
    return pointer(entry, int64)[M_SKIPPED] != 0 or _last_wait(context, entry)[WAIT_JUMPED] != 0


@native
def _brings(context: int, offset: int) -> int:
    """The entry of the mbarrier of the copy that is under way to a place in shared memory; 0 where there is none."""
    for number in range(pointer(pointer(context, int64)[TRANSACTIONS], int64)[X_COPIES]):
        u = place(context, int64(number))
        to_here = u[U_MBARRIER] >= 0 and u[U_KIND] not in (ARRIVAL, TO_GLOBAL)
        if to_here and u[U_SHARED] <= offset < u[U_SHARED] + u[U_BYTES]:
            return entry_of(context, u[U_MBARRIER])
    return int64(0)


@native
def blame_wait(context: int, offset: int) -> None:
    """The running warp reads what is not there yet for it: notes the wait for the wrong parity that let it, if there is
    one."""
    c = pointer(context, int64)
    if c[TRANSACTIONS] == 0 or c[HERE] != c[RANK]:
        return
    entry = _brings(context, offset)
    if entry == 0:
        entry = _waiter(context)[Y_SUSPECT]
    if entry == 0:
        return
    _note_wait(context, entry, int64(1))


@native
def _note_wait(context: int, entry: int, least: int) -> None:
    """Notes the last wait of the running warp for an mbarrier, if it was for no new phase, with WAIT_PHASE `least` or
    later."""
    v, m = _last_wait(context, entry), pointer(entry, int64)
    if v[WAIT_SITE] and v[WAIT_PHASE] >= least:
        other = of_phase(m[M_PHASE], int64(0), v[WAIT_PHASE] - 1)
        note(context, v[WAIT_SITE], WRONG_PARITY, v[WAIT_LANE], m[M_KEY] - 1, other)


@native
def note_repeated(context: int) -> None:
    """Of a block that is deadlocked: notes the waits for phases that a warp had waited for before."""
    c = pointer(context, int64)
    running = c[WARP]
    for number in range(MBARRIERS):
        entry = c[TRANSACTIONS] + X_MBARRIERS * 8 + number * c[MBARRIER_ENTRY]
        m = pointer(entry, int64)
        for warp in range(c[WARPS] if m[M_KEY] and m[M_VALID] else 0):
            c[WARP] = warp
            _note_wait(context, entry, int64(2))
    c[WARP] = running

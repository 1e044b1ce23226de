"""The runtime's functions, through Numba to LLVM bitcode: `python -m grader.emulator.runtime.lowering` writes it to
standard output.

`build` starts this with NUMBA_OPT=0: to optimise each function with all that it calls, and again in each that calls it,
would take longer than everything else. `build` optimises the whole, once.
"""

from __future__ import annotations

import gc
import re
import signal
import sys
from typing import Any

import llvmlite.binding as llvm
from numba import types, uint16, uint32, uint64

from grader.emulator.runtime import (
    async_copy,
    atomics,
    barriers,
    findings,
    globalmem,
    marks,
    movers,
    pools,
    registers,
    scheduler,
    sharedmem,
)
from grader.emulator.runtime.clusters import accesses, barrier
from grader.emulator.runtime.names import NAMES
from grader.emulator.runtime.races import lanes, ordering, tracking
from grader.emulator.runtime.spaces import constants, local, textures, undefined
from grader.emulator.runtime.tensor import matrices, products, warpgroups
from grader.emulator.runtime.transactions import boxes, bulk, mbarriers, parity, proxies, to_peers, waits
from grader.emulator.target import PREFIX


def bitcode() -> bytes:
    """All functions, linked, and what they call, which is seen by nobody else."""
    for name in NAMES:  # those that others call are not there while these are compiled
        llvm.add_symbol(PREFIX + name, 1)
    module = llvm.parse_assembly("")
    for each in _functions():
        module.link_in(llvm.parse_assembly(_llvm_of(*each)))
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and not value.name.startswith(PREFIX):
            value.linkage = "internal"
    return bytes(module.as_bitcode())


def _functions() -> list[tuple[str, Any, int]]:
    """(name, Numba function, how many int64 arguments it takes)."""
    found: list[tuple[str, Any, int]] = [
        ("access_global", globalmem.access_global, 6),
        ("access_atomic", globalmem.update_global, 6),
        ("access_global_uniform", globalmem.access_global_uniform, 6),
        ("access_shared", sharedmem.access_shared, 7),
        ("access_shared_uniform", sharedmem.access_shared_uniform, 6),
        ("access_local", local.access_local, 5),
        ("access_constant", constants.access_constant, 5),
        ("access_constant_uniform", constants.access_constant_uniform, 5),
        ("access_param", local.access_param, 5),
        ("access_generic", local.access_generic, 7),
        ("lanes_in_global", atomics.lanes_in_global, 3),
        ("run_blocks", scheduler.run_blocks, 4),
        ("next_turn", scheduler.next_turn, 2),
        ("arrive_at", barriers.arrive_at, 8),
        ("pass_by", barriers.pass_by, 3),
        ("mma", products.mma, 11),
        ("mma_bits", products.mma_bits, 7),
        ("wmma", products.wmma, 13),
        ("matrix_load", matrices.matrix_load, 5),
        ("matrix_store", matrices.matrix_store, 5),
        ("matrix_transpose", matrices.matrix_transpose, 2),
        ("wgmma", warpgroups.wgmma, 17),
        ("wgmma_wait", warpgroups.wgmma_wait, 4),
        ("wgmma_ready", warpgroups.wgmma_ready, 3),
        ("set_registers", registers.set_registers, 4),
        ("async_copy", async_copy.async_copy, 7),
        ("async_commit", async_copy.async_commit, 1),
        ("async_wait", async_copy.async_wait, 2),
        ("note_absent", findings.note_absent, 4),
        ("fence", ordering.fence, 2),
        ("count_prefetch", globalmem.count_prefetch, 3),
        ("count_sleep", barriers.count_sleep, 3),
        ("meet_lanes", lanes.meet_lanes, 3),
        ("track_stores", tracking.track_stores, 7),
        ("settle_stores", sharedmem.settle_stores, 7),
        ("note_undefined", findings.note_undefined, 4),
        ("leave_undefined", undefined.leave_undefined, 7),
        ("undefined_at", undefined.undefined_at, 6),
        ("count_marks", marks.count_marks, 5),
        ("mbarrier_init", mbarriers.mbarrier_init, 5),
        ("mbarrier_inval", mbarriers.mbarrier_inval, 4),
        ("mbarrier_arrive", mbarriers.mbarrier_arrive, 8),
        ("mbarrier_expect", mbarriers.mbarrier_expect, 6),
        ("mbarrier_test", waits.mbarrier_test, 6),
        ("mbarrier_wait", waits.mbarrier_wait, 8),
        ("async_arrive", mbarriers.async_arrive, 5),
        ("proxy_fence", proxies.proxy_fence, 1),
        ("bulk_load", bulk.bulk_load, 9),
        ("bulk_to_peer", to_peers.bulk_to_peer, 8),
        ("store_to_peer", to_peers.store_to_peer, 9),
        ("access_cluster", accesses.access_cluster, 7),
        ("access_cluster_uniform", accesses.access_cluster_uniform, 6),
        ("cluster_arrive", barrier.cluster_arrive, 3),
        ("cluster_hold", barrier.cluster_hold, 6),
        ("cluster_wait", barrier.cluster_wait, 1),
        ("bulk_prefetch", bulk.bulk_prefetch, 5),
        ("bulk_store", bulk.bulk_store, 8),
        ("bulk_commit", bulk.bulk_commit, 2),
        ("bulk_wait", bulk.bulk_wait, 3),
        ("sweep", boxes.sweep, 3),
        ("piece", boxes.move_piece, 7),
        ("flush", boxes.count_request, 2),
        ("reduce", boxes.combine, 5),
        ("begin_transactions", mbarriers.begin_transactions, 1),
        ("end_copies", bulk.end_copies, 1),
        ("note_stuck", waits.note_stuck, 1),
        ("observe", mbarriers.observe_phase, 2),
        ("blame_wait", parity.blame_wait, 2),
        ("note_unset", sharedmem.noted_unset, 5),
        ("shadow", sharedmem.shadow, 7),
        ("texture_fetch", textures.texture_fetch, 8),
        ("draw_words", pools.draw_words, 6),
    ]
    for nbytes, element in movers.ELEMENTS.items():
        found.append((f"gather{nbytes}", movers.make_gather(element, nbytes), 4))
        found.append((f"scatter{nbytes}", movers.make_scatter(element), 4))
    for nbytes, element in ((2, uint16), (4, uint32), (8, uint64)):
        found.append((f"atomic{nbytes}", atomics.make_atomic(element), 6))
    return found


def _llvm_of(name: str, function: Any, arguments: int) -> str:
    """The function's LLVM IR under the name it is called by, everything it calls inside."""
    signature = (types.int64,) * arguments
    function.compile(signature)
    symbol = function.overloads[signature].fndesc.llvm_func_name
    text = function.inspect_llvm(signature)
    return re.sub(rf"(?<![\w.]){re.escape(symbol)}(?![\w.])", PREFIX + name, text)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever waits for this process says what was interrupted
    gc.disable()  # most of what is made is kept: to look for garbage took a tenth of the time
    sys.stdout.buffer.write(bitcode())

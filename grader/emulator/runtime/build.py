"""Compiles the runtime with Numba, once, and keeps it as an object file that needs no Numba to load.

`load()` gives the address of every function. Compiling takes most of a minute of one core, loading a few milliseconds;
the object is made anew when the sources, the compilers or the processor change. Whoever starts a process against a
clock calls `prepare()` before: on a busy machine a minute of a core may be a quarter of an hour. A process that is
killed meanwhile leaves no part of an object, and a lock that is gone with it.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from grader.areas import RUNTIME, fingerprint
from grader.emulator import target
from grader.emulator.cache import cache_folder, keep, kept, locked, made_folder
from grader.emulator.target import PREFIX


class Runtime:
    """The loaded runtime: function name → address. Keeps the native code alive."""

    def __init__(self, object_code: bytes, names: tuple[str, ...]) -> None:
        self._engine = target.engine()
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
        self._engine.finalize_object()
        self.addresses = {name: self._engine.get_function_address(PREFIX + name) for name in names}

    def function(self, name: str, arguments: int) -> Callable[..., int]:
        """One of the functions, to be called from Python with so many integers."""
        # As Numba has it: where the result and an exception are put, then the arguments; returned is a status.
        call = ctypes.CFUNCTYPE(
            ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * arguments
        )
        address = call(self.addresses[name])

        def called(*values: int) -> int:
            result = ctypes.c_int64()
            address(ctypes.addressof(result), None, *values)
            return result.value

        return called


NAMES = (
    "access_global",
    "access_global_uniform",
    "access_shared",
    "access_shared_uniform",
    "access_local",
    "access_constant",
    "access_constant_uniform",
    "access_param",
    "access_generic",
    "gather1",
    "gather2",
    "gather4",
    "gather8",
    "scatter1",
    "scatter2",
    "scatter4",
    "scatter8",
    "atomic2",
    "atomic4",
    "atomic8",
    "lanes_in_global",
    "run_blocks",
    "next_turn",
    "arrive_at",
    "pass_by",
    "mma",
    "mma_bits",
    "wmma",
    "matrix_transpose",
    "wgmma",
    "wgmma_wait",
    "wgmma_ready",
    "set_registers",
    "matrix_load",
    "matrix_store",
    "async_copy",
    "async_commit",
    "async_wait",
    "note_absent",
    "fence",
    "meet_lanes",
    "track_stores",
    "note_undefined",
    "leave_undefined",
    "undefined_at",
    "count_marks",
    "mbarrier_init",
    "mbarrier_inval",
    "mbarrier_arrive",
    "mbarrier_expect",
    "mbarrier_test",
    "mbarrier_wait",
    "async_arrive",
    "access_cluster",
    "access_cluster_uniform",
    "bulk_to_peer",
    "store_to_peer",
    "cluster_arrive",
    "cluster_hold",
    "cluster_wait",
    "proxy_fence",
    "bulk_load",
    "bulk_store",
    "bulk_commit",
    "bulk_wait",
    "sweep",
    "piece",
    "flush",
    "reduce",
    "begin_transactions",
    "end_copies",
    "note_stuck",
    "observe",
    "blame_wait",
    "shadow",
    "texture_fetch",
)  # fmt: skip


def _entry() -> Path:
    """Where the cache keeps the object for these sources, compilers and processor."""
    key = target.target_key("llvmlite", "numba") + fingerprint(RUNTIME)
    return cache_folder() / f"runtime-{hashlib.sha256(key.encode()).hexdigest()[:32]}.o"


@functools.cache
def load() -> Runtime:
    """The runtime, from the cache or compiled now; of several processes that find it missing, one compiles it."""
    return Runtime(_code(), NAMES)


@functools.cache
def prepare() -> None:
    """Have the runtime in the cache, so that `load` in a process that starts after this does not compile it.

    Nothing is done where the cache cannot be written: what is compiled here would help nobody else.
    """
    folder = made_folder()
    if folder is not None and os.access(folder, os.W_OK):
        _code()


def _code() -> bytes:
    """The object file, from the cache or compiled now."""
    entry = _entry()
    code = kept(entry)
    if code is None:
        _tell("The emulator's runtime is compiled, once for this version: most of a minute on a free core.")
        with locked(entry.with_suffix(".lock")):
            code = kept(entry)
            if code is None:
                code = compile_runtime()
                keep(entry, code)
    return code


def _tell(line: str) -> None:
    """Say what takes so long, where a terminal shows it."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr, flush=True)


_TOLD = 4
"""How often it is said how far compiling is."""


def compile_runtime() -> bytes:
    """The object file: every function of NAMES through Numba to LLVM, linked, and compiled."""
    module: Any = None
    for name in NAMES:  # those that others call are not there while these are compiled
        llvm.add_symbol(PREFIX + name, 1)
    functions = _functions()
    for done, (name, function, arguments) in enumerate(functions, 1):
        text = _llvm_of(name, function, arguments)
        part = llvm.parse_assembly(text)
        if module is None:
            module = part
        else:
            module.link_in(part)
        if done * _TOLD // len(functions) > (done - 1) * _TOLD // len(functions):
            _tell(f"  {done} of {len(functions)} functions")
    return target.object_code(module)


def _functions() -> list[tuple[str, Any, int]]:
    """(name, Numba function, how many int64 arguments it takes)."""
    from numba import uint16, uint32, uint64

    from grader.emulator.runtime import (
        async_copy,
        atomics,
        barriers,
        findings,
        globalmem,
        marks,
        movers,
        registers,
        scheduler,
        sharedmem,
    )
    from grader.emulator.runtime.clusters import accesses, barrier
    from grader.emulator.runtime.races import lanes, ordering, tracking
    from grader.emulator.runtime.spaces import constants, local, textures, undefined
    from grader.emulator.runtime.tensor import matrices, products, warpgroups
    from grader.emulator.runtime.transactions import boxes, bulk, mbarriers, parity, proxies, to_peers, waits

    found: list[tuple[str, Any, int]] = [
        ("access_global", globalmem.access_global, 6),
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
        ("meet_lanes", lanes.meet_lanes, 3),
        ("track_stores", tracking.track_stores, 7),
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
        ("shadow", sharedmem.shadow, 7),
        ("texture_fetch", textures.texture_fetch, 8),
    ]
    for nbytes, element in movers.ELEMENTS.items():
        found.append((f"gather{nbytes}", movers.make_gather(element, nbytes), 4))
        found.append((f"scatter{nbytes}", movers.make_scatter(element), 4))
    for nbytes, element in ((2, uint16), (4, uint32), (8, uint64)):
        found.append((f"atomic{nbytes}", atomics.make_atomic(element), 6))
    return found


def _llvm_of(name: str, function: Any, arguments: int) -> str:
    """The function's LLVM IR under the name it is called by, everything it calls inside."""
    from numba import types

    signature = (types.int64,) * arguments
    function.compile(signature)
    symbol = function.overloads[signature].fndesc.llvm_func_name
    text = function.inspect_llvm(signature)
    return re.sub(rf"(?<![\w.]){re.escape(symbol)}(?![\w.])", PREFIX + name, text)


if __name__ == "__main__":
    load()

"""What would mend what the emulator saw a kernel do: one remedy for each finding."""

from __future__ import annotations

from collections.abc import Mapping

from grader.emulator.machine.records import Finding, Kind

GUARD = "Guard the access: threads that have no element must not touch memory."
ALIGN = (
    "A float4 needs an address that is a multiple of 16: take single floats where a row is not a multiple of four "
    "floats long."
)
REACH_BARRIERS = (
    "Every thread of the block has to reach every __syncthreads(): move it out of the `if`, and do not return before "
    "it."
)
TRAPS = (
    "The compiler puts a trap where code has no meaning, such as an access through a null pointer; __trap() is one as "
    "well."
)
_SHARED_BYTES = (
    "Is the array as large as the block's indices go, and the block as large as the kernel was made for? Bytes of "
    "`extern __shared__` arrays are given with the launch, as `shared`."
)
_INITIALISE = (
    "Shared memory holds nothing at the start: write every element before it is read, also at the edges, and put a "
    "__syncthreads() between."
)
_RETURNED = (
    "Threads return in line {line}, and so neither fill their part of shared memory nor reach barriers behind it: let "
    "all threads of the block go on, and put the condition on what they load from and store to global memory."
)
_INDEX = (
    "Thread (0, 0, 0) of block (0, 0, 0) has elements of its own, so look at how its index is formed: {stride}. A "
    "thread that handles several elements has to guard each."
)
_ROWS = (
    "The index of `{array}` in this line counts rows of `{size}` elements, but {stride}: multiply by the length of a "
    "row."
)
_SYNCTHREADS = (
    "Put a __syncthreads() between the accesses: after a tile is written and before it is read, and after it is read "
    "and before it is written again."
)
_SYNCWARP = (
    "Lanes of a warp do not run in step by themselves: put a __syncthreads() between the accesses where all of the "
    "block comes by, or else a __syncwarp()."
)
_FENCE = "Put a __threadfence() between the store and the atomic that announces it."
_WAIT = (
    "Put a __threadfence() between the store and the atomic or the volatile store that announces it, by the same "
    "thread or by one that a __syncthreads() puts behind it, and let the reader wait for the announcement."
)
_ONE_STORE = (
    "Let one thread store each element: put the store under a condition such as `if (threadIdx.x == 0)`, or add with "
    "atomicAdd."
)
_ALL_ATOMIC = (
    "Let every thread that changes the element do so with an atomic, or set it before the launch, with `zero` in the "
    "launch block."
)
_SECOND_LAUNCH = (
    "Let blocks add with atomicAdd, or let a second launch read what the first has stored (a second [[launch]] in the "
    "launch block): between launches everything is done."
)
_BARRIER_OR_ATOMIC = (
    "Put a __syncthreads() between storing and reading; where several threads add to one element, use atomicAdd, or "
    "add up in shared memory first."
)
_WAIT_FOR_COPY = (
    "Wait for its group (cp.async.wait_group, __pipeline_wait_prior) and then for the other threads."
)
_PLAIN_LOAD = (
    "Load it without __ldg() and `const … __restrict__`: the read-only cache need not see what the launch itself "
    "stores."
)
_ALL_LANES = "Let all lanes of the mask come here, and put the condition on what they do with the result."
_ADD_ATOMICALLY = (
    "Several threads read the same element, add to it and store it back, so that additions are lost, and no barrier "
    "helps: add with atomicAdd(&{array}[…], …)."
)


def remedy(finding: Finding) -> str:
    """What would mend it."""
    if finding.kind == "race":
        return _remedy_of_race(finding)
    if finding.kind == "out_of_bounds" and finding.space == "shared":
        return _SHARED_BYTES
    if finding.rows_of is not None:
        return _ROWS.format(array=finding.array, size=finding.rows_of, stride=_stride(finding))
    if finding.kind == "out_of_bounds" and _is_first_thread(finding) and _lies_behind_rows(finding):
        return _INDEX.format(stride=_stride(finding))
    if finding.returned is not None:
        return _RETURNED.format(line=finding.returned)
    if finding.kind == "misaligned" and finding.size != 16:
        return (
            f"An access of {finding.size} bytes needs an address that is a multiple of {finding.size}: take single "
            "elements where rows do not begin at one."
        )
    return _REMEDIES[finding.kind]


def _is_first_thread(finding: Finding) -> bool:
    """Whether it is the one that has something to do whatever the size."""
    return not any((*(finding.block or (1,)), *(finding.thread or (1,)))) and not finding.any_of_warp


def _lies_behind_rows(finding: Finding) -> bool:
    """Whether a row's length may be wrong in its index. With one dimension, or below 0, a guard is often missing."""
    return finding.element is not None and finding.element >= 0 and len(finding.shape or ()) > 1


def _stride(finding: Finding) -> str:
    """What there is to know of an array for those who form an index."""
    length = (finding.shape or (1,))[-1]
    return f"a row of `{finding.array}` is {length} element{'' if length == 1 else 's'} long"


def _remedy_of_race(finding: Finding) -> str:
    if finding.accumulates:
        return _ADD_ATOMICALLY.format(array=finding.array or "sum")
    if finding.space != "global":
        return _SYNCWARP if finding.scope == "warp" else _SYNCTHREADS
    if finding.scope == "grid" and finding.blocks_wait and finding.action == "read":
        return _WAIT if finding.fences else _FENCE
    if finding.other is not None and finding.other.action == "read":
        return _SECOND_LAUNCH if finding.scope == "grid" else _SYNCTHREADS
    if finding.action == "write":
        return _ONE_STORE
    if finding.action == "atomic":
        return _ALL_ATOMIC
    return _SECOND_LAUNCH if finding.scope == "grid" else _BARRIER_OR_ATOMIC


_REMEDIES: Mapping[Kind, str] = {
    "out_of_bounds": GUARD,
    "misaligned": ALIGN,
    "uninitialised_shared": _INITIALISE,
    "unfinished_copy": _WAIT_FOR_COPY,
    "uninitialised": "Give every variable and every element of a local array a value before it is read.",
    "undefined_shuffle": (
        "Let every lane that is read take part in the shuffle, name it in the mask, and use the result only in lanes "
        "whose source is among them."
    ),
    "absent_lanes": _ALL_LANES,
    "stored_read_only": _PLAIN_LOAD,
    "barrier": REACH_BARRIERS,
    "trap": TRAPS,
    "assert": "The kernel's own assert() failed.",
}
"""Of every kind but races, where it depends on who meets where."""

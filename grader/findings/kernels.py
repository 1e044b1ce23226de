"""What the emulator saw a kernel do, in words, and as results show it; what mends it is in remedies.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from grader.emulator.machine.records import TENSOR_COPY, TOOLS, Access, Action, Arrivals, Finding, Kind, Phase
from grader.findings.remedies import remedy
from grader.results import FindingResult, OtherAccess

_VERBS: Mapping[Action, str] = {"read": "reads", "write": "writes", "atomic": "updates"}


def result(finding: Finding, kernel: str) -> FindingResult:
    """A finding as results show it."""
    allocation = finding.allocation
    return FindingResult(
        kind=finding.kind,
        line=finding.line or None,
        message=message(finding),
        count=finding.count,
        kernel=kernel,
        block=_list(finding.block),
        thread=_list(finding.thread),
        any_of_warp=finding.any_of_warp,
        tool=TOOLS[finding.kind],
        remedy=remedy(finding),
        action=finding.action,
        space=finding.space,
        address=finding.address,
        size=finding.size,
        offset=_offset(finding) if allocation else None,
        allocation_bytes=allocation.nbytes if allocation else None,
        array=finding.array,
        element=finding.element,
        shape=_list(finding.shape),
        scope=finding.scope,
        other=_other_result(finding.other),
        owner=_list(finding.owner),
        absence=finding.absence,
    )


def _other_result(other: Access | None) -> OtherAccess | None:
    if other is None:
        return None
    return OtherAccess(other.action, other.line, _list(other.block), _list(other.thread), other.any_of_warp)


def _list(numbers: Sequence[int] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)


def message(finding: Finding) -> str:
    """What happened."""
    return _MESSAGES[finding.kind](finding)


# ---- what happened -----------------------------------------------------------------------------------------


def _out_of_bounds(finding: Finding) -> str:
    if finding.before:
        return _before(finding, *finding.before)
    if finding.no_texture:
        return f"{_actor(finding)} fetches from a texture object {finding.address:#x}, which does not exist"
    text = f"{_actor(finding)} {_does(finding)} {_extent(finding)}"
    return f"{text}, in {finding.instruction}" if finding.instruction else text


def _before(finding: Finding, dimension: int, at: int) -> str:
    what = f"{_actor(finding)} stores a box that begins in front of its tensor: coordinate {dimension} of the box"
    return f"{what} (0 is the innermost) is {at}"


def _extent(finding: Finding) -> str:
    """What an access out of bounds touches, and how far that is outside."""
    if finding.element is not None and finding.shape is not None:
        elements = math.prod(finding.shape)
        by = f"{' × '.join(map(str, finding.shape))} = " if len(finding.shape) > 1 else ""
        return f"{_elements(finding)}, where `{finding.array}` has {by}{_count(elements, 'element')}"
    at = f"{_count(finding.size or 0, 'byte')} of {_memory(finding)}"
    allocation, offset = finding.allocation, _offset(finding)
    if finding.space == "shared" and allocation:
        has = f"{allocation.nbytes} bytes" if allocation.nbytes else "no bytes"
        whose = f"block {finding.owner}" if finding.owner else "the block"
        return f"{at} at byte {offset}, where {whose} has {has}"
    if finding.space in ("local", "param"):
        return f"{at} at byte {offset}, beyond its end"
    if allocation is None:
        return f"{at} at {finding.address:#x}, where nothing is allocated"
    name = f"`{finding.array}`, which has {_count(allocation.nbytes, 'byte')}" if finding.array else ""
    name = name or f"an allocation of {_count(allocation.nbytes, 'byte')}"
    if 0 <= offset < allocation.nbytes:
        return f"{at} at byte {offset} of {name}, beyond its end"
    distance = offset - allocation.nbytes if offset >= 0 else -offset
    side = "behind the end" if offset >= 0 else "before the start"
    return f"{at} {_count(distance, 'byte')} {side} of {name}"


def _elements(finding: Finding) -> str:
    """The elements that an access touches, of an array whose type is known."""
    first, nbytes = finding.element or 0, finding.allocation.nbytes if finding.allocation else 0
    width = nbytes // math.prod(finding.shape or (1,))
    last = first + max((finding.size or width) // width, 1) - 1
    return f"`{finding.array}`[{first}{'' if last == first else f' to {last}'}]"


def _misaligned(finding: Finding) -> str:
    at = f"{finding.address:#x} in {_memory(finding)}"
    if finding.element is not None:
        at = f"`{finding.array}`[{finding.element}], address {finding.address:#x}"
    if finding.instruction == TENSOR_COPY:
        return f"{_actor(finding)} copies a box that begins at {at}, which is no multiple of {finding.size} bytes"
    return f"{_actor(finding)} {_does(finding)} {finding.size} bytes at {at}, which is no multiple of {finding.size}"


def _uninitialised(finding: Finding) -> str:
    return f"{_actor(finding)} {_does(finding)} {_shared_place(finding)}, which no thread of the block has written"


def _unfinished_copy(finding: Finding) -> str:
    other = finding.other or Access()
    copy = f"the copy of line {other.line}" if other.line else "a copy"
    until = f"{copy} has not read it yet" if other.action == "read" else f"{copy} to it has not arrived"
    return f"{_actor(finding)} {_does(finding)} {_shared_place(finding)} while {until}"


def _unfinished_product(finding: Finding) -> str:
    if finding.space is None:
        return f"{finding.instruction} uses a register of a wgmma that no wgmma.wait_group has waited for"
    product = f"the wgmma of line {finding.other.line}" if finding.other and finding.other.line else "a wgmma"
    return f"{_actor(finding)} {_does(finding)} {_shared_place(finding)} while {product} may still read it"


def _unfenced_product(finding: Finding) -> str:
    return "a wgmma has no wgmma.fence between it and what its warp has written to its registers"


def _race(finding: Finding) -> str:
    other = finding.other or Access()
    if finding.space == "global":
        return _global_race(finding, other)
    verb = _VERBS[other.action] if other.action else "accesses"
    too = " too" if other.action in (finding.action, None) else ""
    line = f" in line {other.line}" if other.line else ""
    what = f"{_actor(finding)}{_of_block(finding)} {_does(finding)} {_shared_place(finding)}"
    return f"{what}, which {_other(finding, other)} {verb}{too}{line} with no {_orders(finding, other)} in between"


def _of_block(finding: Finding) -> str:
    return f" of block {finding.block}" if finding.scope == "cluster" else ""


def _orders(finding: Finding, other: Access) -> str:
    """What would order two accesses to shared memory."""
    if other.by_copy:
        return "wait for its mbarrier"
    if finding.scope == "cluster":
        return "barrier of the cluster and no mbarrier"
    return f"{'__syncwarp() or ' if finding.scope == 'warp' else ''}__syncthreads()"


def _global_race(finding: Finding, other: Access) -> str:
    """A thread reads what another block, or another warp of the block, has stored, or stores another value there."""
    if other.action == "read":
        return _overtakes(finding, other)
    verb, with_what = _GLOBAL_VERBS[finding.action or "read"]
    place, by = _global_place(finding), _other(finding, other)
    if finding.scope == "warp":
        return f"{_actor(finding)} {verb} what {by} stores {place} at the same time{with_what}"
    if finding.scope == "block":
        what = f"{_actor(finding)} {verb} what {by} has stored {place}{with_what}"
        return f"{what}, with no __syncthreads() in between"
    what = f"{_actor(finding)} of block {finding.block} {verb} what {by} has stored {place}{with_what}"
    if finding.blocks_wait and finding.action == "read":
        if finding.fences:
            return (
                f"{what}, and nothing that it waited for was announced behind a __threadfence() behind that"
            )
        return f"{what}, and {by} has executed no __threadfence() since"
    return f"{what}: blocks of a launch run at the same time, in any order"


_GLOBAL_VERBS: Mapping[Action, tuple[str, str]] = {
    "read": ("reads", ""),
    "write": ("overwrites", ", with another value"),
    "atomic": ("updates", ""),
}
"""What a thread does to what another one has stored."""


def _overtakes(finding: Finding, other: Access) -> str:
    """A thread stores what another one reads, which may come too late for that."""
    by = _other(finding, other)
    if finding.scope == "grid":
        actor = f"{_actor(finding)} of block {finding.block}"
        return f"{actor} writes {_global_place(finding)}, which {by} reads, and nothing orders the two"
    barriers = f"{'__syncwarp() or ' if finding.scope == 'warp' else ''}__syncthreads()"
    return (
        f"{_actor(finding)} writes {_global_place(finding)}, which {by} reads, with no {barriers} in between"
    )


def _stored_read_only(finding: Finding) -> str:
    other = finding.other or Access()
    whom = "the kernel itself" if finding.scope == "warp" else _other(finding, other)
    cache = "a texture" if finding.instruction else "the read-only cache"
    return f"{_actor(finding)} reads {_global_place(finding)} through {cache}, where {whom} has stored"


def _absent_lanes(finding: Finding) -> str:
    there = finding.other.thread if finding.other else None
    if there == finding.thread:
        return f"thread {there} executes {finding.instruction} with a mask that does not name it"
    return f"thread {there} executes {finding.instruction} with thread {finding.thread} in its mask, which is elsewhere"


_USES = {"st": "stores", "bra": "branches by", "brx": "branches by", "ld": "loads from an address made of"}


def _undefined(finding: Finding, origin: str) -> str:
    use = _USES.get((finding.instruction or "").partition(".")[0], "uses")
    return f"thread {finding.thread} {use} a value that {origin}"


def _uninitialised_value(finding: Finding) -> str:
    return _undefined(finding, "was never written: a variable without an initial value")


def _undefined_shuffle(finding: Finding) -> str:
    return _undefined(finding, "a shuffle read from a lane that took no part in it")


def _barrier(finding: Finding) -> str:
    if finding.arrivals:
        return _arrivals(finding.arrivals, finding)
    if finding.other is None:
        return f"only some threads of a warp reach the barrier in line {finding.line} while the others are elsewhere"
    lines = finding.line, finding.other.line
    both = f"lines {lines[0]} and {lines[1]}" if lines[0] != lines[1] else f"two of them in line {lines[0]}"
    return f"threads of one block wait at different barriers ({both})"


def _arrivals(barrier: Arrivals, finding: Finding) -> str:
    if finding.scope == "cluster":
        return (
            f"block {finding.block} deadlocked at the barrier of its cluster: {barrier.arrived} of "
            f"{barrier.expected} threads have arrived, and no others can"
        )
    if barrier.arrived is not None:
        return (
            f"block {finding.block} deadlocked at barrier {barrier.number}: {barrier.arrived} of "
            f"{barrier.expected} threads have arrived, and no others can"
        )
    return (
        f"barrier {barrier.number} for {barrier.expected} threads: a block has the barriers 0 to 15, each for whole "
        f"warps, so for a multiple of 32 threads"
    )


def _mbarrier(finding: Finding) -> str:
    """What is wrong with a phase."""
    phase, place = finding.phase or Phase("absent"), _shared_place(finding)
    actor = _actor(finding)
    match phase.fault:
        case "absent":
            return f"{actor} uses {place} as an mbarrier, which no thread of the block has initialised"
        case "overrun":
            count = _count(phase.arrived or 0, "arrival")
            return f"{actor} brings {count} to the mbarrier in {place}, which expects another number"
        case "refilled":
            return (
                f"{actor} arrives for the next copies at the mbarrier in {place} while those of phase {phase.number} "
                f"are still under way: the stage is filled again before it was consumed"
            )
        case "in_use":
            return (
                f"{actor} initialises the mbarrier in {place} again while phase {phase.number} is under way"
            )
        case "parity":
            return f"{actor} {_wrong_parity(phase, place)}"
        case "skipped":
            return (
                f"{actor} waits for a phase of the mbarrier in {place} that never completes: earlier phases have "
                f"completed one after the other with no wait in between"
            )
        case "arrivals":
            return (
                f"{actor} waits for phase {phase.number} of the mbarrier in {place}, which never completes: "
                f"{phase.arrived} of "
                f"{_count(phase.expected or 0, 'arrival')} have come, and no others can"
            )
    expected, arrived = phase.expected or 0, phase.arrived or 0
    bytes_ = f"expects {expected:,} byte{'' if expected == 1 else 's'} in phase {phase.number}, and {arrived:,} arrive"
    if arrived > expected:
        return (
            f"{actor} issues a copy to the mbarrier in {place}, which {bytes_}: the phase is over too early"
        )
    return f"{actor} waits for the mbarrier in {place}, which {bytes_}: the phase never completes"


def _wrong_parity(phase: Phase, place: str) -> str:
    """What a wait for another phase than the next does."""
    number, waited = phase.number or 0, phase.waited or 0
    wait = f"waits for parity {waited & 1} of the mbarrier in {place}"
    if waited == number:
        return (
            f"{wait}, so for phase {number}, of which nothing has arrived: the phase that it has not waited for yet is "
            f"another one, of parity {1 - (waited & 1)}"
        )
    under_way = f"{wait} while phase {number}, of parity {number & 1}, is under way"
    if waited < 0:
        return f"{under_way}: before the first phase is over, a wait for parity 1 passes at once"
    return f"{under_way}: phase {waited} was waited for before, so that the wait passes at once"


def _proxy_fence(finding: Finding) -> str:
    other = finding.other or Access()
    line = f" in line {other.line}" if other.line else ""
    reader = f"the {'wgmma' if finding.instruction == 'wgmma' else 'copy'} that {_actor(finding)} issues"
    written = f"{_shared_place(finding)}, which {_other(finding, other)} writes{line}"
    return f"{reader} reads {written}, with no fence.proxy.async in between"


def _absent_block(finding: Finding) -> str:
    actor = f"{_actor(finding)} of block {finding.block}"
    if finding.absence == "no_such_block":
        return f"{actor} {_does(finding)} shared memory of a block that its cluster does not have: the rank is too high"
    if finding.absence == "not_begun":
        return (
            f"{actor} {_does(finding)} {_shared_place(finding)}, and nothing says that this block has begun"
        )
    return f"{actor} {_does(finding)} {_shared_place(finding)}, which may have ended by then: it does not wait for that"


def _trap(finding: Finding) -> str:
    return "the kernel executed a trap"


def _assert(finding: Finding) -> str:
    return f"thread {finding.thread} failed the assertion {finding.assertion} in {finding.function}"


_MESSAGES: Mapping[Kind, Callable[[Finding], str]] = {
    "out_of_bounds": _out_of_bounds,
    "misaligned": _misaligned,
    "uninitialised_shared": _uninitialised,
    "race": _race,
    "unfinished_copy": _unfinished_copy,
    "unfinished_product": _unfinished_product,
    "unfenced_product": _unfenced_product,
    "uninitialised": _uninitialised_value,
    "undefined_shuffle": _undefined_shuffle,
    "absent_lanes": _absent_lanes,
    "stored_read_only": _stored_read_only,
    "barrier": _barrier,
    "mbarrier": _mbarrier,
    "proxy_fence": _proxy_fence,
    "absent_block": _absent_block,
    "trap": _trap,
    "assert": _assert,
}

# ---- the parts of sentences --------------------------------------------------------------------------------


def _actor(finding: Finding) -> str:
    """Who did it. Where they are several threads of a warp, it is another than the one that they race with."""
    if not finding.any_of_warp:
        return f"thread {finding.thread}"
    warp = f"the warp of thread {finding.thread}"
    other = finding.other or Access()
    met = finding.kind == "race" and other.thread == finding.thread and finding.scope != "cluster"
    return f"another thread of {warp}" if met else warp


def _does(finding: Finding) -> str:
    return _VERBS[finding.action or "read"]


def _other(finding: Finding, other: Access) -> str:
    """Whom a race is with. That is never the thread itself, though bookkeeping by warps may name the same first
    thread for both."""
    if finding.scope == "grid":
        return f"block {other.block}" if other.block else "another block"
    if other.by_copy:
        return "a copy"
    if finding.scope == "cluster":
        return f"thread {other.thread} of block {other.block}"
    if other.thread is None:
        return "another thread of the block"
    if finding.scope == "warp" and (other.any_of_warp or other.thread == finding.thread):
        return "another thread of its warp"
    if other.any_of_warp:
        return f"the warp of thread {other.thread}"
    return f"thread {other.thread}"


def _memory(finding: Finding) -> str:
    spaces = {"generic": "memory", "const": "constant memory", "param": "parameter memory"}
    return spaces.get(finding.space or "generic", f"{finding.space} memory")


def _shared_place(finding: Finding) -> str:
    place = _place_in_block(finding)
    return f"{place} of block {finding.owner}" if finding.owner else place


def _place_in_block(finding: Finding) -> str:
    if finding.element is not None and finding.shape is not None:
        index = "".join(f"[{at}]" for at in _indices(finding.element, finding.shape))
        return f"`{finding.array}{index}` in shared memory"
    array = f" (`{finding.array}`)" if finding.array else ""
    return f"shared memory at byte {finding.address}{array}"


def _global_place(finding: Finding) -> str:
    """Where in an array, or in an allocation without a name, a race took place."""
    allocation = finding.allocation
    if finding.element is not None and finding.shape is not None and finding.array is not None:
        return f"in `{finding.array}`[{_index(finding.element, finding.shape)}]"
    if allocation is None:
        return "in global memory"
    name = f"`{finding.array}`" if finding.array else f"an allocation of {_count(allocation.nbytes, 'byte')}"
    return f"at byte {_offset(finding)} of {name}"


def _index(element: int, shape: Sequence[int]) -> str:
    return ", ".join(map(str, _indices(element, shape)))


def _indices(element: int, shape: Sequence[int]) -> list[int]:
    """The index of an element of the flat array, one number a dimension."""
    indices: list[int] = []
    for extent in reversed(shape):
        element, at = divmod(element, extent)
        indices.insert(0, at)
    return indices


def _offset(finding: Finding) -> int:
    """Bytes from the start of what an address lies in."""
    return (finding.address or 0) - (finding.allocation.base if finding.allocation else 0)


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"

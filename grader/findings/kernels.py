"""What the emulator saw a kernel do, in words, and as results show it; what mends it is in remedies.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from grader.emulator.machine.records import (
    BULK_COPY,
    TENSOR_COPY,
    TOOLS,
    Access,
    Action,
    Arrivals,
    Finding,
    Kind,
)
from grader.emulator.places import GIVEN, Place
from grader.findings.asynchronous import (
    descriptor,
    mbarrier,
    proxy_fence,
    registers,
    tensor_map,
    unfenced_product,
    unfinished_copy,
    unfinished_product,
)
from grader.findings.phrases import (
    VERBS,
    actor,
    called,
    counted,
    does,
    global_element,
    global_place,
    in_line,
    memory_name,
    near_device_memory,
    offset_of,
    other_party,
    shared_place,
    stored_near,
    who,
)
from grader.findings.remedies import remedy
from grader.results import FindingResult, OtherAccess, SourceLine


def result(finding: Finding, kernel: str) -> FindingResult:
    """A finding as results show it."""
    allocation = finding.allocation
    return FindingResult(
        kind=finding.kind,
        line=finding.place.line or None,
        file=finding.place.file or None,
        callers=callers(finding.place),
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
        offset=offset_of(finding) if allocation else None,
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
    return OtherAccess(
        other.action,
        other.place.line or None,
        _list(other.block),
        _list(other.thread),
        other.any_of_warp,
        other.place.file or None,
        callers(other.place),
    )


def callers(place: Place) -> list[SourceLine]:
    """By which calls the code at a place came to be run, where its function was inlined, the innermost first."""
    return [SourceLine(at.line, at.file or None) for at in place.stack()][1:]


def _list(numbers: Sequence[int] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)


def message(finding: Finding) -> str:
    """What happened, and by which calls, where its function was inlined."""
    return _MESSAGES[finding.kind](finding) + called(finding.place)


# ---- what happened -----------------------------------------------------------------------------------------


def _out_of_bounds(finding: Finding) -> str:
    if finding.before:
        return _before(finding, *finding.before)
    if finding.no_texture:
        return f"{actor(finding)} fetches from a texture object {finding.address:#x}, which does not exist"
    if finding.instruction == "free":
        return (
            f"{actor(finding)} frees {finding.address or 0:#x} in {memory_name(finding)}, which is nothing that "
            "malloc() or new has given, or was freed before"
        )
    text = f"{who(finding)} {does(finding)} {_extent(finding)}"
    return f"{text}, in {finding.instruction}" if finding.instruction else text


def _before(finding: Finding, dimension: int, at: int) -> str:
    what = (
        f"{actor(finding)} stores a box that begins in front of its tensor: coordinate {dimension} of the box"
    )
    return f"{what} (0 is the innermost) is {at}"


def _extent(finding: Finding) -> str:
    """What an access out of bounds touches, and how far that is outside."""
    if finding.element is not None and finding.shape is not None:
        elements = math.prod(finding.shape)
        by = f"{' × '.join(map(str, finding.shape))} = " if len(finding.shape) > 1 else ""
        return f"{_elements(finding)}, where `{finding.array}` has {by}{counted(elements, 'element')}"
    at = f"{counted(finding.size or 0, 'byte')} of {memory_name(finding)}"
    allocation, offset = finding.allocation, offset_of(finding)
    if finding.in_heap:
        return f"{at} at {finding.address:#x} in the heap of malloc() and new, which nobody has, or no longer"
    if finding.space == "shared" and allocation:
        has = f"{allocation.nbytes} bytes" if allocation.nbytes else "no bytes"
        whose = f"block {finding.owner}" if finding.owner else "the block"
        return f"{at} at byte {offset}, where {whose} has {has}"
    if finding.space in ("local", "param"):
        return f"{at} at byte {offset}, beyond its end"
    if allocation is None:
        nothing = "where nothing is allocated"
        near = near_device_memory(finding.address)
        return f"{at} at {finding.address:#x}, {nothing if near else 'which is no address of the device'}"
    name = f"`{finding.array}`, which has {counted(allocation.nbytes, 'byte')}" if finding.array else ""
    name = name or f"an allocation of {counted(allocation.nbytes, 'byte')}"
    if 0 <= offset < allocation.nbytes:
        return f"{at} at byte {offset} of {name}, beyond its end"
    distance = offset - allocation.nbytes if offset >= 0 else -offset
    side = "behind the end" if offset >= 0 else "before the start"
    return f"{at} {counted(distance, 'byte')} {side} of {name}"


def _elements(finding: Finding) -> str:
    """The elements that an access touches, of an array whose type is known."""
    first, nbytes = finding.element or 0, finding.allocation.nbytes if finding.allocation else 0
    width = nbytes // math.prod(finding.shape or (1,))
    last = first + max((finding.size or width) // width, 1) - 1
    return f"`{finding.array}`[{first}{'' if last == first else f' to {last}'}]"


def _misaligned(finding: Finding) -> str:
    at = f"{finding.address:#x} in {memory_name(finding)}"
    if finding.element is not None:
        at = f"`{finding.array}`[{finding.element}], address {finding.address:#x}"
    if finding.instruction == TENSOR_COPY:
        return (
            f"{who(finding)} copies a box that begins at {at}, which is no multiple of {finding.size} bytes"
        )
    return (
        f"{who(finding)} {does(finding)} {finding.size} bytes at {at}, which is no multiple of {finding.size}"
    )


def _uninitialised(finding: Finding) -> str:
    what = f"{who(finding)} {does(finding)} {shared_place(finding)}, which no thread of the block has written"
    if finding.written_later:
        return f"{what} yet"
    near = stored_near(finding)
    if near is None:
        return what
    if not near:
        return f"{what}, nor any other element of `{finding.array}`"
    if len(near) == 1:
        return f"{what}; {near[0]} is the nearest that has been"
    return f"{what}; {' and '.join(near)} are the nearest that have been"


def _never_written(finding: Finding) -> str:
    what = f"{who(finding)} {does(finding)} what nobody has written {global_place(finding)}"
    if finding.allocated is None:
        return what
    call, place = finding.allocated
    what = f"{what} since {call}{in_line(place)}"
    if finding.hollow is None:
        return what
    copy, copied = finding.hollow
    return f"{what}: {copy}{in_line(copied)} brings what nobody had written on the host"


def _race(finding: Finding) -> str:
    other = finding.other or Access()
    if finding.space == "global":
        return _global_race(finding, other)
    verb = VERBS[other.action] if other.action else "accesses"
    too = " too" if other.action in (finding.action, None) else ""
    what = f"{actor(finding)}{_of_block(finding)} {does(finding)} {shared_place(finding)}"
    met = f"which {other_party(finding, other)} {verb}{too}{in_line(other.place)}"
    return f"{what}, {met}{_unordered(finding, _orders(finding, other), ' ')}"


def _unordered(finding: Finding, orders: str, joint: str = ", ") -> str:
    """That nothing orders two accesses; of threads that add to an element, which a barrier would not help, nothing."""
    return "" if finding.accumulates else f"{joint}with no {orders} in between"


def _of_block(finding: Finding) -> str:
    return f" of block {finding.block}" if finding.scope == "cluster" else ""


def _orders(finding: Finding, other: Access) -> str:
    """What would order two accesses to shared memory."""
    if other.by_copy:
        return "wait for its mbarrier"
    if finding.scope == "cluster":
        return "barrier of the cluster and no mbarrier"
    if finding.instruction == BULK_COPY:
        return "__syncthreads() and no mbarrier"
    return f"{'__syncwarp() or ' if finding.scope == 'warp' else ''}__syncthreads()"


def _global_race(finding: Finding, other: Access) -> str:
    """A thread reads what another block, or another warp of the block, has stored, or stores another value there."""
    if other.action == "read":
        return _overtakes(finding, other)
    verb, with_what = _GLOBAL_VERBS[finding.action or "read"]
    place, by = global_place(finding), other_party(finding, other)
    if finding.scope == "warp":
        return f"{actor(finding)} {verb} what {by} stores {place} at the same time{with_what}"
    if finding.scope == "block":
        what = f"{actor(finding)} {verb} what {by} has stored {place}{with_what}"
        return f"{what}{_unordered(finding, '__syncthreads()')}"
    if finding.of_block:
        does_so = {"read": "reads", "write": "stores", "atomic": "updates"}[finding.action or "atomic"]
        what = f"{actor(finding)} of block {finding.block} {does_so} what {by} updates too, {place}"
        return f"{what}, and one of the two is atomic for the threads of its own block alone"
    what = f"{actor(finding)} of block {finding.block} {verb} what {by} has stored {place}{with_what}"
    if finding.blocks_wait and finding.action == "read":
        if finding.fences == "grid":
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
    by = other_party(finding, other)
    if finding.scope == "grid":
        writer = f"{actor(finding)} of block {finding.block}"
        return f"{writer} writes {global_element(finding)}, which {by} reads, and nothing orders the two"
    barriers = f"{'__syncwarp() or ' if finding.scope == 'warp' else ''}__syncthreads()"
    what = f"{actor(finding)} writes {global_element(finding)}, which {by} reads"
    return f"{what}{_unordered(finding, barriers)}"


def _stored_read_only(finding: Finding) -> str:
    other = finding.other or Access()
    whom = "the kernel itself" if finding.scope == "warp" else other_party(finding, other)
    cache = "a texture" if finding.instruction else "the read-only cache"
    return f"{actor(finding)} reads {global_element(finding)} through {cache}, where {whom} has stored"


def _absent_lanes(finding: Finding) -> str:
    there = finding.other.thread if finding.other else None
    instruction = "__syncwarp" if finding.instruction == "bar.warp" else finding.instruction
    if there == finding.thread:
        return f"thread {there} executes {instruction} with a mask that does not name it"
    return (
        f"thread {there} executes {instruction} with thread {finding.thread} in its mask, which is elsewhere"
    )


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
        barrier = "this barrier" if finding.place.line else "a barrier"
        return f"only some threads of a warp reach {barrier} while the others are elsewhere"
    return f"threads of one block wait at different barriers{_in_lines(finding.place, finding.other.place)}"


def _in_lines(one: Place, other: Place) -> str:
    """Where two barriers are, as far as it is known."""
    known = [place for place in (one, other) if place.line]
    if len(known) < 2:
        return "".join(f" (one of them in {place.words()})" for place in known)
    if (one.file, one.line) == (other.file, other.line):
        return f" (two of them in {one.words()})"
    if one.file == other.file == GIVEN:
        return f" (lines {one.line} and {other.line})"
    return f" ({one.words()} and {other.words()})"


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


def _absent_block(finding: Finding) -> str:
    thread = f"{actor(finding)} of block {finding.block}"
    if finding.absence == "no_such_block":
        return f"{thread} {does(finding)} shared memory of a block that its cluster does not have: the rank is too high"
    if finding.absence == "not_begun":
        return f"{thread} {does(finding)} {shared_place(finding)}, and nothing says that this block has begun"
    return f"{thread} {does(finding)} {shared_place(finding)}, which may have ended by then: it does not wait for that"


def _trap(finding: Finding) -> str:
    if finding.instruction:
        return (
            f"the kernel waits for its whole grid ({finding.instruction}), and its launch is not cooperative"
        )
    return "the kernel executed a trap"


def _assert(finding: Finding) -> str:
    return f"thread {finding.thread} failed the assertion {finding.assertion} in {finding.function}"


_MESSAGES: Mapping[Kind, Callable[[Finding], str]] = {
    "out_of_bounds": _out_of_bounds,
    "misaligned": _misaligned,
    "uninitialised_shared": _uninitialised,
    "uninitialised_global": _never_written,
    "race": _race,
    "unfinished_copy": unfinished_copy,
    "unfinished_product": unfinished_product,
    "unfenced_product": unfenced_product,
    "uninitialised": _uninitialised_value,
    "undefined_shuffle": _undefined_shuffle,
    "absent_lanes": _absent_lanes,
    "stored_read_only": _stored_read_only,
    "barrier": _barrier,
    "mbarrier": mbarrier,
    "proxy_fence": proxy_fence,
    "absent_block": _absent_block,
    "tensor_map": tensor_map,
    "descriptor": descriptor,
    "registers": registers,
    "trap": _trap,
    "assert": _assert,
}

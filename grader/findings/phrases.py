"""The parts of sentences about what a kernel did: who, what, where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from grader.emulator.machine.memory import ARENA_BYTES
from grader.emulator.machine.records import Access, Action, Finding
from grader.emulator.places import Place
from grader.emulator.runtime.layout import GLOBAL_BASE

NEAR = 1 << 40
"""Bytes around the device's memory that an index of 32 bits goes beyond it, and more; the host's is further away."""

ELEMENTS = {
    "float16": (2, "halves"),
    "bfloat16": (2, "bfloat16 elements"),
    "float32": (4, "floats"),
    "float64": (8, "doubles"),
    "int32": (4, "ints"),
    "uint32": (4, "ints"),
    "uint8": (1, "bytes"),
    "int8": (1, "bytes"),
}
"""Bytes of an element, and what several are called."""

VERBS: Mapping[Action, str] = {"read": "reads", "write": "writes", "atomic": "updates"}


def in_line(place: Place) -> str:
    """Where another than the one who a sentence is about came by, and by which calls."""
    calls = _calls(place)
    return f" in {place.words()}" + (f" (called in {calls})" if calls else "") if place.line else ""


def called(place: Place) -> str:
    """By which calls the code at a place came to be run, where its function was inlined."""
    calls = _calls(place)
    return f"; its function is called in {calls}" if calls else ""


def _calls(place: Place) -> str:
    return ", and that one in ".join(call.words() for call in list(place.stack())[1:])


def near_device_memory(address: int | None) -> bool:
    """Whether a wrong index may lead there, from an array that was allocated."""
    return address is None or GLOBAL_BASE - NEAR <= address < GLOBAL_BASE + ARENA_BYTES + NEAR


def below_device_memory(address: int | None) -> bool:
    """Whether an index below 0 alone leads there, of whichever array."""
    return address is not None and GLOBAL_BASE - NEAR <= address < GLOBAL_BASE


def actor(finding: Finding) -> str:
    """Who did it. Where they are several threads of a warp, it is another than the one that they race with."""
    if not finding.any_of_warp:
        return f"thread {finding.thread}"
    warp = f"the warp of thread {finding.thread}"
    other = finding.other or Access()
    met = finding.kind == "race" and other.thread == finding.thread and finding.scope != "cluster"
    return f"{'a' if other.any_of_warp else 'another'} thread of {warp}" if met else warp


def who(finding: Finding) -> str:
    """Who did it, and of which block, but for the first, which may be the only one."""
    return f"{actor(finding)} of block {finding.block}" if any(finding.block or ()) else actor(finding)


def does(finding: Finding) -> str:
    return VERBS[finding.action or "read"]


def other_party(finding: Finding, other: Access) -> str:
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
    if finding.scope == "warp" and finding.any_of_warp and not other.any_of_warp:
        return f"thread {other.thread}"
    if finding.scope == "warp" and (other.any_of_warp or other.thread == finding.thread):
        return "another thread of its warp"
    if other.any_of_warp:
        return f"the warp of thread {other.thread}"
    return f"thread {other.thread}"


def memory_name(finding: Finding) -> str:
    spaces = {"generic": "memory", "const": "constant memory", "param": "parameter memory"}
    return spaces.get(finding.space or "generic", f"{finding.space} memory")


def shared_place(finding: Finding) -> str:
    place = _place_in_block(finding)
    return f"{place} of block {finding.owner}" if finding.owner else place


def _place_in_block(finding: Finding) -> str:
    if finding.element is not None and finding.shape is not None:
        return f"`{finding.array}{_in_brackets(finding.element, finding.shape)}` in shared memory"
    if is_variable(finding):
        return f"`{finding.array}` in shared memory"
    array = f" (`{finding.array}`)" if finding.array else ""
    return f"shared memory at byte {finding.address}{array}"


def stored_near(finding: Finding) -> list[str] | None:
    """The nearest elements of an array in shared memory that have been written, where one is read that has not; None
    where elements are not known."""
    if finding.stored is None or finding.shape is None or finding.allocation is None:
        return None
    width, base = finding.allocation.nbytes // math.prod(finding.shape), finding.allocation.base
    known = ((at - base) // width for at in finding.stored if at is not None)
    return [f"`{finding.array}{_in_brackets(element, finding.shape)}`" for element in known]


def is_variable(finding: Finding) -> bool:
    """Whether what an access to shared memory is about is no array, but one variable, as large as the access."""
    place = finding.allocation
    known = finding.space == "shared" and finding.array is not None and place is not None
    return known and finding.shape is None and place is not None and place.nbytes == finding.size


def _in_brackets(element: int, shape: Sequence[int]) -> str:
    return "".join(f"[{at}]" for at in _indices(element, shape))


def global_place(finding: Finding) -> str:
    """Where in an array, or in an allocation without a name, a race took place."""
    allocation = finding.allocation
    if finding.element is not None and finding.shape is not None and finding.array is not None:
        return f"in `{finding.array}`[{_index(finding.element, finding.shape)}]"
    if allocation is None:
        return "in global memory"
    name = f"`{finding.array}`" if finding.array else f"an allocation of {counted(allocation.nbytes, 'byte')}"
    return f"at byte {offset_of(finding)} of {name}"


def global_element(finding: Finding) -> str:
    """The same as what is written or read: an element by its name alone."""
    place = global_place(finding)
    return place.removeprefix("in ") if finding.array is not None else place


def _index(element: int, shape: Sequence[int]) -> str:
    return ", ".join(map(str, _indices(element, shape)))


def _indices(element: int, shape: Sequence[int]) -> list[int]:
    """The index of an element of the flat array, one number a dimension."""
    indices: list[int] = []
    for extent in reversed(shape):
        element, at = divmod(element, extent)
        indices.insert(0, at)
    return indices


def offset_of(finding: Finding) -> int:
    """Bytes from the start of what an address lies in."""
    return (finding.address or 0) - (finding.allocation.base if finding.allocation else 0)


def counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"

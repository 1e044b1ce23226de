"""Loads that a compiler has moved out of a branch, put back under their condition.

From `if (p) x = variable;` NVRTC makes a load that every thread executes, and a `selp` that takes its value or leaves
it: the address is a constant, so nothing can go wrong. From `if (p) x += s[2] + s[3];` it makes two loads and the
additions, and a `selp` that takes the sum. The source reads only where the condition holds, and only there may a read
meet another thread's store.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

from grader.emulator.ptx.instructions import destinations, sources
from grader.emulator.ptx.tree import TYPE_BYTES, Instruction, Label, Mem, Reg, Sym

Body = list[Instruction | Label]

_PLAIN = {"ld", "global", "shared", *TYPE_BYTES}
"""Parts of the opcodes of such loads: what is volatile or of several words stays where it is."""

_LEAVES = {"bra", "brx", "call", "ret", "exit"}

_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "mad", "fma", "neg", "abs", "min", "max", "and", "or", "xor", "not", "lop3", "shl", "shr",
     "cvt", "mov", "rcp", "ex2", "sqrt", "rsqrt")
)  # fmt: skip
"""What may lie between a load and the `selp`, moved out of the branch with it."""


def guard_speculated_loads(body: Body) -> Body:
    """The body, with a guard for each load of a variable whose value nothing uses but one `selp` behind it, by itself
    or in what is computed from it."""
    instructions = [item for item in body if isinstance(item, Instruction)]
    used = Counter(name for inst in instructions for name in {*sources(inst)})
    defined = Counter(name for inst in instructions for name in destinations(inst))
    single = {name for name, count in used.items() if count == defined[name] == 1}
    found = list(body)
    for place in range(len(found)):
        item = found[place]
        if isinstance(item, Instruction) and (target := _loaded(item)) in single:
            selects = _selecting(found, place, target, single)
            if selects is not None:
                _guard(found, place, *selects)
    return found


def _loaded(inst: Instruction) -> str | None:
    """The register that a load without a guard takes a variable of global or shared memory into."""
    if inst.parts[0] != "ld" or inst.predicate is not None or not _PLAIN.issuperset(inst.parts):
        return None
    target, memory = inst.operands
    if isinstance(target, Reg) and isinstance(memory, Mem) and isinstance(memory.base, Sym):
        return target.name
    return None


def _selecting(body: Body, place: int, target: str, single: set[str]) -> tuple[int, str] | None:
    """Where the `selp` is that takes or leaves the register of a load, or what is computed from it, and the register
    that it does so with. `single` are registers that one instruction writes and one uses."""
    for at, item in enumerate(islice(body, place + 1, None), place + 1):
        if isinstance(item, Label) or item.parts[0] in _LEAVES:
            return None
        if target in sources(item):
            if item.predicate is not None:
                return None
            if item.parts[0] not in _ARITHMETIC:
                return (at, target) if item.parts[0] == "selp" else None
            (target,) = destinations(item)
            if target not in single:
                return None
    return None


def _guard(body: Body, place: int, at: int, target: str) -> None:
    """Guard, in place, a load by the condition of the `selp` at `at`, if that can be known at the load. A comparison
    between them is put in front of the load, which then is the next instruction, and guarded in its turn."""
    load, select = body[place], body[at]
    assert isinstance(load, Instruction)
    assert isinstance(select, Instruction)
    _, first, second, predicate = select.operands
    if not isinstance(predicate, Reg) or [first, second].count(Reg(target)) != 1:
        return
    between = [item for item in body[place:at] if isinstance(item, Instruction)]
    writes = [index for index, item in enumerate(between) if predicate.name in destinations(item)]
    if not writes:
        body[place] = replace(load, predicate=(predicate.name, first != Reg(target)))
        return
    before, compare = between[: writes[0]], between[writes[0]]
    touched = {name for item in before for name in (*destinations(item), *sources(item))}
    written = {name for item in before for name in destinations(item)}
    plain = compare.parts[0] == "setp" and compare.predicate is None and len(writes) == 1
    if plain and touched.isdisjoint(destinations(compare)) and written.isdisjoint(sources(compare)):
        body.insert(place, body.pop(place + writes[0]))

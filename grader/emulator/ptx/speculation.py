"""Loads that a compiler has moved out of a branch, put back under their condition.

From `if (p) x = variable;` NVRTC makes a load that every thread executes, and a `selp` that takes its value or leaves
it: the address is a constant, so nothing can go wrong. The source reads only where the condition holds, and only there
may a read meet another thread's store.
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


def guard_speculated_loads(body: Body) -> Body:
    """The body, with a guard for each load of a variable whose value nothing uses but one `selp` behind it."""
    instructions = [item for item in body if isinstance(item, Instruction)]
    used = Counter(name for inst in instructions for name in sources(inst))
    defined = Counter(name for inst in instructions for name in destinations(inst))
    found = list(body)
    for place, item in enumerate(body):
        if (
            isinstance(item, Instruction)
            and (target := _loaded(item))
            and used[target] == defined[target] == 1
        ):
            found[place] = replace(item, predicate=_condition(body, place, target))
    return found


def _loaded(inst: Instruction) -> str | None:
    """The register that a load without a guard takes a variable of global or shared memory into."""
    if inst.parts[0] != "ld" or inst.predicate is not None or not _PLAIN.issuperset(inst.parts):
        return None
    target, memory = inst.operands
    if isinstance(target, Reg) and isinstance(memory, Mem) and isinstance(memory.base, Sym):
        return target.name
    return None


def _condition(body: Body, place: int, target: str) -> tuple[str, bool] | None:
    """The predicate under which a `selp` behind a load takes its register, and whether it is negated, where it is known
    at the load; else None."""
    changed: set[str] = set()
    for item in islice(body, place + 1, None):
        if isinstance(item, Label) or item.parts[0] in _LEAVES:
            return None
        if target in sources(item):
            return _selected(item, target, changed)
        changed.update(destinations(item))
    return None


def _selected(inst: Instruction, target: str, changed: set[str]) -> tuple[str, bool] | None:
    if inst.parts[0] != "selp" or inst.predicate is not None:
        return None
    _, first, _, predicate = inst.operands
    if not isinstance(predicate, Reg) or predicate.name in changed:
        return None
    return predicate.name, first != Reg(target)

"""Lanes whose value nobody has defined: those of registers never written, and of shuffles from absent lanes.

For each register that may hold such a value (ptx/registers/undefined.py), a mask says in which lanes it does. It
follows the value through arithmetic, through shared and local memory too, and it is a finding where the value shows: in
a store to global memory, an address, a branch, an argument of printf. A value that is thrown away is none, as that of
the lanes beyond the end in most reductions by shuffles; nor are the items beyond the end that CUB exchanges.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter, undefined_slot
from grader.emulator.codegen.ops.memory import address
from grader.emulator.codegen.values import I64, constant
from grader.emulator.ptx.basic_blocks import EXIT, Block
from grader.emulator.ptx.instructions import (
    decode_space,
    destinations,
    is_warpgroup_product,
    registers_of,
)
from grader.emulator.ptx.registers.undefined import (
    ABSENT,
    UNWRITTEN,
    computed_from,
    exchanges,
    loads_from,
    observed,
    overwrites,
    stores_to,
    updates,
)
from grader.emulator.ptx.tree import TYPE_BYTES, Imm, Instruction, Mem, Operand, Pair, Vec
from grader.emulator.runtime import layout

_KINDS = {UNWRITTEN: layout.UNWRITTEN_USED, ABSENT: layout.ABSENT_USED}
_TOGETHER = frozenset(("vote", "match", "redux", "mma", "wmma", "movmatrix"))
"""Their results depend on the operands of all lanes."""

NONE = I64(0)


class UndefinedLanes:
    """The masks of the current basic block; what outlives it lies in the warp's state, behind the registers."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        found = e.flow.undefined
        self.origins = {origin: one.registers for origin, one in found.items() if one.registers}
        self.memory = {origin: one.memory for origin, one in found.items()}
        self.masks: dict[tuple[str, str], Any] = {}
        self.before: dict[str, Any] = {}
        self.loaded: dict[tuple[str, str], Any] = {}
        """Of a load, the lanes whose element was left undefined in memory."""
        self.alone: Any = None
        """The address of a load from shared memory that all lanes have, and the address buffer has not."""

    def begin_block(self) -> None:
        self.masks = {}

    def begin(self, inst: Instruction) -> None:
        """Before an instruction: what its operands hold, and whether that shows."""
        self.before, self.loaded = {}, {}
        self.alone = self._alone(inst)
        for origin, names in self.origins.items():
            self._check(origin, [name for name in observed(inst, self.memory[origin]) if name in names])
            if updates(inst, self.memory[origin]):
                self._update(origin, inst)
            if not names.isdisjoint(destinations(inst)):
                self.before[origin] = self._result(origin, inst)

    def end(self, inst: Instruction) -> None:
        """After an instruction: what its results hold."""
        target = inst.operands[0] if inst.operands else None
        for origin in self.origins:
            if loads_from(inst, self.memory[origin]):
                self._load(origin, inst)
            elif overwrites(inst, self.memory[origin]):
                self._leave(origin, inst)
        for origin, result in self.before.items():
            values, others = result, result
            if inst.parts[0] == "shfl":
                values, others = self._shuffled(origin, inst)
            pair = isinstance(target, Pair)
            firsts = registers_of(target.first if isinstance(target, Pair) else target)
            for name in destinations(inst):
                if name in self.origins[origin]:
                    mask = others if pair and name not in firsts else values
                    if (origin, name) in self.loaded:
                        mask = self.e.b.or_(mask, self.loaded[origin, name])
                    self._set(origin, name, mask)

    def store(self, block: Block) -> None:
        """At the end of a block: writes what outlives it."""
        e, b = self.e, self.e.b
        alive = set().union(*(e.flow.live_in[s] for s in block.successors if s != EXIT))
        for (origin, name), mask in self.masks.items():
            if name in alive:
                pointer = self._pointer(origin, name)
                kept = b.and_(self._stored(origin, pointer), b.not_(e.mask))
                mask = b.or_(b.and_(mask, e.mask), kept)
                b.store(b.not_(mask) if origin == ABSENT else mask, pointer)

    # -- masks ------------------------------------------------------------------------------------------------
    def _pointer(self, origin: str, name: str) -> Any:
        e = self.e
        return e.at(e.b.add(e.warp, I64(e.slots[undefined_slot(origin, name)])), I64)

    def _stored(self, origin: str, pointer: Any) -> Any:
        """A mask in the warp's state, whose bits are all set when a block begins: nothing is written yet, and nothing
        comes from absent lanes."""
        stored = self.e.b.load(pointer)
        return self.e.b.not_(stored) if origin == ABSENT else stored

    def _mask(self, origin: str, name: str) -> Any:
        if name not in self.origins[origin]:
            return NONE
        if (origin, name) not in self.masks:
            known = undefined_slot(origin, name) in self.e.slots
            self.masks[origin, name] = self._stored(origin, self._pointer(origin, name)) if known else NONE
        return self.masks[origin, name]

    def _any(self, origin: str, names: list[str]) -> Any:
        mask: Any = NONE
        for name in dict.fromkeys(names):
            if name in self.origins[origin]:
                mask = self.e.b.or_(mask, self._mask(origin, name))
        return mask

    def _of(self, origin: str, *operands: Operand) -> Any:
        return self._any(origin, [name for operand in operands for name in registers_of(operand)])

    def _set(self, origin: str, name: str, mask: Any) -> None:
        e, b = self.e, self.e.b
        if e.guard is not None:
            assert e.inst.predicate is not None
            holds = e.bits(e.guard)
            mask = b.or_(b.and_(mask, holds), b.and_(self._mask(origin, name), b.not_(holds)))
            mask = b.or_(mask, self._any(origin, [e.inst.predicate[0]]))
        self.masks[origin, name] = mask

    # -- instructions -----------------------------------------------------------------------------------------
    def _result(self, origin: str, inst: Instruction) -> Any:
        """The lanes in which a result is undefined because operands are."""
        e, b = self.e, self.e.b
        name, operands = inst.parts[0], inst.operands[1:]
        if name == "selp":
            holds = self._bits(operands[2])
            chosen = b.or_(b.and_(self._of(origin, operands[0]), holds),
                           b.and_(self._of(origin, operands[1]), b.not_(holds)))  # fmt: skip
            return b.or_(chosen, self._of(origin, operands[2]))
        if name in ("and", "or") and inst.parts[-1] == "pred":
            return self._connected(origin, operands[0], operands[1], decides=name == "or")
        if is_warpgroup_product(inst):
            return self._of_product(origin, inst)
        guard = [inst.predicate[0], *destinations(inst)] if inst.predicate else []
        read = [register for register in computed_from(inst) if register not in guard]
        found = self._any(origin, read)
        if name in _TOGETHER:
            some = b.icmp_unsigned("!=", b.and_(found, e.active_mask()), NONE)
            return b.select(some, I64(layout.FULL), NONE)
        return found

    def _of_product(self, origin: str, inst: Instruction) -> Any:
        """Of a wgmma: accumulators are not read where scale-d is 0; operand A matters to all lanes."""
        e, b = self.e, self.e.b
        sums, factors, scale = (self._of(origin, inst.operands[index]) for index in (0, 1, 3))
        if isinstance(inst.operands[3], Imm):
            sums = sums if inst.operands[3].value else NONE
        else:
            sums = b.and_(sums, self._bits(inst.operands[3]))
        some = b.icmp_unsigned("!=", b.and_(b.or_(factors, scale), e.active_mask()), NONE)
        return b.or_(sums, b.select(some, I64(layout.FULL), NONE))

    def _connected(self, origin: str, one: Operand, other: Operand, *, decides: bool) -> Any:
        """Of a conjunction or a disjunction: an operand that is defined and decides it makes the other no matter."""
        b = self.e.b
        lanes = [self._of(origin, operand) for operand in (one, other)]
        open_ = []
        for operand, undefined in zip((one, other), lanes, strict=True):
            bits = self._bits(operand)
            open_.append(b.or_(b.not_(bits) if decides else bits, undefined))
        return b.or_(b.and_(lanes[0], open_[1]), b.and_(lanes[1], open_[0]))

    def _bits(self, operand: Operand) -> Any:
        return self.e.bits(self.e.read(operand, "pred", vector=True))

    def _shuffled(self, origin: str, inst: Instruction) -> tuple[Any, Any]:
        """Of a shuffle: the lanes whose result is undefined, and those whose predicate is."""
        e, b = self.e, self.e.b
        present, source = e.shuffle
        others = self._of(origin, *inst.operands[2:])
        undefined = self._of(origin, inst.operands[1])
        word = e.splat(b.trunc(undefined, source.type.element))
        taken = b.and_(b.lshr(word, source), constant(source, 1))
        values = b.and_(e.bits(b.icmp_unsigned("!=", taken, constant(taken, 0))), e.bits(present))
        if origin == ABSENT:
            values = b.or_(values, b.xor(e.bits(present), I64(layout.FULL)))
        return b.or_(values, others), others

    def _check(self, origin: str, names: list[str]) -> None:
        """Notes the lanes in which one of the registers is undefined and shows."""
        if not names:
            return
        e, b = self.e, self.e.b
        guard = e.inst.predicate[0] if e.inst.predicate else None
        shown = b.and_(self._any(origin, [name for name in names if name != guard]), e.active_mask())
        if guard in names:
            shown = b.or_(shown, b.and_(self._any(origin, [guard]), e.mask))
        self._note(origin, shown)

    def _note(self, origin: str, lanes: Any) -> None:
        e, b = self.e, self.e.b
        with b.if_then(b.icmp_unsigned("!=", lanes, NONE), likely=False):
            e.call("note_undefined", e.context, e.site_address(), I64(_KINDS[origin]), lanes)

    # -- memory -----------------------------------------------------------------------------------------------
    def _leave(self, origin: str, inst: Instruction) -> None:
        """Behind a store: what it has left in memory. Where others may read that, it shows."""
        e, b = self.e, self.e.b
        items = [self._of(origin, item) for item in _items(inst.operands[1])]
        active = e.active_mask()
        some = self._left()
        for item in items:
            some = b.or_(some, b.and_(item, active))
        with b.if_then(b.icmp_unsigned("!=", some, NONE), likely=False):
            shown: Any = NONE
            for index, item in enumerate(items):
                shown = b.or_(shown, self._call("leave_undefined", origin, index, item))
            if stores_to(inst, self.memory[origin]):
                self._note(origin, shown)

    def _load(self, origin: str, inst: Instruction) -> None:
        """Behind a load: in which lanes it has found what was left so."""
        e, b = self.e, self.e.b
        slots = self._slots(origin, inst.operands[0])
        with b.if_then(b.icmp_unsigned("!=", self._left(), NONE), likely=False):
            if self.alone is not None:
                host = b.add(self.alone, e.context_slot(layout.SHARED_HOST))
                e.store_vector(e.splat(host), e.address_buffer)
            for index, _, slot in slots:
                b.store(self._call("undefined_at", origin, index), slot)
        for _, name, slot in slots:
            self.loaded[origin, name] = b.load(slot)

    def _update(self, origin: str, inst: Instruction) -> None:
        """In front of an atomic: what it will find shows, where that was left so; an exchange only gives it back."""
        e, b = self.e, self.e.b
        memory = next(operand for operand in inst.operands if isinstance(operand, Mem))
        slots = self._slots(origin, inst.operands[0]) if exchanges(inst) else []
        for name in registers_of(memory):  # what is loaded in the branch does not exist behind it
            e.load_register(name)
        with b.if_then(b.icmp_unsigned("!=", self._left(), NONE), likely=False):
            window = layout.SHARED_WINDOW if decode_space(inst) == "generic" else 0
            to_host = b.sub(e.context_slot(layout.SHARED_HOST), I64(window))
            e.store_vector(b.add(address(e, memory, vector=True), e.splat(to_host)), e.address_buffer)
            lanes = self._call("undefined_at", origin, 0)
            for _, _, slot in slots:
                b.store(lanes, slot)
            if not exchanges(inst):
                self._note(origin, lanes)
        for _, name, slot in slots:
            self.loaded[origin, name] = b.load(slot)

    def _slots(self, origin: str, target: Operand) -> list[tuple[int, str, Any]]:
        """Of the elements that are loaded: which, into which register, and room for the lanes that are undefined."""
        b = self.e.b
        found = []
        for index, item in enumerate(_items(target)):
            for name in registers_of(item):
                slot = self.e.at(b.add(self.e.second_buffer, I64(index * 8)), I64)
                b.store(NONE, slot)
                found.append((index, name, slot))
        return found

    def _alone(self, inst: Instruction) -> Any:
        """In front of a load: the address that all lanes have (ops/memory.py)."""
        e = self.e
        if not any(loads_from(inst, memory) for memory in self.memory.values()):
            return None
        if decode_space(inst) != "shared" or e.vector or not e.is_uniform(inst.operands[1]):
            return None
        return address(e, inst.operands[1], vector=False)

    def _left(self) -> Any:
        """Whether the block has left any such value."""
        return self.e.context_slot(layout.UNDEFINED_LEFT)

    def _call(self, name: str, origin: str, index: int, *more: Any) -> Any:
        """Calls a function of runtime/spaces/undefined.py for an element of an access whose addresses, the host's, are
        in the address buffer."""
        e = self.e
        nbytes = TYPE_BYTES[e.inst.parts[-1]]
        at, number = I64(index * nbytes), I64(list(self.memory).index(origin))
        return e.call(name, e.context, e.address_buffer, at, e.active_mask(), I64(nbytes), *more, number)


def _items(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vec) else (operand,)

"""Generates native code for a kernel: one function that runs one warp until it ends or waits at a barrier.

A register is a vector of 32 lanes, or a scalar where the whole warp shares its value (cfg.py). Inside a basic
block values are in LLVM's registers; what outlives a block lies in the warp's state. Each block has a mask of
lanes that are waiting to run it. The lowest block with lanes waiting runs next, so lanes that parted at a branch
meet again behind it, as compiled code for a GPU makes them. While all lanes are together, blocks jump to each
other directly.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from grader.emulator.codegen.ops import handle
from grader.emulator.codegen.ops.special import read_special
from grader.emulator.codegen.reconvergence import Reconvergence
from grader.emulator.codegen.values import (
    F32,
    F64,
    I1,
    I8,
    I32,
    I64,
    element_of,
    is_vector,
    scalar_type,
    shaped,
    suffix,
    width_of,
)
from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.basic_blocks import EXIT, Block
from grader.emulator.ptx.instructions import destinations, is_special
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.ptx.tree import Imm, Instruction, Mem, Not, Operand, Reg, Sym
from grader.emulator.runtime import layout
from grader.emulator.runtime.build import PREFIX
from grader.emulator.runtime.layout import LANES


def generate(plan: KernelPlan) -> str:
    """The LLVM module, as text, with the function KERNEL_SYMBOL: int64 (int64 context, int64 warp)."""
    return str(Emitter(plan).run())


KERNEL_SYMBOL = "warp_kernel"
TURN = 1 << 14
"""Warp instructions that a spinning warp executes before others of its block get their turn."""


class Emitter:
    """The state of one generation: the builder, the registers of the current block, the current instruction.

    The handlers in ops/ use it through read, write, the constant helpers and call.
    """

    def __init__(self, plan: KernelPlan) -> None:
        self.plan = plan
        self.rows_uniform = plan.rows_uniform
        self.flow = plan.flow
        self.registers = plan.flow.function.registers
        self.module = ir.Module(name=plan.name)
        self.function = ir.Function(self.module, ir.FunctionType(I64, [I64, I64]), KERNEL_SYMBOL)
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.env: dict[str, Any] = {}
        self.carry: Any = None
        self.waiting_rooms: dict[int, Any] = {}
        self.site_of = {id(site.inst): site for site in plan.sites if not site.companion}
        self.slots, _ = register_slots(plan)

    def storage(self, name: str) -> Any:
        try:
            return scalar_type(self.registers[name])
        except KeyError:
            raise UnsupportedPtx(f"the register {name} of type {self.registers.get(name)}") from None

    def varies(self, name: str) -> bool:
        return name not in self.flow.uniform

    # -- the whole function -----------------------------------------------------------------------------------
    def run(self) -> ir.Module:
        self._entry()
        self.bodies = [self.function.append_basic_block(f"block{b.index}") for b in self.flow.blocks]
        self.dispatch = self.function.append_basic_block("dispatch")
        self.b.branch(self.dispatch)
        for block in self.flow.blocks:
            self._block(block)
        self._dispatch()
        self.meetings.finish()
        return self.module

    def _entry(self) -> None:
        self.context, self.warp = self.function.args
        self.mask_slot = self.b.alloca(I64, name="mask")
        self.words = [
            self.b.alloca(I64, name=f"pending{i}") for i in range((len(self.flow.blocks) + 63) // 64)
        ]
        self.address_buffer = self.b.ptrtoint(self._buffer(LANES * 8), I64)
        self.value_buffer = self.b.ptrtoint(self._buffer(LANES * 64), I64)
        self.second_buffer = self.b.ptrtoint(self._buffer(LANES * 8), I64)
        self.scratch = self.b.ptrtoint(self._buffer(32 + LANES * 8), I64)
        self.fragment_buffer = self.b.ptrtoint(self._buffer(4 * 8 * LANES * 4), I64)
        self.tensor_scratch = self.b.ptrtoint(self._buffer((256 + 128 + 8) * 8), I64)
        self.result_slot = self.b.alloca(I64, name="result")
        self.sites_base = self.context_slot(layout.SITES)
        self.counts_base = self.context_slot(layout.BLOCK_COUNTS)
        self.lane_counts_base = self.context_slot(layout.LANE_COUNTS)
        for number, word in enumerate(self.words):
            bits: Any = I64(0)
            for index in range(number * 64, min(len(self.flow.blocks), number * 64 + 64)):
                pending = self.b.icmp_unsigned("!=", self.b.load(self._mask_pointer(index)), I64(0))
                bits = self.b.or_(bits, self.b.shl(self.b.zext(pending, I64), I64(index - number * 64)))
            self.b.store(bits, word)
        self.meetings = Reconvergence(self)
        self.budget_at_entry = self.b.alloca(I64, name="budget")
        self.b.store(self.context_slot(layout.BUDGET), self.budget_at_entry)

    def _buffer(self, nbytes: int) -> Any:
        slot = self.b.alloca(ir.ArrayType(I8, nbytes))
        slot.align = 128
        return slot

    # -- memory helpers ---------------------------------------------------------------------------------------
    def at(self, address: Any, llvm_type: Any) -> Any:
        """The int64 address as a pointer."""
        return self.b.inttoptr(address, llvm_type.as_pointer())

    def context_slot(self, slot: int) -> Any:
        return self.b.load(self.context_pointer(slot))

    def context_pointer(self, slot: int) -> Any:
        return self.at(self.b.add(self.context, I64(slot * 8)), I64)

    def warp_pointer(self, slot: int) -> Any:
        return self.at(self.b.add(self.warp, I64(slot * 8)), I64)

    def _mask_pointer(self, block: int, waiting: bool = False) -> Any:
        return self.warp_pointer(layout.W_MASKS + block + (len(self.flow.blocks) if waiting else 0))

    def add_to(self, pointer: Any, amount: Any) -> None:
        self.b.store(self.b.add(self.b.load(pointer), amount), pointer)

    # -- one block --------------------------------------------------------------------------------------------
    def _block(self, block: Block) -> None:
        self.b.position_at_end(self.bodies[block.index])
        self.block = block
        self.env = {}
        self.carry = None
        self.mask = self.b.load(self.mask_slot)
        self._give_way(block)
        self.meetings.enter(block)
        self._count_block(block)
        for inst in block.instructions:
            self._instruction(inst)
        self._store_registers(block)
        self._terminate(block)

    def _count_block(self, block: Block) -> None:
        base = self.b.add(self.counts_base, I64(block.index * 16))
        self.add_to(self.at(base, I64), I64(1))
        self.add_to(self.at(self.b.add(base, I64(8)), I64), self.b.ctpop(self.mask))
        budget = self.context_pointer(layout.BUDGET)
        count = len(block.instructions) + (block.terminator is not None)
        left = self.b.sub(self.b.load(budget), I64(max(count, 1)))
        self.b.store(left, budget)
        if block.index in self.flow.loop_heads:
            with self.b.if_then(self.b.icmp_signed("<", left, I64(0)), likely=False):
                self.b.ret(I64(layout.BUDGET_SPENT))

    def _give_way(self, block: Block) -> None:
        """At the head of a loop that may spin: other warps run from time to time; the lanes come back to this place."""
        if not self.plan.may_spin or block.index not in self.flow.loop_heads:
            return
        spin = self.warp_pointer(layout.W_SPIN)
        together = self.b.icmp_unsigned("==", self.mask, self.b.load(self.warp_pointer(layout.W_LIVE)))
        self.b.store(self.b.select(together, I64(0), self.b.load(spin)), spin)
        spent = self.b.sub(
            self.b.load(self.budget_at_entry), self.b.load(self.context_pointer(layout.BUDGET))
        )
        with self.b.if_then(self.b.icmp_signed(">", spent, I64(TURN)), likely=False):
            self.queue(block.index, self.mask)
            self.meetings.suspend()
            self.b.ret(I64(layout.RUNNING))

    def _instruction(self, inst: Instruction) -> None:
        self.inst = inst
        self.guard = self._guard(inst)
        written = destinations(inst)
        self.vector = not written or any(self.varies(name) for name in written)
        if self.guard is not None:
            counter = self.at(self.b.add(self.lane_counts_base, I64(self.plan.guarded[id(inst)] * 8)), I64)
            self.add_to(counter, self.b.ctpop(self.active_mask()))
        handle(self, inst)

    def unsupported(self, what: str | None = None) -> UnsupportedPtx:
        """The refusal of the current instruction, by its full opcode unless `what` says better."""
        return UnsupportedPtx(what or self.inst.opcode, self.inst.ptx_line, self.inst.source_line)

    def _guard(self, inst: Instruction) -> Any:
        if inst.predicate is None:
            return None
        name, negated = inst.predicate
        value = self.load_register(name)
        return self.b.not_(value) if negated else value

    def active_mask(self) -> Any:
        """The lanes that execute the current instruction, as an int64 bit mask."""
        if self.guard is None:
            return self.mask
        return self.b.and_(self.mask, self.bits(self.guard))

    def bits(self, predicate: Any) -> Any:
        """A predicate as an int64 with one bit a lane."""
        if is_vector(predicate):
            return self.b.zext(self.b.bitcast(predicate, I32), I64)
        return self.b.select(predicate, I64(layout.FULL), I64(0))

    def lanes(self, mask: Any) -> Any:
        """An int64 bit mask as a vector of 32 booleans."""
        return self.b.bitcast(self.b.trunc(mask, I32), ir.VectorType(I1, LANES))

    # -- registers --------------------------------------------------------------------------------------------
    def load_register(self, name: str) -> Any:
        """The register's value as it is stored: a vector, or a scalar where it is uniform."""
        if name not in self.env:
            self.env[name] = self._load_from_state(name)
        return self.env[name]

    def _load_from_state(self, name: str) -> Any:
        if name not in self.slots:  # never written before it is read: the value is undefined, so any will do
            kind = ir.VectorType(self.storage(name), LANES) if self.varies(name) else self.storage(name)
            return ir.Constant(kind, None)
        address = self.b.add(self.warp, I64(self.slots[name]))
        kind = self.storage(name)
        if not self.varies(name):
            if kind == I1:
                return self.b.trunc(self.b.load(self.at(address, I8)), I1)
            return self.b.load(self.at(address, kind))
        if kind == I1:
            return self.b.bitcast(self.b.load(self.at(address, I32)), ir.VectorType(I1, LANES))
        return self.load_vector(address, kind)

    def _store_registers(self, block: Block) -> None:
        alive = set().union(*(self.flow.live_in[s] for s in block.successors if s != EXIT))
        written = {name for inst in block.instructions for name in destinations(inst)}
        for name in sorted(written & alive):
            self._store_to_state(name, self.env[name])

    def _store_to_state(self, name: str, value: Any) -> None:
        address = self.b.add(self.warp, I64(self.slots[name]))
        if not is_vector(value):
            if value.type == I1:
                value = self.b.zext(value, I8)
            self.b.store(value, self.at(address, value.type))
            return
        if name in self.flow.contested:
            value = self.b.select(self.lanes(self.mask), value, self._load_from_state(name))
        if value.type.element == I1:
            self.b.store(self.b.bitcast(value, I32), self.at(address, I32))
        else:
            self.store_vector(value, address)

    def load_vector(self, address: Any, element: Any) -> Any:
        """32 elements at a 128-byte aligned address."""
        value = self.b.load(self.at(address, ir.VectorType(element, LANES)))
        value.align = 64
        return value

    def store_vector(self, value: Any, address: Any) -> None:
        self.b.store(value, self.at(address, value.type)).align = 64

    # -- operands ---------------------------------------------------------------------------------------------
    def read(self, operand: Operand | int, ptx_type: str, *, vector: bool | None = None) -> Any:
        """An operand (or the instruction's operand number) as a value of `ptx_type`.

        The value is a vector or a scalar as the current instruction is, unless `vector` says which.
        """
        if isinstance(operand, int):
            operand = self.inst.operands[operand]
        value = self._read_any(operand, ptx_type)
        want = self.vector if vector is None else vector
        return self.splat(value) if want else value

    def _read_any(self, operand: Operand, ptx_type: str) -> Any:
        kind = scalar_type(ptx_type)
        match operand:
            case Imm():
                return self._constant(operand, ptx_type)
            case Reg(name) if is_special(name):
                return self.convert_bits(read_special(self, name), kind)
            case Reg(name):
                return self.convert_bits(self.load_register(name), kind)
            case Not(reg):
                return self.b.not_(self.load_register(reg.name))
            case Sym("WARP_SZ"):
                return self._constant(Imm(LANES), ptx_type)
            case Sym(name):
                return self.convert_bits(self.address_of(name), kind)
            case Mem(Sym(name), offset):
                return self.convert_bits(self.b.add(self.address_of(name), I64(offset)), kind)
        raise self.unsupported(f"this operand of {self.inst.opcode}")

    def _constant(self, operand: Imm, ptx_type: str) -> Any:
        kind = scalar_type(ptx_type)
        if kind in (F32, F64):
            bits = operand.bits if operand.bits is not None else None
            if bits is None:
                return ir.Constant(kind, float(operand.value))
            integer = I32 if kind == F32 else I64
            return ir.Constant(integer, bits).bitcast(kind)
        if operand.bits is not None:
            return ir.Constant(kind, operand.bits)
        return ir.Constant(kind, int(operand.value) % (1 << kind.width))

    def is_uniform(self, operand: Operand) -> bool:
        """Whether every lane has the same value here."""
        match operand:
            case Reg(name):
                return not is_special(name) and not self.varies(name)
            case Mem(Reg(name), _):
                return not self.varies(name)
            case _:
                return True

    def address_of(self, name: str) -> Any:
        """A variable's address in its own state space."""
        plan = self.plan
        if name in plan.shared:
            return I64(plan.shared[name])
        if name in plan.local:
            return I64(plan.local[name])
        if name in plan.symbols:
            table = self.context_slot(layout.SYMBOLS)
            return self.b.load(self.at(self.b.add(table, I64(plan.symbols[name] * 8)), I64))
        for param in plan.params:
            if param.name == name:
                return I64(param.offset)
        raise self.unsupported(f"the name {name}")

    def convert_bits(self, value: Any, kind: Any) -> Any:
        """The value reinterpreted as `kind`: same bits, cut off or zero-extended where the widths differ."""
        have = element_of(value.type)
        if have == kind:
            return value
        if have in (F32, F64):
            have = I32 if have == F32 else I64
            value = self.b.bitcast(value, shaped(have, value))
        target = {F32: I32, F64: I64}.get(kind, kind)
        if have.width > target.width:
            value = self.b.trunc(value, shaped(target, value))
        elif have.width < target.width:
            value = self.b.zext(value, shaped(target, value))
        return value if target == kind else self.b.bitcast(value, shaped(kind, value))

    def lane_type(self, bits: int) -> Any:
        """A vector of 32 integers of so many bits."""
        return ir.VectorType(ir.IntType(bits), LANES)

    def splat(self, value: Any) -> Any:
        """A scalar in all lanes."""
        if is_vector(value):
            return value
        vector = ir.VectorType(value.type, LANES)
        if isinstance(value, ir.Constant) and not isinstance(value, ir.FormattedConstant):
            return ir.Constant(vector, [value] * LANES)
        one = self.b.insert_element(ir.Constant(vector, ir.Undefined), value, I32(0))
        return self.b.shuffle_vector(one, ir.Constant(vector, ir.Undefined),
                                     ir.Constant(ir.VectorType(I32, LANES), None))  # fmt: skip

    def write(self, operand: Operand | int, value: Any, ptx_type: str) -> None:
        """Puts a result of `ptx_type` into a register; under a guard, only where the guard holds.

        A register wider than the type is filled with the sign for signed types, with zeros otherwise.
        """
        if isinstance(operand, int):
            operand = self.inst.operands[operand]
        assert isinstance(operand, Reg), operand
        if operand.name == "_":
            return
        kind = self.storage(operand.name)
        if ptx_type.startswith("s") and kind not in (F32, F64) and width_of(value.type) < kind.width:
            value = self.b.sext(value, shaped(kind, value))
        value = self.convert_bits(value, kind)
        if self.varies(operand.name):
            value = self.splat(value)
        assert self.varies(operand.name) or not is_vector(value), (
            f"{self.inst.opcode} made {operand.name} vary"
        )
        if self.guard is not None:
            old = self.load_register(operand.name)
            guard = self.splat(self.guard) if is_vector(value) else self.guard
            value = self.b.select(guard, value, old)
        self.env[operand.name] = value

    # -- calls ------------------------------------------------------------------------------------------------
    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a function of the runtime (all int64); returns its int64 result."""
        pointer = I64.as_pointer()
        kind = ir.FunctionType(I32, [pointer, I8.as_pointer(), *[I64] * len(arguments)])
        symbol = PREFIX + name
        function = self.module.globals.get(symbol) or ir.Function(self.module, kind, symbol)
        self.b.call(function, [self.result_slot, ir.Constant(I8.as_pointer(), None), *arguments])
        return self.b.load(self.result_slot)

    def call_host(self, *arguments: Any) -> Any:
        """Calls back into Python (all int64); returns its int64 result."""
        kind = ir.FunctionType(I64, [I64] * len(arguments)).as_pointer()
        return self.b.call(self.b.inttoptr(self.context_slot(layout.HOST_CALL), kind), arguments)

    def reduce(self, name: str, value: Any) -> Any:
        """An LLVM reduction of a vector to a scalar."""
        full = f"{name}.{suffix(value.type)}"
        kind = ir.FunctionType(value.type.element, [value.type])
        function = self.module.globals.get(full) or ir.Function(self.module, kind, full)
        return self.b.call(function, [value])

    @contextmanager
    def where_active(self) -> Iterator[Any]:
        """Code that runs only if the guard holds for some lane; gives the mask of the lanes."""
        mask = self.active_mask()
        if self.guard is None:
            yield mask
            return
        with self.b.if_then(self.b.icmp_unsigned("!=", mask, I64(0))):
            yield mask

    def entry_slot(self, kind: Any) -> Any:
        """A variable on the stack, made once at the function's entry."""
        with self.b.goto_entry_block():
            return self.b.alloca(kind)

    def intrinsic(self, name: str, *arguments: Any, result: Any = None) -> Any:
        """An LLVM intrinsic, overloaded on the type of its first argument (and of the result, if given)."""
        types = [result, arguments[0].type] if result is not None else [arguments[0].type]
        full = name + "".join("." + suffix(t) for t in types)
        kind = ir.FunctionType(types[0], [a.type for a in arguments])
        function = self.module.globals.get(full) or ir.Function(self.module, kind, full)
        return self.b.call(function, arguments)

    def leading_zeros(self, value: Any) -> Any:
        """How many leading bits are zero; all of them for zero."""
        kind = ir.FunctionType(value.type, [value.type, I1])
        name = "llvm.ctlz." + suffix(value.type)
        function = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        return self.b.call(function, [value, I1(0)])

    def _staying(self) -> Any:
        """The lanes that have not exited and are not just about to."""
        lanes = self.b.load(self.warp_pointer(layout.W_LIVE))
        for block in self.flow.blocks:
            if not block.instructions and block.successors == [EXIT]:
                leaving = self.b.load(self._mask_pointer(block.index))
                lanes = self.b.and_(lanes, self.b.xor(leaving, I64(-1)))
        return lanes

    def check_present(self, mask: Operand, *, leavers: bool = False) -> None:
        """Notes lanes that a warp instruction's mask names and that have not exited but are elsewhere.

        Lanes about to exit are no matter, unless they would have to give a value (`leavers`).
        """
        active = self.active_mask()
        named = self.b.zext(self.read(mask, "b32", vector=False), I64) if self.is_uniform(mask) else active
        alive = self.b.load(self.warp_pointer(layout.W_LIVE)) if leavers else self._staying()
        absent = self.b.and_(self.b.and_(named, alive), self.b.xor(active, I64(-1)))
        here = self.b.icmp_unsigned("!=", active, I64(0))
        with self.b.if_then(self.b.and_(here, self.b.icmp_unsigned("!=", absent, I64(0))), likely=False):
            self.call("note_absent", self.context, self.site_address(), absent, active)

    def site_address(self) -> Any:
        """The address of the current instruction's site."""
        index = self.site_of[id(self.inst)].index
        return self.b.add(self.sites_base, I64(index * layout.SITE_SLOTS * 8))

    # -- control ----------------------------------------------------------------------------------------------
    def _terminate(self, block: Block) -> None:
        end = block.terminator
        if end is not None:
            self.inst = end
            self.guard = self._guard(end)
        name = end.parts[0] if end else "bra"
        if name in ("bar", "barrier"):
            self._barrier(block)
        elif name == "brx":
            self._switch(block)
        elif name == "trap":
            self._trap(block)
        elif end is None or end.predicate is None:
            self._go(block.successors[0])
        else:
            self._branch(block.successors[0], block.successors[1])

    def _branch(self, taken: int, fall: int) -> None:
        guard = self.guard
        if not is_vector(guard):
            with self.b.if_else(guard) as (then, otherwise):
                with then:
                    self._go(taken)
                with otherwise:
                    self._go(fall)
            self.b.unreachable()
            return
        go = self.b.and_(self.mask, self.bits(guard))
        stay = self.b.and_(self.mask, self.b.xor(go, I64(-1)))
        all_stay = self.function.append_basic_block()
        some_go = self.function.append_basic_block()
        all_go = self.function.append_basic_block()
        split = self.function.append_basic_block()
        self.b.cbranch(self.b.icmp_unsigned("==", go, I64(0)), all_stay, some_go)
        self.b.position_at_end(all_stay)
        self._go(fall)
        self.b.position_at_end(some_go)
        self.b.cbranch(self.b.icmp_unsigned("==", stay, I64(0)), all_go, split)
        self.b.position_at_end(all_go)
        self._go(taken)
        self.b.position_at_end(split)
        self.queue(taken, go)
        self.queue(fall, stay)
        self.b.branch(self.dispatch)

    def _switch(self, block: Block) -> None:
        index = self.read(0, "u32", vector=True)
        last = len(block.successors) - 1
        for number, target in enumerate(block.successors):
            # An index beyond the table is undefined in PTX; the last target takes it, so that no lane is lost.
            compare = ">=" if number == last else "=="
            hit = self.b.icmp_unsigned(compare, index, self.splat(I32(number)))
            self.queue(target, self.b.and_(self.mask, self.bits(hit)))
        self.b.branch(self.dispatch)

    def _barrier(self, block: Block) -> None:
        """The lanes wait in front of the next block until the scheduler lets them all go on."""
        assert block.terminator is not None
        check_barrier(self, block.terminator)
        elsewhere = self.b.and_(self._staying(), self.b.xor(self.mask, I64(-1)))
        with self.b.if_then(self.b.icmp_unsigned("!=", elsewhere, I64(0)), likely=False):
            self._note_split(block.successors[0])
        waiting = self._mask_pointer(block.successors[0], waiting=True)
        self.b.store(self.b.or_(self.b.load(waiting), self.mask), waiting)
        self.b.branch(self.dispatch)

    def _note_split(self, behind: int) -> None:
        """Notes that lanes of one warp are not all at the barrier in front of block `behind`."""
        count = self.context_pointer(layout.BARRIER_SPLITS)
        with self.b.if_then(self.b.icmp_unsigned("==", self.b.load(count), I64(0))):
            self.b.store(
                self.context_slot(layout.BLOCK_LINEAR), self.context_pointer(layout.BARRIER_SPLIT_BLOCK)
            )
            for slot in (layout.BARRIER_SPLIT_ONE, layout.BARRIER_SPLIT_OTHER):
                self.b.store(I64(behind), self.context_pointer(slot))
        self.add_to(count, I64(1))

    def _trap(self, block: Block) -> None:
        if self.guard is not None:
            hit = self.b.icmp_unsigned("!=", self.active_mask(), I64(0))
            with self.b.if_then(hit, likely=False):
                self.b.ret(I64(layout.TRAPPED))
            self._go(block.successors[1])
        else:
            self.b.ret(I64(layout.TRAPPED))

    def _go(self, target: int) -> None:
        """All lanes of the block continue at `target`: at once, if no lanes are waiting elsewhere."""
        if target == EXIT:
            self.b.branch(self._waiting_room(EXIT))
            return
        pending: Any = self.b.load(self.words[0])
        for word in self.words[1:]:
            pending = self.b.or_(pending, self.b.load(word))
        together = self.meetings.unhindered(target, self.b.icmp_unsigned("==", pending, I64(0)))
        self.b.cbranch(together, self.bodies[target], self._waiting_room(target))

    def _waiting_room(self, target: int) -> Any:
        """Code that queues the current lanes for a block (or ends them) and then picks what runs next."""
        if target not in self.waiting_rooms:
            here = self.b.block
            room = self.waiting_rooms[target] = self.function.append_basic_block(f"queue{target}")
            self.b.position_at_end(room)
            self.queue(target, self.b.load(self.mask_slot))
            self.b.branch(self.dispatch)
            self.b.position_at_end(here)
        return self.waiting_rooms[target]

    def queue(self, target: int, mask: Any) -> None:
        """Adds lanes to those waiting to run a block (or ends them)."""
        if target == EXIT:
            live = self.warp_pointer(layout.W_LIVE)
            self.b.store(self.b.and_(self.b.load(live), self.b.xor(mask, I64(-1))), live)
            return
        pointer = self._mask_pointer(target)
        self.b.store(self.b.or_(self.b.load(pointer), mask), pointer)
        word = self.words[target // 64]
        some = self.b.zext(self.b.icmp_unsigned("!=", mask, I64(0)), I64)
        self.b.store(self.b.or_(self.b.load(word), self.b.shl(some, I64(target % 64))), word)

    def _dispatch(self) -> None:
        """Picks the lowest block with lanes waiting; without any, the warp is done or waits at a barrier."""
        self.b.position_at_end(self.dispatch)
        chosen = self.entry_slot(I64)
        run = self.function.append_basic_block("run")
        if self.plan.may_spin:
            self._take_turns(chosen, run)
        for number, word in enumerate(self.words):
            bits = self.b.load(word)
            following = self.function.append_basic_block()
            self.b.store(self.b.add(self.b.cttz(bits, I1(0)), I64(number * 64)), chosen)
            self.b.cbranch(self.b.icmp_unsigned("!=", bits, I64(0)), run, following)
            self.b.position_at_end(following)
        self.meetings.when_idle()
        live = self.b.load(self.warp_pointer(layout.W_LIVE))
        done = self.b.icmp_unsigned("==", live, I64(0))
        self.b.ret(self.b.select(done, I64(layout.DONE), I64(layout.WAITING)))
        self.b.position_at_end(run)
        self._run_pending(self.b.load(chosen))

    def _run_pending(self, index: Any) -> None:
        """Runs block `index` with the lanes that wait for it."""
        self.meetings.before(index)
        bit = self.b.shl(I64(1), self.b.and_(index, I64(63)))
        for number, word in enumerate(self.words):
            here = self.b.icmp_unsigned("==", self.b.lshr(index, I64(6)), I64(number))
            self.b.store(self.b.and_(self.b.load(word), self.b.select(here, self.b.not_(bit), I64(-1))), word)
        slot = self.b.add(self.warp, self.b.mul(self.b.add(index, I64(layout.W_MASKS)), I64(8)))
        pointer = self.at(slot, I64)
        self.b.store(self.b.load(pointer), self.mask_slot)
        self.b.store(I64(0), pointer)
        unreachable = self.function.append_basic_block()
        switch = self.b.switch(index, unreachable)
        for target, body in enumerate(self.bodies):
            switch.add_case(I64(target), body)
        self.b.position_at_end(unreachable)
        self.b.unreachable()

    def _take_turns(self, chosen: Any, run: Any) -> None:
        """In kernels that may spin: every 64th time another block than the lowest, so that all get on."""
        spin = self.warp_pointer(layout.W_SPIN)
        count = self.b.add(self.b.load(spin), I64(1))
        self.b.store(count, spin)
        anybody: Any = I64(0)
        for word in self.words:
            anybody = self.b.or_(anybody, self.b.load(word))
        due = self.b.icmp_unsigned("==", self.b.and_(count, I64(63)), I64(0))
        turn, lowest = self.function.append_basic_block(), self.function.append_basic_block()
        self.b.cbranch(self.b.and_(due, self.b.icmp_unsigned("!=", anybody, I64(0))), turn, lowest)
        self.b.position_at_end(turn)
        self.b.store(self.call("next_turn", self.warp, I64(len(self.flow.blocks))), chosen)
        self.b.branch(run)
        self.b.position_at_end(lowest)


def register_slots(plan: KernelPlan) -> tuple[dict[str, int], int]:
    """Where the registers that outlive a block lie in a warp's state, and the size of a state, in bytes."""
    position = ((layout.W_MASKS + 2 * len(plan.flow.blocks)) * 8 + 127) // 128 * 128
    slots: dict[str, int] = {}
    for name in sorted(plan.flow.crossing()):
        slots[name] = position
        wide = plan.flow.function.registers[name].endswith("64") and name not in plan.flow.uniform
        position += 256 if wide else 128
    return slots, position


def check_barrier(emitter: Emitter, inst: Instruction) -> None:
    """Only the block-wide barrier 0 is known, in any of its spellings."""
    parts = [p for p in inst.parts[1:] if p not in ("cta", "aligned")]
    operands = inst.operands
    if parts != ["sync"] or len(operands) != 1 or operands[0] != Imm(0):
        raise emitter.unsupported(f"{inst.opcode} with these operands (only __syncthreads() is)")

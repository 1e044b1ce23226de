"""What the handlers of PTX instructions build code with: masks, registers, operands, and the current instruction.

A register is a vector of 32 lanes, or a scalar where the whole warp shares its value (ptx/divergence.py). Inside a
basic block values are in LLVM's registers; what outlives a block lies in the warp's state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.builder import FunctionBuilder
from grader.emulator.codegen.special_registers import read_special
from grader.emulator.codegen.values import (
    F32,
    F64,
    I1,
    I8,
    I32,
    I64,
    constant,
    is_vector,
    scalar_type,
    shaped,
    width_of,
)
from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.basic_blocks import EXIT, Block
from grader.emulator.ptx.instructions import destinations, is_special
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.ptx.tree import Imm, Instruction, Mem, Not, Operand, Reg, Sym
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES


class Emitter(FunctionBuilder):
    """A function under construction with the registers of the current block and the current instruction."""

    def __init__(self, plan: KernelPlan) -> None:
        super().__init__(plan.name, len(plan.flow.blocks))
        self.plan = plan
        self.flow = plan.flow
        self.registers = plan.flow.function.registers
        self.env: dict[str, Any] = {}
        """Registers of the current block → their values."""
        self.carry: Any = None
        """The carry flag, where an instruction of the current block has set it."""
        self.shuffle: tuple[Any, Any]
        """Of the last shuffle: whether each lane's source took part, and which lane that is."""
        self.site_of = {id(site.inst): site for site in plan.sites if not site.companion}
        self.slots, _ = register_slots(plan)
        if "wgmma" in plan.uses:
            self.product_buffer = self._buffer(128 * LANES * 4)
            """Room for the accumulators of a wgmma."""

    # -- blocks and instructions ------------------------------------------------------------------------------
    def begin_block(self, body: Any) -> None:
        """At the beginning of a basic block, whose code goes to `body`: its lanes, and no registers yet."""
        self.b.position_at_end(body)
        self.env = {}
        self.carry = None
        self.mask = self.b.load(self.mask_slot)

    def begin(self, inst: Instruction) -> None:
        """Makes an instruction the current one."""
        self.inst = inst
        self.guard = self._guard(inst)
        written = destinations(inst)
        self.vector = not written or any(self.varies(name) for name in written)

    def unsupported(self, what: str | None = None) -> UnsupportedPtx:
        """The refusal of the current instruction, by its full opcode unless `what` says better."""
        return UnsupportedPtx(what or self.inst.opcode, self.inst.ptx_line, self.inst.place)

    # -- masks ------------------------------------------------------------------------------------------------
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

    @contextmanager
    def where_active(self) -> Iterator[Any]:
        """Code that runs only if the guard holds for some lane; gives the mask of the lanes."""
        mask = self.active_mask()
        if self.guard is None:
            yield mask
            return
        with self.b.if_then(self.b.icmp_unsigned("!=", mask, I64(0))):
            yield mask

    def mask_pointer(self, block: int, *, at_barrier: bool = False) -> Any:
        """Where the warp's state has the lanes pending in front of a block, or held there by a barrier."""
        return self.warp_pointer(layout.W_MASKS + block + (self.block_count if at_barrier else 0))

    def live(self) -> Any:
        """The lanes that have not exited."""
        return self.b.load(self.warp_pointer(layout.W_LIVE))

    def staying(self) -> Any:
        """The lanes that have not exited and are not just about to."""
        lanes = self.live()
        for block in self.flow.blocks:
            if not block.instructions and block.successors == [EXIT]:
                leaving = self.b.load(self.mask_pointer(block.index))
                lanes = self.b.and_(lanes, self.b.xor(leaving, I64(-1)))
        return lanes

    def check_present(self, mask: Operand) -> None:
        """Notes that lanes exchange values, and those that a warp instruction's mask names and that have not exited but
        are elsewhere.

        Lanes about to exit are no matter: nobody waits for them. That a value of theirs is used is found where it shows
        (undefined.py).
        """
        self.add_to(self.context_pointer(layout.CLOCK), I64(1))
        self.b.store(self.context_slot(layout.CLOCK), self.warp_pointer(layout.W_EXCHANGE))
        active = self.active_mask()
        self.check_named(mask, active)
        named = self.b.zext(self.read(mask, "b32", vector=False), I64) if self.is_uniform(mask) else active
        self.note_absent(self.b.and_(self.b.and_(named, self.staying()), self.b.not_(active)), active)

    def check_named(self, mask: Operand, active: Any) -> None:
        """Notes lanes that execute an instruction whose mask does not name them, each as absent from its own."""
        own = ir.Constant(self.lane_type(32), [I32(1 << lane) for lane in range(LANES)])
        named = self.bits(
            self.b.icmp_unsigned(
                "!=", self.b.and_(self.read(mask, "b32", vector=True), own), constant(own, 0)
            )
        )
        unnamed = self.b.and_(active, self.b.not_(named))
        self.note_absent(unnamed, unnamed)

    def check_whole_warp(self) -> None:
        """Notes an instruction that all 32 lanes have to execute where some do not."""
        active = self.active_mask()
        self.note_absent(self.b.xor(active, I64(layout.FULL)), active)

    def note_absent(self, absent: Any, active: Any) -> None:
        """Notes that the lanes `active` execute the instruction without others that they name, if there are such."""
        some = (self.b.icmp_unsigned("!=", lanes, I64(0)) for lanes in (active, absent))
        with self.b.if_then(self.b.and_(*some), likely=False):
            self.call("note_absent", self.context, self.site_address(), absent, active)

    def site_address(self) -> Any:
        """The address of the current instruction's site."""
        index = self.site_of[id(self.inst)].index
        return self.b.add(self.sites_base, I64(index * layout.SITE_SLOTS * 8))

    # -- registers --------------------------------------------------------------------------------------------
    def storage(self, name: str) -> Any:
        try:
            return scalar_type(self.registers[name])
        except KeyError:
            raise UnsupportedPtx(f"the register {name} of type {self.registers.get(name)}") from None

    def varies(self, name: str) -> bool:
        return name not in self.flow.uniform

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

    def store_registers(self, block: Block) -> None:
        """At the end of a block: writes what outlives it to the warp's state."""
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

    def set_carry(self, value: Any) -> None:
        """Sets the carry flag; under a guard, where the guard holds."""
        if self.guard is not None and self.carry is not None:
            vector = any(map(is_vector, (value, self.carry, self.guard)))
            new, old, guard = (self.splat(v) if vector else v for v in (value, self.carry, self.guard))
            value = self.b.select(guard, new, old)
        self.carry = value

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
                return self.convert_bits(self._read_special(name), kind)
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

    def _read_special(self, register: str) -> Any:
        value = read_special(self, self.plan, register)
        if value is None:
            raise self.unsupported(f"the special register {register}")
        return value

    def _constant(self, operand: Imm, ptx_type: str) -> Any:
        kind = scalar_type(ptx_type)
        if kind in (F32, F64):
            if operand.bits is None:
                return ir.Constant(kind, float(operand.value))
            integer = I32 if kind == F32 else I64
            return integer(operand.bits).bitcast(kind)
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
            return I64(plan.shared[name][0])
        if name in plan.local:
            return I64(plan.local[name])
        if name in plan.symbols:
            table = self.context_slot(layout.SYMBOLS)
            return self.b.load(self.at(self.b.add(table, I64(plan.symbols[name] * 8)), I64))
        for param in plan.params:
            if param.name == name:
                return I64(param.offset)
        raise self.unsupported(f"the name {name}")

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


def register_slots(plan: KernelPlan) -> tuple[dict[str, int], int]:
    """Where the registers that outlive a block lie in a warp's state, and the size of a state, in bytes."""
    position = ((layout.W_MASKS + 2 * len(plan.flow.blocks)) * 8 + 127) // 128 * 128
    slots: dict[str, int] = {}
    for name in sorted(plan.flow.crossing()):
        slots[name] = position
        wide = plan.flow.function.registers[name].endswith("64") and name not in plan.flow.uniform
        position += 256 if wide else 128
    for origin, found in plan.flow.undefined.items():
        for name in sorted(found.registers & plan.flow.crossing()):
            slots[undefined_slot(origin, name)] = position
            position += 8
    if "wgmma" in plan.uses:
        position = _warpgroup_slots(plan, slots, position)
    return slots, position


PRODUCT_QUEUE_SLOT = "wgmma"
"""What the queue of products is called among the slots."""


def _warpgroup_slots(plan: KernelPlan, slots: dict[str, int], position: int) -> int:
    """The queue of a warp's products, and what is noted of the registers that outlive a block."""
    slots[PRODUCT_QUEUE_SLOT] = position
    position += layout.PRODUCT_QUEUE * layout.G_SLOTS * 8
    crossing, known = plan.flow.crossing(), plan.warpgroup
    noted = {
        "sums": known.accumulators & crossing,
        "factors": known.factors,
        "written": known.reaching & crossing,
    }
    for kind, names in noted.items():
        for name in sorted(names):
            slots[unfinished_slot(kind, name)] = position
            position += 8
    return position


def unfinished_slot(kind: str, name: str) -> str:
    """What a note on a register of wgmma is called among the slots."""
    return f"{name} {kind}"


def undefined_slot(origin: str, name: str) -> str:
    """What the mask of a register's undefined lanes is called among the slots."""
    return f"{name} {origin}"

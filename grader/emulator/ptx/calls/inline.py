"""Makes one function without calls of a kernel and the device functions it calls.

A call becomes the callee's body with its registers, labels and variables renamed. Values travel through .param
variables, which become plain registers here: one for each (variable, offset). A call through a pointer becomes a
choice among the functions of that form whose address is taken somewhere.

Functions that may call themselves have one copy, behind the kernel. Each lane has a stack in its local memory: what a
caller still needs of its registers, and where to return to; then the callee's local variables.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.places import UNKNOWN, Place
from grader.emulator.ptx.calls.graph import CallGraph
from grader.emulator.ptx.calls.stack import BY_STACK, FULL, LIMIT, POINTER, CallStack
from grader.emulator.ptx.tree import (
    TYPE_BYTES,
    Function,
    Imm,
    Instruction,
    Label,
    Mem,
    Module,
    Not,
    Operand,
    Pair,
    Param,
    Reg,
    Sym,
    Variable,
    Vec,
)

_SYSTEM_FORMS = {
    "vprintf": (("b64", "b64"), "b32"),
    "__assertfail": (("b64", "b64", "b32", "b64", "b64"), ""),
    "malloc": (("b64",), "b64"),
    "free": (("b64",), ""),
}
"""What they take, and what they return."""
SYSTEM_CALLS = tuple(_SYSTEM_FORMS)
"""Functions the driver supplies: their calls stay, for the code generator."""


_LONGEST, _DEEPEST = 100_000, 100
"""Instructions of a kernel with all its calls, and calls within each other: ones that call others twice grow fast."""


def inline_calls(module: Module, entry: Function) -> Function:
    """A copy of `entry` without calls (but for SYSTEM_CALLS).

    Raises UnsupportedPtx for system functions the emulator does not have.
    """
    return _Inliner(module, entry).run()


@dataclass
class _Frame:
    """The local variables of a function that may call itself, behind which the stack pointer stands."""

    places: dict[str, int] = field(default_factory=dict)
    nbytes: int = 0
    sized: list[tuple[Instruction, int]] = field(default_factory=list)
    """Instructions whose last operand is an offset less the frame's size, once that is known."""


class _Inliner:
    def __init__(self, module: Module, entry: Function) -> None:
        self.module = module
        self.calls = CallGraph(module)
        self.recursive = self.calls.recursive(entry.name)
        self.called: list[str] = []
        """Functions that may call themselves, as far as they are called."""
        self.frame: _Frame | None = None
        """Of the one whose body is being copied."""
        self.serial = 0
        self.pieces: dict[str, dict[int, int]] = {}
        """.param variable → offset → bytes, as it is accessed."""
        self.out = replace(entry, registers=dict(entry.registers), variables=dict(entry.variables), body=[],
                           branch_targets=dict(entry.branch_targets))  # fmt: skip

    def run(self) -> Function:
        source = self.module.functions[self.out.name]
        self.copy_body(source, {}, stack=(source.name,), return_label=None, entry=True)
        if self.recursive:
            sections = [self.out.body]
            for name in self.called:  # which grows
                sections.append(self.out_of_line(self.module.functions[name]))
            self.out.body = CallStack(self.out, self.called).joined(sections)
        return self.out

    def copy_body(
        self,
        fn: Function,
        names: dict[str, str],
        stack: tuple[str, ...],
        return_label: str | None,
        entry: bool,
        call: Place = UNKNOWN,
    ) -> None:
        """`call`: where the function is called that is copied in place of it."""
        if fn.refusal is not None:
            raise fn.refusal
        for item in fn.body:
            if isinstance(item, Label):
                self.out.body.append(Label(names.get(item.name, item.name)))
                continue
            inst = item if entry else _renamed(item, names, call)
            name = inst.parts[0]
            if name == "call":
                self.call(inst, stack, fn)
            elif name == "ret" and return_label is not None:
                self.out.body.append(replace(inst, opcode="bra", operands=(Sym(return_label),)))
            elif name in ("ld", "st") and inst.parts[1].startswith("param"):
                self.out.body.append(self.param_move(inst, entry))
            elif name == "mov":
                self.out.body.append(self.address_move(inst))
            else:
                self.out.body.append(inst)

    def address_move(self, inst: Instruction) -> Instruction:
        """A function's address is a number; that of a variable in a frame counts from the stack pointer."""
        *others, source = inst.operands
        if not isinstance(source, Sym):
            return inst
        if source.name in self.module.functions:
            return replace(inst, operands=(*others, Imm(self.module.code_address(source.name))))
        if self.frame is None or source.name not in self.frame.places:
            return inst
        moved = replace(inst, opcode="add.s64", operands=(*others, Reg(POINTER), Imm(0)))
        self.frame.sized.append((moved, self.frame.places[source.name]))
        return moved

    def param_move(self, inst: Instruction, entry: bool) -> Instruction:
        """An access to a .param variable of a call becomes a move; the kernel's own parameters stay loads."""
        memory = next(o for o in inst.operands if isinstance(o, Mem))
        if not isinstance(memory.base, Sym):
            return inst
        if any(p.name == memory.base.name for p in self.out.params):
            return inst
        kind = inst.parts[-1]
        other = next(o for o in inst.operands if not isinstance(o, Mem))
        items = other.items if isinstance(other, Vec) else (other,)
        size = TYPE_BYTES.get(kind, 0)
        slots = tuple(
            self.slot(inst, memory.base.name, memory.offset + i * size, kind) for i in range(len(items))
        )
        pairs = (slots, items) if inst.parts[0] == "st" else (items, slots)
        if len(items) == 1:
            return replace(inst, opcode=f"mov.{kind}", operands=(pairs[0][0], pairs[1][0]))
        return replace(inst, opcode=f"mov.v{len(items)}.{kind}", operands=(Vec(pairs[0]), Vec(pairs[1])))

    def slot(self, inst: Instruction, name: str, offset: int, kind: str) -> Reg:
        """The register that stands for the bytes of a .param variable at `offset`."""
        size = TYPE_BYTES.get(kind, 0)
        for start, nbytes in self.pieces.setdefault(name, {}).items():
            if size == 0 or (
                start < offset + size and offset < start + nbytes and (start, nbytes) != (offset, size)
            ):
                what = f"{inst.opcode} of a parameter that is accessed in other pieces elsewhere"
                raise UnsupportedPtx(what, inst.ptx_line, inst.place)
        self.pieces[name][offset] = size
        register = f"{name}+{offset}"
        self.out.registers[register] = f"b{max(8 * size, 16)}"
        return Reg(register)

    def call(self, inst: Instruction, stack: tuple[str, ...], caller: Function) -> None:
        operands = list(inst.operands)
        results: tuple[Operand, ...] = ()
        if operands and isinstance(operands[0], Vec):
            results = operands.pop(0).items  # type: ignore[union-attr]
        target = operands.pop(0)
        arguments: tuple[Operand, ...] = ()
        if operands and isinstance(operands[0], Vec):
            arguments = operands.pop(0).items  # type: ignore[union-attr]
        if isinstance(target, Sym) and target.name in SYSTEM_CALLS:
            self.system_call(inst, target.name, results, arguments)
            return
        if isinstance(target, Reg) and operands and isinstance(operands[0], Sym):
            self.choose(inst, target, operands[0].name, results, arguments, stack, caller)
            return
        callee = self.module.functions.get(target.name) if isinstance(target, Sym) else None
        if callee is None:
            if isinstance(target, Sym) and target.name in self.module.refusals:
                raise self.module.refusals[target.name]
            what = f"the function {target.name}" if isinstance(target, Sym) else "calls through a pointer"
            raise UnsupportedPtx(what, inst.ptx_line, inst.place)
        self.call_of(inst, callee, results, arguments, stack)

    def call_of(
        self, inst: Instruction, callee: Function, results: tuple[Operand, ...], arguments: tuple[Operand, ...],
        stack: tuple[str, ...],
    ) -> None:  # fmt: skip
        """A call of a function that is known."""
        if len(stack) > _DEEPEST or len(self.out.body) > _LONGEST:
            what = f"a kernel of more than {_LONGEST} instructions, or of calls more than {_DEEPEST} deep"
            raise UnsupportedPtx(what, inst.ptx_line, inst.place)
        self.serial += 1
        after = f"$return${self.serial}"
        if inst.predicate:
            register, negated = inst.predicate
            skip = (register, not negated)
            self.out.body.append(replace(inst, opcode="bra", operands=(Sym(after),), predicate=skip))
        unguarded = replace(inst, predicate=None)
        if callee.name in self.recursive:
            self.call_by_stack(unguarded, callee, results, arguments)
        else:
            self.expand(inst, callee, results, arguments, stack, after)
        self.out.body.append(Label(after))

    def choose(
        self, inst: Instruction, target: Reg, prototype: str, results: tuple[Operand, ...],
        arguments: tuple[Operand, ...], stack: tuple[str, ...], caller: Function,
    ) -> None:  # fmt: skip
        """A call through a pointer; an address that is none of these functions' is a trap, as on the hardware."""
        self.serial += 1
        done, chosen = f"$called${self.serial}", f"$chosen${self.serial}"
        self.out.registers[chosen] = "pred"
        if inst.predicate:
            register, negated = inst.predicate
            skip = replace(inst, opcode="bra", operands=(Sym(done),), predicate=(register, not negated))
            self.out.body.append(skip)
        plain = replace(inst, predicate=None)
        for number, callee in enumerate(self.calls.candidates(*caller.prototypes[prototype])):
            other = f"{done}${number}"
            address = Imm(self.module.code_address(callee.name))
            self.out.body += [
                replace(plain, opcode="setp.eq.u64", operands=(Reg(chosen), target, address)),
                replace(plain, opcode="bra", operands=(Sym(other),), predicate=(chosen, True)),
            ]
            self.call_of(plain, callee, results, arguments, stack)
            self.out.body += [replace(plain, opcode="bra.uni", operands=(Sym(done),)), Label(other)]
        self.out.body += [replace(plain, opcode="trap", operands=()), Label(done)]

    def system_call(
        self, inst: Instruction, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]
    ) -> None:
        """Arguments are .param variables, one 64- or 32-bit value each, at offset 0."""
        widths, returned = _SYSTEM_FORMS[name]
        values = [
            self.slot(inst, a.name, 0, w)
            for a, w in zip(arguments, widths, strict=True)
            if isinstance(a, Sym)
        ]
        outputs = [self.slot(inst, r.name, 0, returned) for r in results if isinstance(r, Sym)]
        operands = (Vec(tuple(outputs)), Sym(name), Vec(tuple(values)))
        self.out.body.append(replace(inst, opcode="call", operands=operands))

    def expand(
        self, inst: Instruction, callee: Function, results: tuple[Operand, ...], arguments: tuple[Operand, ...],
        stack: tuple[str, ...], after: str,
    ) -> None:  # fmt: skip
        """The callee's body in place of the call."""
        names = self.renamed(callee, f"${self.serial}")
        for formal, actual in zip([*callee.returns, *callee.params], [*results, *arguments], strict=True):
            assert isinstance(actual, Sym)
            names[formal.name] = actual.name
        self.adopt(callee, names)
        self.copy_body(callee, names, (*stack, callee.name), after, entry=False, call=inst.place)

    def renamed(self, callee: Function, suffix: str) -> dict[str, str]:
        """New names for what is declared in a function."""
        own = [*callee.registers, *callee.variables, *callee.branch_targets]
        own += [item.name for item in callee.body if isinstance(item, Label)]
        return {name: name + suffix for name in own}

    # -- functions that may call themselves ---------------------------------------------------------------------
    def call_by_stack(
        self,
        inst: Instruction,
        callee: Function,
        results: tuple[Operand, ...],
        arguments: tuple[Operand, ...],
    ) -> None:
        """Arguments and results go through registers of the callee's; the call itself is made up in `with_stack`."""
        if callee.name not in self.called:
            self.called.append(callee.name)
        taken = self.transfers(inst, callee, list(callee.params), arguments, "in")
        given = self.transfers(inst, callee, list(callee.returns), results, "out")
        for actual, register, kind in taken:
            self.out.body.append(replace(inst, opcode=f"mov.{kind}", operands=(register, actual)))
        returned = Vec(tuple(register for _, register, _ in given))
        self.out.body.append(replace(inst, opcode=BY_STACK, operands=(returned, Sym(callee.name))))
        for actual, register, kind in given:
            self.out.body.append(replace(inst, opcode=f"mov.{kind}", operands=(actual, register)))

    def transfers(
        self,
        inst: Instruction,
        callee: Function,
        formals: list[Param],
        actuals: tuple[Operand, ...],
        way: str,
    ) -> list[tuple[Reg, Reg, str]]:
        """For each piece of the parameters: the caller's register, the one it travels in, and its type."""
        found = []
        for number, (formal, actual) in enumerate(zip(formals, actuals, strict=True)):
            assert isinstance(actual, Sym)
            for offset, size in _pieces(callee, formal.name):
                kind = f"b{8 * size}"
                travelling = self.slot(inst, f"{callee.name}${way}{number}", offset, kind)
                found.append((self.slot(inst, actual.name, offset, kind), travelling, kind))
        return found

    def out_of_line(self, callee: Function) -> list[Instruction | Label]:
        """The one copy of a function that may call itself, from its entry to where it returns."""
        self.frame, self.out.body = _Frame(), []
        names = self.renamed(callee, f"${callee.name}")
        names |= {formal.name: f"{callee.name}$out{i}" for i, formal in enumerate(callee.returns)}
        names |= {formal.name: f"{callee.name}$own{i}" for i, formal in enumerate(callee.params)}
        enter = Instruction("add.s64", (Reg(POINTER), Reg(POINTER), Imm(0)), None, 0, UNKNOWN)
        self.out.body += [
            Label(f"$enter${callee.name}"),
            enter,
            replace(enter, opcode="setp.gt.u64", operands=(Reg(FULL), Reg(POINTER), Reg(LIMIT))),
            replace(enter, opcode="trap", operands=(), predicate=(FULL, False)),
        ]
        own = tuple(Sym(names[formal.name]) for formal in callee.params)
        for actual, register, kind in self.transfers(enter, callee, list(callee.params), own, "in"):
            self.out.body.append(replace(enter, opcode=f"mov.{kind}", operands=(actual, register)))
        self.adopt(callee, names)
        leave = f"$leave${callee.name}"
        self.copy_body(callee, names, (callee.name,), leave, entry=False)
        size = (self.frame.nbytes + 15) // 16 * 16
        for inst, offset in self.frame.sized:
            inst.operands = (*inst.operands[:-1], Imm(offset - size))
        enter.operands = (Reg(POINTER), Reg(POINTER), Imm(size))
        self.out.body += [Label(leave), replace(enter, opcode="sub.s64")]
        return self.out.body

    def adopt(self, callee: Function, names: dict[str, str]) -> None:
        """Takes over the callee's declarations under their new names."""
        for name, kind in callee.registers.items():
            self.out.registers[names[name]] = kind
        for name, variable in callee.variables.items():
            new = names[name] if variable.space == "local" else name
            names[name] = new
            if variable.space == "local" and self.frame is not None:
                start = (self.frame.nbytes + variable.align - 1) // variable.align * variable.align
                self.frame.places[new] = start
                self.frame.nbytes = start + variable.nbytes
                continue
            self.out.variables[new] = Variable(
                new, variable.space, variable.align, variable.nbytes, variable.initial, variable.pointers
            )
        for name, targets in callee.branch_targets.items():
            self.out.branch_targets[names[name]] = [names.get(t, t) for t in targets]


def _pieces(function: Function, param: str) -> list[tuple[int, int]]:
    """The offsets and bytes in which a function takes or gives one of its parameters."""
    found = set()
    for item in function.body:
        if isinstance(item, Label) or item.parts[0] not in ("ld", "st"):
            continue
        for memory in item.operands:
            if isinstance(memory, Mem) and memory.base == Sym(param):
                size = TYPE_BYTES[item.parts[-1]]
                count = max(len(o.items) if isinstance(o, Vec) else 1 for o in item.operands)
                found |= {(memory.offset + i * size, size) for i in range(count)}
    return sorted(found)


def _renamed(inst: Instruction, names: dict[str, str], call: Place) -> Instruction:
    """A copy with other names, in a function that was called there."""
    guard = inst.predicate
    return replace(
        inst,
        operands=tuple(_rename(operand, names) for operand in inst.operands),
        predicate=guard and (names.get(guard[0], guard[0]), guard[1]),
        place=inst.place.called_at(call),
    )


def _rename(operand: Operand, names: dict[str, str]) -> Operand:
    match operand:
        case Reg(name):
            return Reg(names.get(name, name))
        case Sym(name):
            return Sym(names.get(name, name))
        case Mem(base, offset, coordinates):
            renamed = tuple(_rename(at, names) for at in coordinates)
            return Mem(_rename(base, names) if base is not None else None, offset, renamed)  # type: ignore[arg-type]
        case Vec(items):
            return Vec(tuple(_rename(item, names) for item in items))
        case Pair(first, second):
            return Pair(_rename(first, names), _rename(second, names))
        case Not(reg):
            return Not(Reg(names.get(reg.name, reg.name)))
        case _:
            return operand

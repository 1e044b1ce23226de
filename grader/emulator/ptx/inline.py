"""Makes one straight function of a kernel and the device functions it calls.

A call becomes the callee's body with its registers, labels and variables renamed. Values travel through .param
variables, which become plain registers here: one for each (variable, offset). Recursion has no such form and is
refused, as are calls through pointers.
"""

from __future__ import annotations

from dataclasses import replace

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.tree import (
    TYPE_BYTES,
    Function,
    Instruction,
    Label,
    Mem,
    Module,
    Not,
    Operand,
    Pair,
    Reg,
    Sym,
    Variable,
    Vec,
)

SYSTEM_CALLS = ("vprintf", "__assertfail")
"""Functions the driver supplies: their calls stay, for the code generator."""


_LONGEST, _DEEPEST = 100_000, 100
"""Instructions of a kernel with all its calls, and calls within each other: ones that call others twice grow fast."""


def inline_calls(module: Module, entry: Function) -> Function:
    """A copy of `entry` without calls (but for SYSTEM_CALLS).

    Raises UnsupportedPtx for recursion, indirect calls, and system functions the emulator does not have.
    """
    return _Inliner(module, entry).run()


class _Inliner:
    def __init__(self, module: Module, entry: Function) -> None:
        self.module = module
        self.serial = 0
        self.pieces: dict[str, dict[int, int]] = {}
        """.param variable → offset → bytes, as it is accessed."""
        self.out = replace(entry, registers=dict(entry.registers), variables=dict(entry.variables), body=[],
                           branch_targets=dict(entry.branch_targets))  # fmt: skip

    def run(self) -> Function:
        source = self.module.functions[self.out.name]
        self.copy_body(source, {}, stack=(source.name,), return_label=None, entry=True)
        return self.out

    def copy_body(
        self,
        fn: Function,
        names: dict[str, str],
        stack: tuple[str, ...],
        return_label: str | None,
        entry: bool,
    ) -> None:
        for item in fn.body:
            if isinstance(item, Label):
                self.out.body.append(Label(names.get(item.name, item.name)))
                continue
            inst = replace(item, operands=tuple(_rename(o, names) for o in item.operands))
            if inst.predicate:
                inst.predicate = (names.get(inst.predicate[0], inst.predicate[0]), inst.predicate[1])
            name = inst.parts[0]
            if name == "call":
                self.call(inst, stack)
            elif name == "ret" and return_label is not None:
                self.out.body.append(replace(inst, opcode="bra", operands=(Sym(return_label),)))
            elif name in ("ld", "st") and inst.parts[1].startswith("param"):
                self.out.body.append(self.param_move(inst, entry))
            else:
                self.out.body.append(inst)

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
                raise UnsupportedPtx(what, inst.ptx_line, inst.source_line)
        self.pieces[name][offset] = size
        register = f"{name}+{offset}"
        self.out.registers[register] = f"b{max(8 * size, 16)}"
        return Reg(register)

    def call(self, inst: Instruction, stack: tuple[str, ...]) -> None:
        operands = list(inst.operands)
        results: tuple[Operand, ...] = ()
        if operands and isinstance(operands[0], Vec):
            results = operands.pop(0).items  # type: ignore[union-attr]
        target = operands.pop(0)
        arguments = operands.pop(0).items if operands else ()  # type: ignore[union-attr]
        if isinstance(target, Sym) and target.name in SYSTEM_CALLS:
            self.system_call(inst, target.name, results, arguments)
            return
        callee = self.module.functions.get(target.name) if isinstance(target, Sym) else None
        if callee is None:
            what = f"the function {target.name}" if isinstance(target, Sym) else "calls through a pointer"
            raise UnsupportedPtx(what, inst.ptx_line, inst.source_line)
        if callee.name in stack:
            raise UnsupportedPtx(f"recursion ({callee.name} calls itself)", inst.ptx_line, inst.source_line)
        if len(stack) > _DEEPEST or len(self.out.body) > _LONGEST:
            what = f"a kernel of more than {_LONGEST} instructions, or of calls more than {_DEEPEST} deep"
            raise UnsupportedPtx(what, inst.ptx_line, inst.source_line)
        self.expand(inst, callee, results, arguments, stack)

    def system_call(
        self, inst: Instruction, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]
    ) -> None:
        """Arguments are .param variables, one 64- or 32-bit value each, at offset 0."""
        widths = {"vprintf": ["b64", "b64"], "__assertfail": ["b64", "b64", "b32", "b64", "b64"]}[name]
        values = [
            self.slot(inst, a.name, 0, w)
            for a, w in zip(arguments, widths, strict=True)
            if isinstance(a, Sym)
        ]
        outputs = [self.slot(inst, r.name, 0, "b32") for r in results if isinstance(r, Sym)]
        operands = (Vec(tuple(outputs)), Sym(name), Vec(tuple(values)))
        self.out.body.append(replace(inst, opcode="call", operands=operands))

    def expand(
        self, inst: Instruction, callee: Function, results: tuple[Operand, ...], arguments: tuple[Operand, ...],
        stack: tuple[str, ...],
    ) -> None:  # fmt: skip
        self.serial += 1
        suffix = f"${self.serial}"
        names = {
            name: name + suffix for name in [*callee.registers, *callee.variables, *callee.branch_targets]
        }
        names |= {item.name: item.name + suffix for item in callee.body if isinstance(item, Label)}
        for formal, actual in zip([*callee.returns, *callee.params], [*results, *arguments], strict=True):
            assert isinstance(actual, Sym)
            names[formal.name] = actual.name
        self.adopt(callee, names)
        after = f"$return{suffix}"
        if inst.predicate:
            register, negated = inst.predicate
            skip = (register, not negated)
            self.out.body.append(replace(inst, opcode="bra", operands=(Sym(after),), predicate=skip))
        self.copy_body(callee, names, (*stack, callee.name), after, entry=False)
        self.out.body.append(Label(after))

    def adopt(self, callee: Function, names: dict[str, str]) -> None:
        """Takes over the callee's declarations under their new names."""
        for name, kind in callee.registers.items():
            self.out.registers[names[name]] = kind
        for name, variable in callee.variables.items():
            new = names[name] if variable.space == "local" else name
            names[name] = new
            self.out.variables[new] = Variable(
                new, variable.space, variable.align, variable.nbytes, variable.initial, variable.pointers
            )
        for name, targets in callee.branch_targets.items():
            self.out.branch_targets[names[name]] = [names.get(t, t) for t in targets]


def _rename(operand: Operand, names: dict[str, str]) -> Operand:
    match operand:
        case Reg(name):
            return Reg(names.get(name, name))
        case Sym(name):
            return Sym(names.get(name, name))
        case Mem(base, offset):
            return Mem(_rename(base, names) if base is not None else None, offset)  # type: ignore[arg-type]
        case Vec(items):
            return Vec(tuple(_rename(item, names) for item in items))
        case Pair(first, second):
            return Pair(_rename(first, names), _rename(second, names))
        case Not(reg):
            return Not(Reg(names.get(reg.name, reg.name)))
        case _:
            return operand

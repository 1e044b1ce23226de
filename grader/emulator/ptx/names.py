"""The names in a kernel: of variables and functions, and of registers; those that nothing declares are refused."""

from __future__ import annotations

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.instructions import destinations, sources
from grader.emulator.ptx.tree import Function, Imm, Instruction, Mem, Module, Operand, Reg, Sym, Vec


def symbols_in(inst: Instruction) -> list[str]:
    """The variables, functions and labels that an instruction names."""
    return [
        name
        for operand in inst.operands
        if type(operand) is not Reg and type(operand) is not Imm  # which most are
        for name in _named(operand)
    ]


def _named(operand: Operand) -> list[str]:
    match operand:
        case Sym(name):
            return [name]
        case Mem(Sym(name), _):
            return [name]
        case Vec(items):
            return [name for item in items for name in _named(item)]
        case _:
            return []


def check_names(module: Module, function: Function, instructions: list[Instruction]) -> None:
    """Raises UnsupportedPtx for registers that are not declared, which are special ones that the emulator does not
    have, and for names whose declarations the parser has left out."""
    for inst in instructions:
        for name in (*destinations(inst), *sources(inst)):
            if name not in function.registers:
                raise UnsupportedPtx(f"the register {name}", inst.ptx_line, inst.place)
        for name in symbols_in(inst):
            if name in module.refusals:
                raise module.refusals[name]

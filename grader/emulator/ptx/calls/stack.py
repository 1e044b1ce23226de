"""The stack of functions that may call themselves: what calls of them become.

Each lane has its own, in local memory. A call pushes the registers that the caller still needs and the number of the
place to return to; the callee adds its local variables (inline.py), and returns by a choice among those places.
"""

from __future__ import annotations

from dataclasses import replace

from grader.emulator.places import UNKNOWN
from grader.emulator.ptx.basic_blocks import EXIT, cut_into_blocks, live_in
from grader.emulator.ptx.instructions import destinations, sources
from grader.emulator.ptx.tree import Function, Imm, Instruction, Label, Mem, Reg, Sym, Variable

Body = list[Instruction | Label]

STACK_BYTES = 32 << 10
"""Of each lane's stack, where functions call themselves."""
_MARGIN = 4 << 10
"""What a caller may save behind the place at which a callee finds the stack full."""
POINTER, LIMIT, FULL, _WORD = "$stack_pointer", "$stack_limit", "$stack_full", "$stack_word"

BY_STACK = "call.by_stack"
"""A call before it is made up: results, then the function's name."""


class CallStack:
    """Joins a kernel (`out`, without a body) and the functions `called` that may call themselves."""

    def __init__(self, out: Function, called: list[str]) -> None:
        self.out = out
        self.called = called
        self.returns: dict[str, list[str]] = {name: [] for name in called}
        """Function → the labels behind its calls."""

    def joined(self, sections: list[Body]) -> Body:
        """The kernel and the functions that may call themselves, with what calls and returns do."""
        self.out.registers |= {POINTER: "b64", LIMIT: "b64", FULL: "pred", _WORD: "b32"}
        self.out.variables["$stack"] = Variable("$stack", "local", 16, STACK_BYTES)
        start = Instruction("mov.u64", (Reg(POINTER), Sym("$stack")), None, 0, UNKNOWN)
        limit = (Reg(LIMIT), Reg(POINTER), Imm(STACK_BYTES - _MARGIN))
        body: Body = [start, replace(start, opcode="add.s64", operands=limit)]
        finished = []
        for name, section in zip([None, *self.called], sections, strict=True):
            live = _live_across_calls(self.out, section) if name else {}
            finished.append((name, [
                one for item in section
                for one in (self.pushed(item, live.get(id(item), set())) if _is_by_stack(item) else [item])
            ]))  # fmt: skip
        for name, section in finished:
            body += section
            if name:
                self.out.branch_targets[f"$returns${name}"] = self.returns[name] or [f"$enter${name}"]
                where = (Reg(_WORD), Mem(Reg(POINTER), -16))
                body += [
                    replace(start, opcode="ld.local.u32", operands=where),
                    replace(start, opcode="brx.idx", operands=(Reg(_WORD), Sym(f"$returns${name}"))),
                ]
        return body

    def pushed(self, item: Instruction | Label, saved: set[str]) -> Body:
        """A call: registers and the place to return to on the stack, a jump, and the registers back."""
        assert isinstance(item, Instruction)
        plain = replace(item, operands=())
        callee = item.operands[1]
        assert isinstance(callee, Sym)
        labels = self.returns[callee.name]
        back = f"$back${callee.name}${len(labels)}"
        size = (8 * len(saved) + 15) // 16 * 16 + 16
        before: Body = []
        behind: Body = []
        for number, name in enumerate(sorted(saved)):
            place, kind = Mem(Reg(POINTER), 8 * number), self.out.registers[name]
            if kind == "pred":
                before.append(
                    replace(plain, opcode="selp.u32", operands=(Reg(_WORD), Imm(1), Imm(0), Reg(name)))
                )
                before.append(replace(plain, opcode="st.local.u32", operands=(place, Reg(_WORD))))
                behind.append(replace(plain, opcode="ld.local.u32", operands=(Reg(_WORD), place)))
                behind.append(replace(plain, opcode="setp.ne.u32", operands=(Reg(name), Reg(_WORD), Imm(0))))
            else:
                before.append(replace(plain, opcode=f"st.local.b{kind[1:]}", operands=(place, Reg(name))))
                behind.append(replace(plain, opcode=f"ld.local.b{kind[1:]}", operands=(Reg(name), place)))
        step = (Reg(POINTER), Reg(POINTER), Imm(size))
        place = Mem(Reg(POINTER), size - 16)
        before += [
            replace(plain, opcode="mov.u32", operands=(Reg(_WORD), Imm(len(labels)))),
            replace(plain, opcode="st.local.u32", operands=(place, Reg(_WORD))),
            replace(plain, opcode="add.s64", operands=step),
            replace(plain, opcode="bra.uni", operands=(Sym(f"$enter${callee.name}"),)),
            Label(back),
            replace(plain, opcode="sub.s64", operands=step),
        ]
        labels.append(back)
        return before + behind


def _is_by_stack(item: Instruction | Label) -> bool:
    return isinstance(item, Instruction) and item.opcode == BY_STACK


def _live_across_calls(function: Function, body: Body) -> dict[int, set[str]]:
    """For each call by the stack (by id), the registers of a body that are still needed behind it."""
    blocks = cut_into_blocks(replace(function, body=body))
    alive = live_in(blocks)
    found = {}
    for block in blocks:
        live = set().union(*(alive[s] for s in block.successors if s != EXIT))
        for inst in [*([block.terminator] if block.terminator else []), *reversed(block.instructions)]:
            if inst.opcode == BY_STACK:
                found[id(inst)] = live - set(destinations(inst)) - {POINTER, LIMIT}
            if not inst.predicate:
                live = live - set(destinations(inst))
            live = live | set(sources(inst))
    return found

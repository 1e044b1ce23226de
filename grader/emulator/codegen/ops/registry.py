"""The table of handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.ptx.tree import TYPE_BYTES, Instruction


@dataclass(frozen=True)
class Op:
    """An opcode taken apart."""

    name: str
    types: tuple[str, ...]
    """The type specifiers in order, such as ("f32", "s32") of cvt.rn.f32.s32."""
    modifiers: tuple[str, ...]
    """All other parts in order."""
    operands: int
    """How many the instruction has."""

    @property
    def type(self) -> str:
        return self.types[-1]

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers


Handler = Callable[[Emitter, Op], None]


@dataclass(frozen=True)
class Entry:
    """One handler with what it understands; families share names, such as `add` of integers and of floats."""

    handler: Handler
    modifiers: frozenset[str]
    types: frozenset[str] | None
    operands: frozenset[int] | None

    def takes(self, decoded: Op) -> bool:
        known = self.types is None or self.types.issuperset(decoded.types)
        fits = self.operands is None or decoded.operands in self.operands
        return known and fits and self.modifiers.issuperset(decoded.modifiers)


HANDLERS: dict[str, list[Entry]] = {}


def decode(inst: Instruction) -> Op:
    """The opcode of an instruction taken apart."""
    name, *rest = inst.parts
    types = tuple(p for p in rest if p in TYPE_BYTES or p == "pred")
    return Op(name, types, tuple(p for p in rest if p not in types), len(inst.operands))


def op(
    *names: str,
    allow: Iterable[str] = (),
    types: Iterable[str] | None = None,
    operands: int | tuple[int, ...] | None = None,
) -> Callable[[Handler], Handler]:
    """Registers a handler for opcodes, with the modifiers it understands and, where limited, the types and the
    numbers of operands."""
    counts = (operands,) if isinstance(operands, int) else operands

    def register(handler: Handler) -> Handler:
        entry = Entry(
            handler,
            frozenset(allow),
            None if types is None else frozenset(types),
            None if counts is None else frozenset(counts),
        )
        for name in names:
            HANDLERS.setdefault(name, []).append(entry)
        return handler

    return register


def handle(emitter: Emitter, inst: Instruction) -> None:
    """Generates the code of one instruction; refuses it where no family knows it as it is written."""
    decoded = decode(inst)
    for entry in HANDLERS.get(decoded.name, ()):
        if entry.takes(decoded):
            entry.handler(emitter, decoded)
            return
    raise emitter.unsupported()

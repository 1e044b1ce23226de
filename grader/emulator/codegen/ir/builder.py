"""Modules, functions and basic blocks, and what appends instructions to a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from grader.emulator.codegen.ir.types import (
    Constant,
    FunctionType,
    IntType,
    Type,
    Value,
    VectorType,
    VoidType,
)

_WEIGHTS = '!0 = !{!"branch_weights", i32 99, i32 1}\n!1 = !{!"branch_weights", i32 1, i32 99}'
"""What branches refer to as !0 and !1."""


class Module:
    def __init__(self, name: str) -> None:
        self.name = name
        self.globals: dict[str, Function] = {}
        """Functions by their names."""
        self.numbers: dict[tuple[Type, str], Value] = {}
        """Constants in memory: pointers to them."""

    def in_memory(self, constant: Constant) -> Value:
        """A pointer to a constant."""
        key = constant.type, constant.ref
        if key not in self.numbers:
            self.numbers[key] = Value(constant.type.as_pointer(), f"@number.{len(self.numbers)}")
        return self.numbers[key]

    def __str__(self) -> str:
        numbers = [f"{at.ref} = internal constant {kind} {ref}" for (kind, ref), at in self.numbers.items()]
        functions = (line for made in self.globals.values() for line in made.text())
        return "\n".join([*numbers, *functions, _WEIGHTS, ""])


class Block:
    """A basic block of a function."""

    __slots__ = ("label", "lines", "terminated")

    def __init__(self, label: str) -> None:
        self.label = label
        self.lines: list[str] = []
        self.terminated = False


class Function(Value):
    """A function: a declaration, until it has a block."""

    __slots__ = ("args", "blocks", "function_type", "internal", "names", "slots")

    def __init__(self, module: Module, kind: FunctionType, name: str, *, internal: bool = False) -> None:
        super().__init__(kind.as_pointer(), f'@"{name}"')
        self.function_type = kind
        self.internal = internal
        """No other module sees it."""
        self.args = [Value(argument, f"%a{number}") for number, argument in enumerate(kind.args)]
        self.blocks: list[Block] = []
        self.slots: list[str] = []
        """The variables on the stack, made where the function begins."""
        self.names = 0
        """So many names have been given."""
        module.globals[name] = self

    def append_basic_block(self, name: str = "") -> Block:
        self.names += 1
        self.blocks.append(Block(f"{name}.{self.names}"))
        return self.blocks[-1]

    def text(self) -> Iterator[str]:
        """Its lines in the module."""
        kind = self.function_type
        if not self.blocks:
            yield f"declare {kind.return_type} {self.ref}({', '.join(map(str, kind.args))})"
            return
        arguments = ", ".join(f"{argument.type} {argument.ref}" for argument in self.args)
        linkage = "internal " if self.internal else ""
        yield f"define {linkage}{kind.return_type} {self.ref}({arguments}) {{"
        for number, block in enumerate(self.blocks):
            yield f"{block.label}:"
            if number == 0:
                yield from self.slots
            yield from block.lines
        yield "}"


_ORDERS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_EQUAL = {"==": "eq", "!=": "ne"}
_INTEGERS = {sign: _EQUAL | {text: sign + name for text, name in _ORDERS.items()} for sign in ("u", "s")}
_FLOATS = {sign: {text: sign + name for text, name in (_ORDERS | _EQUAL).items()} for sign in ("o", "u")}
_FLOATS["o"]["ord"] = "ord"
_FLOATS["u"]["uno"] = "uno"
_BIT = IntType(1)


def _binary(operation: str) -> Callable[[IRBuilder, Value, Value], Value]:
    def build(self: IRBuilder, a: Value, b: Value) -> Value:
        kind = a.type
        if kind is not b.type:
            raise TypeError(f"{operation} of {kind} and {b.type}")
        return self.emit(kind, f"{operation} {kind.text} {a.ref}, {b.ref}")

    return build


def _conversion(operation: str) -> Callable[[IRBuilder, Value, Type], Value]:
    def build(self: IRBuilder, value: Value, kind: Type) -> Value:
        if value.type is kind:
            return value
        return self.emit(kind, f"{operation} {value.type.text} {value.ref} to {kind.text}")

    return build


def _comparison(name: str, operations: dict[str, str]) -> Callable[[IRBuilder, str, Value, Value], Value]:
    def build(self: IRBuilder, operation: str, a: Value, b: Value) -> Value:
        kind = a.type
        if kind is not b.type:
            raise TypeError(f"{name} of {kind} and {b.type}")
        result = VectorType(_BIT, kind.count) if isinstance(kind, VectorType) else _BIT
        return self.emit(result, f"{name} {operations[operation]} {kind.text} {a.ref}, {b.ref}")

    return build


class IRBuilder:
    """Appends instructions to the end of a block; the methods have the names of llvmlite's."""

    def __init__(self, function: Function, block: Block) -> None:
        self.function = function
        self.block = block

    def position_at_end(self, block: Block) -> None:
        self.block = block

    def emit(self, kind: Type, text: str) -> Value:
        """An instruction with a result."""
        function = self.function
        function.names += 1
        ref = f"%v{function.names}"
        self.block.lines.append(f"{ref} = {text}")
        return Value(kind, ref)

    def _end(self, text: str) -> None:
        """The instruction that ends the block."""
        assert not self.block.terminated, f"{text} behind the end of {self.block.label}"
        self.block.terminated = True
        self.block.lines.append(text)

    # -- numbers ----------------------------------------------------------------------------------------------
    add, sub, mul = _binary("add"), _binary("sub"), _binary("mul")
    udiv, sdiv, urem, srem = _binary("udiv"), _binary("sdiv"), _binary("urem"), _binary("srem")
    shl, lshr, ashr = _binary("shl"), _binary("lshr"), _binary("ashr")
    and_, or_, xor = _binary("and"), _binary("or"), _binary("xor")
    fadd, fsub, fmul, fdiv = _binary("fadd"), _binary("fsub"), _binary("fmul"), _binary("fdiv")
    trunc, zext, sext, bitcast = map(_conversion, ("trunc", "zext", "sext", "bitcast"))
    fptrunc, fpext, sitofp, uitofp = map(_conversion, ("fptrunc", "fpext", "sitofp", "uitofp"))
    inttoptr, ptrtoint = _conversion("inttoptr"), _conversion("ptrtoint")
    icmp_unsigned, icmp_signed = _comparison("icmp", _INTEGERS["u"]), _comparison("icmp", _INTEGERS["s"])
    fcmp_ordered, fcmp_unordered = _comparison("fcmp", _FLOATS["o"]), _comparison("fcmp", _FLOATS["u"])

    def not_(self, value: Value) -> Value:
        return self.xor(value, Constant(value.type, -1))

    def neg(self, value: Value) -> Value:
        return self.sub(Constant(value.type, 0), value)

    def fneg(self, value: Value) -> Value:
        return self.emit(value.type, f"fneg {value.type} {value.ref}")

    def select(self, choose: Value, a: Value, b: Value) -> Value:
        kind = a.type
        if kind is not b.type:
            raise TypeError(f"select of {kind} and {b.type}")
        text = f"select {choose.type.text} {choose.ref}, {kind.text} {a.ref}, {kind.text} {b.ref}"
        return self.emit(kind, text)

    # -- vectors ----------------------------------------------------------------------------------------------
    def extract_element(self, vector: Value, index: Value) -> Value:
        text = f"extractelement {vector.type} {vector.ref}, {index.type} {index.ref}"
        return self.emit(vector.type.element, text)

    def insert_element(self, vector: Value, value: Value, index: Value) -> Value:
        operands = ", ".join(f"{operand.type} {operand.ref}" for operand in (vector, value, index))
        return self.emit(vector.type, f"insertelement {operands}")

    def shuffle_vector(self, a: Value, b: Value, mask: Value) -> Value:
        operands = ", ".join(f"{operand.type} {operand.ref}" for operand in (a, b, mask))
        return self.emit(VectorType(a.type.element, mask.type.count), f"shufflevector {operands}")

    # -- memory -----------------------------------------------------------------------------------------------
    def alloca(self, kind: Type, name: str = "", *, align: int = 0) -> Value:
        """A variable on the stack, made where the function begins, wherever the builder is."""
        self.function.names += 1
        slot = Value(kind.as_pointer(), f"%{name}.{self.function.names}")
        self.function.slots.append(f"{slot.ref} = alloca {kind}{f', align {align}' if align else ''}")
        return slot

    def load(self, pointer: Value, *, align: int = 0) -> Value:
        kind = pointer.type.pointee
        aligned = f", align {align}" if align else ""
        return self.emit(kind, f"load {kind.text}, ptr {pointer.ref}{aligned}")

    def store(self, value: Value, pointer: Value, *, align: int = 0) -> None:
        kind = value.type
        if pointer.type.pointee is not kind:
            raise TypeError(f"store of {kind} where {pointer.type.pointee} is")
        aligned = f", align {align}" if align else ""
        self.block.lines.append(f"store {kind.text} {value.ref}, ptr {pointer.ref}{aligned}")

    def element(self, array: Value, index: Value) -> Value:
        """A pointer to an element of an array on the stack."""
        kind = array.type.pointee
        text = f"getelementptr {kind}, ptr {array.ref}, i32 0, {index.type} {index.ref}"
        return self.emit(kind.element.as_pointer(), text)

    # -- calls ------------------------------------------------------------------------------------------------
    def call(self, function: Value, arguments: Sequence[Value]) -> Value:
        """A call of a function, or of a pointer to one."""
        kind: Any = function.type.pointee
        if [argument.type for argument in arguments] != [*kind.args]:
            raise TypeError(f"a call of {function.ref}, which is {kind}")
        operands = ", ".join([f"{argument.type.text} {argument.ref}" for argument in arguments])
        text = f"call {kind.return_type.text} {function.ref}({operands})"
        if isinstance(kind.return_type, VoidType):
            self.block.lines.append(text)
            return Value(kind.return_type, "")
        return self.emit(kind.return_type, text)

    # -- control flow -----------------------------------------------------------------------------------------
    def ret(self, value: Value) -> None:
        self._end(f"ret {value.type} {value.ref}")

    def unreachable(self) -> None:
        self._end("unreachable")

    def branch(self, target: Block) -> None:
        self._end(f"br label %{target.label}")

    def cbranch(self, choose: Value, yes: Block, no: Block, likely: bool | None = None) -> None:
        weights = "" if likely is None else f", !prof !{0 if likely else 1}"
        self._end(f"br i1 {choose.ref}, label %{yes.label}, label %{no.label}{weights}")

    def switch(self, value: Value, otherwise: Block, targets: Sequence[Block]) -> None:
        """Goes to one of the targets by its number."""
        kind = value.type
        cases = " ".join(f"{kind} {number}, label %{target.label}" for number, target in enumerate(targets))
        self._end(f"switch {kind} {value.ref}, label %{otherwise.label} [ {cases} ]")

    @contextmanager
    def if_then(self, choose: Value, *, likely: bool | None = None) -> Iterator[None]:
        """Code that runs where `choose` holds."""
        then, behind = (self.function.append_basic_block() for _ in range(2))
        self.cbranch(choose, then, behind, likely)
        with self._until(then, behind):
            yield
        self.position_at_end(behind)

    @contextmanager
    def if_else(
        self, choose: Value
    ) -> Iterator[tuple[AbstractContextManager[None], AbstractContextManager[None]]]:
        """Code that runs where `choose` holds, and code that runs where it does not."""
        then, otherwise, behind = (self.function.append_basic_block() for _ in range(3))
        self.cbranch(choose, then, otherwise)
        yield self._until(then, behind), self._until(otherwise, behind)
        self.position_at_end(behind)

    @contextmanager
    def _until(self, block: Block, behind: Block) -> Iterator[None]:
        """Code of a block that leads to `behind`, where it leads nowhere else."""
        self.position_at_end(block)
        yield
        if not self.block.terminated:
            self.branch(behind)

"""Functions (PTX ISA 5.4 and chapter 4): their directives, statements and instructions, read from tokens.

Registers declared in nested scopes (inline assembly does that) are renamed, so that a name is unique in its function.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from grader.emulator.errors import PtxSyntaxError, UnsupportedPtx
from grader.emulator.ptx.declarations import read_parameter, read_parameters, read_variable
from grader.emulator.ptx.lexer import Token, Tokens, float_value, integer_value
from grader.emulator.ptx.locations import Locations, Position
from grader.emulator.ptx.tree import (
    Function,
    Imm,
    Instruction,
    Label,
    Mem,
    Module,
    Not,
    Operand,
    Pair,
    Reg,
    Sym,
    Vec,
)
from grader.emulator.runtime.layout import UNWRITTEN

DISCARDED = 128
"""Bytes."""


class FunctionParser:
    """Recursive descent over the functions of a module; one method a construct of the grammar."""

    def __init__(self, tokens: Tokens, module: Module) -> None:
        self.tokens = tokens
        self.module = module
        self.scopes: list[dict[str, str]] = []
        self.scope_serial = 0
        self.locations = Locations(module.files)
        self.opcode = ""

    def function(self, is_entry: bool) -> None:
        """After .entry or .func: one function, which is added to the module."""
        self.scopes = [{}]
        self.locations = Locations(self.module.files)
        returns = read_parameters(self.tokens) if self.tokens.peek() == "(" else []
        self.fn = Function(self.tokens.next().text, is_entry, returns=returns)
        start = self.tokens.at
        try:
            if self.tokens.peek() == "(":
                self.fn.params = read_parameters(self.tokens)
            self._directives()
            if self.tokens.accept(";"):
                return  # a declaration only: the definition follows, or it is a system call such as vprintf
            self.tokens.expect("{")
            self._block()
            self.locations.settle(self.fn.body)
        except UnsupportedPtx as refusal:  # the other functions of the module are none the worse for it
            self.fn.refusal = refusal
            self.tokens.at = start
            while self.tokens.peek() not in ("{", ";"):
                self.tokens.next()
            if self.tokens.accept(";"):
                return
            self.tokens.skip_block()
        self.module.functions[self.fn.name] = self.fn

    def _directives(self) -> None:
        while self.tokens.peek().startswith("."):
            word = self.tokens.next().text
            self.fn.directives.add(word)
            numbers = []
            while self.tokens.here().kind in ("int", "string"):
                token = self.tokens.next()
                numbers.append(integer_value(token.text) if token.kind == "int" else 0)
                if not self.tokens.accept(","):
                    break
            if word in (".maxntid", ".reqntid"):
                self.fn.max_threads = math.prod(numbers)
            if word == ".reqnctapercluster":
                x, y, z = (*numbers, 1, 1, 1)[:3]
                self.fn.cluster = x, y, z

    def _block(self) -> None:
        """Statements up to the closing brace, in a scope of their own."""
        while not self.tokens.accept("}"):
            self._statement()

    def _statement(self) -> None:
        token = self.tokens.here()
        if self.tokens.accept("{"):
            self._scope()
        elif token.text.startswith(".") and token.text != ".":
            self._declaration(self.tokens.next())
        elif self.tokens.peek(1) == ":":
            self._label()
        elif not self.tokens.accept(";"):
            self._instruction()

    def _label(self) -> None:
        token = self.tokens.next()
        self.tokens.expect(":")
        if self.tokens.accept(".branchtargets"):
            self._branch_targets(token.text)
        elif self.tokens.accept(".callprototype"):
            self._prototype(token.text)
        elif self.tokens.peek() == ".calltargets":
            raise UnsupportedPtx("a list of .calltargets", token.line, self.locations.here)
        else:
            self.fn.body.append(Label(token.text))

    def _prototype(self, name: str) -> None:
        """After .callprototype: [(returns)] _ [(parameters)] [.noreturn] ;"""
        returns = read_parameters(self.tokens) if self.tokens.peek() == "(" else []
        self.tokens.next()
        params = read_parameters(self.tokens) if self.tokens.peek() == "(" else []
        self.fn.prototypes[name] = returns, params
        self.tokens.skip_statement()

    def _scope(self) -> None:
        """A nested block: its registers, parameters and labels are its own (inline assembly relies on that)."""
        self.scopes.append({})
        start = len(self.fn.body)
        self._block()
        self.scopes.pop()
        inner = self.fn.body[start:]
        self.scope_serial += 1
        labels = {item.name: f"{item.name}@{self.scope_serial}" for item in inner if isinstance(item, Label)}
        for item in inner:
            if isinstance(item, Label):
                item.name = labels[item.name]
            elif labels:
                item.operands = tuple(
                    Sym(labels[o.name]) if isinstance(o, Sym) and o.name in labels else o
                    for o in item.operands
                )

    def _rename(self, name: str) -> str:
        self.scope_serial += 1
        unique = f"{name}@{self.scope_serial}"
        self.scopes[-1][name] = unique
        return unique

    def _branch_targets(self, name: str) -> None:
        labels = [self.tokens.next().text]
        while self.tokens.accept(","):
            labels.append(self.tokens.next().text)
        self.tokens.expect(";")
        self.fn.branch_targets[name] = labels

    def _declaration(self, token: Token) -> None:
        word = token.text
        if word == ".reg":
            self._register_declaration()
        elif word in (".local", ".shared", ".global", ".const"):
            variable = read_variable(self.tokens, word[1:])
            owner = self.fn if word in (".local", ".shared") else self.module
            owner.variables[variable.name] = variable
        elif word == ".param":
            self._rename(read_parameter(self.tokens, 0).name)
            self.tokens.expect(";")
        elif word == ".loc":
            self._loc()
        elif word == ".pragma":
            self.tokens.skip_statement()
        else:
            raise UnsupportedPtx(f"the directive {word}", token.line, self.locations.here)

    def _loc(self) -> None:
        """`.loc file line column [, function_name …, inlined_at file line column]`.

        Code of a library's header stands where it was inlined in a file of the user's own.
        """
        position = self._position()
        calls = []
        while self.tokens.accept(","):
            word = self.tokens.next().text
            if word == "function_name":
                self.tokens.next()
                if self.tokens.accept("+"):
                    self.tokens.integer()
            elif word == "inlined_at":
                calls.append(self._position())
        self.locations.loc(position, calls, len(self.fn.body))

    def _position(self) -> Position:
        return self.tokens.integer(), self.tokens.integer(), self.tokens.integer()

    def _register_declaration(self) -> None:
        kind = self.tokens.next().text[1:]
        if kind in ("v2", "v4"):
            raise UnsupportedPtx("vector register declarations", self.tokens.here().line, self.locations.here)
        while True:
            name = self.tokens.next().text
            if self.tokens.accept("<"):
                for index in range(self.tokens.integer()):
                    self._add_register(f"{name}{index}", kind)
                self.tokens.expect(">")
            else:
                self._add_register(name, kind)
            if not self.tokens.accept(","):
                break
        self.tokens.expect(";")

    def _add_register(self, name: str, kind: str) -> None:
        unique = name if len(self.scopes) == 1 else self._rename(name)
        self.fn.registers[unique] = kind

    # -- instructions ---------------------------------------------------------------------------------------
    def _instruction(self) -> None:
        predicate = None
        if self.tokens.accept("@"):
            negated = self.tokens.accept("!")
            predicate = (self._resolve(self.tokens.next().text), negated)
        token = self.tokens.next()
        self.opcode = token.text
        operands: list[Operand] = []
        while not self.tokens.accept(";"):
            operands.append(self._operand())
            self.tokens.accept(",")
        for opcode, taken in _written_out(token.text, tuple(operands)):
            collective = self.locations.file in self.module.collectives
            instruction = Instruction(opcode, taken, predicate, token.line, self.locations.here, collective)
            self.fn.body.append(instruction)
            self.locations.note(instruction)

    def _resolve(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def _operand(self) -> Operand:
        operand = self._single_operand()
        if self.tokens.accept("|"):
            return Pair(operand, self._single_operand())
        return operand

    def _single_operand(self) -> Operand:
        text = self.tokens.peek()
        if text == "[":
            return self._memory_operand()
        if text in ("{", "("):
            return self._vector_operand("}" if text == "{" else ")")
        if self.tokens.accept("!"):
            return Not(Reg(self._resolve(self.tokens.next().text)))
        if text == "-" or self.tokens.here().kind == "int":
            return self._immediate()
        token = self.tokens.next()
        if token.kind == "float":
            return _float_immediate(token.text)
        if token.kind != "word":
            raise PtxSyntaxError(f"PTX line {token.line}: {token.text!r} is no operand")
        name = self._resolve(token.text)
        if name in self.fn.registers or name.startswith("%") or name == "_":
            return Reg(name)
        if self.tokens.accept("+"):
            return Mem(Sym(name), self.tokens.integer())
        return Sym(name)

    def _immediate(self) -> Imm:
        negative = self.tokens.accept("-")
        token = self.tokens.next()
        if token.kind == "float":
            return Imm(-float_value(token.text))
        value = integer_value(token.text)
        return Imm(-value if negative else value)

    def _vector_operand(self, closing: str) -> Vec:
        self.tokens.next()
        items: list[Operand] = []
        while not self.tokens.accept(closing):
            items.append(self._operand())
            self.tokens.accept(",")
        return Vec(tuple(items))

    def _memory_operand(self) -> Operand:
        self.tokens.expect("[")
        token = self.tokens.here()
        if token.kind == "int":
            base: Reg | Sym | None = None
            offset = self.tokens.integer()
        else:
            name = self._resolve(self.tokens.next().text)
            base = Reg(name) if name in self.fn.registers or name.startswith("%") else Sym(name)
            offset = self.tokens.integer() if self.tokens.accept("+") else 0
            if self.tokens.peek() == "-":
                offset = self.tokens.integer()
        if self.opcode.partition(".")[0] in ("cp", "tex") and self.tokens.accept(","):
            return Mem(base, offset, self._coordinates(token.line))
        if self.tokens.peek() == ",":
            raise UnsupportedPtx(f"{self.opcode} (texture addresses)", token.line, self.locations.here)
        self.tokens.expect("]")
        return Mem(base, offset)

    def _coordinates(self, line: int) -> tuple[Operand, ...]:
        """Behind the comma in `[texture, {x, y}]` or `[texture, x]`, which a sampler may precede: up to the bracket."""
        found = self._single_operand()
        if self.tokens.peek() == ",":
            raise UnsupportedPtx(f"{self.opcode} with a sampler", line, self.locations.here)
        self.tokens.expect("]")
        return found.items if isinstance(found, Vec) else (found,)


def _float_immediate(text: str) -> Imm:
    bits = int(text[2:], 16) if text[:2] in ("0f", "0F", "0d", "0D") else None
    return Imm(float_value(text), bits)


def _written_out(opcode: str, operands: tuple[Operand, ...]) -> Iterator[tuple[str, tuple[Operand, ...]]]:
    """An instruction; discard as the stores that it stands for: "semantically, this behaves like a weak write of an
    unstable indeterminate value" (PTX ISA 9.7.9)."""
    name, *parts = opcode.split(".")
    if name != "discard" or not isinstance(operands[0], Mem):
        yield opcode, operands
        return
    space = ".global" if "global" in parts else ""
    for offset in range(0, DISCARDED, 16):
        at = Mem(operands[0].base, operands[0].offset + offset)
        yield f"st{space}.v4.b32", (at, Vec((Imm(UNWRITTEN),) * 4))

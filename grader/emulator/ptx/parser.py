"""Reads PTX text into a small syntax tree: modules, functions, instructions, operands.

The grammar is the PTX ISA's (chapters 4 to 6); what the tree keeps is what the emulator uses. Registers
declared in nested scopes (inline assembly does that) are renamed, so that a name is unique in its function.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import TypeAlias

from grader.emulator.errors import PtxSyntaxError, UnsupportedPtx

TYPE_BYTES = {
    "b8": 1, "u8": 1, "s8": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Reg:
    name: str


@dataclass(frozen=True)
class Imm:
    """An integer as written, or a floating-point constant with the bits of its 0f… or 0d… form."""

    value: int | float
    bits: int | None = None


@dataclass(frozen=True)
class Sym:
    """The name of a variable, function or label."""

    name: str


@dataclass(frozen=True)
class Mem:
    """[base + offset]; base is a register, a variable, or None for an absolute address."""

    base: Reg | Sym | None
    offset: int


@dataclass(frozen=True)
class Vec:
    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Pair:
    """d|p: two destinations."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Not:
    """!p as an operand."""

    reg: Reg


Operand: TypeAlias = "Reg | Imm | Sym | Mem | Vec | Pair | Not"


@dataclass
class Instruction:
    opcode: str
    """The whole opcode with its modifiers, such as `ld.global.nc.f32`."""
    operands: tuple[Operand, ...]
    predicate: tuple[str, bool] | None
    """The guarding register and whether the guard is negated."""
    ptx_line: int
    source_line: int

    @property
    def parts(self) -> list[str]:
        return self.opcode.split(".")


@dataclass
class Label:
    name: str


@dataclass(frozen=True)
class Param:
    """One kernel parameter; offset and size in bytes."""

    name: str
    type: str
    nbytes: int
    align: int
    offset: int


@dataclass(frozen=True)
class Variable:
    """A module- or function-level variable in .global, .const, .shared or .local space."""

    name: str
    space: str
    align: int
    nbytes: int
    initial: bytes | None = None
    """The bytes it starts with, None for zeros; addresses in it are listed in `pointers`."""
    pointers: tuple[tuple[int, str, int], ...] = ()
    """(byte offset, variable name, addend) of initialisers that hold an address."""
    external: bool = False
    """extern __shared__ without a size: dynamic shared memory."""


@dataclass
class Function:
    name: str
    is_entry: bool
    params: list[Param] = field(default_factory=list)
    returns: list[Param] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    """Register name → declared type."""
    variables: dict[str, Variable] = field(default_factory=dict)
    """.local and .shared variables declared inside."""
    body: list[Instruction | Label] = field(default_factory=list)
    branch_targets: dict[str, list[str]] = field(default_factory=dict)
    max_threads: int | None = None
    """From .maxntid or .reqntid."""
    directives: set[str] = field(default_factory=set)
    """Performance and cluster directives seen, by name."""


@dataclass
class Module:
    target: str = ""
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)


_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<float>0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b | \d+\.\d*(?:[eE][-+]?\d+)?)
      | (?P<int>0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | \d+U?)
      | (?P<word>[.%$_a-zA-Z][\w$%.]*(?:::[\w.]+)*)
      | (?P<punct>[{}()\[\],;:=+\-@!|<>*&~?/])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


def _tokenize(text: str) -> list[_Token]:
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    tokens: list[_Token] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.partition("//")[0]
        position = 0
        while position < len(line):
            match = _TOKEN.match(line, position)
            if match is None:
                raise PtxSyntaxError(f"PTX line {number}: cannot read {line[position : position + 20]!r}")
            position = match.end()
            if match.lastgroup != "space":
                tokens.append(_Token(str(match.lastgroup), match.group(), number))
    return tokens


def parse(text: str) -> Module:
    """The module in a PTX text.

    Raises PtxSyntaxError where the text is not PTX, UnsupportedPtx for directives the emulator does not know.
    """
    return _Parser(_tokenize(text)).module()


class _Parser:
    """Recursive descent over the tokens; one method a construct of the grammar."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.result = Module()
        self.scopes: list[dict[str, str]] = []
        self.scope_serial = 0
        self.source_line = 0
        self.opcode = ""

    # -- tokens ---------------------------------------------------------------------------------------------
    def peek(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.tokens[index].text if index < len(self.tokens) else ""

    def here(self) -> _Token:
        if self.at >= len(self.tokens):
            raise PtxSyntaxError("the PTX ends in the middle of a statement")
        return self.tokens[self.at]

    def next(self) -> _Token:
        token = self.here()
        self.at += 1
        return token

    def accept(self, text: str) -> bool:
        if self.peek() == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        token = self.next()
        if token.text != text:
            raise PtxSyntaxError(f"PTX line {token.line}: expected {text!r}, found {token.text!r}")

    def skip_statement(self) -> None:
        while self.next().text != ";":
            pass

    def integer(self) -> int:
        negative = self.accept("-")
        token = self.next()
        if token.kind != "int":
            raise PtxSyntaxError(f"PTX line {token.line}: expected a number, found {token.text!r}")
        value = _integer(token.text)
        return -value if negative else value

    # -- module level ---------------------------------------------------------------------------------------
    def module(self) -> Module:
        while self.at < len(self.tokens):
            self.module_statement()
        return self.result

    def module_statement(self) -> None:
        token = self.next()
        word = token.text
        if word in (".version", ".address_size"):
            self.next()
        elif word == ".target":
            self.result.target = self.next().text
            while self.accept(","):
                self.next()
        elif word == ".file":
            self.file_directive()
        elif word == ".section":
            self.skip_section()
        elif word in (".visible", ".extern", ".weak", ".common"):
            self.linkage = word
            self.module_statement_after_linkage(word)
        elif word in (".entry", ".func"):
            self.function(word == ".entry")
        elif word in (".global", ".const", ".shared"):
            self.declare(self.variable(word[1:], external=False))
        elif word == ".pragma":
            self.skip_statement()
        elif word != ";":
            raise UnsupportedPtx(f"the directive {word}", token.line)

    def module_statement_after_linkage(self, linkage: str) -> None:
        token = self.next()
        if token.text in (".entry", ".func"):
            self.function(token.text == ".entry")
        elif token.text in (".global", ".const", ".shared"):
            self.declare(self.variable(token.text[1:], external=linkage == ".extern"))
        else:
            raise UnsupportedPtx(f"the directive {linkage} {token.text}", token.line)

    def declare(self, variable: Variable) -> None:
        self.result.variables[variable.name] = variable

    def file_directive(self) -> None:
        number = self.integer()
        self.result.files[number] = self.next().text.strip('"')
        while self.accept(","):
            self.next()

    def skip_section(self) -> None:
        self.next()
        self.expect("{")
        while self.next().text != "}":
            pass

    # -- variables ------------------------------------------------------------------------------------------
    def variable(self, space: str, external: bool) -> Variable:
        """After the state space: [.align n] .type name[dims] [= initialiser] ;"""
        align, element = self.align_and_type()
        name_token = self.next()
        count, unsized = self.dimensions()
        initial: bytes | None = None
        pointers: tuple[tuple[int, str, int], ...] = ()
        if self.accept("="):
            initial, pointers = self.initialiser(element, count)
        self.expect(";")
        return Variable(
            name_token.text, space, max(align, TYPE_BYTES[element]), count * TYPE_BYTES[element], initial, pointers,
            external=unsized or (external and space == "shared"),
        )  # fmt: skip

    def align_and_type(self) -> tuple[int, str]:
        align = 1
        while True:
            token = self.next()
            if token.text == ".align":
                align = self.integer()
            elif token.text[1:] in TYPE_BYTES:
                return align, token.text[1:]
            elif token.text not in (".attribute", ".managed", ".ptr"):
                raise UnsupportedPtx(f"the declaration {token.text}", token.line)

    def dimensions(self) -> tuple[int, bool]:
        count, unsized = 1, False
        while self.accept("["):
            if self.accept("]"):
                unsized, count = True, 0
                continue
            count *= self.integer()
            self.expect("]")
        return count, unsized

    def initialiser(self, element: str, count: int) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
        size = TYPE_BYTES[element]
        data = bytearray(count * size)
        pointers: list[tuple[int, str, int]] = []
        for index, value in enumerate(self.initial_values()):
            if isinstance(value, tuple):
                pointers.append((index * size, *value))
            elif isinstance(value, float):
                data[index * size : (index + 1) * size] = struct.pack("<f" if size == 4 else "<d", value)
            else:
                data[index * size : (index + 1) * size] = (value % (1 << (8 * size))).to_bytes(size, "little")
        return bytes(data), tuple(pointers)

    def initial_values(self) -> list[int | float | tuple[str, int]]:
        if not self.accept("{"):
            return [self.initial_value()]
        values: list[int | float | tuple[str, int]] = []
        while not self.accept("}"):
            if self.peek() == "{":
                values.extend(self.initial_values())
            else:
                values.append(self.initial_value())
            self.accept(",")
        return values

    def initial_value(self) -> int | float | tuple[str, int]:
        token = self.here()
        if token.kind == "word":
            return self.initial_address()
        if token.kind == "float":
            self.at += 1
            return _float_constant(token.text)
        return self.integer()

    def initial_address(self) -> tuple[str, int]:
        name = self.next().text
        if name == "generic":
            self.expect("(")
            name = self.next().text
            self.expect(")")
        addend = self.integer() if self.accept("+") else 0
        return name, addend

    # -- functions ------------------------------------------------------------------------------------------
    def function(self, is_entry: bool) -> None:
        self.scopes = [{}]
        self.source_line = 0
        returns = self.parameters() if self.peek() == "(" else []
        token = self.next()
        self.fn = Function(token.text, is_entry, returns=returns)
        if self.peek() == "(":
            self.fn.params = self.parameters()
        self.function_directives()
        if self.accept(";"):
            return  # a declaration only: the definition follows, or it is a system call such as vprintf
        self.expect("{")
        self.block()
        self.result.functions[self.fn.name] = self.fn

    def parameters(self) -> list[Param]:
        self.expect("(")
        params: list[Param] = []
        offset = 0
        while not self.accept(")"):
            param = self.parameter(offset)
            params.append(param)
            offset = param.offset + param.nbytes
            self.accept(",")
        return params

    def parameter(self, offset: int) -> Param:
        """One `.param [.align n] .type [.ptr …] name[size]`, laid out after `offset`."""
        space = self.next()
        if space.text not in (".param", ".reg"):
            raise UnsupportedPtx(f"the parameter space {space.text}", space.line)
        align, element, name = 1, "b8", ""
        while not name:
            token = self.next()
            if token.text == ".align":
                align = self.integer()
            elif token.text[1:] in TYPE_BYTES:
                element = token.text[1:]
            elif not token.text.startswith("."):
                name = token.text
        count, _ = self.dimensions()
        align = max(align, TYPE_BYTES[element])
        start = (offset + align - 1) // align * align
        return Param(name, element, count * TYPE_BYTES[element], align, start)

    def function_directives(self) -> None:
        while self.peek().startswith("."):
            word = self.next().text
            self.fn.directives.add(word)
            numbers = []
            while self.here().kind in ("int", "string"):
                token = self.next()
                numbers.append(_integer(token.text) if token.kind == "int" else 0)
                if not self.accept(","):
                    break
            if word in (".maxntid", ".reqntid"):
                total = 1
                for number in numbers:
                    total *= number
                self.fn.max_threads = total

    def block(self) -> None:
        """Statements up to the closing brace, in a scope of their own."""
        while not self.accept("}"):
            self.statement()

    def statement(self) -> None:
        token = self.here()
        if token.text == "{":
            self.at += 1
            self.scope()
        elif token.text == ";":
            self.at += 1
        elif token.text.startswith(".") and token.text != ".":
            self.at += 1
            self.function_statement(token)
        elif self.peek(1) == ":":
            self.at += 2
            if self.peek() == ".branchtargets":
                self.at += 1
                self.branch_targets(token.text)
            elif self.peek() in (".callprototype", ".calltargets"):
                raise UnsupportedPtx("indirect calls (function pointers)", token.line, self.source_line)
            else:
                self.fn.body.append(Label(token.text))
        else:
            self.instruction()

    def scope(self) -> None:
        """A nested block: its registers, parameters and labels are its own (inline assembly relies on that)."""
        self.scopes.append({})
        start = len(self.fn.body)
        self.block()
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

    def rename(self, name: str) -> str:
        self.scope_serial += 1
        unique = f"{name}@{self.scope_serial}"
        self.scopes[-1][name] = unique
        return unique

    def branch_targets(self, name: str) -> None:
        labels = [self.next().text]
        while self.accept(","):
            labels.append(self.next().text)
        self.expect(";")
        self.fn.branch_targets[name] = labels

    def function_statement(self, token: _Token) -> None:
        word = token.text
        if word == ".reg":
            self.register_declaration()
        elif word in (".local", ".shared", ".global", ".const"):
            variable = self.variable(word[1:], external=False)
            if word in (".local", ".shared"):
                self.fn.variables[variable.name] = variable
            else:
                self.declare(variable)
        elif word == ".param":
            self.at -= 1
            param = self.parameter(0)
            self.rename(param.name)
            self.expect(";")
        elif word == ".loc":
            self.loc()
        elif word == ".pragma":
            self.skip_statement()
        else:
            raise UnsupportedPtx(f"the directive {word}", token.line, self.source_line)

    def loc(self) -> None:
        """`.loc file line column [, function_name …, inlined_at file line column]`.

        A line in a header is of no use to the reader of a kernel: where the code was inlined from counts.
        """
        numbers = [self.integer(), self.integer(), self.integer()]
        while self.accept(","):
            word = self.next().text
            if word == "function_name":
                self.next()
                if self.accept("+"):
                    self.integer()
            elif word == "inlined_at":
                numbers = [self.integer(), self.integer(), self.integer()]
        if numbers[0] == 1:
            self.source_line = numbers[1]

    def register_declaration(self) -> None:
        kind = self.next().text[1:]
        if kind in ("v2", "v4"):
            raise UnsupportedPtx("vector register declarations", self.here().line, self.source_line)
        while True:
            name = self.next().text
            if self.accept("<"):
                for index in range(self.integer()):
                    self.add_register(f"{name}{index}", kind)
                self.expect(">")
            else:
                self.add_register(name, kind)
            if not self.accept(","):
                break
        self.expect(";")

    def add_register(self, name: str, kind: str) -> None:
        unique = name if len(self.scopes) == 1 else self.rename(name)
        self.fn.registers[unique] = kind

    # -- instructions ---------------------------------------------------------------------------------------
    def instruction(self) -> None:
        predicate = None
        if self.accept("@"):
            negated = self.accept("!")
            predicate = (self.resolve(self.next().text), negated)
        token = self.next()
        self.opcode = token.text
        operands: list[Operand] = []
        while not self.accept(";"):
            operands.append(self.operand())
            self.accept(",")
        self.fn.body.append(Instruction(token.text, tuple(operands), predicate, token.line, self.source_line))

    def resolve(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def operand(self) -> Operand:
        operand = self.single_operand()
        if self.accept("|"):
            return Pair(operand, self.single_operand())
        return operand

    def single_operand(self) -> Operand:
        text = self.peek()
        if text == "[":
            return self.memory_operand()
        if text in ("{", "("):
            return self.vector_operand("}" if text == "{" else ")")
        if text == "!":
            self.at += 1
            return Not(Reg(self.resolve(self.next().text)))
        if text == "-" or self.here().kind == "int":
            return self.immediate()
        token = self.next()
        if token.kind == "float":
            return _float_immediate(token.text)
        if token.kind != "word":
            raise PtxSyntaxError(f"PTX line {token.line}: {token.text!r} is no operand")
        name = self.resolve(token.text)
        if name in self.fn.registers or name.startswith("%") or name == "_":
            return Reg(name)
        if self.accept("+"):
            return Mem(Sym(name), self.integer())
        return Sym(name)

    def immediate(self) -> Imm:
        negative = self.accept("-")
        token = self.next()
        if token.kind == "float":
            return Imm(-_float_constant(token.text))
        value = _integer(token.text)
        return Imm(-value if negative else value)

    def vector_operand(self, closing: str) -> Vec:
        self.at += 1
        items: list[Operand] = []
        while not self.accept(closing):
            items.append(self.operand())
            self.accept(",")
        return Vec(tuple(items))

    def memory_operand(self) -> Operand:
        self.expect("[")
        token = self.here()
        if token.kind == "int":
            base: Reg | Sym | None = None
            offset = self.integer()
        else:
            name = self.resolve(self.next().text)
            base = Reg(name) if name in self.fn.registers or name.startswith("%") else Sym(name)
            offset = self.integer() if self.accept("+") else 0
            if self.peek() == "-":
                offset = self.integer()
        if self.peek() == ",":
            raise UnsupportedPtx(
                f"{self.opcode} (texture and tensor addresses)", token.line, self.source_line
            )
        self.expect("]")
        return Mem(base, offset)


def _integer(text: str) -> int:
    """A number as PTX writes it: decimal, 0x…, 0b… or, with a leading zero, octal."""
    digits = text.rstrip("U")
    return int(digits, 8 if digits[0] == "0" and digits.isdigit() else 0)


def _float_immediate(text: str) -> Imm:
    bits = int(text[2:], 16) if text[:2] in ("0f", "0F", "0d", "0D") else None
    return Imm(_float_constant(text), bits)


def _float_constant(text: str) -> float:
    if text[:2] in ("0f", "0F"):
        return float(struct.unpack(">f", bytes.fromhex(text[2:]))[0])
    if text[:2] in ("0d", "0D"):
        return float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
    return float(text)

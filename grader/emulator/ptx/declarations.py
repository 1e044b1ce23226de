"""Declarations of variables and parameters (PTX ISA 5.4 and 5.1.6), read from tokens."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import TypeAlias

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.lexer import Tokens, float_value
from grader.emulator.ptx.tree import TYPE_BYTES, Param, Variable

Initial: TypeAlias = "int | float | tuple[str, int]"
"""A number, or a variable whose address counts, with an addend."""


def read_variable(tokens: Tokens, space: str, *, external: bool = False) -> Variable:
    """After the state space: [.align n] .type name[dims] [= initialiser] ;"""
    align, element, managed = _align_and_type(tokens)
    name = tokens.next().text
    count, unsized = _dimensions(tokens)
    initial: bytes | None = None
    pointers: tuple[tuple[int, str, int], ...] = ()
    if tokens.accept("="):
        initial, pointers = _initialiser(tokens, element, count)
    tokens.expect(";")
    return Variable(
        name, space, max(align, TYPE_BYTES[element]), count * TYPE_BYTES[element], initial, pointers,
        external=unsized or (external and space == "shared"), managed=managed,
    )  # fmt: skip


def read_parameters(tokens: Tokens) -> list[Param]:
    """`(.param …, .param …)`, laid out one after the other."""
    tokens.expect("(")
    params: list[Param] = []
    offset = 0
    while not tokens.accept(")"):
        space = tokens.next()
        if space.text not in (".param", ".reg"):
            raise UnsupportedPtx(f"the parameter space {space.text}", space.line)
        param = read_parameter(tokens, offset)
        params.append(param)
        offset = param.offset + param.nbytes
        tokens.accept(",")
    return params


def read_parameter(tokens: Tokens, offset: int) -> Param:
    """After the state space: [.align n] .type [.ptr …] name[size], laid out after `offset`."""
    align, element, name = 1, "b8", ""
    while not name:
        token = tokens.next()
        if token.text == ".align":
            align = tokens.integer()
        elif token.text[1:] in TYPE_BYTES:
            element = token.text[1:]
        elif not token.text.startswith("."):
            name = token.text
    count, _ = _dimensions(tokens)
    align = max(align, TYPE_BYTES[element])
    start = (offset + align - 1) // align * align
    return Param(name, element, count * TYPE_BYTES[element], align, start)


def _align_and_type(tokens: Tokens) -> tuple[int, str, bool]:
    align, managed = 1, False
    while True:
        token = tokens.next()
        if token.text == ".align":
            align = tokens.integer()
        elif token.text[1:] in TYPE_BYTES:
            return align, token.text[1:], managed
        elif token.text == ".managed":
            managed = True
        elif token.text not in (".attribute", "(", ")", ".ptr"):
            raise UnsupportedPtx(f"the declaration {token.text}", token.line)


def _dimensions(tokens: Tokens) -> tuple[int, bool]:
    """How many elements `[n][m]…` are, and whether a size is left out."""
    count, unsized = 1, False
    while tokens.accept("["):
        if tokens.accept("]"):
            unsized, count = True, 0
            continue
        count *= tokens.integer()
        tokens.expect("]")
    return count, unsized


def _initialiser(tokens: Tokens, element: str, count: int) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
    size = TYPE_BYTES[element]
    data = bytearray(count * size)
    pointers: list[tuple[int, str, int]] = []
    for index, value in enumerate(_initial_values(tokens)):
        if isinstance(value, tuple):
            pointers.append((index * size, *value))
        elif isinstance(value, float):
            data[index * size : (index + 1) * size] = struct.pack("<f" if size == 4 else "<d", value)
        else:
            data[index * size : (index + 1) * size] = (value % (1 << (8 * size))).to_bytes(size, "little")
    return bytes(data), tuple(pointers)


def _initial_values(tokens: Tokens) -> list[Initial]:
    if not tokens.accept("{"):
        return [_initial_value(tokens)]
    values: list[Initial] = []
    while not tokens.accept("}"):
        if tokens.peek() == "{":
            values.extend(_initial_values(tokens))
        else:
            values.append(_initial_value(tokens))
        tokens.accept(",")
    return values


def _initial_value(tokens: Tokens) -> Initial:
    kind = tokens.here().kind
    if kind == "word":
        return _initial_address(tokens)
    if kind == "float":
        return float_value(tokens.next().text)
    return tokens.integer()


def _initial_address(tokens: Tokens) -> tuple[str, int]:
    name = tokens.next().text
    if name == "generic":
        tokens.expect("(")
        name = tokens.next().text
        tokens.expect(")")
    addend = tokens.integer() if tokens.accept("+") else 0
    return name, addend


_OPERAND = re.compile(r"[,\[({=]\s*([A-Za-z_$][\w$]*)")
"""A name where an operand or an initial value stands: behind most characters nothing is looked for."""


def named(text: str, variables: Sequence[str]) -> list[str]:
    """Those of a PTX text's variables that are named beside their declaration, as those of a header may not be."""
    words = set(_OPERAND.findall(text)) if variables else set()
    return [name for name in variables if name in words]

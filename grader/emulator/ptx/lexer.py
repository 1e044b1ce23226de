"""PTX text as tokens (PTX ISA 4.3 to 4.5), and what a parser asks of them."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from grader.emulator.errors import PtxSyntaxError

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<float>0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b | \d+\.\d*(?:[eE][-+]?\d+)?)
      | (?P<int>0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | \d+U?)
      | (?P<word>\.[\w$%]+ | [%$_a-zA-Z][\w$%.]*(?:::[\w.]+)*)
      | (?P<punct>[{}()\[\],;:=+\-@!|<>*&~?/])
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def _tokenize(text: str) -> list[Token]:
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    tokens: list[Token] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.partition("//")[0]
        position = 0
        while position < len(line):
            match = _TOKEN.match(line, position)
            if match is None:
                raise PtxSyntaxError(f"PTX line {number}: cannot read {line[position : position + 20]!r}")
            position = match.end()
            if match.lastgroup != "space":
                tokens.append(Token(str(match.lastgroup), match.group(), number))
    return tokens


class Tokens:
    """The tokens of a text, and the place reached in them."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokenize(text)
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.tokens[index].text if index < len(self.tokens) else ""

    def here(self) -> Token:
        if self.at >= len(self.tokens):
            raise PtxSyntaxError("the PTX ends in the middle of a statement")
        return self.tokens[self.at]

    def next(self) -> Token:
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

    def skip_block(self) -> None:
        """From an opening brace to behind the one that closes it."""
        depth = 0
        while True:
            text = self.next().text
            depth += (text == "{") - (text == "}")
            if depth == 0:
                return

    def integer(self) -> int:
        negative = self.accept("-")
        token = self.next()
        if token.kind != "int":
            raise PtxSyntaxError(f"PTX line {token.line}: expected a number, found {token.text!r}")
        value = integer_value(token.text)
        return -value if negative else value


def integer_value(text: str) -> int:
    """A number as PTX writes it: decimal, 0x…, 0b… or, with a leading zero, octal."""
    digits = text.rstrip("U")
    return int(digits, 8 if digits[0] == "0" and digits.isdigit() else 0)


def float_value(text: str) -> float:
    if text[:2] in ("0f", "0F"):
        return float(struct.unpack(">f", bytes.fromhex(text[2:]))[0])
    if text[:2] in ("0d", "0D"):
        return float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
    return float(text)

"""Reads PTX text into a syntax tree (PTX ISA, chapters 4 to 6): the statements of a module."""

from __future__ import annotations

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.places import collectives, own_files
from grader.emulator.ptx.declarations import named, read_variable
from grader.emulator.ptx.functions import FunctionParser
from grader.emulator.ptx.lexer import Tokens
from grader.emulator.ptx.tree import Module


def parse(text: str) -> Module:
    """The module in a PTX text, without variables of its own that nothing names: CUDA's headers declare hundreds of
    constants, and ptxas leaves them out as well.

    What the emulator does not know of a statement counts when a kernel is launched that names what it declares. Raises
    PtxSyntaxError where the text is not PTX, UnsupportedPtx for a statement that declares nothing.
    """
    parser = _ModuleParser(Tokens(text))
    parser.module.files = own_files(text)
    parser.module.collectives = collectives(text)
    while parser.tokens.peek():
        parser.statement()
    for name in set(parser.own).difference(named(text, parser.own)):
        if not parser.module.variables[name].managed:  # which the host knows
            del parser.module.variables[name]
    return parser.module


class _ModuleParser:
    """Recursive descent over the statements between the functions."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.module = Module()
        self.functions = FunctionParser(tokens, self.module)
        self.own: list[str] = []
        """Variables that other modules cannot name, nor the host."""

    def statement(self) -> None:
        start = self.tokens.at
        try:
            self._statement()
        except UnsupportedPtx as refusal:
            self.tokens.at = start
            self._leave_out(refusal)

    def _leave_out(self, refusal: UnsupportedPtx) -> None:
        """Skips a statement that the emulator does not know, and keeps the names that it may declare."""
        names = []
        if not self.tokens.peek().startswith("."):
            raise refusal
        while self.tokens.peek() not in (";", "{"):
            token = self.tokens.next()
            if token.kind == "word" and not token.text.startswith("."):
                names.append(token.text)
        if self.tokens.peek() == "{":
            self.tokens.skip_block()
        self.tokens.accept(";")
        if not names:
            raise refusal
        self.module.refusals |= dict.fromkeys(names, refusal)

    def _statement(self) -> None:
        token = self.tokens.next()
        word = token.text
        if word in (".version", ".address_size"):
            self.tokens.next()
        elif word == ".target":
            self._target()
        elif word == ".file":
            self._file()
        elif word == ".section":
            self._skip_section()
        elif word in (".visible", ".extern", ".weak", ".common"):
            self._linked(word)
        elif word in (".entry", ".func"):
            self.functions.function(word == ".entry")
        elif word in (".global", ".const", ".shared"):
            self.own.append(self._variable(word))
        elif word == ".pragma":
            self.tokens.skip_statement()
        elif word != ";":
            raise UnsupportedPtx(f"the directive {word}", token.line)

    def _linked(self, linkage: str) -> None:
        """What follows a linkage directive: a function or a variable."""
        token = self.tokens.next()
        if token.text in (".entry", ".func"):
            self.functions.function(token.text == ".entry")
        elif token.text in (".global", ".const", ".shared"):
            self._variable(token.text, external=linkage == ".extern")
        else:
            raise UnsupportedPtx(f"the directive {linkage} {token.text}", token.line)

    def _variable(self, space: str, *, external: bool = False) -> str:
        """Keeps a variable; its name."""
        variable = read_variable(self.tokens, space[1:], external=external)
        if not (external and variable.name in self.module.variables):  # a piece linked before may define it
            self.module.variables[variable.name] = variable
        return variable.name

    def _target(self) -> None:
        self.module.target = self.tokens.next().text
        while self.tokens.accept(","):
            self.tokens.next()

    def _file(self) -> None:
        self.tokens.next()
        self.tokens.next()
        while self.tokens.accept(","):
            self.tokens.next()

    def _skip_section(self) -> None:
        self.tokens.next()
        self.tokens.expect("{")
        while self.tokens.next().text != "}":
            pass

"""Every small change of an expression: an operand left out, another operator, name or number, parentheses.

What is none of the known slips is often one of these. There are many in a text, and nearly all of them are wrong: the
judge tries them after what is likelier.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from grader.workbook.cuda_source import int_sizes, plain, shared_arrays
from grader.workbook.edit import MOST, Edit, all_instead, instead, lines_around, where

_TOKEN = re.compile(r"\d[\w.]*|[A-Za-z_]\w*|//|<<=|>>=|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||\+\+|--|->|::|[^\s\w]")
_BLOCK = re.compile(r"^// /// launch[ \t]*\n(.*?)^// ///[ \t]*$", re.MULTILINE | re.DOTALL)
_OF_LAUNCH = re.compile(r"^// *(?:grid|block|args|shared) *=.*$", re.MULTILINE)
_WHEN = re.compile(r"^// *when *=.*$", re.MULTILINE)
_CONSTANT = re.compile(r"\bconstexpr\s+(?:int|unsigned|size_t|long\s+long|long)\s+(\w+)\s*=")
_STRING = re.compile(r'"([^"\n]*)"')
_DIRECTIVE = re.compile(r"^[ \t]*#.*", re.MULTILINE)
_INTEGER = re.compile(
    r"\b(?:int|unsigned|size_t|long\s+long|long|auto)\s+(\w+)\s*(?==(?!=)|[,;)])|\bconstexpr\s+\w+\s+(\w+)\s*="
)
_TYPE = re.compile(
    r"void|bool|u?(?:char|short|int|long|longlong)[1-4]?|(?:float|double)[1-4]?|(?:__)?half2?|unsigned|size_t|auto"
)
_AS_A_TYPE = re.compile(r"\b(?:int|unsigned|size_t)\s+(half)\b")
_NO_OPERAND = re.compile(rf"{_TYPE.pattern}|const|return|else|if|for|while|\w+_cast")
_OF_PLACE = re.compile(r"\b(?:thread|block)Idx\b|\b(?:block|grid)Dim\b")
_TWO_AXES = re.compile(r"\b(?:thread|block)Idx\.y\b")

_VECTOR = re.compile(r"\b(?:float|uint|int|uchar|char|double|half)([248])\b")
_ARRAY = re.compile(r"\*\s*(?:const\s+|__restrict__\s+)*(\w+)\s*[,)]")
_SHUFFLES = ("__shfl_down_sync", "__shfl_up_sync", "__shfl_xor_sync")
_SHUFFLED = re.compile(r"__shfl_\w+\s*\([^,()]+,\s*(?P<own>[\w.]+)\s*,[^,()]+\)")

BINDS = {
    **dict.fromkeys(("*", "/", "//", "%"), 6),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("<<", ">>"), 4),
    **dict.fromkeys(("<", "<=", ">", ">="), 3),
    **dict.fromkeys(("==", "!="), 2),
    **dict.fromkeys(("&", "^", "|"), 1),
    **dict.fromkeys(("&&", "||"), 0),
}
"""Binary operators, by how tightly they bind."""

_OF_ENDS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OTHER = {
    "==": ["!="],
    "!=": ["=="],
    "&&": ["||"],
    "||": ["&&"],
    "+": ["-", "*"],
    "-": ["+"],
    "/": ["%", "*"],
    "%": ["/"],
    "|": ["^"],
    "^": ["|"],
    "<<": [">>"],
    ">>": ["<<"],
}
_SETS = {"+=": "=", "=": "+=", "*=": "+=", "-=": "+="}
_OPENS, _CLOSES = {")": "(", "]": "["}, {"(": ")", "[": "]"}
_OF = (".", "->", "::")
_COMPONENTS = "xyzw"

_BUILT_INS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_BEFORE_TERM = ("+", "-", "+=", "=", "(", "[", ",", ":", "?", *_OF_ENDS, "&&", "||")
_BEHIND_TERM = ("+", "-", ";", ")", "]", ",", ":", *_OF_ENDS, "&&", "||")
_WHOLE_ARGUMENTS = (("[", "]"), (",", ")"), ("(", ","), (",", ","))
_MOST_FACTORS = 5

_LIKELY, _NEXT, _FAR, _FARTHER, _LAST = range(5)
"""How soon a change is tried."""

_SOON = {"|": _LIKELY}
"""Of operators that are tried before their operands are left out: of a swizzle, nothing would be left then."""

_LONGEST = 100
"""Tokens of an operand in brackets: bounds the work that a stranger's text can ask for, as does what follows."""

_MOST_NAMES, _MOST = 16, 4000
"""Names that are tried in place of each other, and changes of a text."""


@dataclass(frozen=True)
class _Token:
    text: str
    start: int
    is_variable: bool = False
    """Whether a variable has the name of a type: `half`."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_operand(self) -> bool:
        """Whether it is a name or a number, and no type."""
        return self.is_variable or (bool(re.match(r"\w", self.text)) and not _NO_OPERAND.fullmatch(self.text))


@dataclass(frozen=True)
class _Small:
    """A piece of the text, and what it is changed to."""

    rank: int
    start: int
    old: str
    new: str
    kind: str = ""
    """What it has in common with changes of other texts, which may be one mistake."""
    why: str = ""


@dataclass(frozen=True)
class _Expressions:
    """The tokens of expressions: what stands in braces, or in the strings of a launch block."""

    text: str
    tokens: Sequence[_Token]

    @classmethod
    def of(cls, text: str) -> _Expressions:
        depth, found = 0, []
        variables = {*_AS_A_TYPE.findall(text)}
        for match in _TOKEN.finditer(text):
            depth -= match[0] == "}"
            if depth > 0:
                found.append(_Token(match[0], match.start(), match[0] in variables))
            depth += match[0] == "{"
        return cls(text, found)

    @classmethod
    def of_launch(cls, source: str, which: re.Pattern[str]) -> _Expressions:
        block, found = _BLOCK.search(source[:MOST]), []
        lines = which.finditer(source, *block.span(1)) if block else ()
        for string in chain.from_iterable(_STRING.finditer(source, *line.span()) for line in lines):
            found.append(_Token(";", string.start()))
            found += [_Token(match[0], match.start()) for match in _TOKEN.finditer(source, *string.span(1))]
        return cls(source, found)

    def begins(self, at: int) -> int | None:
        """The first token of the operand that ends in front of a token; None where none does."""
        first, stop = None, max(0, at - _LONGEST)
        while (at := at - 1) >= stop:
            token = self.tokens[at]
            if token.text in _OPENS:
                opened = self._partner(at, _OPENS, -1)
                if opened is None:
                    return None
                first = at = opened
            elif self._names(at):
                first = at
                if at == 0 or self.tokens[at - 1].text not in _OF:
                    return first
                at -= 1
            else:
                return first
        return first

    def ends(self, at: int) -> int | None:
        """The last token of the operand that begins behind a token; None where none does."""
        last, stop = None, min(len(self.tokens), at + _LONGEST)
        while (at := at + 1) < stop:
            token = self.tokens[at]
            if token.text in _CLOSES and not (last is None and token.text == "["):
                closed = self._partner(at, _CLOSES, 1)
                if closed is None:
                    return None
                last = at = closed
            elif self._names(at) and (last is None or self.tokens[at - 1].text in _OF):
                last = at
            elif last is None or token.text not in _OF:
                return last
        return last

    def operands(self, at: int, first: int, last: int) -> tuple[int, int]:
        """Where the operands of an operator begin and end with all that is done before it, from the first and the last
        token of what stands next to it."""
        binds = BINDS[self.tokens[at].text]
        while BINDS.get(self.tokens[first - 1].text, -1) >= binds:
            if (begin := self.begins(first - 1)) is None:
                break
            first = begin
        while last + 1 < len(self.tokens) and BINDS.get(self.tokens[last + 1].text, -1) > binds:
            if (end := self.ends(last + 1)) is None:
                break
            last = end
        return first, last

    def _names(self, at: int) -> bool:
        """Whether a name or a number stands there, or a type that something is cast to."""
        is_cast = at + 1 < len(self.tokens) and self.tokens[at + 1].text == "("
        return self.tokens[at].is_operand or (is_cast and bool(_TYPE.fullmatch(self.tokens[at].text)))

    def _partner(self, at: int, partners: dict[str, str], step: int) -> int | None:
        """The bracket that belongs to one."""
        own, other, depth = self.tokens[at].text, partners[self.tokens[at].text], 0
        for place in range(at, min(max(at + step * _LONGEST, -1), len(self.tokens)), step):
            depth += (self.tokens[place].text == own) - (self.tokens[place].text == other)
            if depth == 0:
                return place
        return None

    def is_declared(self, at: int) -> bool:
        """Whether a name is declared there: a type stands in front of it, or a pointer or a reference to one."""
        of = at - 2 if at and self.tokens[at - 1].text in ("*", "&") else at - 1
        return of >= 0 and bool(_NO_OPERAND.fullmatch(self.tokens[of].text))

    def piece(self, first: int, last: int) -> str:
        """The text from a token to another."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def changed(self, rank: int, first: int, last: int, new: str, kind: str = "", why: str = "") -> _Small:
        """What stands from a token to another made another text."""
        return _Small(rank, self.tokens[first].start, self.piece(first, last), new, kind, why)


def edits(source: str, near: Collection[int] = ()) -> Iterator[Edit]:
    """The changes to be tried, the likeliest first, and of these those of the lines `near`; what stands in several
    places is changed in all, and in each."""
    text = _DIRECTIVE.sub(lambda found: " " * len(found[0]), plain(source))[:MOST]
    parts = _Expressions.of(text)
    kinds = (
        _of_operators,
        _of_numbers,
        _of_members,
        _of_built_ins,
        _of_shuffles,
        _of_rows_of_vectors,
        _of_arrays,
        _of_names,
        _of_factors,
    )
    return _in_order(parts, chain.from_iterable(kind(parts) for kind in kinds), near)


def of_launch(source: str, sizes: Sequence[str], constants: Sequence[str]) -> Iterator[Edit]:
    """Those of a launch block, but for numbers, and for what another size would hide by giving a launch less to do: one
    constant in place of another, and of conditions alone one size for another."""
    numbers, conditions = (_Expressions.of_launch(source, which) for which in (_OF_LAUNCH, _WHEN))
    yield from _in_order(numbers, chain(_of_operators(numbers), _exchanged(numbers, constants)))
    yield from _in_order(conditions, _exchanged(conditions, sizes))


def constants_of(source: str) -> list[str]:
    """The names of a text's integer constants."""
    return [*dict.fromkeys(_CONSTANT.findall(plain(source)))]


def _in_order(parts: _Expressions, every: Iterable[_Small], near: Collection[int] = ()) -> Iterator[Edit]:
    alike: dict[tuple[int, str], list[_Small]] = {}
    begins = [0, *(found.end() for found in re.finditer("\n", parts.text))]

    def order(small: _Small) -> tuple[int, bool, int]:
        return small.rank, bisect_right(begins, small.start) not in near, small.start

    for small in sorted(islice(every, _MOST), key=order):
        alike.setdefault((small.rank, small.kind or f"{small.old} {small.new}"), []).append(small)
    for group in alike.values():
        if len(group) > 1:
            yield _edit(parts.text, sorted(group, key=lambda small: small.start))
        for small in group:
            yield _edit(parts.text, [small])


def _edit(text: str, group: Sequence[_Small]) -> Edit:
    first = group[0]
    spans = [lines_around(text, small.start, small.start + len(small.old)) for small in group]
    if all(small.old == first.old for small in group):
        said = all_instead(spans, first.new)
    else:
        numbers = [*dict.fromkeys(line.number for line, _, _ in spans[1:])]
        said = f"{instead(spans[0][0].text, *spans[0][1:], first.new)} in line {spans[0][0].number}"
        said = f"{said}, and likewise in {where(numbers)},"
    changes = tuple((small.start, small.start + len(small.old), small.new) for small in group)
    return Edit(said, spans[0][0].number, changes, first.why, any=True)


def _of_operators(parts: _Expressions) -> Iterator[_Small]:
    """Another operator, or none and one operand less; and what comes of the next operator done later."""
    fixed = _fixed(parts)
    for at, token in enumerate(parts.tokens):
        sign, first = token.text, parts.begins(at)
        if first is not None and sign in _SETS and not parts.is_declared(first):
            yield parts.changed(_FAR, first, at, f"{parts.piece(first, at - 1)} {_SETS[sign]}")
        if first is None or sign not in BINDS or (last := parts.ends(at)) is None:
            continue
        compares = sign in _OF_ENDS or sign in ("==", "!=")
        if sign not in ("&&", "||") and not compares:
            yield from _in_parentheses(parts, at, first, last)
        first, last = parts.operands(at, first, last)
        left, right = parts.piece(first, at - 1), parts.piece(at + 1, last)
        rank = _NEXT if sign in _OF_ENDS else _LAST if compares else _SOON.get(sign, _FAR)
        if sign == "-" and (at + 1 == last or right.isidentifier()):
            yield parts.changed(_FAR, first, last, f"{left} - {right} - 1")
        others = [_OF_ENDS[sign]] if sign in _OF_ENDS else _OTHER.get(sign, [])
        # A bound that is many times as far comes out right by luck, where there is room.
        far = sign == "+" and fixed(left) and fixed(right) and _is_bound(parts, first, last)
        for other in (other for other in others if not (far and other == "*")):
            yield parts.changed(rank, first, last, f"{left} {other} {right}")
        if compares:
            # Of numbers that are equal, or are not, one more or less would only have nobody go that way.
            for by in ("- 1", "+ 1") if sign in _OF_ENDS or _OF_PLACE.search(f"{left} {right}") else ():
                yield parts.changed(_FAR, first, last, f"{left} {sign} {right} {by}")
            continue
        yield parts.changed(_NEXT, first, last, left)
        if sign in ("*", "+", "&&", "||"):
            yield parts.changed(_FAR if sign == "&&" else _LAST, first, last, right)
        if sign == "&&" and parts.tokens[at + 1].text[:1].isdecimal():
            yield parts.changed(_FAR, first, last, f"{left} & {right}")


def _in_parentheses(parts: _Expressions, at: int, first: int, last: int) -> Iterator[_Small]:
    """An operation done before the one beside it that binds more: nobody takes that for a product's."""
    tokens, own = parts.tokens, f"({parts.piece(first, last)})"
    for beside in (first - 1, last + 1):
        sign, other = tokens[at].text, tokens[beside].text if 0 < beside < len(tokens) else ""
        if other == "*" or BINDS.get(other, 0) <= BINDS[sign]:
            continue
        why = f"`{other}` is done before `{sign}`."
        if beside > last and (end := parts.ends(beside)) is not None:
            new = f"{own} {parts.piece(beside, end)}"
            yield parts.changed(_LIKELY, first, end, new, f"{sign} {other}", why)
        if beside < first and (begin := parts.begins(beside)) is not None:
            new = f"{parts.piece(begin, beside)} {own}"
            yield parts.changed(_LIKELY, begin, last, new, f"{other} {sign}", why)


def _of_numbers(parts: _Expressions) -> Iterator[_Small]:
    """One more than a number, or less, half of it, or twice as much; an integer's name in place of an index or an
    argument; and in floating point 0 in place of 1."""
    names = _integers(parts)[:_MOST_FACTORS]
    for at, token in enumerate(parts.tokens):
        if re.fullmatch(r"1\.0*f?", token.text):
            yield parts.changed(_FAR, at, at, token.text.replace("1", "0", 1))
        if token.text.isdecimal() and 0 < at < len(parts.tokens) - 1:
            around = parts.tokens[at - 1].text, parts.tokens[at + 1].text
            for name in names if around in _WHOLE_ARGUMENTS else ():
                yield parts.changed(_FARTHER, at, at, name)
        if token.text.isdecimal():
            own = int(token.text)
            for other in dict.fromkeys((own + 1, own - 1, own // 2, own * 2)):
                if other >= 0 and other != own:
                    yield parts.changed(_FAR, at, at, str(other))


def _of_members(parts: _Expressions) -> Iterator[_Small]:
    """Another component of a vector, or, where there are two, another axis."""
    tokens, axes = parts.tokens, "xy" if _TWO_AXES.search(parts.text) else ""
    for at in range(2, len(tokens)):
        own, first = tokens[at].text, parts.begins(at + 1)
        if len(own) == 1 and own in _COMPONENTS and tokens[at - 1].text == "." and first is not None:
            whole = parts.piece(first, at)
            for other in axes if tokens[at - 2].text.endswith(("Idx", "Dim")) else _COMPONENTS:
                if other != own:
                    yield parts.changed(_FAR, first, at, whole[:-1] + other)


def _of_built_ins(parts: _Expressions) -> Iterator[_Small]:
    """Another built-in variable of the same axis: how many there are in place of which one it is, or a block's number
    in place of a thread's."""
    for at in range(1, len(parts.tokens) - 3):
        own = parts.tokens[at].text
        for other in _BUILT_INS if own in _BUILT_INS and parts.tokens[at + 1].text == "." else ():
            new = f"{other}.{parts.tokens[at + 2].text}"
            compared = [
                parts.piece(max(at - 4, 0), at - 1),
                parts.piece(at + 3, min(at + 6, len(parts.tokens) - 1)),
            ]
            # What is compared with itself tells nothing.
            if other != own and not any(new in beside and re.search("[<>=]", beside) for beside in compared):
                yield parts.changed(_FARTHER, at, at + 2, new)


def _of_shuffles(parts: _Expressions) -> Iterator[_Small]:
    """What a thread has itself in place of what another lane has."""
    for at, token in enumerate(parts.tokens):
        last = parts.ends(at - 1) if token.text.startswith("__shfl_") else None
        if last is not None and (found := _SHUFFLED.fullmatch(parts.piece(at, last))):
            yield parts.changed(
                _FARTHER, at, last, found["own"], why="A shuffle gives what another lane has."
            )


def _of_rows_of_vectors(parts: _Expressions) -> Iterator[_Small]:
    """A row counted in vectors in place of elements."""
    sizes, _ = int_sizes(parts.text)
    widths = dict.fromkeys(_VECTOR.findall(parts.text))
    for at, token in enumerate(parts.tokens[:-1]):
        if token.text in sizes and parts.tokens[at - 1].text == "*":
            for width in widths:
                why = f"A row of {token.text} elements has {token.text} / {width} vectors."
                yield parts.changed(_FAR, at, at, f"({token.text} / {width})", why=why)


def _of_arrays(parts: _Expressions) -> Iterator[_Small]:
    """Another array, and another way in which a shuffle goes."""
    arrays = [*dict.fromkeys((*_ARRAY.findall(parts.text), *shared_arrays(parts.text)))][:_MOST_FACTORS]
    for at, token in enumerate(parts.tokens[:-1]):
        alike = arrays if parts.tokens[at + 1].text == "[" else _SHUFFLES
        for other in alike if token.text in alike else ():
            if other != token.text:
                yield parts.changed(_FARTHER, at, at, other)


def _of_factors(parts: _Expressions) -> Iterator[_Small]:
    """A term of a sum, or what is added, counted in sizes or constants: a row by its length, a step by its width."""
    sizes, _ = int_sizes(parts.text)
    factors = [*constants_of(parts.text), *sizes][:_MOST_FACTORS]
    known, fixed = _integers(parts), _fixed(parts)
    for at, token in enumerate(parts.tokens):
        first, last = parts.begins(at + 1), at
        if first is None or not 0 < first <= last < len(parts.tokens) - 1:
            continue
        of_built_in = parts.tokens[first].text in _BUILT_INS and at == first + 2
        number = token.text.isdecimal() and token.text not in ("0", "1")
        if ((token.text in known or number) and first == at) or of_built_in:
            before, behind = parts.tokens[first - 1].text, parts.tokens[last + 1].text
            in_sum = {"+", "-"} & {before[:1], behind}
            if in_sum and before in _BEFORE_TERM and behind in _BEHIND_TERM:
                own = parts.piece(first, last)
                # A thread whose elements are side by side is right as well, and slower.
                apart = _FAR if "[" in (before, behind) or "]" in (before, behind) else _LAST
                rank = apart if of_built_in else _FARTHER
                far = fixed(own) and _is_bound(parts, first, last)  # as of operators
                for factor in known[:_MOST_NAMES] if number else factors:
                    # As many times all elements is beyond any end: it comes out right by luck, as a bound.
                    beyond = (far and factor in factors) or (own in sizes and factor not in sizes)
                    if factor != own and not beyond:
                        yield parts.changed(rank, first, last, f"{own} * {factor}")


def _fixed(parts: _Expressions) -> Callable[[str], bool]:
    """What tells whether a text is a number, or a constant."""
    constants = constants_of(parts.text)
    return lambda text: text.isdecimal() or text in constants


def _is_bound(parts: _Expressions, first: int, last: int) -> bool:
    """Whether a sum, of which this is a part, is what a comparison has behind its sign."""
    if parts.tokens[first - 1].text in ("+", "-") and (begin := parts.begins(first - 1)) is not None:
        first, _ = parts.operands(first - 1, begin, last)
    return parts.tokens[first - 1].text in _OF_ENDS


def _of_names(parts: _Expressions) -> Iterator[_Small]:
    """Another integer that the text declares."""
    return _exchanged(parts, _integers(parts))


def _integers(parts: _Expressions) -> list[str]:
    """The integers that the text declares."""
    return [*dict.fromkeys(name for pair in _INTEGER.findall(parts.text) for name in pair if name)]


def _exchanged(parts: _Expressions, names: Sequence[str]) -> Iterator[_Small]:
    """One of these names in place of another, that by which something is divided first, and a size by which something
    is multiplied: rows of another matrix."""
    names, (sizes, _) = names[:_MOST_NAMES], int_sizes(parts.text)
    for at, token in enumerate(parts.tokens):
        member = at > 0 and parts.tokens[at - 1].text in _OF
        if token.text in names and not member and not parts.is_declared(at):
            divides = at > 1 and parts.tokens[at - 1].text in ("/", "%")
            of_rows = at > 0 and parts.tokens[at - 1].text == "*" and token.text in sizes
            divided = parts.tokens[at - 2].text if divides else ""  # which by itself is 1
            for other in (each for each in names if each not in (token.text, divided)):
                likely = divides or (of_rows and other in sizes)
                yield parts.changed(_FAR if likely else _LAST, at, at, other)

"""What can be changed in a kernel's code. An operator takes a source and yields edits; `OPERATORS` has them all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from mutation.tokens import Source


@dataclass(frozen=True)
class Edit:
    """A piece of a text, by offsets, and what stands there instead."""

    start: int
    end: int
    text: str

    def applied(self, text: str) -> str:
        """The text with this edit in it."""
        return text[: self.start] + self.text + text[self.end :]


Operator = Callable[[Source], Iterator[Edit]]

_ENDS_OF_TERM = {
    ";",
    ",",
    "?",
    ":",
    "+",
    "-",
    "<",
    ">",
    "<=",
    ">=",
    "==",
    "!=",
    "&&",
    "||",
    "=",
    "+=",
    "<<",
    ">>",
}
_ENDS_OF_GUARD = {";", ",", "?", ":", "&&", "||", "=", "return"}
_GROWS = re.compile(r"blockIdx|gridDim|\b[MNKCHWPQRS]\b")  # a block's number, or a size of the problem
_BARRIERS = ("__syncthreads", "__syncwarp", "__pipeline_wait_prior", "__pipeline_commit")
_FENCES = ("__threadfence", "__threadfence_block")
_SIZES = ("M", "N", "K", "C", "H", "W", "P", "Q", "R", "S")
_SMALLER = {"size_t": "int", "double": "float", "int": "short", "unsigned": "unsigned short", "float": "half"}
_TYPES = ("float", "float2", "float4", "half", "half2", "int", "unsigned", "size_t", "double", "auto", "bool")
_CASTS = ("template", "reinterpret_cast", "static_cast", "const_cast", "fragment")
_RELATIONS = {"<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",), "==": ("!=",), "!=": ("==",)}
_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "^": "|", "&": "|"}
_ASSIGNMENTS = {"+=": ("=", "-="), "=": ("+=",), "*=": ("=",), "/=": ("*=",), "^=": ("|=",)}


def _replaced(source: Source, choices: dict[str, tuple[str, ...]]) -> Iterator[Edit]:
    for token in source.tokens:
        for text in choices.get(token.text, ()) if token.kind != "string" else ():
            yield Edit(token.start, token.end, text)


def _calls(source: Source, names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Statements that are calls of these functions: their first token, and the one behind the semicolon."""
    for index, token in enumerate(source.tokens):
        if token.text in names and source.is_at(index + 1, "("):
            end = source.partner(index + 1) + 1
            if source.is_at(end, ";"):
                yield index, end + 1


def _start(source: Source, index: int) -> int:
    """The first token of the statement, or of the head of a loop, that an assignment stands in."""
    return source.until(index - 1, {";", "{", "}", ")", ","}, -1) + 1


def _assigns(source: Source, index: int) -> bool:
    """Whether the `=` at `index` gives a variable that is there a new value: it may be left out, and add."""
    first = _start(source, index)
    own = source.tokens[first:index]
    declares = any(one.kind == other.kind == "word" for one, other in pairwise(own))
    return bool(own) and own[0].kind == "word" and own[0].text not in _TYPES and not declares


def _without(source: Source, names: tuple[str, ...]) -> Iterator[Edit]:
    for first, end in _calls(source, names):
        yield Edit(*source.span(first, end), ";")


def dropped_barrier(source: Source) -> Iterator[Edit]:
    """__syncthreads(), __syncwarp() and waits for copies, asm statements that wait among them, are left out."""
    yield from _without(source, _BARRIERS)
    for index, token in enumerate(source.tokens):
        if token.text != "asm":
            continue
        end = source.until(index, {";"}) + 1
        if re.search(r"wait|commit|bar\.", source.of(index, end)):
            yield Edit(*source.span(index, end), ";")


def dropped_fence(source: Source) -> Iterator[Edit]:
    """__threadfence() is left out."""
    yield from _without(source, _FENCES)


def dropped_guard(source: Source) -> Iterator[Edit]:
    """A condition that is one of several is left out, and one that stands alone always or never holds."""
    for index, token in enumerate(source.tokens):
        if token.text in ("&&", "||"):
            end = source.until(index + 1, _ENDS_OF_GUARD)
            yield Edit(*source.span(index, end), "")
            first = source.until(index - 1, _ENDS_OF_GUARD, -1) + 1
            yield Edit(*source.span(first, index + 1), "")
        elif token.text == "if" and source.is_at(index + 1, "("):
            inner = source.span(index + 2, source.partner(index + 1))
            yield Edit(*inner, "true")
            yield Edit(*inner, "false")


def negated_condition(source: Source) -> Iterator[Edit]:
    """An `if` takes the other way."""
    for index, token in enumerate(source.tokens):
        if token.text == "if" and source.is_at(index + 1, "("):
            end = source.partner(index + 1)
            yield Edit(*source.span(index + 2, end), f"!({source.of(index + 2, end)})")


def off_by_one(source: Source) -> Iterator[Edit]:
    """A bound that was not reached is, and the other way round."""
    for index, token in enumerate(source.tokens):
        if index and token.kind == "punct" and source.tokens[index - 1].text not in _CASTS:
            for text in _RELATIONS.get(token.text, ()):
                yield Edit(token.start, token.end, text)


def constant(source: Source) -> Iterator[Edit]:
    """A whole number is one more or one less; a 0.0f is 1.0f."""
    for token in source.tokens:
        if token.kind != "number":
            continue
        if re.fullmatch(r"\d+", token.text):
            yield Edit(token.start, token.end, str(int(token.text) + 1))
            if int(token.text):
                yield Edit(token.start, token.end, str(int(token.text) - 1))
        elif re.fullmatch(r"0\.0?f", token.text):
            yield Edit(token.start, token.end, "1.0f")


def wrong_mask(source: Source) -> Iterator[Edit]:
    """A mask of a whole warp loses lanes."""
    for token in source.tokens:
        if token.text.lower().rstrip("u") == "0xffffffff":
            for mask in ("0x0000ffff", "0x7fffffff", "0xfffffffe"):
                yield Edit(token.start, token.end, mask)


def arithmetic(source: Source) -> Iterator[Edit]:
    """One operation is another."""
    yield from _replaced(source, {old: (new,) for old, new in _ARITHMETIC.items()})


def assignment(source: Source) -> Iterator[Edit]:
    """What was added is set, what was set is added."""
    for index, token in enumerate(source.tokens):
        if token.text in _ASSIGNMENTS and _assigns(source, index):
            for text in _ASSIGNMENTS[token.text]:
                yield Edit(token.start, token.end, text)


def smaller_type(source: Source) -> Iterator[Edit]:
    """A type of fewer bits. What counts within a tile fits a short, and so do constants: they stay as they are."""
    for index, token in enumerate(source.tokens):
        grows = _GROWS.search(source.of(index, source.until(index, {";"})))
        local = token.text in ("int", "unsigned") and (source.is_at(index - 1, "constexpr") or not grows)
        if token.text == "long" and source.is_at(index + 1, "long"):
            yield Edit(*source.span(index, index + 2), "int")
        elif token.text in _SMALLER and not local:
            yield Edit(token.start, token.end, _SMALLER[token.text])


def swapped_index(source: Source) -> Iterator[Edit]:
    """[i][j] becomes [j][i]; the x of a thread or block its y, and the other way round."""
    for index, token in enumerate(source.tokens):
        if token.text == "]" and source.is_at(index + 1, "["):
            first, end = source.partner(index), source.partner(index + 1)
            one, other = source.of(first + 1, index), source.of(index + 2, end)
            if one != other:
                yield Edit(*source.span(first, end + 1), f"[{other}][{one}]")
        elif token.text in ("threadIdx", "blockIdx", "blockDim", "gridDim") and source.is_at(index + 1, "."):
            axis = source.tokens[index + 2]
            yield Edit(axis.start, axis.end, "y" if axis.text == "x" else "x")


def wrong_size(source: Source) -> Iterator[Edit]:
    """One size of the problem in the place of another: a wrong stride, or a wrong bound."""
    used = [name for name in _SIZES if any(token.text == name for token in source.tokens)]
    for index, token in enumerate(source.tokens):
        declared = source.is_at(index - 1, "int") or source.is_at(index - 1, "const")
        if token.text in used and len(used) > 1 and not declared:
            yield Edit(token.start, token.end, used[(used.index(token.text) + 1) % len(used)])


def swapped_names(source: Source) -> Iterator[Edit]:
    """A row for a column, A for B, a warp for a lane, and the other way round."""
    for one, other in (
        ("row", "column"),
        ("A", "B"),
        ("a", "b"),
        ("warp", "lane"),
        ("top", "left"),
        ("i", "j"),
    ):
        words = {token.text for token in source.tokens}
        if {one, other} <= words:
            yield from _replaced(source, {one: (other,), other: (one,)})


def dropped_term(source: Source) -> Iterator[Edit]:
    """A term of a sum is left out."""
    for index, token in enumerate(source.tokens):
        if (
            token.text in ("+", "-")
            and index
            and source.tokens[index - 1].text not in (*_ENDS_OF_TERM, "(", "[")
        ):
            yield Edit(*source.span(index, source.until(index + 1, _ENDS_OF_TERM)), "")


def doubled_term(source: Source) -> Iterator[Edit]:
    """What is added is added twice."""
    for index, token in enumerate(source.tokens):
        if token.text == "+=":
            end = source.until(index + 1, {";", ","})
            yield Edit(*source.span(index + 1, end), f"2 * ({source.of(index + 1, end)})")


def dropped_statement(source: Source) -> Iterator[Edit]:
    """A statement that sets or adds is left out."""
    for index, token in enumerate(source.tokens):
        if token.text in ("=", "+=", "*=") and _assigns(source, index):
            end = source.until(index, {";"})
            if source.is_at(end, ";"):
                yield Edit(*source.span(_start(source, index), end), "")


def left_out_jump(source: Source) -> Iterator[Edit]:
    """A return, break or continue is left out; a step of one becomes two."""
    for index, token in enumerate(source.tokens):
        if token.text in ("return", "break", "continue") and source.is_at(index + 1, ";"):
            yield Edit(token.start, token.end, "")
        elif token.text == "++" and source.tokens[index + 1].kind == "word":
            yield Edit(*source.span(index, index + 2), f"{source.tokens[index + 1].text} += 2")


def plain_for_atomic(source: Source) -> Iterator[Edit]:
    """An atomicAdd() is a load, an addition and a store; `volatile` is forgotten, and L2 is not asked."""
    for first, _ in _calls(source, ("atomicAdd",)):
        comma = source.until(first + 2, {","})
        end = source.partner(first + 1)
        yield Edit(
            *source.span(first, end + 1), f"*({source.of(first + 2, comma)}) += {source.of(comma + 1, end)}"
        )
    yield from _replaced(source, {"volatile": ("",), "__ldcg": ("__ldg",)})


def is_no_mutant(source: Source, edit: Edit) -> bool:
    """Whether an edit changes what only the compiler reads: an assertion, a pointer's star, brackets of a template, a
    pointer in the place of a size, or the `volatile` of an asm statement."""
    index = next(i for i, token in enumerate(source.tokens) if token.end > edit.start)
    token, before = source.tokens[index], source.tokens[max(index - 1, 0)]
    opened = source.until(index - 1, set(), -1) if index else -1
    while opened > 0 and not source.is_at(opened - 1, "static_assert"):
        opened = source.until(opened - 1, set(), -1)
    if opened > 0 or (before.text, token.text) == ("asm", "volatile"):
        return True
    if token.text == "*" and edit.text == "+":
        return before.text in (*_TYPES, "uint4") and source.tokens[index + 1].text != "("
    if edit.text == ">=":
        return before.text == "*" or (source.is_at(index - 2, "<") and before.kind == "word")
    if edit.text not in _SIZES:
        return False
    pointer = rf"(?:float|half)\* (?:__restrict__ )?(?:{edit.text}|{re.escape(token.text)})\b"
    return re.search(pointer, source.text) is not None


OPERATORS: dict[str, Operator] = {
    operator.__name__.replace("_", " "): operator
    for operator in (
        dropped_barrier,
        dropped_fence,
        dropped_guard,
        negated_condition,
        off_by_one,
        constant,
        wrong_mask,
        arithmetic,
        assignment,
        smaller_type,
        swapped_index,
        wrong_size,
        swapped_names,
        dropped_term,
        doubled_term,
        dropped_statement,
        left_out_jump,
        plain_for_atomic,
    )
}

"""Arithmetic over named numbers, as written in launch blocks and claims: parsed, never `eval`ed.

    cdiv(N, BN)        2*BM*BK*4        N % 4 == 0 and M > 1
    l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum <= 1.1 * M * N / 8

Numbers, names (dotted ones too), `+ - * / // %`, comparisons, `and`, `or`, `not`, and the functions
`cdiv`, `min`, `max`.
"""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TypeAlias

Number = int | float
_Meaning: TypeAlias = "Callable[[Mapping[str, Number]], Number]"

_LONGEST = 500  # characters; bounds the work that a stranger's launch block can ask for

_DIGITS = 30
_LARGEST = 10**_DIGITS


def cdiv(dividend: Number, divisor: Number) -> Number:
    """The quotient rounded up: how many tiles of `divisor` cover `dividend`."""
    return -(-dividend // divisor)


FUNCTIONS: dict[str, Callable[..., Number]] = {"cdiv": cdiv, "min": min, "max": max}

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class ExpressionError(ValueError):
    """An expression that is malformed, names something unknown, or has no value; the text says what helps."""


@dataclass(frozen=True)
class Compared:
    """Two expressions that are compared, and whether the comparison is true of their values."""

    left: Expression
    right: Expression
    text: str
    holds: Callable[[Number, Number], bool]


@dataclass(frozen=True)
class Expression:
    """A parsed expression. Two are equal when their texts are."""

    text: str

    @cached_property
    def _tree(self) -> ast.expr:
        return _parse(self.text)

    @cached_property
    def _meaning(self) -> _Meaning:
        return _meaning(self._tree)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names it needs a value for; a dotted one, such as `dram__bytes.sum`, is one name."""
        return frozenset(_names(self._tree))

    @cached_property
    def is_condition(self) -> bool:
        """Whether its value is true or false, rather than a number."""
        tree = self._tree
        negated = isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
        return negated or isinstance(tree, ast.Compare | ast.BoolOp)

    @cached_property
    def subject(self) -> Expression | None:
        """The left side of the comparison that is written first: in a claim, the quantity that is bounded."""
        comparisons = [node for node in ast.walk(self._tree) if isinstance(node, ast.Compare)]
        if not comparisons:
            return None
        return Expression(ast.unparse(min(comparisons, key=lambda node: node.col_offset).left))

    @cached_property
    def comparisons(self) -> tuple[Compared, ...]:
        """All that stand in it, in pairs."""
        found = []
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Compare):
                sides = [Expression(ast.unparse(side)) for side in (node.left, *node.comparators)]
                found += [
                    Compared(left, right, ast.unparse(node), _COMPARISONS[type(op)])
                    for op, left, right in zip(node.ops, sides, sides[1:], strict=False)
                ]
        return tuple(found)

    def evaluate(self, values: Mapping[str, Number]) -> Number:
        """The value under `values`; a condition gives a bool. Raises ExpressionError."""
        try:
            return self._meaning(values)
        except ZeroDivisionError:
            raise ExpressionError(f"`{self.text}` divides by zero") from None
        except (OverflowError, TypeError, ValueError, RecursionError) as error:
            raise ExpressionError(f"`{self.text}` has no value: {error}") from None

    @property
    def _rounded_up(self) -> str:
        """The cdiv in place of a quotient."""
        quotient = _quotient(self._tree)
        return f"cdiv({quotient[0]}, {ast.unparse(quotient[1])})" if quotient else "cdiv(a, b)"

    def whole(self, values: Mapping[str, Number]) -> int:
        """The value, which must be an integer: a grid or a size in bytes. Raises ExpressionError."""
        value = self.evaluate(values)
        if isinstance(value, int) and abs(value) >= _LARGEST:
            raise ExpressionError(f"`{self.text}` has more than {_DIGITS} digits, no size does")
        if isinstance(value, bool) or not isinstance(value, int):
            raise ExpressionError(
                f"`{self.text}` is {value}, not an integer: `/` gives a fraction, "
                f"{self._rounded_up} rounds up and `//` rounds down"
            )
        return value


@lru_cache(maxsize=4096)  # a few hundred stand in all topics together, thousands of times
def parse(value: str | int) -> Expression:
    """An expression from a string, or from an integer written without quotes. Raises ExpressionError."""
    expression = Expression(str(value).strip())
    _check(expression._tree)
    return expression


def nearest(name: str, known: Iterable[str]) -> str:
    """ ", did you mean X?" where `known` holds something close to `name`, else ""."""
    close = difflib.get_close_matches(name, known, n=1)
    return f", did you mean `{close[0]}`?" if close else ""


def _parse(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise ExpressionError(f"an expression of {len(text)} characters; at most {_LONGEST} are read")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        hint = " (write `and`, `or`, `not`)" if any(sign in text for sign in ("&&", "||", "!")) else ""
        raise ExpressionError(f"`{text}` is not an expression{hint}") from None


def _check(tree: ast.expr) -> None:
    """Raise ExpressionError for anything outside the language."""
    match tree:
        case ast.Constant(value=value) if type(value) in (int, float):
            return
        case ast.Name() | ast.Attribute():
            _dotted(tree)
        case ast.BinOp(op=op) if type(op) in _BINARY:
            _check(tree.left)
            _check(tree.right)
        case ast.UnaryOp(op=unary) if type(unary) in _UNARY:
            _check(tree.operand)
        case ast.BoolOp():
            for operand in tree.values:
                _check(operand)
        case ast.Compare() if all(type(op) in _COMPARISONS for op in tree.ops):
            for operand in (tree.left, *tree.comparators):
                _check(operand)
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            _check_call(name, tree.args)
        case _:
            raise ExpressionError(
                f"`{ast.unparse(tree)}` is not allowed: use numbers, names, + - * / // %, comparisons, "
                "and, or, not, cdiv, min, max"
            )


def _check_call(name: str, arguments: list[ast.expr]) -> None:
    if name not in FUNCTIONS:
        raise ExpressionError(f"no function `{name}`; there are cdiv, min and max")
    if len(arguments) < 2 or (name == "cdiv" and len(arguments) != 2):
        raise ExpressionError(f"`{name}` with {len(arguments)} arguments: write {name}(a, b)")
    for argument in arguments:
        _check(argument)


def _dotted(tree: ast.expr) -> str:
    if isinstance(tree, ast.Name):
        return tree.id
    if isinstance(tree, ast.Attribute):
        return f"{_dotted(tree.value)}.{tree.attr}"
    raise ExpressionError(f"`{ast.unparse(tree)}` is not a name")


def _names(tree: ast.expr) -> Iterable[str]:
    if isinstance(tree, ast.Name | ast.Attribute):
        yield _dotted(tree)
        return
    operands = tree.args if isinstance(tree, ast.Call) else ast.iter_child_nodes(tree)
    for operand in operands:
        if isinstance(operand, ast.expr):
            yield from _names(operand)


def _meaning(tree: ast.expr) -> _Meaning:
    """What gives the value of a tree that is looked at once: launch blocks are evaluated for thousands of problems."""
    match tree:
        case ast.Constant(value=int() | float() as number):
            return lambda _: number
        case ast.Name() | ast.Attribute():
            return partial(_look_up, _dotted(tree))
        case ast.BinOp():
            combine, left, right = _BINARY[type(tree.op)], _meaning(tree.left), _meaning(tree.right)
            return lambda values: combine(left(values), right(values))
        case ast.UnaryOp():
            change, operand = _UNARY[type(tree.op)], _meaning(tree.operand)
            return lambda values: change(operand(values))
        case ast.BoolOp():
            of_all, parts = all if isinstance(tree.op, ast.And) else any, [*map(_meaning, tree.values)]
            return lambda values: of_all(part(values) for part in parts)
        case ast.Compare():
            holds = [_COMPARISONS[type(op)] for op in tree.ops]
            sides = [*map(_meaning, (tree.left, *tree.comparators))]

            def compared(values: Mapping[str, Number]) -> bool:
                found = [side(values) for side in sides]
                return all(
                    each(one, other) for each, one, other in zip(holds, found, found[1:], strict=False)
                )

            return compared
        case ast.Call(func=ast.Name(id=name)):
            function, arguments = FUNCTIONS[name], [*map(_meaning, tree.args)]
            return lambda values: function(*[argument(values) for argument in arguments])
    raise ExpressionError(f"`{ast.unparse(tree)}` is not allowed")


def _quotient(tree: ast.expr) -> tuple[str, ast.expr] | None:
    """What is divided, and by what; None of what is no quotient. What has an integer's division round up, as in
    (N + BLOCK - 1) / BLOCK, is left out, and of a quotient that is divided again, both divide."""
    if not (isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div)):
        return None
    if inner := _quotient(tree.left):
        return inner[0], ast.BinOp(inner[1], ast.Mult(), tree.right)
    by, terms = ast.unparse(tree.right), list(_terms(tree.left))
    for added in ([f"+ {by}", "- 1"], [f"+ {int(by) - 1}"] if by.isdecimal() else []):
        if added and set(added) < set(terms):
            for term in added:
                terms.remove(term)
            return " ".join(terms).removeprefix("+ "), tree.right
    return ast.unparse(tree.left), tree.right


def _terms(tree: ast.expr, sign: str = "+") -> Iterator[str]:
    """What is added up, each with its sign."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub):
        yield from _terms(tree.left, sign)
        other = "-" if sign == "+" else "+"
        yield from _terms(tree.right, sign if isinstance(tree.op, ast.Add) else other)
    else:
        yield f"{sign} {ast.unparse(tree)}"


def _look_up(name: str, values: Mapping[str, Number]) -> Number:
    if name not in values:
        raise ExpressionError(f"`{name}` has no value here{nearest(name, values)}")
    return values[name]

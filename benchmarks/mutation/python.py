"""What one can change in a Python program within one line: see benchmarks/faults.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator

OTHER_WAY = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def changes(node: ast.AST, returns: str = "") -> Iterator[tuple[ast.expr, str]]:
    """Every part of a program that can be changed, and what to write there; `returns` is the function's type."""
    match node:
        case ast.JoinedStr():  # Python 3.11 does not know where its parts are
            return
        case ast.If(test=test) if names_in(test) & {"TYPE_CHECKING", "__name__"}:
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            returns = ast.unparse(node.returns) if node.returns else ""
    yield from _changed_itself(node, returns)
    for name, content in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for child in content if isinstance(content, list) else [content]:
                if isinstance(child, ast.AST):
                    yield from changes(child, returns)


def _changed_itself(node: ast.AST, returns: str) -> Iterator[tuple[ast.expr, str]]:
    match node:
        case ast.Compare():
            for i, operator in enumerate(node.ops):
                ops = [*node.ops[:i], OTHER_WAY[type(operator)](), *node.ops[i + 1 :]]
                yield node, ast.unparse(ast.Compare(node.left, ops, node.comparators))
        case ast.BoolOp():
            yield node, ast.unparse(ast.BoolOp(OTHER_WAY[type(node.op)](), node.values))
        case ast.Constant(value=bool() | int() as value):
            yield node, str(not value if isinstance(value, bool) else value + 1)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield test, f"not ({ast.unparse(test)})"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            other = {"bool": f"not ({ast.unparse(value)})", "int": f"({ast.unparse(value)}) + 1"}
            yield value, other.get(returns, "None")


def names_in(node: ast.AST) -> set[str]:
    """The variables that an expression reads."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}

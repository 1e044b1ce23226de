"""What can be changed in a schedule: Python, by its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from mutation.operators import Edit

_ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Mod: "//", ast.LShift: ">>"}
_WAITS = ("synchronize", "wait_for_event", "record")
_PAIRS = (
    ("device_in", "device_out"), ("source", "target"), ("copy_in", "compute"), ("compute", "copy_out"),
    ("device_x", "device_y"), ("device_a", "device_x"), ("A", "B"), ("B", "C"), ("x", "y"), ("first", "count"),
    ("filled", "computed"), ("computed", "emptied"), ("stream", "streams"),
)  # fmt: skip

Spans = Callable[[ast.AST], tuple[int, int]]


def edits(text: str) -> Iterator[tuple[str, Edit]]:
    """Each change, with the name of its operator."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    if not text.isascii():  # offsets of the tree count bytes, those of an edit characters
        starts = [len(text.encode()[:start].decode()) for start in starts]

    def span(node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    for node in ast.walk(ast.parse(text)):
        yield from _statements(node, span)
        yield from _expressions(node, span, text)


def _statements(node: ast.AST, span: Spans) -> Iterator[tuple[str, Edit]]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        waits = isinstance(node.value.func, ast.Attribute) and node.value.func.attr in _WAITS
        yield "dropped wait" if waits else "dropped call", Edit(*span(node), "pass")
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        yield "dropped statement", Edit(*span(node), "pass")
    elif isinstance(node, ast.If):
        yield "dropped guard", Edit(*span(node.test), "True")
        yield "dropped guard", Edit(*span(node.test), "False")


def _expressions(node: ast.AST, span: Spans, text: str) -> Iterator[tuple[str, Edit]]:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "constant", Edit(*span(node), str(node.value + 1))
        if node.value:
            yield "constant", Edit(*span(node), str(node.value - 1))
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        gap = span(node.left)[1], span(node.right)[0]
        yield "arithmetic", Edit(*gap, f" {_ARITHMETIC[type(node.op)]} ")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "arithmetic", Edit(*span(node), text[slice(*span(node.operand))])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "min":
        yield "arithmetic", Edit(*span(node.func), "max")
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield from _names(node, span)


def _names(node: ast.Name | ast.Attribute, span: Spans) -> Iterator[tuple[str, Edit]]:
    _, end = span(node)
    name = node.id if isinstance(node, ast.Name) else node.attr
    for pair in _PAIRS:
        if name in pair:
            yield "swapped names", Edit(end - len(name), end, pair[1 - pair.index(name)])

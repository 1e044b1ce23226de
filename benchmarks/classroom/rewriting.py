"""A source by other names: a new file to every cache, with the mark of the old one."""

from __future__ import annotations

import ast
import builtins
import keyword
import random
import re
from collections.abc import Collection

_PIECES = re.compile(r'(//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')', re.DOTALL)
"""Comments and strings, between which there is code."""
_LAUNCH = re.compile(r"// /// launch\n.*?// ///\n", re.DOTALL)
_DECLARED = re.compile(
    r"\b(?:void|bool|char|short|int|long|unsigned|float|double|auto|const|size_t|half2?|float[234]|u?int[234]"
    r"|__restrict__)\b[\s*&]+(?P<name>[A-Za-z_]\w*)\s*(?=[=;,:)(\[{])"
)
_ELSEWHERE = re.compile(r"(?:\.|->|::)\s*(?:template\s+)?([A-Za-z_]\w*)")
"""Names of members and of namespaces: what they belong to may be CUDA's."""
_OF_CUDA = {
    "alignas", "auto", "bool", "char", "const", "constexpr", "double", "float", "float2", "float4", "half", "half2",
    "int", "int2", "int4", "long", "main", "operator", "printf", "restrict", "short", "signed", "sizeof", "static",
    "uint2", "uint4", "unsigned", "void", "volatile",
}  # fmt: skip
_OF_LAUNCH = {
    "args", "block", "cdiv", "cluster", "constant", "cooperative", "dtype", "grid", "kernel", "launch", "max",
    "min", "name", "scratch", "shape", "shared", "when", "zero", "and", "or", "not", "SMS",
}  # fmt: skip
"""What the launch block calls by the same names."""
_WORDS = (
    "amount",
    "area",
    "band",
    "cell",
    "edge",
    "first",
    "lot",
    "mark",
    "part",
    "place",
    "share",
    "spot",
    "step",
)


def by_other_names(suffix: str, text: str, draw: random.Random, keep: Collection[str] = ()) -> str:
    """The same program with its own names exchanged, and a new comment; names in `keep` stay.

    `suffix`: .cu or .py. Of Python, comments and layout are lost.
    """
    if suffix == ".py":
        return _schedule(text, draw, keep)
    code = "".join(_PIECES.split(text)[::2])
    own = {found["name"] for found in _DECLARED.finditer(code)}
    own -= {*keep, *_OF_CUDA, *_OF_LAUNCH, *_ELSEWHERE.findall(code)}
    names = {name: _new(draw) for name in sorted(own) if not name.startswith("__")}
    launch = _LAUNCH.search(text)
    head, block, body = ("", "", text)
    if launch:
        head, block, body = text[: launch.start()], launch[0], text[launch.end() :]
    parts = _PIECES.split(body)
    parts[::2] = [_exchanged(part, names) for part in parts[::2]]
    return f"{head}{_exchanged(block, names)}// {_new(draw)}\n{''.join(parts)}"


def _new(draw: random.Random) -> str:
    return f"{draw.choice(_WORDS)}_{draw.randrange(16**6):06x}"


def _exchanged(text: str, names: dict[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word[0], word[0]), text)


def _schedule(text: str, draw: random.Random, keep: Collection[str]) -> str:
    tree = ast.parse(text)
    stored = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    fixed = {*keep, *dir(builtins), *keyword.kwlist}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            fixed.add(node.arg)  # it may be given by its name
        elif isinstance(node, ast.Global | ast.Nonlocal):
            fixed.update(node.names)
        elif isinstance(node, ast.ClassDef):
            fixed.update(name.id for part in node.body for name in ast.walk(part) if _is_field(part, name))
    names = {name: _new(draw) for name in sorted(stored - fixed)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]
    return f"{ast.unparse(tree)}\n# {_new(draw)}\n"


def _is_field(part: ast.stmt, name: ast.AST) -> bool:
    """Whether a name is assigned in the body of a class: it is an attribute."""
    return isinstance(part, ast.Assign | ast.AnnAssign) and isinstance(name, ast.Name)

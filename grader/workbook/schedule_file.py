"""A schedule: host code that moves data and launches a topic's kernel, a rung or a submission in Python.

    \"\"\"The idea, in prose.\"\"\"
    # /// schedule
    # side_step = true
    # ///
    import pycuda.driver as cuda

    class Schedule:
        def __init__(self, process, source, target, N): ...  # memory, streams, events, graphs
        def run(self): ...                                   # what is timed

`__init__` takes the topic's kernel and then the signature's parameters: a host array for each pointer, an int for
each size. The block of comments is optional.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from grader.errors import WarpladderError
from grader.workbook.signature import Signature
from grader.workbook.source_file import SourceFile, read_source
from grader.workbook.strict_toml import read

CLASS = "Schedule"

_OPENING, _CLOSING = "# /// schedule", "# ///"


@dataclass(frozen=True, kw_only=True)
class ScheduleFile(SourceFile):
    """A .py file with a class Schedule."""


def skeleton(signature: Signature) -> str:
    """The least that a schedule has to define."""
    names = ", ".join(["process", *(item.name for item in signature.params)])
    return f"      class {CLASS}:\n          def __init__(self, {names}): …\n          def run(self): …"


def parse_schedule(path: Path, signature: Signature) -> ScheduleFile:
    """Read a schedule's file; raises WarpladderError naming file and line."""
    source = read_source(path, "a .py file")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        said = error.msg if isinstance(error, SyntaxError) else str(error) or "it is nested too deeply"
        remedy = None if path.suffix == ".py" else "a schedule is host code, a .py file"
        raise WarpladderError(f"this is not Python: {said}", file=path, line=line, remedy=remedy) from None
    _check(tree, path, signature)
    idea = " \n".join(line.strip() for line in (ast.get_docstring(tree) or "").splitlines())
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", idea)]
    return ScheduleFile(
        path=path,
        idea="\n\n".join(paragraphs),
        source=source,
        signature=signature,
        side_step=_side_step(source.splitlines(), path),
    )


def _check(tree: ast.Module, path: Path, signature: Signature) -> None:
    """The class is there, with its two methods."""
    remedy = f"write\n{skeleton(signature)}"
    for item in tree.body:
        if isinstance(item, ast.ClassDef) and item.name == CLASS:
            methods = {each.name: each for each in item.body if isinstance(each, ast.FunctionDef)}
            for name, given in (("__init__", 2 + len(signature.params)), ("run", 1)):
                if name not in methods:
                    message = f"class {CLASS} has no method `{name}`"
                    raise WarpladderError(message, file=path, line=item.lineno, remedy=remedy)
                if not _takes(methods[name].args, given):
                    more = f"and {given - 1} more arguments" if given > 1 else "alone"
                    message = f"`{name}` has to take self {more}"
                    raise WarpladderError(message, file=path, line=methods[name].lineno, remedy=remedy)
            return
    raise WarpladderError(f"there is no class {CLASS}", file=path, line=1, remedy=remedy)


def _takes(declared: ast.arguments, given: int) -> bool:
    """Whether a function can be called with so many arguments, none of them by name."""
    places = len(declared.posonlyargs) + len(declared.args)
    by_name = [default for default in declared.kw_defaults if default is None]
    fits = given <= places or declared.vararg is not None
    return fits and places - len(declared.defaults) <= given and not by_name


def _side_step(lines: list[str], path: Path) -> bool:
    if _OPENING not in lines:
        return False
    opening = lines.index(_OPENING)
    for number in range(opening + 1, len(lines)):
        if lines[number] == _CLOSING:
            toml = [line.removeprefix("#").strip() for line in lines[opening + 1 : number]]
            block = read(toml, path, first_line=opening + 2)
            block.allow("side_step")
            return block.get("side_step", bool, False)
        if not lines[number].startswith("#"):
            break
    raise WarpladderError(
        "the schedule block is not closed", file=path, line=opening + 1, remedy=f"end it with `{_CLOSING}`"
    )

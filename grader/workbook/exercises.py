"""The small exercises: one idea each, found by folder name, declared once in `lessons/exercises/<name>/exercise.toml`.

An exercise is a topic whose ladder has one rung, the solution. What its task asks for beside right numbers, such as a
single load, are claims, as of topics: then whatever is right is a rung below. What a topic has besides, such as main
sizes or a tolerance, has its usual values here.

`solution.cu` is a kernel file in which marks, as nbgrader has them, enclose the lines that a learner writes:

    // BEGIN SOLUTION
    y[i] = x[i] + 10;
    // STARTER: // TODO: which element is this thread's?
    // STARTER: y[0] = x[0] + 10;
    // END SOLUTION

The starter has the lines behind `STARTER:` in their place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from grader.errors import WarpladderError
from grader.workbook.content import content_root
from grader.workbook.expressions import Number, parse
from grader.workbook.kernel_file import KernelFile, parse_kernel_file, parse_source
from grader.workbook.ladder import NAIVE, ClaimSpec, Ladder, Rung, read_claim
from grader.workbook.reference import Arrays, Inputs, Problem, Reference, Tolerance, load_module
from grader.workbook.signature import Signature, read_problem, read_signature
from grader.workbook.source_file import read_source
from grader.workbook.strict_toml import Table, read
from grader.workbook.topic import KernelTopic, Topic

FOLDER, DECLARED = "exercises", "exercise.toml"
FILES = (DECLARED, "reference.py", "solution.cu")

RIGHT, SOLUTION = "right", "solution"
"""The rungs. What is right is the solution, unless the task asks for more."""

HINTS = 3
"""From the concept to the line."""

DRAWN = 2
"""Cases of sizes that each grade draws, between the smallest and the largest that the exercise lists."""

_KEYS = ("title", "order", "before", "prepares", "idea", "task", "hints", "signature", "sizes", "claim")
_POINTS = 1
_SMALLEST_ARCH = "sm_75"
_BEGIN, _END = "// BEGIN SOLUTION", "// END SOLUTION"
_STARTER = re.compile(r"(\s*)// STARTER:(?: (.*))?")


@dataclass(frozen=True, kw_only=True)
class Exercise(KernelTopic):
    """One small exercise."""

    before: str  # the topic that it prepares
    prepares: str  # the rung of it whose idea it has
    idea: str  # what there is to know, in Markdown
    task: str  # what there is to do, in Markdown

    @property
    def file(self) -> Path:
        return self.folder / DECLARED

    @property
    def solution(self) -> Path:
        """The right kernel, with the marks."""
        return self.folder / "solution.cu"

    @property
    def solution_text(self) -> str:
        """The right kernel, as a learner reads it."""
        return self.ladder[SOLUTION].source

    @cached_property
    def starter_text(self) -> str:
        return parted(read_source(self.solution, "a .cu source file"), self.solution)[0]

    @cached_property
    def given(self) -> frozenset[str]:
        """The lines that starter and solution have, without their indents."""
        starter, solution = (
            {line.strip() for line in text.splitlines()} for text in (self.starter_text, self.solution_text)
        )
        return frozenset(starter & solution)

    @cached_property
    def reference(self) -> Reference:
        module = load_module(self.folder / "reference.py", self.name, ("reference",))
        return SmallNumbers(module, self.signature)

    @cached_property
    def rounds(self) -> bool:
        return False  # inputs are small integers

    def parse(self, file: Path) -> KernelFile:
        return replace(parse_kernel_file(file, self.signature, self.solution), given=self.given)


class SmallNumbers:
    """What a topic's reference.py defines, from the few functions of an exercise's."""

    def __init__(self, module: object, signature: Signature) -> None:
        self._compute = cast(Callable[[Inputs, Problem], Arrays], module.reference)  # type: ignore[attr-defined]
        self._shapes = getattr(module, "shapes", None)
        self._make_inputs = getattr(module, "make_inputs", None)
        self._signature = signature

    def make_inputs(
        self, problem: Problem, rng: np.random.Generator, kind: Literal["exact", "real"]
    ) -> Arrays:
        """Numbers from 1 on, no two alike, in an order that is drawn; what the exercise makes, where it makes them."""
        if self._make_inputs is not None:
            return cast(Arrays, self._make_inputs(problem, rng))
        shapes = self.shapes(problem)
        total = sum(map(math.prod, shapes.values()))
        numbers = iter(rng.permutation(2 * total) + 1)
        return {
            item.name: np.array([next(numbers) for _ in range(math.prod(shapes[item.name]))], item.dtype)
            .reshape(shapes[item.name])
            for item in self._signature.inputs
        }  # fmt: skip

    def shapes(self, problem: Problem) -> Mapping[str, tuple[int, ...]]:
        """Of the inputs: all sizes in the order of the signature, unless the exercise says otherwise."""
        if self._shapes is not None:
            return cast(Mapping[str, tuple[int, ...]], self._shapes(problem))
        sides = tuple(int(problem[item.name]) for item in self._signature.sizes)
        return {item.name: sides for item in self._signature.inputs}

    def reference(self, inputs: Inputs, problem: Problem) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
        """In double precision, whatever the exercise computes with."""
        return {name: np.asarray(made, np.float64) for name, made in self._compute(inputs, problem).items()}

    def magnitude(self, inputs: Inputs, problem: Problem) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
        """Nothing is rounded."""
        return {name: np.abs(made) for name, made in self.reference(inputs, problem).items()}

    def min_flop(self, problem: Problem) -> int:
        """Time plays no part."""
        return 0

    def min_bytes(self, problem: Problem) -> int:
        """All arrays."""
        inputs = self.make_inputs(problem, np.random.default_rng(0), "exact")
        arrays = {**inputs, **self.reference(inputs, problem)}
        return sum(array.size * self._signature[name].dtype.itemsize for name, array in arrays.items())


def names(root: Path | None = None) -> list[str]:
    """The folders that declare an exercise."""
    lessons = (root or content_root()) / "lessons"
    return sorted(path.parent.name for path in (lessons / FOLDER).glob(f"*/{DECLARED}"))


def discover(root: Path | None = None) -> dict[str, Exercise]:
    """All of them by name, in their order; raises WarpladderError for a broken one."""
    found = [load(name, root) for name in names(root)]
    return {each.name: each for each in sorted(found, key=lambda each: (each.order, each.name))}


def with_ladders(exercises: Mapping[str, Exercise], topics: Mapping[str, Topic]) -> dict[str, Topic]:
    """Both in the order of study: an exercise before the ladder that it prepares."""
    found: dict[str, Topic] = {}
    for topic in topics.values():
        found |= {each.name: each for each in exercises.values() if each.before == topic.name}
        found[topic.name] = topic
    return found


def load(name: str, root: Path | None = None) -> Exercise:
    """The exercise called `name`, which is there; raises WarpladderError for a broken one."""
    folder = (root or content_root()) / "lessons" / FOLDER / name
    path = folder / DECLARED
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    table.allow(*_KEYS)
    signature = read_signature(table)
    sizes = _sizes(table, signature)
    largest = max(sizes, key=lambda problem: math.prod(problem.values()))
    outputs = [item.name for item in signature.outputs]
    solution = folder / "solution.cu"
    return Exercise(
        name=name,
        title=table.get("title", str),
        order=table.get("order", int),
        before=table.get("before", str),
        prepares=table.get("prepares", str, NAIVE),
        idea=table.get("idea", str).strip(),
        task=table.get("task", str).strip(),
        readable=sizes[0],
        hints=_hints(table),
        signature=signature,
        smallest_arch=_SMALLEST_ARCH,
        library=None,
        sizes_main=largest,
        sizes_count=largest,
        judge_cases=sizes,
        sampled_cases=(),
        from_zero=(),
        drawn_cases=(_between(sizes),) * DRAWN,
        parts=None,
        tolerance=Tolerance(
            lambda_=1.0,
            terms=dict.fromkeys(outputs, parse(1)),
            unit=dict.fromkeys(outputs, "float32"),
            exact=dict.fromkeys(outputs, 0.0),
            yardstick=None,
        ),
        ladder=_ladder(name, solution, signature, table.tables("claim")),
        folder=folder,
    )


def _sizes(table: Table, signature: Signature) -> tuple[dict[str, Number], ...]:
    """The problems that it is judged at."""
    if signature.values:
        message = f"`{signature.values[0].name}` is a float, and exercises have sizes alone"
        raise table.error(message, "signature", "write it into the kernel")
    if not table.get("sizes", list):
        raise table.error("`sizes` has no cases", "sizes", "list a few that can be read, the smallest first")
    return tuple(read_problem(table, "sizes", given, signature) for given in table.get("sizes", list))


def _between(sizes: tuple[dict[str, Number], ...]) -> dict[str, tuple[int, int]]:
    """The smallest and the largest of each size."""
    each = {name: [int(problem[name]) for problem in sizes] for name in sizes[0]}
    return {name: (min(found), max(found)) for name, found in each.items()}


def _hints(table: Table) -> tuple[str, ...]:
    found = table.names("hints")
    if len(found) != HINTS or not all(map(str.strip, found)):
        remedy = "say the concept, then where it comes in, then the line"
        raise table.error(f"`hints` holds {len(found)} hints, not {HINTS}", "hints", remedy)
    return tuple(map(str.strip, found))


def _ladder(name: str, solution: Path, signature: Signature, asked: Sequence[Table]) -> Ladder[KernelFile]:
    """The solution without its marks, which is right, and does what the task asks for besides."""
    text = parted(read_source(solution, "a .cu source file"), solution)[1]
    file = parse_source(text, signature, solution)
    claims = tuple(map(_claim, asked))
    ids = (RIGHT, SOLUTION) if claims else (SOLUTION,)
    right = ClaimSpec(ids[0], "right at every size", None, _POINTS, 1)
    return Ladder(name, tuple(Rung(rung, file) for rung in ids), (right, *claims))


def _claim(table: Table) -> ClaimSpec:
    table.allow("text", "expect", "per", "unit")
    claim = read_claim(table, SOLUTION, _POINTS)
    if claim.expect is None:
        raise table.error("the claim compares nothing", remedy='say what is counted: expect = "… <= …"')
    return claim


def parted(text: str, path: Path) -> tuple[str, str]:
    """The starter and the solution, of a text that has the marks of both. Raises WarpladderError."""
    starter: list[str] = []
    solution: list[str] = []
    begun, replaced = 0, False  # the line of the mark, and whether anything stands in its place
    remedy = f"write `{_BEGIN}`, the solution's lines, `// STARTER: …`, `{_END}`"

    def wrong(message: str, line: int) -> WarpladderError:
        return WarpladderError(message, file=path, line=line, remedy=remedy)

    for number, line in enumerate(text.splitlines(), 1):
        mark = line.strip()
        if mark == _BEGIN:
            if begun:
                raise wrong(f"the solution of line {begun} has no end", number)
            begun, replaced = number, False
        elif mark == _END:
            if not (begun and replaced):
                raise wrong("nothing stands here in the starter" if begun else "no solution begins", number)
            begun = 0
        elif instead := _STARTER.fullmatch(line):
            if not begun:
                raise wrong("this line of the starter is outside a solution", number)
            starter.append(f"{instead[1]}{instead[2]}" if instead[2] else "")
            replaced = True
        else:
            solution.append(line)
            if not begun:
                starter.append(line)
    if begun:
        raise wrong("the solution has no end", begun)
    if starter == solution:
        raise wrong("no lines are marked for a learner to write", 1)
    return "\n".join(starter) + "\n", "\n".join(solution) + "\n"

"""Exercises that are whole programs: found by folder name, declared once in `lessons/programs/<name>/program.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

from grader.errors import WarpladderError
from grader.workbook.content import content_root
from grader.workbook.strict_toml import read

if TYPE_CHECKING:
    from grader.workbook.reference import Problem

FOLDER, DECLARED = "programs", "program.toml"
FILES = (DECLARED, "reference.py", "starter.cu", "answer.cu")
_KEYS = ("title", "arguments", "elements", "kernel", "points", "prints")
_FUNCTIONS = ("runs", "printed", "mistakes")

Printed = Mapping[str, float]
"""What a program prints: numbers, each on a line of its own after its word."""


class Reference(Protocol):
    """What a program's reference.py defines."""

    def runs(self, rng: Random) -> list[dict[str, int]]:
        """The arguments of each run, by name; the first run is one that most mistakes show in."""

    def printed(self, problem: Problem) -> Printed:
        """What has to be printed; what nobody can know before, such as times, is left out."""

    def mistakes(self, problem: Problem) -> Iterable[tuple[Printed, str, str]]:
        """What is printed after a mistake, what that mistake is, and what mends it."""


@dataclass(frozen=True)
class Program:
    """One exercise."""

    writes: ClassVar = "program"  # what a learner writes
    language: ClassVar = "CUDA C++"
    suffix: ClassVar = ".cu"

    name: str
    title: str
    arguments: tuple[str, ...]  # whole numbers, as the program takes them
    elements: str  # the argument that says how many elements there are, each a thread's
    kernel: str  # is launched wherever there are elements
    points: int
    prints: Mapping[str, str]  # by word, the statement that prints it
    folder: Path

    @property
    def starter(self) -> Path:
        """What a learner starts from: it compiles, and main has gaps."""
        return self.folder / "starter.cu"

    @property
    def starter_text(self) -> str:
        """Its text."""
        return self.starter.read_text(encoding="utf-8")

    @property
    def answer(self) -> Path:
        """A program that is right."""
        return self.folder / "answer.cu"

    @property
    def files(self) -> tuple[Path, ...]:
        """All that it consists of."""
        return tuple(self.folder / name for name in FILES)

    @cached_property
    def reference(self) -> Reference:
        """The module reference.py; raises WarpladderError where a function is missing."""
        from grader.workbook.reference import load_module  # imports NumPy, which a look at names does without

        return cast(Reference, load_module(self.folder / "reference.py", self.name, _FUNCTIONS))

    def problem(self, given: Problem) -> dict[str, int]:
        """Arguments of a single run. Raises WarpladderError where they are not the program's."""
        if sorted(given) != sorted(self.arguments):
            wanted = " ".join(f"--set {name}=…" for name in self.arguments)
            raise WarpladderError(f"{self.name} has the arguments {', '.join(self.arguments)}", remedy=wanted)
        for name, value in given.items():
            if not isinstance(value, int):
                raise WarpladderError(f"{name}={value}: arguments are integers")
        return {name: int(given[name]) for name in self.arguments}


def names(root: Path | None = None) -> list[str]:
    """The folders that declare a program."""
    lessons = (root or content_root()) / "lessons"
    return sorted(path.parent.name for path in (lessons / FOLDER).glob(f"*/{DECLARED}"))


def discover(root: Path | None = None) -> list[Program]:
    """All of them; raises WarpladderError for a broken one."""
    return [_read((root or content_root()) / "lessons" / FOLDER / name) for name in names(root)]


def find(name: str, root: Path | None = None) -> Program | None:
    """The program called `name`; None where there is none. Raises WarpladderError for a broken one."""
    return _read((root or content_root()) / "lessons" / FOLDER / name) if name in names(root) else None


def _read(folder: Path) -> Program:
    path = folder / DECLARED
    table = read(path.read_text(encoding="utf-8").splitlines(), path)
    table.allow(*_KEYS)
    arguments, elements = table.names("arguments"), table.get("elements", str)
    if elements not in arguments:
        raise table.error(f"`elements`: `{elements}` is no argument", "elements")
    prints = table.table("prints")
    return Program(
        name=folder.name,
        title=table.get("title", str),
        arguments=arguments,
        elements=elements,
        kernel=table.get("kernel", str),
        points=table.get("points", int),
        prints={word: prints.get(word, str) for word in prints.values},
        folder=folder,
    )

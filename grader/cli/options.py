"""What the commands share: option types, the terminal, and writing of results."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from grader.errors import WarpladderError

if TYPE_CHECKING:
    from rich.console import Console

    from grader.results import Climb, Grade, Profile
    from grader.workbook.expressions import Number
    from grader.workbook.signature import Signature

PASSED, NOT_PASSED, UNUSABLE = 0, 1, 2


class _Commands(TyperGroup):
    """The commands, of which none is called as a topic is."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Of what can be graded, which commands are for it."""
        name = args[0] if args else ""
        if self.get_command(ctx, name) is None and (what := _graded_as(name)):
            begun, judged = f"ladder new {name}", f"ladder grade {name} FILE"
            ctx.fail(
                f"'{name}' is {what}, no command: `{begun}` begins with it, `{judged}` judges your file."
            )
        return super().resolve_command(ctx, args)


def _graded_as(name: str) -> str:
    """What is called so that can be graded; "" for nothing."""
    from grader.workbook import exercises, programs, topics

    kinds = {"a topic": topics, "a small exercise": exercises, "a whole program": programs}
    return next((what for what, known in kinds.items() if name in known.names()), "")


app = typer.Typer(
    cls=_Commands,
    help="A CUDA workbook: climb ladders of kernels, and have your own graded, with or without a GPU.",
    epilog="Begin with ladder next: it says what to do now, why, and the command for it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_WHOLE = re.compile(r"-?[0-9]+", re.ASCII)
_NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)
"""A size, or a float such as 1e-5."""

DeviceName = Literal["auto", "pycuda", "emulator"]


def _topic(name: str) -> str:
    """A topic's name as it was given. Raises BadParameter for a file, which stands behind the topic."""
    if Path(name).suffix and Path(name).is_file():
        raise typer.BadParameter(f"{name} is a file: the topic's name comes first, then the file")
    return name


TopicName = Annotated[
    str,
    typer.Argument(metavar="TOPIC", help="A topic's name: see `ladder topics`.", callback=_topic),
]
KernelFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A .cu file with a launch block or a main(), or a schedule in Python."
    ),
]
DeviceOption = Annotated[
    DeviceName, typer.Option("--device", help="auto takes a GPU where PyCUDA finds one, else the emulator.")
]
ArchOption = Annotated[
    str | None, typer.Option("--arch", metavar="SM", help="The GPU to emulate; sm_90a if not given.")
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=SIZE", help="A size of the problem; repeatable.")
]
JsonOption = Annotated[
    str | None, typer.Option("--json", metavar="PATH|-", help="Write the result as JSON; -: to stdout.")
]
WithOption = Annotated[
    Path | None, typer.Option("--with", metavar="FILE", help="Your own file, as one more row.")
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, help="Rungs emulated at a time; as many as cores and memory allow if not given."
    ),
]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write it as a page, with pictures.")
]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it to an .svg file.")]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Draw the random inputs from this seed, to see a failure again."),
]


def activation() -> str:
    """The line that makes `ladder` known to a shell, where it was called by its path, as make does; "" where it is."""
    script = Path(sys.prefix) / "bin" / "activate"
    if shutil.which("ladder") or not script.is_file():
        return ""
    return shlex.join([".", min(os.path.relpath(script), str(script), key=len)])


def from_here(file: Path) -> Path:
    """A file as it is typed: without this folder."""
    here = Path.cwd()
    return file.relative_to(here) if here in file.parents else file


def console_for(stderr: bool = False) -> Console:
    """The terminal: standard output, or standard error where standard output is for JSON alone."""
    from grader.report.terminal import terminal

    return terminal(stderr=stderr, highlight=False)


def say_if_unconfined() -> None:
    """Said once, before others' code is run: that this machine has no more than limits for it."""
    from grader.report import notices
    from grader.sandbox.means import means

    if means().alone:
        console_for(stderr=True).print(notices.unconfined(means().left))


def problem_of(sizes: Sequence[str] | None, signature: Signature | None = None) -> dict[str, Number] | None:
    """ "N=1024" → {"N": 1024}, "eps=1e-3" → {"eps": 0.001}. The signature says which names are floats."""
    if not sizes:
        return None
    problem: dict[str, Number] = {}
    floats = {value.name for value in signature.values} if signature else ()
    for item in sizes:
        name, _, value = item.partition("=")
        if not name or not _NUMBER.fullmatch(value):
            if name in floats:
                raise WarpladderError(
                    f"--set {item} is not a number", remedy=f"write it as --set {name}=1e-5"
                )
            raise WarpladderError(f"--set {item} is not a size", remedy="write it as --set N=1024")
        if name in problem:
            raise WarpladderError(f"--set gives {name} twice", remedy=f"keep one --set {name}=…")
        problem[name] = int(value) if _WHOLE.fullmatch(value) else float(value)
    return problem


def check_outputs(*files: Path | None, plot: Path | None = None) -> None:
    """Refuse what could not be written, and a picture of another kind, before anything is run."""
    if plot is not None and plot.suffix.lower() != ".svg":
        raise WarpladderError("pictures are SVG", file=plot, remedy="end it in .svg")
    for file in (*files, plot):
        if file is not None and not file.parent.is_dir():
            raise WarpladderError("it cannot be written: there is no such folder", file=file)


def file_of(json: str | None) -> Path | None:
    """The file that JSON goes to; None where it goes to standard output or is not asked for."""
    return None if json in (None, "-") else Path(json)


def exit_code(verdict: str) -> int:
    return {"pass": PASSED, "error": UNUSABLE}.get(verdict, NOT_PASSED)


def lines_of(file: Path) -> list[str]:
    """The lines of a submission, to quote the one that a finding names."""
    return file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []


def list_problems(console: Console, result: Grade) -> None:
    """What is wrong, a line each, for an editor."""
    from grader.report.grades.problems import lines

    for line in lines(result):
        console.print(line, markup=False, soft_wrap=True)


def write_result(target: str, result: Climb | Grade | Profile) -> None:
    from grader.results import to_json

    write_json(target, to_json(result))


def write_json(target: str, data: bytes) -> None:
    """Write data to a file, and say so; or to standard output, which is then for nothing else."""
    from grader.visible import visible_json

    shown = visible_json(data)
    if target == "-":
        sys.stdout.buffer.write(shown)
        sys.stdout.flush()
    else:
        write_file(Path(target), shown)


def write_structs(target: str, found: object) -> None:
    """Write dataclasses as indented JSON."""
    import msgspec

    write_json(target, msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")


def write_file(target: Path, content: str | bytes) -> None:
    """Write a picture, a page or data, and say so."""
    with writing(target):
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    console_for(stderr=True).print(f"Wrote {target}", highlight=False, soft_wrap=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what can go wrong with an output file into an error that says what to do."""
    try:
        yield
    except FileExistsError:
        remedy = "give another name, or --force to write over it"
        raise WarpladderError("the file is there already", file=path, remedy=remedy) from None
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=path) from None

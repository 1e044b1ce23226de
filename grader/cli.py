"""The command `ladder`: reads its arguments, calls, and shows. What it shows is decided in grader.report.

Each command imports what it needs, so that `ladder --help` answers at once. Exit codes: 0 passed, 1 did not
pass, 2 the call or the file is unusable.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from grader.errors import WarpladderError

if TYPE_CHECKING:
    from rich.console import Console

    from grader.results import Climb, Grade, Profile

PASSED, NOT_PASSED, UNUSABLE = 0, 1, 2
PLOT_SUFFIXES = (".png", ".svg", ".pdf")

app = typer.Typer(
    help="A CUDA workbook: climb ladders of kernels, and have your own graded, with or without a GPU.",
    epilog="Begin with: ladder topics, then ladder climb transpose, then ladder new transpose.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

DeviceName = Literal["auto", "pycuda", "emulator"]

TopicName = Annotated[str, typer.Argument(metavar="TOPIC", help="A topic's name: see `ladder topics`.")]
KernelFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A .cu file with a launch block, or a schedule in Python.")
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
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Draw the random inputs from this seed, to see a failure again."),
]


def main() -> None:
    """Entry point: runs a command; an unusable call or file ends with exit code 2 and says what to do."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that has no ✓ shows a ? in its place
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="ladder")
    except WarpladderError as error:
        _refuse(error)
    except MemoryError as error:
        said = f" ({error})" if str(error) else ""
        _refuse(
            WarpladderError(f"there is not enough memory{said}", remedy="choose smaller sizes with --set")
        )


def _refuse(error: WarpladderError) -> NoReturn:
    from grader.report import notices

    notices.error(_console(stderr=True), error)
    sys.exit(UNUSABLE)


@app.command()
def topics(json: JsonOption = None) -> None:
    """List the topics and their ladders.

    Example: ladder topics
    """
    from grader.report import notices
    from grader.topics import discover

    found = discover()
    _console(json == "-").print(notices.topics(list(found.values())))
    if json is not None:
        _write_json(json, notices.topics_json(list(found.values())))


@app.command()
def climb(
    topic: Annotated[list[str], typer.Argument(metavar="TOPIC", help="One topic or more.")],
    device: DeviceOption = "auto",
    arch: ArchOption = None,
    sizes: SetOption = None,
    json: JsonOption = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="DIR", help="Keep it as DIR/<gpu>/<topic>.json.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the ladder to a .png, .svg or .pdf.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Rungs emulated at a time.")] = 2,
) -> None:
    """Run every rung of a ladder: see what each idea buys.

    Every rung is checked against a reference on many sizes. With a GPU its time is measured; without one it
    is modelled from what the emulator counts, and marked ≈.

    \b
    Examples:
      ladder climb transpose
      ladder climb gemm --set M=1024 --set N=1024 --set K=1024
      ladder climb transpose --json - | python -m json.tool
    """
    from grader.judge.climb import climb as run
    from grader.report import console as views
    from grader.report import progress
    from grader.topics import load

    loaded = [load(name) for name in topic]
    if len(loaded) > 1 and (json or plot):
        raise WarpladderError("--json and --plot take one topic", remedy="use --record DIR for several")
    _check_plot(plot)
    problem = _problem(sizes)
    passed = True
    for number, item in enumerate(loaded):
        console = _console(json == "-")
        with progress.of_rungs(item.name, [rung.id for rung in item.rungs]) as report:
            result = run(item, device, problem, report, jobs, arch)
        if number:
            console.print()
        console.print(views.climb(result, item.title))
        _keep_climb(result, json, record, plot)
        passed = passed and all(rung.verdict == "pass" for rung in result.rungs)
    raise typer.Exit(PASSED if passed else NOT_PASSED)


def _keep_climb(result: Climb, json: str | None, record: Path | None, plot: Path | None) -> None:
    if json is not None:
        _write_result(json, result)
    if record is not None:
        from grader.report import records

        typer.echo(f"recorded in {records.save(result, record)}", err=True)
    if plot is not None:
        from grader.report import plots

        with _writing(plot):
            plots.save_ladder(result, plot)


@app.command()
def grade(
    topic: TopicName,
    file: KernelFile,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
    sizes: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = None,
) -> None:
    """Judge your own kernel: the rung it reached, and why not the next.

    With --set, only that size is tried: the quick way to see a failing case again.

    \b
    Examples:
      ladder new transpose mine.cu
      ladder grade transpose mine.cu
      ladder grade transpose mine.cu --set M=33 --set N=31 --seed 7
    """
    from grader.judge.grade import grade as run
    from grader.report import console as views
    from grader.report import progress
    from grader.topics import load

    loaded = load(topic)
    console = _console(json == "-")
    with progress.of_stages(file.name) as report:
        result = run(loaded, file, device, seed, _problem(sizes), report, arch)
    # Uncropped: a command to copy stays in one line, however long.
    console.print(views.grade(result, [rung.id for rung in loaded.rungs], _lines(file)), crop=False)
    if json is not None:
        _write_result(json, result)
    raise typer.Exit(_exit_code(result.verdict))


@app.command()
def profile(
    topic: TopicName,
    file: KernelFile,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
    sizes: SetOption = None,
    json: JsonOption = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw a schedule's timeline to an .svg, .png or .pdf."),
    ] = None,
) -> None:
    """Count what a kernel does, by launch and by source line; of a schedule, show which engine works when.

    Counters carry the names that Nsight Compute gives them.

    \b
    Examples:
      ladder profile transpose mine.cu
      ladder profile streams mine.py --plot timeline.svg
      ladder profile gemm mine.cu --set M=256 --set N=256 --set K=256
    """
    from grader.judge.profile import profile as run
    from grader.report import profiles, progress
    from grader.topics import load

    loaded = load(topic)
    if plot is not None and loaded.kernel is None:
        raise WarpladderError("only schedules have a timeline to draw", remedy="leave out --plot")
    _check_plot(plot)
    console = _console(json == "-")
    with progress.of_stages(file.name) as report:
        result = run(loaded, file, device, _problem(sizes), report, arch)
    console.print(profiles.profile(result, _lines(file)))
    if json is not None:
        _write_result(json, result)
    if plot is not None:
        from grader.report import plots

        with _writing(plot):
            plots.save_timeline(result, plot)
    raise typer.Exit(_exit_code(result.verdict))


@app.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
def emulate(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="A Python script that uses PyCUDA.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGS", help="The script's own.")] = None,
    profile: Annotated[
        Path | None, typer.Option("--profile", metavar="OUT.json", help="Write each launch's counters.")
    ] = None,
    arch: ArchOption = None,
) -> None:
    """Run a PyCUDA script, unchanged, without a GPU.

    \b
    Examples:
      ladder emulate script.py
      ladder emulate --profile launches.json script.py 1024
    """
    from grader.emulate import run
    from grader.report import notices

    options = {} if arch is None else {"arch": arch}
    outcome = run(script, arguments or (), profile=profile, **options)
    notices.emulation(_console(stderr=True), outcome.launches, outcome.failure, script)
    raise typer.Exit(outcome.exit_code)


@app.command()
def new(
    topic: TopicName,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where to; TOPIC.cu if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a starter for your own kernel.

    It has the topic's signature and a launch block, for you to fill in.

    \b
    Examples:
      ladder new transpose
      ladder new gemm ~/kernels/gemm.cu
    """
    from grader.topics import load

    loaded = load(topic)
    starter = loaded.starter.read_text(encoding="utf-8")
    path = file or Path(f"{topic}{loaded.suffix}")
    with _writing(path), path.open("w" if force else "x", encoding="utf-8") as target:
        target.write(starter)
    _console().print(f"Wrote {path}. Fill it in, then: ladder grade {topic} {path}", highlight=False)


@app.command()
def check() -> None:
    """Lint the lessons and kernels.

    Every topic is complete, every rung compiles without spills, passes and reaches itself when graded, and
    every starter compiles and fails. It takes about a second for each rung.

    Example: ladder check
    """
    from grader.check import check as problems_of_content
    from grader.report import notices

    problems = problems_of_content()
    for problem in problems:
        notices.error(_console(stderr=True), problem)
    _console().print(f"{len(problems)} problems" if problems else "No problems", highlight=False)
    raise typer.Exit(NOT_PASSED if problems else PASSED)


@app.command()
def doctor() -> None:
    """Say what is missing on this machine, and what mends it.

    Example: ladder doctor
    """
    from grader.doctor import examine
    from grader.report import notices

    diagnosis = examine()
    _console().print(notices.doctor(diagnosis))
    raise typer.Exit(PASSED if diagnosis.usable else NOT_PASSED)


# ---- what the commands share -------------------------------------------------------------------------------


def _console(stderr: bool = False) -> Console:
    """The terminal: standard output, or standard error where standard output is for JSON alone."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def _problem(sizes: Sequence[str] | None) -> dict[str, int] | None:
    """ "N=1024" → {"N": 1024}."""
    if not sizes:
        return None
    problem: dict[str, int] = {}
    for item in sizes:
        name, equals, value = item.partition("=")
        if not equals or not name or not (value.isascii() and value.isdecimal()):
            raise WarpladderError(f"--set {item} is not a size", remedy="write it as --set N=1024")
        if name in problem:
            raise WarpladderError(f"--set gives {name} twice", remedy=f"keep one --set {name}=…")
        problem[name] = int(value)
    return problem


def _check_plot(plot: Path | None) -> None:
    """Refuse a plot of an unknown kind before anything is run."""
    if plot is not None and plot.suffix.lower() not in PLOT_SUFFIXES:
        raise WarpladderError(
            "it is no kind of plot", file=plot, remedy=f"end it in {', '.join(PLOT_SUFFIXES)}"
        )


def _exit_code(verdict: str) -> int:
    return {"pass": PASSED, "error": UNUSABLE}.get(verdict, NOT_PASSED)


def _lines(file: Path) -> list[str]:
    """The lines of a submission, to quote the one that a finding names."""
    return file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []


def _write_result(target: str, result: Climb | Grade | Profile) -> None:
    from grader.results import to_json

    _write_json(target, to_json(result))


def _write_json(target: str, data: bytes) -> None:
    if target == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    with _writing(Path(target)):
        Path(target).write_bytes(data)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn what can go wrong with an output file into an error that says what to do."""
    try:
        yield
    except FileExistsError:
        remedy = "give another name, or --force to write over it"
        raise WarpladderError("the file is there already", file=path, remedy=remedy) from None
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=path) from None

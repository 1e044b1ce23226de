"""The commands about the machine: scripts without a GPU, and what is missing here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    ArchOption,
    app,
    check_outputs,
    console_for,
    lines_of,
    write_file,
    write_result,
)
from grader.errors import WarpladderError


def _show_version(wanted: bool) -> None:
    if wanted:
        import grader

        typer.echo(f"warpladder {grader.__version__}")
        raise typer.Exit


@app.callback()
def ladder(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """A CUDA workbook: climb ladders of kernels, and have your own graded, with or without a GPU."""


@app.command()
def book(
    anew: Annotated[bool, typer.Option("--anew", help="Build its pages again.")] = False,
) -> None:
    """Open the book in a browser.

    Its pages are written first, in a minute, where there are none. make book adds what notebooks print.
    """
    import webbrowser

    from grader.book import page

    found = page(anew=anew).as_uri()
    typer.echo(found)
    webbrowser.open(found)


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
    console = console_for(stderr=True)
    notices.emulation(console, outcome.launches, outcome.failure, script, outcome.times_read)
    raise typer.Exit(outcome.exit_code)


@app.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
def run(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.cu", help="A CUDA C++ program with a main().")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILES] [ARGS]", help="Its other sources, then what is the program's own."),
    ] = None,
    device: Annotated[
        Literal["auto", "gpu", "emulator"],
        typer.Option("--device", help="auto takes a GPU where there is one, else the emulator."),
    ] = "auto",
    options: Annotated[
        list[str] | None,
        typer.Option("--nvcc", metavar="OPTION", help="One more option for nvcc; repeatable."),
    ] = None,
    arch: ArchOption = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Show what each kernel and each line costs, on the emulator.")
    ] = False,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the profile as JSON.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the profile as a page.")
    ] = None,
) -> None:
    """Run a whole CUDA C++ program, with a GPU or without one.

    Without a GPU its kernels are emulated, and what its host code does wrong is found as well: results read too early,
    errors that nobody looks at, sizes and directions of copies, leaks, use after free.

    \b
    Examples:
      ladder run prog.cu
      ladder run --nvcc=-I../common prog.cu 1024
      ladder run main.cu kernels.cu helper.cpp 1024
      ladder run --profile --html profile.html prog.cu 1024
    """
    from grader import run as programs_run
    from grader.report.emulated import programs

    chosen = {} if arch is None else {"arch": arch}
    sources, own = programs_run.sources_and_arguments(arguments or ())
    counts = profile or json is not None or html is not None
    if counts and device == "gpu":
        raise WarpladderError(
            "a GPU keeps no counters: the emulator counts",
            remedy="leave --device out; on a GPU, use Nsight Compute",
        )
    check_outputs(json, html)
    outcome = programs_run.run(
        program, own, device="emulator" if counts else device, options=[*(options or ()), *sources], **chosen
    )
    console = console_for(stderr=True)
    if counts:
        from grader.report import pages, profiles

        found, lines = programs_run.profile(outcome, program, **chosen), lines_of(program)
        if profile:
            console.print(profiles.program(found, lines), crop=False)
        if json is not None:
            write_result(str(json), found)
        if html is not None:
            write_file(html, pages.profile(found, lines))
    if outcome.emulated:
        programs.program(console, outcome, program)
    raise typer.Exit(outcome.exit_code)


@app.command()
def doctor() -> None:
    """Check this machine and show how to fix what is missing.

    Example: ladder doctor
    """
    from grader.doctor import examine
    from grader.report import notices

    diagnosis = examine()
    console_for().print(notices.doctor(diagnosis))
    raise typer.Exit(PASSED if diagnosis.usable else NOT_PASSED)

"""The commands of the workbook itself: topics, ladders, and kernels of one's own."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    ArchOption,
    DeviceOption,
    HtmlOption,
    JobsOption,
    JsonOption,
    KernelFile,
    PlotOption,
    SeedOption,
    SetOption,
    TopicName,
    WithOption,
    activation,
    app,
    check_outputs,
    console_for,
    exit_code,
    file_of,
    lines_of,
    list_problems,
    problem_of,
    say_if_unconfined,
    write_file,
    write_json,
    write_result,
    writing,
)
from grader.errors import WarpladderError

if TYPE_CHECKING:
    from rich.console import Console

    from grader.results import Climb, Code
    from grader.workbook.topic import Topic


@app.command()
def topics(json: JsonOption = None) -> None:
    """List the topics and their ladders, and the small exercises.

    Rungs that your kernels have reached are ticked, and exercises that are done.

    Example: ladder topics
    """
    from grader.cli import own_kernels
    from grader.history.way import way
    from grader.report import notices
    from grader.workbook import exercises, programs
    from grader.workbook.topics import discover

    found, small = discover(), exercises.discover()
    climbed = way(
        own_kernels.grades(), {name: topic.ladder.ids for name, topic in {**small, **found}.items()}
    )
    reached = {each.topic: each.reached for each in climbed}
    shown = notices.topics(list(found.values()), list(small.values()), programs.discover(), reached)
    console_for(json == "-").print(shown)
    if json is not None:
        write_json(json, notices.topics_json(list(found.values()), list(small.values())))


@app.command()
def climb(
    topic: Annotated[list[str], typer.Argument(metavar="TOPIC", help="One topic or more.")],
    own: WithOption = None,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
    sizes: SetOption = None,
    json: JsonOption = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="DIR", help="Keep it as DIR/<gpu>/<topic>.json.")
    ] = None,
    plot: PlotOption = None,
    html: HtmlOption = None,
    jobs: JobsOption = None,
    every: Annotated[bool, typer.Option("--all", help="Show what each rung claims as well.")] = False,
) -> None:
    """Run every rung of a ladder: see what each idea buys.

    Several ladders are shown in short.

    Every rung is checked against a reference on many sizes. With a GPU its time is measured; without one it
    is modelled from what the emulator counts, and marked ≈.

    \b
    Examples:
      ladder climb transpose
      ladder climb gemm --all
      ladder climb gemm --set M=1024 --set N=1024 --set K=1024
      ladder climb gemm --with gemm.cu
      ladder climb transpose --json - | python -m json.tool
      ladder climb gemm --html gemm.html --plot gemm.svg
    """
    from grader.judge.climb import climb as run
    from grader.report import console as views
    from grader.report import progress, records
    from grader.workbook.topics import load

    loaded = [load(name) for name in topic]
    if len(loaded) > 1 and (json or plot or html):
        raise WarpladderError(
            "--json, --plot and --html take one topic", remedy="use --record DIR for several"
        )
    if own is not None and (len(loaded) > 1 or record):
        raise WarpladderError(
            "--with is for one topic, and for no record", remedy="name one topic, leave out --record"
        )
    if own is not None:
        say_if_unconfined()
        loaded = [loaded[0].with_row(own)]
    check_outputs(html, file_of(json), plot=plot)
    problem = problem_of(sizes, loaded[0].signature)
    console = console_for(json == "-")
    results = []
    for item in loaded:
        with progress.of_rungs(item.name, item.ladder.ids) as report:
            result = run(item, device, problem, report, jobs, arch)
        if len(loaded) == 1:
            console.print(views.climb(result, item.title, records.measured(result), every))
        _keep_climb(result, json, record)
        _draw_climb(result, item.title, plot, html)
        results.append(result)
    if len(loaded) > 1:
        console.print(views.climbs(results, [item.title for item in loaded]))
    commands = _own_kernel(loaded[0], own) if len(loaded) == 1 else ["ladder next"]
    console.print(views.next_step(commands, activation()), crop=False)
    passed = all(rung.verdict in ("pass", "skip") for result in results for rung in result.rungs)
    raise typer.Exit(PASSED if passed else NOT_PASSED)


def _own_kernel(topic: Topic, own: Path | None) -> list[str]:
    """The commands for a learner's own kernel: to begin it, where there is no file yet, and to have it graded."""
    from grader.cli import own_kernels
    from grader.workbook.topic import own_name

    grade = ["ladder", "grade", topic.name]
    if (file := own or next(iter(own_kernels.files(topic)), None)) is not None:
        return [shlex.join([*grade, str(file)])]
    return [f"ladder new {topic.name}", shlex.join([*grade, own_name(topic.name, topic.suffix)])]


def _keep_climb(result: Climb, json: str | None, record: Path | None) -> None:
    if json is not None:
        write_result(json, result)
    if record is not None:
        from grader.report import records

        typer.echo(f"recorded in {records.save(result, record)}", err=True)


def _draw_climb(result: Climb, title: str, plot: Path | None, html: Path | None) -> None:
    from grader.report import pages, pictures

    if plot is not None:
        write_file(plot, pictures.ladder(result))
    if html is not None:
        write_file(html, pages.climb(result, title))


@app.command()
def grade(
    topic: TopicName,
    file: KernelFile,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
    sizes: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = None,
    html: HtmlOption = None,
    watch: Annotated[bool, typer.Option("--watch", help="Try it again at each save, until Ctrl-C.")] = False,
    problems: Annotated[
        bool, typer.Option("--problems", help="List what is wrong as file:line: error: …, for an editor.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every claim, and what each pays.")] = False,
) -> None:
    """Judge your own kernel: its rung, and why not the next.

    TOPIC may also be a whole program with a main(): it is run with sizes that are drawn anew, and with calls that fail.
    With --set, only that size is tried: the quick way to see a failing case again. With --watch, each save is tried
    on the public cases at once, and graded in full if they are right.

    \b
    Examples:
      ladder new transpose
      ladder grade transpose transpose.cu
      ladder grade transpose transpose.cu --set M=33 --set N=31 --seed 7
      ladder grade transpose transpose.cu --all
      ladder grade transpose transpose.cu --watch
      ladder grade transpose transpose.cu --html grade.html
      ladder grade saxpy saxpy.cu
    """
    from grader.workbook import programs

    if (program := programs.find(topic)) is not None:
        from grader.cli.programs import grade_program

        if html or watch or device == "pycuda":
            remedy = "leave out --html, --watch and --device pycuda; `ladder run` runs it on a GPU"
            raise WarpladderError(
                f"{topic} is a whole program, which is judged on the emulator", remedy=remedy
            )
        grade_program(program, file, arch, problem_of(sizes), seed, json, problems)
    # Children take long to start, and so do imports.
    from grader.judge.runners.first import begin_grade

    first = None if watch else begin_grade(device, arch)

    from grader.judge.runners.pool import opened

    with nullcontext() if watch else opened(device, arch, first) as pool:
        from grader.cli import own_kernels
        from grader.cli.kept_grades import keep_grade
        from grader.judge.grade import check_file
        from grader.judge.grade import grade as run
        from grader.report import console as views
        from grader.report import progress
        from grader.workbook.topics import load

        loaded = load(topic, or_exercise=True)
        own_kernels.check_there(loaded, file)
        check_outputs(html, file_of(json))
        say_if_unconfined()
        console = console_for(json == "-")
        if watch:
            if json or html:
                raise WarpladderError("--watch writes no files", remedy="leave out --json and --html")
            check_file(topic, file)
            _watch(console, loaded, file, device, arch, sizes, seed, problems)
            raise typer.Exit(PASSED)
        overrides = problem_of(sizes, loaded.signature)
        with progress.of_stages(file.name) as report:
            result = run(loaded, file, device, seed, overrides, report, arch, pool)
    best = ""
    if not sizes:
        own_kernels.note(loaded.name, file, result)
        best = own_kernels.best(loaded, result)
        if seed is None:
            keep_grade(loaded, file, device, arch, result)
    # Uncropped: a command to copy stays in one line, however long.
    view = views.grade if every else views.step
    console.print(view(result, loaded.ladder.ids, lines_of(file), best), crop=False)
    if problems:
        list_problems(console, result)
    if json is not None:
        write_result(json, result)
    if html is not None:
        from grader.judge import accesses
        from grader.report import pages

        write_file(html, pages.grade(result, loaded, lines_of(file), accesses.if_any(loaded, file, arch)))
    raise typer.Exit(exit_code(result.verdict))


def _watch(
    console: Console,
    topic: Topic,
    file: Path,
    device: str,
    arch: str | None,
    sizes: list[str] | None,
    seed: int | None,
    problems: bool,
) -> None:
    """Until Ctrl-C."""
    from grader.cli.watching import watch
    from grader.judge.quick import QuickCheck

    given = {"--device": device, "--arch": arch, "--seed": None if seed is None else str(seed)}
    options = [part for name, value in given.items() if value is not None for part in (name, value)]
    options += [part for size in sizes or () for part in ("--set", size)]
    watch(
        console,
        topic,
        file,
        lambda: QuickCheck(topic, device, seed, problem_of(sizes, topic.signature), arch),
        options,
        problems,
    )


@app.command()
def profile(
    topic: TopicName,
    file: KernelFile,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
    sizes: SetOption = None,
    json: JsonOption = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw a schedule's timeline to an .svg.")
    ] = None,
    html: HtmlOption = None,
    ptx: Annotated[
        bool, typer.Option("--ptx", help="Count by instruction of PTX, below its source line.")
    ] = False,
    sass: Annotated[bool, typer.Option("--sass", help="List the SASS below its source line.")] = False,
) -> None:
    """Count what a kernel does, by launch and by source line.

    Counters carry the names that Nsight Compute gives them. Of a schedule it shows which engine works when.

    \b
    Examples:
      ladder profile transpose transpose.cu
      ladder profile streams streams.py --plot timeline.svg
      ladder profile gemm gemm.cu --set M=256 --set N=256 --set K=256
      ladder profile transpose transpose.cu --html profile.html
      ladder profile transpose transpose.cu --ptx
    """
    from grader.cli import own_kernels
    from grader.judge.profile import profile as run
    from grader.report import profiles, progress
    from grader.workbook.topics import load

    loaded = load(topic, or_exercise=True)
    own_kernels.check_there(loaded, file)
    if plot is not None and not loaded.has_timeline:
        raise WarpladderError("only schedules have a timeline to draw", remedy="leave out --plot")
    if ptx and sass:
        raise WarpladderError("one listing at a time", remedy="leave out --ptx or --sass")
    check_outputs(html, file_of(json), plot=plot)
    say_if_unconfined()
    console = console_for(json == "-")
    with progress.of_stages(file.name) as report:
        code: Code | None = "ptx" if ptx else "sass" if sass else None
        result = run(loaded, file, device, problem_of(sizes, loaded.signature), report, arch, code)
    console.print(profiles.profile(result, lines_of(file)), crop=False)
    if json is not None:
        write_result(json, result)
    if plot is not None and not result.timeline:
        console.print(f"{plot} is not written: there is no timeline to draw.", highlight=False, markup=False)
    elif plot is not None:
        from grader.report import pictures

        write_file(plot, pictures.timeline(result))
    if html is not None:
        from grader.judge import accesses
        from grader.report import pages

        write_file(html, pages.profile(result, lines_of(file), accesses.if_any(loaded, file, arch)))
    raise typer.Exit(exit_code(result.verdict))


@app.command()
def new(
    topic: TopicName,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where to; TOPIC.cu or TOPIC.py if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a starter for your own kernel.

    It has the topic's signature and a launch block, or the class of a schedule, or a main(), for you to fill in.

    \b
    Examples:
      ladder new transpose
      ladder new gemm ~/kernels/gemm.cu
      ladder new streams
      ladder new saxpy
    """
    from grader.cli import own_kernels
    from grader.workbook import programs
    from grader.workbook.topic import own_name
    from grader.workbook.topics import load

    loaded = programs.find(topic) or load(topic, or_exercise=True)
    path = file or Path(own_name(topic, loaded.suffix))
    if path.suffix != loaded.suffix:
        what = f"a {loaded.writes} in {loaded.language}"
        raise WarpladderError(
            f"the starter of {topic} is {what}",
            file=path,
            remedy=f"name it {path.with_suffix(loaded.suffix)}",
        )
    if path.exists() and not force:
        own = any(path.samefile(each) for each in own_kernels.files(loaded))
        grade = shlex.join(["ladder", "grade", topic, str(path)])
        remedy = (
            f"go on with it: {grade}"
            if own
            else f"give another name, as in: ladder new {topic} NAME{path.suffix}"
        )
        raise WarpladderError("the file is there already", file=path, remedy=remedy)
    with writing(path), path.open("w" if force else "x", encoding="utf-8") as target:
        target.write(loaded.starter_text)
    if programs.find(topic) is None:
        own_kernels.begin(topic, path)
    console_for().print(f"Wrote {path}. Fill it in, then: ladder grade {topic} {path}", highlight=False)

"""The commands for somebody who is writing a kernel: hints, and an editor that knows CUDA."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import (
    NOT_PASSED,
    PASSED,
    ArchOption,
    DeviceOption,
    KernelFile,
    TopicName,
    app,
    console_for,
    exit_code,
    lines_of,
    say_if_unconfined,
)

if TYPE_CHECKING:
    from grader.report.grades.hints import Aim
    from grader.results import Grade
    from grader.workbook.topic import Topic

STEPS = 3


@app.command()
def hint(
    topic: TopicName,
    file: KernelFile,
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
            min=1,
            max=STEPS,
            help="1: what limits it, 2: the next idea, 3: the lines that change; one more each time if not given.",
        ),
    ] = None,
    device: DeviceOption = "auto",
    arch: ArchOption = None,
) -> None:
    """Show a hint towards the next rung; ask again for more.

    The first says what limits the kernel now and which line costs most. The second gives the idea of the next rung
    in words. Only the third shows code: the lines that differ between the two rungs. A new rung starts again with
    the first, and so does a kernel that another claim keeps from it. Of a wrong kernel they tell the concept of what
    the starter asks for, the line, and the line as it should be; once that is done, what is wrong, the line, and the
    change that mends it where the judge knows one.

    \b
    Examples:
      ladder hint transpose transpose.cu
      ladder hint transpose transpose.cu --step 2
    """
    from grader import book
    from grader.cli import own_kernels
    from grader.report.grades import hints
    from grader.workbook.marks import resembled
    from grader.workbook.topics import load

    loaded = load(topic, or_exercise=True)
    own_kernels.check_there(loaded, file)
    result = _graded(loaded, file, device, arch)
    source = "\n".join(lines_of(file))
    found = hints.aim(loaded, result, source)
    chosen = step or _asked(loaded, file, found, result)
    place = ""
    if found is not None and (loaded.folder / "lesson.md").is_file():
        section = loaded.section(found.name)
        if result.verdict != "pass" and not found.before and loaded.first_step is not None:
            near = resembled(loaded.ladder, source)
            section = (near and loaded.section(near)) or loaded.first_step.section
        place = book.lesson(loaded, section)
    console = console_for()
    shown = hints.hint(chosen, result, found, lines_of(file), place)
    console.print(shown, crop=False, soft_wrap=not console.is_terminal)
    raise typer.Exit(exit_code(result.verdict))


def _graded(topic: Topic, file: Path, device: str, arch: str | None) -> Grade:
    """What the file is worth: as it was graded last, where it has not changed since."""
    from grader.cli.kept_grades import keep_grade, kept_grade
    from grader.judge.grade import grade
    from grader.report import progress

    if (known := kept_grade(topic, file, device, arch)) is not None:
        return known
    say_if_unconfined()
    with progress.of_stages(file.name) as report:
        result = grade(topic, file, device, progress=report, arch=arch)
    keep_grade(topic, file, device, arch, result)
    return result


def _asked(topic: Topic, file: Path, found: Aim | None, result: Grade) -> int:
    """Which step it is: one more than at the last call, as long as the same claim keeps it from the same rung, or the
    hints are of the same mistake, wherever it is."""
    import hashlib
    import re

    from grader.emulator.cache import cache_folder, keep, kept

    name = hashlib.sha256(f"{topic.name} {file.resolve()}".encode()).hexdigest()[:16]
    path = cache_folder().absolute() / f"hint-{name}"
    wanting = result.hints[0].claim if result.verdict == "pass" and result.hints else ""
    aim = "" if found is None else re.sub(r"\d+", "", f"{found.before} {found.name} {found.idea} {wanting}")
    rung = hashlib.sha256(aim.encode()).hexdigest()
    last, _, times = (kept(path) or b"").decode().rpartition(":")
    step = min(STEPS, int(times) + 1) if last == rung and times.isdecimal() else 1
    keep(path, f"{rung}:{step}".encode())
    return step


@app.command()
def editor(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of your kernels; this one if not given.")
    ] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Write over files that differ.")] = False,
) -> None:
    """Set up clangd and VS Code for a folder of kernels.

    Writes .clangd, so that completion and errors know CUDA's headers (VS Code: the clangd extension), and
    .vscode/tasks.json, whose tasks grade the file in the editor and mark the lines that are wrong.

    \b
    Examples:
      ladder editor
      ladder editor ~/kernels
    """
    from grader.cli.editor_files import write

    console = console_for()
    found = write(folder, force)
    for item in found:
        remedy = ": it is not what would be written. --force writes over it" if item.state == "kept" else ""
        console.print(f"{item.path}: {item.state}{remedy}", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(NOT_PASSED if any(item.state == "kept" for item in found) else PASSED)

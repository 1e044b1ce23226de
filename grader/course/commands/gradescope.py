"""`ladder course gradescope`: an assignment as an autograder of Gradescope's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grader.cli.options import check_outputs, console_for, writing
from grader.course.commands.options import AssignmentName, CourseOption, course, needs_nbgrader
from grader.errors import WarpladderError

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]


@course.command()
def gradescope(
    assignment: AssignmentName,
    out: Annotated[Path, typer.Argument(metavar="OUT.zip", help="The archive to write.")],
    folder: CourseOption = Path(),
    visibility: Annotated[
        Visibility, typer.Option("--visibility", help="When students see points and feedback.")
    ] = "visible",
) -> None:
    """Write an assignment as an autograder for Gradescope: upload it there under Configure Autograder.

    A submission there is the assignment's notebook, or the source as a file of its own. The archive holds the hidden
    cases, so keep it to yourself; what students see says of them only that one is not right.

    \b
    Examples:
      ladder course gradescope transpose transpose.zip
      ladder course gradescope transpose transpose.zip --visibility after_due_date
    """
    needs_nbgrader()
    if out.suffix.lower() != ".zip":
        raise WarpladderError("Gradescope takes archives of another kind", file=out, remedy="end it in .zip")
    check_outputs(out)
    from grader.course.gradescope import archive, packing

    taken = packing.of_course(folder, assignment, visibility)
    with writing(out):
        archive.write(out, taken)
    console = console_for()
    points = sum(most for kernel in taken.kernels for most in kernel.points.values())
    console.print(f"wrote {out}", crop=False, soft_wrap=True)
    console.print(f"\nNext: upload it to Gradescope, with {points:g} autograder points. Keep it to yourself.")
    if taken.others:
        console.print(f"Not marked there, because they are not ours: {', '.join(taken.others)}.")

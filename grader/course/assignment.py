"""An assignment made from a topic: its lesson's problem and bound, a cell for the kernel, a graded cell for each rung.

Cells carry nbgrader's metadata. The kernel's cell is called `kernel-<topic>` and a graded cell `<topic>-<rung>`: by
these names `restore` and `preprocessors` know them again, in whatever notebook an instructor puts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.course import feedback
from grader.course.orders import NAME
from grader.errors import WarpladderError
from grader.lab.cells import MAGIC
from grader.workbook import units
from grader.workbook.topic import Topic

LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}

_FIRST_RUNG = re.compile(r"^## 00\b", re.MULTILINE)
_LATER_RUNGS = re.compile(r"^## 01\b.*", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(?=## )", re.MULTILINE)
_DIRECTIVE = re.compile(r"^(`{3,}|:{3,})\{", re.MULTILINE)

SETUP = "%load_ext grader.lab\nimport grader.lab as lab\nfrom grader import course"

LAUNCH_BLOCK = """\
## How it is launched

The block at the head of the cell, TOML in a comment, says how the kernel is launched. `kernel` is its name, or an
instance of a template; `grid` and `block` are lists of one to three expressions. Expressions know the sizes
({sizes}), the integer `constexpr`s of your code, `SMS` (how many multiprocessors the device has), `cdiv(a, b)`, which
is a / b rounded up, `min`, `max`, and Python's arithmetic, comparisons, `and`, `or` and `not`.

Where you need more: `shared` is bytes of dynamic shared memory, `args` what the kernel is passed, in its order,
`when` a condition under which the launch takes place, `zero` a list of arrays set to zero before it. Several
`[[launch]]` tables run in their order, and `[[scratch]]` with `name`, `dtype` and `shape` gives them memory of
their own, which holds nothing at the start. Outputs hold nothing at the start, either.
"""

SCHEDULE = """\
## What you write

The cell holds Python, a class `Schedule` for the job `{job}`. The kernel that it launches is the topic's,
`{kernel}`, and is not yours to change.
"""

MARKED_KERNEL = """\
## What is marked

Points are for kernels that pass every case: the workbook's public ones, which the graded cells below try as well, and
hidden ones of other sizes and with other data, tried when the assignment is marked. They are earned rung by rung, from
what is counted at {count}: counts come from the addresses that your kernel accesses, on an emulator, and are the
same on every machine. {total} in all:

| rung | points | claims |
|---|---:|---|
{rows}
"""

MARKED_SCHEDULE = """\
## What is marked

Points are for schedules that pass every case: the workbook's public ones, which the graded cells below try as well,
and hidden ones of other sizes and with other data, tried when the assignment is marked. They are earned rung by rung,
from what the schedule asks for at {main}. {total} in all:

| rung | points | claims |
|---|---:|---|
{rows}
"""

KERNEL = """\
## Your {what}

Run the cell to compile it, as often as you like. Leave its first line as it is. In cells of your own, which are not
marked, `lab.profile("{name}")` shows {profile}, and `lab.grade("{name}", {example})` tries a single size.
"""

GRADED = """\
## The rungs

Each cell grades what the cell above holds. Its number is advice: the mark is made from your source, by itself, when
the assignment is marked, so nothing else in this notebook has any bearing on it.
"""

FORMS = {"kernel": LAUNCH_BLOCK, "schedule": SCHEDULE}
MARKED = {"kernel": MARKED_KERNEL, "schedule": MARKED_SCHEDULE}
PROFILES = {"kernel": "what each of its lines costs", "schedule": "which engine works when"}
"""Texts by what learners write; the last says what a profile shows of it."""


def notebook(topic: Topic) -> NotebookNode:
    """The instructor's version of a topic's assignment, the same for the same topic. Raises WarpladderError."""
    made = nbformat.v4.new_notebook(
        cells=list(_cells(topic)),
        metadata={"kernelspec": dict(KERNELSPEC), "language_info": dict(LANGUAGE)},
    )
    nbformat.validate(made)
    return made


def kernel_cell(topic: str) -> str:
    """The grade_id of the cell that a topic's kernel is written in."""
    return f"kernel-{topic}"


def rung_cell(topic: str, rung: str) -> str:
    """The grade_id of a rung's graded cell."""
    return f"{topic}-{rung}"


def _cells(topic: Topic) -> Iterator[NotebookNode]:
    yield _locked("problem", _prose(topic))
    yield _locked("form", _form(topic))
    yield _locked("marks", _marks(topic))
    yield _code("setup", SETUP, locked=True)
    example = ", ".join(
        f"{name}={size}" for name, size in topic.judge_cases[len(topic.judge_cases) // 2].items()
    )
    yield _locked(
        "how", KERNEL.format(what=topic.writes, name=NAME, profile=PROFILES[topic.writes], example=example)
    )
    starter = topic.starter.read_text(encoding="utf-8").rstrip("\n")
    yield _code(kernel_cell(topic.name), f"{MAGIC} {NAME} --topic {topic.name}\n{starter}", solution=True)
    yield _locked("rungs", GRADED)
    for rung in topic.rungs:
        if worth := feedback.worth(topic, rung.id):
            call = f'course.points("{NAME}", "{rung.id}")'
            yield _code(rung_cell(topic.name, rung.id), call, locked=True, points=worth)


def _prose(topic: Topic) -> str:
    """The lesson up to what its rungs change: the problem and its bound. Sections that quote kernels are left out, as
    that of the first rung: they tell how to get there."""
    path = topic.folder / "lesson.md"
    text = path.read_text(encoding="utf-8")
    if not _FIRST_RUNG.search(text):
        remedy = "its first rung begins with `## 00`"
        raise WarpladderError("nobody can tell where the lesson's rungs begin", file=path, remedy=remedy)
    sections = _HEADING.split(_LATER_RUNGS.sub("", text))
    return "\n\n".join(section.strip() for section in sections if not _DIRECTIVE.search(section))


def _form(topic: Topic) -> str:
    """What a submission looks like."""
    names = [size.name for size in topic.signature.sizes] + [name for name, _ in topic.signature.derived]
    kernel = topic.kernel_files[0].signature
    return FORMS[topic.writes].format(job=topic.signature, kernel=kernel, sizes=", ".join(names)).strip()


def _marks(topic: Topic) -> str:
    """Which rung is worth what."""
    rows = [
        f"| {rung.id} | {worth} | {'<br>'.join(_claim(text) for text in claims)} |"
        for rung in topic.rungs
        if (worth := feedback.worth(topic, rung.id))
        and (claims := [claim.text for claim in topic.claims if claim.rung == rung.id])
    ]
    return (
        MARKED[topic.writes]
        .format(
            count=units.problem(topic.sizes_count),
            main=units.problem(topic.sizes_main),
            total=units.number_of(topic.max_points, "point"),
            rows="\n".join(rows),
        )
        .strip()
    )


def _claim(text: str) -> str:
    """A claim as a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("*", "\\*")


def _locked(grade_id: str, text: str) -> NotebookNode:
    """Prose that learners read and do not change."""
    return nbformat.v4.new_markdown_cell(text, id=grade_id, metadata=metadata(grade_id, locked=True))


def _code(
    grade_id: str, source: str, locked: bool = False, solution: bool = False, points: int | None = None
) -> NotebookNode:
    about = metadata(grade_id, locked, solution, points)
    return nbformat.v4.new_code_cell(source, id=cell_id(grade_id), metadata=about)


def cell_id(grade_id: str) -> str:
    """A cell's id in the notebook's format: it has at most 64 signs."""
    return grade_id[:64]


def metadata(
    grade_id: str, locked: bool = False, solution: bool = False, points: float | None = None
) -> dict[str, Any]:
    """nbgrader's metadata of a cell."""
    about = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": points is not None,
        "locked": locked,
        "solution": solution,
        "task": False,
    }
    return {"nbgrader": about if points is None else {**about, "points": points}}
